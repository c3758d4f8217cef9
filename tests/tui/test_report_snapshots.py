"""Pictures of the report on use. Each test says what to look for when its picture changes."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from textual.pilot import Pilot

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.tui.app import MementoApp
from tests.made import note, put, without_engine
from tests.unit.told_sessions import tell

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
Compare = Callable[..., bool]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory that is called the same in every picture, and a clock that stands."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(clock, "now", lambda: NOW)
    return without_engine(tmp_path / "memories")


@pytest.fixture
def app(folder: Path) -> Iterator[MementoApp]:
    """Five weeks of two projects: a memory that helps, one that never did, one told too seldom to say."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "urandom", random.Random(7).randbytes)  # noqa: S311 - the same in every run
        patched.setattr(clock, "now", lambda: NOW - timedelta(days=60))
        with memento_tui.open(folder) as person:
            texts = [
                "Releases are cut from the branch release/next, never from main, since a hotfix was lost in March.",
                "Anna decides about colours.",
                "日本語のメモリ 🙂 and \x1b[31mhidden\u202e characters [/nope]",
            ]
            made = [note(text, id=f"memory{n}", namespace="projects/site") for n, text in enumerate(texts)]
            release, colour, hostile = put(person._store, *made)
            for week in range(5):
                at = NOW - timedelta(weeks=week)
                used = [release] if week != 2 else []
                tell(person, f"s{week}", [release, colour], at, used=used, project="projects/site", tokens=24)
                tell(person, f"t{week}", [release], at, project="projects/shop", is_read=False)
            tell(person, "u", [hostile], NOW, project="projects/site", tokens=1_234)
    with Workspace(folder, channel="tui", session="picture") as workspace:
        yield MementoApp(workspace, "activity")


@pytest.fixture
def empty(folder: Path) -> Iterator[MementoApp]:
    with Workspace(folder, channel="tui", session="picture") as workspace:
        yield MementoApp(workspace, "activity")


def on(*keys: str) -> Callable[[Pilot[None]], object]:
    """Open the report and press keys, each once the app has settled."""

    async def run(pilot: Pilot[None]) -> None:
        for key in ("", "w", *keys):
            if key:
                await pilot.press(key)
            reading = [worker for worker in pilot.app.workers if worker.group in ("side", "read", "looked", "default")]
            if reading:
                await pilot.app.workers.wait_for_complete(reading)
            await pilot.pause()

    return run


def test_a_project_wide(snap_compare: Compare, app: MementoApp) -> None:
    """The sum of all above; columns of numbers straight below their names; beside it the weeks of the project."""
    assert snap_compare(app, terminal_size=(120, 40), run_before=on())


def test_a_memory_to_drop_narrow(snap_compare: Compare, app: MementoApp) -> None:
    """80 x 24: a - at what may be dropped; below it why, and the key that does it; its own keys in the key bar."""
    assert snap_compare(app, terminal_size=(80, 24), run_before=on("j", "j"))


def test_a_memory_to_drop_light(snap_compare: Compare, app: MementoApp) -> None:
    """The same in a light theme, the reason as legible; hidden characters have a ! and placeholders."""
    app.theme = "textual-light"
    assert snap_compare(app, terminal_size=(120, 24), run_before=on("j", "j", "j"))


def test_a_project_whose_transcripts_were_not_read(snap_compare: Compare, app: MementoApp) -> None:
    """No share is claimed; what was used is a number."""
    assert snap_compare(app, terminal_size=(80, 24), run_before=on("j"))


def test_nothing_told(snap_compare: Compare, empty: MementoApp) -> None:
    """A sentence that says what will be here, and what to do for it."""
    assert snap_compare(empty, terminal_size=(80, 24), run_before=on())
