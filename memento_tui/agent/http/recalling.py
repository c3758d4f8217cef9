"""``/v1/memories/recall``: the memories that answer a question, and the search that ``/v1/context`` asks too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from starlette.responses import Response

from memento_tui import clock
from memento_tui.agent.disputes import disagreements, dispute_section
from memento_tui.agent.fence import one_line
from memento_tui.agent.http.call import Call, Place, Shape, limited
from memento_tui.agent.http.replies import replied, said
from memento_tui.agent.http.settings import number_of
from memento_tui.agent.labels import is_recalled, labels_of, moment_text
from memento_tui.agent.protocol.linkages import links_text
from memento_tui.agent.protocol.texts import SEPARATOR, set_off, short_head
from memento_tui.agent.recall import count_shown, note_injections, plain_query
from memento_tui.errors import InvalidField
from memento_tui.interchange.protocol_model import type_of
from memento_tui.records import Memory
from memento_tui.records.memory import KINDS
from memento_tui.records.rules import fold_tag
from memento_tui.search.text import STOP_WORDS, terms
from memento_tui.workspace.searching import Hit

__all__ = ["Found", "Recalled", "recall", "recalled", "search"]

_MOST = 100
_MOST_ASKED = 200
"""Results that are looked through for those of a type or tag that the index does not know."""

_LONGEST_QUERY = 10_000

_EVEN = 0.5
"""The share of words against meaning where a workspace sets none."""


class _Question(Shape):
    query: str = ""
    tags: list[str] | str = ""
    type: str = ""
    limit: int = 10
    format: str = ""
    track_access: bool = True
    peek_workspaces: list[str] | str = ""
    workspace: str = ""


class Found(msgspec.Struct, frozen=True):
    """A memory that answers, its score from 0 to about 1, and the other workspace that it is from."""

    hit: Hit
    score: float
    keyword: float
    """What its words alone are worth."""
    workspace: str = ""

    @property
    def memory(self) -> Memory:
        """The memory."""
        return self.hit.memory


class Recalled(msgspec.Struct, frozen=True):
    """What a search found, best first."""

    found: list[Found]
    terms: list[str]
    """The words that were looked for."""
    is_hybrid: bool
    """Whether meaning counted beside words."""


def search(
    call: Call, message: str, limit: int, *, peeked: Sequence[Place] = (), kind: str = "", tags: Sequence[str] = ()
) -> Recalled:
    """Return the best ``limit`` memories of the workspace and of each peeked one; nothing is counted."""
    words = plain_query(message[:_LONGEST_QUERY])
    if not words:
        return Recalled([], [], is_hybrid=False)
    found, is_hybrid = [], False
    for place in (call.place, *peeked):
        own, hybrid = _in(call, place, words, limit, kind=kind, tags=tags)
        is_hybrid = is_hybrid or hybrid
        found += own
    found.sort(key=lambda one: -one.score)
    terms = [word for word in words.lower().split() if word not in STOP_WORDS]
    return Recalled(found, terms, is_hybrid)


def _in(
    call: Call, place: Place, words: str, limit: int, *, kind: str, tags: Sequence[str]
) -> tuple[list[Found], bool]:
    query = f'ns:"{place.namespace}" '
    if kind in KINDS:
        query += f"kind:{kind} "
    if tags and not any(set(tag) & {'"', ",", "#"} for tag in tags):
        query += f'tag:"{",".join(tags)}" '
    # The language knows neither a type of somebody's own nor every tag; those are picked out of more results.
    more = kind or tags or call.caller.account
    answer = call.workspace.search(query + words, limit=_MOST_ASKED if more else limit)
    wanted = {fold_tag(tag) for tag in tags}
    threshold = number_of(call, "recall_threshold") or 0.0
    alpha = number_of(call, "recall_alpha") if answer.semantic == "ready" else None
    other = "" if place == call.place else place.workspace
    scored = _locally_scored if call.caller.account else _scored
    found = [
        Found(hit, score, keyword, other)
        for hit in answer.results
        if is_recalled(hit.memory)
        and hit.memory.status != "consolidated"
        and (not kind or type_of(hit.memory) == kind)
        and (not wanted or wanted & {fold_tag(tag) for tag in hit.memory.tags})
        for score, keyword in [scored(hit, words, alpha)]
        if score >= threshold
    ]
    found.sort(key=lambda one: -one.score)
    return found[:limit], answer.semantic == "ready"


def _scored(hit: Hit, _: str, alpha: float | None) -> tuple[float, float]:
    """Return a result's score, with words and meaning weighed as the workspace has set, and that of its words."""
    found = hit.relevance
    keyword = found.keyword or 0.0
    if alpha is None or not found.score:
        return hit.score, keyword
    return (alpha * keyword + (1 - alpha) * (found.semantic or 0.0)) * hit.score / found.score, keyword


