from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from textual.widgets import Static

import memento_tui
from memento_tui.api import Workspace
from memento_tui.tui.screens.saved_searches import SearchesScreen
from memento_tui.tui.views.history import HistoryView
from memento_tui.tui.views.links import LinksView
from memento_tui.tui.views.timeline import TimelineView
from memento_tui.tui.views.tree import TreeView
from memento_tui.tui.views.view import View, ViewList
from tests.made import edit, note, put, unguarded
from tests.tui.app_driver import Driver, opened

HOSTILE = "\x1b]52;c;aGk=\x07[/nope] [@click=app.quit]x\u202e"


@pytest.fixture
def filled(data_dir: Path) -> Path:
    """Five memories of which ``rule`` is changed twice and related to others."""
    with memento_tui.open(data_dir) as workspace:
        for name in ("older", "other", "rule", "newer"):
            workspace.remember(f"The {name} text.", id=name, namespace=f"work/{name}", tags=[name, "all"])
        put(workspace._store, note(HOSTILE, id="bad", tags=["[/nope]\u202e"]))
        workspace.update("rule", content="The rule changed.", tags=["rule"])
        workspace.update("rule", title="The title")
        workspace.relate("rule", "older", "supersedes", "since 2.0")
        workspace.relate("other", "older", "related")
        workspace.relate("rule", "src/x.py", "file")
        workspace.relate("rule", "bad", "related", "[/nope]")
    return data_dir


def texts(view: View) -> list[str]:
    """Return what the view's list shows."""
    rows = view.query_one(ViewList)
    return [strip.text.rstrip() for strip in rows.render_lines(rows.size.region) if strip.text.strip()]


def noted(view: View) -> str:
    return str(view.query_one(".view-note", Static).render())


def headed(view: View) -> str:
    return str(view.query_one(".view-head", Static).render())


def current_id(driver: Driver) -> str:
    row = driver.memories.rows.current
    return "" if row is None else row.id


async def opened_at(driver: Driver, name: str, key: str) -> View:
    """Go to a memory, open a view on it and wait until it shows something."""
    await driver.until(lambda: driver.memories.rows.current is not None, "the list")
    driver.memories.go_to(name)
    await driver.until(lambda: current_id(driver) == name, f"the cursor is not on {name}")
    await driver.press(key)
    view = driver.app.query_one(View)
    await driver.until(lambda: bool(headed(view).strip()), "the view says what it shows")
    await driver.app.workers.wait_for_complete()
    await driver.pilot.pause()
    return view


def change(view: View) -> str:
    return str(view.query_one(".view-change Static", Static).render())


async def test_the_history_shows_what_each_version_changed(filled: Path) -> None:
    async with opened(filled) as driver:
        view = await opened_at(driver, "rule", "h")
        assert isinstance(view, HistoryView)
        assert [line.split()[1 if line[0] == ">" else 0] for line in texts(view)] == ["v3", "v2", "v1"]
        assert "title: none -> The title" in change(view)
        await driver.press("j")
        await driver.until(lambda: "+ The rule changed." in change(view), "the second version's change")
        assert "tags: rule, all -> rule" in change(view)
        await driver.press("j")
        await driver.until(lambda: "The first version." in change(view), "the first version")
        await driver.press("escape")
        assert driver.app.focused is driver.memories.rows


async def test_a_version_is_restored_and_the_restoring_undone(filled: Path) -> None:
    async with opened(filled) as driver:
        view = await opened_at(driver, "rule", "h")
        await driver.press("r")
        assert "present version" in driver.told
        await driver.press("G", "r")
        workspace = driver.app.workspace
        await driver.until(lambda: workspace.get("rule").content == "The rule text.", "restored")
        assert "Restored version 1: content, title, tags." in driver.told
        await driver.until(lambda: len(texts(view)) == 4, "the new version is in the list")
        await driver.press("z")
        assert (workspace.get("rule").content, workspace.get("rule").title) == ("The rule changed.", "The title")


async def test_a_version_restored_over_a_change_that_was_not_seen_is_refused(filled: Path) -> None:
    async with opened(filled) as driver:
        await opened_at(driver, "rule", "h")
        await driver.press("p", "G")
        with Workspace(filled) as other:
            edit(other, "rule", content="Somebody else was faster.")
        await driver.press("r")
        assert "has changed" in driver.told
        assert driver.app.workspace.get("rule").content == "Somebody else was faster."


async def test_the_history_of_a_purged_text_says_so(filled: Path) -> None:
    with memento_tui.open(filled) as workspace:
        workspace.purge("rule", "it leaked")
        workspace.remember("harmless", id="rule")
    async with opened(filled) as driver:
        view = await opened_at(driver, "rule", "h")
        await driver.press("G")
        await driver.until(lambda: "was purged" in change(view), "purged is told")
        await driver.press("r")
        assert "purged" in driver.told


