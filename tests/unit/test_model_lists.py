from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from memento_tui.errors import AmbiguousId, Conflict, InvalidField
from memento_tui.model import (
    make_contradiction,
    make_crystal,
    make_exposure,
    make_item,
    make_proposal,
    make_relation,
    make_skip,
)
from memento_tui.model.validation import check_id, new_id
from tests.made import NOW

SKIP = {"item": "the vendored folder", "reason": "generated", "expires_at": "7d"}
ITEM = {"title": "Write the docs"}
CRYSTAL = {"content": "I am careful."}
RELATION = {"src": "a", "dst": "b"}
PROPOSAL = {"action": "edit", "target_id": "a", "base_version": 1, "payload": {"title": "t"}}
CONTRADICTION = {"older": "a", "newer": "b"}
INJECTION = {"memory_id": "a", "memory_version": 1, "session": "s", "rank": 1, "score": 0.5, "tokens": 10}

MAKERS: dict[str, tuple[Callable[[Mapping[str, Any]], msgspec.Struct], Mapping[str, Any]]] = {
    "skip": (make_skip, SKIP),
    "item": (make_item, ITEM),
    "crystal": (make_crystal, CRYSTAL),
    "relation": (make_relation, RELATION),
    "proposal": (make_proposal, PROPOSAL),
    "contradiction": (make_contradiction, CONTRADICTION),
    "injection": (make_exposure, INJECTION),
}


@pytest.mark.parametrize(
    ("record", "fields", "field", "reason"),
    [
        ("skip", {"item": ""}, "item", "is missing"),
        ("skip", {"item": "  "}, "item", "is empty"),
        ("skip", {"reason": None}, "reason", "is missing"),
        ("skip", {"reason": "a\nb"}, "reason", "must be one line"),
        ("skip", {"expires_at": None}, "expires_at", "is missing"),
        ("skip", {"expires_at": "never"}, "expires_at", "must be a date such as 2026-12-31"),
        ("skip", {"expires_at": "2026-02-30"}, "expires_at", "must be a date such as 2026-12-31"),
        ("skip", {"expires_at": "0d"}, "expires_at", "is not in the future"),
        ("skip", {"expires_at": "2020-01-01"}, "expires_at", "is not in the future: 2020-01-01 00:00Z has passed"),
        ("skip", {"expires_at": "200y"}, "expires_at", "is more than two years away: 22"),
        ("skip", {"namespace": "../up"}, "namespace", "must be names joined by '/'"),
        ("skip", {"hits": -1}, "hits", "cannot be negative"),
        ("skip", {"created_by": "\ud800"}, "created_by", "holds bytes that are not UTF-8"),
        ("skip", {"extra": {"a": "\ud800"}}, "extra", "holds text that is not UTF-8"),
        ("item", {"title": ""}, "title", "is empty"),
        ("item", {"title": "a\nb"}, "title", "must be one line"),
        ("item", {"category": "hobby"}, "category", "must be one of active_work, standing_decision, waiting_for"),
        ("item", {"status": "done"}, "status", "must be one of active, paused, completed, archived; not 'done'"),
        ("item", {"priority": "high"}, "priority", "must be a whole number; not 'high'"),
        ("item", {"priority": 10**30}, "priority", "must be from -1,000,000 to 1,000,000"),
        ("item", {"content": "x" * 300_000}, "content", "is 300,000 bytes long"),
        ("item", {"next_action": "a\nb"}, "next_action", "must be one line"),
        ("item", {"tags": [""]}, "tags", "holds an empty tag"),
        ("item", {"namespace": "a//b"}, "namespace", "must be names joined by '/'"),
        ("item", {"extra": {"a": "\ud800"}}, "extra", "holds text that is not UTF-8"),
        ("crystal", {"content": " "}, "content", "is empty"),
        ("crystal", {"content": "x" * 1_048_576}, "content", "is 1,048,576 bytes long"),
        ("crystal", {"status": "new"}, "status", "must be one of proposed, current, past, rejected; not 'new'"),
        ("crystal", {"parent": "a\nb"}, "parent", "holds a character that cannot be printed"),
        ("crystal", {"author": "a\nb"}, "author", "must be one line"),
        ("crystal", {"extra": {"a": "\ud800"}}, "extra", "holds text that is not UTF-8"),
        ("relation", {"type": "likes"}, "type", "must be one of related, supersedes"),
        ("relation", {"dst": ""}, "dst", "is empty"),
        ("relation", {"dst": "a"}, "dst", "is the memory itself; a relation joins two"),
        ("relation", {"src": "\n"}, "src", "is empty"),
        ("relation", {"label": "a\nb"}, "label", "must be one line"),
        ("proposal", {"action": "burn"}, "action", "must be one of create, edit, delete, merge; not 'burn'"),
        ("proposal", {"target": "table"}, "target", "must be one of memory, skip, item, crystal, contradiction; not"),
        ("proposal", {"base_version": 0}, "base_version", "is missing"),
        ("proposal", {"payload": {}}, "payload", "is empty"),
        ("proposal", {"payload": [1]}, "payload", "must be an object; not [1]"),
        ("proposal", {"state": "maybe"}, "state", "must be one of pending, later, needs_review"),
        ("proposal", {"note": "a\nb"}, "note", "must be one line"),
        ("proposal", {"evidence": {"a": "\ud800"}}, "evidence", "holds text that is not UTF-8"),
        ("proposal", {"proposed_by": "\ud800"}, "proposed_by", "holds bytes that are not UTF-8"),
        ("contradiction", {"newer": "a"}, "newer", "is the same memory as older; a contradiction has two sides"),
        ("contradiction", {"score": 2}, "score", "must be a number from 0 to 1; not 2.0"),
        ("contradiction", {"kind": "odd"}, "kind", "must be one of temporal, scoped, genuine; not 'odd'"),
        ("contradiction", {"status": "resolved"}, "resolution", "belongs to a contradiction that is resolved"),
        ("contradiction", {"resolution": "merged"}, "resolution", "belongs to a contradiction that is resolved"),
        ("contradiction", {"older_spans": [[1]]}, "older_spans", "must be a list of pairs of whole numbers"),
        ("injection", {"rank": 0}, "rank", "must be 1 or more; not 0"),
        ("injection", {"tokens": -1}, "tokens", "must be 0 or more; not -1"),
        ("injection", {"memory_version": 0}, "memory_version", "must be 1 or more; not 0"),
        ("injection", {"session": ""}, "session", "is empty"),
    ],
)
def test_a_broken_rule_is_told_by_field_and_reason(
    record: str, fields: dict[str, Any], field: str, reason: str
) -> None:
    make, base = MAKERS[record]
    with pytest.raises(InvalidField) as caught:
        make({**base, **fields})
    assert caught.value.field == field
    assert caught.value.reason.startswith(reason)


