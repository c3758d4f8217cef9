"""Memories as Markdown notes.

A memory that came from a note becomes that note again: byte for byte where nothing changed, and with only the lines of
the changed properties written anew where something did. Any other memory becomes a note whose properties say what its
text does not, in the words of Memento Vault, with ``memento_id`` and ``memento_namespace`` so that an import knows it
again.

A file that is there already is replaced only while it holds the very bytes that the memory was read from.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from memento_tui.errors import InvalidInput
from memento_tui.interchange.frontmatter import change_properties
from memento_tui.interchange.incoming import Refused, source_digest
from memento_tui.interchange.note import LINK_PROPERTIES, Note, read_note, texts_of
from memento_tui.interchange.outgoing import Outgoing, Written, put_in_place
from memento_tui.interchange.properties import BadProperties
from memento_tui.interchange.targets import Targets
from memento_tui.interchange.vault import KEPT, SUFFIX
from memento_tui.records import Memory, Relation

__all__ = ["Kept", "Notes", "kept_of", "link_properties", "note_text", "paths_of", "write"]

_NOT_IN_A_FILE_NAME = re.compile(r'[\\/:*?"<>|#^\[\]]+')
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_LONGEST_NAME = 120
_LONGEST_ID = 80
"""Bytes; with an ending, a name and an id stay below the 255 that file systems take."""
_UNSAID_CERTAINTY = 3
_SOURCE_WORDS = {"user": "manual", "derived": "session", "external": "external"}
_PROPERTY_OF = {relation: name for name, relation in LINK_PROPERTIES.items()}


class Kept(msgspec.Struct, frozen=True):
    """What the import kept of a note. It has passed through a database that agents write to, so it is checked."""

    path: str = ""
    digest: str = ""
    head: str = ""
    body: str | None = None


def write(records: Iterable[Outgoing], root: Path) -> Written:
    """Write memories as notes below ``root``, and the relations between them as links.

    Deleted memories and other records are left out. A note that cannot be put in place is refused and costs no other.

    Raises:
        InvalidInput: a memory has no text.

    """
    memories: list[Memory] = []
    arrows: list[Relation] = []
    left_out = 0
    for record in records:
        if isinstance(record, Memory) and record.status != "deleted":
            memories.append(record)
        elif isinstance(record, Relation) and record.type in _PROPERTY_OF:
            arrows.append(record)
        else:
            left_out += 1
    notes = Notes(memories)
    relations: dict[str, list[Relation]] = {}
    for arrow in arrows:
        if arrow.src in notes.paths and arrow.dst in notes.paths:
            relations.setdefault(arrow.src, []).append(arrow)
        else:
            left_out += 1
    refused: list[Refused] = []
    files = linked = 0
    for memory in memories:
        own = relations.get(memory.id, [])
        outcome = _put(root, notes.paths[memory.id], notes.text(memory, own).encode(), notes.kept[memory.id].digest)
        if isinstance(outcome, Refused):
            refused.append(outcome)
        else:
            files += outcome
            linked += len(own)
    return Written(
        records=len(memories) - len(refused) + linked, files=files, left_out=left_out, refused=tuple(refused)
    )


def _put(root: Path, name: str, data: bytes, digest: str) -> Refused | bool:
    """Put a note in place; return whether the file had to be written."""
    path = root / name
    try:
        top = root.resolve()
        if not path.parent.resolve().is_relative_to(top) or path.is_symlink():
            return Refused(name, 0, "lies behind a link, and is not written")
        if path.exists():
            present = path.read_bytes()
            if present == data:
                return False
            if source_digest(present).hex() != digest:
                return Refused(name, 0, "is there already with another text, and is not replaced; import it first")
        put_in_place(path, [data])
    except OSError as error:
        return Refused(name, 0, f"cannot be written: {error.strerror or error}")
    return True


class Notes:
    """The notes of one export: where each memory goes, and what its file says."""

    def __init__(self, memories: Iterable[Memory]) -> None:
        self.kept: dict[str, Kept] = {}
        self.paths: dict[str, str] = {}
        self.targets = Targets()
        taken: set[str] = set()
        for memory in memories:
            self.kept[memory.id] = kept = kept_of(memory)
            path = next(path for path in paths_of(memory, kept) if path.casefold() not in taken)
            taken.add(path.casefold())
            self.paths[memory.id] = path
            frontmatter = memory.extra.get("frontmatter")
            self.targets.take(path, memory.title, frontmatter if isinstance(frontmatter, dict) else {})

    def text(self, memory: Memory, relations: Iterable[Relation]) -> str:
        """Return the whole text of a memory's note."""
        kept, path = self.kept[memory.id], self.paths[memory.id]
        return note_text(memory, kept, path, lambda before: self._links(memory, relations, before))

    def _links(self, memory: Memory, relations: Iterable[Relation], before: Note) -> dict[str, Any]:
        """Return the link properties that say what the note does not say yet."""
        path = self.paths[memory.id]
        said = {(kind, self.targets.resolve(target, path)) for kind, target, _ in before.links}
        wanted = ((relation.type, self.paths[relation.dst]) for relation in relations)
        return link_properties(before, (link for link in wanted if link not in said))


