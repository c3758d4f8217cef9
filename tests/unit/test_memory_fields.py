"""The declaration of a memory's fields agrees with the record, and everything that hangs on it follows it."""

from __future__ import annotations

from inspect import signature

import msgspec
import pytest

from memento_tui.embedding.vector_index import indexed_facts
from memento_tui.mcp.memory_arguments import _ARGUMENTS, further_fields
from memento_tui.mcp.schemas import WholeMemory
from memento_tui.mcp.tools.memories import MemoryTools
from memento_tui.model import Memory, make_memory
from memento_tui.model.memory_fields import (
    FIELDS,
    FIELDS_BY_NAME,
    INDEXED_KINDS,
    MemoryField,
    ToolArgument,
    declaration_digest,
    filter_fields,
)
from memento_tui.operations.memories import format_time
from memento_tui.search.keyword_query import SCHEMA_VERSION
from memento_tui.search.query_language import FIELDS as QUERY_FIELDS
from memento_tui.search.query_language import parse
from memento_tui.storage.hook_store import MemoryRow
from memento_tui.storage.statistics import FACETS
from memento_tui.tui.memory_text import FACT_NAMES, memory_facts
from memento_tui.tui.sections.memory_commands import CHANGES
from memento_tui.tui.sections.memory_form import form_fields
from tests.made import NOW


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


ASKED_OTHERWISE = {
    "agent": "by:",
    "created_at": "before: and after:",
    "source_type": "by: and is:",
    "stability": "is:",
    "sensitivity": "is:",
    "pinned": "is:",
    "tagged": "is:",
    "valid_from": "valid: and at:",
    "valid_to": "valid: and at:",
}
"""The fields that a query asks for by a name of its own."""

FOR_PROGRAMS = {"kind_raw", "updated_at", "note_path", "foreign_id"}
"""The fields that only memento itself filters by."""


def test_a_query_can_ask_for_every_field_that_memories_are_filtered_by() -> None:
    filtered = {field.name for field in FIELDS if field.filter}
    named = {field.name for field in FIELDS if field.query}
    assert filtered == named | set(ASKED_OTHERWISE) | FOR_PROGRAMS
    assert not named & (set(ASKED_OTHERWISE) | FOR_PROGRAMS)


@pytest.mark.parametrize("field", [field for field in FIELDS if field.query], ids=lambda field: field.name)
def test_the_example_of_a_field_is_a_query_that_asks_for_it(field: MemoryField) -> None:
    assert field.query is not None
    example = field.query.example.split(", ")[0]
    found = parse(example, now=NOW)
    assert (found.words, found.problems) == ((), ())
    assert f"'{field.name}'" in repr(found.filter)
    assert QUERY_FIELDS[field.query.name] == field.query.example


def test_a_person_changes_in_the_form_every_field_that_has_a_place_there() -> None:
    memory = make_memory({"content": "x"})
    labelled = {field.name: field.form.label for field in FIELDS if field.form}
    assert {field.name: field.label.partition(": ")[0] for field in form_fields(memory)} == labelled


def test_a_command_sets_every_field_with_an_option_that_a_person_changes_in_the_form() -> None:
    by_form = [field.option.name.removeprefix("--") for field in FIELDS if field.form and field.option]
    assert set(by_form) <= set(CHANGES)


@pytest.mark.parametrize("field", [field for field in FIELDS if field.argument], ids=lambda field: field.name)
def test_an_agent_that_gives_a_field_a_value_may_do_so_and_reads_it_again(field: MemoryField) -> None:
    assert field.argument is not None
    name = field.argument.name or field.name
    assert field.agent_may_set or field.path.startswith("source.")
    assert (name in signature(MemoryTools.remember).parameters) == (field.argument.remember is not None)
    assert (name in signature(MemoryTools.update).parameters) == (field.argument.update is not None)
    assert not field.path or name in WholeMemory.model_fields


def test_an_agent_reads_a_field_that_the_result_does_not_name(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = make_memory({"content": "x", "surprise": 0.25})
    assert further_fields(memory) == {}
    monkeypatch.setitem(_ARGUMENTS, "verified_by", (FIELDS_BY_NAME["verified_by"], ToolArgument()))
    monkeypatch.setitem(_ARGUMENTS, "last_used_at", (FIELDS_BY_NAME["last_used_at"], ToolArgument()))
    assert further_fields(msgspec.structs.replace(memory, verified_by="ann")) == {"verified_by": "ann"}
    used = msgspec.structs.replace(memory, last_used_at=NOW)
    assert further_fields(used) == {"last_used_at": format_time(NOW)}


def test_the_preview_says_the_fields_that_have_a_line_of_their_own() -> None:
    for field in FIELDS:
        if field.preview:
            memory = make_memory({"content": "x", field.name: "on staging"})
            assert f"{field.preview}: on staging" in memory_facts(memory).plain
            assert field.name.replace("_", " ") in FACT_NAMES
