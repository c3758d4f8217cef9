"""The declaration of a memory's fields agrees with the record, and everything that hangs on it follows it."""

from __future__ import annotations

import msgspec
import pytest

from memento_tui.embedding.vector_index import indexed_facts
from memento_tui.model import Memory, make_memory
from memento_tui.model.memory_fields import (
    FIELDS,
    FIELDS_BY_NAME,
    INDEXED_KINDS,
    MemoryField,
    declaration_digest,
    filter_fields,
)
from memento_tui.search.keyword_query import SCHEMA_VERSION
from memento_tui.storage.hook_store import MemoryRow
from memento_tui.storage.statistics import FACETS


def test_every_field_of_the_record_is_declared_once() -> None:
    own = [field.name for field in FIELDS if not field.path]
    assert sorted(own) == sorted(Memory.__struct_fields__)
    assert len(FIELDS_BY_NAME) == len(FIELDS)


def test_a_path_leads_to_a_value_of_the_record() -> None:
    memory = make_memory({"content": "x", "source": {"agent": "claude"}})
    for field in FIELDS:
        if field.path.startswith("source."):
            part = field.path.removeprefix("source.")
            assert getattr(memory.source, part) == ("claude" if part == "agent" else "")
        elif field.path:
            assert field.path in Memory.__struct_fields__


def test_a_declared_choice_is_what_the_record_takes() -> None:
    for field in FIELDS:
        for choice in field.choices:
            fields = {
                "content": "x",
                field.name: choice,
                **({"stability": "verified"} if field.name != "stability" else {}),
            }
            assert getattr(make_memory(fields), field.name) == choice


def test_a_moment_is_declared_as_one() -> None:
    for field in msgspec.structs.fields(Memory):
        declared = FIELDS_BY_NAME[field.name]
        assert ("datetime" in str(field.type)) == (declared.expects == "a moment")
        assert (declared.filter == "moment") <= (declared.expects == "a moment")


def test_the_vector_index_has_a_column_for_every_filter() -> None:
    columns = indexed_facts(make_memory({"content": "x"}))
    assert set(filter_fields(*INDEXED_KINDS, indexed=True)) - {"tagged"} <= set(columns)


def test_the_version_of_the_keyword_index_changes_with_the_declaration() -> None:
    fields = list(filter_fields(*INDEXED_KINDS, indexed=True).values())
    assert SCHEMA_VERSION.endswith(declaration_digest(fields))
    for other in (fields[1:], [*fields, MemoryField(name="mood", filter="word")]):
        assert declaration_digest(other) != declaration_digest(fields)


@pytest.mark.parametrize("facet", [name for name in FACETS if name != "tag"])
def test_a_facet_is_a_declared_field(facet: str) -> None:
    assert facet in FIELDS_BY_NAME


def test_what_a_hook_reads_of_a_memory_is_declared() -> None:
    assert set(MemoryRow._fields) <= set(FIELDS_BY_NAME)
