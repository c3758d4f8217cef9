"""Write Claude Code's own memory: the index MEMORY.md and the topic files of each project."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from memento_tui.formats.base import (
    ENDED_STATUSES,
    ExportRecord,
    ExportReport,
    Format,
    Refused,
    read_existing,
    replace_if_unchanged,
    source_digest,
)
from memento_tui.formats.claude import (
    EXTRA_KEY,
    INDEX_FILE,
    KIND_OF_TYPE,
    MAX_SECTION_LEVEL,
    ClaudeStatement,
    IndexEntry,
    count,
    memory_folders,
    parse_statements,
    read,
    topic_fields,
)
from memento_tui.formats.frontmatter import InvalidFrontmatter, change_properties, split_note
from memento_tui.formats.note import read_note
from memento_tui.formats.source_files import has_file
from memento_tui.formats.vault import NOTE_SUFFIX
from memento_tui.model import Memory
from memento_tui.text.markdown import parse_heading, without_fences

__all__ = ["FORMAT", "write"]

_MAX_INDEX_LINES, _MAX_INDEX_BYTES = 200, 25_000
"""The lines and bytes of an index that Claude Code loads."""

_NAMESPACE = "claude/"
_TYPE_OF_KIND = {kind: name for name, kind in KIND_OF_TYPE.items()}
_NOT_IN_A_SLUG = re.compile(r"[^\w]+")
_BULLET = re.compile(r"[-*+][ \t]+")
_MAX_SLUG_LENGTH = 60


class _KeptStatement(msgspec.Struct, frozen=True):
    """The data that the import kept. It comes from a database that agents write to, so it is checked."""

    project: str = ""
    path: str = ""
    anchor: str = ""
    said: str = ""
    """The digest of a statement's text as it stood in the index."""
    digest: str = ""
    head: str = ""
    body: str | None = None
    whole: str | None = None


class _ProjectMemories:
    """The memories of one memory folder."""

    def __init__(self) -> None:
        self.statements: dict[tuple[str, str], Memory] = {}
        """By anchor and digest: one that the index no longer holds may have the anchor of another."""
        self.topics: dict[str, tuple[Memory, _KeptStatement]] = {}
        self.new: list[Memory] = []
        self._indexes: list[tuple[datetime, str]] = []
        """The index as it was read, and when the memory that keeps it was touched."""

    def add(self, memory: Memory, kept: _KeptStatement | None) -> None:
        """Add a memory."""
        if kept is None:
            self.new.append(memory)
            return
        if kept.whole is not None:
            self._indexes.append((memory.updated_at, kept.whole))
        if kept.anchor:
            self.statements[kept.anchor, kept.said] = memory
        else:
            self.topics[kept.path] = (memory, kept)

    def index(self, there: bytes) -> str:
        """Return the index as it was read last: as it is ``there`` now, if it was ever read so."""
        known = [whole for _, whole in sorted(self._indexes)]
        return next((whole for whole in known if whole.encode() == there), known[-1] if known else "")


def write(records: Iterable[ExportRecord], root: Path) -> ExportReport:
    """Write the memory folders below ``root``, or ``root`` itself where that is a memory folder.

    That is the layout of ``~/.claude``: ``<project>/memory``, below ``projects`` where there is such a folder.
    """
    projects: dict[str, _ProjectMemories] = {}
    left_out = 0
    for record in records:
        kept = _kept_statement(record) if isinstance(record, Memory) else None
        if not isinstance(record, Memory) or not _is_claude_memory(record, kept):
            left_out += 1
        else:
            name = kept.project if kept is not None else record.namespace.removeprefix(_NAMESPACE).replace("/", "-")
            projects.setdefault(name, _ProjectMemories()).add(record, kept)
    report = _ExportCounts(left_out)
    for name, project in sorted(projects.items()):
        _write_project(_folder(root, name), name, project, report)
    return ExportReport(
        records=report.records,
        files=report.files,
        left_out=report.left_out,
        refused=tuple(report.refused),
        notices=tuple(report.notices),
    )


class _ExportCounts:
    """The counts of one export so far."""

    def __init__(self, left_out: int) -> None:
        self.left_out = left_out
        self.records = self.files = 0
        self.refused: list[Refused] = []
        self.notices: list[str] = []

    def put(self, folder: Path, project: str, name: str, data: bytes, digest: str) -> bool:
        """Write one file; return whether it holds these bytes now."""
        outcome = replace_if_unchanged(folder / name, folder, f"{project}/{name}", data, digest)
        if isinstance(outcome, Refused):
            self.refused.append(outcome)
            return False
        self.files += outcome
        return True


