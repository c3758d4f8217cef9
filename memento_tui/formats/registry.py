"""List the import and export formats by name, and detect the format of a path."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from memento_tui.errors import InvalidInput
from memento_tui.formats import (
    agents_file,
    beads,
    claude,
    claude_export,
    engram,
    engram_chunks,
    mcp_reference,
    mem0,
    memento_core,
    memento_jsonl,
    vault,
)
from memento_tui.formats.base import ExportRecord, ExportReport, ImportRecord, Refused
from memento_tui.formats.protocol import local, rest, sqlite
from memento_tui.formats.source_files import JsonLine, SourceFile, check_readable, has_file, read_objects, walk_files

__all__ = ["FORMATS", "Format", "detect_format"]

_VAULT_MARKERS = (".obsidian", *vault.VAULT_FILES)
_MAX_FILES_EXAMINED = 10_000
"""Files looked at for a guess, so that a wrong path such as ``/`` is answered soon."""


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """One format."""

    name: str
    title: str
    """The name that people use."""
    description: str
    read: Callable[[Any], Iterator[ImportRecord | Refused]]
    """Takes a path, or the address of a server where the format is remote."""
    count: Callable[[Any], int]
    """How many files or lines there are to read, for a progress bar."""
    write: Callable[[Iterable[ExportRecord], Any], ExportReport]
    """Takes a place as `read` does."""
    is_own: bool = False
    """Whether it holds records as they are, also the previews that maintenance made of texts."""
    is_remote: bool = False
    """Whether it is on a server, and not in files."""

    def check_place(self, place: Path | str) -> None:
        """Raise `InvalidInput` for a path where the format is remote, or for an address where it is in files."""
        if self.is_remote and isinstance(place, Path):
            raise InvalidInput(f"The format {self.name} is on a server, not in files.", "Give its address, https://...")
        if not self.is_remote and isinstance(place, str):
            raise InvalidInput(f"The format {self.name} is in files, not at {place:.200}.", "Give a path.")

    def locate(self, place: Path | str) -> str:
        """Return the name of a source, the same at every import: a path, or an address as text.

        Raises:
            InvalidInput: it is no place that the format is read from, or there is nothing.

        """
        self.check_place(place)
        if isinstance(place, str):
            return place.rstrip("/")
        check_readable(place)
        return str(place.resolve())


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
            is_own=True,
        ),
        Format(
            name="vault",
            title="Folder of notes",
            description="a folder of Markdown notes with frontmatter: Obsidian, Memento Vault, or any other",
            read=vault.read,
            count=vault.count,
            write=vault.write,
        ),
        Format(
            name="memento-core",
            title="memento-core",
            description="the JSONL files of memento-core, one for each namespace",
            read=memento_core.read,
            count=memento_core.count,
            write=memento_core.write,
        ),
        Format(
            name="protocol-local",
            title="Files of Memento Protocol",
            description="the folder .memento of Memento Protocol, or a folder below which there are some",
            read=local.read,
            count=local.count,
            write=local.write,
        ),
        Format(
            name="protocol-sqlite",
            title="Database of Memento Protocol",
            description="the SQLite files of Memento Protocol's server, one for each workspace",
            read=sqlite.read,
            count=sqlite.count,
            write=sqlite.write,
        ),
        Format(
            name="protocol-rest",
            title="Account of Memento Protocol",
            description="the server of Memento Protocol at the address PATH; the key is in MEMENTO_API_KEY",
            read=rest.read,
            count=rest.count,
            write=rest.write,
            is_remote=True,
        ),
        Format(
            name="claude",
            title="Claude Code's memory",
            description="what Claude Code remembers by itself: MEMORY.md and the topic files beside it",
            read=claude.read,
            count=claude.count,
            write=claude_export.write,
        ),
        Format(
            name="agents-file",
            title="Instructions for agents",
            description="CLAUDE.md, AGENTS.md or GEMINI.md, or a folder below which there are some: a memory a section",
            read=agents_file.read,
            count=agents_file.count,
            write=agents_file.write,
        ),
        Format(
            name="agents-block",
            title="Block of instructions for agents",
            description="the verified instructions in a marked block of such a file, whose other text stays as it is",
            read=agents_file.read,
            count=agents_file.count,
            write=agents_file.write_block,
        ),
        Format(
            name="mcp-reference",
            title="MCP reference server's memory",
            description="memory.jsonl of the MCP reference memory server: a graph of entities and relations",
            read=mcp_reference.read,
            count=mcp_reference.count,
            write=mcp_reference.write,
        ),
        Format(
            name="mem0",
            title="mem0",
            description="the memories that mem0 gives out as JSON",
            read=mem0.read,
            count=mem0.count,
            write=mem0.write,
        ),
        Format(
            name="engram",
            title="engram",
            description="the compressed chunks of engram, in a folder .engram",
            read=engram.read,
            count=engram.count,
            write=engram.write,
        ),
        Format(
            name="beads",
            title="beads",
            description="the issues and memories of beads: what bd export writes, or a backup in .beads",
            read=beads.read,
            count=beads.count,
            write=beads.write,
        ),
    )
}


def detect_format(path: Path) -> str:
    """Return the name of the format that a file or folder is most likely in.

    Raises:
        InvalidInput: there is nothing at ``path`` that we may open, or nothing that memento can read.

    """
    check_readable(path)
    name = (
        next((name for name, is_place in _PATH_DETECTORS if is_place(path)), None)
        or _detect_by_files(path)
        or _detect_hidden(path)
    )
    if name is None:
        raise InvalidInput(
            f"{path} holds nothing that memento can read.",
            f"Name its format, one of {', '.join(FORMATS)}, if it is in one of these.",
        )
    return name


def _is_claude(path: Path) -> bool:
    if path.name == claude.INDEX_FILE:
        return True
    return path.is_dir() and any(has_file(folder / claude.INDEX_FILE) for _, folder in claude.memory_folders(path))


def _is_vault(path: Path) -> bool:
    return any((path / name).exists() for name in _VAULT_MARKERS)


def _is_agents_file(path: Path) -> bool:
    return path.is_file() and path.name.lower() in agents_file.FILE_NAMES


def _is_protocol_local(path: Path) -> bool:
    return local.is_workspace(path) or local.is_workspace(path / local.FOLDER)


def _is_protocol_sqlite(path: Path) -> bool:
    files = path.iterdir() if path.is_dir() else [path]
    return any(file.suffix.lower() in sqlite.DATABASE_SUFFIXES and sqlite.is_workspace(file) for file in files)


_PATH_DETECTORS: tuple[tuple[str, Callable[[Path], bool]], ...] = (
    ("claude", _is_claude),
    ("vault", _is_vault),
    ("protocol-local", _is_protocol_local),
    ("protocol-sqlite", _is_protocol_sqlite),
    ("agents-file", _is_agents_file),
    ("engram", engram_chunks.is_home),
    ("beads", beads.is_home),
)
"""The formats that are known by their files and folders; the first that fits counts."""


def _detect_by_files(path: Path) -> str | None:
    """Return the format of the first file that is in one; instructions for agents lie beside files of any format."""
    start = path / "memories" if (path / "memories").is_dir() else path
    has_instructions = False
    for file in itertools.islice(walk_files(start, ""), _MAX_FILES_EXAMINED):
        if isinstance(file, Refused):
            continue
        if Path(file.name).name.lower() in agents_file.FILE_NAMES:
            has_instructions = True
        elif (name := _detect_file(file)) is not None:
            return name
    return "agents-file" if has_instructions else None


def _detect_hidden(path: Path) -> str | None:
    """Return the format of the files in hidden folders further below, or ``None``."""
    return "protocol-local" if path.is_dir() and next(local.find_workspaces(path), None) is not None else None


def _detect_file(file: SourceFile) -> str | None:
    name = file.name.lower()
    if name.endswith(".jsonl"):
        return _detect_lines(file, "memento-core")
    if name.endswith(mem0.DOCUMENT_SUFFIX):
        return "mem0" if mem0.is_document(file) else None
    if name.endswith(engram_chunks.CHUNK_SUFFIX):
        return _detect_lines(file, "engram")
    if name.endswith(sqlite.DATABASE_SUFFIXES) and sqlite.is_workspace(Path(file.path)):
        return "protocol-sqlite"
    return "vault" if name.endswith(vault.NOTE_SUFFIX) else None


def _detect_lines(file: SourceFile, otherwise: str) -> str:
    """Return the format of a file of lines by the first that can be read; ``otherwise`` if that decides nothing."""
    first = next((line.value for line in read_objects(file, "record") if isinstance(line, JsonLine)), {})
    if "record" in first:
        return "memento"
    if mcp_reference.is_line_of(first):
        return "mcp-reference"
    if beads.is_line_of(first):
        return "beads"
    if mem0.is_memory(first):
        return "mem0"
    return "memento-core" if "content" in first else otherwise
