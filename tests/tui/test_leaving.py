"""Work on a thread that ends after the part of the screen that it was for has been removed."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
from textual.app import ComposeResult
from textual.widgets import Static
from textual.worker import WorkerState

from memento_tui.errors import MementoError
from memento_tui.tui.section import in_thread
from memento_tui.tui.views.view import View
from tests.tui.app_driver import opened
from tests.tui.settling import hold_back


class _Slow(View):
    """A view whose work ends while it is being removed: its parts are gone by then, its workers not yet cancelled."""

    def __init__(self, failure: MementoError | None) -> None:
        super().__init__()
        self.failure = failure
        self.may_end = threading.Event()
        self.has_ended = asyncio.Event()
        self.outcome = "failed"

    def compose(self) -> ComposeResult:
        yield Static(classes="view-head")

    def read(self) -> str:
        hold_back(self.may_end)
        if self.failure:
            raise self.failure
        return "read"

    async def work(self) -> None:
        try:
            found = await in_thread(self, self.read)
        except asyncio.CancelledError:
            self.outcome = "cancelled"
            raise
        else:
            self.query_one(".view-head", Static).update(found)
        finally:
            self.has_ended.set()

    async def on_unmount(self) -> None:
        assert not self.query(".view-head")
        self.may_end.set()
        await asyncio.wait_for(self.has_ended.wait(), 60)


@pytest.mark.parametrize("failure", [None, MementoError("The disk is gone.")], ids=["a result", "an error"])
async def test_work_that_comes_back_to_a_view_that_is_removed_ends_there(
    data_dir: Path, failure: MementoError | None
) -> None:
    async with opened(data_dir) as driver:
        view = _Slow(failure)
        await driver.app.screen.mount(view)
        worker = view.run_worker(view.work())
        await view.remove()
        assert view.outcome == "cancelled"
        assert worker.state is WorkerState.CANCELLED
        assert driver.app.is_running


async def test_work_that_comes_back_while_the_app_ends_ends_there(data_dir: Path) -> None:
    async with opened(data_dir) as driver:
        view = _Slow(None)
        await driver.app.screen.mount(view)
        view.run_worker(view.work())
    assert view.outcome == "cancelled"
