"""The section of the skips, as a person uses it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from textual.widgets import Input

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.tui.screens.dialogs import AskLine, Confirm
from memento_tui.tui.screens.form import FormScreen
from memento_tui.tui.screens.write_problems import OutcomesScreen
from memento_tui.tui.sections.skips import SkipsSection
from tests.made import unguarded
from tests.tui.app_driver import Driver, opened


@pytest.fixture
def data(data_dir: Path, workspace: Workspace, agent: Workspace) -> Path:
    agent.skips.add("issue 4711", "waits for upstream", "2d", id="issue")
    agent.skips.add("reading vendor/", "third-party code", "30d", id="vendor")
    workspace.skips.add("deploying on a Friday", "a person said so", "300d", id="friday")
    return data_dir


def section(app: Driver) -> SkipsSection:
    return app.app.query_one(SkipsSection)


def under_cursor(app: Driver) -> str:
    row = section(app).rows.current
    return "" if row is None else row.id


async def read(app: Driver) -> None:
    await app.until(lambda: section(app).rows.current is not None, "the list is read")


async def asked(app: Driver, text: str) -> None:
    await app.until(lambda: isinstance(app.app.screen, AskLine), "the question comes")
    app.app.screen.query_one(Input).value = text
    await app.press("enter")


async def test_the_soonest_to_end_comes_first_with_all_there_is_to_know(data: Path, agent: Workspace) -> None:
    agent.skips.check("may I look at issue 4711?")
    async with opened(data, start="skips") as app:
        await read(app)
        assert under_cursor(app) == "issue"
        side = app.text(".side-text")
        for words in (
            "< ends soon:",
            "hit 1x, last just now",
            "by claude",
            "Why: waits for upstream",
            "Fired\njust now  issue 4711  session s1 (mcp)",
            "v1",
            "(mcp)  added",
        ):
            assert words in side
        await app.press("G")
        await app.until(lambda: "deploying" in app.text(".side-text"), "the last is shown")
        assert "never hit" in app.text(".side-text")


async def test_what_is_typed_takes_the_place_of_a_span_that_was_only_proposed(data: Path) -> None:
    async with opened(data, start="skips") as app:
        await read(app)
        await app.press("plus", *"7d")
        assert app.app.screen.query_one(Input).value == "7d"
        await app.press("escape", "n")
        await app.until(lambda: isinstance(app.app.screen, FormScreen), "the form comes")
        await app.press("tab", "tab", *"90d")
        assert [field.value for field in app.app.screen.query(Input)][2] == "90d"


async def test_a_skip_is_extended_and_a_wrong_end_is_told_in_the_question(data: Path, workspace: Workspace) -> None:
    async with opened(data, start="skips") as app:
        await read(app)
        await app.press("plus")
        await app.until(lambda: isinstance(app.app.screen, AskLine), "the question comes")
        assert app.app.screen.query_one(Input).value == "30d"
        for text, why in (
            ("sometime", "Until must be a date"),
            ("1d", "Until must be later"),
            ("2020-01-01", "must be"),
        ):
            await asked(app, text)
            await app.until(lambda why=why: why in app.text(".dialog-hint"), why)  # type: ignore[misc]
            assert app.app.screen.query_one(Input).value == text
        await asked(app, "60d")
        await app.until(lambda: "It holds until" in app.told, "it is extended")
        await app.until(lambda: "until:" in app.text(".side-text"), "the history tells it")
        assert under_cursor(app) == "issue"
    assert workspace.skips.get("issue").expires_at - clock.now() > timedelta(days=59)


async def test_a_skip_ends_now_and_undo_brings_it_back(data: Path) -> None:
    async with opened(data, start="skips") as app:
        await read(app)
        await app.press("x")
        await app.until(lambda: section(app).rows.total == 2, "it is over")
        assert under_cursor(app) == "vendor"
        await app.press("z")
        await app.until(lambda: section(app).rows.total == 3, "it is back")


async def test_a_skip_becomes_a_standing_decision_and_undo_takes_both_back(data: Path, workspace: Workspace) -> None:
    async with opened(data, start="skips") as app:
        await read(app)
        await app.press("s")
        await app.until(lambda: section(app).rows.total == 2, "it leaves the skips")
        assert "standing decision" in app.told
        assert [item.title for item in workspace.items.list(query="category:standing")] == ["Skip: issue 4711"]
        await app.press("z")
        await app.until(lambda: section(app).rows.total == 3, "it is back")
    assert workspace.items.list() == []


async def test_marked_skips_are_extended_together_and_what_failed_is_told(data: Path, workspace: Workspace) -> None:
    async with opened(data, start="skips") as app:
        await read(app)
        await app.press("space", "G", "space", "plus")
        await asked(app, "soon")
        await app.until(lambda: "Until must be a date" in app.text(".dialog-hint"), "it says why")
        await asked(app, "90d")
        await app.until(lambda: isinstance(app.app.screen, Confirm), "the question comes")
        assert "deploying on a Friday" in app.text(".dialog-text")
        await app.press("y")
        await app.until(lambda: isinstance(app.app.screen, OutcomesScreen), "the outcomes are told")
        assert "1 of 2 done" in app.text(".dialog-title")
        assert "must be later" in app.text("#outcomes")
    assert workspace.skips.get("issue").expires_at - clock.now() > timedelta(days=89)


@pytest.mark.parametrize(("key", "items"), [("x", 0), ("s", 2)])
async def test_marked_skips_are_ended_or_decided_together(
    data: Path, workspace: Workspace, key: str, items: int
) -> None:
    async with opened(data, start="skips") as app:
        await read(app)
        await app.press("space", "space", key)
        await app.until(lambda: isinstance(app.app.screen, Confirm), "the question comes")
        await app.press("enter")
        assert isinstance(app.app.screen, Confirm)
        await app.press("y")
        await app.until(lambda: section(app).rows.total == 1, "both are gone")
    assert len(workspace.items.list()) == items


async def test_a_marked_skip_that_changed_since_is_left_alone(
    data: Path, workspace: Workspace, agent: Workspace
) -> None:
    async with opened(data, start="skips") as app:
        await read(app)
        await app.press("space", "space")
        agent.skips.update("issue", reason="it is mended", base_version=agent.skips.get("issue").version)
        await app.press("x")
        await app.until(lambda: isinstance(app.app.screen, Confirm), "the question comes")
        await app.press("y")
        await app.until(lambda: isinstance(app.app.screen, OutcomesScreen), "the outcomes are told")
        assert "changed meanwhile" in app.text("#outcomes")
    assert [skip.id for skip in workspace.skips.list()] == ["issue", "friday"]


async def test_those_that_are_over_are_shown_on_demand_and_can_be_extended(data: Path, workspace: Workspace) -> None:
    skip = workspace.skips.get("issue")
    with unguarded(workspace._store, workspace.author, "age") as tx:
        fields = {name: getattr(skip, name) for name in skip.__struct_fields__}
        tx.put(type(skip)(**{**fields, "expires_at": clock.now() - timedelta(days=2)}), base=skip.version)
    async with opened(data, start="skips") as app:
        await read(app)
        assert section(app).rows.total == 2
        await app.press("f", "G")
        await app.until(lambda: under_cursor(app) == "issue", "it comes last")
        assert "x over since" in app.text(".side-text")
        await app.press("plus")
        await asked(app, "5d")
        await app.until(lambda: "until" in app.text(".side-text") and section(app).rows.cursor == 0, "it holds again")
        assert under_cursor(app) == "issue"


async def test_a_skip_is_added_and_edited_in_a_form(data: Path, workspace: Workspace) -> None:
    async with opened(data, start="skips") as app:
        await read(app)
        await app.press("n")
        await app.until(lambda: isinstance(app.app.screen, FormScreen), "the form opens")
        app.app.screen.query_one("#field-item", Input).value = "the old build"
        await app.press("ctrl+s")
        await app.until(lambda: "Why is missing" in app.text("#form-problem"), "a reason is asked for")
        app.app.screen.query_one("#field-reason", Input).value = "switched off"
        app.app.screen.query_one("#field-expires_at", Input).value = "1d"
        await app.press("ctrl+s")
        await app.until(lambda: "the old build" in app.text(".side-text"), "it is under the cursor")
        await app.press("e")
        await app.until(lambda: isinstance(app.app.screen, FormScreen), "the form opens")
        app.app.screen.query_one("#field-reason", Input).value = "switched off in May"
        await app.press("ctrl+s")
        await app.until(lambda: "Why: switched off in May" in app.text(".side-text"), "it is changed")
    (made,) = workspace.skips.list(query="build")
    assert (made.reason, made.version) == ("switched off in May", 2)


async def test_the_filter_knows_words_makers_and_spans(data: Path) -> None:
    async with opened(data, start="skips") as app:
        await read(app)
        await app.app.open_section("skips", "expires:<7d")
        await app.until(lambda: section(app).rows.total == 1, "what ends soon")
        for query, found in (("by:claude", 2), ("code vendor", 1), ("zzz", 0)):
            section(app).filter_box.value = query
            await app.until(lambda found=found: section(app).rows.total == found, query)  # type: ignore[misc]
        assert "Nothing found" in app.text("#skips .nothing")
        section(app).filter_box.value = "expires:soon"
        await app.until(lambda: "takes a span" in app.told, "what cannot be read is told")


async def test_what_an_agent_skips_appears_and_the_cursor_stays(data: Path, agent: Workspace) -> None:
    async with opened(data, start="skips") as app:
        await read(app)
        agent.skips.add("sooner", "because", "1h")
        await app.until(lambda: section(app).rows.total == 4, "it appears")
        assert under_cursor(app) == "issue"


async def test_an_empty_list_says_what_to_do_next(data_dir: Path) -> None:
    async with opened(data_dir, size=(80, 24), start="skips") as app:
        assert "memento skip add" in app.text("#skips .nothing")
        assert "Extend" not in app.keys_shown
        assert "n New" in app.keys_shown
        for key in ("plus", "x", "s", "e"):
            await app.press(key)
            await app.until(lambda: "Nothing is selected" in app.told, "the key says why")


async def test_what_another_writer_changed_is_told_as_a_person_says_it(
    data: Path, workspace: Workspace, agent: Workspace
) -> None:
    skip = workspace.skips.list()[0]
    async with opened(data, start="skips") as app:
        await read(app)
        await app.press("e")
        await app.until(lambda: isinstance(app.app.screen, FormScreen), "the form opens")
        agent.skips.update(skip.id, expires_at="2028-05-06T07:08Z", base_version=agent.skips.get(skip.id).version)
        app.app.screen.query_one("#field-reason", Input).value = "another reason"
        await app.press("ctrl+s")
        await app.until(lambda: "meanwhile" in app.text("#form-problem"), "the conflict is told")
        assert 'until is now "2028-05-06 07:08Z"' in app.text("#form-problem")
