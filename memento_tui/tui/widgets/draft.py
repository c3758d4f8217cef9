"""What a person can change of a memory, and what an editor over it tells its owner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from textual.message import Message

from memento_tui.records import Memory

__all__ = ["Draft", "EditorLeft", "EditorSaved", "EditorTyped", "tags_of"]


@dataclass(frozen=True)
class Draft:
    """The fields that a person edits, by the names that they have in a memory."""

    title: str = ""
    tags: tuple[str, ...] = ()
    kind: str = "fact"
    namespace: str = "global"
    content: str = ""

    @classmethod
    def of(cls, memory: Memory) -> Draft:
        """Return what can be changed of a memory."""
        return cls(**{field.name: getattr(memory, field.name) for field in fields(cls)})

    def changes_to(self, other: Draft) -> dict[str, Any]:
        """Return the fields in which another draft differs."""
        mine = asdict(self)
        return {name: value for name, value in asdict(other).items() if value != mine[name]}

    def with_changes(self, changes: Mapping[str, Any]) -> Draft:
        """Return the draft with some fields changed."""
        return replace(self, **changes)

    @property
    def text(self) -> str:
        """All of it as one text, to be told from another."""
        head = f"title: {self.title}\ntags: {', '.join(self.tags)}\nkind: {self.kind}\nnamespace: {self.namespace}"
        return f"{head}\n\n{self.content}"


def tags_of(text: str) -> tuple[str, ...]:
    """Return the tags in a line where commas stand between them; ``#`` may stand before each."""
    return tuple(dict.fromkeys(tag.strip().lstrip("#") for tag in text.split(",") if tag.strip(" #")))


class EditorTyped(Message):
    """The person has been writing; the owner may keep the draft safe."""

    def __init__(self, draft: Draft) -> None:
        super().__init__()
        self.draft = draft


class EditorSaved(Message):
    """The person wants the draft to be stored; the editor stays until its owner removes it."""

    def __init__(self, before: Draft, draft: Draft) -> None:
        super().__init__()
        self.before = before
        self.draft = draft


class EditorLeft(Message):
    """The person left without saving."""
