"""What is painted anew, and what is not: a key shows at once only where little is painted for it; and what is kept."""

from __future__ import annotations

import gc
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from textual._compositor import LayoutUpdate
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static

from memento_tui.api import Workspace
from memento_tui.app_sections import SECTIONS
from memento_tui.tui.display import shown
from memento_tui.tui.sections.memories import MemoriesSection
from memento_tui.tui.sections.review import ReviewSection
from memento_tui.tui.widgets.frames import Frame, MainScreen
from tests.tui.app_driver import opened
from tests.tui.fake_rows import FakeListApp, FakeRows, settle

pytestmark = pytest.mark.usefixtures("draws_every_frame")

SIZE = (60, 20)


async def test_a_list_that_scrolls_by_a_row_draws_that_row_and_those_of_the_cursor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = FakeListApp(FakeRows(1000))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("end", "up")
        await settle(pilot)
        drawn: list[str] = []

        def counted(text: str) -> str:
            drawn.append(text)
            return shown(text)

        monkeypatch.setattr("memento_tui.tui.widgets.record_list.shown", counted)
        await pilot.press("pageup", "down")
        await settle(pilot)
        drawn.clear()
        app.rows.scroll_relative(y=-1, animate=False)
        await settle(pilot)
        titles = [text for text in drawn if text.startswith("title")]
        assert len(titles) <= 1
        assert app.lines()[0].strip() == f"title of r{app.rows.first_visible}"


async def test_a_row_whose_text_or_mark_changed_is_drawn_anew() -> None:
    source = FakeRows(3)
    app = FakeListApp(source)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        source.title = "other title of"
        app.rows.refresh_rows(source)
        await settle(pilot)
        assert app.lines()[0] == ">  other title of r0"
        app.rows.mark(["r0"])
        await settle(pilot)
        assert app.lines()[0] == ">* other title of r0"


class _ThreeParts(App[None]):
    def get_default_screen(self) -> MainScreen:
        return MainScreen(id="_default")

    def compose(self) -> ComposeResult:
        self.first, self.second = Input(id="first"), Input(id="second")
        self.frame, self.framed = Frame(Static("inside")), Frame(Static("inside"))
        self.framed.styles.border = ("round", "red")
        yield from (self.first, self.second, self.frame, self.framed)


async def test_where_the_focus_moves_the_screen_is_not_painted_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    app = _ThreeParts()
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        whole: list[object] = []
        compositor = app.screen._compositor
        full_update = compositor.render_full_update

        def counted(*, simplify: bool = False) -> LayoutUpdate:
            whole.append(1)
            return full_update(simplify=simplify)

        monkeypatch.setattr(compositor, "render_full_update", counted)
        app.second.focus()
        await settle(pilot)
        assert app.focused is app.second
        assert app.second.has_focus
        assert whole == []
        app.screen.refresh()
        await settle(pilot)
        assert whole == [1]


async def test_no_frame_shows_a_row_without_its_text_or_a_section_without_its_rows(
    data_dir: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        workspace.remember(f"The cache {number} is warmed at night.")
        workspace.remember(f"The cache {number} is in the cellar.", source_type="external")
    async with opened(data_dir) as app:
        frames: list[tuple[str | None, str | None]] = []
        compositor = app.app.screen._compositor
        render_update = compositor.render_update

        def noted(**options: Any) -> object:  # noqa: ANN401 - as the compositor's own
            section = app.app.section
            assert isinstance(section, MemoriesSection | ReviewSection)
            row = section.rows.current
            if isinstance(section, MemoriesSection):
                beside = section.preview.memory_id
            else:
                beside = section.focused.name if section.focused else None
            frames.append((row.id if row else None, beside))
            return render_update(**options)

        monkeypatch.setattr(compositor, "render_update", noted)
        for keys in ("j", "j", "3", "j", "a", "2"):
            await app.press(keys)
        assert {row for row, _ in frames} != {None}
        assert [frame for frame in frames if frame[0] != frame[1]] == []


async def test_a_frame_paints_nothing_unless_it_has_a_border() -> None:
    app = _ThreeParts()
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        assert app.frame.size.width == SIZE[0]
        assert app.frame.render_lines(Region(0, 0, SIZE[0], 1)) == []
        (border,) = app.framed.render_lines(Region(0, 0, SIZE[0], 1))
        assert border.text.startswith("╭")


async def test_the_containers_of_a_section_paint_nothing(data_dir: Path, workspace: Workspace) -> None:
    workspace.remember("The cache is warmed at night.")
    async with opened(data_dir, (80, 24)) as app:
        memories = app.memories
        for part in (memories, memories.rows_pane, memories.side_pane, memories.side, memories.preview):
            assert part.render_lines(Region(0, 0, part.size.width, 1)) == []
    async with opened(data_dir) as app:
        memories = app.memories
        for part in (memories, memories.side, memories.preview):
            assert part.render_lines(Region(0, 0, part.size.width, 1)) == []
        for framed in (memories.rows_pane, memories.side_pane):
            assert framed.render_lines(Region(0, 0, framed.outer_size.width, 1))[0].text.startswith("╭")


@pytest.mark.deep
async def test_going_about_leaves_no_widget_timer_or_listener_behind(data_dir: Path, workspace: Workspace) -> None:
    workspace.remember("The cache is warmed at night.")

    def alive() -> dict[str, int]:
        gc.collect()
        # By their types: what other tests imported may warn where an object is asked for its class.
        types = map(type, gc.get_objects())
        found = Counter(kind.__name__ for one in types for kind in (Widget, Timer) if issubclass(one, kind))
        signals = (app.app.theme_changed_signal, app.app.screen.bindings_updated_signal)
        return {**found, "listeners": sum(len(each) for signal in signals for each in signal._subscriptions.values())}

    async with opened(data_dir) as app:

        async def go_about(times: int) -> None:
            for number in range(times):
                await app.app.action_section(SECTIONS[number % len(SECTIONS)].name)
                await settle(app.pilot)

        await go_about(2 * len(SECTIONS))
        before = alive()
        await go_about(3 * len(SECTIONS))
        after = alive()
        assert before["Widget"] > 50
        assert {name: after[name] - before[name] for name in before if after[name] > before[name]} == {}
