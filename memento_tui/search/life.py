"""The life factor: how far age, use, certainty and trust move a result, within bounds that relevance always exceeds."""

from __future__ import annotations

import math
from datetime import datetime

import msgspec

from memento_tui.records import Memory

__all__ = ["Life", "life_of"]

_HALF_LIFE_DAYS = 90.0
"""Memento Vault's; certainty 3 doubles it, and certainty 4 and 5 do not age."""

_LOWEST, _HIGHEST = 0.85, 1.15
"""The bounds of the factor: an old exact match keeps at least 85 % of its relevance, a fresh vague one gains 15 %."""

_SUPERSEDED = 0.5
_PARTS = {"age": 0.10, "use": 0.06, "certainty": 0.06, "stability": 0.04}
_STABILITY = {"draft": 0.0, "verified": 0.7, "stable": 1.0}


class Life(msgspec.Struct, frozen=True):
    """The factor and what went into it, each part from 0 to 1."""

    factor: float
    age: float
    use: float
    certainty: float
    stability: float
    superseded: bool


def life_of(memory: Memory, now: datetime, *, superseded: bool = False) -> Life:
    """Return the factor that a memory's relevance is multiplied with.

    ``superseded`` says that another memory declares to take its place; its own status may say so as well.

    Age decays by half in 90 days, use grows with the logarithm of the times used and fades like age from the last.
    The sum of the weighted parts maps to 0.85-1.15; a memory that another supersedes is halved on top.
    """
    age = _decay(memory.updated_at, now, memory.certainty)
    used = min(1.0, math.log2(1 + memory.used_count) / 4)
    use = used * (_decay(memory.last_used_at, now, 1) if memory.last_used_at else 0.0)
    certainty = (memory.certainty - 1) / 4
    stability = _STABILITY[memory.stability]
    values = {"age": age, "use": use, "certainty": certainty, "stability": stability}
    share = sum(_PARTS[name] * value for name, value in values.items()) / sum(_PARTS.values())
    factor = _LOWEST + (_HIGHEST - _LOWEST) * share
    superseded = superseded or memory.status in ("superseded", "consolidated")
    return Life(factor * (_SUPERSEDED if superseded else 1.0), age, use, certainty, stability, superseded)


def _decay(moment: datetime, now: datetime, certainty: int) -> float:
    if certainty >= 4:  # noqa: PLR2004 - the immune grades
        return 1.0
    days = max(0.0, (now - moment).total_seconds() / 86400)
    half_life = _HALF_LIFE_DAYS * (2 if certainty == 3 else 1)  # noqa: PLR2004 - a grade
    return float(0.5 ** (days / half_life))
