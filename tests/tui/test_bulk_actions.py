"""What is done to many rows is carried out to its end, or to where the person stops it, and told of in any case."""

from __future__ import annotations

from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.model import Memory
from memento_tui.tui.screens.dialogs import Confirm
from tests.tui.app_driver import Driver, opened

_MANY = 400


@pytest.fixture
def many(workspace: Workspace, data_dir: Path) -> Path:
    workspace.remember_many([{"content": f"Rule number {number}: keep it cold."} for number in range(_MANY)])
    return data_dir


async def _verify_all(app: Driver, monkeypatch: pytest.MonkeyPatch, key: str) -> list[str]:
    """Begin to verify all memories, and press a key after the tenth; return the ids of those verified so far."""
    done: list[str] = []
    verify = Workspace.verify

    def counted(workspace: Workspace, memory_id: str, *, base_version: int | None = None) -> Memory:
        done.append(memory_id)
        if len(done) == 10:
            app.app.simulate_key(key)
        return verify(workspace, memory_id, base_version=base_version)

    monkeypatch.setattr(Workspace, "verify", counted)
    monkeypatch.setattr("memento_tui.tui.row_actions._ACTIONS_PER_PROGRESS", 2)
    await app.press("v", "G", "v")
    await app.until(lambda: len(app.memories.rows.marks) == _MANY, "all are marked")
    await app.press("a")
    await app.until(lambda: isinstance(app.app.screen, Confirm), "it is asked")
    await app.pilot.press("y")
    return done


async def test_another_key_does_not_cut_a_bulk_short(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(many) as app:
        done = await _verify_all(app, monkeypatch, "i")
        await app.until(lambda: f"Verified {_MANY}." in app.told, "the outcome is told")
        assert len(done) == _MANY
        assert not app.memories.rows.marks
        assert len(app.app.screen_stack) == 1


async def test_escape_stops_a_bulk_and_one_undo_takes_back_what_was_done(
    many: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(many) as app:
        done = await _verify_all(app, monkeypatch, "escape")
        await app.until(lambda: "Stopped" in app.told, "that it was stopped is told")
        assert 10 <= len(done) < _MANY
        await app.press("z")
        await app.until(lambda: workspace.get(done[0]).stability == "draft", "it is taken back")
        assert {workspace.get(memory_id).stability for memory_id in done} == {"draft"}
