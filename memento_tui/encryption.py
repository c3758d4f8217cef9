"""Tell which files are encrypted, and keep what an unlocked workspace needs in memory, never on a disk.

An encrypted database begins with 16 bytes that name its key. While it is unlocked, the key and everything that
memento cannot encrypt lie in a folder of a file system that the machine keeps in memory; they go when it is locked,
shut down, or its user logs out. memento-hook reads keys too, so this imports next to nothing.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

__all__ = [
    "KEY_BYTES",
    "NoMemoryFolder",
    "clear_folder",
    "database_name",
    "forget_key",
    "key_id_of",
    "memory_folder",
    "read_key",
    "text_folders",
    "unlock",
]

KEY_BYTES = 32

_BEGINNING = b"memento\x01"
"""The first bytes of an encrypted database; the 8 after them are the id of its key."""

_NAME_BYTES = 16
"""Bytes at the beginning of an encrypted database that are not encrypted: what the cipher calls its salt."""


class NoMemoryFolder(OSError):
    """The machine has no file system in memory that belongs to the user alone."""


def key_id_of(file: Path | str) -> str:
    """Return the id of the key that a database is encrypted with; empty where it is not, or cannot be read."""
    import apsw  # noqa: PLC0415 - where nothing is opened it is not needed

    try:
        # Read by SQLite, and not with `open`: to close a file takes away all locks that this process has on it.
        opened = apsw.VFSFile("unix", os.fspath(file), [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0])
        try:
            beginning = opened.xRead(_NAME_BYTES, 0)
        finally:
            opened.xClose()
    except (apsw.Error, ValueError):  # it is missing, a folder, or has a name that is not UTF-8
        return ""
    if len(beginning) < _NAME_BYTES or not beginning.startswith(_BEGINNING):
        return ""
    return beginning[len(_BEGINNING) :].hex()


def database_name(key_id: str) -> bytes:
    """Return the 16 bytes with which a database begins that is encrypted with a key."""
    return _BEGINNING + bytes.fromhex(key_id)


def read_key(key_id: str) -> bytes | None:
    """Return an unlocked key; ``None`` where it is locked."""
    try:
        key = _key_file(key_id).read_bytes()
    except OSError:
        return None
    return key if len(key) == KEY_BYTES else None


def unlock(key_id: str, key: bytes) -> None:
    """Give all programs of this user a key, until it is locked. Raises `OSError`."""
    file = _key_file(key_id)
    for folder in (file.parent.parent, file.parent):
        _make_private(folder)
    unfinished = file.with_name(f"{key_id}.{os.getpid()}")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(descriptor, key)
    finally:
        os.close(descriptor)
    unfinished.replace(file)


def forget_key(key_id: str) -> bool:
    """Lock a key again; tell whether it was unlocked. Raises `OSError`."""
    try:
        _key_file(key_id).unlink()
    except (FileNotFoundError, NoMemoryFolder):
        return False
    return True


def clear_folder(root: Path, key_id: str) -> Path:
    """Return the folder in memory for what an encrypted workspace keeps in clear: indexes, drafts, notes on code.

    Raises:
        NoMemoryFolder: there is no such place.

    """
    import zlib  # noqa: PLC0415 - only an encrypted workspace needs it

    # Two copies of a directory have one key, and an index each.
    return memory_folder() / "text" / f"{key_id}-{zlib.crc32(os.fsencode(root.absolute())):08x}"


def text_folders(key_id: str) -> list[Path]:
    """Return the folders in memory that hold text of workspaces with a key."""
    try:
        return sorted((memory_folder() / "text").glob(f"{key_id}-*"))
    except OSError:
        return []


def _key_file(key_id: str) -> Path:
    return memory_folder() / "keys" / key_id


def memory_folder() -> Path:
    """Return the folder of this user in a file system that is kept in memory.

    Raises:
        NoMemoryFolder: there is none.
        PermissionError: another user made a folder of its name.

    """
    user = os.getuid()
    for place in (os.environ.get("XDG_RUNTIME_DIR", ""), f"/run/user/{user}"):
        if place and _belongs_to(Path(place), user) and _is_in_memory(place):
            return Path(place, "memento")
    shared = "/dev/shm"  # noqa: S108 - of all users; the folder in it is looked at
    if not _is_in_memory(shared):
        raise NoMemoryFolder(f"{sys.platform} has no file system in memory here (/run/user/{user} or {shared})")
    folder = Path(shared, f"memento-{user}")
    if os.path.lexists(folder) and not _belongs_to(folder, user):
        raise PermissionError(f"{folder} must be a directory that only you may use")
    return folder


def _belongs_to(folder: Path, user: int) -> bool:
    """Tell whether a folder is the user's own, and closed to everybody else."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == user and not stat.S_IMODE(found.st_mode) & 0o077


_in_memory: dict[str, bool] = {}
"""The answers of `_is_in_memory`, kept because a mount does not change while a program runs."""


def _is_in_memory(folder: str) -> bool:
    if folder not in _in_memory:
        _in_memory[folder] = _file_system(os.path.realpath(folder)) in ("tmpfs", "ramfs")
    return _in_memory[folder]


def _file_system(folder: str) -> str:
    """Return the type of the file system that a folder lies on; empty where the system does not say."""
    found, kind = "", ""
    try:
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
    for line in mounts.splitlines():
        point, name = line.split(" ")[1:3]
        is_above = point in ("/", folder) or folder.startswith(f"{point}/")
        if is_above and len(point) >= len(found):  # of two mounts in one place the later one is seen
            found, kind = point, name
    return kind


def _make_private(folder: Path) -> None:
    """Make a folder that only its owner may enter. Raises `PermissionError` where others may enter it already."""
    try:
        folder.mkdir(0o700)
    except FileExistsError:
        if not _belongs_to(folder, os.getuid()):
            raise PermissionError(f"{folder} must be a directory that only you may use") from None
