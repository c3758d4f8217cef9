"""Plan the changes of an installation or its removal, show them, and carry them out."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from memento_tui.errors import InvalidInput
from memento_tui.hosts import files
from memento_tui.hosts.files import (
    FilePart,
    HostText,
    check_unchanged,
    delete_host_file,
    read_host_file,
    replace_host_file,
)
from memento_tui.hosts.registry import HostFile
from memento_tui.text.diff import common_prefix_length

__all__ = ["HostFileChange", "apply_changes", "plan_installation", "plan_removal"]

_MAX_LINE_CHARS = 500
"""Characters of a line above which only the differing stretch of a file is shown."""

_CONTEXT_CHARS = 60
"""Characters shown before and after such a stretch."""


@dataclass(frozen=True)
class HostFileChange:
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
        """The kind of change: ``create``, ``change`` or ``delete``."""
        if self.after is None:
            return "delete"
        return "create" if self.known.raw is None else "change"

    def difference(self) -> str:
        """Return the change as a unified diff. It holds text of others that is not safe to show."""
        before = (self.known.raw or b"").decode("utf-8", "replace")
        after = (self.after or b"").decode("utf-8", "replace")
        lines = before.splitlines(), after.splitlines()
        head = (
            "/dev/null" if self.known.raw is None else str(self.path),
            "/dev/null" if self.after is None else str(self.path),
        )
        if max(map(len, [*lines[0], *lines[1]]), default=0) > _MAX_LINE_CHARS:
            return "\n".join([f"--- {head[0]}", f"+++ {head[1]}", *_differing_stretch(before, after)])
        return "\n".join(difflib.unified_diff(*lines, *head, lineterm="", n=2))


def _differing_stretch(before: str, after: str) -> Iterator[str]:
    start = common_prefix_length(before, after)
    same = common_prefix_length(before[start:][::-1], after[start:][::-1])
    yield f"@@ from character {start:,} @@"
    for mark, text in (("-", before), ("+", after)):
        piece = text[max(start - _CONTEXT_CHARS, 0) : len(text) - same + _CONTEXT_CHARS]
        yield from (f"{mark}{line}" for line in piece.splitlines())


def plan_installation(files: Sequence[HostFile]) -> list[HostFileChange]:
    """Return the changes that put memento into the files of a host; none for files that are up to date.

    Raises:
        InvalidInput: a file cannot be read, also by the host, or has an entry of others in memento's place.

    """
    changes = []
    for file in files:
        known = read_host_file(file.path)
        former = known.text
        with _naming_file(file.path):
            text = _add_parts(former, file.parts)
        after = known.encoded(text)
        if after != known.raw:
            changes.append(HostFileChange(known, after))
    return changes


def plan_removal(files: Sequence[HostFile]) -> list[HostFileChange]:
    """Return the changes that take memento out of the files of a host.

    A file that was not changed otherwise is restored to the byte, and one that memento made is deleted. From any other
    file only memento's own entries are removed.

    Raises:
        InvalidInput: a file cannot be read, also by the host.

    """
    changes = []
    for file in files:
        known = read_host_file(file.path)
        if known.raw is None:
            continue
        former = known.text
        with _naming_file(file.path):
            if any(part.find_commands(former) for part in file.parts):
                changes.append(HostFileChange(known, _restore_text(known, file.parts), is_removal=True))
    return changes


def _restore_text(known: HostText, parts: Sequence[FilePart]) -> bytes | None:
    before = files.original_backup(known, parts)
    if before is not None:
        left = _remove_parts(known.text, parts, before.text)
        is_untouched = left == _round_trip(before.text, parts)
        return before.raw if is_untouched else known.encoded(left)
    left = _remove_parts(known.text, parts, None)
    is_made = left.strip() in ("", "{}") or left == _round_trip("", parts)
    return None if is_made else known.encoded(left)


def _round_trip(text: str, parts: Sequence[FilePart]) -> str | None:
    """Return a text after putting memento in and taking it out; ``None`` where that is impossible."""
    try:
        return _remove_parts(_add_parts(text, parts), parts, text)
    except InvalidInput:
        return None


def _add_parts(text: str, parts: Sequence[FilePart]) -> str:
    for part in parts:
        text = part.add(text)
    return text


def _remove_parts(text: str, parts: Sequence[FilePart], origin: str | None) -> str:
    for part in reversed(parts):
        text = part.remove(text, origin)
    return text


@contextmanager
def _naming_file(path: Path) -> Iterator[None]:
    """Name the file in the errors that a part raises."""
    try:
        yield
    except InvalidInput as error:
        hint = error.hint or "Nothing was written. Mend the file, then try again."
        raise InvalidInput(f"{path}: {error.message}", hint) from error


def apply_changes(changes: Sequence[HostFileChange]) -> list[Path]:
    """Carry out the changes; return the copies of the former files.

    All files are checked before the first is written.

    Raises:
        Conflict: a file was changed since the change was planned.
        InvalidInput: a file or copy cannot be written.

    """
    for change in changes:
        check_unchanged(change.known)
    copies = []
    for change in changes:
        if not change.is_removal and (copy := files.back_up(change.known)) is not None:
            copies.append(copy)
        if change.after is None:
            delete_host_file(change.known)
        else:
            replace_host_file(change.known, change.after)
        if change.is_removal:
            files.delete_equal_backups(change.known, change.after or b"")
    files.remove_made_folders([change.known.target.parent for change in changes if change.is_removal])
    return copies
