"""Make, list, verify, remove and restore backups: whole copies of the database beside it."""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec
from filelock import FileLock, Timeout

from memento_tui import clock
from memento_tui.api.accounts import ACCOUNTS_SETTING, revoke_all
from memento_tui.errors import AmbiguousId, DataDirectoryError, NotAllowed, NotFound
from memento_tui.paths import DataPaths
from memento_tui.private_files import PRIVATE_FILE_MODE, make_private_directory
from memento_tui.storage import backup
from memento_tui.storage.backup import Progress
from memento_tui.storage.journal import Author
from memento_tui.storage.last_known import forget_last_known
from memento_tui.storage.store import Store

__all__ = ["Backup", "Backups", "RestoredBackup", "list_backups", "replace_damaged"]

_DEFAULT_KEPT_BACKUPS = 10
"""How many backups stay; each new one removes the oldest beyond that."""

_BACKUP_NAME = re.compile(r"memento-(\d{8}T\d{6})Z(-before-restore|-before-repair|-damaged)?(?:-(\d+))?\.db")
_UNFINISHED_PATTERN = "*.part*"


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
    why: str = ""
    """``before restore``, ``before repair`` or ``damaged`` where it was not asked for; what it kept then."""
    problem: str = ""
    """The reason why it cannot be restored, from a quick check; `Backups.verify` reads all of it."""


class RestoredBackup(msgspec.Struct, frozen=True):
    """The backup that was restored, and the one that keeps the former state."""

    name: str
    seq: int
    """The journal entry that records it."""
    before: str
    """The backup of the state that was replaced; empty where there was none."""


def _no_progress(_what: str, _done: int, _total: int) -> None:
    """Report nothing."""


