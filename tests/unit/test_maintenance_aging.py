from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento_tui.config import DecayPreset
from memento_tui.maintenance.aging import (
    ORIGINAL_TEXT_KEY,
    AgingChange,
    due_change,
    is_skip_over,
    reason_not_to_age,
    restore_compacted,
    upcoming_steps,
)
from memento_tui.model import Memory, check_memory, make_skip
from memento_tui.model.memory import KINDS, RECALLED_STATUSES, STABILITIES, STATUSES, TIERS
from memento_tui.search.decay import last_touched
from tests.made import NOW, note

TEXT = "The proxy listens on 8080. It moved there in May. Nobody knows why."


def old(days: float, content: str = TEXT, **fields: Any) -> Memory:  # noqa: ANN401 - the fields of a memory
    """Return a memory that nobody touched for so many days."""
    return note(content, created_at=NOW - timedelta(days=days), **fields)


def step(memory: Memory, now: datetime = NOW, **rules: Any) -> AgingChange:  # noqa: ANN401 - what age takes
    """Return the step that is due, and fail where none is."""
    change = due_change(memory, now, **rules)
    assert change is not None
    return change


def later(days: float) -> datetime:
    """Return a moment so many days after now."""
    return NOW + timedelta(days=days)


# Expiry


@pytest.mark.parametrize(
    "fields", [{}, {"pinned": True}, {"certainty": 5}, {"stability": "stable"}, {"status": "superseded"}]
)
def test_what_has_expired_is_archived_whatever_it_is(fields: dict[str, Any]) -> None:
    memory = old(10, expires_at=NOW - timedelta(days=1), **fields)
    change = step(memory)
    assert (change.action, change.memory.status) == ("expire", "archived")
    assert change.why == "It was to hold until 2026-01-14."
    assert change.memory.content == memory.content
    assert change.memory.version == memory.version
    assert due_change(old(10, expires_at=NOW + timedelta(seconds=1), **fields), NOW) is None


def test_that_something_ceased_to_be_true_archives_nothing() -> None:
    assert due_change(old(10, valid_to=NOW - timedelta(days=5)), NOW) is None


def test_expiry_goes_before_every_other_step() -> None:
    assert step(old(500, tier="long_term", expires_at=NOW)).action == "expire"


# The ladder


@pytest.mark.parametrize("tier", ["long_term", "shared"])
def test_what_is_untouched_for_90_days_and_used_less_than_twice_is_demoted(tier: str) -> None:
    assert due_change(old(89.9, tier=tier), NOW) is None
    change = step(old(90, tier=tier))
    assert (change.action, change.memory.tier, change.memory.status) == ("demote", "short_term", "active")
    assert change.why == "It was never used and nobody touched it since 2025-10-17."
    assert step(old(300, tier=tier, used_count=1)).why.startswith("It was used once")
    assert due_change(old(300, tier=tier, used_count=2), NOW) is None


@pytest.mark.parametrize("touch", ["updated_at", "last_used_at", "verified_at"])
def test_a_change_a_use_and_a_verification_are_touches(touch: str) -> None:
    fields: dict[str, Any] = {"tier": "long_term", touch: NOW - timedelta(days=80)}
    memory = old(300, **fields)
    assert due_change(memory, NOW) is None
    assert step(memory, later(10)).action == "demote"


def test_being_shown_is_no_touch() -> None:
    assert step(old(90, tier="long_term", shown_count=10_000)).action == "demote"


def test_the_ladder_is_demoted_then_compacted_then_archived_with_90_days_before_each() -> None:
    demoted = step(old(90, tier="long_term")).memory
    assert due_change(demoted, later(89.9)) is None
    change = step(demoted, later(90))
    assert (change.action, change.memory.status) == ("compact", "compacted")
    assert change.memory.content == "The proxy listens on 8080."
    assert change.memory.extra[ORIGINAL_TEXT_KEY] == TEXT
    assert due_change(change.memory, later(179.9)) is None
    last = step(change.memory, later(180))
    assert (last.action, last.memory.status, last.memory.extra[ORIGINAL_TEXT_KEY]) == ("archive", "archived", TEXT)
    assert due_change(last.memory, later(9999)) is None


def test_what_was_in_the_lowest_tier_all_along_is_compacted_when_a_demoted_one_would_be() -> None:
    assert due_change(old(179.9), NOW) is None
    assert step(old(180)).action == "compact"


