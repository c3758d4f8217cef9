"""The folder of backups: their names, their reasons, how many are kept, and the result of each one's check."""

from __future__ import annotations

import logging
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, NamedTuple

import apsw
import msgspec

from memento_tui import clock
from memento_tui.errors import AmbiguousId, DataDirectoryError, MementoError, NotAllowed, NotFound
from memento_tui.model.validation import new_id
from memento_tui.paths import DataPaths
from memento_tui.private_files import PRIVATE_FILE_MODE, make_private_directory, replace_file
from memento_tui.regular_files import status_of
from memento_tui.storage import backup
from memento_tui.storage.backup import LOG_ENDS
from memento_tui.storage.connection import Connection, open_for_writing
from memento_tui.storage.database import Database
from memento_tui.storage.failures import explain_failure
from memento_tui.storage.journal_queries import JournalQueries
from memento_tui.storage.long_work import Progress, no_progress
from memento_tui.text.quantities import format_bytes

__all__ = [
    "KEPT",
    "WAIT_SECONDS",
    "Backup",
    "BackupFolder",
    "Reason",
    "keep_before_migration",
    "no_progress",
    "sync_directory",
]

_log = logging.getLogger(__name__)

Reason = Literal[
    "", "daily", "before import", "before migration", "before restore", "before repair", "before limit", "damaged"
]
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
    "before limit": Kept(3),
    "damaged": Kept(3),
}
"""The backups that stay when another of the same reason is made."""

_NOT_IN_ORDER: tuple[Reason, ...] = ("before repair", "damaged")
"""The reasons of backups of a damaged database, which are no state to go back to."""

_CLOCKS_APART = timedelta(days=1)
"""How far ahead of the clock a date still counts: the clock may have been put back a little."""

_SPARE_BYTES = 50_000_000
"""Bytes that a backup leaves free on its disk, because nothing can be written to a full one."""

WAIT_SECONDS = 60.0
"""Seconds for which an operation on the backups waits while another program makes or restores one."""

_REASONS = "|".join(reason.replace(" ", "-") for reason in KEPT if reason)
_NAME = re.compile(rf"memento-(\d{{8}}T\d{{6}})Z(?:-({_REASONS}))?(?:-(\d+))?\.db")
_UNFINISHED = "*.part*"


class Backup(msgspec.Struct, frozen=True):
    """One backup, with the facts that need no full read of it."""

    name: str
    at: datetime
    """When it was begun, in UTC, as its name says; where that is a day to come, when its newest entry was written."""
    size: int
    """Bytes, with those of a log beside it."""
    head: int
    """The newest journal entry in it."""
    memories: int
    why: Reason = ""
    """The occasion on which it was made by itself; empty where the person asked for it."""
    problem: str = ""
    """The reason why it cannot be restored, from a quick check, or from the last full one."""
    verified_at: datetime | None = None
    """When all of it was read last and found in order; ``None`` where that was never done."""

    @property
    def is_in_order(self) -> bool:
        """Whether it is a state to go back to, as far as is known."""
        return not self.problem and self.why not in _NOT_IN_ORDER


class _Check(msgspec.Struct, frozen=True):
    """The result of reading one file whole, and the facts by which the file is known to be the same."""

    at: datetime
    size: int
    changed_ns: int
    problem: str = ""


class PurgedBackups(NamedTuple):
    """The outcome of a purge in the backups, by their names."""

    purged: list[str]
    left: list[str]
    """The backups that could not be purged: they may still hold the text."""


