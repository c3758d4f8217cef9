"""Compare mirrored notes with their memories, and write those that changed; keep links and relations in sync."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC
from itertools import chain
from pathlib import PurePosixPath
from typing import Any

import msgspec

from memento_tui.api.types import ImportedRecord, Transaction
from memento_tui.errors import InvalidInput, MementoError
from memento_tui.formats.base import Refused, namespace_from_parts, source_digest
from memento_tui.formats.note import LINK_PROPERTIES, LinkTargets, Note, property_text
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
from memento_tui.mirror.folder import NoteFileStatus
from memento_tui.mirror.state import MirrorContext, MirrorEvent, SyncPoint
from memento_tui.model import Memory, Relation, make_memory, make_relation
from memento_tui.model.claims import as_claimed
from memento_tui.model.filters import AllOf, Filter, Not, OneOf, Under, filters_on, with_default_statuses
from memento_tui.model.memory import CLAIMS_KEY, REPLACING_RELATIONS
from memento_tui.model.validation import check_namespace
from memento_tui.policy.secrets import redact_record, redact_text
from memento_tui.search.query_language import parse

__all__ = [
    "NOTE_FIELDS",
    "NoteFile",
    "OutboundChanges",
    "RelationSync",
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
    """Return a memory as its note shows it: with its original text where it was compacted, and the note's claims."""
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

    def __init__(
        self, context: MirrorContext, chosen: Filter, on_written: Callable[[str, NoteFileStatus], None]
    ) -> None:
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
        last = self._ledger.last_paths.get(memory.id, "")
        known = [place for place in (path, "" if names_instructions(last) else last) if place]
        for place in chain(known, paths_of(target, kept_note(target))):
            if place.casefold() in self._taken and place != path:
                continue
            data = render_new_note(target, place).encode()
            if (status := self._folder.write(place, data, expected=None)) is not None:
                self._on_written(place, status)
                break
        self._taken.add(place.casefold())
        self._ledger.forget_last_path(memory.id)
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


_PAGE_SIZE = 500
_FORBIDDEN_RELATION = "-"
"""The value in place of a relation's id for a link that may not draw one."""


class _StoredLink(msgspec.Struct, frozen=True, array_like=True):
    kind: str
    written: str
    label: str
    relation: str = ""
    """The id of its relation; empty where the link leads to no note yet."""
    drawn: bool = False
    """Whether the link drew it; otherwise it was there before."""


class _NoteLinks(msgspec.Struct, frozen=True):
    """The links of a note when it was last in sync."""

    links: tuple[_StoredLink, ...] = ()
    shown: tuple[str, ...] = ()
    """The ids of the relations that were written into it."""

    def relations(self) -> set[str]:
        return {link.relation for link in self.links}