def test_after_a_year_in_which_upkeep_did_not_run_the_steps_are_still_taken_one_by_one() -> None:
    memory = old(365, tier="long_term")
    actions = []
    for day in range(400):
        change = due_change(memory, later(day))
        if change is not None:
            actions.append((day, change.action))
            memory = change.memory
    assert actions == [(0, "demote"), (90, "compact"), (180, "archive")]


def test_clean_up_does_not_delete_what_compaction_left() -> None:
    compacted = step(old(2000)).memory
    vault: dict[str, Any] = {"preset": "vault", "superseded_since": NOW - timedelta(days=999)}
    for rules in ({}, vault):
        for day in (0, 1, 30, 60, 89):
            assert due_change(compacted, later(day), **rules) is None
    archived = step(compacted, later(90)).memory
    assert archived.extra[ORIGINAL_TEXT_KEY] == TEXT
    assert restore_compacted(msgspec.structs.replace(archived, status="compacted")).content == TEXT


def test_a_touch_begins_the_wait_anew() -> None:
    demoted = step(old(90, tier="long_term")).memory
    used = msgspec.structs.replace(demoted, used_count=1, last_used_at=later(60))
    assert due_change(used, later(60 + 179.9)) is None
    compacted = step(used, later(60 + 180)).memory
    read = msgspec.structs.replace(compacted, last_used_at=later(300))
    assert due_change(read, later(300 + 89.9)) is None
    assert step(read, later(300 + 90)).action == "archive"


def test_a_preview_that_was_used_twice_stays() -> None:
    compacted = step(old(180)).memory
    assert due_change(msgspec.structs.replace(compacted, used_count=2), later(5000)) is None


def test_a_step_makes_nothing_look_fresh() -> None:
    for memory in (old(90, tier="long_term"), old(180), old(10, expires_at=NOW)):
        changed = step(memory).memory
        assert (changed.updated_at, changed.created_at) == (memory.updated_at, memory.created_at)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"pinned": True, "tier": "shared"}, "It is pinned, so it is neither shortened nor archived."),
        ({"certainty": 4, "tier": "long_term"}, "Its certainty is 4, so it is neither shortened nor archived."),
        ({"certainty": 5}, "Its certainty is 5, so it is neither shortened nor archived."),
        ({"used_count": 2}, "It was used 2 times, so it is neither shortened nor archived."),
        ({"status": "pending"}, "It is pending, so maintenance leaves it alone."),
        ({"status": "rejected"}, "It is rejected, so maintenance leaves it alone."),
        ({"status": "deleted"}, "It is deleted, so maintenance leaves it alone."),
        ({"status": "archived"}, "It is archived, so maintenance leaves it alone."),
        ({"status": "compacted"}, "It is a preview of unknown age, so it stays."),
    ],
)
def test_what_does_not_age_says_why(fields: dict[str, Any], reason: str) -> None:
    memory = old(5000, **fields)
    assert due_change(memory, NOW) is None
    assert upcoming_steps(memory, NOW) == []
    assert reason_not_to_age(memory) == reason


@pytest.mark.parametrize("stability", ["verified", "stable"])
@pytest.mark.parametrize("preset", get_args(DecayPreset))
def test_what_is_verified_or_stable_is_demoted_at_most(stability: str, preset: DecayPreset) -> None:
    memory = old(5000, tier="shared", stability=stability, kind="bugfix", certainty=1)
    rules: dict[str, Any] = {"preset": preset, "superseded_since": NOW - timedelta(days=4000)}
    demoted = step(memory, **rules)
    assert demoted.action == "demote"
    assert due_change(demoted.memory, later(9000), **rules) is None
    assert "only a person's decision" in reason_not_to_age(memory)


@pytest.mark.parametrize("status", ["superseded", "consolidated"])
def test_what_another_took_the_place_of_still_says_so_until_it_is_archived(status: str) -> None:
    demoted = step(old(90, tier="long_term", status=status)).memory
    assert demoted.status == status
    assert due_change(demoted, later(179.9)) is None
    assert step(demoted, later(180)).action == "archive"


def test_an_import_may_count_as_a_touch_since_old_notes_are_new_here() -> None:
    assert due_change(old(2000), NOW, known_since=NOW - timedelta(days=1)) is None
    assert step(old(2000), later(179), known_since=NOW - timedelta(days=1)).action == "compact"


# Compaction and back


