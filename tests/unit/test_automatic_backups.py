"""Backups that nobody asked for: when they are made, which stay, and what happens where they cannot be made."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import apsw
import pytest

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace, overview
from memento_tui.api.backups import Backup
from memento_tui.api.maintenance import maintain_workspace
from memento_tui.errors import DataDirectoryError
from memento_tui.formats.import_export import run_import
from memento_tui.storage import backup_folder
from memento_tui.storage.backup_folder import KEPT, BackupFolder
from tests.clocks import START
from tests.made import UNPACKED_FORMAT, WITHOUT_PACKED_IMAGES


def _reasons(workspace: Workspace) -> list[str]:
    return [one.why for one in workspace.backups.list()]


@pytest.fixture
def day(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Return a function that sets memento's clock to the same hour of a day, counted from the first."""

    def set_to(number: int) -> None:
        monkeypatch.setattr(clock, "now", lambda: START + timedelta(days=number))

    set_to(0)
    return set_to


@pytest.fixture
def no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every backup need more than any disk has."""
    monkeypatch.setattr(backup_folder, "_SPARE_BYTES", 10**18)


def test_maintenance_makes_a_backup_a_day_where_something_changed(
    workspace: Workspace, day: Callable[[int], None]
) -> None:
    assert maintain_workspace(workspace).backup == ""
    workspace.remember("The port is 8080.")
    made = maintain_workspace(workspace).backup
    assert [(one.name, one.why, one.memories, one.verified_at is None) for one in workspace.backups.list()] == [
        (made, "daily", 1, False)
    ]
    workspace.remember("The port is 9090.")
    assert maintain_workspace(workspace).backup == ""
    day(1)
    assert maintain_workspace(workspace).backup
    day(2)
    assert maintain_workspace(workspace).backup == ""
    assert _reasons(workspace) == ["daily", "daily"]


def test_a_dry_run_and_a_setting_leave_the_daily_backup_out(workspace: Workspace) -> None:
    workspace.remember("The port is 8080.")
    assert maintain_workspace(workspace, dry_run=True).backup == ""
    workspace.paths.config.write_text("[engine]\nenabled = false\n[maintenance]\nbackups = false\n")
    with memento_tui.open(workspace.paths.root) as other:
        assert maintain_workspace(other).backup == ""
        assert other.backups.list() == []


@pytest.mark.usefixtures("no_room")
def test_a_daily_backup_that_fails_is_told_by_the_run_and_by_health(workspace: Workspace) -> None:
    workspace.remember("The port is 8080.")
    report = maintain_workspace(workspace)
    assert any("There is no room for a backup" in problem for problem in report.problems)
    assert report.backup == ""
    signs = {sign.name: sign for sign in overview.health_signs(workspace, clock.now())}
    assert not signs["backup"].ok
    assert "There is no room for a backup" in signs["backup"].detail
    assert list(workspace.paths.backups.iterdir()) == []


def test_seven_daily_backups_stay_and_one_of_each_of_the_four_weeks_before(
    workspace: Workspace, day: Callable[[int], None]
) -> None:
    for number in range(40):
        day(number)
        workspace.remember(f"Day {number}.")
        maintain_workspace(workspace)
    day(40)
    stayed = [(clock.now().date() - one.at.date()).days for one in workspace.backups.list()]
    assert stayed[:7] == [1, 2, 3, 4, 5, 6, 7]
    assert len(stayed) == 11
    weeks = [one.at.isocalendar()[1] for one in workspace.backups.list()][7:]
    assert len(set(weeks)) == 4
    assert all(later - earlier == 7 for earlier, later in pairwise(stayed[8:]))


def test_a_daily_backup_that_cannot_be_rotated_is_made_all_the_same(
    workspace: Workspace, day: Callable[[int], None]
) -> None:
    workspace.remember("The port is 8080.")
    for number in range(1, 9):
        (workspace.paths.backups / f"memento-2020010{number}T000000Z-daily.db").mkdir(parents=True)
    day(0)
    report = maintain_workspace(workspace)
    assert report.backup
    assert [problem.partition(":")[0] for problem in report.problems] == ["An older backup could not be removed"]
    signs = {sign.name: sign for sign in overview.health_signs(workspace, clock.now())}
    assert signs["backup"].ok


def test_what_is_kept_of_a_damaged_state_is_no_backup_of_the_day(
    workspace: Workspace, day: Callable[[int], None]
) -> None:
    workspace.remember("The port is 8080.")
    workspace.backups.keep_before_repair()
    assert workspace.backups.is_behind()
    assert maintain_workspace(workspace).backup
    day(1)
    assert not workspace.backups.is_behind()


def test_a_daily_backup_from_days_to_come_keeps_no_day_from_its_own(
    workspace: Workspace, day: Callable[[int], None]
) -> None:
    day(300)
    workspace.remember("The port is 8080.")
    ahead = maintain_workspace(workspace).backup
    for number in range(10):
        day(number)
        workspace.remember(f"Day {number}.")
        assert maintain_workspace(workspace).backup
    assert workspace.backups.list()[0].name != ahead
    assert ahead not in [one.name for one in workspace.backups.list() if one.why == "daily"][:7]


def test_backups_of_one_reason_do_not_push_out_those_of_another(workspace: Workspace) -> None:
    workspace.remember("The port is 8080.")
    asked = workspace.backups.make()
    for _ in range(KEPT["before restore"].newest + 2):
        workspace.backups.restore(asked.name)
    assert _reasons(workspace) == ["before restore"] * KEPT["before restore"].newest + [""]


def _notes(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        (folder / f"note {number}.md").write_text(f"Note {number} of the import.\n")
    return folder


def test_a_large_import_is_kept_apart_by_a_backup_and_a_small_one_is_not(workspace: Workspace, tmp_path: Path) -> None:
    workspace.remember("The port is 8080.")
    run_import(workspace, "vault", _notes(tmp_path / "few", 100))
    assert _reasons(workspace) == []
    run_import(workspace, "vault", _notes(tmp_path / "many", 101), dry_run=True)
    assert _reasons(workspace) == []
    run_import(workspace, "vault", tmp_path / "many")
    (made,) = workspace.backups.list()
    assert (made.why, made.memories, made.verified_at is None) == ("before import", 101, False)
    # Nothing was written since that the newest backup lacks: the second import changes nothing.
    workspace.backups.make()
    run_import(workspace, "vault", tmp_path / "many")
    assert _reasons(workspace) == ["", "before import"]


@pytest.mark.usefixtures("no_room")
def test_an_import_that_cannot_be_kept_apart_imports_nothing(workspace: Workspace, tmp_path: Path) -> None:
    workspace.remember("The port is 8080.")
    with pytest.raises(DataDirectoryError, match="no room for a backup"):
        run_import(workspace, "vault", _notes(tmp_path / "many", 101))
    assert workspace.count_all() == 1


def _make_older(workspace: Workspace) -> None:
    """Give the database an earlier format, as an earlier memento left it."""
    workspace.close()
    connection = apsw.Connection(str(workspace.paths.database))
    for statement in WITHOUT_PACKED_IMAGES:
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {UNPACKED_FORMAT}")
    connection.close()


def test_a_database_of_an_older_format_is_backed_up_before_it_gets_the_present_one(
    workspace: Workspace, data_dir: Path
) -> None:
    memory = workspace.remember("The port is 8080.")
    _make_older(workspace)
    told: list[str] = []
    with Workspace(data_dir, progress=lambda what, _done, _total: told.append(what)) as present:
        steps = list(dict.fromkeys(told))
        assert (steps[0], steps[-1]) == ("Copying", "Bringing the database to the present format")
        (made,) = present.backups.list()
        assert (made.why, made.memories, made.verified_at is None) == ("before migration", 1, False)
        copy = apsw.Connection(str(present.paths.backups / made.name), flags=apsw.SQLITE_OPEN_READONLY)
        assert copy.execute("PRAGMA user_version").fetchall() == [(UNPACKED_FORMAT,)]
        copy.close()
        present.forget(memory.id)
        present.backups.restore(made.name)
        assert present.get(memory.id).status == "active"


def test_without_a_backup_the_format_stays_and_a_sentence_says_why(
    workspace: Workspace, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.remember("The port is 8080.")
    _make_older(workspace)
    with monkeypatch.context() as full:
        full.setattr(backup_folder, "_SPARE_BYTES", 10**18)
        with pytest.raises(DataDirectoryError, match=r"older format, and stays so.*no room for a backup") as told:
            memento_tui.open(data_dir)
    assert "Nothing was changed" in told.value.hint
    with memento_tui.open(data_dir) as present:
        assert present.count_all() == 1


def test_the_weeks_are_counted_from_the_backups_that_are_there() -> None:
    def made(day: int, month: int) -> Backup:
        at = datetime(2026, month, day, 3, tzinfo=UTC)
        return Backup(f"memento-{at:%Y%m%dT%H%M%S}Z-daily.db", at, 1, 1, 1, "daily")

    recent = [made(day, 11) for day in range(23, 16, -1)]
    older = [made(16, 11), made(9, 11), made(8, 11), made(1, 3), made(28, 2), made(3, 1), made(2, 1)]
    stay = list(backup_folder._staying([*recent, *older], KEPT["daily"]))
    assert stay == [one.name for one in (*recent, older[0], older[1], older[2], older[3])]


def test_a_backup_that_a_killed_program_was_making_is_not_counted(workspace: Workspace) -> None:
    workspace.remember("The port is 8080.")
    folder = BackupFolder(workspace.paths)
    with folder.locked():
        (workspace.paths.backups / "memento-20260101T000000Z-daily.part").write_bytes(b"half")
    assert folder.is_behind(workspace._store.journal)
    assert maintain_workspace(workspace).backup
    assert not folder.is_behind(workspace._store.journal)


def test_a_new_database_shows_no_progress(data_dir: Path) -> None:
    steps: list[str] = []
    with Workspace(data_dir, progress=lambda what, _done, _total: steps.append(what)) as made:
        made.remember("The port is 8080.")
    assert steps == []


@pytest.mark.usefixtures("no_room")
def test_too_little_room_for_a_backup_is_told_in_figures_that_say_something(workspace: Workspace) -> None:
    workspace.remember("The port is 8080.")
    with pytest.raises(DataDirectoryError, match=r"it takes \d+ kB, and \S+ [kMGT]B are free"):
        workspace.backups.make()
