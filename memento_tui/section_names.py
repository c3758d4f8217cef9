"""The sections of the app by name, for whoever opens it without having loaded it."""

from __future__ import annotations

__all__ = ["SECTION_NAMES"]

SECTION_NAMES = ("home", "memories", "review", "working", "skips", "identity", "activity", "health")
"""In the order of their tabs."""