class Backups:
    """The backups of one workspace. Only a person makes, removes and restores them."""

    def __init__(self, paths: DataPaths, store: Store, author: Author) -> None:
        self._paths = paths
        self._store = store
        self._author = author

    def make(
        self,
        *,
        keep: int = _DEFAULT_KEPT_BACKUPS,
        progress: Progress = _no_progress,
        stop: threading.Event | None = None,
    ) -> Backup:
        """Copy the database as it is now, check the copy, and remove the oldest backups beyond ``keep``.

        Others read and write meanwhile. What is listed afterwards is whole: until it is checked it has another name.

        Raises:
            NotAllowed: an agent asks, or another backup is under way.
            DataDirectoryError: the copy cannot be written, or something is wrong with what was copied.
            StoppedError: ``stop`` was set; there is no backup.

        """
        self._check_person("makes")
        with _backups_lock(self._paths):
            made = self._copied("", progress, stop, checked=True)
            for old in self.list()[max(1, keep) :]:
                (self._paths.backups / old.name).unlink(missing_ok=True)
        return made

    def keep_before(self, what: Literal["repair"]) -> Backup:
        """Copy the database as it is before something that changes it in a way that no undo takes back.

        Raises:
            NotAllowed: another backup is under way.
            DataDirectoryError: the copy cannot be written.

        """
        with _backups_lock(self._paths):
            return self._copied(f"-before-{what}", _no_progress, None, checked=False)

    def list(self) -> list[Backup]:
        """Return the backups, newest first. They are not read whole: `verify` does that."""
        return list_backups(self._paths)

    def find(self, name: str) -> Backup:
        """Return a backup by its name or a beginning of it; ``latest`` is the newest that the person made.

        Raises:
            NotFound, AmbiguousId: no backup, or several, have that name.

        """
        return _find_backup(self._paths, name)

    def verify(
        self, name: str, *, progress: Progress = _no_progress, stop: threading.Event | None = None
    ) -> str | None:
        """Read a backup from its first page to its last entry; return the first fault as a sentence, or ``None``.

        Raises:
            NotFound, AmbiguousId: no backup, or several, have that name.
            StoppedError: ``stop`` was set.

        """
        return backup.verify_copy(self._paths.backups / self.find(name).name, progress=progress, stop=stop)

    def remove(self, name: str) -> Backup:
        """Delete a backup. Raises `NotFound`, `AmbiguousId` or `NotAllowed`."""
        self._check_person("removes")
        with _backups_lock(self._paths):
            found = self.find(name)
            (self._paths.backups / found.name).unlink()
        return found

    def holding(self, record_id: str, kind: str = "memory") -> Sequence[str]:
        """Return the names of the backups that hold a text of a record, an older version of it too."""
        found = []
        for one in self.list():
            try:
                if not one.problem and not backup.contains_record(self._paths.backups / one.name, kind, record_id):
                    continue
            except DataDirectoryError:
                pass  # what cannot be read may hold it
            found.append(one.name)
        return found

    def restore(
        self, name: str, *, progress: Progress = _no_progress, stop: threading.Event | None = None
    ) -> RestoredBackup:
        """Replace the workspace's contents by a backup's. The former state is kept as a backup of its own.

        It is one write: another program sees all of the one state or all of the other. The search indexes notice that
        it is another past and are built anew. The accounts of HTTP clients stay as they are.

        Raises:
            NotFound, AmbiguousId: no backup, or several, have that name.
            NotAllowed: an agent asks, it is of another workspace, or another backup is under way.
            DataDirectoryError: something is wrong with the backup; nothing was changed.
            StoppedError: ``stop`` was set; nothing was changed.

        """
        self._check_person("restores")
        chosen = self.find(name)
        file = self._paths.backups / chosen.name
        with _backups_lock(self._paths):
            _check_whole(file, progress, stop)
            if backup.read_contents(file).origin != self._store.database.origin:
                raise NotAllowed(
                    f"{chosen.name} is a backup of another workspace.",
                    f"To open that one: put it into a folder of its own as {self._paths.database.name}, "
                    "and name the folder with --data-dir.",
                )
            before = self._copied("-before-restore", progress, stop, checked=False)
            copy = self._paths.backups / "restoring.part"
            progress("Preparing", 0, 1)
            shutil.copyfile(file, copy)
            copy.chmod(0o600)
            note = f"{chosen.name}; what was there before is in {before.name}"
            seq = backup.restore_copy(
                self._store.database,
                copy,
                self._author,
                note,
                kept_settings=(ACCOUNTS_SETTING,),  # a key that was rotated or revoked since stays so
                progress=progress,
                stop=stop,
            )
        return RestoredBackup(chosen.name, seq, before.name)

    def _copied(self, why: str, progress: Progress, stop: threading.Event | None, *, checked: bool) -> Backup:
        folder = self._paths.backups
        final = _free_name(folder, f"{clock.now():memento-%Y%m%dT%H%M%SZ}{why}")
        unfinished = final.with_suffix(".part")
        backup.copy_database(self._store.database, unfinished, progress=progress, stop=stop)
        try:
            if checked and (problem := backup.verify_copy(unfinished, progress=progress, stop=stop)):
                raise DataDirectoryError(
                    f"There is no backup, because the database is not in order. {problem}",
                    "`memento doctor` says more.",
                )
            unfinished.replace(final)
        finally:
            unfinished.unlink(missing_ok=True)
        _sync_directory(folder)
        return _describe_backup(final)

    def _check_person(self, verb: str) -> None:
        if self._author.actor != "person":
            raise NotAllowed(f"Only a person {verb} a backup.", "Ask the person to do it.")


def replace_damaged(
    paths: DataPaths, author: Author, name: str, *, progress: Progress = _no_progress
) -> RestoredBackup:
    """Put a backup in the place of a database that is lost or cannot be opened; what is there is kept as a backup.

    All accounts of HTTP clients are revoked: which keys were rotated or revoked since is not known.

    Raises:
        NotFound, AmbiguousId: no backup, or several, have that name.
        NotAllowed: an agent asks, or another backup is under way.
        DataDirectoryError: something is wrong with the backup, or a file cannot be moved.

    """
    if author.actor != "person":
        raise NotAllowed("Only a person restores a backup.", "Ask the person to do it.")
    chosen = _find_backup(paths, name)
    with _backups_lock(paths):
        _check_whole(paths.backups / chosen.name, progress, None)
        aside = _free_name(paths.backups, f"{clock.now():memento-%Y%m%dT%H%M%SZ}-damaged")
        copy = aside.with_suffix(".part")
        shutil.copyfile(paths.backups / chosen.name, copy)
        copy.chmod(0o600)
        kept = f"the database before is kept as {aside.name}" if paths.database.exists() else "there was no database"
        note = f"{chosen.name}; {kept}"
        seq = backup.migrate_copy(copy, author, note, settings={ACCOUNTS_SETTING: revoke_all})
        forget_last_known(paths.database)
        for end in ("-wal", "-shm", ""):
            old = paths.database.with_name(paths.database.name + end)
            if old.exists():
                old.replace(aside.with_name(aside.name + end))
        copy.replace(paths.database)
        _sync_directory(paths.root)
    return RestoredBackup(chosen.name, seq, aside.name if aside.exists() else "")