def _kept_statement(memory: Memory) -> _KeptStatement | None:
    try:
        kept = msgspec.convert(memory.extra.get(EXTRA_KEY), _KeptStatement)
    except msgspec.ValidationError:
        return None
    return kept if _is_name(kept.project) and all(map(_is_name, kept.path.split("/"))) else None


def _without_place(memory: Memory) -> Memory:
    """Return a memory without a place and an index, which every session begins with; agents may name any."""
    if EXTRA_KEY not in memory.extra:
        return memory
    return msgspec.structs.replace(memory, extra={n: v for n, v in memory.extra.items() if n != EXTRA_KEY})


def _is_claude_memory(memory: Memory, kept: _KeptStatement | None) -> bool:
    return memory.namespace.startswith(_NAMESPACE) and (kept is not None or memory.status == "active")


def _is_name(part: str) -> bool:
    return bool(part) and part not in (".", "..") and part.isprintable() and "/" not in part and "\\" not in part


def _folder(root: Path, project: str) -> Path:
    if root.name == "memory" or (root / INDEX_FILE).is_file():
        return root
    return (root / "projects" if (root / "projects").is_dir() else root) / project / "memory"


def _write_project(folder: Path, name: str, project: _ProjectMemories, report: _ExportCounts) -> None:
    alive = {path: memory for path, (memory, _) in project.topics.items() if memory.status not in ENDED_STATUSES}
    for path, memory in alive.items():
        kept = project.topics[path][1]
        report.records += report.put(folder, name, path, _render_topic(memory, kept).encode(), kept.digest)
    added: list[tuple[str, Memory]] = []
    for memory in project.new:
        path = _new_path(memory, {*project.topics, *(entry[0] for entry in added)})
        added.append((path, memory))
        report.records += report.put(folder, name, path, _new_topic(memory, path).encode(), "")
    whole = project.index(read_existing(folder / INDEX_FILE))
    text = "".join(_render_index(whole, project.statements, set(project.topics), set(alive)))
    for path, memory in added:
        text += ("\n" if text and not text.endswith("\n") else "") + f"- [{_plain(memory.headline)}]({path})\n"
    if not text and not whole:
        return
    stands = {_key_of_part(part) for part in parse_statements(split_note(whole).body, set(project.topics))}
    stated = sum(memory.status not in ENDED_STATUSES for name, memory in project.statements.items() if name in stands)
    report.left_out += len(project.statements.keys() - stands)
    if report.put(folder, name, INDEX_FILE, text.encode(), source_digest(whole.encode()).hex()):
        report.records += stated
        lines, size = text.count("\n") + (not text.endswith("\n")), len(text.encode())
        if lines > _MAX_INDEX_LINES or size > _MAX_INDEX_BYTES:
            report.notices.append(
                f"{name}/{INDEX_FILE} has {lines:,} lines and {size:,} bytes; "
                f"Claude Code loads the first {_MAX_INDEX_LINES} lines"
                f" or {_MAX_INDEX_BYTES:,} bytes of it."
            )


# The index


def _render_index(
    whole: str, statements: Mapping[tuple[str, str], Memory], topics: set[str], alive: set[str]
) -> Iterator[str]:
    """Yield the index part by part, each with the lines up to the next one."""
    head = split_note(whole)
    lines = [f"{line}\n" for line in head.body.split("\n")]
    lines[-1] = lines[-1][:-1]
    parts = sorted(parse_statements(head.body, topics), key=lambda part: part.line)
    yield head.head + "".join(lines[: parts[0].line - 1 if parts else len(lines)])
    changed = False
    for place, part in enumerate(parts):
        end = parts[place + 1].line - 1 if place + 1 < len(parts) else len(lines)
        own = "".join(lines[part.line - 1 : end])
        section, following = _parted(own)
        if isinstance(part, IndexEntry):
            # The text around an entry belongs to the statement that it stands in, and was written with that.
            section = part.text + "\n" if changed else section
            yield (section if part.target in alive else section.replace(part.text, "", 1).lstrip("\n")) + following
            continue
        memory = statements.get(_key_of_part(part))
        is_gone = memory is not None and memory.status in ENDED_STATUSES
        changed = memory is not None and not is_gone and memory.content != part.content
        if is_gone:
            yield following.lstrip("\n")
        elif memory is None or not changed:
            yield own
        else:
            yield _render_part(section, part, memory.content) + following


