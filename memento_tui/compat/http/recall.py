"""``/v1/memories/recall`` and ``/v1/context``: memories that answer a question, and what concerns a message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from starlette.responses import Response

from memento_tui import clock
from memento_tui.api.search import SearchHit
from memento_tui.compat.http.request import ApiRequest, ProtocolWorkspace, RequestSchema, clamp_limit
from memento_tui.compat.http.responses import item_row, json_response, linkage_rows, text_response
from memento_tui.compat.http.working_memory import matching_skips, workspace_items
from memento_tui.compat.http.workspaces import setting_number
from memento_tui.compat.protocol.formatting import SEPARATOR, quoted_block, short_heading
from memento_tui.compat.protocol.linkages import linkages_text
from memento_tui.errors import InvalidField
from memento_tui.formats.protocol.vocabulary import memory_type
from memento_tui.model import Memory
from memento_tui.model.memory import KINDS
from memento_tui.model.validation import fold_tag
from memento_tui.operations.contradictions import contradiction_section, contradictions_among
from memento_tui.operations.memory_status import caution_labels, format_time, is_recalled
from memento_tui.operations.recall import count_shown, plain_query, record_exposures
from memento_tui.text.fence import one_line
from memento_tui.text.terms import STOP_WORDS, terms

_MAX_RECALLED = 100
_MAX_CANDIDATES = 200
"""Results that are looked through for those of a type or tag that the index does not know."""

_MAX_QUERY_CHARS = 10_000

_DEFAULT_ALPHA = 0.5
"""The share of words against meaning where a workspace sets none."""


class _RecallQuery(RequestSchema):
    query: str = ""
    tags: list[str] | str = ""
    type: str = ""
    limit: int = 10
    format: str = ""
    track_access: bool = True
    peek_workspaces: list[str] | str = ""
    workspace: str = ""


class RecalledMemory(msgspec.Struct, frozen=True):
    """A memory that answers, its score from 0 to about 1, and the other workspace that it is from."""

    hit: SearchHit
    score: float
    keyword: float
    """What its words alone are worth."""
    workspace: str = ""

    @property
    def memory(self) -> Memory:
        """The memory."""
        return self.hit.memory


class RecallResult(msgspec.Struct, frozen=True):
    """What a search found, best first."""

    found: list[RecalledMemory]
    terms: list[str]
    """The words that were looked for."""
    is_hybrid: bool
    """Whether meaning counted beside words."""


def search_workspaces(
    call: ApiRequest,
    message: str,
    limit: int,
    *,
    peeked: Sequence[ProtocolWorkspace] = (),
    kind: str = "",
    tags: Sequence[str] = (),
) -> RecallResult:
    """Return the best ``limit`` memories of the workspace and of each peeked one; nothing is counted."""
    words = plain_query(message[:_MAX_QUERY_CHARS])
    if not words:
        return RecallResult([], [], is_hybrid=False)
    found, is_hybrid = [], False
    for place in (call.place, *peeked):
        own, hybrid = _search_in(call, place, words, limit, kind=kind, tags=tags)
        is_hybrid = is_hybrid or hybrid
        found += own
    found.sort(key=lambda one: -one.score)
    terms = [word for word in words.lower().split() if word not in STOP_WORDS]
    return RecallResult(found, terms, is_hybrid)


def _search_in(
    call: ApiRequest, place: ProtocolWorkspace, words: str, limit: int, *, kind: str, tags: Sequence[str]
) -> tuple[list[RecalledMemory], bool]:
    query = f'ns:"{place.namespace}" '
    if kind in KINDS:
        query += f"kind:{kind} "
    if tags and not any(set(tag) & {'"', ",", "#"} for tag in tags):
        query += f'tag:"{",".join(tags)}" '
    # The language knows neither a type of somebody's own nor every tag; those are picked out of more results.
    more = kind or tags or call.caller.account
    answer = call.workspace.search(query + words, limit=_MAX_CANDIDATES if more else limit)
    wanted = {fold_tag(tag) for tag in tags}
    threshold = setting_number(call, "recall_threshold") or 0.0
    alpha = setting_number(call, "recall_alpha") if answer.semantic == "ready" else None
    other = "" if place == call.place else place.workspace
    scored = _local_score if call.caller.account else _weighted_score
    found = [
        RecalledMemory(hit, score, keyword, other)
        for hit in answer.results
        if is_recalled(hit.memory)
        and hit.memory.status != "consolidated"
        and (not kind or memory_type(hit.memory) == kind)
        and (not wanted or wanted & {fold_tag(tag) for tag in hit.memory.tags})
        for score, keyword in [scored(hit, words, alpha)]
        if score >= threshold
    ]
    found.sort(key=lambda one: -one.score)
    return found[:limit], answer.semantic == "ready"


def _weighted_score(hit: SearchHit, _: str, alpha: float | None) -> tuple[float, float]:
    """Return a result's score, with words and meaning weighed as the workspace has set, and that of its words."""
    found = hit.relevance
    keyword = found.keyword or 0.0
    if alpha is None or not found.score:
        return hit.score, keyword
    return (alpha * keyword + (1 - alpha) * (found.semantic or 0.0)) * hit.score / found.score, keyword


