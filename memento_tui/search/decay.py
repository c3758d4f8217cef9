"""Decay: the weight of a memory over time, and the bounded factor by which it moves a search result.

The presets are the published formulas of three systems and our own. Standard library only: memento-hook ranks with it.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from memento_tui.named_tuple import NamedTuple
from memento_tui.search.ranking import (
    AGE_PART,
    BANK_DAYS,
    BANK_USES,
    CERTAINTY_OF_DOUBLE_HALF_LIFE,
    CERTAINTY_WITHOUT_DECAY,
    FACTOR_WEIGHTS,
    HALF_LIFE_DAYS,
    HIGHEST_FACTOR,
    LOWEST_FACTOR,
    PROTOCOL_ACCESS_HOURS,
    PROTOCOL_HIGHEST,
    PROTOCOL_RECENCY_HOURS,
    SHARE_OF_SUCCESSOR,
    STABILITY_SHARES,
    SUPERSEDED_FACTOR,
    SURPRISE_PART,
    TIER_HALF_LIVES,
    USE_PART,
    USES_LOG,
)

__all__ = [
    "DecayFactor",
    "decay_curve",
    "decay_factor",
    "decay_weight",
    "half_life_days",
    "last_touched",
    "preset_weight",
    "rank_below_successors",
]

TYPE_CHECKING = False  # as in `typing`, whose import a host would wait for
if TYPE_CHECKING:
    from typing import Protocol

    from memento_tui.config import DecayPreset

    class DecayingMemory(Protocol):
        """The fields of a memory that its decay depends on: a `memento_tui.model.Memory` has them, and a hook's row."""

        @property
        def certainty(self) -> int:
            """From 1 to 5."""

        @property
        def confidence(self) -> float:
            """From 0 to 1."""

        @property
        def surprise(self) -> float | None:
            """From 0 to 1, where it was measured."""

        @property
        def tier(self) -> str:
            """How long it is meant to live."""

        @property
        def stability(self) -> str:
            """``draft``, ``verified`` or ``stable``."""

        @property
        def status(self) -> str:
            """As in `memento_tui.model.memory.STATUSES`."""

        @property
        def created_at(self) -> datetime:
            """The moment of its creation."""

        @property
        def updated_at(self) -> datetime:
            """The moment of its last change."""

        @property
        def verified_at(self) -> datetime | None:
            """The moment when a person last verified it."""

        @property
        def used_count(self) -> int:
            """How often it was used."""

        @property
        def last_used_at(self) -> datetime | None:
            """The moment of its last use."""


_HOUR, _DAY = 3600.0, 86_400.0
"""Seconds."""


class DecayWeight(NamedTuple):
    """A preset's weight of a memory on its own scale, the same on a scale from 0 to 1, and its parts, each 0 to 1."""

    weight: float
    share: float
    age: float
    """1 when the memory is fresh."""
    use: float
    """1 when it was used as much and as lately as the preset can tell apart."""


def preset_weight(preset: DecayPreset, memory: DecayingMemory, now: datetime) -> float:
    """Return the weight by a preset's own formula, on that formula's own scale.

    ``protocol`` gives 0 to 3, the others 0 to 1. See the function of each preset for its formula and source.
    """
    return decay_weight(preset, memory, now).weight


def decay_weight(preset: DecayPreset, memory: DecayingMemory, now: datetime) -> DecayWeight:
    """Return a preset's weight with its parts. A moment after ``now`` counts as now: clocks are set back."""
    return _PRESETS[preset](memory, now)


def _protocol(memory: DecayingMemory, now: datetime) -> DecayWeight:
    """Return Memento Protocol's published score without its keyword part.

    Recency is 0.5^(age in hours / 168), from the creation on; access is min(2, 1 + 0.3 log2(1 + n)) for n accesses;
    last access is 1 + 0.5 x 0.5^(hours since / 48), and 1 for a memory never accessed. The score is their product.
    """
    recency = _exponential_decay((now - memory.created_at).total_seconds() / _HOUR, PROTOCOL_RECENCY_HOURS)
    access = min(2.0, 1 + 0.3 * math.log2(1 + memory.used_count))
    last = 1.0
    if memory.last_used_at is not None:
        last += 0.5 * _exponential_decay((now - memory.last_used_at).total_seconds() / _HOUR, PROTOCOL_ACCESS_HOURS)
    number = recency * access * last
    use = (access * last - 1) / (PROTOCOL_HIGHEST - 1)
    return DecayWeight(number, number / PROTOCOL_HIGHEST, recency, use)


