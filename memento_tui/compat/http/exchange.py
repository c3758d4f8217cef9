"""One request as a route reads it, checked against schemas, and its answer as Memento Protocol gives it.

Some answers are read as MCP results, ``{"content": [{"type": "text", "text": ...}]}``, others field by field. A failure
has its sentence in both places, for a client looks where it expects its answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

import msgspec
from starlette.responses import Response

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.search import recallable_filter
from memento_tui.compat.http.keys import ApiKeys, Caller
from memento_tui.compat.protocol.workspaces import WorkspaceScope, id_maker
from memento_tui.config import LanguageModelConfig
from memento_tui.errors import (
    Conflict,
    DataDirectoryError,
    EngineUnavailable,
    InvalidField,
    InvalidInput,
    MementoError,
    NotAllowed,
    NotFound,
)
from memento_tui.formats.protocol.vocabulary import category_of, item_title, linkage_from_relation, memory_type
from memento_tui.mcp.server import without_surrogates
from memento_tui.model import Memory, Proposal, Relation, Skip, WorkingItem
from memento_tui.model.filters import AllOf, Filter, Under
from memento_tui.operations.memories import format_time, is_recalled, list_labels, visible_memory
from memento_tui.operations.outcome import because, rejection_reason
from memento_tui.operations.relations import contradictions_among, labels_of
from memento_tui.policy.policy import reasons_in_words

__all__ = [
    "LINK_LABELS",
    "ApiRequest",
    "RequestSchema",
    "clamp_limit",
    "error_response",
    "item_row",
    "json_response",
    "linkage_rows",
    "memory_row",
    "memory_rows",
    "proposal_response",
    "proposal_row_response",
    "response_of_error",
    "skip_row",
    "text_response",
]


_MAX_PEEKED = 5
"""Other workspaces that one request may read."""

_TYPE_NAMES = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_EXPECTED_PATTERN = re.compile(r"Expected `([^`]+)`, got `([^`]+)`")
_MISSING_PATTERN = re.compile(r"Object missing required field `([^`]+)`")
_ENUM_PATTERN = re.compile(r"Invalid enum value (.+)")


class RequestSchema(msgspec.Struct):
    """The fields of a body or query. Others are ignored: clients send more than they need."""


SchemaT = TypeVar("SchemaT", bound=RequestSchema)


class ApiRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request, and the workspace in whose name it is carried out."""

    workspace: Workspace
    keys: ApiKeys
    caller: Caller
    scope: WorkspaceScope
    address: str
    """The address of this server, as the client wrote it."""
    body: bytes
    query: Mapping[str, str]
    path: Mapping[str, str]
    peek_header: str

    def read_body(self, schema: type[SchemaT]) -> SchemaT:
        """Return the body. Raises `InvalidInput` where it is not JSON, `InvalidField` where a field is wrong."""
        try:
            return msgspec.json.decode(_replace_surrogates(self.body) or b"{}", type=schema)
        except msgspec.ValidationError as error:
            raise _field_problem(str(error)) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InvalidInput(f"The body is not JSON: {error}.", "Send a JSON object.") from None

    def read_query(self, schema: type[SchemaT]) -> SchemaT:
        """Return the query's parameters. Raises `InvalidField` where one is wrong."""
        try:
            return msgspec.convert({name: value for name, value in self.query.items() if value}, schema, strict=False)
        except msgspec.ValidationError as error:
            raise _field_problem(str(error)) from None

    def peeked(self, names: Iterable[str] = ()) -> list[WorkspaceScope]:
        """Return the other workspaces that a request asks to look into as well.

        Raises:
            InvalidField: there are too many, or one has a name that no workspace can have.

        """
        all_names = [*names, *self.query.get("peek_workspaces", "").split(","), *self.peek_header.split(",")]
        distinct = dict.fromkeys(name.strip() for name in all_names if name.strip())
        if len(distinct) > _MAX_PEEKED:
            raise InvalidField("peek_workspaces", f"Too many: {len(distinct)}, and {_MAX_PEEKED} is the most")
        scopes = [WorkspaceScope(self.caller.namespace_of(name), label=name) for name in distinct]
        return [scope for scope in scopes if scope.namespace != self.scope.namespace]

    @property
    def language_model(self) -> LanguageModelConfig:
        """The endpoint that may write drafts: the person's for the person's own agents, and none for an account."""
        return LanguageModelConfig() if self.caller.account else self.workspace.config.language_model

    def new_id(self) -> str:
        """Return an id for a new record, as clients expect of one."""
        return id_maker(self.workspace)()

    def here(self, among: Filter = AllOf()) -> Filter:  # noqa: B008 - it cannot be changed
        """Return a filter for the memories of the workspace that are recalled now, without restricted ones."""
        return AllOf((recallable_filter(among, clock.now()), Under(self.scope.namespace)))

    def memory(self, memory_id: str | None = None) -> Memory:
        """Return the memory that the path names. Raises `NotFound` for one that is not in this workspace."""
        whole_id = self.path["id"] if memory_id is None else memory_id
        # By its whole id: an answer that a beginning is not unique would reveal other workspaces.
        memory: Memory | None = self.workspace.find(whole_id)
        if memory is None or memory.status == "deleted" or not self.scope.holds(memory):
            raise NotFound("Memory not found.", f"No memory of this workspace has the id {whole_id!r:.80}.")
        return memory


