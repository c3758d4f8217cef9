"""Pictures of the health. Each test says what to look for when its picture changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace, health
from memento_tui.api.backups import Backup, Backups
from memento_tui.api.health import HealthFinding
from memento_tui.model.review import make_contradiction
from memento_tui.tui.app import MementoApp
from tests.made import AGENT, PERSON, note, put, unguarded, without_engine

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
Compare = Callable[..., bool]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory that is called the same in every picture, a clock that stands, sizes that stay."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(clock, "now", lambda: NOW)
    disk = HealthFinding("disk", ok=True, detail="database 1.2 MB, indexes 310.4 kB, free 41.9 GB")
    versions = HealthFinding("versions", ok=True, detail="memento-tui 0.1.0, textual 8.2.8, tantivy 0.27.0")
    monkeypatch.setattr(health, "_disk", lambda _paths: disk)
    monkeypatch.setattr(health, "_versions", lambda: versions.detail)
    return without_engine(tmp_path / "memories")


@pytest.fixture
def filled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace that has something of many sorts of rot, and three backups."""
    old = NOW - timedelta(days=400)
    with memento_tui.open(folder) as workspace:
        with unguarded(workspace._store, AGENT, "remember", now=old) as tx:
            tx.add_all(
                [
                    note(
                        f"Rule {number} was written down a long time ago and nobody has asked for it since.",
                        id=f"old-{number}",
                        tags=["a"] if number % 3 else [],
                        namespace=("global", "projects/site")[number % 2],
                        created_at=old,
                        updated_at=old,
                    )
                    for number in range(24)
                ]
            )
        fresh = {"created_at": NOW, "updated_at": NOW}
        put(
            workspace._store,
            note("Port 8080 it is.", id="a", tags=["net"], **fresh),
            note("Port 9090 it is.", id="b", tags=["net"], **fresh),
            note("It ends soon.", id="c", tags=["net"], expires_at=NOW + timedelta(days=2), **fresh),
        )
        with unguarded(workspace._store, PERSON, "import") as tx:
            tx.add_all(
                [
                    note("The key is AKIAQ3EGRXWBZJ5KTN7Y.", id="leak", tags=["x"], **fresh),
                    note("日本語 🙂 [/nope] \x1b[31mhidden\u202e text", id="wide", **fresh),
                ]
            )
            tx.put(make_contradiction({"older": "a", "newer": "b", "score": 0.9, "why": "x"}), base=0)
    days = [datetime(2026, 11, day, 9, tzinfo=UTC) for day in (21, 20, 19)]
    kept: Sequence[Backup] = [
        Backup(_name(days[0]), days[0], 1_200_000, 3, 29),
        Backup(_name(days[1], "-before-restore"), days[1], 1_100_000, 2, 27, "before restore"),
        Backup(_name(days[2]), days[2], 400_000, 0, 0, "", f"{_name(days[2])} is cut off."),
    ]
    monkeypatch.setattr(Backups, "list", lambda _self: kept)
    return folder


def _name(at: datetime, why: str = "") -> str:
    return f"memento-{at:%Y%m%dT%H%M%SZ}{why}.db"


async def looked(pilot: object) -> None:
    """Wait until everything was looked at."""
    app = pilot.app  # type: ignore[attr-defined]
    await app.workers.wait_for_complete()
    await pilot.pause()  # type: ignore[attr-defined]
    await app.workers.wait_for_complete()
    await pilot.pause()  # type: ignore[attr-defined]


def keys(*pressed: str) -> Callable[[object], object]:
    """Return what presses keys after everything was looked at, and waits for what they lead to."""

    async def act(pilot: object) -> None:
        await looked(pilot)
        for key in pressed:
            await pilot.press(key)  # type: ignore[attr-defined]
        await looked(pilot)

    return act


def taken(folder: Path, compare: Compare, *pressed: str, size: tuple[int, int] = (120, 32), theme: str = "") -> bool:
    with Workspace(folder, channel="tui", session="picture") as workspace:
        app = MementoApp(workspace, "health")
        if theme:
            app.theme = theme
        return compare(app, terminal_size=size, run_before=keys(*pressed))


def test_health_wide(snap_compare: Compare, filled: Path) -> None:
    """Groups once each, ! and ~ apart from ok, numbers in one column, the secret itself nowhere."""
    assert taken(filled, snap_compare)


def test_health_what_was_found(snap_compare: Compare, filled: Path) -> None:
    """Beside the list: meaning, what to do, ten examples with placeholders for what is hidden."""
    assert taken(filled, snap_compare, *["j"] * 7)


def test_health_narrow(snap_compare: Compare, filled: Path) -> None:
    """80 x 24: the text below the list, nothing cut in the key bar."""
    assert taken(filled, snap_compare, "j", "j", size=(80, 24))


def test_health_backups(snap_compare: Compare, filled: Path) -> None:
    """The end of the list: checks and backups, the damaged one marked and explained."""
    assert taken(filled, snap_compare, "G")


def test_health_of_nothing(snap_compare: Compare, folder: Path) -> None:
    """A new workspace: everything ok, no backup yet, and which key makes one."""
    assert taken(folder, snap_compare, "G")


def test_health_light(snap_compare: Compare, filled: Path) -> None:
    """Everything legible on a light ground."""
    assert taken(filled, snap_compare, "j", "j", theme="textual-light")


def test_health_very_wide(snap_compare: Compare, filled: Path) -> None:
    """200 cells: no line of the text beside the list too long to read."""
    assert taken(filled, snap_compare, *["j"] * 13, size=(200, 40))
