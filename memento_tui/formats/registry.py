"""List the import and export formats by name, and detect the format of a path."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path

from memento_tui.errors import InvalidInput
from memento_tui.formats import (
    agents_file,
    agents_file_locations,
    beads,
    claude_export,
    engram,
    engram_chunks,
    mcp_reference,
    mem0,
    memento_core,
    memento_jsonl,
    vault,
)
from memento_tui.formats.base import Format, Refused
from memento_tui.formats.protocol import local, rest, sqlite
from memento_tui.formats.source_files import JsonLine, SourceFile, check_readable, read_objects, walk_files

__all__ = ["FORMATS", "detect_format", "formats_beside", "source_name"]

_MAX_FILES_EXAMINED = 10_000
"""Files examined for a guess, so that a wrong path such as ``/`` is answered soon."""

FORMATS: Mapping[str, Format] = {
    known.name: known
    for known in (
        memento_jsonl.FORMAT,
        vault.FORMAT,
        memento_core.FORMAT,
        local.FORMAT,
        sqlite.FORMAT,
        rest.FORMAT,
        claude_export.FORMAT,
        agents_file.FORMAT,
        agents_file.BLOCK_FORMAT,
        mcp_reference.FORMAT,
        mem0.FORMAT,
        engram.FORMAT,
        beads.FORMAT,
    )
}
"""In the order in which they are listed."""

_BUILD_FILES = (
    *("Cargo.toml", "CMakeLists.txt", "Gemfile", "Makefile", "Package.swift", "build.gradle", "build.gradle.kts"),
    *("composer.json", "deno.json", "go.mod", "mix.exs", "package.json", "pom.xml", "pyproject.toml", "setup.py"),
)
"""Files by which projects of code are built: a folder that has one is such a project."""

_FIRST_DETECTED = ("claude", "vault")
"""The formats by whose names of files a path is known first: each of them may hold files of the others."""


def source_name(chosen: Format, place: Path | str) -> str:
    """Return the name of a source, the same however its place is written: a path, or an address as text.

    Raises:
        InvalidInput: it is no place that the format is read from, or there is nothing.

    """
    chosen.check_place(place)
    if isinstance(place, str):
        return place.rstrip("/")
    check_readable(place)
    return str((chosen.home(place) if chosen.home else place).resolve())


def detect_format(path: Path) -> str:
    """Return the name of the format that a file or folder is most likely in.

    Raises:
        InvalidInput: there is nothing at ``path`` that we may open, or nothing that memento can read.

    """
    check_readable(path)
    name = _detect_place(path) or _detect_project(path) or _detect_by_files(path) or _detect_hidden(path)
    if name is None:
        raise InvalidInput(
            f"{path} holds nothing that memento can read.",
            f"Name its format, one of {', '.join(FORMATS)}, if it is in one of these.",
        )
    return name


def formats_beside(path: Path, chosen: str) -> list[str]:
    """Return the names of the formats that a folder holds beside the chosen one, as the names of its files tell."""
    if not path.is_dir():
        return []
    names = [
        name for name, one in FORMATS.items() if name != chosen and one.is_place is not None and one.is_place(path)
    ]
    if chosen == "agents-file" and _detect_by_files(path) == "vault":
        names.append("vault")
    if not {"agents-file", "agents-block"}.isdisjoint([chosen, *names]):
        return names
    # A folder of notes takes every Markdown file, but looks into no hidden folder.
    has_more = agents_file_locations.has_hidden if chosen == "vault" else agents_file_locations.is_in
    return [*names, "agents-file"] if has_more(path) else names


def _detect_place(path: Path) -> str | None:
    """Return the format that is known by the names of files and folders alone."""
    names = dict.fromkeys((*_FIRST_DETECTED, *FORMATS))
    return next((name for name in names if (known := FORMATS[name].is_place) is not None and known(path)), None)


def _detect_project(path: Path) -> str | None:
    """Return the format of instructions for a project of code that has some: its documents are not anybody's notes."""
    is_project = path.is_dir() and any((path / name).is_file() for name in _BUILD_FILES)
    return "agents-file" if is_project and agents_file_locations.is_in(path) else None


def _detect_by_files(path: Path) -> str | None:
    """Return the format of the first file that is in one; instructions for agents lie beside files of any format."""
    start = path / "memories" if (path / "memories").is_dir() else path
    has_instructions = False
    for file in itertools.islice(walk_files(start, ""), _MAX_FILES_EXAMINED):
        if isinstance(file, Refused):
            continue
        if agents_file_locations.is_named_so(file.name):
            has_instructions = True
        elif (name := _detect_file(file)) is not None:
            return name
    return "agents-file" if has_instructions else None


def _detect_hidden(path: Path) -> str | None:
    """Return the format of the files in hidden folders further below, or ``None``."""
    if not path.is_dir():
        return None
    if next(local.find_workspaces(path), None) is not None:
        return "protocol-local"
    return "agents-file" if agents_file_locations.has_hidden(path) else None


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
    known = (name for name, format_ in FORMATS.items() if format_.is_line is not None and format_.is_line(first))
    return next(known, "memento-core" if "content" in first else otherwise)
