"""Writing Claude Code's own memory: the index MEMORY.md and the topic files of each project.

What was read from there returns byte for byte where nothing changed. An edited statement changes its own lines of the
index, an edited topic its text, and its ``description`` (or ``name``) and ``type`` where they stand at the top of its
frontmatter. What was deleted here loses its lines in the index; its topic file is left for the person to remove. A
memory that was made here in a namespace ``claude/<project>`` becomes a topic file with an entry at the index's end.

A file that is there already is replaced only while it holds the very bytes that were read. Claude Code loads the first
200 lines or 25 kB of an index; one that is longer is written whole, and the report says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from memento_tui.interchange.claude import INDEX, KEPT, KINDS, topic_fields
from memento_tui.interchange.frontmatter import change_properties, split_note
from memento_tui.interchange.incoming import Refused, source_digest
from memento_tui.interchange.markdown import heading, without_fences
from memento_tui.interchange.note import read_note
from memento_tui.interchange.outgoing import Outgoing, Written, put_in_place
from memento_tui.interchange.properties import BadProperties
from memento_tui.interchange.statements import DEEPEST_SECTION, Entry, Statement, statements
from memento_tui.interchange.vault import SUFFIX
from memento_tui.records import Memory

__all__ = ["MOST_BYTES", "MOST_LINES", "write"]

MOST_LINES, MOST_BYTES = 200, 25_000
"""What Claude Code loads of an index."""

_NAMESPACE = "claude/"
_GONE = ("deleted", "rejected")
_TYPES = {kind: name for name, kind in KINDS.items()}
_NOT_IN_A_SLUG = re.compile(r"[^\w]+")
_BULLET = re.compile(r"[-*+][ \t]+")
_LONGEST_SLUG = 60


class _Kept(msgspec.Struct, frozen=True):
    """What the import kept. It has passed through a database that agents write to, so it is checked."""

    project: str = ""
    path: str = ""
    anchor: str = ""
    said: str = ""
    """The digest of a statement's text as it stood in the index."""
    digest: str = ""
    head: str = ""
    body: str | None = None
    whole: str | None = None


class _Project:
    """What goes into one memory folder."""

    def __init__(self) -> None:
        self.statements: dict[tuple[str, str], Memory] = {}
        """By anchor and digest: one that the index no longer holds may have the anchor of another."""
        self.topics: dict[str, tuple[Memory, _Kept]] = {}
        self.new: list[Memory] = []
        self._indexes: list[tuple[datetime, str]] = []
        """The index as it was read, and when the memory that keeps it was touched."""

    def take(self, memory: Memory, kept: _Kept | None) -> None:
        """Take a memory in."""
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


def write(records: Iterable[Outgoing], root: Path) -> Written:
    """Write the memory folders below ``root``, or ``root`` itself where that is a memory folder.

    That is the layout of ``~/.claude``: ``<project>/memory``, below ``projects`` where there is such a folder.
    """
    projects: dict[str, _Project] = {}
    left_out = 0
    for record in records:
        kept = _kept(record) if isinstance(record, Memory) else None
        if not isinstance(record, Memory) or not _belongs(record, kept):
            left_out += 1
        else:
            name = kept.project if kept is not None else record.namespace.removeprefix(_NAMESPACE).replace("/", "-")
            projects.setdefault(name, _Project()).take(record, kept)
    report = _Report(left_out)
    for name, project in sorted(projects.items()):
        _write_project(_folder(root, name), name, project, report)
    return Written(
        records=report.records,
        files=report.files,
        left_out=report.left_out,
        refused=tuple(report.refused),
        told=tuple(report.told),
    )


class _Report:
    """What was done so far."""

    def __init__(self, left_out: int) -> None:
        self.left_out = left_out
        self.records = self.files = 0
        self.refused: list[Refused] = []
        self.told: list[str] = []

    def put(self, folder: Path, project: str, name: str, data: bytes, digest: str) -> bool:
        """Put one file in place; tell whether it holds these bytes now."""
        outcome = _put(folder, name, data, digest)
        if isinstance(outcome, str):
            self.refused.append(Refused(f"{project}/{name}", 0, outcome))
            return False
        self.files += outcome
        return True


def _kept(memory: Memory) -> _Kept | None:
    try:
        kept = msgspec.convert(memory.extra.get(KEPT), _Kept)
    except msgspec.ValidationError:
        return None
    return kept if _is_name(kept.project) and all(map(_is_name, kept.path.split("/"))) else None


def _belongs(memory: Memory, kept: _Kept | None) -> bool:
    return memory.namespace.startswith(_NAMESPACE) and (kept is not None or memory.status == "active")


def _is_name(part: str) -> bool:
    return bool(part) and part not in (".", "..") and part.isprintable() and "/" not in part and "\\" not in part


def _folder(root: Path, project: str) -> Path:
    if root.name == "memory" or (root / INDEX).is_file():
        return root
    return (root / "projects" if (root / "projects").is_dir() else root) / project / "memory"


