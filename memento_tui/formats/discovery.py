"""Search a home directory for memories that could be imported, opening only files that identify a format."""

from __future__ import annotations

import os
import shlex
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

import msgspec

from memento_tui.formats import agents_file_locations, beads, engram_chunks, mcp_reference, memento_jsonl, vault
from memento_tui.formats.protocol import local, sqlite

__all__ = ["DiscoveryReport", "ImportSource", "find_sources", "import_command"]

_TIME_LIMIT_SECONDS = 2.0

_MAX_DEPTH = 3
"""Folders below the home: ``~/Documents/notes/work`` is still found."""

_MAX_NOTES = 100_000
"""Notes that are counted in one vault."""

_SAMPLE_BYTES = 1 << 20
"""Bytes of a file whose lines are counted; those of the rest are estimated."""

_MAX_LINE_BYTES = 1 << 16
"""Bytes of a file's first line that are read to tell its format."""

_IGNORED_FOLDERS = frozenset(
    {"node_modules", "venv", "site-packages", "__pycache__", "snap", "Library", "Applications"}
)
"""Folders that people do not keep their notes in, and that hold very many files."""

_ICLOUD = ("Library", "Mobile Documents", "iCloud~md~obsidian", "Documents")
"""The folder in which Obsidian keeps vaults that it shares between Apple's devices."""

_VAULT_LAYOUT = frozenset({"notes", "fleeting"})
"""The folders by which a Memento Vault is known if it has none of its own files."""

_PROJECT_FORMATS = (
    ("engram", engram_chunks.FOLDER, engram_chunks.CHUNK_SUFFIX, "file"),
    ("beads", beads.FOLDER, f"{beads.ISSUES}.jsonl", "line"),
)
"""Formats that live in a hidden folder of a project: format, folder, suffix of their files, and unit of the count."""


class ImportSource(msgspec.Struct, frozen=True, kw_only=True):
    """One place that could be imported."""

    format: str
    """The name of its format in `formats.FORMATS`."""
    path: Path
    count: int
    """Files of notes, or lines."""
    unit: str
    """The unit of `count`: ``note``, ``file`` or ``line``."""
    about: bool
    """Whether there may be more or fewer."""
    changed: datetime | None
    """When it last changed, as far as was seen."""

    @property
    def amount(self) -> str:
        """How much it holds, in words."""
        return f"{'about ' if self.about else ''}{self.count:,} {self.unit}{'' if self.count == 1 else 's'}"


class DiscoveryReport(msgspec.Struct, frozen=True, kw_only=True):
    """The sources that were found, and the places that could not be searched."""

    candidates: tuple[ImportSource, ...]
    unreadable: int
    """Folders and files that could not be opened."""
    complete: bool
    """Whether everything was looked at before the time was up."""

    @property
    def shortcomings(self) -> list[str]:
        """Sentences about the search that a person should read."""
        sentences = []
        if self.unreadable:
            what = "folder or file" if self.unreadable == 1 else "folders or files"
            sentences.append(f"{self.unreadable:,} {what} could not be opened.")
        if not self.complete:
            sentences.append("There was more to look through than time; there may be others.")
        return sentences


def import_command(candidate: ImportSource, data_dir: Path | None = None) -> str:
    """Return the command that imports a candidate, as a shell takes it."""
    chosen = ["--data-dir", str(data_dir)] if data_dir else []
    return shlex.join(["memento", *chosen, "import", candidate.format, str(candidate.path)])


def find_sources(
    data_dir: Path,
    home: Path | None = None,
    *,
    seconds: float = _TIME_LIMIT_SECONDS,
    stopped: Callable[[], bool] = lambda: False,
) -> DiscoveryReport:
    """Search a home (``None`` for the person's own) for at most so many seconds, or until ``stopped`` returns true.

    ``data_dir`` is the data directory that would be imported into.
    """
    search = _HomeSearch(data_dir, (home or Path.home()).absolute(), seconds, stopped)
    candidates = {candidate.path: candidate for candidate in search.run()}
    return DiscoveryReport(
        candidates=tuple(candidates.values()), unreadable=search.unreadable, complete=not search.cut_short
    )


