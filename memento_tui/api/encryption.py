"""Encrypt a workspace and its backups, take that back, and unlock and lock it."""

from __future__ import annotations

import contextlib
import secrets
import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from memento_tui import encryption
from memento_tui.api.drafts import copy_drafts, move_drafts
from memento_tui.api.encryption_status import backup_files, keys_in_memory, keys_in_use, text_folders_of
from memento_tui.api.integrity import stop_engine
from memento_tui.api.key_files import (
    check_passphrase,
    is_key_file,
    key_file_name,
    open_key_file,
    wrap_key,
    write_key_file,
)
from memento_tui.encryption import KEY_BYTES, key_id_of
from memento_tui.errors import DamagedFile, DataDirectoryError, LockedWorkspace, MementoError, NotAllowed, NotFound
from memento_tui.paths import DataPaths
from memento_tui.private_files import make_private_directory
from memento_tui.search.engine_client import SemanticClient
from memento_tui.search.keyword_files import remove_copies
from memento_tui.storage.backup_folder import WAIT_SECONDS, BackupFolder
from memento_tui.storage.last_known import note_key
from memento_tui.storage.long_work import Progress, no_progress
from memento_tui.storage.rewriting import remove_unfinished, rewrite_database

__all__ = [
    "change_passphrase",
    "check_encrypted",
    "decrypt",
    "encrypt",
    "is_unlocked",
    "lock",
    "memory_explained",
    "unlock",
]

_KEY_ID_BYTES = 8

_LOGS = ("engine_log", "hook_log", "hub_log", "maintenance_log", "crash_report")
"""Files that hold no memory on purpose, and may quote one in an error."""


class Rewritten(msgspec.Struct, frozen=True):
    """The result of encrypting or decrypting a workspace."""

    key_id: str
    """The id of the key that it has now; empty where it has none."""
    backups: int
    """The backups that were written anew."""
    left: tuple[str, ...]
    """The backups that could not be, being damaged, locked or too large for the disk: they are as they were."""
    forgotten: tuple[str, ...] = ()
    """The ids of the keys that nothing here needs any more, and that were taken out of memory."""


def is_unlocked(paths: DataPaths) -> bool:
    """Tell whether a workspace can be opened without its passphrase: it is not encrypted, or is unlocked."""
    key_id = paths.key_id
    return not key_id or encryption.is_unlocked(key_id)


def check_encrypted(paths: DataPaths) -> None:
    """Raise `NotAllowed` where nothing of a workspace is encrypted and it has no key: no passphrase opens anything."""
    if not keys_in_use(paths) and not _key_files(paths):
        raise _not_encrypted(paths)


def _not_encrypted(paths: DataPaths) -> NotAllowed:
    return NotAllowed(f"{paths.database} is not encrypted.", "`memento encrypt` does that.")


def encrypt(
    paths: DataPaths, passphrase: str, *, progress: Progress = no_progress, stop: threading.Event | None = None
) -> Rewritten:
    """Encrypt a workspace with a key of its own, which the passphrase opens; it stays unlocked.

    Where an earlier call was ended, this finishes it: the passphrase is that of then.

    Raises:
        InvalidInput: the passphrase is too short.
        NotAllowed: another program has the workspace open, or the passphrase is another.
        DataDirectoryError: there is none, it is damaged, there is no room, or the machine keeps no files in memory.
        StoppedError: ``stop`` was set; the workspace is as it was, or encrypted with some backups to go.

    """
    _check_there(paths)
    if not paths.key_id:
        check_passphrase(passphrase)
    drafts = paths.root / "drafts"  # before the database is encrypted, and after
    with BackupFolder(paths).locked(wait_seconds=WAIT_SECONDS):
        _check_no_copies(paths)
        # Only now: another program may have encrypted it meanwhile, with a key that stays the only one.
        key_id = paths.key_id
        if key_id:
            unlock(paths, passphrase)
        else:
            key_id = _encrypt_with_a_new_key(paths, passphrase, progress, stop)
        note_key(paths.database, key_id)
        _keep_key_file_of(paths, key_id)
        remove_unfinished(paths.database)  # in clear, where the way back was ended
        _remove_derived(paths.root)
        with memory_explained(paths):
            move_drafts(drafts, paths.drafts)
        for name in _LOGS:
            getattr(paths, name).unlink(missing_ok=True)
        return _rewrite_backups(paths, key_id, progress, stop)


