"""Read Claude Code's own memory: the index MEMORY.md, split into statements, and its topic files."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Container, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from memento_tui.errors import InvalidInput
from memento_tui.formats.base import (
    MAX_KIND_LENGTH,
    ImportRecord,
    Refused,
    namespace_from_parts,
    one_line,
    positional_digest,
    source_digest,
)
from memento_tui.formats.frontmatter import split_note
from memento_tui.formats.note import Note, property_moment, property_text
from memento_tui.formats.source_files import (
    LoadedFile,
    SourceFile,
    count_files,
    decode_text,
    has_file,
    has_folder,
    load_file,
    walk_files,
)
from memento_tui.formats.vault import MAX_NOTE_BYTES, NOTE_SUFFIX, note_fields, parse_file
from memento_tui.model.memory import parse_kind
from memento_tui.model.validation import MAX_CONTENT_BYTES, MAX_LINE_LENGTH
from memento_tui.text.markdown import find_links, parse_heading, without_code, without_fences

__all__ = [
    "EXTRA_KEY",
    "INDEX_FILE",
    "KIND_OF_TYPE",
    "MAX_SECTION_LEVEL",
    "ClaudeStatement",
    "IndexEntry",
    "count",
    "memory_folders",
    "parse_statements",
    "read",
    "topic_fields",
]

_BULLET = re.compile(r"[-*+][ \t]+")
_ENTRY = re.compile(r"[-*+][ \t]+\[[^\[\]\n]*\]\(([^()\s]+)\)")
MAX_SECTION_LEVEL = 3
_MIN_BULLETS = 2
_MIN_WORDS = 4
_MAX_LEAD_LENGTH = 80
_TABLE_HEAD_LINES = 2
"""Lines: the names of the columns, and the rule below them."""
_NOT_IN_AN_ANCHOR = re.compile(r"[^\w]+")


class ClaudeStatement(msgspec.Struct, frozen=True):
    """One statement: its anchor (unique within its file), its topic, and its text."""

    anchor: str
    title: str
    section: str
    content: str
    line: int


class IndexEntry(msgspec.Struct, frozen=True):
    """A line of the index that refers to another file."""

    target: str
    text: str
    line: int


class _Line(NamedTuple):
    number: int
    text: str
    is_open: bool
    """Whether it is text, and not code."""


class _Section(msgspec.Struct):
    names: tuple[str, ...]
    line: int
    heading: str
    lines: list[_Line]

    @property
    def title(self) -> str:
        return one_line(" / ".join(self.names), MAX_LINE_LENGTH - 2 * _MAX_LEAD_LENGTH)


_Block = list[_Line]
"""A line that begins at the margin, with the indented and the empty ones after it."""


def parse_statements(text: str, files: Container[str]) -> Iterator[ClaudeStatement | IndexEntry]:
    """Yield the statements of an index, and its entries for those of ``files`` that it names, section by section."""
    used: dict[str, int] = {}
    for section in _sections(text.replace("\r\n", "\n")):
        blocks: list[_Block] = []
        for block in _blocks(section.lines):
            target = _entry_target(block)
            if target in files:
                yield IndexEntry(target, _text(block), block[0].number)
            else:
                blocks.append(block)
        if _has_words(blocks):
            anchor = _NOT_IN_AN_ANCHOR.sub("-", section.title.lower()).strip("-") or "start"
            used[anchor] = times = used.get(anchor, 0) + 1
            yield from _of_section(section, blocks, anchor if times == 1 else f"{anchor}~{times}")


def _sections(text: str) -> Iterator[_Section]:
    current = _Section((), 1, "", [])
    names: list[tuple[int, str]] = []
    for number, (line, bare) in enumerate(zip(text.split("\n"), without_fences(text).split("\n"), strict=True), 1):
        found = parse_heading(bare)
        if found is None or found[0] > MAX_SECTION_LEVEL:
            current.lines.append(_Line(number, line, bare == line))
            continue
        yield current
        level, words = found
        names = [(above, name) for above, name in names if above < level] + [(level, words)]
        # The heading of level 1 is the file's title: it names its own section and is left out of the others.
        shown = tuple(name for above, name in names if above > 1 or level == 1)
        current = _Section(shown, number, line, [])
    yield current


def _blocks(lines: Iterable[_Line]) -> Iterator[_Block]:
    block: _Block = []
    for line in lines:
        if block and line.is_open and line.text[:1].strip():
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _has_words(blocks: Iterable[_Block]) -> bool:
    lines = [line.text for block in blocks for line in block if line.text.strip()]
    is_empty_table = len(lines) == _TABLE_HEAD_LINES and all(line.startswith("|") for line in lines)
    return bool(lines) and not is_empty_table


def _text(block: _Block) -> str:
    return "\n".join(line.text for line in block).strip()


def _entry_target(block: _Block) -> str:
    match = _ENTRY.match(block[0].text) if block[0].is_open else None
    return match[1].removeprefix("./") if match else ""


def _of_section(section: _Section, blocks: list[_Block], anchor: str) -> Iterator[ClaudeStatement]:
    title = section.title
    bullets = [(block[0].number, content) for block in blocks if _text(block) and (content := _bullet(block))]
    if len(bullets) == sum(bool(_text(block)) for block in blocks) >= _MIN_BULLETS:
        for nth, (line, content) in enumerate(bullets, 1):
            lead = one_line(content.split("\n", 1)[0], _MAX_LEAD_LENGTH)
            yield ClaudeStatement(f"{anchor}.{nth}", f"{title}: {lead}" if title else lead, title, content, line)
        return
    content = "\n".join([section.heading, *(line.text for block in blocks for line in block)]).strip("\n")
    yield ClaudeStatement(anchor, title, title, content, section.line)


def _bullet(block: _Block) -> str:
    """Return the text of a bullet that can be understood by itself, else an empty one."""
    first, _, rest = _text(block).partition("\n")
    match = _BULLET.match(first)
    if match is None or len(first[match.end() :].split()) < _MIN_WORDS:
        return ""
    return f"{first[match.end() :]}\n{textwrap.dedent(rest)}".strip()


INDEX_FILE = "MEMORY.md"
_AGENT = "claude-code"
EXTRA_KEY = "claude"
KIND_OF_TYPE = {"user": "preference", "feedback": "instruction", "project": "observation", "reference": "fact"}
"""The kinds of memory by the type of a topic file: about the user, how to work, what goes on, where things are."""


def memory_folders(root: Path) -> list[tuple[str, Path]]:
    """Return the memory folders below ``~/.claude``, its ``projects``, one project or a memory folder, by project.

    An index stands for the folder that it lies in.

    Raises:
        InvalidInput: the folder of the projects cannot be opened.

    """
    if root.name == INDEX_FILE and has_file(root):
        return memory_folders(root.parent)
    if root.name == "memory" or has_file(root / INDEX_FILE):
        project = root.resolve()
        return [(project.parent.name if project.name == "memory" else project.name, root)]
    if has_folder(root / "memory"):
        return [(root.resolve().name, root / "memory")]
    projects = root / "projects" if has_folder(root / "projects") else root
    if not has_folder(projects):
        return []
    try:
        folders = sorted(projects.iterdir())
    except OSError as error:
        raise InvalidInput(f"{projects} cannot be opened: {error.strerror}.", "Check who may read it.") from error
    return [(project.name, project / "memory") for project in folders if has_folder(project / "memory")]


def count(root: Path) -> int:
    """Return the number of files, without opening one."""
    return sum(count_files(folder, NOTE_SUFFIX) for _, folder in memory_folders(root))


def read(root: Path) -> Iterator[ImportRecord | Refused]:
    """Yield the memories of Claude Code in every project below ``root``, or in the project that ``root`` is.

    Raises:
        InvalidInput: there is nothing at ``root``, or no memory folder.

    """
    folders = memory_folders(root)
    if not folders:
        raise InvalidInput(f"There is no memory of Claude Code in {root}.", f"Name the folder that holds {INDEX_FILE}.")
    top = (root if root.is_dir() else root.parent).resolve()
    for project, folder in folders:
        if not folder.resolve().is_relative_to(top):
            yield Refused(project, 0, "is a link that leads out of the folder, and is not followed")
            continue
        for outcome in _read_project(project, folder):
            file = f"{project}/{outcome.file}"
            if isinstance(outcome, Refused):
                yield Refused(file, outcome.line, outcome.reason)
            else:
                among = outcome.among and f"{project}/{outcome.among}"
                yield msgspec.structs.replace(outcome, key=f"{project}/{outcome.key}", among=among, file=file)


def _read_project(project: str, folder: Path) -> Iterator[ImportRecord | Refused]:
    """Yield the records of one memory folder, with keys and files relative to that folder."""
    files: dict[str, SourceFile] = {}
    for source in walk_files(folder, NOTE_SUFFIX):
        if isinstance(source, Refused):
            yield source
        else:
            files[source.name] = source
    index = files.pop(INDEX_FILE, None)
    topics = {file.name: _load_topic(file) for file in files.values()}
    entries: dict[str, dict[str, str]] = {}
    if index is not None:
        usable = {name for name, topic in topics.items() if not isinstance(topic, Refused)}
        yield from _read_index(index, project, usable, entries)
    for name, topic in topics.items():
        yield topic if isinstance(topic, Refused) else _topic(name, *topic, project, entries.get(name, {}))


def _read_index(
    file: SourceFile, project: str, topics: Container[str], entries: dict[str, dict[str, str]]
) -> Iterator[ImportRecord | Refused]:
    """Yield the statements of the index, and add the kept data of its entries for topic files to ``entries``."""
    loaded = load_file(file, MAX_NOTE_BYTES)
    if isinstance(loaded, Refused):
        yield loaded
        return
    text = decode_text(loaded.data, file.name)
    if isinstance(text, Refused):
        yield text
        return
    head = split_note(text)
    before = head.head.count("\n")
    parts = sorted(parse_statements(head.body, topics), key=lambda part: part.line)
    whole = {"whole": text}
    for part in parts:
        if isinstance(part, IndexEntry):
            entries.setdefault(part.target, {"index": part.text, **whole})
        elif len(part.content.encode()) > MAX_CONTENT_BYTES:
            yield Refused(file.name, part.line + before, f"has a section of more than {MAX_CONTENT_BYTES:,} bytes")
            continue
        else:
            yield _statement(part, whole, file.name, project, loaded.modified, before)
        whole = {}
    if not parts:
        yield Refused(file.name, 0, "is empty: it has no text below a heading")


def _statement(
    part: ClaudeStatement, whole: dict[str, str], file: str, project: str, modified: datetime, before: int
) -> ImportRecord:
    plain = without_code(part.content)
    kept = {
        "project": project,
        "path": file,
        "section": part.section,
        "anchor": part.anchor,
        "said": source_digest(part.content.encode()).hex(),
        **whole,
    }
    list_, _, number = part.anchor.rpartition(".")
    return ImportRecord(
        key=f"{file}#{part.anchor}",
        record="memory",
        fields={
            "content": part.content,
            "title": part.title,
            "namespace": namespace_from_parts(["claude", project]),
            "created_at": modified,
            "source": {"agent": _AGENT},
            "source_type": "derived",
            "extra": {EXTRA_KEY: kept},
        },
        digest=positional_digest(
            part.content.encode(), "\x00".join([part.title, part.anchor, *whole.values()]).encode()
        ),
        among=f"{file}#{list_}" if number.isdecimal() else "",
        file=file,
        line=part.line + before,
        links=tuple(("related", link.target, link.label) for link in dict.fromkeys(find_links(plain))),
    )


def _load_topic(file: SourceFile) -> tuple[Note, LoadedFile] | Refused:
    loaded = load_file(file, MAX_NOTE_BYTES)
    if isinstance(loaded, Refused):
        return loaded
    note = parse_file(file.name, loaded)
    return note if isinstance(note, Refused) else (note, loaded)


def _topic(name: str, note: Note, loaded: LoadedFile, project: str, entry: dict[str, str]) -> ImportRecord:
    kept = {"project": project, "path": name, "digest": source_digest(loaded.data).hex(), **entry}
    if note.parts.head:
        kept["head"] = note.parts.head
    if note.content != note.parts.body:
        kept["body"] = note.parts.body
    return ImportRecord(
        key=name,
        record="memory",
        fields={
            **note_fields(note, loaded),
            **topic_fields(note),
            "namespace": namespace_from_parts(["claude", project]),
            "extra": {EXTRA_KEY: kept, **({"frontmatter": note.properties} if note.properties else {})},
        },
        digest=source_digest(loaded.data + entry.get("whole", "").encode()),
        file=name,
        line=1,
        links=note.links,
    )


def topic_fields(note: Note) -> dict[str, Any]:
    """Return the fields that Claude Code's own properties give; in newer files they stand below ``metadata``."""
    metadata = note.properties.get("metadata")
    properties = {**metadata, **note.properties} if isinstance(metadata, dict) else note.properties
    fields: dict[str, Any] = {"source_type": "derived", "source": {"agent": _AGENT}}
    if session := property_text(properties.get("originSessionId")):
        fields["source"]["session"] = session
    if (kind := property_text(properties.get("type"))) in KIND_OF_TYPE:
        fields |= {"kind": KIND_OF_TYPE[kind], "kind_raw": kind}
    elif kind:
        fields["kind"], fields["kind_raw"] = parse_kind(one_line(kind, MAX_KIND_LENGTH))
    if (modified := property_moment(properties.get("modified"))) is not None:
        fields["updated_at"] = modified
    name, description = (
        property_text(properties.get("name")).strip(),
        property_text(properties.get("description")).strip(),
    )
    # A name without spaces was made for links; the description is what a person can read.
    title = description if description and " " not in name else name
    if title:
        fields["title"] = one_line(title, MAX_LINE_LENGTH)
    return fields
