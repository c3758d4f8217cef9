"""Pictures of the activity. Each test says what to look for when its picture changes."""

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
from memento_tui.operations.recall import count_used, recall
from memento_tui.tui.app import MementoApp
from tests.clocks import ticking
from tests.made import edit, without_engine

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
Compare = Callable[..., bool]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory that is called the same in every picture, and a clock that stands."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(clock, "now", lambda: NOW)
    return without_engine(tmp_path / "memories")


@pytest.fixture
def filled(folder: Path) -> Path:
    """What a person and two agents did in a morning; every id, hash and moment is the same in each picture."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "urandom", random.Random(7).randbytes)  # noqa: S311 - the same in every run
        ticking(patched, NOW - timedelta(hours=6), timedelta(minutes=1))
        _fill(folder)
    return folder


def _fill(folder: Path) -> None:
    with (
        memento_tui.open(folder, channel="tui") as person,
        memento_tui.open(folder, actor="agent", channel="mcp", agent="claude-code", session="4tq2m8") as claude,
        memento_tui.open(folder, actor="agent", channel="mcp", agent="codex", session="9k2f7q") as codex,
        memento_tui.open(folder, actor="system", channel="engine") as engine,
    ):
        person.remember_many({"content": f"Rule {n}: keep the port of service {n} closed."} for n in range(40))
        port = claude.remember(
            "The staging proxy listens on port 8080.\nAsk the owner before you change it.", title="Staging proxy"
        )
        claude.skips.add("dist/", "generated", "7d")
        codex.remember("日本語のメモリ 🙂 and \x1b[31mhidden\u202e characters [/nope]")
        engine.items.create("Look at the failing nightly run", category="active_work")
        person.activity.mark_seen()
        edit(
            claude,
            port.id,
            content="The staging proxy listens on port 9090.\nAsk the owner before you change it.",
            certainty=4,
        )
        codex.remember("Deploys go out on Fridays.")
        person.undo(person._store.journal.head())
        claude.remember("Releases are cut from the branch release/next, never from main.", tags=["release"])
        hits, _ = recall(claude, "which port does the staging proxy use", 4)
        count_used(claude, [hits[0].id])
        recall(codex, "service rule port", 3)


@pytest.fixture
def app(filled: Path) -> Iterator[MementoApp]:
    with Workspace(filled, channel="tui", session="picture") as workspace:
        yield MementoApp(workspace, "activity")


@pytest.fixture
def empty(folder: Path) -> Iterator[MementoApp]:
    with Workspace(folder, channel="tui", session="picture") as workspace:
        yield MementoApp(workspace, "activity")


async def settled(pilot: Pilot[None]) -> None:
    """Wait until what is read behind the screen is there."""
    # An action that waits for an answer is a worker too, and waits for longer than any test.
    reading = [worker for worker in pilot.app.workers if worker.group in ("side", "read activity", "looked", "default")]
    if reading:
        await pilot.app.workers.wait_for_complete(reading)
    await pilot.pause()


def on(*keys: str) -> Callable[[Pilot[None]], object]:
    """Press keys, each once the app has settled."""

    async def run(pilot: Pilot[None]) -> None:
        await settled(pilot)
        for key in keys:
            await pilot.press(key)
            await settled(pilot)

    return run


def test_journal_wide(snap_compare: Compare, app: MementoApp) -> None:
    """The entry under the cursor changed a text: the words that differ are marked, and the certainty below it.

    Rows: one letter for who, * for what came since the last look, < for what was taken back, straight columns.
    """
    assert snap_compare(app, terminal_size=(120, 32), run_before=on("j", "j", "j"))


def test_journal_ultra_wide(snap_compare: Compare, app: MementoApp) -> None:
    """200 x 50: every column whole."""
    assert snap_compare(app, terminal_size=(200, 50), run_before=on("j", "j", "j"))


def test_journal_narrow(snap_compare: Compare, app: MementoApp) -> None:
    """80 x 24: the list above, the entry below; channel and age at the right edge; nothing cut in the key bar."""
    assert snap_compare(app, terminal_size=(80, 24), run_before=on("j", "j"))


def test_journal_of_an_import(snap_compare: Compare, app: MementoApp) -> None:
    """The first 20 records, a line each, and how many more there are."""
    assert snap_compare(app, terminal_size=(120, 32), run_before=on("G"))


def test_journal_light(snap_compare: Compare, app: MementoApp) -> None:
    """The same in a light theme, with hostile and wide characters under the cursor: a ! and placeholders."""
    app.theme = "textual-light"
    assert snap_compare(app, terminal_size=(120, 24), run_before=on("j", "j", "j", "j", "j"))


def test_ledger_wide(snap_compare: Compare, app: MementoApp) -> None:
    """Rank, score, + for what was used; beside it why it scored, what the session cost, and the memory."""
    assert snap_compare(app, terminal_size=(120, 32), run_before=on("i", "j", "j", "j"))


def test_ledger_narrow(snap_compare: Compare, app: MementoApp) -> None:
    """80 x 24: tokens at the right; the keys of the ledger above the list."""
    assert snap_compare(app, terminal_size=(80, 24), run_before=on("i"))


def test_taking_back_more_than_one_asks(snap_compare: Compare, app: MementoApp) -> None:
    """A question that says how many entries and records, and names them; only y says yes."""
    assert snap_compare(app, terminal_size=(120, 24), run_before=on("space", "space", "space", "r"))


def test_journal_empty(snap_compare: Compare, empty: MementoApp) -> None:
    """A sentence that says what will be here."""
    assert snap_compare(empty, terminal_size=(120, 24), run_before=on())


def test_ledger_empty(snap_compare: Compare, empty: MementoApp) -> None:
    """A sentence that says what will be here."""
    assert snap_compare(empty, terminal_size=(80, 24), run_before=on("i"))
