"""Putting memento into the hosts of agents, and taking it out again."""
