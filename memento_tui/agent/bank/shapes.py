"""agent-memory's results, structured; the text beside them is for the model."""

from __future__ import annotations

from pydantic import BaseModel

from memento_tui.agent.shapes import Disagreement, FoundMemory

__all__ = ["BankMemory", "Recalled", "Retained"]


class Recalled(BaseModel):
    """What a bank holds on a query, best first, and the contradictions among it."""

    bank_id: str
    memories: list[FoundMemory]
    contradictions: list[Disagreement] = []
    semantic: str


class BankMemory(BaseModel):
    """A memory in full, with its trust and its life; ``withheld`` says why its text is not here."""

    id: str
    bank_id: str
    kind: str
    content: str = ""
    title: str = ""
    tags: list[str] = []
    tier: str
    stability: str
    source_type: str
    sensitivity: str
    confidence: float
    certainty: int
    surprise: float | None = None
    labels: list[str]
    created_at: str
    updated_at: str
    used_count: int = 0
    withheld: str = ""


class Retained(BaseModel):
    """What became of a memory; ``pending`` says that a person decides about it, and ``reason`` why."""

    id: str
    bank_id: str
    kind: str
    duplicate: bool = False
    pending: bool = False
    reason: str = ""
