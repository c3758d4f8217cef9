"""Leave out of what a search found what a model is not to be told, because it does not answer."""

from __future__ import annotations

from collections.abc import Sequence

from memento_tui.api import Workspace
from memento_tui.api.search import SearchHit
from memento_tui.errors import DataDirectoryError
from memento_tui.model import Memory
from memento_tui.search.prompt_index import WeightedPart, stem_counts
from memento_tui.search.ranking import clears_floor
from memento_tui.search.scoring import calibrated_relevance
from memento_tui.text.keywords import PromptParts, content_words, prompt_parts
from memento_tui.text.numbered_things import is_about_another, numbered_things
from memento_tui.text.terms import STOP_WORDS, terms

__all__ = ["is_conversation", "relevant_hits"]

_MOST_WORDS_OF_A_LOOKUP = 2
"""Words of a query that is looked up though none of them names a subject, such as "tests" or "error code"."""


def is_conversation(text: str) -> bool:
    """Tell whether a text says nothing that memories could answer, such as "yes, go on with that please"."""
    return not content_words(text)


def relevant_hits(workspace: Workspace, hits: Sequence[SearchHit], *, message: str = "") -> list[SearchHit]:
    """Return the hits that answer well enough for a model to be told of them, in their order.

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
    things = numbered_things(message or query.text)
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
        return workspace.search_engine.keyword.weighted(parts)
    except DataDirectoryError:  # then the relevance that the search itself found stands alone
        return []


def _relevance(hit: SearchHit, parts: Sequence[WeightedPart], *, is_asked: bool) -> float:
    """Return the relevance of a hit; the best of several where each tells enough by itself."""
    memory, meaning = hit.memory, hit.match.semantic
    stems = stem_counts(f"{memory.title}\n{memory.content}\n{memory.validity_context}\n{' '.join(memory.tags)}")
    length = len(terms(memory.content))
    words = [part.score_without_index(stems, length) for part in parts]
    found = [hit.relevance, meaning or 0.0, *(calibrated_relevance(score, meaning) for score in words)]
    if is_asked:
        found += [part.share_held(stems.keys()) for part in parts]
    return max(found)


def _is_another(things: dict[str, set[str]], memory: Memory) -> bool:
    return is_about_another(things, f"{memory.title} {memory.content}")
