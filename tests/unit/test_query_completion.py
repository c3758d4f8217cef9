"""Queries are completed from what the memories have, and a typing error in one is forgiven with a sentence."""

from __future__ import annotations

import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.api.line_history import LineHistory
from memento_tui.api.query_completion import MAX_SUGGESTIONS, QueryHelper


@pytest.fixture
def helper(workspace: Workspace) -> QueryHelper:
    workspace.remember("One.", tags=["database", "data model"], namespace="projects/site/web", kind="decision")
    workspace.remember("Two.", tags=["database"], namespace="projects/api", source={"agent": "claude"})
    workspace.remember("Three.", tags=["api"], namespace="global")
    return QueryHelper(workspace)


def offered(helper: QueryHelper, line: str) -> list[str]:
    return [option.text for option in helper.complete(line, len(line)).options]


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("kin", "kind:"),
        ("word sta", "status:"),
        ("tag:dat", "database"),
        ("-tag:dat", "database"),
        ("tag:api,dat", "database"),
        ("tag:base", "database"),
        ("ns:", "projects"),
        ("ns:projects/s", "projects/site"),
        ("kind:dec", "decision"),
        ("is:pin", "pinned"),
        ("by:cl", "claude"),
        ("by:u", "user"),
        ("expires:n", "never"),
        ("TAG:A", "api"),
    ],
)
def test_the_part_at_the_cursor_is_completed_from_the_fields_and_the_memories(
    helper: QueryHelper, line: str, first: str
) -> None:
    assert offered(helper, line)[0] == first


@pytest.mark.parametrize("line", ["", "k", "word ", "zz", "tag:api", 'tag:"dat', "http://x", "nothing:x"])
def test_nothing_is_offered_where_nothing_fits_or_all_is_typed(helper: QueryHelper, line: str) -> None:
    assert offered(helper, line) == []


def test_a_value_with_a_space_is_put_in_quotation_marks(helper: QueryHelper) -> None:
    found = helper.complete("tag:data", 8)
    spaced = next(option for option in found.options if " " in option.text)
    assert found.applied_to("tag:data", spaced) == ('tag:"data model" ', 17)


def test_a_suggestion_takes_the_place_of_its_part_alone(helper: QueryHelper) -> None:
    found = helper.complete("kin one", 3)
    assert found.applied_to("kin one", found.options[0]) == ("kind: one", 5)
    found = helper.complete("tag:dat one", 7)
    assert found.applied_to("tag:dat one", found.options[0])[0] == "tag:database one"


def test_a_value_with_a_comma_is_offered_and_forgiven_in_quotation_marks(workspace: Workspace) -> None:
    workspace.remember("One.", tags=["Paris, France", "london"])
    helper = QueryHelper(workspace)
    for line in ("tag:pari", "tag:london,pari"):
        found = helper.complete(line, len(line))
        written = found.applied_to(line, found.options[0])[0]
        assert written == line.removesuffix("pari") + '"Paris, France" '
        assert helper.forgive(written) == (written, ())
    assert helper.forgive('tag:"Paris, Frence",londn').source == 'tag:"Paris, France",london'


def test_few_values_are_offered_with_how_many_memories_have_each(workspace: Workspace) -> None:
    for number in range(12):
        workspace.remember(f"Text {number}.", tags=["often", f"tag{number}"])
    found = QueryHelper(workspace).complete("tag:", 4)
    assert len(found.options) == MAX_SUGGESTIONS
    assert found.options[0] == ("often", "12")


@pytest.mark.parametrize(
    ("source", "meant", "note"),
    [
        ("tag:databse one", "tag:database one", "There is no tag:databse; showing tag:database."),
        ("-tag:databse one", "-tag:database one", "There is no tag:databse; showing tag:database."),
        ("kidn:decision", "kind:decision", "There is no field kidn:; showing kind:."),
        ("tga:database", "tag:database", "There is no field tga:; showing tag:."),
        ("tg:database", "tag:database", "There is no field tg:; showing tag:."),
        ("kindd:decision", "kind:decision", "There is no field kindd:; showing kind:."),
        ("kind:decison", "kind:decision", "There is no kind:decison; showing kind:decision."),
        ("ns:project/api", "ns:projects/api", "There is no ns:project/api; showing ns:projects/api."),
        ("by:cluade", "by:claude", "There is no by:cluade; showing by:claude."),
        ("is:pined", "is:pinned", "There is no is:pined; showing is:pinned."),
        ("tag:zzz", "tag:zzz", "No memory has tag:zzz."),
        ('tag:"data modle"', 'tag:"data model"', "There is no tag:data modle; showing tag:data model."),
    ],
)
def test_a_typing_error_is_forgiven_with_a_sentence(helper: QueryHelper, source: str, meant: str, note: str) -> None:
    assert helper.forgive(source) == (meant, (note,))


@pytest.mark.parametrize(
    "source",
    [
        "words alone",
        "tag:database",
        "ns:projects",
        "kind:zzzz",
        'tag:"not closed',
        "after:2026-01-01",
        "http://a.b",
        "ag:47",
        "tab:4",
        "",
    ],
)
def test_what_is_right_or_no_field_or_like_nothing_stays_as_it_was_typed(helper: QueryHelper, source: str) -> None:
    assert helper.forgive(source) == (source, ())


def test_what_is_still_being_typed_is_no_error_yet(helper: QueryHelper) -> None:
    assert helper.forgive("one tag:", typing=True) == ("one ", ())
    assert helper.forgive("one tag:dat", typing=True) == ("one ", ())
    assert helper.forgive("one tag:database", typing=True) == ("one tag:database", ())
    assert helper.forgive("tag:databse one", typing=True).source == "tag:database one"


def test_a_field_that_is_misspelled_is_said_and_put_right_while_it_is_typed(helper: QueryHelper) -> None:
    said = ("There is no field knd:; showing kind:.",)
    assert helper.forgive("one knd:decision", typing=True) == ("one kind:decision", said)
    waits = "There is no field {}:; {}: is meant, and left out until its value is whole."
    assert helper.forgive("one tga:dat", typing=True) == ("one ", (waits.format("tga", "tag"),))
    assert helper.forgive("one knd:dec", typing=True).notes == (waits.format("knd", "kind"),)
    assert helper.forgive("one htp:x", typing=True) == ("one htp:x", ())


def test_a_tag_that_only_a_deleted_memory_has_is_no_error(helper: QueryHelper, workspace: Workspace) -> None:
    workspace.forget(workspace.remember("Four.", tags=["databases"]).id)
    assert helper.forgive("is:deleted tag:databases").notes == ()


def test_the_lines_typed_before_come_back_the_latest_first_and_are_no_journal_entries(workspace: Workspace) -> None:
    head = workspace.activity.position()
    history = LineHistory(workspace.settings, "memories")
    for line in ("one", "two", "one", "  "):
        history.keep(line)
    history.begin()
    assert [history.step(-1), history.step(-1), history.step(-1)] == ["one", "two", None]
    assert [history.step(1), history.step(1), history.step(1)] == ["one", "", None]
    assert workspace.activity.position()[0] == head[0]


def test_a_purge_removes_the_lines_that_may_hold_what_it_removes(workspace: Workspace) -> None:
    LineHistory(workspace.settings, "memories").keep("the password hunter2")
    made = workspace.remember("The password is hunter2-swordfish.")
    workspace.purge(made.id, "it held a password")
    with memento_tui.open(workspace.paths.root) as again:
        history = LineHistory(again.settings, "memories")
        history.begin()
        assert history.step(-1) is None
