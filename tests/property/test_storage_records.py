from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memento_tui.errors import InvalidField
from memento_tui.model import (
    make_contradiction,
    make_crystal,
    make_item,
    make_memory,
    make_proposal,
    make_relation,
    make_skip,
)
from memento_tui.model.memory import KINDS, SOURCE_TYPES, STATUSES, TIERS
from memento_tui.model.validation import new_id
from memento_tui.storage.store import Store
from memento_tui.storage.tables import TABLES
from tests.depth import examples
from tests.made import PERSON, note, unguarded
from tests.property.store_state import check_store

TEXT = st.text(st.characters(exclude_categories=[]), max_size=30)
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | TEXT
    | st.binary(max_size=5)
    | st.datetimes()
    | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
LIKELY = st.sampled_from(
    [*KINDS, *STATUSES, *TIERS, *SOURCE_TYPES, "verified", "1", "5", "0.5", "2026-01-01", "7d", "true", "a/b", "a,b"]
)

MAKERS: dict[str, tuple[Callable[[Mapping[str, Any]], msgspec.Struct], Mapping[str, Any]]] = {
    "memory": (make_memory, {"content": "text"}),
    "skip": (make_skip, {"item": "a", "reason": "b", "expires_at": "7d"}),
    "item": (make_item, {"title": "a"}),
    "crystal": (make_crystal, {"content": "a"}),
    "relation": (make_relation, {"src": "a", "dst": "b"}),
    "proposal": (make_proposal, {"action": "create", "target_id": "a"}),
    "contradiction": (make_contradiction, {"older": "a", "newer": "b"}),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    opened = Store(tmp_path_factory.mktemp("records") / "memento.db")
    yield opened
    check_store(opened)
    opened.close()


@st.composite
def given_fields(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """Return a kind of record with any values at all in some of its fields."""
    name = draw(st.sampled_from(sorted(MAKERS)))
    fields = [field for field in TABLES[name].record.__struct_fields__ if field != "id"]
    chosen = draw(st.lists(st.sampled_from(fields), max_size=4, unique=True))
    return name, {field: draw(LIKELY | ANYTHING) for field in chosen}


@given(given_fields())
@example(("memory", {"extra": {"a": "\ud800"}}))
@example(("proposal", {"payload": {"\ud800": None}}))
@example(("memory", {"expires_at": "9000y"}))
@example(("item", {"priority": 10**30}))
@settings(max_examples=examples(300))
def test_whatever_is_given_is_refused_by_field_or_stored_and_read_back(
    store: Store, asked: tuple[str, dict[str, Any]]
) -> None:
    name, fields = asked
    make, base = MAKERS[name]
    made, refused = _make(make, {**base, **fields, "id": new_id()})
    if made is None:
        assert refused in {*fields, "resolution", "payload", "base_version", "updated_at", "tier", "newer"}
        return
    with unguarded(store, PERSON, "test") as tx:
        written = tx.put(made, base=0)
    found = store.get_named(name, written.id)
    assert found == _as_json_has_it(written)
    assert store.journal.image_named(name, written.id, 1) == found
    assert make(msgspec.to_builtins(found)) == found


def _make(make: Callable[[Mapping[str, Any]], Any], fields: Mapping[str, Any]) -> tuple[Any, str]:
    """Return the record, or ``None`` and the field that was refused."""
    try:
        return make(fields), ""
    except InvalidField as error:
        return None, error.field.split(".")[0]


def _as_json_has_it(record: msgspec.Struct) -> msgspec.Struct:
    """Return the record with what JSON knows no type for as JSON writes it, and without counters, which are not put."""
    plain = msgspec.json.decode(msgspec.json.encode(record), type=type(record))
    counters = {"shown_count": 0, "used_count": 0, "last_used_at": None, "hits": 0, "last_hit_at": None}
    return msgspec.structs.replace(plain, **{n: v for n, v in counters.items() if n in record.__struct_fields__})


@given(TEXT, TEXT)
@settings(max_examples=examples(200))
def test_a_prefix_finds_the_one_id_that_begins_with_it(store: Store, identity: str, rest: str) -> None:
    with contextlib.suppress(InvalidField):
        made = note(id=f"{identity}{rest}{new_id()}")
        with unguarded(store, PERSON, "test") as tx:
            tx.put(made, base=0)
        assert store.resolve("memory", made.id) == made.id
        assert store.resolve("memory", made.id[:-2]) == made.id
