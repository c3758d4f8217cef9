"""The profile of agent-memory: banks of memories as namespaces, over memento's workspace and gate."""
