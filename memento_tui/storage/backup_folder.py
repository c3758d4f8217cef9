"""The folder of backups: their names and reasons, which of them stay, and what a check of each found."""

from __future__ import annotations

import logging
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple

import apsw
import msgspec
from filelock import FileLock, Timeout

from memento_tui import clock
from memento_tui.errors import AmbiguousId, DataDirectoryError, MementoError, NotAllowed, NotFound
from memento_tui.paths import DataPaths
from memento_tui.private_files import PRIVATE_FILE_MODE, make_private_directory
from memento_tui.storage import backup
from memento_tui.storage.backup import Progress
from memento_tui.storage.connection import Connection, open_for_writing
from memento_tui.storage.database import Database, explain_failure
from memento_tui.storage.journal_queries import JournalQueries

__all__ = [
    "KEPT",
    "WAIT_SECONDS",
    "Backup",
    "BackupFolder",
    "PurgedBackups",
    "Reason",
    "keep_before_migration",
    "no_progress",
    "sync_directory",
]

_log = logging.getLogger(__name__)

Reason = Literal["", "daily", "before import", "before migration", "before restore", "before repair", "damaged"]
"""Why a backup was made; empty where the person asked for it."""


class Kept(NamedTuple):
    """How many backups of one reason stay."""

    newest: int
    weeks: int = 0
    """Of those before, the last of each week stays, for so many weeks."""


KEPT: dict[Reason, Kept] = {
    "": Kept(10),
    "daily": Kept(7, weeks=4),
    "before import": Kept(3),
    "before migration": Kept(3),
    "before restore": Kept(10),
    "before repair": Kept(3),
    "damaged": Kept(3),
}
"""The backups that stay when another of the same reason is made."""

_SPARE_BYTES = 50_000_000
"""Bytes. What a backup leaves free on its disk: a full one keeps everything else from being written."""

WAIT_SECONDS = 60.0
"""How long waits what cannot go on without the backups while another program makes or restores one."""

_REASONS = "|".join(reason.replace(" ", "-") for reason in KEPT if reason)
_NAME = re.compile(rf"memento-(\d{{8}}T\d{{6}})Z(?:-({_REASONS}))?(?:-(\d+))?\.db")
_LOG_ENDS = ("-wal", "-shm", "")
_UNFINISHED = "*.part*"


class Backup(msgspec.Struct, frozen=True):
    """One backup, with the facts that need no full read of it."""

    name: str
    at: datetime
    """When it was begun, in UTC."""
    size: int
    """Bytes."""
    head: int
    """The newest journal entry in it."""
    memories: int
    why: Reason = ""
    """What it was made by itself for; empty where the person asked for it."""
    problem: str = ""
    """The reason why it cannot be restored, from a quick check, or from the last full one."""
    verified_at: datetime | None = None
    """When all of it was read last and found in order; ``None`` where that was never done."""


class _Check(msgspec.Struct, frozen=True):
    """What reading the whole of one file found, and the file by which it is known to be the same."""

    at: datetime
    size: int
    changed_ns: int
    problem: str = ""


class PurgedBackups(NamedTuple):
    """What a purge came to in the backups, by their names."""

    purged: list[str]
    left: list[str]
    """Those in which it could not be carried out: they hold what was purged, or may."""


def no_progress(_what: str, _done: int, _total: int) -> None:
    """Report nothing."""