def _replace_surrogates(body: bytes) -> bytes:
    """Return a body with each half of a surrogate pair replaced, as MCP does: clients in JavaScript cut texts there."""
    return without_surrogates(body.decode()).encode() if b"\\ud" in body or b"\\uD" in body else body


def clamp_limit(limit: int, most: int) -> int:
    """Return a limit within the interface's own; clients that ask for more get the most."""
    return max(1, min(most, limit))


def _field_problem(problem: str) -> InvalidField:
    """Return a decoder's complaint about a field as an error in plain words."""
    what, _, where = problem.partition(" - at `")
    name = where.rstrip("`").removeprefix("$").removeprefix(".") or "body"
    if missing := _MISSING_PATTERN.search(what):
        inside = "" if name == "body" else f"{name}."
        return InvalidField(f"{inside}{missing[1]}", "is missing")
    if expected := _EXPECTED_PATTERN.search(what):
        expected_types = " or ".join(_TYPE_NAMES.get(part.strip(), part.strip()) for part in expected[1].split("|"))
        return InvalidField(name, f"must be {expected_types}, not {_TYPE_NAMES.get(expected[2], expected[2])}")
    if value := _ENUM_PATTERN.search(what):
        return InvalidField(name, f"cannot be {value[1]}")
    return InvalidField(name, what[:1].lower() + what[1:])


_STATUS_OF_ERROR: tuple[tuple[type[MementoError], int], ...] = (
    (InvalidInput, 400),
    (NotFound, 404),
    (Conflict, 409),
    (NotAllowed, 403),
    (DataDirectoryError, 503),
    (EngineUnavailable, 503),
)
_PROTOCOL_FIELD_NAMES = {
    "expires_at": "expires",
    "kind": "type",
    "kind_raw": "type",
    "dst": "linkages",
    "label": "linkages",
}
"""The fields that Memento Protocol calls by another name."""


def json_response(body: Mapping[str, Any], status: int = 200) -> Response:
    """Return an answer with these fields."""
    return Response(msgspec.json.encode(body), status, media_type="application/json")


def text_response(text: str, status: int = 200, /, **more: Any) -> Response:  # noqa: ANN401 - whatever JSON holds
    """Return an answer in words, with ``more`` beside them for programs."""
    return json_response({"content": [{"type": "text", "text": text}], **more}, status)


def error_response(sentence: str, status: int) -> Response:
    """Return an answer with the reason why nothing was done."""
    return text_response(sentence, status, error=sentence)


def response_of_error(error: MementoError) -> Response:
    """Return the answer to a request that failed on purpose."""
    sentence = str(error)
    if isinstance(error, InvalidField):
        sentence = f"{_PROTOCOL_FIELD_NAMES.get(error.field, error.field)}: {error.reason}. {error.hint}".strip()
    return error_response(sentence, next((status for kind, status in _STATUS_OF_ERROR if isinstance(error, kind)), 500))


def proposal_response(proposal: Proposal, **more: Any) -> Response:  # noqa: ANN401 - whatever JSON holds
    """Return the answer in words to a write that a person decides about, or has rejected before."""
    if proposal.state == "rejected":
        return _is_rejected(proposal)
    return text_response(_pending_sentence(proposal), 202, **_proposal_fields(proposal), **more)


def proposal_row_response(proposal: Proposal, row: Mapping[str, Any]) -> Response:
    """Return the answer field by field to such a write; ``row`` is the record as it is now."""
    if proposal.state == "rejected":
        return _is_rejected(proposal)
    return json_response({**row, **_proposal_fields(proposal), "message": _pending_sentence(proposal)}, 202)


def _is_rejected(proposal: Proposal) -> Response:
    return error_response(
        f"A person turned the same down before{rejection_reason(proposal.note)} Nothing was changed.", 409
    )


def _proposal_fields(proposal: Proposal) -> Mapping[str, Any]:
    return {"status": "proposed", "proposal": proposal.id, "why": reasons_in_words(proposal.reasons)}


def _pending_sentence(proposal: Proposal) -> str:
    return (
        f"Proposed: a person decides about it{because(reasons_in_words(proposal.reasons))}. Until then nothing changes."
    )