def _local_score(hit: SearchHit, words: str, alpha: float | None) -> tuple[float, float]:
    """Return the scores of a result that an account is told: they count how many of the words its memory holds.

    How rare a word is, which counts otherwise, would tell the account whether others have written it.
    """
    memory = hit.memory
    asked = {term for word in words.split() if word.lower() not in STOP_WORDS for term in terms(word)}
    held = set(terms(f"{memory.title}\n{memory.content}\n{' '.join(memory.tags)}"))
    keyword = len(asked & held) / len(asked) if asked else 0.0
    meaning = hit.relevance.semantic
    if meaning is None:
        return keyword * hit.life.factor, keyword
    share = _DEFAULT_ALPHA if alpha is None else alpha
    return (share * keyword + (1 - share) * meaning) * hit.life.factor, keyword


def record_recall(call: ApiRequest, found: Sequence[RecalledMemory]) -> None:
    """Count what was put in front of an agent, and enter it in the ledger. What another workspace lent does not count.

    To be shown is no use: it makes no memory rank higher or live longer.
    """
    hits = [one.hit for one in found if not one.workspace]
    count_shown(call.workspace, [hit.id for hit in hits])
    record_exposures(call.workspace, hits)


def recall_memories(call: ApiRequest) -> Response:
    """Return the memories that answer a question, in words or, with ``format=json``, in fields too."""
    asked = call.given(_RecallQuery) if call.body else call.asked(_RecallQuery)
    if not asked.query.strip():
        raise InvalidField("query", "is missing", "Say what to look for.")
    named = [*_split_list(asked.peek_workspaces), *_split_list(asked.workspace)] if call.body else []
    answer = search_workspaces(
        call,
        asked.query,
        clamp_limit(asked.limit, _MAX_RECALLED),
        peeked=call.peeked(named),
        kind=asked.type.strip(),
        tags=_split_list(asked.tags),
    )
    if asked.track_access:
        record_recall(call, answer.found)
    text = _recall_text(call, asked.query, answer.found)
    if asked.format == "json":
        return json_response({"text": text, "memories": [_recall_row(one) for one in answer.found]})
    return text_response(text)


def _split_list(written: list[str] | str) -> list[str]:
    parts = written.split(",") if isinstance(written, str) else written
    return [part.strip() for part in parts if part.strip()]


def _recall_row(one: RecalledMemory) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": one.memory.id,
        "content": one.memory.content,
        "type": memory_type(one.memory),
        "tags": list(one.memory.tags),
        "images": [],
        "created_at": format_time(one.memory.created_at),
        "relevance_score": round(one.score, 3),
        "labels": caution_labels(one.memory, clock.now()),
    }
    return {**row, "workspace": one.workspace} if one.workspace else row


def _recall_text(call: ApiRequest, query: str, found: Sequence[RecalledMemory]) -> str:
    if not found:
        return f'No memories found matching "{query}".'
    count = f"{len(found)} memor{'y' if len(found) == 1 else 'ies'}"
    told = SEPARATOR.join(_memory_text(call, one) for one in found)
    return "\n\n".join(filter(None, [f"Found {count}:", told, _contradiction_section(call, found)]))


