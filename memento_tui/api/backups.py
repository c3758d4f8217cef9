"""Make, list, verify, remove and restore backups: whole copies of the database beside it."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import msgspec

from memento_tui.api.accounts import ACCOUNTS_SETTING, revoke_all
from memento_tui.api.drafts import move_drafts
from memento_tui.api.encryption_status import text_folders_of
from memento_tui.api.hub_session import HUB_SETTING, alone_with_hub, end_sharing, keep_membership, membership_of
from memento_tui.api.key_files import key_file_name
from memento_tui.encryption import is_in_clear, key_id_of, read_key
from memento_tui.errors import DamagedFile, DataDirectoryError, LockedWorkspace, NotAllowed, NotFound
from memento_tui.paths import DataPaths, typed_path
from memento_tui.private_files import make_private_directory
from memento_tui.storage import backup
from memento_tui.storage.backup import LOG_ENDS, Progress
from memento_tui.storage.backup_folder import (
    KEPT,
    WAIT_SECONDS,
    Backup,
    BackupFolder,
    Reason,
    no_progress,
    sync_directory,
)
from memento_tui.storage.database import Database
from memento_tui.storage.journal import Author
from memento_tui.storage.last_known import forget_last_known, read_last_known
from memento_tui.storage.settings import Settings
from memento_tui.storage.store import Store

__all__ = ["Backup", "Backups", "RestoredBackup", "find_replacement", "list_backups", "replace_damaged"]


class RestoredBackup(msgspec.Struct, frozen=True):
    """The backup that was restored, and the one that keeps the former state."""

    name: str
    seq: int
    """The journal entry that records it."""
    before: str
    """The backup of the state that was replaced; empty where there was none."""


class Backups:
    """The backups of one workspace. Only a person makes, removes and restores them."""

    def __init__(self, paths: DataPaths, store: Store, author: Author) -> None:
        self._paths = paths
        self._store = store
        self._author = author
        self._folder = BackupFolder(paths)

    def make(
        self,
        *,
        keep: int = KEPT[""].newest,
        progress: Progress = no_progress,
        stop: threading.Event | None = None,
        warn: Callable[[str], object] = lambda _sentence: None,
    ) -> Backup:
        """Copy the database as it is now, check the copy, and remove the oldest beyond ``keep`` that were made so.

        Those that memento made by itself are counted apart. Others read and write meanwhile. What is listed
        afterwards is whole: until it is checked it has another name. ``warn`` is told of older ones that could not be
        removed.

        Raises:
            NotAllowed: an agent asks, or another backup is under way.
            DataDirectoryError: the copy cannot be written, or something is wrong with what was copied.
            StoppedError: ``stop`` was set; there is no backup.

        """
        self._check_person("makes")
        with self._folder.locked():
            made = self._add("", progress, stop)
            problem = self._folder.rotate("", KEPT[""]._replace(newest=keep))
        if problem:
            warn(problem)
        return made

    def keep_before_repair(self) -> Backup:
        """Copy the database as it is; the copy is not checked, for the database is not in order.

        Raises:
            NotAllowed: another backup is under way for long.
            DataDirectoryError: the copy cannot be written.

        """
        with self._folder.locked(wait_seconds=WAIT_SECONDS):
            made = self._add("before repair", no_progress, None, checked=False)
            self._folder.rotate("before repair")
        return made

    def keep_before_import(self, *, progress: Progress | None = None) -> Backup | None:
        """Keep the database as it is before an import; see `_keep_before`."""
        return self._keep_before("before import", progress)

    def keep_before_limit(self, *, progress: Progress | None = None) -> Backup | None:
        """Keep the database as it is before versions are dropped; see `_keep_before`."""
        return self._keep_before("before limit", progress)

    def _keep_before(self, reason: Reason, progress: Progress | None) -> Backup | None:
        """Copy the database as it is, and check the copy; ``None`` where the newest backup holds all of it already.

        Raises:
            NotAllowed: another backup is under way for long.
            DataDirectoryError: the copy cannot be written, or the database is not in order.

        """
        with self._folder.locked(wait_seconds=WAIT_SECONDS):
            if not self._folder.is_behind(self._store.journal):
                return None
            made = self._add(reason, progress or no_progress, None)
            self._folder.rotate(reason)
        return made

    def list(self) -> list[Backup]:
        """Return the backups, newest first. They are not read whole: `verify` does that."""
        return self._folder.list()

    def is_behind(self) -> bool:
        """Tell whether anything was written that the newest backup does not hold."""
        return self._folder.is_behind(self._store.journal)

    def find(self, name: str) -> Backup:
        """Return a backup by its name or a beginning of it; ``latest`` is the newest of the person's and daily ones.

        Raises:
            NotFound, AmbiguousId: no backup, or several, have that name.

        """
        return self._folder.find(name)

    def file_of(self, name: str) -> Path:
        """Return the file of a backup by its name, a beginning of it, or its path. Raises like `find`."""
        return _find_file(self._folder, name)

    def entries_since(self, name: str) -> int:
        """Return how many more journal entries there are than in a backup, named as in `file_of`.

        Raises like `find`, and `DataDirectoryError` where the backup is damaged, which the workspace is not.
        """
        file = self.file_of(name)
        try:
            then = backup.read_contents(file).head
        except DamagedFile as error:
            raise _not_restored(file, error.message) from error
        return self._store.journal.head() - then

    def verify(self, name: str, *, progress: Progress = no_progress, stop: threading.Event | None = None) -> str | None:
        """Read a backup from its first page to its last entry; return the first fault as a sentence, or ``None``.

        ``name`` is that of a backup here, or the path of one elsewhere. `list` says of each when it was read last.

        Raises:
            NotFound, AmbiguousId: no backup, or several, have that name.
            LockedWorkspace: the file elsewhere is encrypted with a key that is not here.
            StoppedError: ``stop`` was set.

        """
        self._store.database.check_writable()  # what was found is written down
        file = self.file_of(name)
        if file.parent != self._paths.backups and (key_id := key_id_of(file)) and read_key(key_id) is None:
            raise LockedWorkspace(file, key_id)
        return self._folder.verify(file, progress=progress, stop=stop)

    def remove(self, name: str) -> Backup:
        """Delete a backup. Raises `NotFound`, `AmbiguousId` or `NotAllowed`."""
        self._check_person("removes")
        with self._folder.locked():
            found = self.find(name)
            self._folder.remove(found.name)
        return found

    def restore(
        self, name: str, *, progress: Progress = no_progress, stop: threading.Event | None = None
    ) -> RestoredBackup:
        """Replace the workspace's contents by a backup's. The former state is kept as a backup of its own.

        ``name`` is that of a backup here, or the path of one elsewhere.

        It is one write: another program sees all of the one state or all of the other. The search indexes notice that
        it is another past and are built anew. The accounts of HTTP clients, and the part in a hub, stay as they are.

        Raises:
            NotFound, AmbiguousId: no backup, or several, have that name.
            NotAllowed: an agent asks, it is of another workspace or key, or another backup or a round with the hub is
                under way.
            DataDirectoryError: something is wrong with the backup; nothing was changed.
            StoppedError: ``stop`` was set; nothing was changed.

        """
        self._check_person("restores")
        file, copy = self.file_of(name), self._paths.backups / "restoring.part"
        with self._folder.locked(), _checked_copy(file, copy, progress, stop), self._apart_from_hub():
            if key_id_of(copy) != self._paths.key_id:
                raise NotAllowed(
                    f"{file.name} is encrypted with another key than the workspace, or one of the two is in clear.",
                    "Restore it into a folder of its own (memento --data-dir FOLDER backup restore FILE), or bring the"
                    " workspace to what it is first: `memento encrypt`, `memento decrypt`.",
                )
            if backup.read_contents(copy).origin != self._store.database.origin:
                raise NotAllowed(
                    f"{file.name} is a backup of another workspace.",
                    f"To open that one, restore it into a folder of its own: memento --data-dir FOLDER backup restore "
                    f"{file}",
                )
            before = self._add("before restore", progress, stop, checked=False)
            progress("Preparing", 0, 1)
            note = f"{file.name}; what was there before is in {before.name}"
            self._carry_part_in_hub(copy)
            seq = backup.restore_copy(
                self._store.database,
                copy,
                self._author,
                note,
                # A key that was rotated or revoked since stays so.
                kept_settings=(ACCOUNTS_SETTING,),
                progress=progress,
                stop=stop,
            )
            self._folder.rotate("before restore")
        return RestoredBackup(file.name, seq, before.name)

    def about_the_hub(self) -> str:
        """Return a sentence on the hub's next steps after a restore; "" where nothing is shared with a hub."""
        membership = membership_of(Settings(self._store.database))
        if membership is None or not membership.namespaces:
            return ""
        shared = ", ".join(membership.namespaces)
        return f"What is shared ({shared}) comes back as the hub has it, unless you leave the hub first."

    def _apart_from_hub(self) -> AbstractContextManager[None]:
        """Hold off synchronization with the hub until a backup is restored. Raises `NotAllowed`."""
        is_shared = membership_of(Settings(self._store.database)) is not None
        return alone_with_hub(self._paths) if is_shared else nullcontext()

    def _carry_part_in_hub(self, copy: Path) -> None:
        database = Database(copy, is_copy=True)
        try:
            keep_membership(membership_of(Settings(self._store.database)), database)
        finally:
            database.close()

    def _add(self, reason: Reason, progress: Progress, stop: threading.Event | None, *, checked: bool = True) -> Backup:
        with self._store.database.reading() as source:
            return self._folder.add(source, reason, checked=checked, progress=progress, stop=stop)

    def _check_person(self, verb: str) -> None:
        if self._author.actor != "person":
            raise NotAllowed(f"Only a person {verb} a backup.", "Ask the person to do it.")
        self._store.database.check_writable()


