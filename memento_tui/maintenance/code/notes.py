"""The file with the outdated citations of each memory about a repository. Standard library only.

A hook reads it before it tells a memory. It is derived: whoever checks the repository next writes it anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from memento_tui.named_tuple import NamedTuple
from memento_tui.private_files import replace_file

TYPE_CHECKING = False  # as in `typing`, whose import a host would wait for
if TYPE_CHECKING:
    from typing import Any

__all__ = ["CodeNote", "CodeNotes", "read_notes", "write_notes"]

_FORMAT = 1


class CodeNote(NamedTuple):
    """The note that goes with one version of a memory when it is shown to an agent."""

    version: int
    is_gone: bool
    """Whether nothing is left of all that the memory cites; it is not shown then."""
    label: str
    paths: tuple[str, ...] = ()
    """The paths that are gone, relative to the repository; the note is void where one is there after all."""

    def holds(self, version: int, root: Path) -> bool:
        """Tell whether the note is about this version of the memory, and still true of the files in the work tree."""
        return self.version == version and not any(os.path.lexists(root / path) for path in self.paths)


class CodeNotes(NamedTuple):
    """The notes about one work tree, with the commit and the journal entry that they were made from."""

    head: str
    mark: str
    rows: Mapping[str, Sequence[Any]]
    """The fields of each note by the id of its memory: a hook needs few of them as notes."""

    def note(self, memory_id: str, version: int, root: Path) -> CodeNote | None:
        """Return the note about a memory at a version; ``None`` where there is none, or the work tree voids it."""
        row = self.rows.get(memory_id)
        try:
            note = None if row is None else CodeNote(row[0], row[1], row[2], tuple(row[3]))
        except (TypeError, IndexError, KeyError):  # not as this version writes them
            return None
        return note if note is not None and note.holds(version, root) else None


def read_notes(file: Path) -> CodeNotes:
    """Return the notes of a file; none where it is missing or of another version."""
    try:
        plain = json.loads(file.read_bytes())
        if plain["format"] == _FORMAT and isinstance(plain["notes"], dict):
            return CodeNotes(str(plain["head"]), str(plain["mark"]), plain["notes"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return CodeNotes("", "", {})


def write_notes(file: Path, notes: CodeNotes) -> None:
    """Put the notes in place of those that the file holds, all at once."""
    plain = {"format": _FORMAT, "head": notes.head, "mark": notes.mark, "notes": notes.rows}
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_file(file, json.dumps(plain).encode())
