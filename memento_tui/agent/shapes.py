"""The structured results of the tools. A field that holds its default is left out of a result."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

__all__ = [
    "Asking",
    "Captured",
    "Context",
    "Disagreement",
    "Disagreements",
    "Distilled",
    "Essential",
    "Found",
    "FoundMemory",
    "Identity",
    "Item",
    "ItemList",
    "Lesson",
    "Memories",
    "Opened",
    "Proposals",
    "Remembered",
    "Side",
    "SkipEntry",
    "SkipList",
    "Status",
    "WholeMemory",
    "Written",
]

Outcome = Literal["applied", "proposed", "rejected"]


class Remembered(BaseModel):
    """What became of a new memory."""

    id: str
    status: str
    duplicate: bool = False
    why: list[str] = []


class Written(BaseModel):
    """What became of another change: done, or waiting for a person, and why."""

    id: str
    outcome: Outcome
    version: int | None = None
    why: list[str] = []


class FoundMemory(BaseModel):
    """One result of a search."""

    id: str
    title: str
    kind: str
    score: float
    snippet: str
    labels: list[str]
    tags: list[str] = []
    namespace: str = "global"


class Side(BaseModel):
    """One of two memories that contradict each other."""

    id: str
    text: str
    age_days: int
    labels: list[str]


class Disagreement(BaseModel):
    """Two memories that cannot both hold as they stand, until a person says which does."""

    id: str
    kind: str
    why: str
    older: Side
    newer: Side


class Found(BaseModel):
    """The results of a search, best first."""

    results: list[FoundMemory]
    semantic: str
    problems: list[str] = []
    contradictions: list[Disagreement] = []


class WholeMemory(BaseModel):
    """A memory with its full text."""

    id: str
    title: str
    content: str
    kind: str
    labels: list[str]
    tags: list[str] = []
    namespace: str = "global"
    certainty: int
    version: int
    updated_at: str
    expires_at: str = ""
    source_url: str = ""
    validity_context: str = ""
    withheld: str = ""


class Memories(BaseModel):
    """Memories that were asked for by id, and a sentence for each id that gave none."""

    memories: list[WholeMemory]
    missing: list[str] = []


class SkipEntry(BaseModel):
    """One skip."""

    id: str
    item: str
    reason: str
    expires_at: str
    namespace: str = "global"


class SkipList(BaseModel):
    """Skips, the soonest to end first."""

    skips: list[SkipEntry]


class Item(BaseModel):
    """One working item."""

    id: str
    title: str
    category: str
    status: str
    content: str = ""
    next_action: str = ""
    priority: int = 0
    tags: list[str] = []
    namespace: str = "global"
    version: int


class ItemList(BaseModel):
    """Working items, the highest priority first."""

    items: list[Item]


class Identity(BaseModel):
    """The identity that holds now; empty where none was written."""

    id: str = ""
    content: str = ""
    author: str = ""
    created_at: str = ""


class Context(BaseModel):
    """What concerns one message."""

    identity: str = ""
    items: list[Item] = []
    skips: list[SkipEntry] = []
    memories: list[FoundMemory] = []
    semantic: str
    contradictions: list[Disagreement] = []


class Disagreements(BaseModel):
    """A page of open contradictions; ``next`` asks for the one after it."""

    contradictions: list[Disagreement]
    next: str = ""


class Asking(BaseModel):
    """One proposal of this agent: what it asked for, and what became of it."""

    proposal: str
    target: str
    id: str
    action: str
    state: str
    reason: str = ""
    about: str = ""
    why: list[str] = []
    at: str


class Proposals(BaseModel):
    """A page of this agent's proposals; ``next`` asks for the one after it."""

    proposals: list[Asking]
    next: str = ""


class Essential(BaseModel):
    """A memory that a person wants every session to begin with."""

    id: str
    text: str
    labels: list[str]


class Opened(BaseModel):
    """A session: the handle that other calls take, where it is filed, and what it begins with."""

    session: str
    namespace: str = ""
    identity: str = ""
    essentials: list[Essential] = []
    items: list[Item] = []
    skips: list[SkipEntry] = []
    decided: list[Asking] = []
    contradictions: int = 0


class Captured(BaseModel):
    """What became of a summary and of each decision, in the order in which they were given."""

    memories: list[Remembered]


class Lesson(BaseModel):
    """What became of one thing that a transcript taught."""

    target: str
    outcome: str
    id: str = ""
    text: str
    why: str = ""


class Distilled(BaseModel):
    """What a transcript taught, and a sentence for each part of it that could not be read."""

    lessons: list[Lesson]
    problems: list[str] = []


class Status(BaseModel):
    """What there is, and what waits for a person."""

    agent: str
    memories: int
    working_items: int
    skips: int
    contradictions: int
    waiting: int
