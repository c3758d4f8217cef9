"""Claude Code's own memory: ``~/.claude/projects/<project>/memory``, an index MEMORY.md with topic files beside it.

A topic file is one memory, known by ``<project>/<path>``. The index is parted into statements (see `statements`), each
known by ``<project>/MEMORY.md#<section>`` and, where a section gives several, the number of its bullet. Its entries for
topic files are kept with those files. Everything lies in the namespace ``claude/<project>``.

A bullet that moved within its section is known again by its text (see `numbered`).

``extra["claude"]`` holds what a return needs: of a topic file its frontmatter as it is written, of a statement its
anchor, and of the part that stands first in the index all of the index as it was read.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from memento_tui.errors import InvalidInput
from memento_tui.interchange.frontmatter import split_note
from memento_tui.interchange.incoming import Incoming, Refused, numbered_digest, source_digest
from memento_tui.interchange.markdown import links, without_code
from memento_tui.interchange.names import namespace_of, one_line
from memento_tui.interchange.note import LONGEST_KIND, Note, moment_of, text_of
from memento_tui.interchange.statements import Entry, Statement, statements
from memento_tui.interchange.tree import Loaded, SourceFile, count_files, decode_text, has_file, has_folder, load, walk
from memento_tui.interchange.vault import LONGEST_FILE, SUFFIX, note_fields, parse_file
from memento_tui.records.memory import kind_of
from memento_tui.records.rules import MAX_CONTENT_BYTES, MAX_LINE_LENGTH

__all__ = ["INDEX", "KEPT", "KINDS", "count", "memory_folders", "read", "topic_fields"]

INDEX = "MEMORY.md"
_AGENT = "claude-code"
KEPT = "claude"
KINDS = {"user": "preference", "feedback": "instruction", "project": "observation", "reference": "fact"}
"""What the types of its topic files mean here: who the user is, how to work, what goes on, where things are."""


def memory_folders(root: Path) -> list[tuple[str, Path]]:
    """Return the memory folders below ``~/.claude``, its ``projects``, one project or a memory folder, by project.

    An index stands for the folder that it lies in.

    Raises:
        InvalidInput: the folder of the projects cannot be opened.

    """
    if root.name == INDEX and has_file(root):
        return memory_folders(root.parent)
    if root.name == "memory" or has_file(root / INDEX):
        project = root.resolve()
        return [(project.parent.name if project.name == "memory" else project.name, root)]
    if has_folder(root / "memory"):
        return [(root.resolve().name, root / "memory")]
    projects = root / "projects" if has_folder(root / "projects") else root
    if not has_folder(projects):
        return []
    try:
        found = sorted(projects.iterdir())
    except OSError as error:
        raise InvalidInput(f"{projects} cannot be opened: {error.strerror}.", "Check who may read it.") from error
    return [(project.name, project / "memory") for project in found if has_folder(project / "memory")]


def count(root: Path) -> int:
    """Return the number of files, without opening one."""
    return sum(count_files(folder, SUFFIX) for _, folder in memory_folders(root))


def read(root: Path) -> Iterator[Incoming | Refused]:
    """Yield what Claude Code remembers in every project below ``root``, or in the one that it is.

    Raises:
        InvalidInput: there is nothing at ``root``, or no memory folder.

    """
    folders = memory_folders(root)
    if not folders:
        raise InvalidInput(f"There is no memory of Claude Code in {root}.", f"Name the folder that holds {INDEX}.")
    top = (root if root.is_dir() else root.parent).resolve()
    for project, folder in folders:
        if not folder.resolve().is_relative_to(top):
            yield Refused(project, 0, "is a link that leads out of the folder, and is not followed")
            continue
        for outcome in _read_project(project, folder):
            named = f"{project}/{outcome.file}"
            if isinstance(outcome, Refused):
                yield Refused(named, outcome.line, outcome.reason)
            else:
                among = outcome.among and f"{project}/{outcome.among}"
                yield msgspec.structs.replace(outcome, key=f"{project}/{outcome.key}", among=among, file=named)


def _read_project(project: str, folder: Path) -> Iterator[Incoming | Refused]:
    """Yield what one memory folder holds, with keys and files as seen from that folder."""
    files: dict[str, SourceFile] = {}
    for found in walk(folder, SUFFIX):
        if isinstance(found, Refused):
            yield found
        else:
            files[found.name] = found
    index = files.pop(INDEX, None)
    topics = {file.name: _load_topic(file) for file in files.values()}
    entries: dict[str, dict[str, str]] = {}
    if index is not None:
        usable = {name for name, topic in topics.items() if not isinstance(topic, Refused)}
        yield from _read_index(index, project, usable, entries)
    for name, topic in topics.items():
        yield topic if isinstance(topic, Refused) else _topic(name, *topic, project, entries.get(name, {}))


def _read_index(
    file: SourceFile, project: str, topics: Container[str], entries: dict[str, dict[str, str]]
) -> Iterator[Incoming | Refused]:
    """Yield the statements of the index, and put what is kept of its entries for topic files into ``entries``."""
    loaded = load(file, LONGEST_FILE)
    if isinstance(loaded, Refused):
        yield loaded
        return
    text = decode_text(loaded.data, file.name)
    if isinstance(text, Refused):
        yield text
        return
    head = split_note(text)
    before = head.head.count("\n")
    parts = sorted(statements(head.body, topics), key=lambda part: part.line)
    whole = {"whole": text}
    for part in parts:
        if isinstance(part, Entry):
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
    part: Statement, whole: dict[str, str], file: str, project: str, modified: datetime, before: int
) -> Incoming:
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
    return Incoming(
        key=f"{file}#{part.anchor}",
        record="memory",
        fields={
            "content": part.content,
            "title": part.title,
            "namespace": namespace_of(["claude", project]),
            "created_at": modified,
            "source": {"agent": _AGENT},
            "source_type": "derived",
            "extra": {KEPT: kept},
        },
        digest=numbered_digest(part.content.encode(), "\x00".join([part.title, part.anchor, *whole.values()]).encode()),
        among=f"{file}#{list_}" if number.isdecimal() else "",
        file=file,
        line=part.line + before,
        links=tuple(("related", link.target, link.label) for link in dict.fromkeys(links(plain))),
    )


def _load_topic(file: SourceFile) -> tuple[Note, Loaded] | Refused:
    loaded = load(file, LONGEST_FILE)
    if isinstance(loaded, Refused):
        return loaded
    note = parse_file(file.name, loaded)
    return note if isinstance(note, Refused) else (note, loaded)


def _topic(name: str, note: Note, loaded: Loaded, project: str, entry: dict[str, str]) -> Incoming:
    kept = {"project": project, "path": name, "digest": source_digest(loaded.data).hex(), **entry}
    if note.parts.head:
        kept["head"] = note.parts.head
    if note.content != note.parts.body:
        kept["body"] = note.parts.body
    return Incoming(
        key=name,
        record="memory",
        fields={
            **note_fields(note, loaded),
            **topic_fields(note),
            "namespace": namespace_of(["claude", project]),
            "extra": {KEPT: kept, **({"frontmatter": note.properties} if note.properties else {})},
        },
        digest=source_digest(loaded.data + entry.get("whole", "").encode()),
        file=name,
        line=1,
        links=note.links,
    )


def topic_fields(note: Note) -> dict[str, Any]:
    """Return what Claude Code's own properties say; they stand at the top or, in newer files, below ``metadata``."""
    metadata = note.properties.get("metadata")
    said = {**metadata, **note.properties} if isinstance(metadata, dict) else note.properties
    fields: dict[str, Any] = {"source_type": "derived", "source": {"agent": _AGENT}}
    if session := text_of(said.get("originSessionId")):
        fields["source"]["session"] = session
    if (kind := text_of(said.get("type"))) in KINDS:
        fields |= {"kind": KINDS[kind], "kind_raw": kind}
    elif kind:
        fields["kind"], fields["kind_raw"] = kind_of(one_line(kind, LONGEST_KIND))
    if (modified := moment_of(said.get("modified"))) is not None:
        fields["updated_at"] = modified
    name, description = text_of(said.get("name")).strip(), text_of(said.get("description")).strip()
    # A name without spaces was made for links; the description is what a person can read.
    title = description if description and " " not in name else name
    if title:
        fields["title"] = one_line(title, MAX_LINE_LENGTH)
    return fields
