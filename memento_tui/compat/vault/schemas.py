"""Define results as Memento Vault's clients read them: JSON in the text, one block for each object."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel

__all__ = [
    "CaptureResult",
    "FoundNote",
    "Inventory",
    "ListedNote",
    "NoteLink",
    "PromptContext",
    "ReindexResult",
    "SearchResults",
    "Snapshot",
    "StatusResult",
    "StoreResult",
    "WholeNote",
    "error_result",
    "list_result",
    "object_result",
    "refusal",
]


class FoundNote(BaseModel):
    """One result of a search."""

    path: str
    title: str
    score: float
    snippet: str
    id: str
    labels: list[str]
    content: str | None = None


class SearchResults(BaseModel):
    """The results of a search, best first."""

    result: list[FoundNote]


class PromptContext(BaseModel):
    """The context that a host may show to its model, or the reason why there is none."""

    should_inject: bool
    content: str
    source: str
    results: list[FoundNote]
    reason: str | None = None
    metadata: dict[str, Any] | None = None


class StoreResult(BaseModel):
    """The outcome of storing a note; ``pending``: a person decides about it, ``reason``: why."""

    path: str
    title: str
    id: str
    created: bool | None = None
    idempotent: bool | None = None
    pending: bool | None = None
    supersedes: str | None = None
    reason: str | None = None


class Snapshot(BaseModel):
    """A day's snapshot: its path, the one that it replaces, and its number."""

    path: str
    supersedes: str | None
    version: int
    idempotent: bool | None = None
    pending: bool | None = None
    reason: str | None = None


class CaptureResult(BaseModel):
    """The records that were kept of a session."""

    session_id: str
    project: str
    note_path: str | None = None
    fleeting: str | None = None
    deduplicated: bool | None = None
    proposed: int | None = None
    pending: bool | None = None
    reason: str | None = None


class NoteLink(BaseModel):
    """A link to (out) or from (in) another note, an item or a file; ``target`` leads there by memento_get."""

    type: str
    direction: str
    target: str
    title: str = ""
    labels: list[str]


class WholeNote(BaseModel):
    """A note with its properties, as an export writes it."""

    path: str
    title: str
    content: str
    id: str
    labels: list[str]
    links: list[NoteLink] = []


class ListedNote(BaseModel):
    """One note of the inventory."""

    path: str
    title: str
    hash: str | None = None
    labels: list[str] = []


class Inventory(BaseModel):
    """Every note that is recalled, by path."""

    result: list[ListedNote]


class StatusResult(BaseModel):
    """The numbers of notes, and the settings of the vault."""

    vault_id: str
    vault_path: str
    vault_exists: bool = True
    qmd_available: bool = True
    """Whether notes can be searched; clients know the field by the name of the original's search program."""
    note_count: int
    project_count: int
    fleeting_count: int
    waiting: int
    config: dict[str, Any]


class ReindexResult(BaseModel):
    """How many notes the rebuilt index holds."""

    status: str
    notes_indexed: int


def object_result(result: BaseModel, *, keep: Sequence[str] = ()) -> CallToolResult:
    """Return an object as a result, without the fields that are ``None``, but for those named in ``keep``."""
    plain = result.model_dump(mode="json", exclude_none=True) | {name: getattr(result, name) for name in keep}
    return CallToolResult(content=[_json_block(plain)], structured_content=plain)


def list_result(results: Sequence[BaseModel]) -> CallToolResult:
    """Return a list as a result; an empty one has no block."""
    plain = [result.model_dump(mode="json", exclude_none=True) for result in results]
    return CallToolResult(content=[_json_block(entry) for entry in plain], structured_content={"result": plain})


def error_result(sentence: str, **more: str) -> CallToolResult:
    """Return an error result with the reason, in the form that these clients know from success."""
    return CallToolResult(content=[_json_block({"error": sentence, **more})], is_error=True)


def refusal(sentence: str) -> CallToolResult:
    """Return such a result for a call that no tool saw."""
    return error_result(sentence)


def _json_block(value: object) -> TextContent:
    return TextContent(type="text", text=json.dumps(value, ensure_ascii=False))
