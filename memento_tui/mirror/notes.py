"""Compare a mirrored note with its memory, render it anew when the memory changed, and write it into the folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC
from itertools import chain
from pathlib import PurePosixPath
from typing import Any

import msgspec

from memento_tui.errors import InvalidInput
from memento_tui.formats.base import Refused, namespace_from_parts, source_digest
from memento_tui.formats.note import Note, property_text
from memento_tui.formats.source_files import LoadedFile
from memento_tui.formats.vault import (
    EXTRA_KEY,
    KeptNote,
    kept_note,
    link_properties,
    names_instructions,
    note_fields,
    note_text,
    parse_file,
    paths_of,
    read_note_properties,
    without_place,
)
from memento_tui.maintenance.aging import restore_compacted
from memento_tui.mirror.folder import FileStatus
from memento_tui.mirror.state import MirrorContext, MirrorEvent
from memento_tui.model import Memory, make_memory
from memento_tui.model.claims import as_claimed
from memento_tui.model.filters import AllOf, Filter, Not, OneOf, Under, filters_on, with_default_statuses
from memento_tui.model.memory import CLAIMS_KEY
from memento_tui.model.validation import check_namespace
from memento_tui.policy.secrets import redact_record
from memento_tui.search.query_language import parse

__all__ = [
    "NOTE_FIELDS",
    "NoteFile",
    "OutboundChanges",
    "changed_fields",
    "memory_id_of_note",
    "mirror_filter",
    "parse_note_file",
    "with_full_text",
]

NOTE_FIELDS = ("content", "title", "kind", "kind_raw", "tags", "certainty", "validity_context", "namespace")
"""The fields of a memory that stand in its note, and that a change of the note changes."""

_IDENTITY, _NAMESPACE, _UPDATED = "memento_id", "memento_namespace", "updated"


class NoteFile(msgspec.Struct, frozen=True):
    """One file of the folder, read."""

    path: str
    loaded: LoadedFile
    note: Note
    digest: bytes

    def as_memory(self, like: Memory) -> Memory:
        """Return the memory that the note stands for, otherwise the same as ``like``, without the secrets in it.

        Raises:
            InvalidField: a value of the note breaks a rule.

        """
        note = self.note
        fields: dict[str, Any] = {name: getattr(like, name) for name in Memory.__struct_fields__}
        fields |= read_note_properties(note)
        if given := property_text(note.properties.get(_NAMESPACE)):
            fields["namespace"] = namespace_from_parts(given.split("/"))
        return redact_record(make_memory(fields))[0]

    def matches(self, memory: Memory) -> bool:
        """Return whether the note and a memory agree."""
        return not changed_fields(memory, self.as_memory(memory))

    def rewritten(self, memory: Memory, *, moved: bool = False) -> str:
        """Return the note's text updated to its memory; ``moved`` writes the memory's namespace too."""
        note = self.note
        unchanged = self.as_memory(memory).content == memory.content
        # A secret that was taken out of the memory stays in the person's own file.
        target = msgspec.structs.replace(memory, content=note.content) if unchanged else memory
        kept = KeptNote(path=self.path, head=note.parts.head, body=note.parts.body if unchanged else None)
        return note_text(target, kept, self.path, lambda before: _own_properties(memory, before, moved=moved))

    def with_links(self, memory: Memory, links: Iterable[tuple[str, str]]) -> str:
        """Return the note's text with further links in its properties, each a type of relation and a note's path."""
        kept = KeptNote(path=self.path, head=self.note.parts.head, body=self.note.parts.body)
        target = msgspec.structs.replace(memory, content=self.note.content)
        return note_text(target, kept, self.path, lambda before: link_properties(before, links))

    def changed_since(self, base: Memory) -> dict[str, Any]:
        """Return the fields in which the note differs from the note that would be written for ``base``."""
        before = _parse_generated_note(self.path, self.rewritten(base).encode(), self.loaded)
        return changed_fields(before.as_memory(base), self.as_memory(base))

    def fields(self, namespace: str) -> dict[str, Any]:
        """Return the fields of the new memory that the note would be; ``namespace`` holds where it names none."""
        given = property_text(self.note.properties.get(_NAMESPACE))
        return {
            **note_fields(self.note, self.loaded),
            "namespace": namespace_from_parts(given.split("/")) if given else namespace,
            "extra": self.extra_with_note({}),
        }

    def extra_with_note(self, extra: Mapping[str, Any]) -> dict[str, Any]:
        """Return a memory's ``extra`` with the data that is needed to write this note again."""
        kept: dict[str, Any] = {"path": self.path, "digest": self.digest.hex()}
        if self.note.parts.head:
            kept["head"] = self.note.parts.head
        if self.note.content != self.note.parts.body:
            kept["body"] = self.note.parts.body
        if self.note.body_tags:
            kept["body_tags"] = list(self.note.body_tags)
        properties = {"frontmatter": self.note.properties} if self.note.properties else {}
        others = {name: value for name, value in extra.items() if name not in (EXTRA_KEY, CLAIMS_KEY, "frontmatter")}
        return {**others, EXTRA_KEY: kept, **properties}