class RelationSync:
    """The relations between the memories of one mirror's notes, kept the same as the links between the notes.

    With `MirrorContext.hold` it does nothing: a relation would have to wait for a person, and cannot.
    """

    def __init__(self, context: MirrorContext, outbound: OutboundChanges) -> None:
        self._is_active = not context.hold
        self._session = context.session
        self._source = f"links of {context.source}"
        self._folder = context.folder
        self._ledger = context.ledger
        self._outbound = outbound
        self._read: dict[str, NoteFile] = {}
        self._unwritten: dict[str, Relation] = {}
        """Relations that have no place in a note yet, by id."""
        self.reload()

    def reload(self) -> None:
        """Read the kept links from the database; everything is compared again."""
        rows = self._session.ledger.of(self._source).values()
        self._digests = {row.record_id: row.digest for row in rows}
        self._links_of = {row.record_id: msgspec.json.decode(row.in_source or "{}", type=_NoteLinks) for row in rows}
        self._reached = 0

    def remember_read(self, file: NoteFile) -> None:
        """Remember a file that was read in this step, to spare reading it again."""
        if self._is_active:
            self._read[file.path] = file

    def sync(self, head: int) -> Iterator[MirrorEvent]:
        """Apply the changes of either side up to the journal entry ``head``. Raises `DataDirectoryError`."""
        if not self._is_active:
            return
        touched = self._ledger.pop_touched() & self._ledger.steps.keys()
        steps = (self._ledger.steps[path] for path in sorted(touched))
        fresh = {step.id: links for step in steps if (links := self._links(step)) is not None}
        self._read.clear()
        gone = self._links_of.keys() - self._ledger.paths.keys() - self._ledger.deleted.keys()
        arrived = bool(fresh.keys() - self._links_of.keys())
        if fresh or gone:
            yield from self._apply_links(fresh, gone)
        if arrived or self._reached < head:
            changed = self._session.relations_since(0 if arrived else self._reached)
            self._unwritten |= {relation.id: relation for relation in changed}
            self._reached = head
        yield from self._write_relations()

    def _links(self, step: SyncPoint) -> list[_StoredLink] | None:
        """Return the links of a note that is in sync with another text than they were taken from, else ``None``."""
        if step.path in self._ledger.waiting or self._digests.get(step.id) == step.digest:
            return None
        file = self._read.get(step.path)
        if file is None or file.digest != step.digest:
            file = self._in_step(step)
        return None if file is None else [_StoredLink(*link) for link in file.note.links]

    def _in_step(self, step: SyncPoint) -> NoteFile | None:
        """Return a note that still has the text with which it came in step."""
        loaded = self._folder.load(step.path)
        if isinstance(loaded, Refused) or source_digest(loaded.data) != step.digest:
            return None
        parsed = parse_note_file(step.path, loaded)
        return None if isinstance(parsed, Refused) else parsed

    # From the notes

    def _apply_links(self, fresh: Mapping[str, list[_StoredLink]], gone: Collection[str]) -> list[MirrorEvent]:
        """Draw the relations of the links in some memories' notes, and remove those whose links are gone."""
        links = dict(fresh)
        for name, known in self._links_of.items() if fresh else ():
            if name in self._ledger.paths and "" in known.relations():
                links.setdefault(name, list(known.links))
        targets = self._targets() if any(links.values()) else LinkTargets()
        events, rows = [], []
        with self._session.transaction("mirror", note="links of notes") as tx:
            for name, note_links in links.items():
                step, before = self._ledger.steps[self._ledger.paths[name]], self._links_of.get(name, _NoteLinks())
                after = _NoteLinks(tuple(self._with_relations(tx, step, before, note_links, targets)), before.shown)
                if name not in fresh and after == before:
                    continue
                removed = _remove_relations(tx, before, after)
                drawn = sum(link.drawn for link in set(after.links) - set(before.links))
                parts = [f"{count} {what}" for count, what in ((drawn, "drawn"), (removed, "taken back")) if count]
                if parts:
                    events.append(MirrorEvent("related", step.path, step.id, ", ".join(parts)))
                rows.append(self._record_links(step, after, fresh=name in fresh))
            self._session.ledger.write(tx, rows)
            self._session.ledger.drop(tx, self._source, gone)
        for name in gone:
            del self._links_of[name], self._digests[name]
        return sorted(events, key=lambda event: event.note)

    def _with_relations(
        self,
        tx: Transaction,
        step: SyncPoint,
        before: _NoteLinks,
        note_links: Iterable[_StoredLink],
        targets: LinkTargets,
    ) -> Iterator[_StoredLink]:
        """Yield a note's links, each with its relation."""
        known = {(link.kind, link.written): link for link in before.links if link.relation}
        there: dict[tuple[str, str], str] | None = None
        for link in note_links:
            if (drawn_before := known.get((link.kind, link.written))) is not None:
                yield drawn_before
                continue
            if redact_text(link.written + " " + link.label)[1]:
                continue
            key = targets.resolve(link.written, step.path)
            end = None if key is None else self._ledger.steps[key].id
            if end is None or end == step.id:
                yield _StoredLink(link.kind, link.written, link.label)
                continue
            if there is None:
                there = {(one.type, one.dst): one.id for one in self._session.relations(step.id) if one.src == step.id}
            is_new = (link.kind, end) not in there
            if is_new:
                there[link.kind, end] = _draw_relation(tx, link, step.id, end)
            relation = there[link.kind, end]
            yield msgspec.structs.replace(link, relation=relation, drawn=is_new and relation != _FORBIDDEN_RELATION)

    def _targets(self) -> LinkTargets:
        """Return the notes as targets of links."""
        targets, paths = LinkTargets(), list(self._ledger.steps)
        for start in range(0, len(paths), _PAGE_SIZE):
            part = paths[start : start + _PAGE_SIZE]
            memories = self._session.get_many([self._ledger.steps[path].id for path in part])
            for path in part:
                if (memory := memories.get(self._ledger.steps[path].id)) is not None:
                    properties = memory.extra.get("frontmatter")
                    targets.add_note(path, memory.title, properties if isinstance(properties, dict) else {})
        return targets

    def _record_links(self, step: SyncPoint, note_links: _NoteLinks, *, fresh: bool) -> ImportedRecord:
        """Record the links of a note, ``fresh`` ones with its digest; return the line of the ledger."""
        self._links_of[step.id] = note_links
        digest = self._digests[step.id] = step.digest if fresh else self._digests[step.id]
        kept = msgspec.json.encode(note_links).decode()
        return ImportedRecord(self._source, step.id, "note", step.id, digest, step.version, kept)

    # Into the notes

    def _write_relations(self) -> Iterator[MirrorEvent]:
        """Write the relations that were drawn here into their notes; those that cannot be written yet are left."""
        missing: dict[str, list[Relation]] = {}
        for relation in list(self._unwritten.values()):
            path, there = self._ledger.paths.get(relation.src), relation.dst in self._ledger.paths
            known = self._links_of.get(relation.src)
            if path is None or not there or relation.type not in LINK_PROPERTIES.values():
                del self._unwritten[relation.id]  # when such a note comes, all relations are looked at again
            elif known is not None and relation.id in (*known.shown, *known.relations()):
                del self._unwritten[relation.id]
            elif known is not None and self._digests[relation.src] == self._ledger.steps[path].digest:
                missing.setdefault(path, []).append(relation)
        for path, relations in sorted(missing.items()):
            try:
                yield from self._write(path, relations)
            except MementoError as error:
                yield MirrorEvent("refused", path, why=str(error))

    def _write(self, path: str, relations: list[Relation]) -> Iterator[MirrorEvent]:
        step, file = self._ledger.steps[path], self._in_step(self._ledger.steps[path])
        known = self._links_of[step.id]
        memory = self._session.find(step.id)
        if path in self._ledger.waiting or file is None or memory is None or memory.version != step.version:
            return
        present = {relation.id: relation for relation in self._session.relations(step.id)}
        says = {(relation.type, relation.dst) for relation in present.values() if relation.id in known.relations()}
        missing = [
            relation for relation in relations if relation.id in present and (relation.type, relation.dst) not in says
        ]
        links = [(relation.type, self._ledger.paths[relation.dst]) for relation in missing]
        if not links or self._outbound.add_links(file, memory, links):
            after = _NoteLinks(known.links, (*known.shown, *(relation.id for relation in relations)))
            with self._session.transaction("mirror") as tx:
                self._session.ledger.write(tx, [self._record_links(step, after, fresh=not links)])
            for relation in relations:
                del self._unwritten[relation.id]
            if links:
                yield MirrorEvent("written", path, memory.id, ", ".join(sorted({kind for kind, _ in links})))


def _draw_relation(tx: Transaction, link: _StoredLink, src: str, end: str) -> str:
    """Draw the relation of a link; return its id, or `_FORBIDDEN_RELATION`."""
    other = tx.require(Memory, end)
    if link.kind in REPLACING_RELATIONS and other.stability != "draft":
        return _FORBIDDEN_RELATION
    try:
        fields = {"src": src, "dst": end, "type": link.kind, "label": link.label}
        return tx.put(make_relation(fields, now=tx.now), base=0).id
    except MementoError:
        return (
            _FORBIDDEN_RELATION  # a label that is no single line is the note's own business; the link stays in its text
        )


def _remove_relations(tx: Transaction, before: _NoteLinks, after: _NoteLinks) -> int:
    """Remove the relations whose links are gone; return how many."""
    gone = {link.relation for link in before.links if link.drawn} - after.relations()
    present: list[Relation] = [relation for name in sorted(gone) if (relation := tx.get(Relation, name)) is not None]
    for relation in present:
        tx.remove(relation, base=relation.version)
    return len(present)