class _Listed(NamedTuple):
    """A backup with the values that it is sorted by."""

    is_dated: bool
    """Whether a date is known that has come."""
    at: datetime
    number: int
    backup: Backup
    mark: str


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
            DataDirectoryError: the folder cannot be written, or is a link.

        """
        from filelock import FileLock, Timeout  # noqa: PLC0415 - most programs make no backup

        self._paths.check_no_links()
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
        """Return the backups, newest first; last those of which no date is known that has come."""
        return [one.backup for one in self._listed()]

    def _listed(self) -> Sequence[_Listed]:
        if not self._paths.backups.is_dir():
            return []
        checks = self._checks()
        names = [path for path in self._paths.backups.iterdir() if _named_moment(path.name) is not None]
        found = [_describe(path, checks.get(path.name)) for path in names]
        return sorted(found, key=lambda one: one[:3], reverse=True)

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
        if not listed:
            raise NotFound("There is no backup yet.", "`memento backup make` makes one.")
        if not found:
            raise NotFound(f"There is no backup {name!r:.80}.", "`memento backup list` names them.")
        if len(found) > 1:
            raise AmbiguousId(name, [one.name for one in found], what="name")
        return found[0]

    def is_behind(self, journal: JournalQueries) -> bool:
        """Tell whether anything was written that no backup holds which can be restored.

        The journal decides that, and no date: a clock may be wrong.
        """
        head = journal.head()
        mark = journal.mark(head)
        return head > 0 and not any(
            (one.backup.head, one.mark) == (head, mark) for one in self._listed() if one.backup.is_in_order
        )

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
            if checked and (fault := backup.verify_copy(unfinished, progress=progress, stop=stop)):
                raise DataDirectoryError(
                    f"There is no backup, because the database is not in order. {fault.sentence}"
                    if fault.is_lasting
                    else f"There is no backup, because the copy could not be checked. {fault.sentence}",
                    "`memento doctor` says more.",
                )
            unfinished.replace(final)
        finally:
            unfinished.unlink(missing_ok=True)
        sync_directory(self._paths.backups)
        if checked:
            self._note_check(final, _state_of(final), "")
        return _describe(final, self._checks().get(final.name)).backup

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
        try:
            backup.copy_file(file, unfinished)
            if not backup.purge_copy(unfinished, purge):
                return False
            if fault := backup.verify_copy(unfinished, progress=no_progress, stop=None):
                raise DataDirectoryError(fault.sentence)
            self._remove_logs(file.name)  # the copy has in it what they held
            unfinished.replace(file)
        finally:
            for left in file.parent.glob(f"{unfinished.name}*"):
                left.unlink()
        self._note_check(file, _state_of(file), "")
        return True

    def holds_text_of(self, record: str, record_id: str) -> bool:
        """Tell whether any backup that can be read holds a version of a record, by its whole id."""
        for one in self.list():
            # What cannot be read now is told of by the purge, which tries each of them.
            with suppress(DataDirectoryError), self._whole(self.path(one.name)) as file:
                if backup.holds_text_of(file, record, record_id):
                    return True
        return False

    def _whole(self, file: Path) -> AbstractContextManager[Path]:
        """Hold a file of the folder, or a copy of it with its log in it; see `backup.whole_file`."""
        return backup.whole_file(file, file.with_suffix(f".part-{new_id()}"))

    def _check_room(self, source: Connection) -> None:
        """Raise `DataDirectoryError` where a copy would fill the disk."""
        pages, size = (int(source.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_count", "page_size"))
        free = shutil.disk_usage(self._paths.backups).free
        if free < pages * size + _SPARE_BYTES:
            raise DataDirectoryError(
                f"There is no room for a backup: it takes {format_bytes(pages * size)},"
                f" and {format_bytes(free)} are free on the disk of {self._paths.backups}.",
                "Free some space; `memento backup rm` removes older backups.",
            )

    def rotate(self, reason: Reason, kept: Kept | None = None) -> str:
        """Remove the backups of one reason beyond those that stay; return a sentence about those that could not be.

        It raises nothing: the backup that was made before is made.
        """
        left = ""
        try:
            same = [one for one in self.list() if one.why == reason]
            stay = set(_staying(same, kept or KEPT[reason]))
            for one in same:
                if one.name not in stay:
                    left = one.name
                    self.remove(one.name)
        except OSError as error:
            said = f"An older backup could not be removed: {left or error.filename} ({error.strerror})."
            _log.warning(said)
            return said
        return ""

    def remove(self, name: str) -> None:
        """Delete a backup, with the log that one may have that was put aside as damaged. Raises `OSError`."""
        self._remove_logs(name)
        self.path(name).unlink(missing_ok=True)

    def _remove_logs(self, name: str) -> None:
        for end in backup.LOG_ENDS:
            self.path(name + end).unlink(missing_ok=True)

    def verify(
        self, file: Path, *, progress: Progress = no_progress, stop: threading.Event | None = None
    ) -> str | None:
        """Read a backup from its first page to its last entry; return the first fault as a sentence, or ``None``.

        What was found of one of the folder is noted there, unless it may be another thing next time. Nothing is
        written beside one that lies elsewhere. Raises `StoppedError`.
        """
        is_here = file.parent == self._paths.backups
        state = _state_of(file)
        scratch = file if is_here else self.path("checking")
        try:
            with backup.whole_file(file, scratch.with_suffix(f".part-{new_id()}")) as whole:
                fault = backup.verify_copy(whole, progress=progress, stop=stop)
        except DataDirectoryError as error:
            return error.message
        sentence = "" if fault is None else fault.sentence.replace(str(whole), str(file))
        if is_here and (fault is None or fault.is_lasting):
            self._note_check(file, state, sentence)
        return sentence or None

    def _checks(self) -> dict[str, _Check]:
        """Return the result of each file's last check, by the file's name."""
        try:
            return msgspec.json.decode(self._paths.backup_checks.read_bytes(), type=dict[str, _Check])
        except (OSError, msgspec.DecodeError):
            return {}  # then none was verified, as far as anybody knows

    def _note_check(self, file: Path, state: tuple[int, int], problem: str) -> None:
        """Store the result of a file's check; where it cannot be written, the file counts as unchecked."""
        with suppress(OSError):
            known = {name: check for name, check in self._checks().items() if self.path(name).exists()}
            known[file.name] = _Check(clock.now(), *state, problem)
            replace_file(self._paths.backup_checks, msgspec.json.encode(known))


