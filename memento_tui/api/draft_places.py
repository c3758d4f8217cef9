"""Bring drafts from one folder to another: text that nobody has saved is nowhere else, so none is written over."""

from __future__ import annotations

import contextlib
import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path

from memento_tui.private_files import make_private_directory

__all__ = ["copy_drafts", "move_drafts"]

_UNFINISHED = ".part"
"""The end of the name of a copy that is not whole yet."""


def copy_drafts(source: Path, target: Path) -> list[Path]:
    """Copy the drafts of a folder into another, and return the files that were written.

    Where another text has the name already, the one that was changed last has it afterwards; an older one that is
    brought gets a name of its own. Raises `OSError`.
    """
    written = []
    for file in _drafts_in(source):
        place = _place_of(file, target)
        if place is None:
            continue
        make_private_directory(target)
        unfinished = target / f"{file.name}{_UNFINISHED}"
        unfinished.unlink(missing_ok=True)  # one that was left, or a link
        shutil.copy2(file, unfinished)  # with its time, by which the newer text is known
        unfinished.chmod(0o600)
        unfinished.replace(place)
        written.append(place)
    return written


def move_drafts(source: Path, target: Path) -> None:
    """Bring the drafts of a folder into another, as `copy_drafts`, and remove them from the first. Raises `OSError`."""
    if source == target:
        return
    copy_drafts(source, target)
    for file in [*_drafts_in(source), *source.glob(f"*{_UNFINISHED}")]:
        file.unlink()
    with contextlib.suppress(OSError):  # missing, or with what is no draft
        source.rmdir()


def _drafts_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if path.is_file() and path.suffix != _UNFINISHED)


def _place_of(file: Path, target: Path) -> Path | None:
    """Return where a draft is to be copied to; ``None`` where its text is there already."""
    text = file.read_bytes()
    for place in _names(target / file.name):
        if not place.exists():
            return place
        if place.read_bytes() == text:
            return None
        if place.name == file.name and file.stat().st_mtime_ns > place.stat().st_mtime_ns:
            return place
    raise AssertionError("there is always another name")


def _names(place: Path) -> Iterator[Path]:
    """Yield a path, and those with a number that come after it."""
    yield place
    for number in itertools.count(2):
        yield place.with_name(f"{place.stem}-{number}{place.suffix}")
