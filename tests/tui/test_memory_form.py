"""The form of a memory's fields, and what a new memory takes from the search it is written in."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from textual.widgets import Input, TextArea

import memento_tui
from memento_tui.api import Workspace
from memento_tui.search.query_language import parse
from memento_tui.tui.screens.form import FormScreen
from memento_tui.tui.sections.memory_form import changed_fields, fields_of_search, form_fields
from tests.tui.app_driver import opened


@pytest.fixture
def port(workspace: Workspace) -> str:
    return workspace.remember("The API answers on port 8080.", id="port", tags=["api"]).id


@pytest.mark.usefixtures("port")
async def test_every_field_that_governs_a_memory_is_changed_in_one_form_and_undone_at_once(
    data_dir: Path, workspace: Workspace
) -> None:
    async with opened(data_dir) as app:
        await app.press("c")
        await app.until(lambda: isinstance(app.app.screen, FormScreen), "the form opens")
        for name, value in {
            "kind": "decision",
            "namespace": "projects/site",
            "certainty": "5",
            "validity_context": "on staging",
            "valid_to": "2027-01-31",
            "sensitivity": "confidential",
            "tags": "api, ports",
        }.items():
            app.app.screen.query_one(f"#field-{name}", Input).value = value
        await app.press("ctrl+s")
        await app.until(lambda: not isinstance(app.app.screen, FormScreen), "it is saved")
        memory = workspace.get("port")
        assert (memory.kind, memory.namespace, memory.certainty) == ("decision", "projects/site", 5)
        assert (memory.validity_context, memory.sensitivity) == ("on staging", "confidential")
        assert memory.valid_to == datetime(2027, 1, 31, tzinfo=UTC)
        assert memory.tags == ("api", "ports")
        await app.press("z")
        await app.until(lambda: workspace.get("port").kind == "fact", "one undo takes all of it back")


@pytest.mark.usefixtures("port")
async def test_a_value_that_a_field_cannot_have_is_said_in_the_form_and_nothing_is_lost(data_dir: Path) -> None:
    async with opened(data_dir) as app:
        await app.press("c")
        await app.until(lambda: isinstance(app.app.screen, FormScreen), "the form opens")
        app.app.screen.query_one("#field-certainty", Input).value = "nine"
        app.app.screen.query_one("#field-namespace", Input).value = "projects/site"
        await app.press("ctrl+s")
        await app.until(lambda: "certainty" in app.text("#form-problem"), "it says what is wrong")
        assert app.app.screen.query_one("#field-namespace", Input).value == "projects/site"


async def test_a_memory_that_an_agent_changed_meanwhile_is_not_overwritten_by_the_form(
    port: str, data_dir: Path, workspace: Workspace
) -> None:
    async with opened(data_dir) as app:
        await app.press("c")
        await app.until(lambda: isinstance(app.app.screen, FormScreen), "the form opens")
        with memento_tui.open(data_dir, actor="agent", channel="mcp", agent="claude", session="s1") as agent:
            agent.update(port, base_version=1, tags=["http"])
        app.app.screen.query_one("#field-tags", Input).value = "api, mine"
        await app.press("ctrl+s")
        await app.until(lambda: bool(app.text("#form-problem")), "the conflict is told")
        assert workspace.get(port).tags == ("http",)


@pytest.mark.usefixtures("port")
def test_a_form_that_was_not_touched_changes_nothing(workspace: Workspace) -> None:
    memory = workspace.update("port", valid_from="2026-01-01", expires_at="2027-01-01T10:30:00Z").memory
    values = {field.name: field.value for field in form_fields(memory)}
    assert changed_fields(memory, values) == {}
    assert changed_fields(memory, {**values, "expires_at": "never", "valid_from": ""}) == {
        "expires_at": None,
        "valid_from": None,
    }


async def test_a_new_memory_takes_kind_namespace_and_tags_of_the_search_and_stays_in_sight(
    data_dir: Path, workspace: Workspace
) -> None:
    workspace.remember("Deploy on Tuesdays.", kind="decision", namespace="projects/site", tags=["release"])
    async with opened(data_dir) as app:
        await app.press("slash")
        await app.type("kind:decision ns:projects/site tag:release")
        await app.press("enter")
        await app.until(lambda: app.memories.rows.total == 1, "the list is narrowed")
        await app.press("n")
        await app.until(lambda: bool(app.app.query(TextArea)), "the editor opens")
        app.app.query_one(TextArea).text = "Release notes come from the changelog."
        await app.press("ctrl+s")
        await app.until(lambda: app.memories.rows.total == 2, "it is listed")
        current = app.memories.rows.current
        assert current is not None
        made = workspace.get(current.id)
        assert made.content == "Release notes come from the changelog."
        assert (made.kind, made.namespace, made.tags) == ("decision", "projects/site", ("release",))


@pytest.mark.parametrize(
    ("query", "heading"),
    [
        ("", "A new memory"),
        ("deploy kind:anti_pattern", "A new anti pattern"),
        ("ns:projects/site", "A new memory in projects/site"),
        ("kind:decision,fact -tag:x", "A new memory"),
    ],
)
def test_only_what_all_memories_of_the_search_have_is_taken_over(query: str, heading: str) -> None:
    assert fields_of_search(parse(query).filter).heading == heading
    assert fields_of_search(parse(query).filter).tags == ()


async def test_the_preview_says_where_a_memory_is_from_and_what_it_lives_by(
    data_dir: Path, workspace: Workspace
) -> None:
    workspace.remember(
        "The API answers on port 8080.",
        id="port",
        source_type="external",
        source={"url": "https://docs.example/ports", "session": "s-17"},
        confidence=0.8,
    )
    workspace.review.approve("port")
    async with opened(data_dir) as app:
        await app.press("2")
        facts = app.text("#preview-facts")
        assert "https://docs.example/ports  session s-17" in facts
        assert "port  created " in facts
        assert "confidence 0.80" in facts
