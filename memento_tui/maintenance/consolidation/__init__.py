"""Consolidation: group memories that belong together, and draft one memory for each group."""
