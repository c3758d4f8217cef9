"""Two changes of one record: what both hold, what is disputed, and what reaches the hub."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento_tui.hub.entries import MEANING, differing_fields, merge, rebase
from memento_tui.model import Memory, make_memory
from tests.clocks import START

BASE = make_memory({"id": "m1", "content": "zero", "title": "T", "tags": ["a"]}, now=START)
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "content": st.sampled_from(("one", "two")),
        "title": st.sampled_from(("U", "V")),
        "tags": st.sampled_from((("a", "b"), ())),
        "certainty": st.sampled_from((1, 2)),
        "namespace": st.sampled_from(("projects/site", "projects/api")),
    },
)


def changed(memory: Memory, **fields: Any) -> Memory:  # noqa: ANN401 - the fields of a memory
    return msgspec.structs.replace(memory, **fields)


@given(theirs=CHANGES, mine=CHANGES)
def test_what_one_side_changed_holds_and_what_both_changed_otherwise_is_disputed(
    theirs: dict[str, Any], mine: dict[str, Any]
) -> None:
    merged = merge(BASE, changed(BASE, **theirs), changed(BASE, **mine))
    assert set(merged.conflicting) == {name for name in theirs.keys() & mine.keys() if theirs[name] != mine[name]}
    expected = {**theirs, **mine}
    assert {name: getattr(merged.record, name) for name in expected} == expected


@given(theirs=CHANGES, mine=CHANGES)
def test_after_a_pull_and_a_sending_both_sides_differ_in_the_disputed_fields_alone(
    theirs: dict[str, Any], mine: dict[str, Any]
) -> None:
    before, hub = changed(BASE, **mine), changed(BASE, **theirs)
    merged = merge(BASE, hub, before)
    sent, left = rebase(hub, BASE, before, withheld=merged.conflicting, decided=())
    assert set(differing_fields(sent, merged.record)) == set(merged.conflicting)
    assert set(left) == set(merged.conflicting)


@given(theirs=CHANGES, mine=CHANGES)
def test_what_a_person_decided_is_given_whatever_the_hub_has(theirs: dict[str, Any], mine: dict[str, Any]) -> None:
    sent, left = rebase(changed(BASE, **theirs), BASE, changed(BASE, **mine), withheld=mine, decided=tuple(mine))
    assert {name: getattr(sent, name) for name in mine} == mine
    assert left == []


VERIFIED = {"stability": "verified", "verified_at": START, "verified_by": "person"}


@pytest.mark.parametrize(("theirs", "mine"), [(VERIFIED, {"content": "one"}), ({"content": "one"}, VERIFIED)])
def test_a_verification_of_other_words_holds_nowhere(theirs: dict[str, Any], mine: dict[str, Any]) -> None:
    merged = merge(BASE, changed(BASE, **theirs), changed(BASE, **mine))
    assert (merged.record.content, merged.record.stability, merged.conflicting) == ("one", "draft", ())
    sent, _ = rebase(changed(BASE, **VERIFIED), BASE, changed(BASE, content="one"), withheld=(), decided=())
    assert (sent.content, sent.stability, sent.verified_by) == ("one", "draft", "")


def test_a_verification_here_does_not_reach_the_place_that_the_other_side_moved_the_same_words_to() -> None:
    theirs, mine = {"content": "one", "namespace": "projects/site"}, {"content": "one", **VERIFIED}
    merged = merge(BASE, changed(BASE, **theirs), changed(BASE, **mine))
    assert (merged.record.namespace, merged.record.stability) == ("projects/site", "draft")


ESSENTIAL = {"pinned": True, "certainty": 5}


@given(theirs=CHANGES, mine=CHANGES, trust=st.sampled_from((VERIFIED, ESSENTIAL)), mine_is_trusted=st.booleans())
def test_trust_never_reaches_words_that_its_person_did_not_see(
    theirs: dict[str, Any], mine: dict[str, Any], trust: dict[str, Any], *, mine_is_trusted: bool
) -> None:
    if mine_is_trusted:
        hub, before = changed(BASE, **theirs), changed(BASE, **{**mine, **trust})
    else:
        hub, before = changed(BASE, **{**theirs, **trust}), changed(BASE, **mine)
    trusted = before if mine_is_trusted else hub
    merged = merge(BASE, hub, before)
    sent, _ = rebase(hub, BASE, before, withheld=merged.conflicting, decided=())
    for outcome in (merged.record, sent):
        is_trusted = outcome.stability != "draft" or outcome.pinned or outcome.certainty > 3
        same = all(getattr(outcome, name) == getattr(trusted, name) for name in MEANING)
        assert same or not is_trusted


@pytest.mark.parametrize(("theirs", "mine"), [(ESSENTIAL, {"content": "one"}), ({"content": "one"}, ESSENTIAL)])
def test_a_memory_that_was_made_essential_there_and_changed_here_asks(
    theirs: dict[str, Any], mine: dict[str, Any]
) -> None:
    merged = merge(BASE, changed(BASE, **theirs), changed(BASE, **mine))
    assert merged.record == changed(BASE, **mine)
    assert merged.conflicting == tuple(sorted(theirs))


def test_a_deletion_there_and_a_change_here_are_disputed() -> None:
    merged = merge(BASE, changed(BASE, status="deleted"), changed(BASE, content="one"))
    assert (merged.record.content, merged.record.status, merged.conflicting) == ("one", "active", ("status",))


def test_a_change_there_and_a_deletion_here_leave_it_deleted_and_ask() -> None:
    merged = merge(BASE, changed(BASE, content="one"), changed(BASE, status="deleted"))
    assert (merged.record.content, merged.record.status) == ("zero", "deleted")
    assert "content" in merged.conflicting


def test_records_that_were_never_together_are_compared_field_by_field() -> None:
    assert merge(None, BASE, BASE) == (BASE, ())
    assert merge(None, changed(BASE, content="one"), BASE).conflicting == ("content",)