async def test_the_timeline_has_the_memory_marked_and_leads_to_others(filled: Path) -> None:
    async with opened(filled) as driver:
        view = await opened_at(driver, "rule", "o")
        assert isinstance(view, TimelineView)
        assert "2 written later (above), 2 earlier (below)" in headed(view)
        lines = texts(view)
        assert [("* 2" in line, line.endswith("The title")) for line in lines] == [
            (False, False),
            (False, False),
            (True, True),
            (False, False),
            (False, False),
        ]
        assert lines[2].startswith(">")
        await driver.press("enter")
        assert "the memory in the middle" in driver.told
        await driver.press("j", "enter")
        await driver.until(lambda: current_id(driver) == "other", "the list is at the other memory")


async def test_links_are_walked_along_and_back_and_forward(filled: Path) -> None:
    async with opened(filled) as driver:
        view = await opened_at(driver, "rule", "l")
        assert isinstance(view, LinksView)
        assert any("-> replaces" in line for line in texts(view))
        await driver.press("enter")
        await driver.until(lambda: view.memory_id == "older", "walked")
        await driver.until(lambda: any("<- replaced by" in line for line in texts(view)), "seen from the other end")
        assert "The title > The older text." in headed(view)
        await driver.press("j", "enter")
        await driver.until(lambda: view.memory_id == "other", "walked on")
        await driver.press("backspace")
        await driver.until(lambda: view.memory_id == "older", "back")
        await driver.until(
            lambda: view.rows.current is not None and view.rows.current.end == "other", "came from there"
        )
        await driver.press("backspace", "backspace")
        assert "where you began" in driver.told
        await driver.press("alt+right")
        await driver.until(lambda: view.memory_id == "older", "forward")
        with Workspace(filled) as other:
            other.remember("something new")
        await driver.until(lambda: driver.memories.rows.total == 6, "the list followed")
        assert view.memory_id == "older"


async def test_an_end_that_cannot_be_walked_to_says_why(filled: Path) -> None:
    async with opened(filled) as driver:
        view = await opened_at(driver, "rule", "l")
        await driver.press("j")
        await driver.until(lambda: view.query_one(ViewList).cursor == 1, "on the file")
        await driver.press("enter")
        assert "That is a file: src/x.py" in driver.told


async def test_a_memory_without_links_says_so(filled: Path) -> None:
    async with opened(filled) as driver:
        view = await opened_at(driver, "newer", "l")
        assert "no relations" in noted(view)
        await driver.press("enter")
        assert "no link" in driver.told


async def test_why_tells_the_weight_and_in_a_search_the_rank(filled: Path) -> None:
    async with opened(filled) as driver:
        view = await opened_at(driver, "rule", "w")
        told = str(view.query_one(".why-text", Static).render())
        assert "Factor in search:" in told
        assert "[balanced " in told
        assert "Rank in this search" not in told
        await driver.press("escape", "slash", *"rule", "enter", "w")
        view = driver.app.query_one(View)
        await driver.until(
            lambda: "Rank in this search" in str(view.query_one(".why-text", Static).render()), "the rank is told"
        )
        hit = next(iter(driver.memories.search.hits.values()))
        assert f"score          {hit.score:.3f}" in str(view.query_one(".why-text", Static).render())


async def test_the_tree_narrows_the_list_and_lets_it_go(filled: Path) -> None:
    async with opened(filled) as driver:
        view = await opened_at(driver, "rule", "f")
        assert isinstance(view, TreeView)
        await driver.until(lambda: any("AGENTS" not in line and "short term" in line for line in texts(view)), "counts")
        await driver.press("j", "j", "j")
        assert view.rows.current is not None
        assert view.rows.current.value == "work/newer"
        await driver.press("space")
        await driver.until(lambda: driver.memories.filter == "ns:work/newer", "narrowed")
        await driver.until(lambda: driver.memories.rows.total == 1, "one is left")
        await driver.press("j", "enter")
        await driver.until(lambda: driver.memories.filter == "ns:work/newer,work/older", "both")
        await driver.until(lambda: sum("* " in line for line in texts(view)) == 2, "both are marked")
        await driver.press("u")
        await driver.until(lambda: driver.memories.filter == "", "all again")
        await driver.press("u")
        assert "The tree does not filter" in driver.told
        await driver.press("f")
        assert driver.app.focused is driver.memories.rows


async def test_the_tree_keeps_what_else_the_search_says(filled: Path) -> None:
    async with opened(filled) as driver:
        await driver.press("slash", *"ns:work", "space", *"text", "enter", "f")
        view = driver.app.query_one(TreeView)
        await driver.until(lambda: any(line.strip().startswith("*") for line in texts(view)), "work is marked")
        view.action_clear()
        await driver.until(lambda: driver.memories.filter == "text", "the words stay")


def row_value(view: View) -> object:
    return None if view.rows.current is None else view.rows.current.value


async def test_branches_are_folded_and_unfolded(filled: Path) -> None:
    async with opened(filled) as driver:
        view = await opened_at(driver, "rule", "f")
        await driver.until(lambda: any("rule" in line for line in texts(view)), "namespaces")
        await driver.press("j", "j", "j", "left")
        await driver.until(lambda: row_value(view) == "work", "at what it is part of")
        await driver.press("left")
        await driver.until(lambda: not any("  newer" in line for line in texts(view)), "folded")
        await driver.press("right")
        await driver.until(lambda: any("  newer" in line for line in texts(view)), "unfolded")
        await driver.press("g", "enter")
        await driver.until(lambda: not any("global" in line for line in texts(view)), "a title folds by Enter")


