"""``/v1/memories/recall`` and ``/v1/context``: memories that answer a question, and all that concerns a message.

``/v1/settings``: the numbers by which a workspace's recalls are scored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import msgspec
from starlette.responses import Response

from memento_tui import clock
from memento_tui.api.search import SearchHit
from memento_tui.compat.http.exchange import (
    LINK_LABELS,
    ApiRequest,
    RequestSchema,
    clamp_limit,
    item_row,
    json_response,
    linkage_rows,
    text_response,
)
from memento_tui.compat.http.working_memory import matching_skips
from memento_tui.compat.protocol.formatting import SEPARATOR, memory_block, memory_heading
from memento_tui.compat.protocol.memories import linkages_texts
from memento_tui.compat.protocol.working_memory import list_items
from memento_tui.compat.protocol.workspaces import WorkspaceScope
from memento_tui.errors import InvalidField, NotAllowed, NotFound
from memento_tui.formats.protocol.vocabulary import memory_type
from memento_tui.model import Memory
from memento_tui.model.memory import KINDS
from memento_tui.model.validation import fold_tag
from memento_tui.operations.memories import format_time, list_labels
from memento_tui.operations.recall import (
    Judge,
    answering_hits,
    is_conversation,
    moments_and_words,
    newest_versions,
    plain_query,
    record_shown,
    relevant_hits,
    without_other_places,
)
from memento_tui.operations.relations import (
    ContradictionEntry,
    contradiction_section,
    contradictions_among,
    labels_of,
)
from memento_tui.search.fair_share import is_held_back
from memento_tui.search.query_language import written_field
from memento_tui.search.ranking import clears_floor
from memento_tui.text.fence import one_line
from memento_tui.text.terms import STOP_WORDS, terms

__all__ = [
    "delete_setting",
    "get_context",
    "get_setting",
    "list_settings",
    "put_setting",
    "recall_memories",
]


_SETTINGS_KEY = "http.settings"
_MAX_WORKSPACES_WITH_SETTINGS = 200
"""Workspaces of one caller with settings: any name is one, and all settings are read with every recall."""

_SETTING_NAMES: Mapping[str, str] = {
    "recall_alpha": "the share of words against meaning in a recall's scores; where it is not set, memento weighs them",
    "recall_threshold": "the score below which a recall leaves a memory out; where it is not set, it must answer",
}


class _Setting(msgspec.Struct, frozen=True):
    value: float
    updated_at: str


class _SettingValue(RequestSchema):
    value: float | str


_decode_settings = msgspec.json.Decoder(dict[str, dict[str, _Setting]]).decode
"""Decodes settings by namespace and name."""


def _setting_number(request: ApiRequest, name: str) -> float | None:
    """Return a setting of the request's workspace, or ``None`` where it is not set."""
    setting = _all_settings(request.workspace.settings.get(_SETTINGS_KEY)).get(request.scope.namespace, {}).get(name)
    return None if setting is None else setting.value


def _all_settings(stored: str | None) -> dict[str, dict[str, _Setting]]:
    return {} if stored is None else _decode_settings(stored)


def _setting_rows(request: ApiRequest) -> dict[str, dict[str, str]]:
    """Return the settings of the request's workspace by name, as they are sent."""
    own = _all_settings(request.workspace.settings.get(_SETTINGS_KEY)).get(request.scope.namespace, {})
    return {
        name: {"key": name, "value": str(setting.value), "updated_at": setting.updated_at}
        for name, setting in sorted(own.items())
    }


def get_setting(request: ApiRequest) -> Response:
    """Read one setting; of one that is not set, the default that holds."""
    name = _checked_setting_name(request)
    row = _setting_rows(request).get(name)
    if row is None:
        return text_response(f'Setting "{name}" is not set. It is {_SETTING_NAMES[name]}.', key=name, value=None)
    return text_response(f'Setting "{name}" is "{row["value"]}".', **row)


def list_settings(request: ApiRequest) -> Response:
    """List the settings that are set."""
    rows = list(_setting_rows(request).values())
    return text_response(msgspec.json.format(msgspec.json.encode(rows), indent=2).decode(), settings=rows)


