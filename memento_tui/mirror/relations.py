"""Keep the links in notes and the relations between memories in sync, both ways."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from memento_tui.api.types import ImportedRecord, Transaction
from memento_tui.errors import MementoError
from memento_tui.formats.base import Refused, source_digest
from memento_tui.formats.note import LINK_PROPERTIES, LinkTargets
from memento_tui.mirror.notes import NoteFile, OutboundChanges, parse_note_file
from memento_tui.mirror.state import MirrorContext, MirrorEvent, SyncPoint
from memento_tui.model import Memory, Relation, make_relation
from memento_tui.model.memory import REPLACING_RELATIONS
from memento_tui.policy.secrets import redact_text

__all__ = ["RelationSync"]

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
        """Apply what changed up to the journal entry ``head`` on either side. Raises `DataDirectoryError`."""
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
