"""Choose the results of a search among its candidates, and read of the database no more than that needs.

A candidate's match is known before anything is read. Its score is the match times its life factor, which is bounded,
and nothing raises a score after that. So the candidates are read in the order of their matches, until those that are
left cannot come among the results, nor take the place of one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from memento_tui.search.decay import DecayFactor, rank_below_successors
from memento_tui.search.fair_share import fair_results, largest_share
from memento_tui.search.ranking import HIGHEST_FACTOR, LEAST_SHARE_TO_REPLACE
from memento_tui.search.scoring import diversify, largest_share_of_kind
from memento_tui.storage.memory_queries import WeighedMemory

__all__ = ["choose_results", "without_summarized_sources"]

_HIGHEST_FACTOR = HIGHEST_FACTOR * (1 + 1e-9)
"""The bound of the life factor, and room for rounding."""

_READ_AT_FIRST, _LEAST_READ_AT_FIRST = 2, 50
"""How many times as many candidates as results are read before it is known how good the results are, and how many at
least: one statement for so many costs less than two for some of them.
"""

_SHARED_CANDIDATES = 5
"""How many times as many memories as results are looked at to share the results among those who wrote them."""


class _HasStatus(Protocol):
    @property
    def status(self) -> str: ...


MemoryT = TypeVar("MemoryT", bound=_HasStatus)


class CandidateReader(Protocol):
    """Reads the fields of memories that the choice of results depends on."""

    def weighed(self, ids: Sequence[str]) -> Mapping[str, WeighedMemory]:
        """Return, by id, those of some memories that may be found."""

    def successors(self, ids: Sequence[str]) -> Mapping[str, Collection[str]]:
        """Return, for each of the memories that others replace, the ids of those."""

    def writers(self, ids: Sequence[str]) -> Mapping[str, str]:
        """Return the session that wrote each of some memories; none for those that a person wrote or changed."""


class ChosenResult(NamedTuple):
    """One result, with the score that it is ordered by."""

    id: str
    score: float
    life: DecayFactor


def choose_results(
    matches: Mapping[str, float],
    reader: CandidateReader,
    life: Callable[[WeighedMemory, bool], DecayFactor],
    limit: int,
    *,
    with_sources: bool = False,
    shares: bool = False,
) -> list[ChosenResult]:
    """Return the ``limit`` best candidates, best first.

    ``matches`` has the score of each candidate before its life counts, 0 to 1; ``life`` returns the factor of one, told
    whether another takes its place. With ``with_sources`` what was consolidated is returned beside its summary; with
    ``shares`` one writer has half of the results at most where others answer nearly as well.
    """
    choice = _Choice(matches, reader, life, with_sources=with_sources)
    names = sorted(matches, key=lambda name: -matches[name])
    done = max(_READ_AT_FIRST * limit, _LEAST_READ_AT_FIRST)
    choice.read(names[:done])
    while True:
        if any(not matches.keys().isdisjoint(others) for others in choice.successors.values()):
            # A chain of successors may lead through any of them.
            choice.read(names[done:])
            done = len(names)
        ordered = choice.ordered()
        chosen, least = _chosen(ordered, choice.rows, reader, limit, shares=shares)
        possible = done
        while possible < len(names) and matches[names[possible]] * _HIGHEST_FACTOR >= least:
            possible += 1
        if possible == done:
            return [choice.result(name, score) for name, score in chosen]
        choice.read(names[done:possible])
        done = possible


class _Choice:
    """The candidates that were read, with their scores and the results that they leave."""

    def __init__(
        self,
        matches: Mapping[str, float],
        reader: CandidateReader,
        life: Callable[[WeighedMemory, bool], DecayFactor],
        *,
        with_sources: bool,
    ) -> None:
        self._matches = matches
        self._reader = reader
        self._life = life
        self._with_sources = with_sources
        self.rows: dict[str, WeighedMemory] = {}
        self.successors: dict[str, Collection[str]] = {}
        self._lives: dict[str, DecayFactor] = {}
        self._scores: dict[str, float] = {}

    def read(self, names: Sequence[str]) -> None:
        """Read some further candidates."""
        if not names:
            return
        rows = self._reader.weighed(names)
        self.rows.update(rows)
        self.successors.update(self._reader.successors(list(rows)))
        for name, row in rows.items():
            life = self._life(row, name in self.successors)
            self._lives[name] = life
            self._scores[name] = self._matches[name] * life.factor

    def ordered(self) -> list[tuple[str, float]]:
        """Return the read candidates that may be returned, with their scores, best first."""
        scores = self._scores
        if not self._with_sources:
            scores = {name: scores[name] for name in without_summarized_sources(self.rows, self.successors)}
        return rank_below_successors(scores, self.successors)

    def result(self, name: str, score: float) -> ChosenResult:
        """Return the result of a memory that is placed by this score."""
        own, life = self._scores[name], self._lives[name]
        return ChosenResult(name, score, life if score == own else life.lowered(score / own))


def _chosen(
    ordered: Sequence[tuple[str, float]],
    rows: Mapping[str, WeighedMemory],
    reader: CandidateReader,
    limit: int,
    *,
    shares: bool,
) -> tuple[list[tuple[str, float]], float]:
    """Return the results among the read candidates, and the least score at which an unread one could change them."""
    kinds = {name: rows[name].kind for name, _ in ordered}
    chosen = diversify(ordered, kinds, limit)
    if len(ordered) < limit:
        return chosen, 0.0
    first = Counter(kinds[name] for name, _ in ordered[:limit])
    may_change = max(first.values()) > largest_share_of_kind(limit)
    least = min(score for _, score in chosen)
    if shares:
        writers = _limited_writers(chosen, rows, reader)
        if any(count > largest_share(len(chosen)) for count in Counter(writers.values()).values()):
            may_change = True
            near = list(dict.fromkeys((*ordered[: _SHARED_CANDIDATES * limit], *chosen)))
            chosen = fair_results(chosen, near, _limited_writers(near, rows, reader))
    return chosen, LEAST_SHARE_TO_REPLACE * least if may_change else least


def _limited_writers(
    near: Sequence[tuple[str, float]], rows: Mapping[str, WeighedMemory], reader: CandidateReader
) -> Mapping[str, str]:
    """Return the sessions that wrote some memories, without those that a person stands behind."""
    return reader.writers([name for name, _ in near if rows[name].stability == "draft"])


def without_summarized_sources(
    memories: Mapping[str, MemoryT], successors: Mapping[str, Collection[str]]
) -> dict[str, MemoryT]:
    """Return the memories without the consolidated ones whose summary is among them: it says the same."""
    return {
        name: memory
        for name, memory in memories.items()
        if memory.status != "consolidated" or memories.keys().isdisjoint(successors.get(name, ()))
    }
