"""How the weight of a memory decays: the published formulas of three systems and our own, one preset each.

Every preset counts confirmed use (`Memory.used_count`, `Memory.last_used_at`) where its system counted accesses, and
none reads `Memory.shown_count`: a memory that is displayed often has not been of use. Nothing here is stored; a weight
is a function of the memory and the moment.
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from memento_tui.config import DecayPreset

__all__ = ["BANK_DAYS", "BANK_USES", "Ageing", "Lived", "ageing", "half_life_days", "last_touched", "weight"]

_HOUR, _DAY = 3600.0, 86_400.0
"""Seconds."""

PROTOCOL_RECENCY_HOURS = 168.0
PROTOCOL_ACCESS_HOURS = 48.0
_PROTOCOL_HIGHEST = 3.0
"""Its product cannot exceed 1 (recency) x 2 (accesses) x 1.5 (last access)."""

_HALF_LIFE_DAYS = 90.0
"""Memento Vault's."""
_SLOW, _IMMUNE = 3, 4
"""The grade of certainty that doubles Memento Vault's half-life, and the one from which a note does not age."""

BANK_DAYS, BANK_USES = 90, 2
"""Days untouched after which agent-memory demotes what was used fewer times than this."""

_AGE_PART, _USE_PART = 0.10, 0.06
"""How much of the balanced weight is freshness and how much is use."""
_USES_LOG = 4.0
"""The logarithm to base 2 of the uses that count in full, the first one counted twice: 15 uses."""


class Lived(Protocol):
    """What of a memory its life depends on; a `memento_tui.records.Memory` has it, and so has a hook's own row."""

    @property
    def certainty(self) -> int:
        """From 1 to 5."""

    @property
    def stability(self) -> str:
        """``draft``, ``verified`` or ``stable``."""

    @property
    def status(self) -> str:
        """As in `memento_tui.records.memory.STATUSES`."""

    @property
    def created_at(self) -> datetime:
        """When it was first written."""

    @property
    def updated_at(self) -> datetime:
        """When it was last changed."""

    @property
    def verified_at(self) -> datetime | None:
        """When a person last stood behind it."""

    @property
    def used_count(self) -> int:
        """How often it was seen to be of use."""

    @property
    def last_used_at(self) -> datetime | None:
        """When it was last of use."""


class Ageing(NamedTuple):
    """A preset's number for a memory, the same on a scale from 0 to 1, and what it is made of, each from 0 to 1."""

    weight: float
    share: float
    age: float
    """1 when the memory is fresh."""
    use: float
    """1 when it was used as much and as lately as the preset can tell apart."""


def weight(preset: DecayPreset, memory: Lived, now: datetime) -> float:
    """Return the number that a preset's own formula gives, on that formula's own scale.

    ``protocol`` gives 0 to 3, the others 0 to 1. See the function of each preset for its formula and source.
    """
    return ageing(preset, memory, now).weight


def ageing(preset: DecayPreset, memory: Lived, now: datetime) -> Ageing:
    """Return a preset's weight with its parts. A moment after ``now`` counts as now: clocks are set back."""
    return _PRESETS[preset](memory, now)


def _protocol(memory: Lived, now: datetime) -> Ageing:
    """Memento Protocol's published score without its keyword part.

    Recency is 0.5^(age in hours / 168), from the creation on; access is min(2, 1 + 0.3 log2(1 + n)) for n accesses;
    last access is 1 + 0.5 x 0.5^(hours since / 48), and 1 for what was never accessed. The score is their product.
    """
    recency = _halved((now - memory.created_at).total_seconds() / _HOUR, PROTOCOL_RECENCY_HOURS)
    access = min(2.0, 1 + 0.3 * math.log2(1 + memory.used_count))
    last = 1.0
    if memory.last_used_at is not None:
        last += 0.5 * _halved((now - memory.last_used_at).total_seconds() / _HOUR, PROTOCOL_ACCESS_HOURS)
    number = recency * access * last
    use = (access * last - 1) / (_PROTOCOL_HIGHEST - 1)
    return Ageing(number, number / _PROTOCOL_HIGHEST, recency, use)


def _vault(memory: Lived, now: datetime) -> Ageing:
    """Memento Vault's published decay: 0.5^(days / 90) from the note's date on.

    Certainty 3 takes 180 days, and certainty 4 and 5 do not decay. Vault counts no use, so use moves nothing.
    """
    number = _graded(_days(memory.created_at, now), memory.certainty)
    return Ageing(number, number, number, 0.0)


def _bank(memory: Lived, now: datetime) -> Ageing:
    """agent-memory's rule as a weight. Only the rule is published, not a formula.

    The rule: what was untouched for 90 days and used fewer than 2 times is demoted, later previewed, later archived.
    Our reading: the weight is full until that rule applies, and for what was used twice or verified it stays so; then
    it halves every 90 days, one halving for each further step of the rule. It has no jump on any day.
    """
    days = max(0.0, _days(last_touched(memory), now) - BANK_DAYS)
    age = _halved(days, float(BANK_DAYS))
    use = min(1.0, memory.used_count / BANK_USES)
    number = 1.0 if memory.used_count >= BANK_USES or memory.stability != "draft" else age
    return Ageing(number, number, age, use)


def _balanced(memory: Lived, now: datetime) -> Ageing:
    """Our own: freshness with Memento Vault's half-lives, and use with the logarithm of Memento Protocol.

    Freshness counts from the last change, or from a person's verification where that is later: whoever verified it said
    that it still holds. Use grows with log2(1 + n), full at 15 times, and halves every 90 days from the last time. The
    weight is (0.10 freshness + 0.06 use) / 0.16: a sum, so that old and much used is not nothing.
    """
    confirmed = max(memory.updated_at, memory.verified_at or memory.updated_at)
    age = _graded(_days(confirmed, now), memory.certainty)
    use = 0.0
    if memory.last_used_at is not None:
        use = min(1.0, math.log2(1 + memory.used_count) / _USES_LOG)
        use *= _halved(_days(memory.last_used_at, now), _HALF_LIFE_DAYS)
    number = (_AGE_PART * age + _USE_PART * use) / (_AGE_PART + _USE_PART)
    return Ageing(number, number, age, use)


_PRESETS = {"protocol": _protocol, "vault": _vault, "bank": _bank, "balanced": _balanced}


def last_touched(memory: Lived) -> datetime:
    """Return when a memory was last written, changed, used or verified; being shown is no touch."""
    moments = (memory.created_at, memory.updated_at, memory.last_used_at, memory.verified_at)
    return max(moment for moment in moments if moment is not None)


def half_life_days(certainty: int) -> float | None:
    """Return Memento Vault's half-life in days for a grade of certainty; ``None`` for one that does not age."""
    if certainty >= _IMMUNE:
        return None
    return _HALF_LIFE_DAYS * (2 if certainty == _SLOW else 1)


def _days(moment: datetime, now: datetime) -> float:
    return (now - moment).total_seconds() / _DAY


def _halved(passed: float, half_life: float) -> float:
    return float(0.5 ** (max(0.0, passed) / half_life))


def _graded(days: float, certainty: int) -> float:
    half_life = half_life_days(certainty)
    return 1.0 if half_life is None else _halved(days, half_life)
