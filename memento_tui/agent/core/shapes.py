"""memento-core's results: JSON, whole in one block of text, a list also as ``result`` in the structured part."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel

__all__ = [
    "Deleted",
    "Found",
    "FoundMemory",
    "NamespaceCount",
    "Namespaces",
    "Recalled",
    "Stored",
    "WholeMemory",
    "listed",
    "moment_of",
    "said",
]


class Stored(BaseModel):
    """What became of a memory; ``pending`` says that a person decides about it, and ``reason`` why."""

    id: str
    namespace: str
    created: bool
    pending: bool | None = None
    reason: str | None = None
    unresolved: list[str] | None = None
    """Relations to memories that are not here; they are kept as they were given."""


class FoundMemory(BaseModel):
    """One result of a search."""

    id: str
    namespace: str
    tags: list[str]
    snippet: str
    score: float
    updated: str
    labels: list[str]


class Found(BaseModel):
    """The results of a search, best first."""

    result: list[FoundMemory]


class WholeMemory(BaseModel):
    """A memory in full; of one that cannot be read, its id and why."""

    id: str
    namespace: str | None = None
    content: str | None = None
    tags: list[str] | None = None
    created: str | None = None
    updated: str | None = None
    source: str | None = None
    relations: list[str] | None = None
    ttl: str | None = None
    labels: list[str] | None = None
    error: str | None = None


class Recalled(BaseModel):
    """The memories that were asked for, in that order."""

    result: list[WholeMemory]


class Deleted(BaseModel):
    """Whether a memory is deleted, and where it is not, why."""

    id: str
    namespace: str
    deleted: bool
    pending: bool | None = None
    reason: str | None = None


class NamespaceCount(BaseModel):
    """A namespace and how many memories it holds."""

    namespace: str
    count: int


class Namespaces(BaseModel):
    """Every namespace, by name."""

    result: list[NamespaceCount]


def said(shape: BaseModel) -> CallToolResult:
    """Return an object as a result."""
    plain = shape.model_dump(mode="json", exclude_none=True)
    return CallToolResult(content=[_text(plain)], structured_content=plain)


def listed(shapes: Sequence[BaseModel]) -> CallToolResult:
    """Return a list as a result."""
    plain = [shape.model_dump(mode="json", exclude_none=True) for shape in shapes]
    return CallToolResult(content=[_text(plain)], structured_content={"result": plain})


def moment_of(moment: datetime) -> str:
    """Return a moment as JavaScript writes it: ``2026-02-26T14:30:00.000Z``."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _text(value: object) -> TextContent:
    return TextContent(type="text", text=json.dumps(value, ensure_ascii=False))