@contextmanager
def _backups_lock(paths: DataPaths) -> Iterator[None]:
    """Hold the lock of the backups, with their folder in place and nothing unfinished left by a killed program."""
    try:
        make_private_directory(paths.backups)
        with FileLock(paths.backups_lock, timeout=0, mode=PRIVATE_FILE_MODE):
            for left in paths.backups.glob(_UNFINISHED_PATTERN):
                left.unlink(missing_ok=True)
            yield
    except Timeout:
        raise NotAllowed("Another backup is being made or restored.", "Wait until it is done.") from None
    except OSError as error:
        raise DataDirectoryError(
            f"{error.filename or paths.backups} cannot be used: {error.strerror}.",
            "Check the folder's permissions and the free space.",
        ) from error


def list_backups(paths: DataPaths) -> list[Backup]:
    """Return the backups of a data directory, newest first, whether its database can be opened or not."""
    if not paths.backups.is_dir():
        return []
    matches = [(match, path) for path in paths.backups.iterdir() if (match := _BACKUP_NAME.fullmatch(path.name))]
    matches.sort(key=lambda pair: (pair[0][1], int(pair[0][3] or 1)), reverse=True)
    return [_describe_backup(path) for _, path in matches]


def _describe_backup(file: Path) -> Backup:
    match = _BACKUP_NAME.fullmatch(file.name)
    if match is None:
        raise ValueError(file)
    at = datetime.strptime(match[1], "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    why = (match[2] or "").strip("-").replace("-", " ")
    size = 0
    try:
        size = file.stat().st_size
        found = backup.read_contents(file)
    except OSError as error:
        return Backup(file.name, at, size, 0, 0, why, f"It cannot be read: {error.strerror}.")
    except DataDirectoryError as error:
        return Backup(file.name, at, size, 0, 0, why, error.message)
    return Backup(file.name, at, size, found.head, found.memories, why)


def _find_backup(paths: DataPaths, name: str) -> Backup:
    listed = list_backups(paths)
    if name == "latest":
        found = [one for one in listed if not one.why and not one.problem][:1]
    else:
        found = [one for one in listed if name in (one.name, Path(one.name).stem)]
        found = found or [one for one in listed if name and one.name.removeprefix("memento-").startswith(name)]
        found = found or [one for one in listed if name and one.name.startswith(name)]
    if not found:
        raise NotFound(f"There is no backup {name!r:.80}.", "`memento backup list` names them.")
    if len(found) > 1:
        raise AmbiguousId(name, [one.name for one in found])
    return found[0]


def _check_whole(file: Path, progress: Progress, stop: threading.Event | None) -> None:
    problem = backup.verify_copy(file, progress=progress, stop=stop)
    if problem:
        raise DataDirectoryError(
            f"{file.name} cannot be restored. {problem}", "Choose another: memento backup list. Nothing was changed."
        )


def _free_name(folder: Path, stem: str) -> Path:
    """Return a name beyond all of that second in the folder: several backups may be made in one."""
    taken = [
        int(match[3] or 1)
        for path in folder.iterdir()
        if (match := _BACKUP_NAME.fullmatch(path.name)) and match[1] in stem
    ]
    return folder / (f"{stem}-{max(taken) + 1}.db" if taken else f"{stem}.db")


def _sync_directory(folder: Path) -> None:
    """Have the names in a folder written to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