def test_a_compacted_memory_comes_back_whole() -> None:
    memory = old(90, tier="long_term", extra={"ticket": 12})
    compacted = step(step(memory).memory, later(90)).memory
    back = restore_compacted(compacted)
    assert (back.content, back.status, back.extra) == (TEXT, "active", {"ticket": 12})
    assert due_change(msgspec.structs.replace(back, updated_at=later(90)), later(90 + 179)) is None
    assert restore_compacted(memory) is memory


@pytest.mark.parametrize("original", [None, 12, "", "  ", ["text"]])
def test_a_preview_without_its_original_keeps_the_text_that_it_has(original: object) -> None:
    extra = {} if original is None else {ORIGINAL_TEXT_KEY: original}
    back = restore_compacted(old(1, "A preview.", status="compacted", extra=extra))
    assert (back.content, back.status, back.extra) == ("A preview.", "active", {})


@pytest.mark.parametrize(
    "noted", ["never", "9999-99-99", 12, None, {"a": 1}, "7d", "2020-01-01", "2020-01-01T00:00+99:00"]
)
def test_moments_in_extra_that_upkeep_did_not_write_are_nothing(noted: object) -> None:
    extra = {"compacted_at": noted, "demoted_at": noted}
    assert due_change(old(5000, status="compacted", extra=extra), NOW) is None
    assert due_change(old(179, extra=extra), NOW) is None
    assert step(old(180, extra=extra)).action == "compact"


def test_a_preview_is_a_memory_that_the_rules_accept() -> None:
    for text in (
        TEXT,
        "one line without an end",
        "...",
        "a" * 200_000,
        "```\ncode()\n```",
        "\u200b x",
        "# Title\n\nText. More.",
    ):
        changed = step(old(180, text)).memory
        assert check_memory(changed) == changed
        assert restore_compacted(changed).content == text


def test_what_has_no_room_for_its_original_stays_whole() -> None:
    memory = old(5000, "\x01" * 100_000, extra={"long": "x" * 1_900_000})
    assert due_change(memory, NOW) is None
    assert "leave no room" in reason_not_to_age(memory)


# Memento Vault's rules


@pytest.mark.parametrize(("fields", "days"), [({"certainty": 1}, 60), ({"certainty": 2}, 60), ({"kind": "bugfix"}, 90)])
def test_under_vault_the_unsure_and_bugfixes_are_archived_sooner(fields: dict[str, Any], days: int) -> None:
    assert due_change(old(days - 0.1, **fields), NOW, preset="vault") is None
    change = step(old(days, **fields), preset="vault")
    assert (change.action, change.memory.content) == ("archive", TEXT)
    for preset in ("balanced", "bank", "protocol"):
        assert due_change(old(days, **fields), NOW, preset=preset) is None


def test_under_vault_what_is_superseded_is_archived_after_14_days_but_never_before_it_is_30_days_old() -> None:
    replaced = NOW - timedelta(days=14)
    assert step(old(40), preset="vault", superseded_since=replaced).action == "archive"
    assert due_change(old(40), NOW, preset="vault", superseded_since=replaced + timedelta(minutes=1)) is None
    assert due_change(old(29.9), NOW, preset="vault", superseded_since=replaced) is None
    assert step(old(30), preset="vault", superseded_since=replaced).action == "archive"
    assert due_change(old(40), NOW, superseded_since=replaced) is None


@pytest.mark.parametrize("certainty", [4, 5])
def test_under_vault_the_certain_are_never_archived(certainty: int) -> None:
    memory = old(5000, certainty=certainty, kind="bugfix")
    assert due_change(memory, NOW, preset="vault", superseded_since=NOW - timedelta(days=900)) is None


# Skips


def test_a_skip_is_over_at_its_end() -> None:
    skip = make_skip({"item": "x", "reason": "y", "expires_at": later(2)}, now=NOW)
    assert not is_skip_over(skip, later(1.99))
    assert is_skip_over(skip, later(2))


# Whatever comes