def _write_project(folder: Path, name: str, project: _Project, report: _Report) -> None:
    alive = {path: memory for path, (memory, _) in project.topics.items() if memory.status not in _GONE}
    for path, memory in alive.items():
        kept = project.topics[path][1]
        report.records += report.put(folder, name, path, _topic(memory, kept).encode(), kept.digest)
    added: list[tuple[str, Memory]] = []
    for memory in project.new:
        path = _new_path(memory, {*project.topics, *(entry[0] for entry in added)})
        added.append((path, memory))
        report.records += report.put(folder, name, path, _new_topic(memory, path).encode(), "")
    whole = project.index(_there(folder / INDEX))
    text = "".join(_index(whole, project.statements, set(project.topics), set(alive)))
    for path, memory in added:
        text += ("\n" if text and not text.endswith("\n") else "") + f"- [{_plain(memory.headline)}]({path})\n"
    if not text and not whole:
        return
    stands = {_name_of(part) for part in statements(split_note(whole).body, set(project.topics))}
    stated = sum(memory.status not in _GONE for name, memory in project.statements.items() if name in stands)
    report.left_out += len(project.statements.keys() - stands)
    if report.put(folder, name, INDEX, text.encode(), source_digest(whole.encode()).hex()):
        report.records += stated
        lines, size = text.count("\n") + (not text.endswith("\n")), len(text.encode())
        if lines > MOST_LINES or size > MOST_BYTES:
            report.told.append(
                f"{name}/{INDEX} has {lines:,} lines and {size:,} bytes; Claude Code loads the first {MOST_LINES} lines"
                f" or {MOST_BYTES:,} bytes of it."
            )


def _there(path: Path) -> bytes:
    """Return what a file holds now; nothing where it cannot be read, which is told of when it is to be written."""
    try:
        return b"" if path.is_symlink() else path.read_bytes()
    except OSError:
        return b""


def _put(folder: Path, name: str, data: bytes, digest: str) -> bool | str:
    """Put a file in place; return whether it had to be written, or why it was not."""
    path = folder / name
    try:
        if path.is_symlink() or not path.parent.resolve().is_relative_to(folder.resolve()):
            return "lies behind a link, and is not written"
        if path.exists():
            present = path.read_bytes()
            if present == data:
                return False
            if source_digest(present).hex() != digest:
                return "is there already with another text, and is not replaced; import it first"
        put_in_place(path, [data])
    except OSError as error:
        return f"cannot be written: {error.strerror or error}"
    return True


# The index


def _index(whole: str, said: Mapping[tuple[str, str], Memory], topics: set[str], alive: set[str]) -> Iterator[str]:
    """Yield the index part by part, each with the lines up to the next one."""
    head = split_note(whole)
    lines = [f"{line}\n" for line in head.body.split("\n")]
    lines[-1] = lines[-1][:-1]
    parts = sorted(statements(head.body, topics), key=lambda part: part.line)
    yield head.head + "".join(lines[: parts[0].line - 1 if parts else len(lines)])
    changed = False
    for place, part in enumerate(parts):
        end = parts[place + 1].line - 1 if place + 1 < len(parts) else len(lines)
        own = "".join(lines[part.line - 1 : end])
        section, following = _parted(own)
        if isinstance(part, Entry):
            # The text around an entry belongs to the statement that it stands in, and was written with that.
            section = part.text + "\n" if changed else section
            yield (section if part.target in alive else section.replace(part.text, "", 1).lstrip("\n")) + following
            continue
        memory = said.get(_name_of(part))
        is_gone = memory is not None and memory.status in _GONE
        changed = memory is not None and not is_gone and memory.content != part.content
        if is_gone:
            yield following.lstrip("\n")
        elif memory is None or not changed:
            yield own
        else:
            yield _restated(section, part, memory.content) + following


def _name_of(part: Statement | Entry) -> tuple[str, str]:
    """Return what a part's memory is known by among `_Project.statements`; nothing for an entry."""
    return ("", "") if isinstance(part, Entry) else (part.anchor, source_digest(part.content.encode()).hex())


def _parted(own: str) -> tuple[str, str]:
    """Return the lines up to the next section, and those from the empty lines before it on."""
    lines = own.split("\n")
    bare = without_fences(own).split("\n")
    end = len(lines)
    for number, line in enumerate(bare[1:], 1):
        found = heading(line)
        if found is not None and found[0] <= DEEPEST_SECTION:
            end = number
            break
    while end > 1 and not lines[end - 1].strip():
        end -= 1
    section = "\n".join(lines[:end])
    return (section + "\n", own[len(section) + 1 :]) if end < len(lines) else (section, "")


def _restated(section: str, part: Statement, content: str) -> str:
    """Return a statement's lines with another text; a bullet stays one, and what follows it stays as it is."""
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


def _topic(memory: Memory, kept: _Kept) -> str:
    """Return the text of a topic file that was read before."""
    content = memory.content
    try:
        before = read_note(kept.head + (content if kept.body is None else kept.body), kept.path)
    except BadProperties:
        before = None
    if before is None or before.parts.head != kept.head:
        return _new_topic(memory, kept.path)
    body = kept.body if kept.body is not None and before.content == content else content
    fields = {"title": before.title, "kind": before.kind, **topic_fields(before)}
    changes: dict[str, Any] = {}
    if memory.title != fields["title"]:
        changes["description" if "description" in before.properties else "name"] = memory.title
    if memory.kind != fields["kind"] and "metadata" not in before.properties:
        changes["type"] = _TYPES.get(memory.kind, memory.kind)
    line_break = "\r\n" if "\r\n" in kept.head + body else "\n"
    return change_properties(kept.head, changes, line_break) + body


def _new_topic(memory: Memory, path: str) -> str:
    properties = {
        "name": PurePosixPath(path).stem,
        "description": _plain(memory.headline),
        "type": _TYPES.get(memory.kind, memory.kind),
    }
    return change_properties("", properties, "\n") + memory.content


def _new_path(memory: Memory, taken: set[str]) -> str:
    slug = _NOT_IN_A_SLUG.sub("_", memory.headline.lower()).strip("_")[:_LONGEST_SLUG] or "memory"
    path = f"{slug}{SUFFIX}"
    return path if path not in taken and path != INDEX else f"{slug}_{memory.id}{SUFFIX}"


def _plain(text: str) -> str:
    """Return words that an entry of the index can show: no link ends or begins in them."""
    return re.sub(r"[\[\]()\x00-\x1f]", " ", text).strip() or "memory"
