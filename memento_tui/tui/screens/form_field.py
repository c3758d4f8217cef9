"""One field of a form: apart from the form, whose text areas are slow to load."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Field"]


@dataclass(frozen=True)
class Field:
    """One field. ``hint`` is shown while it is empty; a ``multiline`` field may hold line feeds.

    What is typed into a field takes the place of a value that is only ``proposed``, and is added to any other.
    """

    name: str
    label: str
    value: str = ""
    hint: str = ""
    multiline: bool = False
    proposed: bool = False