def _memory_text(call: ApiRequest, one: RecalledMemory) -> str:
    place = f" [{one_line(one.workspace)}]" if one.workspace else ""
    content = quoted_block(one.memory.content, untrusted=one.memory.source_type == "external")
    return f"{short_heading(one.memory)}{place}\n{content}{linkages_text(call.workspace, one.memory.id)}"


def _contradiction_section(call: ApiRequest, found: Sequence[RecalledMemory]) -> str:
    """Return the section on what is found and contradicted, both sides of which the caller may see."""
    disputed = contradictions_among(call.workspace, [one.memory.id for one in found], clock.now())
    sides = {side.id for one in disputed for side in (one.older, one.newer)}
    places = {name: memory.namespace for name, memory in call.workspace.store.memories(list(sides)).items()}
    seen = [one for one in disputed if all(call.caller.sees(places[side.id]) for side in (one.older, one.newer))]
    return contradiction_section(seen)


_MAX_MATCHES = 10

_ContextPart = Literal["working_memory", "memories", "skip_list", "identity"]


class _ContextQuery(RequestSchema):
    message: str = ""
    include: tuple[_ContextPart, ...] = ("working_memory", "memories", "skip_list", "identity")
    track_access: bool = True
    peek_workspaces: tuple[str, ...] = ()
    images: bool | None = None
    include_graph: bool = False


def get_context(call: ApiRequest) -> Response:
    """Return the parts that are asked for: working items, memories and skips that a message touches, and identity."""
    given = call.given(_ContextQuery)
    peeked = call.peeked(given.peek_workspaces)
    meta: dict[str, Any] = {"workspace": call.place.workspace, "last_updated": format_time(clock.now())}
    if peeked:
        meta["peeked_workspaces"] = [place.workspace for place in peeked]
    body: dict[str, Any] = {"meta": meta}
    if "working_memory" in given.include:
        body["working_memory"] = _working_part(call, peeked)
    if "memories" in given.include and given.message.strip():
        answer = search_workspaces(call, given.message, _MAX_MATCHES, peeked=peeked)
        if given.track_access:
            record_recall(call, answer.found)
        body["memories"] = _memories_part(call, answer, with_links=given.include_graph)
        meta["memory_count"] = call.workspace.store.count(call.here())
    if "skip_list" in given.include and given.message.strip():
        skips = matching_skips(call, given.message, counted=given.track_access)
        body["skip_matches"] = [
            {"item": skip.item, "reason": skip.reason, "expires": format_time(skip.expires_at)} for skip in skips
        ]
    if "identity" in given.include:
        crystal = None if call.caller.account else call.workspace.crystals.current()
        body["identity"] = None if crystal is None else crystal.content
    return json_response(body)


def _working_part(call: ApiRequest, peeked: Sequence[ProtocolWorkspace]) -> dict[str, Any]:
    found = [
        (item, place)
        for place in (call.place, *peeked)
        for item in workspace_items(call, place)
        if item.status in ("active", "paused")
    ]
    found.sort(key=lambda one: (-one[0].priority, -one[0].created_at.timestamp()))
    rows = [item_row(item) | ({} if place == call.place else {"workspace": place.workspace}) for item, place in found]
    return {"items": rows, "total_active": sum(place == call.place for _, place in found)}


def _memories_part(call: ApiRequest, answer: RecallResult, *, with_links: bool) -> dict[str, Any]:
    matches = [_match_row(call, one, hybrid=answer.is_hybrid, with_links=with_links) for one in answer.found]
    return {
        "matches": matches,
        "query_terms": answer.terms,
        "ranking": "hybrid" if answer.is_hybrid else "keyword",
    }


def _match_row(call: ApiRequest, one: RecalledMemory, *, hybrid: bool, with_links: bool) -> dict[str, Any]:
    memory, relevance = one.memory, one.hit.relevance
    match: dict[str, Any] = {
        "id": memory.id,
        "content": memory.content,
        "type": memory_type(memory),
        "tags": list(memory.tags),
        "score": round(one.score, 3),
        "created_at": format_time(memory.created_at),
        "labels": caution_labels(memory, clock.now()),
    }
    if hybrid:
        match["keyword_score"] = round(one.keyword, 3)
        match["vector_score"] = round(relevance.semantic or 0.0, 3)
    if with_links:
        match["linkages"] = linkage_rows(call, memory)
    return {**match, "workspace": one.workspace} if one.workspace else match