def find_replacement(paths: DataPaths, name: str) -> Path:
    """Return the backup that `replace_damaged` would put in the place of a database, by its name or its path.

    Raises:
        NotFound, AmbiguousId: no backup, or several, have that name.
        LockedWorkspace: the last one is asked for where all are encrypted, and locked.
        DataDirectoryError: the backups cannot be read.

    """
    if name == "latest" and (known := paths.key_id) and read_key(known) is None:
        raise LockedWorkspace(paths.database, known)  # none of its backups can be read
    return _find_file(BackupFolder(paths), name)


def replace_damaged(paths: DataPaths, author: Author, name: str, *, progress: Progress = no_progress) -> RestoredBackup:
    """Restore a backup where the database is lost or cannot be opened; the damaged files are kept as a backup.

    ``name`` is that of a backup here, or the path of one elsewhere: an empty directory becomes its workspace.
    All accounts of HTTP clients are revoked, and nothing is shared with a hub: which keys were rotated or revoked
    since, and what was shared until the end, is not known.

    Raises:
        NotFound, AmbiguousId: no backup, or several, have that name.
        NotAllowed: an agent asks, or another backup is under way; or the database was encrypted, and the backup is not.
        LockedWorkspace: the backup is encrypted, and locked.
        DataDirectoryError: something is wrong with the backup, or a file cannot be moved.

    """
    if author.actor != "person":
        raise NotAllowed("Only a person restores a backup.", "Ask the person to do it.")
    folder = BackupFolder(paths)
    lost_key = _key_of_lost(paths)
    file = find_replacement(paths, name)
    key_id = key_id_of(file)
    if not key_id and lost_key:
        raise NotAllowed(
            f"The database here is encrypted, or was (key {lost_key}), and this backup is not.",
            "Restore an encrypted one, or restore this one into a folder of its own: memento --data-dir FOLDER backup"
            f" restore {file}",
        )
    _make_directory(paths.root)
    copy = folder.path("restoring.part")
    with folder.locked(), _checked_copy(file, copy, progress, None):
        aside = folder.free_path("damaged")
        kept = f"the database before is kept as {aside.name}" if paths.database.exists() else "there was no database"
        note = f"{file.name}; {kept}"
        seq = backup.migrate_copy(copy, author, note, settings={ACCOUNTS_SETTING: revoke_all, HUB_SETTING: end_sharing})
        forget_last_known(paths.database)
        for end in (*LOG_ENDS, ""):
            old = paths.database.with_name(paths.database.name + end)
            if old.exists():
                old.replace(aside.with_name(aside.name + end))
        copy.replace(paths.database)
        sync_directory(paths.root)
        folder.rotate("damaged")
    if key_id:
        _bring_key_file(file, key_id, paths)
        _bring_drafts(lost_key, paths)
    return RestoredBackup(file.name, seq, aside.name if aside.exists() else "")


