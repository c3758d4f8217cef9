from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento_tui.maintenance.trust import (
    ConfirmedUse,
    certainty_after_use,
    earned_stability,
    is_essential,
    sessions_needed,
)
from memento_tui.model import Memory
from memento_tui.model.memory import SENSITIVITIES, SOURCE_TYPES, STABILITIES, STATUSES, TIERS
from tests.made import NOW, note

VERIFIED = {"stability": "verified", "verified_at": "2026-01-01", "verified_by": "ann"}
LATE = NOW + timedelta(days=40)


def use(sessions: int, *, days: float = 0) -> ConfirmedUse:
    """Return use in so many sessions, the last of it so many days after the first of January."""
    return ConfirmedUse(
        sessions=sessions,
        used_count=sessions,
        last_used_at=note(created_at="2026-01-01").created_at + timedelta(days=days),
    )


def test_a_draft_earns_verification_by_use_in_three_sessions() -> None:
    assert earned_stability(note(), use(2)) is None
    assert earned_stability(note(), use(3)) == "verified"


def test_many_uses_in_one_session_earn_nothing() -> None:
    assert earned_stability(note(used_count=500), ConfirmedUse(sessions=1, used_count=500, last_used_at=NOW)) is None
    assert certainty_after_use(note(certainty=2), ConfirmedUse(sessions=1, used_count=500, last_used_at=NOW), 0) == 2


def test_what_is_verified_earns_stability_by_five_sessions_and_use_a_month_later() -> None:
    verified = note(**VERIFIED)
    assert earned_stability(verified, use(5, days=29.9)) is None
    assert earned_stability(verified, use(4, days=30)) is None
    assert earned_stability(verified, use(5, days=30)) == "stable"
    assert earned_stability(note(stability="verified"), use(5, days=30)) is None  # nobody knows since when
    assert earned_stability(verified, ConfirmedUse(sessions=5)) is None
    assert earned_stability(note(stability="stable", verified_at="2026-01-01"), use(500, days=90)) is None


def test_what_comes_from_outside_needs_twice_the_sessions() -> None:
    outside = note(source_type="external")
    assert [earned_stability(outside, use(count)) for count in (3, 5, 6)] == [None, None, "verified"]
    verified = note(source_type="external", **VERIFIED)
    assert [earned_stability(verified, use(count, days=60)) for count in (5, 9, 10)] == [None, None, "stable"]
    assert [sessions_needed(memory) for memory in (note(), outside, verified)] == [3, 6, 10]
    assert sessions_needed(note(stability="stable")) is None


@pytest.mark.parametrize(
    "barred",
    [
        *({"status": status} for status in STATUSES if status != "active"),
        {"sensitivity": "restricted"},
        {"injection_score": 0.5},
        {"injection_score": 1.0},
    ],
)
def test_what_is_not_open_and_active_gains_no_trust(barred: dict[str, Any]) -> None:
    assert earned_stability(note(**barred), use(50)) is None
    assert earned_stability(note(**barred, **VERIFIED), use(50, days=90)) is None
    assert certainty_after_use(note(**barred, **VERIFIED, certainty=2), use(50), 0) == 2


def test_a_text_that_reads_a_little_like_orders_may_still_earn_trust() -> None:
    assert earned_stability(note(injection_score=0.49, sensitivity="confidential"), use(3)) == "verified"


def test_certainty_rises_by_one_for_every_three_further_sessions() -> None:
    verified = note(certainty=1, **VERIFIED)
    assert [certainty_after_use(verified, use(count), 0) for count in (0, 2, 3, 5, 6, 9, 300)] == [1, 1, 2, 2, 3, 3, 3]
    assert [certainty_after_use(verified, use(count), 4) for count in (4, 6, 7, 10)] == [1, 1, 2, 3]
    assert certainty_after_use(verified, use(1), 7) == 1  # the record of use was purged meanwhile


def test_an_agent_cannot_make_its_own_text_certain_by_fetching_it() -> None:
    assert [certainty_after_use(note(certainty=start), use(300), 0) for start in (1, 2, 3, 4, 5)] == [3, 3, 3, 4, 5]


def test_the_essentials_are_what_is_pinned_and_verified_or_shared_and_stable() -> None:
    assert is_essential(note(pinned=True, stability="verified"))
    assert not is_essential(note(pinned=True))
    assert is_essential(note(tier="shared", stability="stable"))
    assert not is_essential(note())
    assert not is_essential(note(stability="stable"))
    assert not is_essential(note(tier="shared", stability="verified"))
    assert not is_essential(note(stability="verified", used_count=100, certainty=5))


@pytest.mark.parametrize("status", ["pending", "archived", "rejected", "deleted"])
def test_what_is_not_recalled_is_no_essential(status: str) -> None:
    assert not is_essential(note(pinned=True, stability="verified", status=status))
    assert not is_essential(note(tier="shared", stability="stable", status=status))


def test_what_is_restricted_is_no_essential_even_pinned() -> None:
    assert not is_essential(note(pinned=True, stability="verified", sensitivity="restricted"))


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    """Return memories of every trust."""
    stability = draw(st.sampled_from(STABILITIES))
    source_type = draw(st.sampled_from(SOURCE_TYPES))
    tiers = TIERS[:2] if source_type == "external" and stability == "draft" else TIERS
    return note(
        stability=stability,
        source_type=source_type,
        tier=draw(st.sampled_from(tiers)),
        status=draw(st.sampled_from(STATUSES)),
        sensitivity=draw(st.sampled_from(SENSITIVITIES)),
        certainty=draw(st.integers(1, 5)),
        injection_score=draw(st.floats(0, 1)),
        pinned=draw(st.booleans()),
        verified_at=draw(st.none() | st.just("2026-01-01")),
        created_at=NOW,
    )


USES = st.builds(
    ConfirmedUse,
    sessions=st.integers(0, 100),
    used_count=st.integers(0, 1000),
    last_used_at=st.none() | st.just(NOW) | st.just(LATE),
)


@given(memories(), USES, st.integers(0, 2**40), st.integers(0, 50))
def test_being_shown_earns_nothing(memory: Memory, used: ConfirmedUse, shown: int, moved: int) -> None:
    seen = msgspec.structs.replace(memory, shown_count=shown)
    assert earned_stability(seen, used) == earned_stability(memory, used)
    assert certainty_after_use(seen, used, moved) == certainty_after_use(memory, used, moved)
    assert is_essential(seen) == is_essential(memory)


@given(memories(), USES, st.integers(0, 50))
def test_use_never_lowers_certainty_nor_raises_it_above_what_needs_no_person(
    memory: Memory, used: ConfirmedUse, moved: int
) -> None:
    assert memory.certainty <= certainty_after_use(memory, used, moved) <= max(3, memory.certainty)


@given(memories(), st.integers(0, 40), st.integers(0, 40))
def test_certainty_counted_in_two_parts_never_rises_above_the_same_use_counted_at_once(
    memory: Memory, first: int, more: int
) -> None:
    halfway = certainty_after_use(memory, use(first), 0)
    moved = first if halfway != memory.certainty else 0
    later = msgspec.structs.replace(memory, certainty=halfway)
    at_once = certainty_after_use(memory, use(first + more), 0)
    assert certainty_after_use(later, use(first + more), moved) <= at_once