def _vault(memory: DecayingMemory, now: datetime) -> DecayWeight:
    """Return Memento Vault's published decay: 0.5^(days / 90) from the note's date on.

    Certainty 3 takes 180 days, and certainty 4 and 5 do not decay. Vault counts no use, so use has no effect.
    """
    number = _decay_by_certainty(_days(memory.created_at, now), memory.certainty)
    return DecayWeight(number, number, number, 0.0)


def _bank(memory: DecayingMemory, now: datetime) -> DecayWeight:
    """Return agent-memory's rule as a weight. Only the rule is published, not a formula.

    The rule: a memory untouched for 90 days and used fewer than 2 times is demoted, later previewed, later archived.
    As a formula: the weight is 1 until that rule applies, and stays 1 for a memory that was used twice or verified;
    else it halves every 90 days, one halving for each further step of the rule. It has no jump on any day.
    """
    days = max(0.0, _days(last_touched(memory), now) - BANK_DAYS)
    age = _exponential_decay(days, float(BANK_DAYS))
    use = min(1.0, memory.used_count / BANK_USES)
    number = 1.0 if memory.used_count >= BANK_USES or memory.stability != "draft" else age
    return DecayWeight(number, number, age, use)


def _balanced(memory: DecayingMemory, now: datetime) -> DecayWeight:
    """Return the weight of freshness, with half-lives by tier, and use, with Memento Protocol's logarithm.

    Freshness counts from the last change, or from a person's verification where that is later: it confirms that the
    memory still holds. Use grows with log2(1 + n), full at 15 times, and halves every 90 days from the last time. The
    weight is (0.10 freshness + 0.06 use) / 0.16: a sum, so that old and much used is not nothing.
    """
    confirmed = max(memory.updated_at, memory.verified_at or memory.updated_at)
    half_life = half_life_days(memory.certainty, memory.tier, memory.surprise)
    age = 1.0 if half_life is None else _exponential_decay(_days(confirmed, now), half_life)
    use = 0.0
    if memory.last_used_at is not None:
        use = min(1.0, math.log2(1 + memory.used_count) / USES_LOG)
        use *= _exponential_decay(_days(memory.last_used_at, now), HALF_LIFE_DAYS)
    number = (AGE_PART * age + USE_PART * use) / (AGE_PART + USE_PART)
    return DecayWeight(number, number, age, use)


_PRESETS = {"protocol": _protocol, "vault": _vault, "bank": _bank, "balanced": _balanced}


def last_touched(memory: DecayingMemory) -> datetime:
    """Return when a memory was last written, changed, used or verified; being shown is no touch."""
    moments = (memory.created_at, memory.updated_at, memory.last_used_at, memory.verified_at)
    return max(moment for moment in moments if moment is not None)


def half_life_days(certainty: int, tier: str = "short_term", surprise: float | None = None) -> float | None:
    """Return the half-life in days for a grade of certainty, or ``None`` for one that does not age.

    It is Memento Vault's for ``short_term``. The balanced weight gives the other tiers theirs, and up to half as much
    again to what was new when it was written: what could be guessed from the rest is the first that may fade.
    """
    if certainty >= CERTAINTY_WITHOUT_DECAY:
        return None
    days = TIER_HALF_LIVES[tier] * (2 if certainty == CERTAINTY_OF_DOUBLE_HALF_LIFE else 1)
    return days * (1 + SURPRISE_PART * (surprise or 0.0))


def _days(moment: datetime, now: datetime) -> float:
    return (now - moment).total_seconds() / _DAY


def _exponential_decay(passed: float, half_life: float) -> float:
    return float(0.5 ** (max(0.0, passed) / half_life))


def _decay_by_certainty(days: float, certainty: int) -> float:
    half_life = half_life_days(certainty)
    return 1.0 if half_life is None else _exponential_decay(days, half_life)


