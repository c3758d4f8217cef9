"""Report whether a data directory is encrypted, where its key is, and which of its files are unencrypted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from memento_tui import encryption
from memento_tui.api.key_files import key_file_name
from memento_tui.api.overview import HealthFinding
from memento_tui.encryption import key_id_of
from memento_tui.paths import DataPaths
from memento_tui.regular_files import bytes_of
from memento_tui.storage.backup_folder import BackupFolder
from memento_tui.storage.rewriting import UNFINISHED

__all__ = ["backup_files", "clear_files", "examine_encryption", "keys_in_memory", "keys_in_use", "text_folders_of"]

_NAME = "encryption"


def backup_files(paths: DataPaths) -> list[Path]:
    """Return the files of the backups, newest first."""
    folder = BackupFolder(paths)
    return [folder.path(one.name) for one in folder.list()]


def keys_in_use(paths: DataPaths) -> set[str]:
    """Return the ids of the keys of the database, lost or not, and of the backups."""
    return {one for one in (paths.key_id, *map(key_id_of, backup_files(paths))) if one}


def keys_in_memory(paths: DataPaths) -> set[str]:
    """Return the ids of the keys with a file in the directory that are unlocked, or have text in memory."""
    files = [file for folder in (paths.root, paths.backups) for file in folder.glob(key_file_name("*"))]
    known = {file.stem.removeprefix("key-") for file in files}
    return {one for one in known if encryption.read_key(one) is not None or text_folders_of(paths, one)}


def text_folders_of(paths: DataPaths, key_id: str) -> list[Path]:
    """Return the folders in memory with text of this directory, and not of a copy of it."""
    mark = encryption.directory_mark(paths.root)
    return [folder for folder in encryption.text_folders(key_id) if folder.name.endswith(mark)]


def clear_files(paths: DataPaths) -> list[Path]:
    """Return the unencrypted files in the directory of an encrypted workspace that hold text of memories."""
    if not paths.key_id:
        return []
    backups = [file for file in backup_files(paths) if not key_id_of(file)]
    unfinished = [file for file in paths.root.glob(f"{paths.database.name}{UNFINISHED}") if not key_id_of(file)]
    derived = [paths.root / name for name in ("index", "drafts", "code")]
    return [*backups, *unfinished, *(path for path in derived if bytes_of(path))]


def examine_encryption(paths: DataPaths) -> HealthFinding:
    """Report whether a directory is encrypted, where its key and its drafts are, and which files are unencrypted."""
    return _encrypted(paths, paths.key_id) if paths.key_id else _in_clear(paths)


def _in_clear(paths: DataPaths) -> HealthFinding:
    if left := keys_in_memory(paths) - keys_in_use(paths):
        detail = f"not encrypted, but the key of before ({', '.join(sorted(left))}) is still in memory"
        return HealthFinding(_NAME, ok=False, detail=detail, hint="`memento decrypt` finishes what was interrupted.")
    said = ["not encrypted"]
    if locked := [file for file in backup_files(paths) if key_id_of(file)]:
        said.append(f"{_count(len(locked), 'backup')} still {'is' if len(locked) == 1 else 'are'}")
    elif paths.database.exists():
        said.append("`memento encrypt` does that")
    return HealthFinding(_NAME, ok=True, detail="; ".join(said))


def _encrypted(paths: DataPaths, key_id: str) -> HealthFinding:
    if left := clear_files(paths):
        hint = (
            "`memento encrypt` finishes it, or `memento decrypt` where that was interrupted;"
            " `memento backup rm` removes a backup that is damaged."
        )
        detail = f"in clear in an encrypted workspace: {', '.join(path.name for path in left)}"
        return HealthFinding(_NAME, ok=False, detail=detail, hint=hint)
    return HealthFinding(_NAME, ok=True, detail="; ".join(_sentences(paths, key_id)))


def _sentences(paths: DataPaths, key_id: str) -> Iterator[str]:
    place = encryption.key_place(key_id)
    yield f"encrypted, {'unlocked' if place else 'locked'} (key {key_id})"
    if place is not None:
        yield f"the key is in {place}, indexes and drafts in {paths.clear}"
    if drafts := [file for folder in text_folders_of(paths, key_id) for file in (folder / "drafts").glob("*")]:
        yield f"{_count(len(drafts), 'draft')} there, which a restart of the machine loses"
    if others := keys_in_use(paths) - {key_id}:
        yield f"backups need other keys too: {', '.join(sorted(others))}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
