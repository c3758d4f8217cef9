"""The formats by the names that the command line knows them by, and a guess at the format of a path."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from memento_tui.errors import InvalidInput
from memento_tui.interchange import (
    claude,
    memento_core,
    memento_core_export,
    memento_jsonl,
    vault,
    vault_export,
)
from memento_tui.interchange.incoming import Incoming, Refused
from memento_tui.interchange.lines import Line, objects
from memento_tui.interchange.outgoing import Outgoing, Written
from memento_tui.interchange.tree import SourceFile, walk

__all__ = ["FORMATS", "Format", "detect"]

_OF_A_VAULT = (".obsidian", *vault.VAULT_FILES)
_FURTHEST = 10_000
"""Files looked at for a guess, so that a wrong path such as ``/`` is answered soon."""


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """One format."""

    name: str
    title: str
    """What people call it."""
    description: str
    read: Callable[[Path], Iterator[Incoming | Refused]]
    count: Callable[[Path], int]
    """How many files or lines there are to read, for a progress bar."""
    write: Callable[[Iterable[Outgoing], Path], Written] | None = None
    """``None`` where memento only reads the format."""


FORMATS: Mapping[str, Format] = {
    one.name: one
    for one in (
        Format(
            name="memento",
            title="Export of memento",
            description="memento's own open format: every field of every record, one JSON object a line",
            read=memento_jsonl.read,
            count=memento_jsonl.count,
            write=memento_jsonl.write,
        ),
        Format(
            name="vault",
            title="Folder of notes",
            description="a folder of Markdown notes with frontmatter: Obsidian, Memento Vault, or any other",
            read=vault.read,
            count=vault.count,
            write=vault_export.write,
        ),
        Format(
            name="memento-core",
            title="memento-core",
            description="the JSONL files of memento-core, one for each namespace",
            read=memento_core.read,
            count=memento_core.count,
            write=memento_core_export.write,
        ),
        Format(
            name="claude",
            title="Claude Code's memory",
            description="what Claude Code remembers by itself: MEMORY.md and the topic files beside it",
            read=claude.read,
            count=claude.count,
        ),
    )
}


def detect(path: Path) -> str:
    """Return the name of the format that a file or folder is most likely in.

    Raises:
        InvalidInput: there is nothing at ``path``, or nothing that memento can read.

    """
    if not path.exists():
        raise InvalidInput(f"There is nothing at {path}.", "Check the path.")
    if path.name == claude.INDEX or _is_claude(path):
        return "claude"
    if any((path / name).exists() for name in _OF_A_VAULT):
        return "vault"
    start = path / "memories" if (path / "memories").is_dir() else path
    for found in itertools.islice(walk(start, ""), _FURTHEST):
        if isinstance(found, SourceFile):
            name = found.name.lower()
            if name.endswith(".jsonl"):
                return _of_lines(found)
            if name.endswith(vault.SUFFIX):
                return "vault"
    raise InvalidInput(
        f"{path} holds nothing that memento can read.",
        f"Name its format, one of {', '.join(FORMATS)}, if it is in one of these.",
    )


def _is_claude(path: Path) -> bool:
    return path.is_dir() and any((folder / claude.INDEX).is_file() for _, folder in claude.memory_folders(path))


def _of_lines(file: SourceFile) -> str:
    """Tell memento's own lines from those of memento-core by the first that can be read."""
    first = next((line for line in objects(file, "record") if isinstance(line, Line)), None)
    return "memento" if first is not None and "record" in first.value else "memento-core"
