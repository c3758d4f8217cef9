"""Tell which files are encrypted, and keep an unlocked workspace's key and plain files in memory, never on a disk.

An encrypted database begins with 16 bytes that name its key. While it is unlocked, the key and everything that
memento cannot encrypt lie in a folder of a file system that the machine keeps in memory; they go when it is locked,
shut down, or its user logs out. memento-hook reads keys too, so this imports next to nothing.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from memento_tui.locations import last_known_location
from memento_tui.private_files import replace_file
from memento_tui.regular_files import read_regular

TYPE_CHECKING = False  # as in `typing`, whose import a hook would wait for
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "KEY_BYTES",
    "NoMemoryFolder",
    "clear_folder",
    "database_name",
    "directory_mark",
    "forget_key",
    "is_in_clear",
    "is_unlocked",
    "key_id_of",
    "key_of_directory",
    "key_place",
    "memory_folder",
    "noted_key",
    "read_key",
    "text_folders",
    "unlock",
]

KEY_BYTES = 32

_BEGINNING = b"memento\x01"
"""The first bytes of an encrypted database; the 8 after them are the id of its key."""

_NAME_BYTES = 16
"""Unencrypted bytes at the beginning of an encrypted database: the salt of the cipher."""

_IN_CLEAR = b"SQLite format 3\x00"
"""The first bytes of a database that is not encrypted."""

_KEY_ID_CHARACTERS = 16
"""Hexadecimal digits of the id of a key."""


class NoMemoryFolder(OSError):
    """The machine has no file system in memory that belongs to the user alone."""


def key_id_of(file: Path | str) -> str:
    """Return the id of the key that a database is encrypted with; empty where it is not, or cannot be read."""
    return _key_in(_beginning(file))


def is_in_clear(file: Path | str) -> bool:
    """Tell whether a file begins as a database that is not encrypted."""
    return _beginning(file) == _IN_CLEAR


def key_of_directory(database: Path) -> str:
    """Return the id of the key that a directory's database is encrypted with, or was before it was lost or damaged.

    It is empty where the database is in clear.
    """
    beginning = _beginning(database)
    return "" if beginning == _IN_CLEAR else _key_in(beginning) or noted_key(database)


def noted_key(database: Path) -> str:
    """Return the id of the key that a database had when its newest entry was noted; see `storage.last_known`."""
    import json  # noqa: PLC0415 - only what is not in clear, or was noted, is asked

    try:
        noted = json.loads(read_regular(last_known_location(os.fspath(database)))).get("key", "")
    except (OSError, ValueError, AttributeError):
        return ""
    # It becomes a part of paths.
    is_key = isinstance(noted, str) and len(noted) == _KEY_ID_CHARACTERS and not set(noted) - set("0123456789abcdef")
    return noted if is_key else ""


def _beginning(file: Path | str) -> bytes:
    """Return the first 16 bytes of a file; none where it is missing, no file, or has a name that is not UTF-8."""
    import apsw  # noqa: PLC0415 - where nothing is opened it is not needed

    try:
        if stat.S_ISFIFO(Path(file).stat().st_mode):  # to open it would wait for its writer
            return b""
        # Read by SQLite, and not with `open`: to close a file takes away all locks that this process has on it.
        opened = apsw.VFSFile("unix", os.fspath(file), [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0])
        try:
            return opened.xRead(_NAME_BYTES, 0)
        finally:
            opened.xClose()
    except (apsw.Error, OSError, ValueError):
        return b""


def _key_in(beginning: bytes) -> str:
    is_named = len(beginning) == _NAME_BYTES and beginning.startswith(_BEGINNING)
    return beginning[len(_BEGINNING) :].hex() if is_named else ""


def database_name(key_id: str) -> bytes:
    """Return the 16 bytes with which a database begins that is encrypted with a key."""
    return _BEGINNING + bytes.fromhex(key_id)


def read_key(key_id: str) -> bytes | None:
    """Return an unlocked key; ``None`` where it is locked."""
    for folder in _memory_folders():
        try:
            key = _key_file(folder, key_id).read_bytes()
        except OSError:
            continue
        if len(key) == KEY_BYTES:
            return key
    return None


def is_unlocked(key_id: str) -> bool:
    """Tell whether a key is unlocked, in a microsecond where it was before; programs ask it each time they read."""
    place = _known_places.get(key_id)
    if place is not None and os.path.exists(place):  # noqa: PTH110 - a quarter of the time
        return True
    found = key_place(key_id)
    if found is not None:
        _known_places[key_id] = os.fspath(found)
    return found is not None


_known_places: dict[str, str] = {}
"""The folders in which keys were found last."""


def key_place(key_id: str) -> Path | None:
    """Return the file in memory that holds an unlocked key; ``None`` where it is locked."""
    return next((file for folder in _memory_folders() if (file := _key_file(folder, key_id)).is_file()), None)


def unlock(key_id: str, key: bytes) -> None:
    """Give all programs of this user a key, until it is locked. Raises `OSError`."""
    file = _key_file(_folder_of(key_id), key_id)
    for folder in (file.parent.parent, file.parent):
        _make_private(folder)
    replace_file(file, key)


def forget_key(key_id: str) -> bool:
    """Lock a key again, wherever it was unlocked; tell whether it was. Raises `OSError`.

    What an `unlock` that was killed left unfinished goes too: it holds the key.
    """
    was_unlocked = False
    for folder in _memory_folders():
        for unfinished in (f".{key_id}.*", f"{key_id}.*"):
            for left in (folder / "keys").glob(unfinished):
                left.unlink(missing_ok=True)
        try:
            _key_file(folder, key_id).unlink()
        except FileNotFoundError:
            continue
        was_unlocked = True
    return was_unlocked


def clear_folder(root: Path, key_id: str) -> Path:
    """Return the folder in memory for an encrypted workspace's unencrypted files: indexes, drafts, notes on code.

    Raises:
        NoMemoryFolder: there is no such place.

    """
    # Two copies of a directory have one key, and an index each.
    return _folder_of(key_id) / "text" / f"{key_id}-{directory_mark(root)}"


def directory_mark(root: Path) -> str:
    """Return eight characters that tell a data directory from others in the names of folders elsewhere."""
    import zlib  # noqa: PLC0415 - few calls need it

    return f"{zlib.crc32(os.fsencode(root.absolute())):08x}"


def text_folders(key_id: str) -> list[Path]:
    """Return the folders in memory that hold text of workspaces with a key."""
    return [path for folder in _memory_folders() for path in _texts_in(folder, key_id)]


def _texts_in(folder: Path, key_id: str) -> list[Path]:
    try:
        return sorted((folder / "text").glob(f"{key_id}-*"))
    except OSError:
        return []


def _key_file(folder: Path, key_id: str) -> Path:
    return folder / "keys" / key_id


def _folder_of(key_id: str) -> Path:
    """Return the folder in memory where a key is unlocked, or text with it lies, or it would be put.

    Programs whose environments name other places find one key and its text so.

    Raises:
        NoMemoryFolder, PermissionError: as `memory_folder`.

    """
    folders = list(_memory_folders())
    used = (one for one in folders if _key_file(one, key_id).exists())
    kept = (one for one in folders if _texts_in(one, key_id))
    return next(used, None) or next(kept, None) or memory_folder()


def memory_folder() -> Path:
    """Return the folder of this user in a file system that is kept in memory.

    Raises:
        NoMemoryFolder: there is none.
        PermissionError: another user made a folder of its name.

    """
    if found := next(_memory_folders(), None):
        return found
    shared = _shared_folder()
    if not _is_in_memory(_SHARED):
        raise NoMemoryFolder(f"{sys.platform} has no file system in memory here (/run/user/{os.getuid()} or {_SHARED})")
    raise PermissionError(f"{shared} must be a directory that only you may use")


_SHARED = "/dev/shm"  # noqa: S108 - of all users; the folder in it is looked at


def _shared_folder() -> Path:
    return Path(_SHARED, f"memento-{os.getuid()}")


def _memory_folders() -> Iterator[Path]:
    """Yield this user's folders on file systems in memory, best first; other programs may see them in another order."""
    user = os.getuid()
    tried: list[str] = []
    for place in (os.environ.get("XDG_RUNTIME_DIR", ""), f"/run/user/{user}"):
        if place and place not in tried and _belongs_to(Path(place), user) and _is_in_memory(place):
            yield Path(place, "memento")
        tried.append(place)
    shared = _shared_folder()
    if _is_in_memory(_SHARED) and (not os.path.lexists(shared) or _belongs_to(shared, user)):
        yield shared


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