def _key_of_lost(paths: DataPaths) -> str:
    """Return the id of the key of a database that is lost, or damaged from its first byte on; empty for one in clear.

    Where nothing else is left that says it, a key file beside the database does: there is one while it is encrypted.
    """
    found = paths.key_id
    if found or is_in_clear(paths.database) or read_last_known(paths.database) is not None:
        return found
    return next((file.stem.removeprefix("key-") for file in paths.root.glob(key_file_name("*"))), "")


def _bring_key_file(backup_file: Path, key_id: str, paths: DataPaths) -> None:
    """Keep the key file of an encrypted backup beside the database and the backups, wherever it was restored to."""
    name = key_file_name(key_id)
    folders = (backup_file.parent, backup_file.parent.parent, paths.root, paths.backups)
    found = next((folder / name for folder in folders if (folder / name).is_file()), None)
    for folder in (paths.root, paths.backups):
        if found is not None and folder.is_dir() and not (folder / name).exists():
            shutil.copyfile(found, folder / name)
            (folder / name).chmod(0o600)


def _bring_drafts(lost_key: str, paths: DataPaths) -> None:
    """Move the drafts of the replaced database to the drafts folder of the restored, encrypted one."""
    for folder in (paths.root, *(text_folders_of(paths, lost_key) if lost_key else ())):
        try:
            move_drafts(folder / "drafts", paths.drafts)
        except OSError as error:
            raise DataDirectoryError(
                f"The backup is in its place, but the drafts in {folder}/drafts stay there: {error.strerror}.",
                "Copy them from there.",
            ) from error


