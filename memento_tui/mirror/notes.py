"""Compare a mirrored note with its memory, and render the note anew when the memory changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC
from pathlib import PurePosixPath
from typing import Any

import msgspec

from memento_tui.formats.base import Refused, namespace_from_parts, source_digest
from memento_tui.formats.note import Note, property_text
from memento_tui.formats.source_files import LoadedFile
from memento_tui.formats.vault import (
    EXTRA_KEY,
    KeptNote,
    kept_note,
    link_properties,
    note_fields,
    note_text,
    parse_file,
    read_note_properties,
)
from memento_tui.maintenance.aging import restore_compacted
from memento_tui.model import Memory, make_memory
from memento_tui.model.claims import as_claimed
from memento_tui.model.memory import CLAIMS_KEY
from memento_tui.policy.secrets import redact_record

__all__ = ["NOTE_FIELDS", "NoteFile", "changed_fields", "memory_id_of_note", "parse_note_file", "with_full_text"]

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
