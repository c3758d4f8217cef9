"""The offer to import what is on this machine already, as a person meets it."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, get_ident

import pytest
from textual.pilot import Pilot

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.formats import discovery, import_export
from memento_tui.formats.base import ImportRecord, Refused
from memento_tui.tui.app import MementoApp
from memento_tui.tui.screens.dialogs import AskLine
from memento_tui.tui.screens.import_offer import FirstRunScreen, find_and_offer_imports, offer_first_import
from tests.made import without_engine
from tests.tui.app_driver import Driver, opened
from tests.tui.settling import hold_back

Compare = Callable[..., bool]

_NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a memory of Claude Code's, two vaults and a file that cannot be read, on a day that stands still."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(clock, "now", lambda: _NOW)
    project = tmp_path / ".claude/projects/-work-api/memory"
    project.mkdir(parents=True)
    (project / "MEMORY.md").write_text("# Rules\n\n- keep the cache warm all night\n- never push on a friday\n")
    (project / "broken.md").write_bytes(b"caf\xe9")
    for name in ("vault", "Documents/Reading \x1b[31m[/nope]"):
        (tmp_path / name / ".obsidian").mkdir(parents=True)
        for number in range(3):
            (tmp_path / name / f"note {number}.md").write_text(f"What {name[:5]} note {number} says.\n")
    for folder, _, names in os.walk(tmp_path):
        for name in names:
            os.utime(Path(folder) / name, (_NOW.timestamp() - 86_400 * 3, _NOW.timestamp() - 86_400 * 3))
    return tmp_path


@pytest.fixture
def empty(home: Path) -> Path:
    return without_engine(home / "memories")


async def _offered(app: Driver) -> None:
    offer_first_import(app.app)
    await app.until(lambda: isinstance(app.app.screen, FirstRunScreen), "the offer is made")


def _told(app: Driver) -> str:
    return app.text("#first-run-told")


async def _settled(app: Driver) -> None:
    await app.app.workers.wait_for_complete()
    await app.pilot.pause()


async def test_nothing_is_imported_unless_it_is_ticked(empty: Path) -> None:
    async with opened(empty) as app:
        await _offered(app)
        await app.press("i")
        assert "Nothing is ticked" in _told(app)
        await app.press("enter")
        assert isinstance(app.app.screen, FirstRunScreen)
        await app.press("escape")
        assert "Nothing was imported" in app.told
        assert app.app.workspace._store.memories.count_all() == 0


async def test_what_is_ticked_is_imported_and_its_outcome_told_and_undone(empty: Path) -> None:
    async with opened(empty) as app:
        await _offered(app)
        await app.press("space", "i")
        await app.until(lambda: "refused" in _told(app), "the outcome is told")
        assert "Claude Code's memory: 2 imported, 1 refused.\n  ~/.claude\n" in _told(app)
        assert "broken.md:1 is not UTF-8" in _told(app)
        await app.press("escape")
        assert len(app.app.workspace.list().items) == 2
        await app.press("z")
        assert app.app.workspace.list().items == []
        await app.press("Z")
        assert len(app.app.workspace.list().items) == 2


async def test_each_import_is_taken_back_by_itself(empty: Path) -> None:
    async with opened(empty) as app:
        await _offered(app)
        await app.press("a", "i")
        await app.until(lambda: "Folder of notes: 3 imported.\n  ~/vault" in _told(app), "the outcome is told")
        await app.press("escape")
        for left in (5, 2, 0):
            await app.press("z")
            assert len(app.app.workspace.list().items) == left


async def test_an_import_for_review_waits_in_the_queue(empty: Path) -> None:
    async with opened(empty) as app:
        await _offered(app)
        await app.press("j", "space", "r")
        await app.until(lambda: "3 held for your review." in _told(app), "the outcome is told")
        assert app.app.workspace.list().items == []
        assert app.app.workspace.review.count() == 3


async def test_escape_stops_an_import_and_keeps_what_came_in(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_export, "IMPORT_BATCH_SIZE", 1)
    async with opened(empty) as app:
        await _offered(app)
        await app.press("j", "space", "j", "space")
        really = import_export.ImportRun.import_batch

        def take(run: import_export.ImportRun, batch: list[ImportRecord | Refused]) -> None:
            really(run, batch)
            app.app.call_from_thread(app.app.screen.action_leave)  # type: ignore[attr-defined]

        monkeypatch.setattr(import_export.ImportRun, "import_batch", take)
        await app.press("i")
        await app.until(lambda: "left out, because you stopped" in _told(app), "the outcome is told")
        assert "stopped. Memories imported until then stay" in _told(app)
        assert len(app.app.workspace.list().items) == 1
        await app.press("escape", "z")
        assert app.app.workspace.list().items == []


async def test_the_offer_is_made_once_and_again_when_it_is_asked_for(empty: Path) -> None:
    async with opened(empty) as app:
        await _offered(app)
        await app.press("escape")
    async with opened(empty) as app:
        await _settled(app)  # the search that the app made at its start
        offer_first_import(app.app)
        await _settled(app)
        assert len(app.app.screen_stack) == 1
        find_and_offer_imports(app.app)
        await app.until(lambda: isinstance(app.app.screen, FirstRunScreen), "it is shown again")


async def test_a_search_that_another_has_replaced_shows_nothing_of_what_it_found(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on, threads, ended = (Event(), Event()), list[int](), list[int]()
    find_sources, call_from_thread = discovery.find_sources, MementoApp.call_from_thread

    def find_later(data_dir: Path, *, stopped: Callable[[], bool]) -> discovery.DiscoveryReport:
        found = find_sources(data_dir, stopped=stopped)
        threads.append(get_ident())
        hold_back(goes_on[len(threads) - 1])
        return found

    def call_and_note(app: MementoApp, callback: Callable[..., object], *args: object, **options: object) -> None:
        call_from_thread(app, callback, *args, **options)
        ended.append(get_ident())

    monkeypatch.setattr(discovery, "find_sources", find_later)
    async with opened(empty) as app:
        await app.until(lambda: len(threads) == 1, "the app searches at its start")
        find_and_offer_imports(app.app)
        await app.until(lambda: len(threads) == 2, "the search that was asked for")
        monkeypatch.setattr(MementoApp, "call_from_thread", call_and_note)
        goes_on[0].set()
        await app.until(lambda: threads[0] in ended, "the first search has ended")
        assert len(app.app.screen_stack) == 1
        assert app.app.workspace.settings.get("first_run.offered") is None
        goes_on[1].set()
        await app.until(lambda: isinstance(app.app.screen, FirstRunScreen), "what the second found")
        assert app.text("_Choices").count("[ ]") == 3


async def test_another_path_than_those_found_is_imported_and_only_that(empty: Path, home: Path) -> None:
    (home / "elsewhere").mkdir()
    (home / "elsewhere" / "note.md").write_text("Turbines turn.\n")
    async with opened(empty) as app:
        await _offered(app)
        await app.press("p")
        await app.until(lambda: isinstance(app.app.screen, AskLine), "it is asked for")
        await app.type("~/elsewhere")
        await app.press("enter")
        await app.until(lambda: "~/elsewhere" in app.text("_Choices"), "it is shown, and ticked")
        await app.press("i")
        await app.until(lambda: "1 imported" in _told(app), "it is imported")
        assert app.app.workspace.count_all() == 1


async def test_nothing_is_offered_where_there_are_memories_or_nothing_was_found(
    empty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    async with opened(empty) as app:
        await _settled(app)  # the search that the app made at its start
        offer_first_import(app.app)
        await _settled(app)
        find_and_offer_imports(app.app)
        await app.until(lambda: isinstance(app.app.screen, AskLine), "a path is asked for")
        assert "Nothing was found to import" in app.told
    monkeypatch.setenv("HOME", str(tmp_path))
    with memento_tui.open(empty) as workspace:
        workspace.remember("text")
    async with opened(empty) as app:
        await _settled(app)  # the search that the app made at its start
        offer_first_import(app.app)
        await _settled(app)
        assert len(app.app.screen_stack) == 1


async def test_the_cursor_of_a_long_list_stays_in_view(empty: Path, home: Path) -> None:
    for number in range(10):
        (home / f"many {number}" / ".obsidian").mkdir(parents=True)
        (home / f"many {number}" / "note.md").write_text(f"Vault {number}.\n")
    async with opened(empty, size=(80, 24)) as app:
        await _offered(app)
        await app.press(*"j" * 12)
        listed = app.app.screen.query_one(".first-run-list")
        assert (listed.scroll_y, listed.size.height) == (14, 12)
        await app.press("a", "i")
        await app.until(lambda: _told(app).count("imported") == 13, "all is imported")
        told = app.app.screen.query_one(".first-run-told")
        await app.press("j", "j")
        assert told.scroll_y == 2
        assert app.app.screen.query_one("#first-run-keys").region.bottom < 24


async def test_a_click_ticks(empty: Path) -> None:
    async with opened(empty) as app:
        await _offered(app)
        await app.pilot.click("_Choices", offset=(8, 3))
        assert "[x] Folder of notes" in app.text("_Choices")


def test_the_offer(snap_compare: Compare, empty: Path) -> None:
    """Three candidates of two lines, the second ticked; a placeholder for the escape; every key explained below."""
    with Workspace(empty, channel="tui", session="picture") as workspace:
        assert snap_compare(MementoApp(workspace, "skips"), terminal_size=(120, 32), run_before=_offer("j", "space"))


def test_the_offer_narrow(snap_compare: Compare, empty: Path) -> None:
    """80 x 24: nothing cut, the keys below the list."""
    with Workspace(empty, channel="tui", session="picture") as workspace:
        assert snap_compare(MementoApp(workspace, "skips"), terminal_size=(80, 24), run_before=_offer())


def test_the_outcome(snap_compare: Compare, empty: Path) -> None:
    """A sentence for each, the refused file below its own, and the keys that are left."""
    with Workspace(empty, channel="tui", session="picture") as workspace:
        app = MementoApp(workspace, "skips")
        app.theme = "textual-light"
        assert snap_compare(app, terminal_size=(120, 32), run_before=_offer("a", "i"))


def _offer(*keys: str) -> Callable[[Pilot[None]], object]:
    async def before(pilot: Pilot[None]) -> None:
        assert isinstance(pilot.app, MementoApp)
        app = Driver(pilot.app, pilot)
        await _offered(app)
        # The picture is of the offer, not of the section behind it.
        pilot.app.screen.styles.background = pilot.app.theme_variables["background"]
        await app.press(*keys)
        await pilot.app.workers.wait_for_complete()
        await app.until(lambda: "i" not in keys or "vault" in _told(app), "all is imported")
        await pilot.pause()

    return before
