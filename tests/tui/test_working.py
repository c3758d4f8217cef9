"""The section of the work, as a person uses it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

import pytest
from textual.widgets import Input

from memento_tui.api import Workspace
from memento_tui.model import WorkingItem
from memento_tui.tui import input_order, selection
from memento_tui.tui.screens.dialogs import AskLine, ChoiceScreen, Confirm
from memento_tui.tui.screens.form import FormScreen
from memento_tui.tui.screens.write_problems import OutcomesScreen
from memento_tui.tui.sections.working import WorkingSection
from memento_tui.tui.widgets import paged_rows
from memento_tui.tui.widgets.paged_rows import Row, read_rows_at_position
from tests.tui.app_driver import Driver, opened
from tests.tui.made_lists import put_items


@pytest.fixture
def data(data_dir: Path) -> Path:
    return put_items(data_dir)


def section(app: Driver) -> WorkingSection:
    return app.app.query_one(WorkingSection)


def under_cursor(app: Driver) -> str:
    row = section(app).rows.current
    return "" if row is None else row.id


async def opened_on(app: Driver, item_id: str) -> None:
    await app.until(lambda: section(app).rows.total > 0, "the list is read")
    while under_cursor(app) != item_id:
        before = under_cursor(app)
        await app.press("j")
        assert under_cursor(app) != before, f"{item_id} is not listed"


def title(app: Driver) -> str:
    return app.text(".side-text").split("\n", 1)[0]


async def test_open_items_are_listed_by_priority_and_done_ones_on_demand(data: Path) -> None:
    async with opened(data, start="working") as app:
        await opened_on(app, "migrate")
        assert section(app).rows.total == 8
        assert "Next: write the migration" in app.text(".side-text")
        await app.press("f", "G")
        await app.until(lambda: under_cursor(app) == "parser", "what is done comes last")
        await app.press("f")
        await app.until(lambda: section(app).rows.total == 8, "it is left out again")


async def test_the_priority_changes_in_place_and_the_cursor_stays_with_the_item(
    data: Path, workspace: Workspace
) -> None:
    async with opened(data, start="working") as app:
        await opened_on(app, "flaky")
        await app.press("plus", "plus", "plus")
        await app.until(lambda: section(app).rows.cursor == 0, "it comes first")
        assert under_cursor(app) == "flaky"
        assert "Priority 6. z undoes." in app.told
        await app.press("minus")
        await app.until(lambda: workspace.items.get("flaky").priority == 5, "it is lowered")
        await app.press("z")
        await app.until(lambda: workspace.items.get("flaky").priority == 6, "undo raises it again")


async def test_a_key_that_is_pressed_again_acts_again_however_long_its_first_write_took(
    data: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing = 0.0
    monkeypatch.setattr(input_order, "monotonic", lambda: monotonic() + writing)
    update = WorkingSection.update

    def take_long(
        self: WorkingSection, row_id: str, base_version: int | None, changes: Mapping[str, Any]
    ) -> WorkingItem | None:
        nonlocal writing
        writing += 10.0
        return update(self, row_id, base_version, changes)

    monkeypatch.setattr(WorkingSection, "update", take_long)
    async with opened(data, start="working") as app:
        await opened_on(app, "flaky")
        await app.press("plus", "plus", "plus")
        await app.until(lambda: workspace.items.get("flaky").priority == 6, "each press counts")


async def test_the_next_action_is_changed_without_a_form(data: Path, workspace: Workspace) -> None:
    async with opened(data, start="working") as app:
        await opened_on(app, "legal")
        await app.press("w")
        await app.until(lambda: isinstance(app.app.screen, AskLine), "the question comes")
        assert app.app.screen.query_one(Input).value == "ask Ana on Monday"
        app.app.screen.query_one(Input).value = "call Ana"
        await app.press("enter")
        await app.until(lambda: workspace.items.get("legal").next_action == "call Ana", "it is stored")
        await app.until(lambda: "Next: call Ana" in app.text(".side-text"), "it is shown")
        assert under_cursor(app) == "legal"


async def test_a_next_action_that_another_writer_changed_meanwhile_is_told_and_not_overwritten(
    data: Path, workspace: Workspace, agent: Workspace
) -> None:
    async with opened(data, start="working") as app:
        await opened_on(app, "legal")
        await app.press("w")
        await app.until(lambda: isinstance(app.app.screen, AskLine), "the question comes")
        agent.items.update("legal", next_action="wait for Bob", base_version=agent.items.get("legal").version)
        app.app.screen.query_one(Input).value = "call Ana"
        await app.press("enter")
        await app.until(lambda: "claude changed it meanwhile" in app.text(".dialog-hint"), "the conflict is told")
        assert 'next action is now "wait for Bob"' in app.text(".dialog-hint")
        assert app.app.screen.query_one(Input).value == "call Ana"
        assert workspace.items.get("legal").next_action == "wait for Bob"
        await app.press("enter")
        await app.until(lambda: workspace.items.get("legal").next_action == "call Ana", "a second Enter insists")


async def test_a_next_action_that_breaks_a_rule_is_told_and_the_question_stays(data: Path) -> None:
    async with opened(data, start="working") as app:
        await opened_on(app, "legal")
        await app.press("w")
        await app.until(lambda: isinstance(app.app.screen, AskLine), "the question comes")
        app.app.screen.query_one(Input).value = "x" * 1001
        await app.press("enter")
        await app.until(lambda: "Next action has 1,001 characters" in app.text(".dialog-hint"), "it says why")
        await app.press("escape")
        await app.until(lambda: not isinstance(app.app.screen, AskLine), "it closes")


async def test_an_item_that_changed_under_the_cursor_is_not_changed_from_what_was_shown(
    data: Path, workspace: Workspace, agent: Workspace
) -> None:
    async with opened(data, start="working") as app:
        await opened_on(app, "migrate")
        await app.press("p")
        agent.items.update("migrate", priority=1, base_version=agent.items.get("migrate").version)
        await app.press("plus")
        await app.until(lambda: "changed meanwhile" in app.told, "the conflict is told")
    assert workspace.items.get("migrate").priority == 1


async def test_done_takes_an_item_off_the_list_and_the_next_comes_up(data: Path, workspace: Workspace) -> None:
    async with opened(data, start="working") as app:
        await opened_on(app, "flaky")
        await app.press("x")
        await app.until(lambda: section(app).rows.total == 7, "it leaves")
        assert workspace.items.get("flaky").status == "completed"
        assert under_cursor(app) == "legal"
        await app.press("f", "G")
        await app.until(lambda: under_cursor(app) in ("flaky", "parser"), "what is done comes last")
        done = under_cursor(app)
        await app.press("x")
        await app.until(lambda: workspace.items.get(done).status == "active", "it is open again")


async def test_a_letter_moves_an_item_to_another_category(data: Path, workspace: Workspace) -> None:
    async with opened(data, start="working") as app:
        await opened_on(app, "flaky")
        await app.press("c")
        await app.until(lambda: isinstance(app.app.screen, ChoiceScreen), "the choice comes")
        await app.press("enter")
        assert isinstance(app.app.screen, ChoiceScreen)
        await app.press("w")
        await app.until(lambda: workspace.items.get("flaky").category == "waiting_for", "it is moved")
        await app.press("c", "2")
        await app.until(lambda: workspace.items.get("flaky").category == "standing_decision", "a number moves it too")
        assert under_cursor(app) == "flaky"
        await app.press("c", "s")
        await app.until(lambda: "already" in app.told, "it says that it is there")


async def test_an_answer_is_for_the_item_that_was_asked_about_and_not_for_the_one_that_took_its_place(
    data: Path, workspace: Workspace
) -> None:
    async with opened(data, start="working") as app:
        work = section(app)
        await app.until(lambda: work.rows.current is not None, "the items are read")
        asked, total = work.rows.current, work.rows.total
        assert asked is not None
        await app.press("c")
        workspace.items.update(asked.id, base_version=asked.version, status="completed")
        await app.until(lambda: work.rows.total == total - 1, "it is gone from the list")
        other = work.rows.current
        assert other is not None
        await app.press("s")
        await app.until(lambda: "changed meanwhile" in app.told, "why nothing was done is said")
        assert workspace.items.get(other.id).category == other.category
        assert workspace.items.get(asked.id).category == asked.category


async def test_marked_items_are_deleted_after_a_question_and_each_failure_is_told(
    data: Path, workspace: Workspace, agent: Workspace
) -> None:
    async with opened(data, start="working") as app:
        await opened_on(app, "migrate")
        await app.press("space", "space", "space")
        agent.items.update(
            "flaky", title="Find out why the upload is flaky", base_version=agent.items.get("flaky").version
        )
        await app.press("d")
        await app.until(lambda: isinstance(app.app.screen, Confirm), "the question comes")
        assert "Delete 3 marked?" in app.text(".dialog-title")
        await app.press("y")
        await app.until(lambda: isinstance(app.app.screen, OutcomesScreen), "the outcomes are told")
        assert "2 of 3 done" in app.text(".dialog-title")
        assert "Find out why" in app.text("#outcomes")
        await app.press("escape")
        await app.until(lambda: section(app).rows.total == 6, "two are gone")
    assert workspace.items.get("flaky").title == "Find out why the upload is flaky"


async def test_one_item_is_deleted_without_a_question_and_undo_brings_it_back(data: Path) -> None:
    async with opened(data, start="working") as app:
        await opened_on(app, "migrate")
        await app.press("d")
        await app.until(lambda: section(app).rows.total == 7, "it is gone")
        await app.press("z")
        await app.until(lambda: section(app).rows.total == 8, "it is back")


async def test_a_new_item_is_written_in_a_form_and_comes_under_the_cursor(data: Path, workspace: Workspace) -> None:
    async with opened(data, start="working") as app:
        await opened_on(app, "migrate")
        await app.press("n")
        await app.until(lambda: isinstance(app.app.screen, FormScreen), "the form opens")
        await app.press("ctrl+s")
        await app.until(lambda: "Title is empty" in app.text("#form-problem"), "a title is asked for")
        app.app.screen.query_one("#field-title", Input).value = "Answer the auditors"
        app.app.screen.query_one("#field-category", Input).value = "wait"
        app.app.screen.query_one("#field-priority", Input).value = "high"
        await app.press("ctrl+s")
        await app.until(lambda: "Priority must be a whole number" in app.text("#form-problem"), "a number is asked for")
        app.app.screen.query_one("#field-priority", Input).value = "4"
        await app.press("ctrl+s")
        await app.until(lambda: title(app) == "Answer the auditors", "it is under the cursor")
    (made,) = workspace.items.list(query="auditors")
    assert (made.category, made.priority, made.namespace) == ("waiting_for", 4, "global")


async def test_a_form_saves_only_what_was_changed_in_it_and_tells_of_another_writer(
    data: Path, workspace: Workspace, agent: Workspace
) -> None:
    async with opened(data, start="working") as app:
        await opened_on(app, "migrate")
        await app.press("e")
        await app.until(lambda: isinstance(app.app.screen, FormScreen), "the form opens")
        agent.items.update(
            "migrate", title="Move everything", priority=8, base_version=agent.items.get("migrate").version
        )
        app.app.screen.query_one("#field-title", Input).value = "Move the users"
        await app.press("ctrl+s")
        await app.until(lambda: "claude changed it meanwhile" in app.text("#form-problem"), "the conflict is told")
        assert workspace.items.get("migrate").title == "Move everything"
        await app.press("ctrl+s")
        await app.until(lambda: not isinstance(app.app.screen, FormScreen), "a second time insists")
    saved = workspace.items.get("migrate")
    assert (saved.title, saved.priority) == ("Move the users", 8)


async def test_the_filter_knows_words_and_fields(data: Path) -> None:
    async with opened(data, start="working") as app:
        await opened_on(app, "migrate")
        await app.press("slash")
        for query, found in (("category:waiting", 1), ("tag:db", 1), ("status:done", 1), ("ana", 1), ("zzz", 0)):
            section(app).filter_box.value = query
            await app.until(lambda found=found: section(app).rows.total == found, query)  # type: ignore[misc]
        assert "Nothing found" in app.text("#working .nothing")
        section(app).filter_box.value = "category:hobby"
        await app.until(lambda: "There is no category" in app.told, "a field without such a value is told")


async def test_who_is_sent_here_finds_what_is_done_too(data: Path) -> None:
    async with opened(data, start="working") as app:
        await opened_on(app, "migrate")
        await app.app.open_section("working", '"write the parser"')
        await app.until(lambda: under_cursor(app) == "parser", "what is done is found")
        assert section(app).rows.total == 1
        assert "done ones too" in app.text("#working-head")


async def test_the_board_shows_each_category_and_keys_move_between_columns(data: Path) -> None:
    async with opened(data, start="working") as app:
        await opened_on(app, "legal")
        await app.press("b")
        await app.until(
            lambda: section(app).on_board and under_cursor(app) == "legal", "the cursor stays with its item"
        )
        board = section(app).board
        assert {name: column.total for name, column in board.columns.items()} == {
            "active_work": 4,
            "standing_decision": 2,
            "waiting_for": 1,
            "session_note": 1,
        }
        await app.press("h")
        await app.until(lambda: under_cursor(app) == "llm", "the column at the left")
        await app.until(lambda: title(app).startswith("No language model"), "the side shows its item")
        await app.press("left", "h", "j")
        await app.until(lambda: under_cursor(app) == "flaky", "the first column, its second item")
        await app.press("l", "l", "l", "l")
        await app.until(lambda: under_cursor(app) == "note", "the last column")
        await app.press("b")
        await app.until(lambda: not section(app).on_board and under_cursor(app) == "note", "back in the list")


async def test_the_list_shows_its_item_after_an_empty_column_of_the_board(data: Path, workspace: Workspace) -> None:
    for note in workspace.items.list(category="session_note"):
        workspace.items.remove(note.id, base_version=note.version)
    async with opened(data, start="working") as app:
        await opened_on(app, "legal")
        await app.press("b")
        await app.until(lambda: section(app).on_board and under_cursor(app) == "legal", "the board is there")
        await app.press("l", "l", "l", "l")
        await app.until(lambda: section(app).rows.current is None, "the empty column")
        await app.press("b")
        await app.until(lambda: not section(app).on_board and section(app).rows.current is not None, "in the list")
        current = section(app).rows.current
        assert current is not None
        await app.until(lambda: title(app).startswith(current.title[:20]), "its item beside it")


async def test_on_the_board_an_item_is_moved_and_the_cursor_goes_with_it(data: Path, workspace: Workspace) -> None:
    async with opened(data, start="working") as app:
        await opened_on(app, "flaky")
        await app.press("b")
        await app.until(lambda: section(app).on_board and under_cursor(app) == "flaky", "the board is there")
        await app.press("c", "n")
        await app.until(lambda: workspace.items.get("flaky").category == "session_note", "it is moved")
        await app.until(lambda: under_cursor(app) == "flaky", "the cursor is on it")
        assert section(app).board.active == "session_note"
        await app.press("plus")
        await app.until(lambda: workspace.items.get("flaky").priority == 4, "keys still act on it")
        await app.press("x")
        await app.until(lambda: section(app).board.column.total == 1, "it leaves the column")


async def test_keys_act_on_an_item_that_was_moved_however_late_its_new_column_is_read(
    data: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_column_active = Event()

    def read_late(*arguments: Any) -> Any:  # noqa: ANN401 - as what it calls
        assert is_column_active.wait(60)
        return read_rows_at_position(*arguments)

    async with opened(data, start="working") as app:
        await opened_on(app, "flaky")
        await app.press("b")
        await app.until(lambda: section(app).on_board and under_cursor(app) == "flaky", "the board is there")
        board, guard = section(app).board, section(app).guard
        really = guard.row_reached

        def reached(row: Row | None) -> None:
            really(row)
            if board.active == "session_note":
                is_column_active.set()

        # As on a machine on which the key lies back by the time that the column is read.
        monkeypatch.setattr(input_order, "_JUST_NOW_SECONDS", 0.0)
        monkeypatch.setattr(selection, "_IGNORE_KEYS_SECONDS", 60.0)
        monkeypatch.setattr(guard, "row_reached", reached)
        monkeypatch.setattr(paged_rows, "read_rows_at_position", read_late)
        await app.press("c", "n")
        await app.until(lambda: under_cursor(app) == "flaky" and board.active == "session_note", "it is there")
        await app.press("plus")
        assert workspace.items.get("flaky").priority == 4, app.told


@pytest.mark.parametrize("size", [(140, 30), (80, 24)])
async def test_on_the_board_a_card_is_dragged_to_another_column_and_undone(
    data: Path, workspace: Workspace, size: tuple[int, int]
) -> None:
    async with opened(data, size, start="working") as app:
        await opened_on(app, "flaky")
        await app.press("b")
        await app.until(lambda: section(app).on_board and under_cursor(app) == "flaky", "the board is there")
        columns = section(app).board.columns
        here, there = columns["active_work"], columns["session_note"]
        place = (6, here.cursor * here.row_height - here.scroll_offset.y)
        await app.pilot.mouse_down(here, offset=place)
        await app.pilot.mouse_up(there, offset=(6, 0))
        await app.until(lambda: workspace.items.get("flaky").category == "session_note", "it is moved")
        await app.until(lambda: under_cursor(app) == "flaky", "the cursor goes with it")
        assert "Moved to session note" in app.told
        await app.press("z")
        await app.until(lambda: workspace.items.get("flaky").category == "active_work", "it is back")
        before = workspace.activity.head()
        await app.pilot.mouse_down(there, offset=(6, 0))
        await app.pilot.mouse_up(there, offset=(12, 0))
        assert workspace.activity.head() == before, "it was let go where it stood"


async def test_marks_hold_in_all_columns_of_the_board(data: Path, workspace: Workspace) -> None:
    async with opened(data, start="working") as app:
        await opened_on(app, "migrate")
        await app.press("b")
        await app.until(lambda: section(app).on_board and under_cursor(app) == "migrate", "the board is there")
        await app.press("space", "l", "space")
        await app.until(lambda: len(section(app).rows.marks) == 2, "both are marked")
        await app.press("x")
        await app.until(lambda: isinstance(app.app.screen, Confirm), "the question comes")
        await app.press("y")
        await app.until(lambda: section(app).board.total == 6, "both are done")
        assert not any(column.marks for column in section(app).board.columns.values())
    assert {workspace.items.get(name).status for name in ("migrate", "llm")} == {"completed"}


async def test_what_an_agent_writes_appears_and_the_cursor_stays(data: Path, agent: Workspace) -> None:
    async with opened(data, start="working") as app:
        await opened_on(app, "legal")
        agent.items.create("Urgent", priority=99)
        await app.until(lambda: section(app).rows.total == 9, "it appears")
        assert under_cursor(app) == "legal"
        await app.press("b")
        await app.until(lambda: section(app).on_board and under_cursor(app) == "legal", "the board is there")
        agent.items.create("More urgent", priority=100, category="waiting_for")
        await app.until(lambda: section(app).board.total == 10, "it appears on the board")
        assert under_cursor(app) == "legal"


async def test_an_empty_list_says_what_to_do_and_keys_say_why_they_cannot_act(data_dir: Path) -> None:
    async with opened(data_dir, size=(80, 24), start="working") as app:
        assert "memento item add" in app.text("#working .nothing")
        assert "Done" not in app.keys_shown
        assert "n New" in app.keys_shown
        await app.press("x")
        await app.until(lambda: "Nothing is selected" in app.told, "the key says why")
        await app.press("b")
        await app.until(lambda: section(app).on_board, "the board opens")
        await app.press("l", "n")
        await app.until(lambda: isinstance(app.app.screen, FormScreen), "the form opens")
        assert app.app.screen.query_one("#field-category", Input).value == "standing decision"


async def test_an_item_that_waits_for_approval_is_not_among_the_work(data: Path, workspace: Workspace) -> None:
    waiting = workspace.items.list()
    assert all(isinstance(item, WorkingItem) for item in waiting)
    (data / "config.toml").write_text('[engine]\nenabled = false\n[review]\npreset = "strict"\n')
    with Workspace(data, actor="agent", channel="mcp", agent="claude") as agent:
        agent.items.create("Proposed work")
    assert workspace.review.count() == 1
    async with opened(data, start="working") as app:
        await opened_on(app, "migrate")
        assert section(app).rows.total == 8


async def test_a_form_or_question_without_a_change_writes_nothing_and_promises_no_undo(
    data: Path, workspace: Workspace
) -> None:
    head = workspace._store.journal.head()
    async with opened(data, start="working") as driver:
        await driver.press("e", "ctrl+s")
        await driver.until(lambda: "Nothing was changed" in driver.told, "an undo was promised")
        await driver.press("w", "enter")
        await driver.until(lambda: "as it was" in driver.told, "an undo was promised")
    assert workspace._store.journal.head() == head


async def test_a_form_is_left_at_once_where_nothing_was_changed_and_asks_again_after_more_was_typed(
    data: Path, workspace: Workspace
) -> None:
    workspace.items.create("ends with a line feed", content="text\n", priority=9)
    async with opened(data, start="working") as driver:
        await driver.press("e", "escape")
        assert len(driver.app.screen_stack) == 1
        await driver.press("e", "x", "escape", "y", "escape")
        assert len(driver.app.screen_stack) > 1
        assert "Not saved" in driver.text("#form-problem")
        await driver.press("escape")
        assert len(driver.app.screen_stack) == 1


@pytest.mark.usefixtures("keys_are_refused_for_a_minute")
async def test_on_the_board_a_key_is_ignored_where_the_item_of_a_column_just_reached_has_changed_by_itself(
    data: Path, workspace: Workspace, agent: Workspace
) -> None:
    async with opened(data, start="working") as app:
        await opened_on(app, "legal")
        await app.press("b")
        await app.until(lambda: section(app).on_board and under_cursor(app) == "legal", "the board is there")
        await app.press("x")
        await app.until(lambda: section(app).board.column.total == 0, "the column is empty")
        await app.press("right")
        await app.until(lambda: under_cursor(app) == "note", "the next column")
        await app.until(lambda: not app.app.typed.key_was_pressed_since(0), "the person rests")
        agent.items.update("note", title="Another note", base_version=agent.items.get("note").version)
        await app.until(lambda: section(app).guard.is_blocking, "the change is noticed")
        await app.pilot.press("x")
        await app.until(lambda: "just come up" in app.told, "why the key was ignored is told")
    assert workspace.items.get("note").status == "active"
