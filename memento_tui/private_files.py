"""Keep the files of a data directory to their owner, whatever the umask is and whoever made the directory.

A data directory is closed to others before anything is written into it, so that a file is out of their reach even in
the moment before its own mode is set.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from memento_tui.regular_files import entries_of

__all__ = [
    "OTHERS",
    "PRIVATE_FILE_MODE",
    "close_data_directory",
    "close_tree",
    "foreign_names",
    "links_below",
    "make_private_directory",
    "make_private_file",
    "replace_file",
    "use_private_umask",
]

OTHERS = stat.S_IRWXG | stat.S_IRWXO
"""The permissions of everybody but the owner."""

PRIVATE_FILE_MODE = 0o600
_PRIVATE_DIRECTORY_MODE = 0o700

_OWN_NAME = re.compile(
    r"memento\.db.*|key-[0-9a-f]{16}\.json|http\.key.*|tokens\.json.*|config\.toml.*|engine\.(?:lock|log|sock)|hook\.(?:lock|log)"
    r"|index_worker\.lock|workspace\.json|(?:waiting|last-notice)\.txt|(?:maintenance|crash)\.log|sleep\.lock"
    r"|hub\.(?:key|lock|log|worker\.lock)|backups(?:\.(?:lock|json|part))?|code(?:\.lock)?|index|drafts"
)
"""The names of memento's own files at the top of a data directory."""


def use_private_umask() -> None:
    """Let every file that this program makes be its owner's alone; for memento's own programs, not for its library."""
    os.umask(OTHERS)


def make_private_directory(path: Path) -> None:
    """Make a directory that only its owner may enter, or close the one that is there. Raises `OSError`."""
    path.mkdir(mode=_PRIVATE_DIRECTORY_MODE, parents=True, exist_ok=True)
    if _close(path):
        _close_below(path)


def make_private_file(path: Path) -> None:
    """Make an empty file that only its owner may read, unless there is a file. Raises `OSError`."""
    if not path.exists():
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, PRIVATE_FILE_MODE))


def replace_file(path: Path, content: bytes, *, mode: int = PRIVATE_FILE_MODE, synced: bool = False) -> None:
    """Replace a file by one with the given content, atomically; where ``synced``, wait for the disk.

    The name that it has until then cannot be guessed: a link that lay there would lead to another file. Raises
    `OSError`.
    """
    beside = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor has no path
            os.fchmod(descriptor, mode)  # the program's umask may be narrower
            file.write(content)
            file.flush()
            if synced:
                os.fsync(descriptor)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def close_data_directory(root: Path) -> None:
    """Take the access of others from a data directory and from all of memento's own files in it, where it is ours.

    A directory that holds other files too is left as it is: others may need those. memento's own are closed all the
    same. What cannot be closed, such as on a read-only medium, is for `memento doctor` to tell.
    """
    try:
        if not foreign_names(root):
            _close(root)
        own = [entry for entry in _entries(root) if _OWN_NAME.fullmatch(entry.name)]
    except OSError:
        return
    for entry in own:
        # A directory that was closed had nothing reachable in it.
        if _close(Path(entry.path)) and entry.is_dir(follow_symlinks=False):
            _close_below(Path(entry.path))


def foreign_names(root: Path) -> list[str]:
    """Return the names in a data directory that are not memento's own, without hidden ones. Raises `OSError`."""
    return sorted(
        entry.name for entry in _entries(root) if not entry.name.startswith(".") and not _OWN_NAME.fullmatch(entry.name)
    )


def links_below(directory: Path, *, but: Sequence[str] = ()) -> Iterator[Path]:
    """Yield the links below a directory, and its pipes and the like, which keep whoever opens them waiting.

    Folders named in ``but`` are not entered, nor those that nobody may enter.
    """
    folders = [os.fspath(directory)]
    while folders:  # no call for each level: somebody else may have made thousands of them
        for entry in entries_of(folders.pop()):  # whoever uses a folder that cannot be read says what is wrong with it
            if entry.is_dir(follow_symlinks=False):
                folders += [] if entry.name in but else [entry.path]
            elif not entry.is_file(follow_symlinks=False):
                yield Path(entry.path)


def close_tree(directory: Path) -> None:
    """Take the access of others from a directory and from everything in it, where it is ours."""
    _close(directory)
    _close_below(directory)


def _close_below(directory: Path) -> None:
    folders = [os.fspath(directory)]
    while folders:
        for entry in entries_of(folders.pop()):
            _close(Path(entry.path))
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)


def _entries(directory: Path) -> Iterator[os.DirEntry[str]]:
    with os.scandir(directory) as entries:
        yield from entries


def _close(path: Path) -> bool:
    """Take the access of others from a file or directory of ours; return whether they had any."""
    try:
        facts = path.lstat()
        if stat.S_ISLNK(facts.st_mode) or facts.st_uid != os.geteuid() or not facts.st_mode & OTHERS:
            return False
        path.chmod(stat.S_IMODE(facts.st_mode) & ~OTHERS)
    except OSError:
        return False  # it is gone by now, or on a medium that has no modes
    return True