async def test_what_a_search_cannot_name_says_so(data_dir: Path) -> None:
    with memento_tui.open(data_dir) as workspace:
        workspace.remember("text", tags=['a"b'])
    async with opened(data_dir) as driver:
        await driver.press("f")
        view = driver.app.query_one(TreeView)
        await driver.until(lambda: any('#a"b' in line for line in texts(view)), "tags")
        place = next(index for index, line in enumerate(texts(view)) if '#a"b' in line)
        await driver.press(*["j"] * place, "enter")
        assert "cannot express" in driver.told
        assert driver.memories.filter == ""


async def test_hostile_text_stays_text_in_every_view(filled: Path) -> None:
    with memento_tui.open(filled) as workspace:
        bad = workspace.get("bad")
        with unguarded(workspace._store, workspace.author, "edit", note="[/nope]") as tx:
            changed = {"content": f"{HOSTILE} more", "namespace": "evil/[/nope]", "validity_context": "[/x]\u202e"}
            tx.put(msgspec.structs.replace(bad, **changed), base=1)
    async with opened(filled) as driver:
        for key in "holwf":
            view = await opened_at(driver, "bad", key)
            shown = "\n".join(str(static.render()) for static in view.query(Static))
            shown += "\n".join(texts(view)) if view.query(ViewList) else ""
            assert "\x1b" not in shown
            assert "\u202e" not in shown
            assert "[/nope]" in shown
            await driver.press("escape")


async def test_escape_in_the_list_closes_the_view_beside_it_before_it_clears_the_search(filled: Path) -> None:
    async with opened(filled) as driver:
        await driver.press("slash", *"is:draft", "enter", "h")
        await driver.until(lambda: driver.memories.side.view is not None, "the view is there")
        await driver.press("3", "2")
        assert driver.memories.rows.has_focus
        await driver.press("escape")
        await driver.until(lambda: driver.memories.side.view is None, "it is closed")
        assert driver.memories.filter == "is:draft"
        await driver.press("escape")
        await driver.until(lambda: driver.memories.filter == "", "the search is cleared")


async def test_a_saved_search_is_gone_to_renamed_and_removed(filled: Path) -> None:
    with memento_tui.open(filled) as workspace:
        workspace.saved_searches.save("Rules", "tag:rule")
        workspace.saved_searches.save("Text", "text")
    async with opened(filled) as driver:
        await driver.press("s")
        screen = driver.app.screen
        assert isinstance(screen, SearchesScreen)
        rows = screen.rows

        def lines() -> list[str]:
            return [strip.text.rstrip() for strip in rows.render_lines(rows.size.region)]

        await driver.until(lambda: [line.split()[-1] for line in lines()] == ["1", "3"], "counted")
        await driver.press("r", *["backspace"] * 5, *"Mine", "enter")
        await driver.until(lambda: any("Mine" in line for line in lines()), "renamed")
        await driver.press("d", "enter")
        assert len(driver.app.workspace.saved_searches.list()) == 2
        await driver.press("n", "d", "y")
        await driver.until(lambda: len(driver.app.workspace.saved_searches.list()) == 1, "removed")
        await driver.until(lambda: len(lines()) == 1, "gone from the list")
        await driver.press("enter")
        await driver.until(lambda: driver.memories.filter == "text", "gone to")


async def test_without_saved_searches_the_list_says_how_to_save_one(filled: Path) -> None:
    async with opened(filled) as driver:
        await driver.press("s", "enter", "d", "r")
        assert "press S" in driver.text(".dialog-text")
        await driver.press("escape")
        assert driver.memories.filter == ""


@pytest.mark.deep
@pytest.mark.parametrize("size", [(120, 36), (100, 30), (80, 24), (40, 12)])
@pytest.mark.parametrize("key", ["h", "o", "l", "w", "f"])
async def test_a_view_ends_within_the_section_whatever_the_terminal_holds(
    filled: Path, size: tuple[int, int], key: str
) -> None:
    async with opened(filled, size=size) as driver:
        view = await opened_at(driver, "rule", key)
        side, section = driver.memories.side_pane.region, driver.memories.region
        assert side.bottom <= section.bottom
        assert view.region.bottom <= section.bottom


async def test_what_is_typed_after_a_filter_of_the_tree_is_a_word_of_its_own(filled: Path) -> None:
    async with opened(filled) as driver:
        box = driver.memories.filter_box
        for chosen, begins in (
            ("ns:work/rule", "ns:work/rule "),
            ('tag:"two words"', 'tag:"two words" '),
            ("cache", "cache"),
            ("kind:", "kind:"),
            ("tag:a,", "tag:a,"),
            ("", ""),
        ):
            box.value = chosen
            await driver.press("slash")
            await driver.until(lambda: box.has_focus, "the box is typed into")
            assert box.value == begins
            assert box.cursor_position == len(begins)
            driver.memories.rows.focus()
            await driver.pilot.pause()
