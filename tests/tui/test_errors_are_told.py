"""What the store cannot do is told in the status line, wherever it was asked; the app goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.api.inbox import Inbox
from memento_tui.api.search import SearchEngine
from memento_tui.api.types import MemoryView
from memento_tui.errors import DataDirectoryError
from memento_tui.storage.journal_queries import JournalQueries
from memento_tui.storage.settings import Settings
from memento_tui.storage.store import Store
from memento_tui.tui.widgets.bars import StatusLine
from tests.tui.app_driver import opened

_BROKEN = {
    "a record": (Store, "find"),
    "the head of the journal": (JournalQueries, "head"),
    "a page of the list": (MemoryView, "page"),
    "the number of what waits": (Inbox, "count"),
    "a search": (SearchEngine, "search"),
    "a setting": (Settings, "get"),
}


@pytest.fixture
def filled(workspace: Workspace, data_dir: Path) -> Path:
    for number in range(30):
        workspace.remember(f"Rule number {number}: keep the cache cold.")
    return data_dir


@pytest.mark.parametrize("broken", _BROKEN)
async def test_what_cannot_be_read_is_told_and_the_app_goes_on(
    filled: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise DataDirectoryError("The database is damaged.", "Put a backup in its place.")

    async with opened(filled) as app:
        told: list[str] = []
        say = app.app.show_status

        def listen(text: str, *, problem: bool = False) -> None:
            told.append(text)
            say(text, problem=problem)

        def overhear(text: str) -> None:
            told.append(text)
            mention(text)

        line = app.app.screen_stack[0].query_one(StatusLine)
        mention = line.mention
        monkeypatch.setattr(app.app, "show_status", listen)
        monkeypatch.setattr(line, "mention", overhear)
        with monkeypatch.context() as breaking:
            breaking.setattr(*_BROKEN[broken], fail)
            with memento_tui.open(filled, actor="agent", agent="claude") as agent:
                agent.remember("Something new.")
            await app.press("j", "k")
            await app.until(lambda: any("claude" in text or "damaged" in text for text in told), "it is followed")
            await app.press("slash", "r", "u", "enter")
            for number in "31456782":
                await app.press(number, "j")
            await app.until(lambda: any("damaged" in text for text in told), "the fault is told")
            await app.press("escape", "z")
        await app.press("2", "escape", "slash", "escape", "j")
        assert app.app.is_running
    assert app.app.return_code in (None, 0)