_WITHHELD_REASONS = {
    "pending": "It waits for a person's decision; until then its text is withheld.",
    "rejected": "A person turned it down, so its text is withheld.",
}


LINK_LABELS = ("links unverified",)
"""The words of caution about links: a memory's own trust says nothing about the words that an agent put on them."""


def linkage_rows(request: ApiRequest, memory: Memory) -> list[dict[str, str]]:
    """Return a memory's linkages."""
    return _linkage_rows(request.workspace.relations(memory.id, direction="out"))


def _linkage_rows(relations: Sequence[Relation]) -> list[dict[str, str]]:
    return [linkage_from_relation(relation.type, relation.dst, relation.label) for relation in relations]


def memory_row(request: ApiRequest, memory: Memory) -> dict[str, Any]:
    """Return a memory with all of its fields; see `memory_rows`."""
    return memory_rows(request, [memory])[0]


def memory_rows(request: ApiRequest, memories: Sequence[Memory]) -> list[dict[str, Any]]:
    """Return memories with all of their fields; one that may not be read has no text.

    ``relevance`` is a memory's certainty as a share of the highest, ``access_count`` how often it was of use: a mere
    search result is no access.
    """
    now, ids = clock.now(), [memory.id for memory in memories]
    pairs = [pair.contradiction for pair in request.workspace.contradictions.around(ids)]
    contradicted = {side for pair in pairs for side in (pair.older, pair.newer)}
    relations: dict[str, list[Relation]] = {memory_id: [] for memory_id in ids}
    for relation in request.workspace.relations_around(ids):
        for end in {relation.src, relation.dst} & relations.keys():
            relations[end].append(relation)
    return [
        _memory_row(request, memory, now, relations[memory.id], is_contradicted=memory.id in contradicted)
        for memory in memories
    ]


def _memory_row(
    request: ApiRequest, memory: Memory, now: datetime, relations: Sequence[Relation], *, is_contradicted: bool
) -> dict[str, Any]:
    view = visible_memory(memory, now)
    contradictions = (
        contradictions_among(request.workspace, [memory.id], now, request.caller.sees)
        if view.is_readable and is_contradicted
        else []
    )
    labels = labels_of([memory], now, contradictions)[memory.id] if view.is_readable else view.labels
    own = [relation for relation in relations if relation.src == memory.id]
    linkages = _linkage_rows(own) if view.is_readable else []
    merged_ids = [
        relation.src
        for relation in relations
        if relation.dst == memory.id and relation.type == "consolidated_from" and _is_recalled_id(request, relation.src)
    ]
    row: dict[str, Any] = {
        "id": memory.id,
        "content": view.content,
        "type": memory_type(memory),
        "tags": view.tags,
        "created_at": format_time(memory.created_at),
        "updated_at": format_time(memory.updated_at),
        "expires_at": None if memory.expires_at is None else format_time(memory.expires_at),
        "relevance": memory.certainty / 5,
        "access_count": memory.used_count,
        "last_accessed_at": None if memory.last_used_at is None else format_time(memory.last_used_at),
        "consolidated": int(memory.status == "consolidated"),
        "consolidated_into": merged_ids[-1] if merged_ids else None,
        "linkages": linkages,
        "images": [],
        "status": memory.status,
        "labels": [*labels, *LINK_LABELS] if linkages else labels,
        "validity_context": view.validity_context,
        "valid_from": None if memory.valid_from is None else format_time(memory.valid_from),
        "valid_to": None if memory.valid_to is None else format_time(memory.valid_to),
        "version": memory.version,
    }
    return row if view.is_readable else {**row, "withheld": _WITHHELD_REASONS[memory.status]}


def _is_recalled_id(request: ApiRequest, memory_id: str) -> bool:
    memory: Memory | None = request.workspace.find(memory_id)
    return memory is not None and is_recalled(memory) and request.scope.holds(memory)


def item_row(item: WorkingItem) -> dict[str, Any]:
    """Return a working item with all of its fields."""
    touched = format_time(item.updated_at)
    return {
        "id": item.id,
        "category": category_of(item),
        "title": item_title(item),
        "content": item.content,
        "status": item.status,
        "priority": item.priority,
        "tags": list(item.tags),
        "next_action": item.next_action or None,
        "created_at": format_time(item.created_at),
        "updated_at": touched,
        "last_touched": touched,
        "version": item.version,
        "labels": list_labels(item),
    }


def skip_row(skip: Skip) -> dict[str, Any]:
    """Return a skip."""
    return {
        "id": skip.id,
        "item": skip.item,
        "reason": skip.reason,
        "expires_at": format_time(skip.expires_at),
        "labels": list_labels(skip),
    }
