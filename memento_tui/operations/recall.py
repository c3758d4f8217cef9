"""Search on behalf of an agent, within its scope; the results are counted and recorded as exposures."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Literal

import msgspec

from memento_tui.api import Workspace
from memento_tui.api.search import SearchAnswer, SearchHit
from memento_tui.branches import BRANCHES_NAMESPACE
from memento_tui.errors import DataDirectoryError, InvalidInput
from memento_tui.model import Exposure, Memory, make_exposure
from memento_tui.model.filters import AllOf, AnyOf, Filter, Under, filters_on
from memento_tui.model.validation import ACCOUNTS_NAMESPACE, is_under
from memento_tui.operations.memories import is_recalled
from memento_tui.search.fair_share import is_held_back
from memento_tui.search.note_versions import older_versions
from memento_tui.search.prompt_index import WeightedPart, stem_counts, stems_of
from memento_tui.search.query_language import QUERY_HINT, parse, written_field
from memento_tui.search.ranking import clears_floor
from memento_tui.search.scoring import calibrated_relevance
from memento_tui.text.conditions import is_about_another, numbered_things, of_other_places
from memento_tui.text.keywords import PromptParts, content_words, prompt_parts, truncate_prompt, unspaced_words
from memento_tui.text.terms import STOP_WORDS, character_bigrams, spaced_pieces, terms

__all__ = [
    "MAX_HITS",
    "Judge",
    "answering_hits",
    "count_shown",
    "count_used",
    "is_conversation",
    "moments_and_words",
    "names_memories",
    "namespace_query",
    "newest_versions",
    "plain_query",
    "recall",
    "record_essentials",
    "record_shown",
    "relevant_hits",
    "search",
    "timed_query",
    "without_other_places",
    "without_reserved",
]

_MOST_WORDS_OF_A_LOOKUP = 2
"""Words of a query that is looked up though none of them names a subject, such as "tests" or "error code"."""


def is_conversation(text: str) -> bool:
    """Tell whether a text says nothing that memories could answer, such as "yes, go on with that please"."""
    return not content_words(text)


def relevant_hits(workspace: Workspace, hits: Sequence[SearchHit], *, message: str = "") -> list[SearchHit]:
    """Return the hits that are relevant enough to be shown to a model, in their order.

    All clear one floor, `memento_tui.search.ranking.clears_floor`. What is told for a ``message``, without being asked
    for, is judged as a hook judges a prompt. A question is also answered by a memory that holds most of its words. A
    query that has only filters, or that asks for a phrase, is answered by whatever it selects. With a memory whose
    place another took, that other one is told.
    """
    if not hits or not hits[0].query.words or hits[0].query.phrases:
        return list(hits)
    query = hits[0].query
    lookup = [word for word in query.text.split() if word.lower() not in STOP_WORDS]
    if is_conversation(message or query.text) and (message or len(lookup) > _MOST_WORDS_OF_A_LOOKUP):
        return []
    parts = _weighted_parts(workspace, prompt_parts(message) if message else PromptParts([lookup], [], []))
    things = numbered_things(truncate_prompt(message or query.text))
    told = {
        hit.id: hit
        for hit in hits
        if clears_floor(_relevance(hit, parts, is_asked=not message)) and not _is_another(things, hit.memory)
    }
    replaced = [name for name, hit in told.items() if hit.life.superseded]
    found = workspace.provenance(replaced).values() if replaced else ()
    successors = {name for provenance in found for name in provenance.superseded_by}
    return [hit for hit in hits if hit.id in told or hit.id in successors]


def _weighted_parts(workspace: Workspace, parts: PromptParts) -> list[WeightedPart]:
    try:
        return workspace.search_engine.weighted(parts)
    except DataDirectoryError:  # then the relevance that the search itself found stands alone
        return []


def _relevance(hit: SearchHit, parts: Sequence[WeightedPart], *, is_asked: bool) -> float:
    """Return the relevance of a hit; the best of several where each tells enough by itself."""
    memory, meaning = hit.memory, hit.match.semantic
    stems = _stem_counts(memory)
    length = len(terms(memory.content))
    words = [part.score_without_index(stems, length) for part in parts]
    found = [hit.relevance, meaning or 0.0, *(calibrated_relevance(score, meaning) for score in words)]
    if is_asked:
        found += [part.share_held(stems.keys()) for part in parts]
    return max(found)


def _stem_counts(memory: Memory) -> Counter[str]:
    return stem_counts(f"{memory.title}\n{memory.content}\n{memory.validity_context}\n{' '.join(memory.tags)}")


def _is_another(things: dict[str, set[str]], memory: Memory) -> bool:
    return is_about_another(things, f"{memory.title} {memory.content}")


MAX_HITS = 50
"""Results that one search may ask for."""

_MAX_WORDS = 60
"""Words of a message that are searched for; the first tens of different words show the subject of a long one."""

_MAX_WORDS_READ = 20_000
"""Words of a message that are read, each as often as it occurs: what repeats a few words without end has no others."""

_MAX_WORD_CHARS = 80
"""Characters. Longer ones are not words: hashes, encoded files. The index leaves them out too."""

_MAX_UNSPACED_CHARS = 8
"""Characters. What is longer in a script without spaces is a sentence, which no memory holds as it is."""

_MAX_SENTENCE_CHARS = 1_000
"""Characters of such a word that are read; its first tens of words stand within them."""

_MOMENT_CONDITION = "at:"
"""The one condition of the query language that a query of plain words may hold."""

_CHARS_PER_TOKEN = 4
"""An estimate for English prose; the true number depends on the model."""

_LEDGER_SCORES = (
    "keyword",
    "semantic",
    "relevance",
    "life",
    "age",
    "use",
    "certainty",
    "stability",
    "confidence",
    "superseded",
)
"""The numbers of `SearchHit.explain` that the ledger keeps."""

_log = logging.getLogger(__name__)


Judge = Callable[[Workspace, Sequence[SearchHit]], list[SearchHit]]
"""Returns the hits that answer, in their order."""


def recall(
    workspace: Workspace,
    query: str,
    limit: int,
    session: str = "",
    *,
    message: str = "",
    among: Filter | None = None,
    place: str = "",
    in_full: bool = False,
) -> tuple[list[SearchHit], SearchAnswer]:
    """Return the results that an agent may see and that answer, best first, and the whole answer that they are from.

    ``message`` is what they are told for, where the agent did not search: see `relevant_hits`. Logs
    are not told then. ``among`` is a further condition on them. ``place`` is the namespace that they are told for: see
    `without_other_places`.

    They are recorded in the ledger under ``session``, the author's by default; ``in_full`` says that the agent is shown
    whole texts, and not passages. Of the versions of one note one is returned: `newest_versions`. Memories of accounts
    and of branches are not among them unless the query names their namespace, or ``among`` asks for the branch that the
    agent works on.
    """
    hits, answer = answering_hits(workspace, query, limit, among=among, judge=partial(relevant_hits, message=message))
    if message:
        hits = [hit for hit in hits if not is_held_back(hit.memory)]
    hits = [msgspec.structs.replace(hit, score=best) for hit, best in newest_versions(hits)]
    hits = without_other_places(workspace, hits, place)
    record_shown(workspace, hits, session, in_full=in_full)
    return hits, answer


def search(
    workspace: Workspace, query: str, limit: int, session: str = "", *, among: Filter | None = None, place: str = ""
) -> tuple[list[SearchHit], SearchAnswer]:
    """Return and record what `recall` does, but every version of a note: a search lists what is there."""
    hits, answer = answering_hits(workspace, query, limit, among=among)
    hits = without_other_places(workspace, hits, place)
    record_shown(workspace, hits, session)
    return hits, answer


def answering_hits(
    workspace: Workspace,
    query: str,
    limit: int,
    *,
    mode: Literal["semantic", "hybrid"] = "hybrid",
    among: Filter | None = None,
    judge: Judge = relevant_hits,
) -> tuple[list[SearchHit], SearchAnswer]:
    """Return the results that an agent may see and that answer by a judge, as `recall`, but record nothing.

    It is for whoever picks from them by rules of its own, and records what is left.
    """
    answer = workspace.search(without_reserved(query, among), mode=mode, limit=limit, among=among)
    hits = [hit for hit in answer.results if is_recalled(hit.memory)]
    return judge(workspace, hits), answer


def newest_versions(hits: Sequence[SearchHit]) -> list[tuple[SearchHit, float]]:
    """Return the hits without older versions of a note, as a hook leaves them out, each with its score.

    A version takes the place and the score of the best of those that it holds. What another memory took the place of
    is none of them: it is told as such. A query that has only filters, or a phrase, is answered by all that it selects.
    """
    if not hits or not hits[0].query.words or hits[0].query.phrases:
        return [(hit, hit.score) for hit in hits]
    words = stems_of(word for word in hits[0].query.text.split() if word.lower() not in STOP_WORDS)
    by_id = {hit.id: hit for hit in hits}
    older = older_versions(
        [hit.memory for hit in hits if not hit.life.superseded],
        lambda name: words & _stem_counts(by_id[name].memory).keys(),
    )
    scores: dict[str, float] = {}
    for hit in hits:
        name = older.get(hit.id, hit.id)
        scores[name] = max(scores.get(name, hit.score), hit.score)
    return [(by_id[name], score) for name, score in scores.items()]


def without_other_places(workspace: Workspace, hits: Sequence[SearchHit], namespace: str) -> list[SearchHit]:
    """Return the hits without those that hold elsewhere.

    Of two that contradicted each other and that the person let stand, each where they said, the one whose condition
    names the namespace is told alone. Where neither does or both do, both are, with their conditions.
    """
    conditions = {hit.id: hit.memory.validity_context for hit in hits if hit.memory.validity_context}
    if not namespace or len(conditions) < 2:  # noqa: PLR2004 - a pair
        return list(hits)
    elsewhere = of_other_places(workspace.contradictions.kept_both(list(conditions)), conditions, namespace)
    return [hit for hit in hits if hit.id not in elsewhere]


def count_shown(workspace: Workspace, ids: list[str]) -> None:
    """Count that memories were shown to an agent."""
    if not ids:
        return
    try:
        workspace.exposures.count_shown(ids)
    except DataDirectoryError as error:  # the results are worth more than the count of them
        _log.warning("Not counted as shown: %s", error)


def record_shown(workspace: Workspace, hits: Sequence[SearchHit], session: str = "", *, in_full: bool = False) -> None:
    """Count the hits that were shown to an agent, and record them in the ledger of its session, with their scores.

    The session is the author's by default; without one they are counted alone. ``in_full`` says that the agent was
    shown whole texts, and not passages.
    """
    session = session or workspace.author.session
    ranked = enumerate(hits, 1) if session else ()
    exposures = [_exposure(workspace, session, rank, hit, in_full=in_full) for rank, hit in ranked]
    _record(workspace, [hit.id for hit in hits], exposures)


def _exposure(workspace: Workspace, session: str, rank: int, hit: SearchHit, *, in_full: bool) -> Exposure:
    numbers = hit.explain()
    # To find a passage takes a quarter of the time of a search; where the whole text is shown nobody looks for it.
    shown = hit.memory.content if in_full else hit.snippet
    fields = {
        "memory_id": hit.id,
        "memory_version": hit.memory.version,
        "session": session,
        "channel": workspace.author.channel,
        "rank": rank,
        "score": round(hit.score, 4),
        "tokens": max(1, len(shown) // _CHARS_PER_TOKEN),
        "why": {name: round(float(numbers[name]), 4) for name in _LEDGER_SCORES if numbers[name] is not None},
    }
    return make_exposure(fields)


def record_essentials(workspace: Workspace, memories: Sequence[Memory], session: str) -> None:
    """Count and record in the ledger the memories that a session began with."""
    exposures = [
        make_exposure(
            {
                "memory_id": memory.id,
                "memory_version": memory.version,
                "session": session,
                "channel": workspace.author.channel,
                "rank": rank,
                "score": 1.0,
                "tokens": max(1, len(memory.content) // _CHARS_PER_TOKEN),
                "why": {"essential": 1.0},
            }
        )
        for rank, memory in enumerate(memories, 1)
    ]
    _record(workspace, [memory.id for memory in memories], exposures)


def _record(workspace: Workspace, ids: list[str], exposures: list[Exposure]) -> None:
    if not ids:
        return
    try:
        # The ledger is read from its newest row: the memory that was shown first is to stand first.
        workspace.exposures.record(exposures[::-1], counted=ids)
    except DataDirectoryError as error:  # as for the count
        _log.warning("Neither counted as shown nor entered in the ledger: %s", error)


def count_used(workspace: Workspace, ids: list[str], session: str = "") -> None:
    """Count that an agent asked for memories by name, in ``session`` (the author's by default)."""
    session = session or workspace.author.session
    if not ids:
        return
    try:
        workspace.used(ids)
        if session:
            workspace.exposures.mark_used(session, ids)
    except DataDirectoryError as error:  # as for the count
        _log.warning("Not counted as used: %s", error)


def plain_query(message: str) -> str:
    """Return the words of a message as a query in which nothing is an operator, each word once."""
    written = (piece for word in message.replace('"', " ").split() for piece in _pieces(word))
    words: dict[str, None] = {}
    for part in (part for word in islice(written, _MAX_WORDS_READ) for part in _plain_parts(word)):
        words[part] = None
        if len(words) == _MAX_WORDS:
            break
    return " ".join(words)


def timed_query(query: str) -> str:
    """Return a query as `plain_query` does, but with its conditions ``at:DATE``, which ask about a past state.

    An ``at:`` that no date or span follows is a word like any other.
    """
    return " ".join(moments_and_words(query)).strip()


def moments_and_words(query: str) -> tuple[str, str]:
    """Return the conditions ``at:DATE`` of a query, and all else of it as `plain_query` does; either may be empty.

    Raises:
        InvalidInput: every word of it is one that is not wanted.

    """
    words = query.split()
    moments = [word for word in words if _is_moment(word)]
    rest = " ".join(word for word in words if word not in moments)
    if all(word.startswith("-") for word in rest.split()) and (asked := parse(rest)).excluded:
        raise InvalidInput(asked.error, QUERY_HINT)
    return " ".join(moments), plain_query(rest)


def _is_moment(word: str) -> bool:
    return word.lower().startswith(_MOMENT_CONDITION) and '"' not in word and not parse(word).problems


def namespace_query(namespace: str | None, tags: Iterable[str] = ()) -> str:
    """Return the filters of a query for one namespace with those below it, and for every one of some tags.

    Raises:
        InvalidInput: a name holds a character that the query language cannot quote.

    """
    names = [("ns", namespace)] if namespace else []
    names += [("tag", tag) for tag in tags if tag.strip()]
    for _, name in names:
        if '"' in name:
            raise InvalidInput(f"Nothing can be searched for by {name!r:.80}: it holds a quotation mark.")
    return " ".join(written_field(field, name) for field, name in names)


def without_reserved(query: str, among: Filter | None = None) -> str:
    """Return a query that leaves out the memories of accounts and branches, unless it asks for their namespace itself.

    ``among`` is a further condition on what is found, which may ask for a branch too.
    """
    asked = parse(query)
    if asked.problems and not asked.words and asked.filter == AllOf():
        return query  # nothing of it could be read, and nothing is the answer to that
    named = [*_named_namespaces(asked.filter)]
    also = [] if among is None else [one for one in _named_namespaces(among) if is_under(one, BRANCHES_NAMESPACE)]
    left_out = [
        root
        for root in (ACCOUNTS_NAMESPACE, BRANCHES_NAMESPACE)
        if not any(is_under(namespace.lower(), root) for namespace in (*named, *also))
    ]
    return " ".join([*(f"-ns:{root}" for root in left_out), query])


def names_memories(query: str) -> bool:
    """Tell whether a query says itself where to look: in a namespace, or by ids."""
    asked = parse(query).filter
    return filters_on(asked, "id") or any(True for _ in _named_namespaces(asked))


def _named_namespaces(asked: Filter) -> Iterator[str]:
    """Yield the namespaces that a filter asks for; not those that it excludes."""
    match asked:
        case Under(namespace):
            yield namespace
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from _named_namespaces(part)
        case _:
            return


def _pieces(word: str) -> Iterator[str]:
    """Yield a word; of one that is a sentence in a script without spaces the likely words, and what else is in it."""
    beginning = word[:_MAX_SENTENCE_CHARS]
    if len(character_bigrams(beginning)) < _MAX_UNSPACED_CHARS:
        pieces = [word]
    else:
        pieces = spaced_pieces(beginning)
        for run in unspaced_words(beginning):
            yield from [run] if len(run) <= _MAX_UNSPACED_CHARS else character_bigrams(run)
    yield from (piece for piece in pieces if len(piece) <= _MAX_WORD_CHARS)


def _plain_parts(word: str) -> Iterator[str]:
    """Yield the parts of a word that the query language reads as words; nothing of one without a letter or digit.

    A word that it reads as anything else, or remarks upon, is parted at its first colon.
    """
    word = word.lstrip("-")
    name, colon, rest = word.partition(":")
    if colon and not _is_plain(word):
        yield from _plain_parts(name)
        yield from _plain_parts(rest)
    elif any(character.isalnum() for character in word):
        yield word


def _is_plain(word: str) -> bool:
    read = parse(word)
    return not read.problems and read.filter == AllOf() and [part.text for part in read.words] == [word]