def keep_before_migration(paths: DataPaths, progress: Progress = no_progress) -> None:
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
                folder.add(source, "before migration", checked=True, progress=progress)
            finally:
                source.close()
            folder.rotate("before migration")  # what it could not remove is in the log
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


def _named_moment(name: str) -> datetime | None:
    """Return when a backup was made, by its name; ``None`` for a file that memento did not name."""
    match = _NAME.fullmatch(name)
    try:
        return None if match is None else datetime.strptime(match[1], "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None


def _state_of(file: Path) -> tuple[int, int]:
    """Return the bytes of a file with its log, and when either changed last: by them it is known to be the same."""
    found = [status_of(path) for path in (file, *(file.with_name(file.name + end) for end in LOG_ENDS))]
    facts = [one for one in found if one is not None]
    return sum(one.st_size for one in facts), max((one.st_mtime_ns for one in facts), default=0)


def _describe(file: Path, check: _Check | None) -> _Listed:
    match, named = _NAME.fullmatch(file.name), _named_moment(file.name)
    if match is None or named is None:
        raise ValueError(file)
    why, number = msgspec.convert((match[2] or "").replace("-", " "), Reason), int(match[3] or 1)
    latest = clock.now() + _CLOCKS_APART
    state = (0, 0)
    try:
        state = _state_of(file)
        found = backup.read_contents(file)
    except (OSError, DataDirectoryError) as error:
        said = error.message if isinstance(error, DataDirectoryError) else f"It cannot be read: {error.strerror}."
        return _Listed(named <= latest, named, number, Backup(file.name, named, state[0], 0, 0, why, said), "")
    # A name tells no fractions of seconds.
    written = found.written_at and found.written_at.replace(microsecond=0)
    at = max((one for one in (named, written) if one is not None and one <= latest), default=None)
    described = Backup(file.name, at or named, state[0], found.head, found.memories, why)
    if check is not None and (check.size, check.changed_ns) == state:
        verified = None if check.problem else check.at
        described = msgspec.structs.replace(described, problem=check.problem, verified_at=verified)
    return _Listed(at is not None, at or named, number, described, found.mark)


def sync_directory(folder: Path) -> None:
    """Have the names in a folder written to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
