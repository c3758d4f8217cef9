"""Memories that cite code, held against the history of the repository that they are about."""