class BackupFolder:
    """The backups of one data directory, whether its database can be opened or not."""

    def __init__(self, paths: DataPaths) -> None:
        self._paths = paths

    def path(self, name: str) -> Path:
        """Return the file of a backup."""
        return self._paths.backups / name

    @contextmanager
    def locked(self, *, wait_seconds: float = 0) -> Iterator[None]:
        """Hold the folder, with nothing unfinished in it that a killed program left.

        Raises:
            NotAllowed: another backup is under way.
            DataDirectoryError: the folder cannot be written.

        """
        try:
            make_private_directory(self._paths.backups)
            with FileLock(self._paths.backups_lock, timeout=wait_seconds, mode=PRIVATE_FILE_MODE):
                for left in self._paths.backups.glob(_UNFINISHED):
                    left.unlink(missing_ok=True)
                yield
        except Timeout:
            raise NotAllowed("Another backup is being made or restored.", "Wait until it is done.") from None
        except OSError as error:
            raise DataDirectoryError(
                f"{error.filename or self._paths.backups} cannot be used: {error.strerror}.",
                "Check the folder's permissions and the free space.",
            ) from error

    def list(self) -> list[Backup]:
        """Return the backups, newest first."""
        if not self._paths.backups.is_dir():
            return []
        found = [(_NAME.fullmatch(path.name), path) for path in self._paths.backups.iterdir()]
        matches = [(match, path) for match, path in found if match is not None and _moment(match) is not None]
        matches.sort(key=lambda pair: (pair[0][1], int(pair[0][3] or 1)), reverse=True)
        checks = self._checks()
        return [_describe(path, checks.get(path.name)) for _, path in matches]

    def find(self, name: str) -> Backup:
        """Return a backup by its name or a beginning of it; ``latest`` is the newest of the person's and daily ones.

        Raises:
            NotFound, AmbiguousId: no backup, or several, have that name.

        """
        listed = self.list()
        if name == "latest":
            found = [one for one in listed if one.why in ("", "daily") and not one.problem][:1]
        else:
            found = [one for one in listed if name in (one.name, Path(one.name).stem)]
            found = found or [one for one in listed if name and one.name.removeprefix("memento-").startswith(name)]
            found = found or [one for one in listed if name and one.name.startswith(name)]
        if not found:
            raise NotFound(f"There is no backup {name!r:.80}.", "`memento backup list` names them.")
        if len(found) > 1:
            raise AmbiguousId(name, [one.name for one in found])
        return found[0]

    def is_behind(self, journal: JournalQueries) -> bool:
        """Tell whether anything was written that the newest backup which can be restored does not hold."""
        newest = next((one for one in self.list() if not one.problem), None)
        head = journal.head()
        if newest is None or newest.head != head:
            return head > 0
        return backup.read_contents(self.path(newest.name)).mark != journal.mark(head)

    def free_path(self, reason: Reason) -> Path:
        """Return a name for a backup that is begun now, beyond all of this second: several may be made in one."""
        stem = f"{clock.now():memento-%Y%m%dT%H%M%SZ}"
        taken = [
            int(match[3] or 1)
            for path in self._paths.backups.iterdir()
            if (match := _NAME.fullmatch(path.name)) and match[1] in stem
        ]
        named = stem + (f"-{reason.replace(' ', '-')}" if reason else "")
        return self.path(f"{named}-{max(taken) + 1}.db" if taken else f"{named}.db")

    def add(
        self,
        source: Connection,
        reason: Reason,
        *,
        checked: bool,
        progress: Progress = no_progress,
        stop: threading.Event | None = None,
    ) -> Backup:
        """Copy an open database, whose present state ``source`` keeps in view; the caller holds `locked`.

        A copy that is ``checked`` has another name until all of it was read.

        Raises:
            DataDirectoryError: the copy cannot be written, or something is wrong with what was copied.
            StoppedError: ``stop`` was set; there is no backup.

        """
        self._check_room(source)
        final = self.free_path(reason)
        unfinished = final.with_suffix(".part")
        backup.copy_database(source, unfinished, progress=progress, stop=stop)
        try:
            if checked and (problem := backup.verify_copy(unfinished, progress=progress, stop=stop)):
                raise DataDirectoryError(
                    f"There is no backup, because the database is not in order. {problem}",
                    "`memento doctor` says more.",
                )
            unfinished.replace(final)
        finally:
            unfinished.unlink(missing_ok=True)
        sync_directory(self._paths.backups)
        if checked:
            self._note_check(final, "")
        return _describe(final, self._checks().get(final.name))

    def purge(self, purge: Callable[[Database], object], *, progress: Progress = no_progress) -> PurgedBackups:
        """Carry out a purge in every backup; the caller holds `locked`. Each is replaced once it is purged and checked.

        ``purge`` raises `NotFound` where the database that it is given holds nothing of what is purged.
        """
        listed = self.list()
        purged, left = [], []
        for number, one in enumerate(listed):
            progress("Purging the backups", number, len(listed))
            try:
                if self._purge_one(self.path(one.name), purge):
                    purged.append(one.name)
            except Exception:  # noqa: BLE001 - see below
                # What cannot be read may hold it too. Whatever a backup holds, the database is still to be purged.
                _log.warning("%s was not purged", one.name, exc_info=True)
                left.append(one.name)
        return PurgedBackups(purged, left)

    def _purge_one(self, file: Path, purge: Callable[[Database], object]) -> bool:
        unfinished = file.with_suffix(".part")
        if any(file.with_name(file.name + end).exists() for end in _LOG_ENDS if end):
            raise DataDirectoryError(f"{file.name} is no finished copy.")
        try:
            shutil.copyfile(file, unfinished)
            unfinished.chmod(PRIVATE_FILE_MODE)
            if not backup.purge_copy(unfinished, purge):
                return False
            if problem := backup.verify_copy(unfinished, progress=no_progress, stop=None):
                raise DataDirectoryError(problem)
            unfinished.replace(file)
        finally:
            for left in file.parent.glob(f"{unfinished.name}*"):
                left.unlink()
        self._note_check(file, "")
        return True

    def _check_room(self, source: Connection) -> None:
        """Raise `DataDirectoryError` where a copy would fill the disk."""
        pages, size = (int(source.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_count", "page_size"))
        free = shutil.disk_usage(self._paths.backups).free
        if free < pages * size + _SPARE_BYTES:
            raise DataDirectoryError(
                f"There is no room for a backup: it takes {_megabytes(pages * size)}, and {_megabytes(free)} are free"
                f" on the disk of {self._paths.backups}.",
                "Free some space; `memento backup rm` removes older backups.",
            )

    def rotate(self, reason: Reason, kept: Kept | None = None) -> None:
        """Remove the backups of one reason beyond those that stay."""
        same = [one for one in self.list() if one.why == reason]
        stay = set(_staying(same, kept or KEPT[reason]))
        for one in same:
            if one.name not in stay:
                self.remove(one.name)

    def remove(self, name: str) -> None:
        """Delete a backup, with the log that one may have that was put aside as damaged. Raises `OSError`."""
        for end in _LOG_ENDS:
            self.path(name + end).unlink(missing_ok=True)

    def verify(self, name: str, *, progress: Progress = no_progress, stop: threading.Event | None = None) -> str | None:
        """Read a backup from its first page to its last entry; return the first fault as a sentence, or ``None``.

        What was found is noted beside the backups. Raises `StoppedError`.
        """
        problem = backup.verify_copy(self.path(name), progress=progress, stop=stop)
        self._note_check(self.path(name), problem or "")
        return problem

    def _checks(self) -> dict[str, _Check]:
        """Return what was found of each file when it was read last, as far as it is still the same file."""
        try:
            return msgspec.json.decode(self._paths.backup_checks.read_bytes(), type=dict[str, _Check])
        except (OSError, msgspec.DecodeError):
            return {}  # then none was verified, as far as anybody knows

    def _note_check(self, file: Path, problem: str) -> None:
        """Note what reading a file found; where that cannot be written, it counts as not read."""
        with suppress(OSError):
            facts = file.stat()
            known = {name: check for name, check in self._checks().items() if self.path(name).exists()}
            known[file.name] = _Check(clock.now(), facts.st_size, facts.st_mtime_ns, problem)
            unfinished = self._paths.backup_checks.with_suffix(".part")
            unfinished.write_bytes(msgspec.json.encode(known))
            unfinished.chmod(PRIVATE_FILE_MODE)
            unfinished.replace(self._paths.backup_checks)


def keep_before_migration(paths: DataPaths) -> None:
    """Make a backup of a database of an older format, while the caller keeps others from writing it.

    Raises:
        DataDirectoryError: there is none, so the database has to stay as it is.

    """
    folder = BackupFolder(paths)
    try:
        with folder.locked(wait_seconds=WAIT_SECONDS):
            # The caller's own connection is about to write, and what is being written cannot be copied.
            source = open_for_writing(paths.database, busy_seconds=WAIT_SECONDS)
            try:
                source.execute("BEGIN DEFERRED")
                folder.add(source, "before migration", checked=True)
            finally:
                source.close()
            folder.rotate("before migration")
    except apsw.Error as error:
        raise _not_migrated(paths, explain_failure(error, paths.database)) from error
    except (DataDirectoryError, NotAllowed) as error:
        raise _not_migrated(paths, error) from error


def _not_migrated(paths: DataPaths, error: MementoError) -> DataDirectoryError:
    said = f"{paths.database} has an older format, and stays so, because there is no backup of it. {error.message}"
    return DataDirectoryError(said, f"{error.hint} Nothing was changed.".strip())


def _staying(newest_first: Sequence[Backup], kept: Kept) -> Iterable[str]:
    """Yield the names of the backups of one reason that stay."""
    yield from (one.name for one in newest_first[: max(1, kept.newest)])
    weeks: set[tuple[int, int]] = set()
    for one in newest_first[max(1, kept.newest) :]:
        week = one.at.isocalendar()[:2]
        if week not in weeks and len(weeks) < kept.weeks:
            weeks.add(week)
            yield one.name


def _moment(match: re.Match[str]) -> datetime | None:
    """Return when a backup was made, by its name; ``None`` for a file that memento did not name."""
    try:
        return datetime.strptime(match[1], "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None


def _describe(file: Path, check: _Check | None) -> Backup:
    match = _NAME.fullmatch(file.name)
    if match is None:
        raise ValueError(file)
    at = _moment(match)
    if at is None:
        raise ValueError(file)
    why = msgspec.convert((match[2] or "").replace("-", " "), Reason)
    size = 0
    try:
        facts = file.stat()
        size = facts.st_size
        found = backup.read_contents(file)
    except OSError as error:
        return Backup(file.name, at, size, 0, 0, why, f"It cannot be read: {error.strerror}.")
    except DataDirectoryError as error:
        return Backup(file.name, at, size, 0, 0, why, error.message)
    if check is None or (check.size, check.changed_ns) != (facts.st_size, facts.st_mtime_ns):
        return Backup(file.name, at, size, found.head, found.memories, why)
    verified = None if check.problem else check.at
    return Backup(file.name, at, size, found.head, found.memories, why, check.problem, verified)


def _megabytes(count: int) -> str:
    return f"{count / 1_000_000:,.0f} MB"


def sync_directory(folder: Path) -> None:
    """Have the names in a folder written to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