def put_setting(request: ApiRequest) -> Response:
    """Set a number from 0 to 1."""
    name = _checked_setting_name(request)
    value = _checked_number(request.read_body(_SettingValue).value)
    now = format_time(clock.now())
    _write_settings(request, lambda own: {**own, name: _Setting(value, now)})
    return text_response(f'Setting "{name}" set to "{value}".', key=name, value=str(value))


def delete_setting(request: ApiRequest) -> Response:
    """Delete a setting, so that the default holds again."""
    name = _checked_setting_name(request)
    _write_settings(request, lambda own: {other: setting for other, setting in own.items() if other != name})
    return text_response(f'Setting "{name}" deleted (reverted to default).', key=name)


def _checked_setting_name(request: ApiRequest) -> str:
    name = request.path["key"]
    if name not in _SETTING_NAMES:
        descriptions = "; ".join(f"{known}: {meaning}" for known, meaning in _SETTING_NAMES.items())
        raise NotFound(f"There is no setting {name!r:.60}.", f"There are {descriptions}.")
    return name


def _checked_number(value: float | str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise InvalidField("value", f"must be a number from 0 to 1; not {value!r:.60}")
    return number


def _write_settings(request: ApiRequest, change: Callable[[dict[str, _Setting]], dict[str, _Setting]]) -> None:
    """Replace the settings of the request's workspace by the result of ``change`` for them."""

    def write(stored: str | None) -> str:
        everything = _all_settings(stored)
        everything[request.scope.namespace] = change(everything.get(request.scope.namespace, {}))
        nonempty = {namespace: own for namespace, own in everything.items() if own}
        if sum(request.caller.owns(namespace) for namespace in nonempty) > _MAX_WORKSPACES_WITH_SETTINGS:
            raise NotAllowed(
                f"{_MAX_WORKSPACES_WITH_SETTINGS:,} workspaces have settings, which is the most.",
                "Delete those of others first.",
            )
        return msgspec.json.encode(nonempty).decode()

    request.workspace.settings.change(_SETTINGS_KEY, write)


_MAX_RECALLED = 100
_MAX_CANDIDATES = 200
"""Results from which those of a type or tag that the index does not know are picked."""

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


class _RecalledMemory(msgspec.Struct, frozen=True):
    """A memory that answers a query, with its score from 0 to about 1."""

    hit: SearchHit
    score: float
    keyword: float
    """The score of its words alone."""
    workspace: str = ""
    """The name of the peeked workspace that it is from; empty for the request's own."""

    @property
    def memory(self) -> Memory:
        """The memory."""
        return self.hit.memory


class _RecallResult(msgspec.Struct, frozen=True):
    """The results of a search, best first."""

    memories: list[_RecalledMemory]
    terms: list[str]
    """The words of the query."""
    is_hybrid: bool
    """Whether meaning counted beside words."""


def _search_workspaces(
    request: ApiRequest,
    message: str,
    limit: int,
    *,
    peeked: Sequence[WorkspaceScope] = (),
    kind: str = "",
    tags: Sequence[str] = (),
    is_asked: bool = True,
) -> _RecallResult:
    """Return the best ``limit`` memories of the workspace and of each peeked one; nothing is counted.

    Only what answers is returned. A message that is not ``is_asked`` is no question, and logs are not told for it
    (`operations.recall`); a question may ask with ``at:DATE`` what held then.
    """
    message = message[:_MAX_QUERY_CHARS]
    moments, words = moments_and_words(message) if is_asked else ("", plain_query(message))
    if not words:
        return _RecallResult([], [], is_hybrid=False)
    memories, is_hybrid = [], False
    for scope in (request.scope, *peeked):
        in_scope, hybrid = _search_in(
            request, scope, words, limit, moments=moments, kind=kind, tags=tags, message="" if is_asked else message
        )
        is_hybrid = is_hybrid or hybrid
        memories += in_scope
    told = {
        hit.id
        for hit in without_other_places(request.workspace, [one.hit for one in memories], request.scope.namespace)
    }
    memories = [memory for memory in memories if memory.memory.id in told]
    memories.sort(key=lambda memory: -memory.score)
    terms = [word for word in words.lower().split() if word not in STOP_WORDS]
    return _RecallResult(memories, terms, is_hybrid)


def _search_in(
    request: ApiRequest,
    scope: WorkspaceScope,
    words: str,
    limit: int,
    *,
    moments: str,
    kind: str,
    tags: Sequence[str],
    message: str,
) -> tuple[list[_RecalledMemory], bool]:
    query = f'ns:"{scope.namespace}" {moments} '
    if kind in KINDS:
        query += f"kind:{kind} "
    if tags and not any(set(tag) & {'"', "#"} for tag in tags):
        query += f"{written_field('tag', *tags)} "
    # The query language knows neither foreign types nor every tag; those are picked out of more results.
    is_filtered_here = kind or tags or request.caller.account
    threshold = _setting_number(request, "recall_threshold")
    hits, answer = answering_hits(
        request.workspace,
        query + words,
        _MAX_CANDIDATES if is_filtered_here else limit,
        judge=_judge(request, threshold, message),
    )
    folded_tags = {fold_tag(tag) for tag in tags}
    alpha = _setting_number(request, "recall_alpha") if answer.semantic == "ready" else None
    workspace_name = "" if scope == request.scope else scope.name
    scored = _local_score if request.caller.account else _weighted_score
    memories = [
        _RecalledMemory(hit, score, keyword, workspace_name)
        for hit in hits
        if hit.memory.status != "consolidated"
        and not (message and is_held_back(hit.memory))
        and (not kind or memory_type(hit.memory) == kind)
        and (not folded_tags or folded_tags & {fold_tag(tag) for tag in hit.memory.tags})
        for score, keyword in [scored(hit, words, alpha)]
        if (_clears_floor(request, hit, score) if threshold is None else score >= threshold)
    ]
    memories.sort(key=lambda memory: -memory.score)
    return _newest_versions(memories)[:limit], answer.semantic == "ready"


def _newest_versions(ranked: Sequence[_RecalledMemory]) -> list[_RecalledMemory]:
    """Return the memories without older versions of a note: `memento_tui.operations.recall.newest_versions`."""
    recalled = {one.hit.id: one for one in ranked}
    by_score = [msgspec.structs.replace(one.hit, score=one.score) for one in ranked]
    return [msgspec.structs.replace(recalled[hit.id], score=score) for hit, score in newest_versions(by_score)]


def _judge(request: ApiRequest, threshold: float | None, message: str) -> Judge:
    """Return who judges which results answer; where an account asks, or a threshold is set, their scores do later."""
    if request.caller.account and message and is_conversation(message):
        return lambda _workspace, _hits: []
    if request.caller.account or threshold is not None:
        return lambda _workspace, hits: list(hits)
    return partial(relevant_hits, message=message)


def _clears_floor(request: ApiRequest, hit: SearchHit, score: float) -> bool:
    """Tell whether an account may be told of a result; the others were judged by numbers that it must not know."""
    return not request.caller.account or clears_floor(score / hit.life.factor)


def _weighted_score(hit: SearchHit, _: str, alpha: float | None) -> tuple[float, float]:
    """Return a result's score, with words and meaning weighed as the workspace has set, and that of its words."""
    match = hit.match
    keyword = match.keyword or 0.0
    if alpha is None:
        return hit.score, keyword
    return (alpha * keyword + (1 - alpha) * (match.semantic or 0.0)) * hit.life.factor, keyword


def _local_score(hit: SearchHit, words: str, alpha: float | None) -> tuple[float, float]:
    """Return the scores of a result that an account gets: they count the query's words in its memory.

    The rarity of a word, which counts otherwise, would reveal to the account whether others have written it.
    """
    memory = hit.memory
    query_terms = {term for word in words.split() if word.lower() not in STOP_WORDS for term in terms(word)}
    memory_terms = set(terms(f"{memory.title}\n{memory.content}\n{' '.join(memory.tags)}"))
    keyword = len(query_terms & memory_terms) / len(query_terms) if query_terms else 0.0
    meaning = hit.match.semantic
    if meaning is None:
        return keyword * hit.life.factor, keyword
    share = _DEFAULT_ALPHA if alpha is None else alpha
    return (share * keyword + (1 - share) * meaning) * hit.life.factor, keyword


def _record_recall(request: ApiRequest, recalled: Sequence[_RecalledMemory]) -> None:
    """Count and record in the ledger the memories shown to an agent, without those of peeked workspaces.

    Being shown is no use: it makes no memory rank higher or live longer.
    """
    record_shown(request.workspace, [memory.hit for memory in recalled if not memory.workspace], in_full=True)


def recall_memories(request: ApiRequest) -> Response:
    """Return the memories that answer a question, in words or, with ``format=json``, in fields too."""
    query = request.read_body(_RecallQuery) if request.body else request.read_query(_RecallQuery)
    if not query.query.strip():
        raise InvalidField("query", "is missing", "Say what to look for.")
    peeked_names = [*_split_list(query.peek_workspaces), *_split_list(query.workspace)] if request.body else []
    result = _search_workspaces(
        request,
        query.query,
        clamp_limit(query.limit, _MAX_RECALLED),
        peeked=request.peeked(peeked_names),
        kind=query.type.strip(),
        tags=_split_list(query.tags),
    )
    if query.track_access:
        _record_recall(request, result.memories)
    contradictions = _contradictions(request, result.memories)
    text = _recall_text(request, query.query, result.memories, contradictions)
    if query.format == "json":
        labels = labels_of([one.memory for one in result.memories], clock.now(), contradictions)
        return json_response({"text": text, "memories": [_recall_row(one, labels) for one in result.memories]})
    return text_response(text)


def _split_list(written: list[str] | str) -> list[str]:
    parts = written.split(",") if isinstance(written, str) else written
    return [part.strip() for part in parts if part.strip()]


def _recall_row(recalled: _RecalledMemory, labels: Mapping[str, list[str]]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": recalled.memory.id,
        "content": recalled.memory.content,
        "type": memory_type(recalled.memory),
        "tags": list(recalled.memory.tags),
        "images": [],
        "created_at": format_time(recalled.memory.created_at),
        "relevance_score": round(recalled.score, 3),
        "labels": labels[recalled.memory.id],
    }
    return {**row, "workspace": recalled.workspace} if recalled.workspace else row


def _recall_text(
    request: ApiRequest,
    query: str,
    recalled: Sequence[_RecalledMemory],
    contradictions: Sequence[ContradictionEntry],
) -> str:
    if not recalled:
        return f'No memories found matching "{query}".{_threshold_note(request)}'
    count = f"{len(recalled)} memor{'y' if len(recalled) == 1 else 'ies'}"
    linkages = linkages_texts(request.workspace, [one.memory.id for one in recalled])
    entries = SEPARATOR.join(_memory_text(one, linkages[one.memory.id]) for one in recalled)
    return "\n\n".join(filter(None, [f"Found {count}:", entries, contradiction_section(contradictions)]))


def _threshold_note(request: ApiRequest) -> str:
    """Return a sentence on the threshold that an agent set, which holds for all others; empty where none is set."""
    threshold = _setting_number(request, "recall_threshold")
    if threshold is None:
        return ""
    return (
        f" The setting recall_threshold of this workspace leaves out what scores below {threshold:g};"
        " DELETE /v1/settings/recall_threshold unsets it."
    )


def _memory_text(recalled: _RecalledMemory, linkages: str) -> str:
    memory = recalled.memory
    workspace_name = f" [{one_line(recalled.workspace)}]" if recalled.workspace else ""
    heading = memory_heading(memory, clock.now(), workspace_name)
    return f"{heading}\n{memory_block(memory)}{linkages}"


def _contradictions(request: ApiRequest, recalled: Sequence[_RecalledMemory]) -> list[ContradictionEntry]:
    """Return the contradictions among results, both sides of which the caller may see."""
    ids = [memory.memory.id for memory in recalled]
    return contradictions_among(request.workspace, ids, clock.now(), request.caller.sees)


_MAX_MATCHES = 10

_ContextPart = Literal["working_memory", "memories", "skip_list", "identity"]


class _ContextQuery(RequestSchema):
    message: str = ""
    include: tuple[_ContextPart, ...] = ("working_memory", "memories", "skip_list", "identity")
    track_access: bool = True
    peek_workspaces: tuple[str, ...] = ()
    images: bool | None = None
    include_graph: bool = False


def get_context(request: ApiRequest) -> Response:
    """Return the parts that are asked for: working items, memories and skips that a message touches, and identity."""
    query = request.read_body(_ContextQuery)
    peeked = request.peeked(query.peek_workspaces)
    meta: dict[str, Any] = {"workspace": request.scope.name, "last_updated": format_time(clock.now())}
    if peeked:
        meta["peeked_workspaces"] = [scope.name for scope in peeked]
    body: dict[str, Any] = {"meta": meta}
    if "working_memory" in query.include:
        body["working_memory"] = _working_part(request, peeked)
    if "memories" in query.include and query.message.strip():
        result = _search_workspaces(request, query.message, _MAX_MATCHES, peeked=peeked, is_asked=False)
        if query.track_access:
            _record_recall(request, result.memories)
        body["memories"] = _memories_part(request, result, with_links=query.include_graph)
        meta["memory_count"] = request.workspace.count(request.here())
    if "skip_list" in query.include and query.message.strip():
        skips = matching_skips(request, query.message, counted=query.track_access)
        body["skip_matches"] = [
            {
                "item": skip.item,
                "reason": skip.reason,
                "expires": format_time(skip.expires_at),
                "labels": list_labels(skip),
            }
            for skip in skips
        ]
    if "identity" in query.include:
        crystal = None if request.caller.account else request.workspace.crystals.current()
        body["identity"] = None if crystal is None else crystal.content
        if crystal is not None and (labels := list_labels(crystal)):
            body["identity_labels"] = labels
    return json_response(body)


def _working_part(request: ApiRequest, peeked: Sequence[WorkspaceScope]) -> dict[str, Any]:
    pairs = [
        (item, scope)
        for scope in (request.scope, *peeked)
        for item in list_items(request.workspace, (scope.namespace,))
        if item.status in ("active", "paused")
    ]
    pairs.sort(key=lambda pair: (-pair[0].priority, -pair[0].created_at.timestamp()))
    rows = [item_row(item) | ({} if scope == request.scope else {"workspace": scope.name}) for item, scope in pairs]
    return {"items": rows, "total_active": sum(scope == request.scope for _, scope in pairs)}


def _memories_part(request: ApiRequest, result: _RecallResult, *, with_links: bool) -> dict[str, Any]:
    contradictions = _contradictions(request, result.memories)
    labels = labels_of([recalled.memory for recalled in result.memories], clock.now(), contradictions)
    matches = [
        _match_row(request, recalled, labels, hybrid=result.is_hybrid, with_links=with_links)
        for recalled in result.memories
    ]
    return {
        "matches": matches,
        "query_terms": result.terms,
        "ranking": "hybrid" if result.is_hybrid else "keyword",
    }


def _match_row(
    request: ApiRequest,
    recalled: _RecalledMemory,
    labels: Mapping[str, list[str]],
    *,
    hybrid: bool,
    with_links: bool,
) -> dict[str, Any]:
    memory, found = recalled.memory, recalled.hit.match
    match: dict[str, Any] = {
        "id": memory.id,
        "content": memory.content,
        "type": memory_type(memory),
        "tags": list(memory.tags),
        "score": round(recalled.score, 3),
        "created_at": format_time(memory.created_at),
        "labels": labels[memory.id],
    }
    if hybrid:
        match["keyword_score"] = round(recalled.keyword, 3)
        match["vector_score"] = round(found.semantic or 0.0, 3)
    if with_links:
        match["linkages"] = linkage_rows(request, memory)
        match["labels"] += LINK_LABELS if match["linkages"] else ()
    return {**match, "workspace": recalled.workspace} if recalled.workspace else match