def parse_note_file(path: str, loaded: LoadedFile) -> NoteFile | Refused:
    """Return the note that a file holds."""
    note = parse_file(path, loaded)
    return note if isinstance(note, Refused) else NoteFile(path, loaded, note, source_digest(loaded.data))


def _parse_generated_note(path: str, data: bytes, like: LoadedFile) -> NoteFile:
    """Return the note that memento itself would write at a path."""
    parsed = parse_note_file(path, LoadedFile(data, like.modified))
    if isinstance(parsed, Refused):
        raise TypeError(parsed.reason)  # the text of note_text can be read: a property test ensures it
    return parsed


def changed_fields(before: Memory, after: Memory) -> dict[str, Any]:
    """Return the fields of a note that differ, with their values afterwards."""
    differing = (name for name in NOTE_FIELDS if getattr(before, name) != getattr(after, name))
    return {name: getattr(after, name) for name in differing}


def memory_id_of_note(note: Note) -> str:
    """Return the id that a note names as its memory's, or nothing."""
    return property_text(note.properties.get(_IDENTITY))


def with_full_text(memory: Memory) -> Memory:
    """Return a memory as its note shows it: in full where maintenance has shortened it, with what the note claimed."""
    return restore_compacted(as_claimed(memory))


def render_new_note(memory: Memory, path: str) -> str:
    """Return the text of a note that is not there yet."""
    return note_text(memory, kept_note(memory), path)


def namespace_of_path(path: str, within: str) -> str:
    """Return the namespace of a new note that names none: its folders, below ``within`` where that is given."""
    folders = namespace_from_parts(PurePosixPath(path).parts[:-1])
    if "/" not in path:
        return within or folders
    if not within or folders == within or folders.startswith(f"{within}/"):
        return folders
    return namespace_from_parts([*within.split("/"), *folders.split("/")])


def _own_properties(memory: Memory, before: Note, *, moved: bool) -> dict[str, Any]:
    """Return memento's own properties that the note has with other values than the memory."""
    changes: dict[str, Any] = {}
    if moved or _NAMESPACE in before.properties:
        given = property_text(before.properties.get(_NAMESPACE))
        if not given or namespace_from_parts(given.split("/")) != memory.namespace:
            changes[_NAMESPACE] = memory.namespace
    given_id = property_text(before.properties.get(_IDENTITY))
    if given_id and given_id != memory.id:  # a note that was copied within the folder
        changes[_IDENTITY] = memory.id
    if given_id and _UPDATED in before.properties:
        changes[_UPDATED] = memory.updated_at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return changes


def mirror_filter(query: str, namespace: str) -> Filter:
    """Return the filter for the memories that get a note: recalled, and restricted only where the query names that.

    Raises:
        InvalidInput: the query holds free text or a part that cannot be used, or the namespace is none.

    """
    parsed = parse(query)
    if parsed.problems:
        raise InvalidInput(parsed.problems[0], "Correct the query.")
    if parsed.words or parsed.excluded:
        raise InvalidInput(
            "A mirror is chosen by filters, not by free text: what ranks high changes with every memory.",
            'Use filters such as --query "tag:api kind:decision".',
        )
    parts: list[Filter] = [with_default_statuses(parsed.filter)]
    if namespace:
        parts.append(Under(check_namespace(namespace)))
    if not filters_on(parsed.filter, "sensitivity"):
        parts.append(Not(OneOf("sensitivity", ("restricted",))))
    return AllOf(tuple(parts))