class _HomeSearch:
    """One search of a home."""

    def __init__(self, data_dir: Path, home: Path, seconds: float, stopped: Callable[[], bool]) -> None:
        self._data_dir = data_dir
        self._home = home
        self._ends = monotonic() + seconds
        self._stopped = stopped
        self.unreadable = 0
        self.cut_short = False

    def run(self) -> Iterator[ImportSource]:
        """Yield the sources, those that the tools keep first."""
        yield from self._claude()
        yield from self._memento_core()
        yield from self._walk()

    def _out_of_time(self) -> bool:
        self.cut_short = self.cut_short or monotonic() > self._ends or self._stopped()
        return self.cut_short

    def _list(self, folder: Path) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as listing:
                return sorted(listing, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError:
            self.unreadable += 1
            return []

    def _is_inside(self, path: Path) -> bool:
        """Return whether a well-known place is really in the home and not a link that leads out of it."""
        try:
            return path.resolve().is_relative_to(self._home.resolve())
        except (OSError, RuntimeError):
            return False

    def _claude(self) -> Iterator[ImportSource]:
        root = self._home / ".claude"
        if not self._is_inside(root):
            return
        folders = [
            Path(project.path) / "memory"
            for project in self._list(root / "projects")
            if project.is_dir(follow_symlinks=False)
        ]
        memories = (folder for folder in folders if not folder.is_symlink())
        files = [file for folder in memories for file in self._files_below(folder, vault.NOTE_SUFFIX)]
        yield from self._candidate("claude", root, files, "file")

    def _memento_core(self) -> Iterator[ImportSource]:
        # Its variable is memento's own too, so that its files may lie in the data directory.
        for root in (self._home / ".memento", self._data_dir):
            if root == self._data_dir or self._is_inside(root):
                files = list(self._files_below(root / "memories", ".jsonl"))
                yield from self._candidate("memento-core", root, files, "line")

    def _walk(self) -> Iterator[ImportSource]:
        """Yield the vaults and exports, those that lie nearest to the home first."""
        waiting = deque([(self._home, 0)])
        cloud = self._home.joinpath(*_ICLOUD)
        if cloud.is_dir() and self._is_inside(cloud):
            waiting.append((cloud, _MAX_DEPTH - 1))
        while waiting and not self._out_of_time():
            folder, depth = waiting.popleft()
            entries = self._list(folder)
            names = {entry.name for entry in entries}
            if "memento.db" in names:
                continue
            yield from self._of_project(folder, names)
            instructions = self._instructions(folder, entries) if depth else []
            if instructions:
                yield from self._candidate("agents-file", folder, instructions, "file")
            if depth and self._is_vault(folder, names):
                yield from self._candidate("vault", folder, self._files_below(folder, vault.NOTE_SUFFIX), "note")
                continue
            for entry in entries:
                if not (instructions and agents_file_locations.is_spelled_so(entry.name)):
                    yield from self._of_file(entry)
            if depth < _MAX_DEPTH and not (depth and ".git" in names):
                waiting.extend((Path(entry.path), depth + 1) for entry in entries if _is_worth_entering(entry))

    def _instructions(self, folder: Path, entries: Iterable[os.DirEntry[str]]) -> list[os.DirEntry[str]]:
        """Return a project's files of instructions where they are to be imported together: several, or hidden ones.

        Alone, a text that several of them hold would have only one of them as its source.
        """
        own = [entry for entry in entries if agents_file_locations.is_spelled_so(entry.name)]
        own = [entry for entry in own if entry.is_file(follow_symlinks=False)]
        wanted = {place.path for place in agents_file_locations.hidden_files(folder)}
        parents = {Path(path).parent for path in wanted}
        hidden = [entry for parent in sorted(parents) for entry in self._list(parent) if entry.path in wanted]
        return [*own, *hidden] if hidden or len(own) > 1 else []

    def _of_file(self, entry: os.DirEntry[str]) -> Iterator[ImportSource]:
        """Yield the source that a single file is."""
        name, format_name, unit = entry.name.lower(), "", "file"
        known = agents_file_locations.is_spelled_so(entry.name) or name.endswith((".jsonl", *sqlite.DATABASE_SUFFIXES))
        if not known or not entry.is_file(follow_symlinks=False):
            return
        if agents_file_locations.is_spelled_so(entry.name):
            format_name = "agents-file"
        elif name.endswith(".jsonl"):
            format_name, unit = self._format_of_lines(entry), "line"
        elif sqlite.is_workspace(Path(entry.path)):
            format_name = "protocol-sqlite"
        if format_name:
            yield from self._candidate(format_name, Path(entry.path), [entry], unit)

    def _of_project(self, folder: Path, names: set[str]) -> Iterator[ImportSource]:
        """Yield the sources that tools keep in hidden folders of a project."""
        if local.FOLDER in names:
            yield from self._protocol(folder / local.FOLDER)
        for format_name, name, ending, unit in _PROJECT_FORMATS:
            if name in names and not (folder / name).is_symlink():
                yield from self._candidate(format_name, folder / name, self._files_below(folder / name, ending), unit)

    def _protocol(self, folder: Path) -> Iterator[ImportSource]:
        if not folder.is_symlink() and local.is_workspace(folder):
            files = [file for name in ("memories", "items") for file in self._files_below(folder / name, ".json")]
            known = (local.DOCUMENT, local.SKIP_FILE)
            files += [file for file in self._list(folder) if file.name in known and file.is_file(follow_symlinks=False)]
            yield from self._candidate("protocol-local", folder, files, "file")

    def _is_vault(self, folder: Path, names: set[str]) -> bool:
        return (
            folder == self._home / "vault"
            or ".obsidian" in names
            or not names.isdisjoint(vault.VAULT_FILES)
            or names >= _VAULT_LAYOUT
        )

    def _format_of_lines(self, entry: os.DirEntry[str]) -> str:
        """Return the format of a file of lines, memento's own or the reference server's; empty for any other."""
        try:
            with open(entry.path, "rb") as file:  # noqa: PTH123 - as below
                head = file.readline(_MAX_LINE_BYTES)
        except OSError:
            self.unreadable += 1
            return ""
        if b'"header"' in head[:500] and f'"{memento_jsonl.HEADER_FORMAT}"'.encode() in head[:500]:
            return "memento"
        try:
            first = msgspec.json.decode(head)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return ""
        return "mcp-reference" if isinstance(first, dict) and mcp_reference.is_line(first) else ""

    def _files_below(self, folder: Path, suffix: str) -> Iterator[os.DirEntry[str]]:
        """Yield the files with a suffix, hidden folders left out."""
        waiting = [folder]
        seen = 0
        while waiting and not self._out_of_time():
            for entry in self._list(waiting.pop()):
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(entry.path))
                elif entry.name.lower().endswith(suffix) and entry.is_file(follow_symlinks=False):
                    seen += 1
                    if seen > _MAX_NOTES:
                        self.cut_short = True
                        return
                    yield entry

    def _candidate(
        self, format_name: str, path: Path, files: Iterable[os.DirEntry[str]], unit: str
    ) -> Iterator[ImportSource]:
        """Yield a candidate if it holds anything."""
        count, latest, about = 0, 0.0, False
        for file in files:
            try:
                status = file.stat(follow_symlinks=False)
                lines, estimated = _estimate_lines(file, status.st_size) if unit == "line" else (1, False)
            except OSError:
                self.unreadable += 1
                continue
            count += lines
            about = about or estimated
            latest = max(latest, status.st_mtime)
        if count:
            yield ImportSource(
                format=format_name,
                path=path,
                count=count,
                unit=unit,
                about=about or self.cut_short,
                changed=datetime.fromtimestamp(latest, UTC) if latest else None,
            )


def _is_worth_entering(entry: os.DirEntry[str]) -> bool:
    hidden = entry.name.startswith(".") or entry.name in _IGNORED_FOLDERS
    return not hidden and entry.is_dir(follow_symlinks=False)


def _estimate_lines(entry: os.DirEntry[str], size: int) -> tuple[int, bool]:
    """Return how many lines a file has, and whether that is an estimate. Raises `OSError`."""
    with open(entry.path, "rb") as file:  # noqa: PTH123 - a path that is text already
        sample = file.read(_SAMPLE_BYTES)
    lines = sample.count(b"\n") + (not sample.endswith(b"\n") and bool(sample))
    if size <= len(sample):
        return lines, False
    return round(lines * size / len(sample)), True