def decrypt(paths: DataPaths, *, progress: Progress = no_progress, stop: threading.Event | None = None) -> Rewritten:
    """Write an unlocked workspace and its backups in clear.

    The file of its key stays among the backups, for copies kept elsewhere. Where an earlier call was ended, this
    finishes it.

    Raises:
        NotAllowed: it is not encrypted, or another program has it open.
        LockedWorkspace: it is locked.
        DataDirectoryError: it is damaged, or there is no room.
        StoppedError: ``stop`` was set; the workspace is as it was, or in clear with some backups to go.

    """
    _check_there(paths)
    with BackupFolder(paths).locked(wait_seconds=WAIT_SECONDS):
        key_id = paths.key_id
        used = keys_in_use(paths)
        unfinished = keys_in_memory(paths) - used
        if not used and not unfinished:
            raise _not_encrypted(paths)
        if key_id and encryption.read_key(key_id) is None:
            raise LockedWorkspace(paths.database, key_id)
        ids = sorted(used | unfinished)
        if key_id:
            _stop_engine(paths)
            _decrypt_database(paths, ids, progress, stop)
        with memory_explained(paths):
            for folder in _draft_folders(paths, ids):  # at once: one that the person saves now does not come again
                move_drafts(folder, paths.root / "drafts")
        done = _rewrite_backups(paths, "", progress, stop)
        with memory_explained(paths):
            _keep_key_file_of(paths, "")
            for folder in (folder for one in ids for folder in text_folders_of(paths, one)):
                move_drafts(folder / "drafts", paths.root / "drafts")
                shutil.rmtree(folder)
            forgotten = tuple(one for one in ids if not done.left or one in unfinished)
            for one in forgotten:
                encryption.forget_key(one)
    return msgspec.structs.replace(done, forgotten=forgotten)


def unlock(paths: DataPaths, passphrase: str, *, key_file: Path | None = None, read_only: bool = False) -> list[str]:
    """Unlock the workspace and those of its backups that the passphrase opens; return the ids of the keys.

    ``key_file`` is one that lies elsewhere. A copy of each is kept beside the database and among the backups, unless
    ``read_only``.

    Raises:
        NotFound: there is no key file, or not that of the database.
        NotAllowed: the passphrase opens none.
        DataDirectoryError: the file cannot be read, or the machine keeps no files in memory.

    """
    files = [key_file] if key_file else _key_files(paths)
    if not files:
        raise NotFound(
            f"There is no key file in {paths.root}.",
            "It is called key-….json. Name a copy of it: memento unlock --key-file FILE.",
        )
    opened, odd = _open_key_files(files, passphrase)
    if len(odd) == len(files):
        raise next(iter(odd.values()))
    if not opened:
        if not key_file:
            _check_own_key_file(paths, files, odd)
        raise NotAllowed("The passphrase is wrong.", "Type it again; nobody can look it up.")
    with memory_explained(paths):
        for _, (key_id, key) in opened:
            encryption.unlock(key_id, key)
        for file, (key_id, _) in () if read_only else opened:
            _keep_key_file(paths, file, key_id)
    if paths.key_id and encryption.read_key(paths.key_id) is None:
        _check_own_key_file(paths, _key_files(paths), odd)
        raise NotAllowed(
            f"The passphrase opens another key than that of {paths.database} ({paths.key_id}).",
            "Name its key file: memento unlock --key-file FILE.",
        )
    return [key_id for _, (key_id, _) in opened]


def _open_key_files(
    files: Sequence[Path], passphrase: str
) -> tuple[list[tuple[Path, tuple[str, bytes]]], dict[str, DataDirectoryError]]:
    """Return the key files that a passphrase opens, with their keys, and the problems of the unusable ones."""
    opened, odd = [], {}
    for file in files:
        try:
            found = open_key_file(file, passphrase)
        except DataDirectoryError as error:
            odd[file.name] = error
            continue
        if found is not None:
            opened.append((file, found))
    return opened, odd


