"""Driving the app in a test: keys, and waiting for what they lead to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

from rich.cells import cell_len
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Static

from memento_tui.api import Workspace
from memento_tui.tui.app import MementoApp
from memento_tui.tui.screens.dialogs import DialogButtons
from memento_tui.tui.sections.memories import MemoriesSection
from memento_tui.tui.widgets.bars import KeyBar, StatusLine
from tests.tui.settling import draw, settle

if TYPE_CHECKING:
    from memento_tui.tui.sections.review import ReviewSection

__all__ = ["Driver", "assert_all_buttons_fit", "opened"]

_DEADLINE_SECONDS = 60
_POLL_SECONDS = 0.005


class Driver:
    """One open app, as a person sees it."""

    def __init__(self, app: MementoApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    async def press(self, *keys: str) -> None:
        """Press keys one after the other, each after the app has settled."""
        await self.pilot.press(*keys)

    async def type(self, text: str) -> None:
        """Type a text."""
        await self.press(*(" " if letter == " " else letter for letter in text))

    async def until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait until something is true."""
        ends = monotonic() + _DEADLINE_SECONDS
        while not holds():
            assert monotonic() < ends, what
            await asyncio.sleep(_POLL_SECONDS)
        await settle(self.app)

    @property
    def memories(self) -> MemoriesSection:
        """The section of the memories."""
        return self.app.screen_stack[0].query_one(MemoriesSection)

    @property
    def review(self) -> ReviewSection:
        """The section of the review."""
        return cast("ReviewSection", self.app.screen_stack[0].query_one("#review"))

    @property
    def current(self) -> str:
        """The headline under the cursor."""
        row = self.memories.rows.current
        return "" if row is None else row.headline

    @property
    def told(self) -> str:
        """What the status line says."""
        return str(self.app.screen_stack[0].query_one(StatusLine).render())

    @property
    def keys_shown(self) -> str:
        """What the bar of the keys says."""
        return str(self.app.screen_stack[0].query_one(KeyBar).render())

    def text(self, selector: str) -> str:
        """What a static widget says."""
        return str(self.app.screen.query_one(selector, Static).render())


def assert_all_buttons_fit(dialog: Screen[Any]) -> None:
    """Fail where a button of a dialog is cut, or stands outside of it."""
    frame, row = dialog.query_one(".dialog"), dialog.query_one(DialogButtons)
    for button in row.children:
        assert frame.content_region.contains_region(button.region), button.render()
        assert button.content_size.width == cell_len(str(button.render()))


@asynccontextmanager
async def opened(
    data_dir: Path, size: tuple[int, int] = (120, 32), start: str = "memories", *, read_only: bool = False
) -> AsyncIterator[Driver]:
    """Open the app on a data directory, in the section ``start``."""
    with Workspace(data_dir, channel="tui", session="this-app", read_only=read_only) as workspace:
        app = MementoApp(workspace, start)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            yield Driver(app, pilot)
            draw(app)
