"""Small things that a person trips over while looking around: focus, numbers, and messages that no longer hold."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from time import tzset

import pytest
from textual.widgets import Input, Static, TextArea

import memento_tui
from memento_tui import clock
from memento_tui.api.drafts import UnsavedText
from memento_tui.model import make_contradiction
from memento_tui.tui.screens.write_problems import ConflictScreen
from memento_tui.tui.sections.home import HomeSection
from memento_tui.tui.views.view import ViewList
from memento_tui.tui.widgets.bars import KeyBar, TopBar
from memento_tui.tui.widgets.editor import Editor
from memento_tui.tui.widgets.panel_board import Board
from tests.made import always, edit, unguarded
from tests.tui.app_driver import Driver, opened


@pytest.fixture
def notes(data_dir: Path) -> Path:
    """Three memories, of which ``long`` has a long title and a link."""
    with memento_tui.open(data_dir) as workspace:
        workspace.remember("The first text.", id="first", tags=["api"])
        workspace.remember("A text.", id="long", title="A title that is longer than a third of the line is wide")
        workspace.remember("The last text.", id="last")
        workspace.relate("long", "first", "related")
    return data_dir


def keys(driver: Driver) -> str:
    return str(driver.app.screen_stack[0].query_one(KeyBar).render())


async def on(driver: Driver, memory_id: str) -> None:
    """Put the cursor on a memory."""
    rows = driver.memories.rows
    driver.memories.go_to(memory_id)
    await driver.until(lambda: rows.current is not None and rows.current.id == memory_id, f"not on {memory_id}")


async def test_tab_goes_round_in_the_editor_so_that_no_letter_becomes_a_command(notes: Path) -> None:
    async with opened(notes) as driver:
        await on(driver, "first")
        await driver.press("e")
        for field in ("editor-title", "editor-tags", "editor-content", "editor-title"):
            await driver.press("tab")
            assert driver.app.focused is not None
            assert driver.app.focused.id == field
        for field in ("editor-content", "editor-tags"):
            await driver.press("shift+tab")
            assert driver.app.focused is not None
            assert driver.app.focused.id == field
        await driver.type("d")
        assert driver.app.query_one(Editor).draft.tags == ("d",)
    with memento_tui.open(notes) as workspace:
        assert workspace.get("first").status == "active"


async def test_tab_stays_in_an_editor_of_one_field(notes: Path) -> None:
    async with opened(notes, start="identity") as driver:
        await driver.press("e", "tab", "d")
        assert driver.app.query_one(TextArea).text == "d"


async def test_the_tab_of_the_memories_and_the_overview_tell_the_same_number(notes: Path) -> None:
    async with opened(notes) as driver:
        await driver.press("1")
        top = driver.app.query_one(TopBar)
        await driver.until(lambda: "Memories 3" in str(top.render()), "the tab tells of three")
        with memento_tui.open(notes, actor="agent", channel="mcp", agent="claude", session="s") as agent:
            agent.remember("A fourth text.")
        await driver.until(lambda: "Memories 4" in str(top.render()), "the tab tells of the fourth")
        await driver.press("p", "2")
        with memento_tui.open(notes, actor="agent", channel="mcp", agent="claude", session="s") as agent:
            agent.remember("From a page.", source_type="external")
        driver.app.query_one(HomeSection).reload()
        await driver.press("1")
        await driver.until(
            lambda: "1 new" in " ".join(str(driver.app.query_one(Board).render()).split("\n")), "counted"
        )
        assert "Review 1" in str(top.render()), "while the view is paused too"


async def test_a_quotation_mark_that_is_being_typed_is_not_complained_about(notes: Path) -> None:
    async with opened(notes) as driver:
        await driver.press("slash")
        await driver.type('"first te')
        assert "quotation" not in driver.told
        await driver.press("enter")
        assert "A quotation mark is not closed" in driver.told


async def test_what_was_wrong_with_a_query_is_told_no_longer_once_it_is_mended(notes: Path) -> None:
    async with opened(notes) as driver:
        await driver.press("slash")
        await driver.type("certainty:9")
        wrong = driver.told
        assert "ertainty" in wrong
        await driver.press("backspace")
        await driver.type("3")
        assert "ertainty" not in driver.told


async def test_the_first_version_reads_as_its_text_and_not_as_a_change_of_nothing(notes: Path) -> None:
    async with opened(notes) as driver:
        await on(driver, "first")
        await driver.press("h")
        change = driver.app.query_one(".view-change Static", Static)
        await driver.until(lambda: "The first text." in str(change.render()), "the version is shown")
        assert not [line for line in str(change.render()).split("\n") if line.strip() in ("-", "+")]


async def test_the_timeline_is_in_the_persons_own_time_zone(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with memento_tui.open(notes) as workspace:
        moment = workspace.get("first").created_at
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "Asia/Tokyo")
        tzset()
        async with opened(notes) as driver:
            await on(driver, "first")
            await driver.press("o")
            rows = driver.app.query_one("#timeline").query_one(ViewList)
            await driver.until(lambda: rows.total == 3, "the timeline")
            told = " ".join(strip.text for strip in rows.render_lines(rows.size.region))
            assert f"{moment + timedelta(hours=9):%Y-%m-%d %H:%M} " in told
    tzset()


async def test_the_way_along_the_links_has_the_room_that_there_is(notes: Path) -> None:
    async with opened(notes, size=(140, 32)) as driver:
        await on(driver, "long")
        await driver.press("l")
        head = driver.app.query_one(".view-head", Static)
        await driver.until(lambda: "A title" in str(head.render()), "the way is told")
        await driver.until(lambda: "is longer than a third of the line is wide" in str(head.render()), "all of it")


async def test_the_search_box_tells_how_to_leave_it(notes: Path) -> None:
    async with opened(notes) as driver:
        await driver.press("slash")
        assert isinstance(driver.app.focused, Input)
        assert "Enter" in keys(driver)
        assert "Esc" in keys(driver)


async def test_the_key_bar_dims_what_cannot_be_done_to_a_memory(notes: Path) -> None:
    with memento_tui.open(notes) as workspace:
        workspace.forget("last")
    async with opened(notes) as driver:
        await on(driver, "first")
        can = driver.memories.is_available
        assert all(can(f"memories.{name}") for name in ("edit", "tags", "delete", "history", "new"))
        await driver.press("slash")
        await driver.type("is:deleted")
        await driver.press("enter")
        await driver.until(lambda: driver.current == "The last text.", "the deleted one")
        assert not any(can(f"memories.{name}") for name in ("edit", "tags", "verify", "pin", "delete"))
        assert can("memories.history")
        await driver.press("slash", "escape")
        await driver.type("zzzz")
        await driver.press("enter")
        await driver.until(lambda: driver.memories.rows.total == 0, "nothing is found")
        assert not can("memories.edit")
        assert not can("memories.history")
        assert can("memories.new")
        assert can("memories.tree")


async def test_the_key_bar_dims_what_a_view_cannot_do(notes: Path) -> None:
    async with opened(notes) as driver:
        await on(driver, "long")
        can = driver.memories.is_available
        await driver.press("h")
        await driver.until(lambda: "version" in driver.text(".view-head"), "the history")
        assert not can("history.restore")
        await driver.press("escape", "l")
        await driver.until(lambda: can("links.walk"), "there is a link to walk along")
        assert not can("links.back")
        await driver.press("enter")
        await driver.until(lambda: can("links.back"), "and back")
        await driver.press("escape", "f")
        await driver.until(lambda: "Enter filters" in driver.text(".view-head"), "the tree")
        assert not can("tree.clear")


async def test_the_key_bar_of_the_review_dims_the_answers_of_another_kind(notes: Path) -> None:
    with memento_tui.open(notes) as workspace:
        workspace.remember("The port is 8080.", id="older")
        workspace.remember("The port is 9090.", id="newer")
        with unguarded(workspace._store, workspace.author, "test") as tx:
            tx.put(make_contradiction({"id": "clash", "older": "older", "newer": "newer", "score": 0.9}), base=0)
        workspace.verify("first")
    with memento_tui.open(notes, actor="agent", channel="mcp", agent="claude", session="s") as agent:
        agent.remember("From a page.", source_type="external", make_id=always("page"))
        agent.forget("first", base_version=agent.get("first").version)
    answers = ("newer", "older", "both", "merge")

    def able(driver: Driver) -> set[str]:
        names = ("approve", "edit", "reject", "later", *answers)
        return {name for name in names if driver.app.section.is_available(f"review.{name}")}

    async with opened(notes, start="review") as driver:

        async def at(name: str) -> None:
            driver.review.show_query(name)
            await driver.until(lambda: driver.review.focused is not None and name in str(driver.review.focused), name)

        await at("clash")
        assert able(driver) == {"reject", "later", *answers}
        await at("page")
        assert able(driver) == {"approve", "edit", "reject", "later"}
        await at("first")
        assert able(driver) == {"approve", "reject", "later"}, "a deletion has no text to edit"
        await driver.press("space", "k")
        assert able(driver) == {"approve", "reject", "later", "newer", "older"}, "some of the marked may be answered so"
        await driver.press("u", "slash")
        await driver.type("zzz")
        await driver.press("enter")
        await driver.until(lambda: driver.review.focused is None, "nothing of that kind")
        assert able(driver) == set()


async def test_the_key_bar_of_the_identity_dims_what_is_not_to_be_decided(data_dir: Path) -> None:
    with memento_tui.open(data_dir) as workspace:
        workspace.crystals.write("I am careful.")
        workspace.crystals.write("I am careful and quick.")
    with memento_tui.open(data_dir, actor="agent", channel="mcp", agent="claude", session="s") as agent:
        agent.crystals.write("I am quick.")

    def able(driver: Driver) -> set[str]:
        names = ("edit", "compare", "restore", "approve", "reject", "markdown")
        return {name for name in names if driver.app.section.is_available(f"identity.{name}")}

    async with opened(data_dir, start="identity") as driver:
        await driver.until(lambda: "compare" in able(driver), "the present one")
        assert able(driver) == {"edit", "compare", "markdown"}
        await driver.press("k")
        await driver.until(lambda: "approve" in able(driver), "the proposed one")
        assert able(driver) == {"edit", "compare", "approve", "reject", "markdown"}
        await driver.press("G")
        await driver.until(lambda: "restore" in able(driver), "the first one")
        assert able(driver) == {"edit", "compare", "restore"}, "nothing is before it to compare with"


async def test_a_conflict_with_oneself_says_so_and_an_agents_name_is_made_safe(notes: Path) -> None:
    with (
        memento_tui.open(notes, session="elsewhere") as other,
        memento_tui.open(notes, actor="agent", channel="mcp", agent="bad\x1b[31m", session="s") as agent,
    ):
        for writer, said in ((other, "You, elsewhere, changed this"), (agent, "bad<ESC>[31m changed this")):
            async with opened(notes) as driver:
                await on(driver, "last")
                await driver.press("e")
                await driver.type("mine ")
                edit(writer, "last", content=f"Written by {writer.author.actor}.")
                await driver.press("ctrl+s")
                await driver.until(lambda: isinstance(driver.app.screen, ConflictScreen), "the choice")
                assert said in driver.text(".dialog-title")
                await driver.press("t")


async def test_going_on_with_a_text_goes_to_its_memory(notes: Path) -> None:
    async with opened(notes) as driver:
        assert driver.current != "The first text."
        record, left_at = {"record": "memory", "record_id": "first"}, clock.now()
        text = UnsavedText(base_version=1, title="", tags=("api",), content="Kept.", at=left_at, process=0, **record)
        driver.memories.reopen_unsaved(text)
        await driver.until(lambda: driver.current == "The first text.", "the cursor is on it")
        assert driver.app.query_one(TextArea).text == "Kept."


async def test_a_moment_in_the_history_is_told_to_the_minute(notes: Path) -> None:
    with memento_tui.open(notes) as workspace:
        moment = workspace.verify("first").verified_at
    assert moment is not None
    async with opened(notes) as driver:
        await on(driver, "first")
        await driver.press("h")
        change = driver.app.query_one(".view-change Static", Static)
        await driver.until(lambda: "verified at" in str(change.render()), "the verification")
        assert f"verified at: none -> {moment:%Y-%m-%d %H:%M} UTC\n" in f"{change.render()}\n"


async def test_the_claims_that_a_verification_would_accept_are_shown_before_it(notes: Path) -> None:
    with memento_tui.open(notes, actor="agent", channel="mcp", agent="claude", session="s") as agent:
        edit(agent, "last", certainty=5)
        async with opened(notes) as driver:
            await on(driver, "last")
            await driver.until(
                lambda: "it claims, and is not believed: certainty 5" in driver.text("#preview-facts"), "the claim"
            )
            await driver.press("a")
            await driver.until(lambda: agent.get("last").certainty == 5, "the person has accepted it")
            await driver.until(lambda: "it claims" not in driver.text("#preview-facts"), "nothing is left to claim")


async def test_the_palette_names_keys_as_the_keyboard_does(notes: Path) -> None:
    async with opened(notes) as driver:
        told = {command.title: command.help for command in driver.app.get_system_commands(driver.app.screen)}
        assert told["App: Go to the section after"] == "key ]"
        assert told["Memories: Edit the memory here"] == "key e Enter"


async def test_an_empty_workspace_names_the_key_that_imports(data_dir: Path) -> None:
    async with opened(data_dir) as driver:
        assert "ctrl+o" in driver.text(".nothing")


@pytest.fixture
def disputed(notes: Path) -> Path:
    """Also a contradiction, and two memories that wait."""
    with memento_tui.open(notes) as workspace:
        workspace.remember("The port is 8080.", id="older")
        workspace.remember("The port is 9090.", id="newer")
        with unguarded(workspace._store, workspace.author, "test") as tx:
            tx.put(make_contradiction({"id": "clash", "older": "older", "newer": "newer", "score": 0.9}), base=0)
    with memento_tui.open(notes, actor="agent", channel="mcp", agent="claude", session="s") as agent:
        agent.remember("From a page.", source_type="external", make_id=always("page"))
        agent.remember("From another page.", source_type="external", make_id=always("page2"))
    return notes


async def test_an_answer_that_none_of_the_marked_can_take_says_so_and_leaves_the_marks(disputed: Path) -> None:
    async with opened(disputed, start="review") as driver:
        for kind, key, said in (("new", "n", "None of the marked"), ("contradiction", "a", "no plain yes")):
            driver.review.show_query(kind)
            await driver.until(lambda kind=kind: driver.review.kind == kind, kind)  # type: ignore[misc]
            await driver.press("g", "v", "G", "v", key)
            await driver.until(lambda said=said: said in driver.told, "the key says why it cannot act")  # type: ignore[misc]
            assert driver.review.rows.marks
            await driver.press("u")


async def test_both_hold_only_with_a_case_for_each_and_that_is_said_in_words(disputed: Path) -> None:
    async with opened(disputed, start="review") as driver:
        driver.review.show_query("contradiction")
        await driver.until(lambda: driver.app.section.is_available("review.both"), "the contradiction")
        await driver.press("b")
        await driver.until(lambda: len(driver.app.screen_stack) == 2, "the form")
        await driver.press("ctrl+s")
        shown = " ".join(str(found.render()) for found in driver.app.screen.query(Static))
        assert "Two that both hold need a case each." in shown
        assert "_context" not in shown


async def test_a_narrow_first_screen_cuts_nothing_off(data_dir: Path) -> None:
    async with opened(data_dir, size=(80, 24), start="home") as driver:
        board = driver.app.query_one(Board)
        told = " ".join(" ".join(board.render_line(y).text for y in range(board.size.height)).split())
        assert "…" not in told
        assert "memento import --help lists the formats" in told
        assert not driver.app.section.is_available("home.go")
        with memento_tui.open(data_dir) as workspace:
            workspace.remember("A text.")
        await driver.until(lambda: driver.app.section.is_available("home.go"), "there is a number to go to")


async def test_what_is_compared_is_told_whole_in_eighty_columns(data_dir: Path) -> None:
    with memento_tui.open(data_dir) as workspace:
        workspace.crystals.write("I am careful.")
        workspace.crystals.write("I am quick.")
    async with opened(data_dir, size=(80, 24), start="identity") as driver:
        await driver.until(lambda: driver.app.section.is_available("identity.compare"), "the present one")
        await driver.press("c")
        await driver.until(lambda: "c here ends it." in driver.told, "it is told whole")


@pytest.mark.parametrize("size", [(40, 8), (40, 10), (60, 15), (140, 10)])
async def test_on_a_terminal_of_few_lines_one_sees_what_is_typed(notes: Path, size: tuple[int, int]) -> None:
    async with opened(notes, size) as driver:
        await driver.until(lambda: bool(driver.current), "a memory is there")
        await driver.press("e")
        await driver.until(lambda: bool(driver.app.query(TextArea)), "the editor is there")
        text, screen = driver.app.query_one(TextArea), driver.app.screen
        await driver.until(lambda: screen.find_widget(text).visible_region.height > 0, "its text is seen")
