"""Rules of trust: promotion by confirmed use, and changes of certainty. Pure functions, no I/O."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

import msgspec

from memento_tui.model import Memory
from memento_tui.model.claims import HIGHEST_CLAIMED_CERTAINTY
from memento_tui.model.memory import RECALLED_STATUSES
from memento_tui.policy.suspicion import SUSPICIOUS_SCORE

__all__ = [
    "SESSIONS_A_GRADE",
    "ConfirmedUse",
    "certainty_after_use",
    "earned_stability",
    "is_essential",
    "sessions_needed",
]

_VERIFIED_SESSIONS, _STABLE_SESSIONS = 3, 5
_STABLE_AFTER = timedelta(days=30)
_EXTERNAL_FACTOR = 2
"""The factor on the sessions that a memory from outside needs."""


SESSIONS_A_GRADE = 3
"""Further sessions of confirmed use that raise the certainty by one."""


class ConfirmedUse(msgspec.Struct, frozen=True, kw_only=True):
    """The confirmed use of one memory; being shown does not count."""

    sessions: int = 0
    """Distinct sessions with confirmed use."""
    used_count: int = 0
    last_used_at: datetime | None = None


def sessions_needed(memory: Memory) -> int | None:
    """Return the number of distinct sessions with confirmed use for the next promotion; ``None``: there is none."""
    needed = {"draft": _VERIFIED_SESSIONS, "verified": _STABLE_SESSIONS}.get(memory.stability)
    if needed is None:
        return None
    return needed * (_EXTERNAL_FACTOR if memory.source_type == "external" else 1)


def earned_stability(memory: Memory, use: ConfirmedUse) -> Literal["verified", "stable"] | None:
    """Return the stability that confirmed use has earned, to be proposed to a person, or ``None``.

    A draft earns ``verified`` with use in 3 sessions. Sessions count and not uses, because one session that calls a
    memory up again and again agrees only with itself. What is verified earns ``stable`` with use in 5 sessions, the
    last of them 30 days after the verification or later: that it still serves a month on is the evidence, so the rule
    reads the time of use and no clock. A memory from outside needs twice as many sessions, since an outsider's claim is
    repeated more easily than it is checked.

    Only active memories earn trust: pending, archived or replaced ones must not gain any, and a preview is not the text
    that would be verified. Restricted memories, which are used only by those who know them, earn none, nor do texts
    that read like orders for a model, since being obeyed often is no recommendation.
    """
    needed = sessions_needed(memory)
    if needed is None or not _may_gain(memory) or use.sessions < needed:
        return None
    if memory.stability == "draft":
        return "verified"
    if memory.verified_at is None or use.last_used_at is None:
        return None
    return "stable" if use.last_used_at - memory.verified_at >= _STABLE_AFTER else None


def certainty_after_use(memory: Memory, use: ConfirmedUse, moved_sessions: int) -> int:
    """Return the certainty of a memory after confirmed use: up by one for every 3 sessions since it last moved.

    ``moved_sessions`` is the value of `ConfirmedUse.sessions` at that time. It does not rise above 3, the middle of the
    scale: more is a person's decision, and an agent must not make its own text certain by fetching it. A memory that
    may earn no promotion (see `earned_stability`) does not rise, and use never lowers.
    """
    steps = max(0, use.sessions - moved_sessions) // SESSIONS_A_GRADE
    if not _may_gain(memory) or memory.certainty >= HIGHEST_CLAIMED_CERTAINTY:
        return memory.certainty
    return min(HIGHEST_CLAIMED_CERTAINTY, memory.certainty + steps)


def is_essential(memory: Memory) -> bool:
    """Tell whether a memory is offered to an agent at the start of every session.

    It must be recalled, and a person must stand behind it: it is pinned and verified, or it is shared and stable. A
    restricted memory is read only by its id, pinned or not. The caller, who knows the time, checks expiry.
    """
    if memory.status not in RECALLED_STATUSES or memory.sensitivity == "restricted":
        return False
    is_verified = memory.stability != "draft"
    return (memory.pinned and is_verified) or (memory.tier == "shared" and memory.stability == "stable")


def _may_gain(memory: Memory) -> bool:
    return (
        memory.status == "active" and memory.sensitivity != "restricted" and memory.injection_score < SUSPICIOUS_SCORE
    )
