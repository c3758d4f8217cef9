"""What a person can change of a memory, and what an editor over it tells its owner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from textual.message import Message

__all__ = ["Draft", "EditorLeft", "EditorSaved"]


@dataclass(frozen=True)
class Draft:
    """The fields that a person edits."""

    title: str = ""
    tags: tuple[str, ...] = ()
    content: str = ""

    def changes_to(self, other: Draft) -> dict[str, Any]:
        """Return the fields in which another draft differs."""
        return {
            name: getattr(other, name)
            for name in ("title", "tags", "content")
            if getattr(self, name) != getattr(other, name)
        }


@dataclass
class EditorSaved(Message):
    """The person wants the draft to be stored; the editor stays until its owner removes it."""

    before: Draft
    draft: Draft


class EditorLeft(Message):
    """The person left without saving."""
