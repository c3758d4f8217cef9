"""The life factor: how far age, use, certainty and trust move a result, within bounds that relevance always exceeds."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from memento_tui.search.decay import Lived, ageing

if TYPE_CHECKING:
    from memento_tui.config import DecayPreset

__all__ = ["HIGHEST", "LOWEST", "SUPERSEDED", "Life", "curve", "in_order", "life_of"]

LOWEST, HIGHEST = 0.85, 1.15
"""The bounds of the factor: an old exact match keeps at least 85 % of its relevance, a fresh vague one gains 15 %."""

SUPERSEDED = 0.5
"""What a memory that another takes the place of keeps of its factor."""

_BELOW = 0.999
"""A memory reaches at most this share of the score of the one that takes its place."""

_PARTS = {"ageing": 0.16, "certainty": 0.06, "stability": 0.04}
_STABILITY = {"draft": 0.0, "verified": 0.7, "stable": 1.0}


class Life(NamedTuple):
    """The factor and what went into it, each part from 0 to 1."""

    factor: float
    age: float
    use: float
    certainty: float
    stability: float
    superseded: bool
    weight: float
    """The number that the preset's own formula gives, on its own scale; see `memento_tui.search.decay.weight`."""
    held: float = 1.0
    """What the factor was lowered by, besides, to rank the memory below one that takes its place."""

    def lowered(self, share: float) -> Life:
        """Return the life of a memory that keeps this share of its score, since it ranks below its successor."""
        return self._replace(factor=self.factor * share, held=share)


def life_of(memory: Lived, now: datetime, *, preset: DecayPreset = "balanced", superseded: bool = False) -> Life:
    """Return the factor that a memory's relevance is multiplied with.

    ``superseded`` says that another memory declares to take its place; its own status may say so as well.

    The preset's weight, brought to a scale from 0 to 1, counts 0.16, certainty 0.06 and stability 0.04. The sum maps to
    0.85-1.15 under every preset; a memory that another supersedes is halved on top. Two factors differ by 1.15 / 0.85
    at most, so what is 1.36 times as relevant comes first, however old it is, unless something takes its place.
    """
    aged = ageing(preset, memory, now)
    certainty = (memory.certainty - 1) / 4
    stability = _STABILITY[memory.stability]
    values = {"ageing": aged.share, "certainty": certainty, "stability": stability}
    share = sum(_PARTS[name] * value for name, value in values.items()) / sum(_PARTS.values())
    factor = LOWEST + (HIGHEST - LOWEST) * share
    superseded = superseded or memory.status in ("superseded", "consolidated")
    factor *= SUPERSEDED if superseded else 1.0
    return Life(factor, aged.age, aged.use, certainty, stability, superseded, aged.weight)


def curve(
    memory: Lived, now: datetime, preset: DecayPreset, days: Sequence[float], *, superseded: bool = False
) -> list[tuple[float, Life]]:
    """Return the life of a memory so many days after ``now``, as if nothing happened to it meanwhile."""
    return [(day, life_of(memory, now + timedelta(days=day), preset=preset, superseded=superseded)) for day in days]


def in_order(scores: Mapping[str, float], successors: Mapping[str, Iterable[str]]) -> list[tuple[str, float]]:
    """Return ids with their scores, best first, each below every memory that takes its place.

    ``successors`` names, for an id, those that supersede or consolidate it; those without a score are left out of
    account. A memory gets at most 0.999 times the score of each of its successors, also where that one was lowered
    itself. Memories that supersede each other in a circle keep their scores but for one link, which is not applied.
    """
    if not successors:
        return sorted(scores.items(), key=lambda entry: (-entry[1], entry[0]))
    placed: dict[str, tuple[float, int]] = {}
    for start in sorted(scores, key=lambda name: (scores[name], name)):
        for name in _successors_first(start, scores, successors, placed):
            above = [placed[new] for new in successors.get(name, ()) if new in placed]
            score = min([scores[name], *(_BELOW * score for score, _ in above)])
            # Where all scores are nothing, how many follow one another still tells the order.
            placed[name] = (score, 1 + max((depth for _, depth in above), default=-1))
    order = sorted(placed, key=lambda name: (-placed[name][0], placed[name][1], name))
    return [(name, placed[name][0]) for name in order]


def _successors_first(
    start: str, scores: Container[str], successors: Mapping[str, Iterable[str]], placed: Container[str]
) -> Iterator[str]:
    """Yield what is reached from ``start`` and not placed yet, each after those that take its place.

    The caller places each as it comes. A chain may be as long as there are memories, so nothing here recurses.
    """
    if start in placed:
        return
    seen = {start}
    path = [(start, iter(sorted(successors.get(start, ()))))]
    while path:
        name, rest = path[-1]
        following = next((new for new in rest if new in scores and new not in placed and new not in seen), None)
        if following is None:
            path.pop()
            yield name
        else:
            seen.add(following)
            path.append((following, iter(sorted(successors.get(following, ())))))
