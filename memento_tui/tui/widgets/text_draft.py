"""The draft of a text that a person edits, fields of a form, and messages of an editor. Imports no text area."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from textual.message import Message

__all__ = ["EditorLeft", "EditorSaved", "Field", "TextDraft"]


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


@dataclass(frozen=True)
class TextDraft:
    """The fields that a person edits; ``None`` for a field that the kind of record does not have."""

    title: str | None = ""
    tags: tuple[str, ...] | None = ()
    content: str = ""

    def changes_to(self, other: TextDraft) -> dict[str, Any]:
        """Return the fields in which another draft differs."""
        mine, others = asdict(self), asdict(other)
        return {name: others[name] for name in mine if mine[name] != others[name]}

    def joined(self) -> str:
        """Return all fields as one text, for comparison with another draft."""
        lines = [] if self.title is None else [f"title: {self.title}"]
        lines += [] if self.tags is None else [f"tags: {', '.join(self.tags)}"]
        return "\n".join([*lines, "", self.content]) if lines else self.content


@dataclass
class EditorSaved(Message):
    """The person asked to save the draft; the editor stays until its owner removes it."""

    before: TextDraft
    draft: TextDraft


class EditorLeft(Message):
    """The person left without saving."""