_AGEING, _CERTAINTY, _STABILITY, _CONFIDENCE = map(
    FACTOR_WEIGHTS.__getitem__, ("ageing", "certainty", "stability", "confidence")
)
_SUM_OF_WEIGHTS = sum(FACTOR_WEIGHTS.values())


class DecayFactor(NamedTuple):
    """The life factor and its parts, each 0 to 1."""

    factor: float
    age: float
    use: float
    certainty: float
    stability: float
    confidence: float
    superseded: bool
    weight: float
    """The weight by the preset's own formula, on its own scale; see `preset_weight`."""
    held: float = 1.0
    """The further factor that ranks the memory below its successor."""

    def lowered(self, share: float) -> DecayFactor:
        """Return the factor of a memory that keeps this share of its score, since it ranks below its successor."""
        return self._replace(factor=self.factor * share, held=share)


def decay_factor(
    memory: DecayingMemory, now: datetime, *, preset: DecayPreset = "balanced", superseded: bool = False
) -> DecayFactor:
    """Return the factor that a memory's relevance is multiplied with.

    ``superseded`` means that another memory declares to take its place; the memory's own status may mean it as well.

    The preset's weight, brought to a scale from 0 to 1, counts 0.16, certainty 0.06, stability 0.04 and confidence
    0.04. The sum maps to
    0.85-1.15 under every preset; a memory that another supersedes is halved on top. Two factors differ by 1.15 / 0.85
    at most, so a memory that is 1.36 times as relevant comes first, however old it is, unless it is superseded.
    """
    aged = decay_weight(preset, memory, now)
    certainty = (memory.certainty - 1) / 4
    stability = STABILITY_SHARES[memory.stability]
    confidence = memory.confidence
    share = _AGEING * aged.share + _CERTAINTY * certainty + _STABILITY * stability + _CONFIDENCE * confidence
    share /= _SUM_OF_WEIGHTS
    factor = LOWEST_FACTOR + (HIGHEST_FACTOR - LOWEST_FACTOR) * share
    superseded = superseded or memory.status in ("superseded", "consolidated")
    factor *= SUPERSEDED_FACTOR if superseded else 1.0
    return DecayFactor(factor, aged.age, aged.use, certainty, stability, confidence, superseded, aged.weight)


def decay_curve(
    memory: DecayingMemory, now: datetime, preset: DecayPreset, days: Sequence[float], *, superseded: bool = False
) -> list[tuple[float, DecayFactor]]:
    """Return the factors of a memory so many days after ``now``, as if nothing happened to it meanwhile."""
    return [
        (day, decay_factor(memory, now + timedelta(days=day), preset=preset, superseded=superseded)) for day in days
    ]


def rank_below_successors(
    scores: Mapping[str, float], successors: Mapping[str, Iterable[str]]
) -> list[tuple[str, float]]:
    """Return ids with their scores, best first, each below every memory that takes its place.

    ``successors`` has, for an id, those that supersede or consolidate it; those without a score are ignored. A memory
    gets at most 0.999 times the score of each of its successors, also where that one was lowered itself. Memories that
    supersede each other in a circle keep their scores but for one link, which is not applied.
    """
    if not successors:
        return sorted(scores.items(), key=lambda entry: (-entry[1], entry[0]))
    placed: dict[str, tuple[float, int]] = {}
    for start in sorted(scores, key=lambda name: (scores[name], name)):
        for name in _successors_first(start, scores, successors, placed):
            above = [placed[new] for new in successors.get(name, ()) if new in placed]
            score = min([scores[name], *(SHARE_OF_SUCCESSOR * score for score, _ in above)])
            # Where all scores are 0, the length of the chain of successors still decides the order.
            placed[name] = (score, 1 + max((depth for _, depth in above), default=-1))
    order = sorted(placed, key=lambda name: (-placed[name][0], placed[name][1], name))
    return [(name, placed[name][0]) for name in order]


def _successors_first(
    start: str, scores: Container[str], successors: Mapping[str, Iterable[str]], placed: Container[str]
) -> Iterator[str]:
    """Yield the ids that are reached from ``start`` and not placed yet, each after its successors.

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