def _key_of_part(part: ClaudeStatement | IndexEntry) -> tuple[str, str]:
    """Return the key of a part's memory in `_ProjectMemories.statements`; empty texts for an entry."""
    return ("", "") if isinstance(part, IndexEntry) else (part.anchor, source_digest(part.content.encode()).hex())


def _parted(own: str) -> tuple[str, str]:
    """Return the lines of a part in its section, and the rest from the empty lines before the next section on."""
    lines = own.split("\n")
    bare = without_fences(own).split("\n")
    end = len(lines)
    for number, line in enumerate(bare[1:], 1):
        heading = parse_heading(line)
        if heading is not None and heading[0] <= MAX_SECTION_LEVEL:
            end = number
            break
    while end > 1 and not lines[end - 1].strip():
        end -= 1
    section = "\n".join(lines[:end])
    return (section + "\n", own[len(section) + 1 :]) if end < len(lines) else (section, "")


def _render_part(section: str, part: ClaudeStatement, content: str) -> str:
    """Return a statement's lines with another text; a bullet stays one, and the lines after it stay as they are."""
    bullet = _BULLET.match(section)
    if bullet is None or part.content.startswith(section[: bullet.end()]):
        return content + "\n"
    first, *others = content.split("\n")
    indent = " " * bullet.end()
    written = [bullet[0] + first, *(indent + line if line.strip() else line for line in others)]
    before = section.split("\n")
    own = next((at for at, line in enumerate(before[1:], 1) if line[:1].strip()), len(before))
    while own > 1 and not before[own - 1].strip():
        own -= 1
    return "\n".join([*written, *before[own:]])


# Topic files


def _render_topic(memory: Memory, kept: _KeptStatement) -> str:
    """Return the text of a topic file that was read before."""
    content = memory.content
    try:
        before = read_note(kept.head + (content if kept.body is None else kept.body), kept.path)
    except InvalidFrontmatter:
        before = None
    if before is None or before.parts.head != kept.head:
        return _new_topic(memory, kept.path)
    body = kept.body if kept.body is not None and before.content == content else content
    fields = {"title": before.title, "kind": before.kind, **topic_fields(before)}
    changes: dict[str, Any] = {}
    if memory.title != fields["title"]:
        changes["description" if "description" in before.properties else "name"] = memory.title
    if memory.kind != fields["kind"] and "metadata" not in before.properties:
        changes["type"] = _TYPE_OF_KIND.get(memory.kind, memory.kind)
    line_break = "\r\n" if "\r\n" in kept.head + body else "\n"
    return change_properties(kept.head, changes, line_break) + body


def _new_topic(memory: Memory, path: str) -> str:
    properties = {
        "name": PurePosixPath(path).stem,
        "description": _plain(memory.headline),
        "type": _TYPE_OF_KIND.get(memory.kind, memory.kind),
    }
    return change_properties("", properties, "\n") + memory.content


def _new_path(memory: Memory, taken: set[str]) -> str:
    slug = _NOT_IN_A_SLUG.sub("_", memory.headline.lower()).strip("_")[:_MAX_SLUG_LENGTH] or "memory"
    path = f"{slug}{NOTE_SUFFIX}"
    is_index = path == INDEX_FILE.lower()  # on some file systems
    return path if path not in taken and not is_index else f"{slug}_{memory.id}{NOTE_SUFFIX}"


def _plain(text: str) -> str:
    """Return a text that an entry of the index can show, without brackets that begin or end a link."""
    return re.sub(r"[\[\]()\x00-\x1f]", " ", text).strip() or "memory"


def _is_place(path: Path) -> bool:
    if path.name == INDEX_FILE:
        return True
    return path.is_dir() and any(has_file(folder / INDEX_FILE) for _, folder in memory_folders(path))


FORMAT = Format(
    name="claude",
    title="Claude Code's memory",
    description="what Claude Code remembers by itself: MEMORY.md and the topic files beside it",
    read=read,
    count=count,
    write=write,
    is_place=_is_place,
    without_place=_without_place,
)
