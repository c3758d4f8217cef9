"""The names of the app's sections, for the command line, which opens one of them without loading Textual."""

from __future__ import annotations

__all__ = ["SECTION_NAMES"]

SECTION_NAMES = ("home", "memories", "review", "working", "skips", "identity", "activity", "health")
"""In the order of their tabs."""
