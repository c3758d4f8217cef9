"""The profile of memento-core: its five tools over memento's workspace and gate."""
