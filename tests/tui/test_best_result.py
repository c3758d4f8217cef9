"""What is under the cursor: the best result until the person moves on, its age, and as much of it as is read."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.search import SearchAnswer, SearchMode
from memento_tui.tui.sections import memory_search
from tests.tui.app_driver import Driver, opened

PORTS = ("one", "two", "three")


@pytest.fixture
def ports(workspace: Workspace, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three memories, whose order by meaning is the other way round than that by words."""
    for name in PORTS:
        workspace.remember(f"The port of {name}.", id=name)
    monkeypatch.setattr(memory_search, "_TYPING_PAUSE_SECONDS", 0)
    search = memory_search.MemorySearch._search

    def reversed_by_meaning(own: memory_search.MemorySearch, mode: str) -> SearchAnswer:
        answer = search(own, "keyword")
        by_words = sorted(answer.results, key=lambda hit: PORTS.index(hit.id))
        meant = mode == "hybrid"
        results = by_words[::-1] if meant else by_words
        return SearchAnswer(results, answer.total, "ready" if meant else "off")

    monkeypatch.setattr(memory_search.MemorySearch, "_search", reversed_by_meaning)
    return data_dir


async def _found(app: Driver, *, by_meaning: bool) -> None:
    await app.until(lambda: ("by meaning too" in app.text("#memories-head")) == by_meaning, "the answer is there")


async def test_the_cursor_stays_on_the_best_result_when_those_by_meaning_arrive(ports: Path) -> None:
    async with opened(ports) as app:
        await app.press("slash")
        await app.type("port")
        await _found(app, by_meaning=True)
        assert app.current == "The port of three."
        assert app.memories.rows.cursor == 0
        assert "The port of three." in app.text("#preview-body")


async def test_a_cursor_that_the_person_moved_stays_on_its_memory_when_those_by_meaning_arrive(
    ports: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_search, "_TYPING_PAUSE_SECONDS", 3600)
    async with opened(ports) as app:
        await app.press("slash")
        await app.type("port")
        await app.press("enter", "j")
        assert app.current == "The port of two."
        await app.press("k")
        assert app.current == "The port of one."
        monkeypatch.setattr(memory_search, "_TYPING_PAUSE_SECONDS", 0)
        app.memories.run_worker(app.memories.search.search_by_meaning("port"))
        await _found(app, by_meaning=True)
        assert app.current == "The port of one."
        assert app.memories.rows.cursor == 2


async def test_that_results_are_incomplete_is_said_once_and_stays_out_of_the_way_of_what_was_done_since(
    workspace: Workspace, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = workspace.remember("The port of one.")
    search = memory_search.MemorySearch._search

    def incomplete(own: memory_search.MemorySearch, mode: SearchMode) -> SearchAnswer:
        answer = search(own, mode)
        return SearchAnswer(answer.results, answer.total, "off", notice="Results are incomplete.")

    monkeypatch.setattr(memory_search.MemorySearch, "_search", incomplete)
    async with opened(data_dir) as app:
        await app.press("slash", *"port")
        await app.until(lambda: "Results are incomplete." in app.told, "it is said")
        await app.press("enter", "i")
        await app.until(lambda: workspace.get(memory.id).pinned, "it is pinned")
        await app.until(lambda: bool(app.memories.rows.current and app.memories.rows.current.pinned), "it is shown")
        assert "Pinned" in app.told


@pytest.mark.usefixtures("draws_every_frame")
async def test_the_list_and_the_preview_tell_the_same_age_however_long_one_looks_at_them(
    workspace: Workspace, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = workspace.remember("Old news.")
    async with opened(data_dir, size=(140, 20)) as app:
        for minutes in (3, 50):
            monkeypatch.setattr(clock, "now", lambda later=minutes: memory.updated_at + timedelta(minutes=later))
            app.memories.draw_ages()
            await app.pilot.pause()
            row = app.memories.rows.render_line(0).text
            assert row.rstrip().endswith(f"{minutes}m")
            assert f"changed {minutes}m ago" in app.text("#preview-facts")


async def test_a_long_text_is_drawn_in_part_and_whole_when_it_is_asked_for(
    workspace: Workspace, data_dir: Path
) -> None:
    workspace.remember("\n".join(f"Line {number} of it." for number in range(9_000)))
    async with opened(data_dir) as app:
        drawn = app.text("#preview-body")
        assert "Line 8999" not in drawn
        assert "more characters; O shows all of it here" in drawn
        assert len(drawn) < 5_000
        await app.press("O")
        assert "Line 8999" in app.text("#preview-body")