class OutboundChanges:
    """The changes that memories make to one mirror's notes.

    ``on_written`` is called with the path and the status of every file that was written.
    """

    def __init__(self, context: MirrorContext, chosen: Filter, on_written: Callable[[str, FileStatus], None]) -> None:
        self._session = context.session
        self._folder = context.folder
        self._ledger = context.ledger
        self._chosen = chosen
        self._on_written = on_written
        self._taken: set[str] = set()

    def set_taken_paths(self, paths: Iterable[str]) -> None:
        """Set the paths at which files are; names that differ in case alone are one on some file systems."""
        self._taken = {path.casefold() for path in paths}

    def without_note(self, ids: Iterable[str] | None) -> list[str]:
        """Return those of these ids, or (``None``) of the ids of all chosen memories, that have no note."""
        candidates = self._every_id() if ids is None else ids
        return [memory_id for memory_id in candidates if memory_id not in self._ledger.paths]

    def selected(self, ids: Sequence[str]) -> list[Memory]:
        """Return the memories among these that are to have a note."""
        return list(self._session.get_many(ids, self._chosen).values())

    def _every_id(self) -> list[str]:
        return self._session.ids(self._chosen)

    def write_new(self, memory: Memory, path: str = "", why: str = "") -> MirrorEvent:
        """Write the note of a memory that has none, at ``path`` if nothing lies there. Raises `InvalidInput`."""
        target = without_place(with_full_text(memory))
        for place in chain([path] if path else [], paths_of(target, kept_note(target))):
            if place.casefold() in self._taken and place != path:
                continue
            data = render_new_note(target, place).encode()
            if (status := self._folder.write(place, data, expected=None)) is not None:
                self._on_written(place, status)
                break
        self._taken.add(place.casefold())
        self._ledger.set_in_sync(place, memory, source_digest(data))
        return MirrorEvent("written", place, memory.id, why)

    def rewrite(self, file: NoteFile, memory: Memory, base: Memory | None) -> Iterator[MirrorEvent]:
        """Update a note to its memory; ``base`` is the memory as both sides had it before. Raises `InvalidInput`."""
        if memory.sensitivity == "restricted" and not self.selected([memory.id]):
            # Its note says what it said before: a folder is read by whoever reads the folder.
            self._ledger.set_in_sync(file.path, memory, file.digest)
            return
        is_draft = names_instructions(file.path) and memory.stability == "draft"
        if is_draft and self._session.fields_of_others(memory):
            # Hosts tell what stands there as the person's own word.
            self._ledger.set_in_sync(file.path, memory, file.digest)
            return
        target = with_full_text(memory)
        moved = base is not None and base.namespace != target.namespace
        data = file.loaded.data
        if moved or not file.matches(target):
            data = file.rewritten(target, moved=moved).encode()
        if data == file.loaded.data:
            self._ledger.set_in_sync(file.path, memory, file.digest)
            return
        kept = [target.content, *([with_full_text(base).content] if base is not None else ())]
        copy = "" if file.note.content in kept else self._folder.copy_to_trash(file.path, file.loaded.data)
        if (status := self._folder.write(file.path, data, expected=file.digest)) is not None:
            self._on_written(file.path, status)
            self._ledger.set_in_sync(file.path, memory, source_digest(data))
            if copy:
                yield MirrorEvent("trashed", file.path, memory.id, f"what it said before is kept at {copy}")
            differing = ", ".join(changed_fields(file.as_memory(target), target)) or "namespace"
            yield MirrorEvent("written", file.path, memory.id, differing)

    def add_links(self, file: NoteFile, memory: Memory, links: Iterable[tuple[str, str]]) -> bool:
        """Add links to a note's properties, each a type of relation and a note's path; return whether that was done.

        Raises:
            InvalidInput: the file cannot be written.

        """
        data = file.with_links(with_full_text(memory), links).encode()
        if (status := self._folder.write(file.path, data, expected=file.digest)) is None:
            return False
        self._on_written(file.path, status)
        self._ledger.set_in_sync(file.path, memory, source_digest(data))
        return True