@pytest.mark.parametrize("record", MAKERS)
def test_an_id_that_cannot_be_printed_or_a_field_that_is_unknown_is_refused_everywhere(record: str) -> None:
    make, base = MAKERS[record]
    for identity in ("", "a\x00", "a\u202eb", "\ud800"):
        with pytest.raises(InvalidField, match=r"^id: "):
            make({**base, "id": identity})
    with pytest.raises(InvalidField, match=r"^colour: is not a field that this record has"):
        make({**base, "colour": "red"})


@pytest.mark.parametrize("record", MAKERS)
def test_json_brings_back_the_same_record(record: str) -> None:
    make, base = MAKERS[record]
    made = make(base)
    assert msgspec.json.decode(msgspec.json.encode(made), type=type(made)) == made
    assert make(msgspec.to_builtins(made)) == made


def test_a_skip_that_has_ended_is_taken_only_from_an_import() -> None:
    fields = {**SKIP, "expires_at": NOW - timedelta(seconds=1)}
    with pytest.raises(InvalidField, match="expires_at: is not in the future"):
        make_skip(fields, now=NOW)
    assert make_skip(fields, now=NOW, stored=True).expires_at < NOW


def test_a_file_or_item_may_have_the_name_of_the_memory_that_points_at_it() -> None:
    assert make_relation({**RELATION, "dst": "a", "type": "file"}).dst == "a"


def test_a_new_proposal_to_create_names_no_version() -> None:
    assert make_proposal({"action": "create", "target_id": "a"}).base_version == 0


def test_new_ids_are_short_distinct_and_without_letters_that_look_alike() -> None:
    ids = {new_id() for _ in range(2000)}
    assert len(ids) == 2000
    assert {len(identity) for identity in ids} == {12}
    assert not set("".join(ids)) & set("ilou")


def test_a_foreign_id_is_kept_as_it_is() -> None:
    for identity in ("a b", "notes/Übersicht.md", "é", "日本", "x@y+z"):
        assert check_id(identity) == identity


def test_an_error_is_an_object_with_code_message_and_hint() -> None:
    error = InvalidField("tags", "holds an empty tag", "Leave it out.")
    assert str(error) == "tags: holds an empty tag. Leave it out."
    assert error.as_dict() == {
        "code": "invalid_field",
        "message": "tags: holds an empty tag.",
        "hint": "Leave it out.",
        "field": "tags",
        "reason": "holds an empty tag",
    }
    assert Conflict("Changed.", current={"a": 1}).as_dict()["current"] == {"a": 1}
    many = AmbiguousId("a", [f"a{number}" for number in range(6)])
    assert many.message == "Several ids begin with 'a': a0, a1, a2, a3, a4 and others."
    assert many.as_dict()["candidates"] == [f"a{number}" for number in range(6)]