MOMENTS = st.datetimes(datetime(1900, 1, 1), datetime(9999, 12, 31)).map(lambda moment: moment.replace(tzinfo=UTC))  # noqa: DTZ001 - it gets its zone at once
SOON = st.floats(-900, 900).map(later)


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    """Return memories at every stage of life, some of them with what upkeep or an agent left in ``extra``."""
    made = note(
        TEXT,
        status=draw(st.sampled_from(RECALLED_STATUSES) | st.sampled_from(STATUSES)),
        stability=draw(st.sampled_from(STABILITIES)),
        certainty=draw(st.integers(1, 5)),
        kind=draw(st.sampled_from(KINDS)),
        pinned=draw(st.booleans()),
        used_count=draw(st.integers(0, 3)),
        created_at=draw(SOON | MOMENTS),
    )
    moments = SOON | MOMENTS
    noted = moments.map(lambda moment: moment.isoformat()) | st.text(max_size=5)
    extra = draw(st.dictionaries(st.sampled_from(["demoted_at", "compacted_at"]), noted))
    return msgspec.structs.replace(
        made,
        tier=draw(st.sampled_from(TIERS)),
        updated_at=draw(moments),
        last_used_at=draw(st.none() | moments),
        verified_at=draw(st.none() | moments),
        expires_at=draw(st.none() | moments),
        extra=extra,
    )


PRESETS = st.sampled_from(get_args(DecayPreset))
REPLACED = st.none() | SOON


@given(memories(), SOON, PRESETS, REPLACED)
def test_a_step_is_not_taken_twice_and_the_next_one_waits_for_its_own_time(
    memory: Memory, now: datetime, preset: DecayPreset, replaced: datetime | None
) -> None:
    change = due_change(memory, now, preset=preset, superseded_since=replaced)
    if change is None:
        return
    assert due_change(change.memory, now, preset=preset, superseded_since=replaced) is None
    awaits = upcoming_steps(change.memory, now, preset=preset, superseded_since=replaced)
    assert all(one.at > now for one in awaits)
    if preset != "vault":
        assert all(one.action == "expire" or one.at >= now + timedelta(days=90) for one in awaits)


@given(memories(), SOON, PRESETS, REPLACED)
def test_what_lies_ahead_is_what_then_happens(
    memory: Memory, now: datetime, preset: DecayPreset, replaced: datetime | None
) -> None:
    coming = upcoming_steps(memory, now, preset=preset, superseded_since=replaced)
    assert len(coming) <= 4
    for one in coming:
        assert one.at >= now
        change = due_change(memory, max(one.at, now), preset=preset, superseded_since=replaced)
        if change is None:  # it expires before the moment that another clock wrote as its last touch
            assert one.at < last_touched(memory)
            return
        assert (change.action, change.why) == (one.action, one.why)
        memory = change.memory
    assert due_change(memory, datetime(9999, 12, 31, tzinfo=UTC), preset=preset, superseded_since=replaced) is None


@given(memories(), PRESETS, REPLACED)
def test_a_clock_that_was_set_back_ages_nothing(memory: Memory, preset: DecayPreset, replaced: datetime | None) -> None:
    before = memory.updated_at - timedelta(microseconds=1)
    assert due_change(memory, before, preset=preset, superseded_since=replaced) is None


@given(memories(), SOON, st.floats(0, 900), PRESETS, REPLACED)
def test_what_is_done_stays_done_when_the_clock_jumps_back(
    memory: Memory, now: datetime, back: float, preset: DecayPreset, replaced: datetime | None
) -> None:
    change = due_change(memory, now, preset=preset, superseded_since=replaced)
    if change is None:
        return
    earlier = due_change(change.memory, now - timedelta(days=back), preset=preset, superseded_since=replaced)
    assert earlier is None
    assert change == due_change(memory, now, preset=preset, superseded_since=replaced)


@given(memories(), SOON, PRESETS, REPLACED, st.integers(0, 2**40))
def test_being_shown_keeps_nothing_alive(
    memory: Memory, now: datetime, preset: DecayPreset, replaced: datetime | None, shown: int
) -> None:
    seen = msgspec.structs.replace(memory, shown_count=shown)
    one, other = (due_change(m, now, preset=preset, superseded_since=replaced) for m in (memory, seen))
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert (one.action, one.why) == (other.action, other.why)


@given(memories(), SOON, PRESETS, REPLACED)
def test_ageing_never_promotes_verifies_or_loses_a_text(
    memory: Memory, now: datetime, preset: DecayPreset, replaced: datetime | None
) -> None:
    change = due_change(memory, now, preset=preset, superseded_since=replaced)
    if change is None:
        return
    after = change.memory
    assert TIERS.index(after.tier) <= TIERS.index(memory.tier)
    assert memory.content in (after.content, after.extra.get(ORIGINAL_TEXT_KEY))
    kept = {"content", "extra", "status", "tier"}
    for name in set(Memory.__struct_fields__) - kept:
        assert getattr(after, name) == getattr(memory, name)
    assert set(memory.extra) <= set(after.extra)