def _check_own_key_file(paths: DataPaths, files: Sequence[Path], odd: Mapping[str, DataDirectoryError]) -> None:
    """Raise `NotFound` or `DataDirectoryError` where the database's own key file is missing or unusable."""
    name = key_file_name(paths.key_id)
    if name in odd:
        raise odd[name]
    if paths.key_id and name not in {file.name for file in files}:
        raise NotFound(
            f"The key file of {paths.database} is missing (key {paths.key_id}).",
            "Name a copy of it: memento unlock --key-file FILE.",
        )


def lock(paths: DataPaths) -> list[str]:
    """Lock the workspace and its backups: stop the engine, and take the keys and indexes out of memory.

    A program that has it open can read no more of it, once what it is at has ended. Return the ids of the keys that
    were unlocked.

    Raises:
        EngineUnavailable: the engine does not end.
        DataDirectoryError: a key cannot be removed.

    """
    key_ids = keys_in_use(paths) | keys_in_memory(paths)
    if is_unlocked(paths):
        _stop_engine(paths)
    with memory_explained(paths):
        locked = [key_id for key_id in sorted(key_ids) if encryption.forget_key(key_id)]
        for key_id in key_ids:
            for folder in encryption.text_folders(key_id):
                for derived in ("index", "code"):  # a draft is nowhere else
                    shutil.rmtree(folder / derived, ignore_errors=True)
    return locked


def change_passphrase(paths: DataPaths, before: str, passphrase: str) -> None:
    """Change the passphrase that opens the workspace's key; the encrypted files stay as they are.

    Raises:
        InvalidInput: the new one is too short.
        NotAllowed: the workspace is not encrypted, or the passphrase before is wrong.
        NotFound, DataDirectoryError: its key file is missing, or cannot be read or written.

    """
    key_id = paths.key_id
    if not key_id:
        raise _not_encrypted(paths)
    check_passphrase(passphrase)
    unlock(paths, before)
    if open_key_file(paths.root / key_file_name(key_id), before) is None:
        raise NotAllowed(
            f"The passphrase opens another key than that of {paths.database} ({key_id}).", "Type that one."
        )
    key = encryption.read_key(key_id)
    if key is None:
        raise LockedWorkspace(paths.database, key_id)
    _write_key_files(paths, key_id, key, passphrase)


def _encrypt_with_a_new_key(paths: DataPaths, passphrase: str, progress: Progress, stop: threading.Event | None) -> str:
    """Encrypt the database and return the id of its key; where that fails, no key is left of it."""
    key_id, key = secrets.token_hex(_KEY_ID_BYTES), secrets.token_bytes(KEY_BYTES)
    try:
        with memory_explained(paths):
            encryption.unlock(key_id, key)  # first: it fails where nothing is kept in memory
        _write_key_files(paths, key_id, key, passphrase)
        _stop_engine(paths)
        rewrite_database(
            paths.database, key_id, before_swap=lambda: _remove_derived(paths.root), progress=progress, stop=stop
        )
    except BaseException:
        if paths.key_id != key_id:
            encryption.forget_key(key_id)
            for folder in (paths.root, paths.backups):
                (folder / key_file_name(key_id)).unlink(missing_ok=True)
        raise
    return key_id


def _decrypt_database(
    paths: DataPaths, key_ids: Sequence[str], progress: Progress, stop: threading.Event | None
) -> None:
    """Write the database in clear; where that fails, no draft lies in clear for it."""
    key_id, copies = paths.key_id, list[Path]()

    # Drafts are nowhere else: whoever is ended after the swap finds them where the workspace in clear has them.
    def before_swap() -> None:
        for folder in _draft_folders(paths, key_ids):
            copies.extend(copy_drafts(folder, paths.root / "drafts"))
        note_key(paths.database, "")

    try:
        rewrite_database(paths.database, "", before_swap=before_swap, progress=progress, stop=stop)
    except BaseException:
        if paths.key_id == key_id:
            note_key(paths.database, key_id)
            for copy in copies:
                copy.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # missing, or with drafts of an earlier time
                (paths.root / "drafts").rmdir()
        raise


