"""Copies of a host's file as it was before memento changed it, beside it and numbered; the newest has the last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from memento_tui.agent.install.files import HostText, read, write
from memento_tui.agent.install.part import Part
from memento_tui.errors import InvalidInput

__all__ = ["drop_equal", "keep", "origin"]

_NAME = ".before-memento-"


def keep(known: HostText) -> Path | None:
    """Copy a file with its mode, unless the last copy says the same; return the copy, ``None`` where there is no file.

    Raises:
        InvalidInput: the copy cannot be written.

    """
    if known.raw is None:
        return None
    numbered = dict(_numbered(known.path))
    newest = max(numbered, default=0)
    if newest and read(numbered[newest]).raw == known.raw:
        return numbered[newest]
    copy = known.path.with_name(f"{known.path.name}{_NAME}{newest + 1}")
    write(copy, known.raw, known.mode, known.owner)
    return copy


def origin(known: HostText, parts: Sequence[Part]) -> HostText | None:
    """Return the last copy in which there is nothing of memento's; ``None`` where there is none."""
    for _, path in sorted(_numbered(known.path), reverse=True):
        try:
            copy = read(path)
            if not any(part.found(copy.text) for part in parts):
                return copy
        except InvalidInput:
            continue  # a copy that somebody damaged tells nothing
    return None


def drop_equal(known: HostText, raw: bytes) -> None:
    """Delete the copies that say what the file says now."""
    for _, path in _numbered(known.path):
        if read(path).raw == raw:
            path.unlink(missing_ok=True)


def _numbered(path: Path) -> Iterator[tuple[int, Path]]:
    if not path.parent.is_dir():
        return
    for one in path.parent.iterdir():
        number = one.name.removeprefix(path.name + _NAME)
        if number != one.name and number.isascii() and number.isdecimal() and not one.is_symlink() and one.is_file():
            yield int(number), one
