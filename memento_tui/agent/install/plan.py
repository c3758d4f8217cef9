"""What an installation or its removal would change, looked at before anything is written, and then carried out."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from memento_tui.agent.install import backups
from memento_tui.agent.install.files import HostText, check_unchanged, delete, read, replace
from memento_tui.agent.install.hosts import HostFile
from memento_tui.agent.install.part import Part
from memento_tui.errors import InvalidInput

__all__ = ["Change", "carry_out", "installation", "removal"]

_LONGEST_LINE = 500
"""Characters. A file that is one long line is told by its differing stretch."""

_AROUND = 60


@dataclass(frozen=True)
class Change:
    """One file that would be changed."""

    known: HostText
    after: bytes | None
    """``None`` where the file would be deleted."""
    is_removal: bool = False

    @property
    def path(self) -> Path:
        """The file as the host names it."""
        return self.known.path

    @property
    def action(self) -> str:
        """What happens to the file: ``create``, ``change`` or ``delete``."""
        if self.after is None:
            return "delete"
        return "create" if self.known.raw is None else "change"

    def difference(self) -> str:
        """Return the change as a unified diff. It is as others wrote it: not safe to show."""
        before = (self.known.raw or b"").decode("utf-8", "replace")
        after = (self.after or b"").decode("utf-8", "replace")
        lines = before.splitlines(), after.splitlines()
        head = (
            "/dev/null" if self.known.raw is None else str(self.path),
            "/dev/null" if self.after is None else str(self.path),
        )
        if max(map(len, [*lines[0], *lines[1]]), default=0) > _LONGEST_LINE:
            return "\n".join([f"--- {head[0]}", f"+++ {head[1]}", *_stretch(before, after)])
        return "\n".join(difflib.unified_diff(*lines, *head, lineterm="", n=2))


def _stretch(before: str, after: str) -> Iterator[str]:
    start = _alike(before, after)
    same = _alike(before[start:][::-1], after[start:][::-1])
    yield f"@@ from character {start:,} @@"
    for mark, text in (("-", before), ("+", after)):
        piece = text[max(start - _AROUND, 0) : len(text) - same + _AROUND]
        yield from (f"{mark}{line}" for line in piece.splitlines())


def _alike(one: str, other: str) -> int:
    """Return how many characters two texts begin with in common."""
    shorter = min(len(one), len(other))
    return next((number for number in range(shorter) if one[number] != other[number]), shorter)


def installation(files: Sequence[HostFile]) -> list[Change]:
    """Return what puts memento into the files of a host; nothing for files that hold it as it is wanted.

    Raises:
        InvalidInput: a file cannot be read, is not what the host reads, or holds something else in memento's place.

    """
    changes = []
    for file in files:
        known = read(file.path)
        with _naming(file.path):
            text = _added(known.text, file.parts)
        after = known.encoded(text)
        if after != known.raw:
            changes.append(Change(known, after))
    return changes


def removal(files: Sequence[HostFile]) -> list[Change]:
    """Return what takes memento out of the files of a host again.

    A file that nobody else changed since is what it was before, to the byte; a file that was made is deleted. From
    others only what memento put there is taken out.

    Raises:
        InvalidInput: a file cannot be read or is not what the host reads.

    """
    changes = []
    for file in files:
        known = read(file.path)
        if known.raw is None:
            continue
        with _naming(file.path):
            if any(part.found(known.text) for part in file.parts):
                changes.append(Change(known, _restored(known, file.parts), is_removal=True))
    return changes


def _restored(known: HostText, parts: Sequence[Part]) -> bytes | None:
    before = backups.origin(known, parts)
    if before is not None:
        left = _cleared(known.text, parts, before.text)
        is_untouched = left == _as_if(before.text, parts)
        return before.raw if is_untouched else known.encoded(left)
    left = _cleared(known.text, parts, None)
    is_made = left.strip() in ("", "{}") or left == _as_if("", parts)
    return None if is_made else known.encoded(left)


def _as_if(text: str, parts: Sequence[Part]) -> str | None:
    """Return what would be left of a text if memento had been put in and taken out; ``None`` where it cannot be."""
    try:
        return _cleared(_added(text, parts), parts, text)
    except InvalidInput:
        return None


def _added(text: str, parts: Sequence[Part]) -> str:
    for part in parts:
        text = part.add(text)
    return text


def _cleared(text: str, parts: Sequence[Part], origin: str | None) -> str:
    for part in reversed(parts):
        text = part.remove(text, origin)
    return text


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Say in which file a part found something wrong."""
    try:
        yield
    except InvalidInput as error:
        hint = error.hint or "Nothing was written. Mend the file, then try again."
        raise InvalidInput(f"{path}: {error.message}", hint) from error


def carry_out(changes: Sequence[Change]) -> list[Path]:
    """Write what was planned; return the copies of what was there.

    All files are looked at before the first is written.

    Raises:
        Conflict: a file is no longer what it was when the change was planned.
        InvalidInput: a file or copy cannot be written.

    """
    for change in changes:
        check_unchanged(change.known)
    copies = []
    for change in changes:
        if not change.is_removal and (copy := backups.keep(change.known)) is not None:
            copies.append(copy)
        if change.after is None:
            delete(change.known)
        else:
            replace(change.known, change.after)
        if change.is_removal:
            backups.drop_equal(change.known, change.after or b"")
    return copies