def _draft_folders(paths: DataPaths, key_ids: Sequence[str]) -> list[Path]:
    return [folder / "drafts" for one in key_ids for folder in text_folders_of(paths, one)]


def _write_key_files(paths: DataPaths, key_id: str, key: bytes, passphrase: str) -> None:
    wrapped = wrap_key(key_id, key, passphrase)
    with memory_explained(paths):
        make_private_directory(paths.backups)
        for folder in (paths.root, paths.backups):
            write_key_file(folder, wrapped)


def _keep_key_file(paths: DataPaths, file: Path, key_id: str) -> None:
    """Keep a copy of a key file, under the name that it is looked for by; beside the database only that of its key."""
    folders = [paths.backups, *([paths.root] if key_id == paths.key_id else [])]
    for kept in (folder / key_file_name(key_id) for folder in folders if folder.is_dir()):
        if not is_key_file(kept):
            shutil.copyfile(file, kept)
            kept.chmod(0o600)


def _keep_key_file_of(paths: DataPaths, key_id: str) -> None:
    """Leave beside the database the file of its key alone; those of other keys stay among the backups."""
    for file in paths.root.glob(key_file_name("*")):
        if file.name != key_file_name(key_id):
            make_private_directory(paths.backups)
            file.replace(paths.backups / file.name)


def _check_no_copies(paths: DataPaths) -> None:
    """Remove the copies of the index that programs left on the disk. Raises `NotAllowed` where one is in use."""
    if readers := remove_copies(paths):
        named = ", ".join(map(str, readers))
        raise NotAllowed(
            f"A program that only reads {paths.root} has a copy of its index on the disk (process {named}).",
            "End it, and try again.",
        )


def _check_there(paths: DataPaths) -> None:
    if not paths.database.is_file():
        raise DataDirectoryError(f"There is no memento data in {paths.root}.", "Check the path.")
    if paths.key_id and not key_id_of(paths.database):
        raise DamagedFile(
            f"{paths.database} is damaged: it was encrypted, and begins as no database does.",
            "Keep the file, and put a backup in its place: `memento backup restore`. Nothing was changed.",
        )


@contextlib.contextmanager
def memory_explained(paths: DataPaths) -> Iterator[None]:
    """Turn errors of writing keys and key files into sentences for a person."""
    try:
        yield
    except encryption.NoMemoryFolder as error:
        raise DataDirectoryError(
            f"{paths.root} cannot be encrypted or unlocked: {error}.",
            "Keys and indexes are kept in memory alone. Encrypt the disk instead, as with FileVault.",
        ) from error
    except OSError as error:
        said = error.strerror or str(error)
        raise DataDirectoryError(f"{error.filename or paths.root} cannot be used: {said}.", "") from error


def _key_files(paths: DataPaths) -> list[Path]:
    """Return the key files of a directory, each key once, and a damaged copy last; that of the database first."""
    found: dict[str, Path] = {}
    for folder in (paths.root, paths.backups):
        for file in sorted(folder.glob(key_file_name("*"))):
            if file.name not in found or not is_key_file(found[file.name]):
                found[file.name] = file
    own = key_file_name(paths.key_id)
    return sorted(found.values(), key=lambda file: (file.name != own, file.name))


def _rewrite_backups(paths: DataPaths, key_id: str, progress: Progress, stop: threading.Event | None) -> Rewritten:
    done, left = 0, []
    for file in backup_files(paths):
        if key_id_of(file) == key_id:
            continue
        try:
            rewrite_database(file, key_id, progress=progress, stop=stop)
            done += 1
        except MementoError:
            left.append(file.name)
    return Rewritten(key_id, done, tuple(left))


def _stop_engine(paths: DataPaths) -> None:
    client = SemanticClient(paths, enabled=True, may_start=False)
    try:
        stop_engine(client)
    finally:
        client.close()


def _remove_derived(root: Path) -> None:
    """Remove the unencrypted files of a data directory that can be made again. Raises `OSError`."""
    for name in ("index", "code"):
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(root / name)