def link_properties(before: Note, links: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return the link properties of a note that gains links, each a type of relation and another note's path."""
    changes: dict[str, Any] = {}
    for kind, target in links:
        name = _PROPERTY_OF[kind]
        if name not in changes:
            changes[name] = texts_of(before.properties.get(name))
        changes[name].append(f"[[{target.removesuffix(SUFFIX)}]]")
    return changes


def note_text(
    memory: Memory, kept: Kept, path: str, more: Callable[[Note], Mapping[str, Any]] = lambda _before: {}
) -> str:
    """Return the whole text of a memory's note at ``path``, made from the head and body that were kept of it.

    ``more`` returns further properties to set, given what the note said before. Raises `InvalidInput` where the memory
    has no text.
    """
    body = memory.content
    line_break = "\r\n" if "\r\n" in kept.head + body else "\n"
    empty = f"---{line_break}---{line_break}"
    head = kept.head if kept.path else empty
    before = _read(head, body if kept.body is None else kept.body, path)
    if before is None:  # the head is no longer one, or the text begins as if it were frontmatter
        head = empty
        before = _read(head, body, path)
    if before is None:
        raise InvalidInput(f"The memory {memory.id} has no text, so it cannot be a note.")
    if kept.body is not None and before.content == body:
        body = kept.body  # a note of properties only: its content stands for them and is in no file
    changes = {**_changes(memory, before), **more(before)}
    if not kept.path:
        changes |= _of_memento(memory)
    head = change_properties(head, changes, line_break)
    return head + ("" if not body or head.endswith(("\n", "\ufeff")) or not head else line_break) + body


def kept_of(memory: Memory) -> Kept:
    """Return what the import kept of the note that a memory came from; it is empty for any other memory."""
    try:
        kept = msgspec.convert(memory.extra.get(KEPT, {}), Kept)
    except msgspec.ValidationError:
        return Kept()
    return kept if _is_safe(kept.path) else Kept()


def _is_safe(path: str) -> bool:
    """Say whether a path stays below the folder it is written to, outside of every hidden folder."""
    plain = all(name and not name.startswith(".") for name in path.split("/"))
    return plain and path.lower().endswith(SUFFIX) and not _CONTROL.search(path)


def _read(head: str, body: str, path: str) -> Note | None:
    """Return the note that head and body make; ``None`` where a reader would part them in another place."""
    try:
        note = read_note(head + body, path)
    except BadProperties:
        return None
    return note if note is not None and note.parts.head == head else None


def paths_of(memory: Memory, kept: Kept) -> Iterator[str]:
    """Yield the places for a memory's note, the best first; they never run out."""
    if kept.path:
        yield kept.path
    folders = [_file_name(name, _LONGEST_NAME) for name in memory.namespace.split("/")]
    name = _file_name(memory.headline, _LONGEST_NAME)
    yield "/".join([*folders, name + SUFFIX])
    name = f"{name} ({_file_name(memory.id, _LONGEST_ID)})"
    yield "/".join([*folders, name + SUFFIX])
    for number in itertools.count(2):
        yield "/".join([*folders, f"{name} {number}{SUFFIX}"])


def _file_name(text: str, limit: int) -> str:
    """Return a name that every file system and every wikilink can hold, of at most ``limit`` bytes."""
    plain = "".join(letter if letter.isprintable() else " " for letter in _NOT_IN_A_FILE_NAME.sub(" ", text))
    return " ".join(plain.split()).strip(" .").encode()[:limit].decode(errors="ignore").strip(" .") or "unnamed"


def _changes(memory: Memory, before: Note) -> dict[str, Any]:
    """Return the properties whose values the note would say differently from the memory."""
    changes: dict[str, Any] = {}
    own_tags = tuple(tag for tag in memory.tags if tag not in before.body_tags)
    if memory.title != before.title:
        changes["title"] = memory.title
    if (memory.kind, memory.kind_raw) != (before.kind, before.kind_raw):
        changes["type"] = memory.kind_raw or memory.kind
    if own_tags != before.tags:
        changes["tags"] = list(own_tags) or None
    if memory.certainty != (before.certainty or _UNSAID_CERTAINTY):
        changes["certainty"] = memory.certainty
    if memory.validity_context != before.validity_context:
        changes["validity-context"] = memory.validity_context or None
    return changes


def _of_memento(memory: Memory) -> dict[str, Any]:
    """Return the properties that a note gains which was no note before."""
    source = memory.source
    updated = memory.updated_at if memory.updated_at != memory.created_at else None
    properties = {
        "tags": list(memory.tags) or None,
        "date": _moment(memory.created_at),
        "updated": _moment(updated) if updated else None,
        "source": source.url or _SOURCE_WORDS[memory.source_type],
        "agent": source.agent or None,
        "session_id": source.session or None,
        "transcript_path": source.transcript or None,
        "memento_id": memory.id,
        "memento_namespace": memory.namespace,
    }
    return {name: value for name, value in properties.items() if value is not None}


def _moment(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")
