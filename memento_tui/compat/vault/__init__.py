"""The profile of Memento Vault: its tools, names, parameters and answers, over memento's workspace and gate."""