def _locally_scored(hit: Hit, words: str, alpha: float | None) -> tuple[float, float]:
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
    share = _EVEN if alpha is None else alpha
    return (share * keyword + (1 - share) * meaning) * hit.life.factor, keyword


def recalled(call: Call, found: Sequence[Found]) -> None:
    """Count what was put in front of an agent, and enter it in the ledger. What another workspace lent does not count.

    To be shown is no use: it makes no memory rank higher or live longer.
    """
    hits = [one.hit for one in found if not one.workspace]
    count_shown(call.workspace, [hit.id for hit in hits])
    note_injections(call.workspace, hits)


def recall(call: Call) -> Response:
    """Return the memories that answer a question, in words or, with ``format=json``, in fields too."""
    asked = call.given(_Question) if call.body else call.asked(_Question)
    if not asked.query.strip():
        raise InvalidField("query", "is missing", "Say what to look for.")
    named = [*_listed(asked.peek_workspaces), *_listed(asked.workspace)] if call.body else []
    answer = search(
        call,
        asked.query,
        limited(asked.limit, _MOST),
        peeked=call.peeked(named),
        kind=asked.type.strip(),
        tags=_listed(asked.tags),
    )
    if asked.track_access:
        recalled(call, answer.found)
    text = _text(call, asked.query, answer.found)
    if asked.format == "json":
        return replied({"text": text, "memories": [_row(one) for one in answer.found]})
    return said(text)


def _listed(written: list[str] | str) -> list[str]:
    parts = written.split(",") if isinstance(written, str) else written
    return [part.strip() for part in parts if part.strip()]


def _row(one: Found) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": one.memory.id,
        "content": one.memory.content,
        "type": type_of(one.memory),
        "tags": list(one.memory.tags),
        "images": [],
        "created_at": moment_text(one.memory.created_at),
        "relevance_score": round(one.score, 3),
        "labels": labels_of(one.memory, clock.now()),
    }
    return {**row, "workspace": one.workspace} if one.workspace else row


def _text(call: Call, query: str, found: Sequence[Found]) -> str:
    if not found:
        return f'No memories found matching "{query}".'
    count = f"{len(found)} memor{'y' if len(found) == 1 else 'ies'}"
    told = SEPARATOR.join(_told(call, one) for one in found)
    return "\n\n".join(filter(None, [f"Found {count}:", told, _disputed(call, found)]))


def _told(call: Call, one: Found) -> str:
    place = f" [{one_line(one.workspace)}]" if one.workspace else ""
    content = set_off(one.memory.content, untrusted=one.memory.source_type == "external")
    return f"{short_head(one.memory)}{place}\n{content}{links_text(call.workspace, one.memory.id)}"


def _disputed(call: Call, found: Sequence[Found]) -> str:
    """Return the section on what is found and contradicted, both sides of which the caller may see."""
    disputed = disagreements(call.workspace, [one.memory.id for one in found], clock.now())
    sides = {side.id for one in disputed for side in (one.older, one.newer)}
    places = {name: memory.namespace for name, memory in call.workspace.store.memories(list(sides)).items()}
    seen = [one for one in disputed if all(call.caller.sees(places[side.id]) for side in (one.older, one.newer))]
    return dispute_section(seen)