def list_backups(paths: DataPaths) -> list[Backup]:
    """Return the backups of a data directory, newest first, whether its database can be opened or not."""
    return BackupFolder(paths).list()


def _find_file(folder: BackupFolder, name: str) -> Path:
    """Return the file of a backup in the folder, or of one whose path is given. Raises `NotFound`, `AmbiguousId`."""
    given = typed_path(name)
    is_path = given.name != name
    if is_path and not given.is_file():
        raise NotFound(f"There is no file at {given}.", "`memento backup list` names the backups here.")
    try:
        return given.absolute() if is_path else folder.path(folder.find(name).name)
    except NotFound:
        if given.is_file():  # it lies in the current directory
            return given.absolute()
        raise


def _make_directory(root: Path) -> None:
    try:
        make_private_directory(root)
    except OSError as error:
        raise DataDirectoryError(
            f"{error.filename or root} cannot be made: {error.strerror}.", "Name another with --data-dir."
        ) from error


@contextmanager
def _checked_copy(file: Path, copy: Path, progress: Progress, stop: threading.Event | None) -> Iterator[None]:
    """Hold a copy of a backup with all that lies in a log beside it, once all of the copy was read; it goes at the end.

    Raises:
        DataDirectoryError: the file cannot be copied, or something is wrong with it; nothing was changed.

    """
    if (key_id := key_id_of(file)) and read_key(key_id) is None:
        raise LockedWorkspace(file, key_id)
    try:
        backup.copy_file(file, copy)
        fault = backup.verify_copy(copy, progress=progress, stop=stop)
        if fault is not None:
            raise _not_restored(file, fault.sentence.replace(str(copy), str(file)))
        yield
    finally:
        for left in copy.parent.glob(f"{copy.name}*"):
            left.unlink()


def _not_restored(file: Path, fault: str) -> DataDirectoryError:
    return DataDirectoryError(
        f"{file.name} cannot be restored. {fault}", "Choose another: memento backup list. Nothing was changed."
    )
