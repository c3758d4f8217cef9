"""Define the structured results of the native tools; a field at its default is left out of a result."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from memento_tui.operations.relations import ContradictionEntry, ContradictionSide

__all__ = [
    "CaptureResult",
    "ChangeResult",
    "ContextResult",
    "ContradictionEntry",
    "ContradictionPage",
    "ContradictionSide",
    "DistillResult",
    "EssentialMemory",
    "IdentityResult",
    "ItemEntry",
    "ItemList",
    "LessonResult",
    "MemoryBatch",
    "ProposalEntry",
    "ProposalPage",
    "RelatedResult",
    "RememberResult",
    "SearchResult",
    "SearchResults",
    "SessionOpenResult",
    "SkipEntry",
    "SkipList",
    "StatusResult",
    "WalkedMemoryLink",
    "WholeMemory",
]

Outcome = Literal["applied", "proposed", "rejected"]


class RememberResult(BaseModel):
    """The outcome of storing a memory."""

    id: str
    status: str
    duplicate: bool = False
    why: list[str] = []
    hint: str = ""


class ChangeResult(BaseModel):
    """The outcome of another change: done, waiting for a person, or rejected, and why."""

    id: str
    outcome: Outcome
    version: int | None = None
    why: list[str] = []


class SearchResult(BaseModel):
    """One result of a search."""

    id: str
    title: str
    kind: str
    score: float
    snippet: str
    labels: list[str]
    tags: list[str] = []
    namespace: str = "global"


class SearchResults(BaseModel):
    """The results of a search, best first."""

    results: list[SearchResult]
    semantic: str
    problems: list[str] = []
    contradictions: list[ContradictionEntry] = []
    project: str = ""
    """The project whose memories, and those of no project, were searched; empty where all were."""


class MemoryLink(BaseModel):
    """A link to (out) or from (in) another memory, an item or a file."""

    type: str
    direction: str
    target: str
    headline: str = ""
    labels: list[str] = []


class WholeMemory(BaseModel):
    """A memory with its full text; fields that agents set and that are not named here follow under their own names."""

    model_config = ConfigDict(extra="allow")

    id: str
    title: str
    content: str
    kind: str
    labels: list[str]
    tags: list[str] = []
    namespace: str = "global"
    certainty: int
    confidence: float = 0.5
    surprise: float | None = None
    tier: str = "short_term"
    version: int
    created_at: str
    updated_at: str
    expires_at: str = ""
    valid_from: str = ""
    valid_to: str = ""
    source_type: str = "user"
    source_url: str = ""
    validity_context: str = ""
    contradictions: list[ContradictionEntry] = []
    links: list[MemoryLink] = []
    withheld: str = ""


class MemoryBatch(BaseModel):
    """Memories by the ids of a call, and a sentence for each id without a memory."""

    memories: list[WholeMemory]
    missing: list[str] = []


class SkipEntry(BaseModel):
    """One skip."""

    id: str
    item: str
    reason: str
    expires_at: str
    namespace: str = "global"
    version: int
    labels: list[str] = []


class SkipList(BaseModel):
    """Skips, the soonest to end first."""

    skips: list[SkipEntry]


class ItemEntry(BaseModel):
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
    labels: list[str] = []


class ItemList(BaseModel):
    """Working items, the highest priority first."""

    items: list[ItemEntry]


class IdentityResult(BaseModel):
    """The identity that holds now; empty where none was written."""

    id: str = ""
    content: str = ""
    author: str = ""
    created_at: str = ""
    labels: list[str] = []


class WalkedMemoryLink(MemoryLink):
    """A link that a walk came to; ``via`` is the memory whose link it is, where that is another one."""

    via: str = ""


class RelatedResult(BaseModel):
    """The links of a memory, nearest first."""

    id: str
    links: list[WalkedMemoryLink] = []


class ContextResult(BaseModel):
    """The records that concern one message."""

    identity: str = ""
    identity_labels: list[str] = []
    items: list[ItemEntry] = []
    skips: list[SkipEntry] = []
    memories: list[SearchResult] = []
    semantic: str
    contradictions: list[ContradictionEntry] = []


class ContradictionPage(BaseModel):
    """A page of open contradictions; ``next`` asks for the one after it."""

    contradictions: list[ContradictionEntry]
    next: str = ""


class ProposalEntry(BaseModel):
    """One proposal of this agent: its subject and its outcome."""

    proposal: str
    target: str
    id: str
    action: str
    state: str
    reason: str = ""
    about: str = ""
    why: list[str] = []
    at: str


class ProposalPage(BaseModel):
    """A page of this agent's proposals; ``next`` asks for the one after it."""

    proposals: list[ProposalEntry]
    next: str = ""


class EssentialMemory(BaseModel):
    """A memory that a person wants every session to begin with."""

    id: str
    text: str
    labels: list[str]


class SessionOpenResult(BaseModel):
    """A session: the handle that other calls take, its namespace, and the records that it begins with."""

    session: str
    namespace: str = ""
    identity: str = ""
    identity_labels: list[str] = []
    essentials: list[EssentialMemory] = []
    items: list[ItemEntry] = []
    skips: list[SkipEntry] = []
    decided: list[ProposalEntry] = []
    contradictions: int = 0


class CaptureResult(BaseModel):
    """The outcomes of storing a summary and each decision, in the order in which they were given."""

    memories: list[RememberResult]


class LessonResult(BaseModel):
    """The outcome of one lesson of a transcript."""

    target: str
    outcome: str
    id: str = ""
    text: str
    why: str = ""


class DistillResult(BaseModel):
    """The lessons of a transcript, and a sentence for each part of it that could not be read."""

    lessons: list[LessonResult]
    problems: list[str] = []


class StatusResult(BaseModel):
    """The numbers of records, and of proposals that wait for a person."""

    agent: str
    memories: int
    kinds: dict[str, int] = {}
    """How many of the memories are of each kind, most frequent first."""
    working_items: int
    skips: int
    contradictions: int
    waiting: int
