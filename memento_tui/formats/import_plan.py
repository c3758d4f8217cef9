"""Plan an import: decide for each record of a source whether it is added, changed or left, without writing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from memento_tui.api.import_session import ImportSession
from memento_tui.api.types import ImportedRecord, record_image
from memento_tui.errors import InvalidInput, MementoError
from memento_tui.formats.agents_file_locations import EXTRA_KEY
from memento_tui.formats.base import ExportRecord, Format, ImportRecord, Refused, one_line, with_id_of_workspace
from memento_tui.formats.columns import restore_full_text
from memento_tui.formats.import_gate import (
    ImportGate,
    differing_fields,
    is_extra_name,
    is_named_by_source,
    with_values_from,
)
from memento_tui.model import (
    AnyRecord,
    Crystal,
    Memory,
    Relation,
    Skip,
    WorkingItem,
    make_crystal,
    make_item,
    make_memory,
    make_relation,
    make_skip,
)
from memento_tui.model.claims import as_claimed
from memento_tui.model.lists import end_in_time
from memento_tui.model.memory import FOREIGN_ID, UNKNOWN_CONFIDENCE, with_inferred_trust
from memento_tui.model.validation import MAX_LINE_LENGTH, is_reserved_id
from memento_tui.policy.policy import Verdict
from memento_tui.text.novelty import Novelty

__all__ = ["ImportPlanner", "PlannedRecord", "ledger_key", "ledger_row"]


_ID_FIELDS: Mapping[str, tuple[str, ...]] = {
    "memory": ("id",),
    "skip": ("id",),
    "item": ("id",),
    "crystal": ("id", "parent"),
    "relation": ("id", "src", "dst"),
}
"""The fields of each kind of record that hold ids of records other than proposals."""


def _with_usable_ids(incoming: ImportRecord) -> ImportRecord:
    """Return a record of the source whose ids records may have: one that is kept for proposals gets another beginning.

    A record that has an ``extra`` keeps the source's id there.
    """
    fields = incoming.fields
    replaced: dict[str, Any] = {}
    for name in _ID_FIELDS[incoming.record]:
        given = fields.get(name)
        is_path = name == "dst" and fields.get("type") == "file"
        if isinstance(given, str) and is_reserved_id(given) and not is_path:
            replaced[name] = _IMPORTED_ID_PREFIX + given
    if not replaced:
        return incoming
    extra = fields.get("extra", {})
    if "id" in replaced and incoming.record != "relation" and isinstance(extra, dict):
        replaced["extra"] = {**extra, FOREIGN_ID: fields["id"]}
    return msgspec.structs.replace(incoming, fields={**fields, **replaced})


_IMPORTED_ID_PREFIX = "imported-"
"""The beginning of the id of a record whose own is kept for proposals."""

_MAKERS: Mapping[str, Callable[[Mapping[str, Any]], AnyRecord]] = {
    "memory": make_memory,
    "skip": partial(make_skip, stored=True),
    "item": make_item,
    "crystal": make_crystal,
    "relation": make_relation,
}


class PlannedRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One record of a source and the action of the import on it."""

    incoming: ImportRecord
    action: Literal["create", "update", "delete", "keep"]
    record: AnyRecord
    """As it is to be stored, at the version that a change is made from; for ``keep`` as it is."""
    in_source: AnyRecord
    """As the source has it."""
    needs_timestamp: bool = False
    """Whether the moment of the write becomes its ``updated_at``."""
    current: AnyRecord | None = None
    """The record as it stands here; ``None`` for a new one."""
    verdict: Verdict = Verdict("apply")
    """Whether a change waits for a person. New memories that wait are pending instead."""
    is_own: bool = False
    """Whether this workspace signed it, so that it comes back with its trust."""

    @property
    def waits(self) -> bool:
        """Whether a person is asked before it is carried out."""
        return self.verdict.answer == "propose"


@dataclass(frozen=True)
class _StoredState:
    """The versions of some records of one kind, the purged ids, and who removed each missing record."""

    versions: Mapping[str, int]
    purged: set[str]
    removed_by: Mapping[str, str]


_PLACES = f"extra.{EXTRA_KEY}"
"""The name that `differing_fields` gives to the places of a section."""
_OWN_FORMAT = "memento:"
"""The beginning of the name of a source in memento's own format."""


class ImportPlanner:
    """The planner of one import, which decides about each record. It reads the database and never writes."""

    def __init__(
        self,
        session: ImportSession,
        source: str,
        chosen: Format,
        ledger: Mapping[str, ImportedRecord],
        gate: ImportGate,
    ) -> None:
        self._session = session
        self._source = source
        self._format = chosen
        self._ledger = ledger
        self._gate = gate
        self._may_have_duplicates = session.count_all() > 0
        """Whether there was anything before; looking for duplicates costs a query for each record."""
        self._changing: Mapping[str, str] = {}
        """The texts that the memories which this batch is about have in the source now, by id."""
        self.shortened = 0
        """How many skips were to end later than any may."""
        self.renamed = 0
        """How many new records got another id, because a record of another workspace has theirs."""

    @cached_property
    def _novelty(self) -> Novelty:
        return self._session.novelty()

    def plan(self, batch: Iterable[ImportRecord]) -> Iterator[PlannedRecord | ImportedRecord | Refused]:
        """Yield the plan for each record of a batch.

        Instead of a plan it yields the line of the ledger where the source has not changed, or the reason why a record
        cannot be imported. For a record that the source deleted, and that was never here, nothing is yielded.
        """
        records = [self._with_own_id(_with_usable_ids(incoming)) for incoming in batch]
        stored = self._stored_states(records)
        known = ((self._ledger.get(ledger_key(incoming)), incoming) for incoming in records)
        self._changing = {row.record_id: incoming.fields.get("content", "") for row, incoming in known if row}
        for incoming in records:
            try:
                planned = self._plan_record(incoming, stored[incoming.record])
            except MementoError as error:
                yield Refused(incoming.file, incoming.line, str(error))
                continue
            if planned is not None:
                yield planned

    def _with_own_id(self, incoming: ImportRecord) -> ImportRecord:
        """Return a record without the id that one of another workspace got at an earlier import."""
        if not incoming.has_shared_id or incoming.given_id or ledger_key(incoming) in self._ledger:
            return incoming
        holder = self._key_by_id.get((incoming.record, incoming.fields["id"]))
        return incoming if holder in (None, ledger_key(incoming)) else with_id_of_workspace(incoming)

    @cached_property
    def _key_by_id(self) -> dict[tuple[str, str], str]:
        return {(row.record, row.record_id): key for key, row in self._ledger.items()}

    def _stored_states(self, records: Iterable[ImportRecord]) -> dict[str, _StoredState]:
        """Return the state of all the records that a batch may be about, by their kind."""
        ids: dict[str, set[str]] = {}
        for incoming in records:
            known = self._ledger.get(ledger_key(incoming))
            candidates = (known.record_id if known else None, incoming.fields.get("id"))
            ids.setdefault(incoming.record, set()).update(i for i in candidates if isinstance(i, str))
        return {
            kind: _StoredState(
                self._session.versions(kind, sorted(of_kind)),
                self._session.purged(kind, sorted(of_kind)),
                self._session.removed_by(kind, sorted(of_kind)),
            )
            for kind, of_kind in ids.items()
        }

    def _plan_record(self, incoming: ImportRecord, stored: _StoredState) -> PlannedRecord | ImportedRecord | None:
        known = self._ledger.get(ledger_key(incoming))
        if known is not None and _is_settled(incoming, known, stored):
            return known
        if known is not None and known.record_id in stored.versions:
            base = self._last_let_in(known)
            if not self._parts_from_another_source(incoming, base):
                return self._plan_update(incoming, known.record_id, base)
            known = None
        if incoming.deleted:
            return None
        given_id = incoming.fields.get("id")
        if isinstance(given_id, str) and given_id in stored.versions:
            return self._plan_existing(incoming, given_id)
        in_source = self._make(incoming, known.record_id if known else None)
        if in_source.id in stored.purged:
            raise InvalidInput(
                f"the {incoming.record} {in_source.id} was purged here.", "Take it out of the source as well."
            )
        duplicate = self._find_duplicate(incoming, in_source) if given_id is None else None
        if duplicate is not None:
            in_source = msgspec.structs.replace(in_source, id=duplicate.id)
            return PlannedRecord(incoming=incoming, action="keep", record=duplicate, in_source=in_source)
        return self._plan_new(incoming, in_source)

    def _last_let_in(self, known: ImportedRecord) -> AnyRecord | None:
        """Return a record as its source had it, without changes that a person was asked about and did not accept."""
        said: AnyRecord | None = self._session.ledger.in_source(known)
        if known.in_source is None or not isinstance(said, Memory):
            return said
        before = self._session.record_version(known.record, known.record_id, known.version)
        if not isinstance(before, Memory):
            return said
        plain = msgspec.to_builtins(said)
        differs = differing_fields(before, said)
        for proposal in self._session.edits_not_let_in(known.record_id):
            names = {name for name, value in proposal.payload.items() if value == plain.get(name)}
            said = with_values_from(said, [name for name in differs if name.partition(".")[0] in names], before)
        return said

    def _plan_new(self, incoming: ImportRecord, in_source: AnyRecord) -> PlannedRecord:
        own, verdict, record = self._gate.is_own(incoming), Verdict("apply"), in_source
        self.renamed += bool(incoming.given_id)
        if isinstance(in_source, Crystal):
            record = self._without_second_identity(in_source)
        if own and getattr(in_source, "status", "") != "pending":
            return PlannedRecord(incoming=incoming, action="create", record=record, in_source=in_source, is_own=True)
        if isinstance(record, Memory):
            record = self._gate.hold_if_needed(self._with_surprise(record))
        elif isinstance(record, Crystal):
            if record.status == "current":
                verdict = Verdict("propose", ("identity_from_file",))
        elif not isinstance(record, Relation):
            verdict = self._gate.verdict_on("create", record, record)
        return PlannedRecord(incoming=incoming, action="create", record=record, in_source=in_source, verdict=verdict)

    def _with_surprise(self, memory: Memory) -> Memory:
        """Return a new memory with how new it is beside those of the store and of the import before it, unless it says.

        memento's own format leaves out what is as ever, so it has said all; of this and of the trust as well.
        """
        if self._source.startswith(_OWN_FORMAT):
            return memory
        surprise = self._novelty.measure(f"{memory.title}\n{memory.content}")
        return memory if memory.surprise is not None else msgspec.structs.replace(memory, surprise=surprise)

    def _make(self, incoming: ImportRecord, record_id: str | None) -> AnyRecord:
        fields = {**_with_origin(incoming), "version": 1}
        if record_id is not None:
            fields["id"] = record_id
        return self._record_of(incoming, fields)

    def _record_of(self, incoming: ImportRecord, fields: Mapping[str, Any]) -> AnyRecord:
        """Return the record that fields of the source make, without secrets; a skip ends as early as one must."""
        record = _MAKERS[incoming.record](fields)
        if isinstance(record, Memory) and not self._source.startswith(_OWN_FORMAT):
            record = with_inferred_trust(record, incoming.fields, writer_confidence=UNKNOWN_CONFIDENCE)
        if isinstance(record, Skip) and (in_time := end_in_time(record)) is not record:
            self.shortened += 1
            record = in_time
        return self._gate.redact(record)

    def _without_second_identity(self, record: AnyRecord) -> AnyRecord:
        """Return a new record; a crystal is one of the past where there is a current one already."""
        if isinstance(record, Crystal) and record.status == "current" and self._session.current_crystal() is not None:
            return msgspec.structs.replace(record, status="past")
        return record

    def _find_duplicate(self, incoming: ImportRecord, record: AnyRecord) -> Memory | None:
        """Return a memory with the same text, title and namespace; the source may have been moved.

        One whose text this import is about to change is no other's. An export to a format without ids names a memory by
        its title, its first line or its id, and may have no place for the namespace.
        """
        if not isinstance(record, Memory) or not self._may_have_duplicates:
            return None
        same = [
            m for m in self._session.same_content(record.content) if self._changing.get(m.id, m.content) == m.content
        ]
        exact = (m for m in same if (m.namespace, m.title) == (record.namespace, record.title))
        is_placed = "namespace" in incoming.fields
        named = (
            m for m in same if record.title in _names_of(m) and not (is_placed and m.namespace != record.namespace)
        )
        return next(chain(exact, named), None)

    def _parts_from_another_source(self, incoming: ImportRecord, base: AnyRecord | None) -> bool:
        """Tell whether a text was the same as one of another source, and that source still is where it was.

        Then it becomes a memory of its own: a change in one of two sources is to be seen, and takes nothing from the
        other.
        """
        if incoming.deleted or "id" in incoming.fields or not isinstance(base, Memory):
            return False
        other = (
            self._other_sources.get((incoming.record, base.id)) if incoming.fields["content"] != base.content else None
        )
        if other is None:
            return False
        elsewhere, here = Path(other.source.partition(":")[2]), Path(self._source.partition(":")[2])
        return elsewhere.exists() and not (elsewhere.is_relative_to(here) or here.is_relative_to(elsewhere))

    def _plan_existing(self, incoming: ImportRecord, record_id: str) -> PlannedRecord:
        """Plan for a record whose id exists, though this source never brought it."""
        current = self._session.get_record(incoming.record, record_id)
        in_source = self._record_of(incoming, {**_with_origin(incoming), "version": current.version})
        differs = differing_fields(_as_stated(current), in_source)
        # Another place of its own source, such as an export of what came from there, keeps it in its own way.
        is_same = all(map(is_extra_name, differs)) and (incoming.record, record_id) in self._other_sources
        lost = self._format.loses(cast("ExportRecord", current), cast("ExportRecord", in_source))
        is_same = is_same or not any(is_named_by_source(n, incoming.fields) and n not in lost for n in differs)
        if is_same:
            return PlannedRecord(incoming=incoming, action="keep", record=current, in_source=in_source)
        version = incoming.fields.get("version")
        if isinstance(version, int):  # it was exported: the change was made from that version
            base = self._session.record_version(incoming.record, record_id, version)
        else:
            base = self._base_of_other_source(incoming, record_id)
        return self._plan_update(incoming, record_id, base, lost=lost if base is None else (), named_only=True)

    def _base_of_other_source(self, incoming: ImportRecord, record_id: str) -> AnyRecord | None:
        """Return a record as the source had it that brought it, if that is gone and may have been moved, or ``None``.

        Raises:
            InvalidInput: that source is still where it was, so the two only share an id.

        """
        other = self._other_sources.get((incoming.record, record_id))
        if other is None:
            return None
        elsewhere = other.source.partition(":")[2]
        if Path(elsewhere).exists():
            raise InvalidInput(
                f"the {incoming.record} {record_id} comes from {elsewhere}, and says something else there.",
                "What is here stays. Give the one in this source another id, or make the two agree.",
            )
        base: AnyRecord | None = self._session.ledger.in_source(other)
        return base

    @cached_property
    def _other_sources(self) -> dict[tuple[str, str], ImportedRecord]:
        return self._session.ledger.of_others(self._source)

    def _plan_update(
        self,
        incoming: ImportRecord,
        record_id: str,
        base: AnyRecord | None,
        *,
        lost: Collection[str] = (),
        named_only: bool = False,
    ) -> PlannedRecord:
        """Plan the changes that the source made since ``base``, its last version; ``None`` takes all that differs.

        ``named_only`` leaves alone what the source does not name: it may be a line that a person wrote by hand.
        ``lost`` are fields that the format has no place for.
        """
        current = self._session.get_record(incoming.record, record_id)
        if incoming.deleted:
            return self._plan_deletion(incoming, current, base or current)
        in_source = self._record_of(incoming, {**_with_origin(incoming), "id": record_id, "version": current.version})
        # A source that never was a preview knows nothing of the one that maintenance made here; a change restores it.
        stated = _as_stated(current)
        whole = stated if getattr(base, "status", "") == "compacted" else restore_full_text(stated)
        changed = differing_fields(whole if base is None else base, in_source)
        if base is None or named_only:
            changed = [n for n in changed if is_named_by_source(n, incoming.fields) and n not in lost]
        still_other = set(differing_fields(whole, in_source))
        changed_here = set() if base is None else set(differing_fields(whole, base))
        if incoming.is_placed_by_reader and "namespace" in changed_here:  # where a person moved it, it stays
            changed = [name for name in changed if name != "namespace"]
        # Where a section stands is the reader's to say: nobody changes that here.
        conflicting = [name for name in changed if name in still_other and name in changed_here and name != _PLACES]
        if conflicting:
            raise InvalidInput(
                f"{', '.join(conflicting)} changed both here ({incoming.record} {record_id}) and in the source.",
                "What is here stays. Make the two agree, then import again.",
            )
        changed = [name for name in changed if name in still_other]
        if not changed:
            return PlannedRecord(incoming=incoming, action="keep", record=current, in_source=in_source)
        values: dict[str, Any] = {}
        if isinstance(current, Memory) and isinstance(in_source, Memory) and "content" in changed:
            values["injection_score"] = max(current.injection_score, self._gate.injection_score(in_source))
        has_time = "updated_at" in incoming.fields
        if has_time and isinstance(in_source, Memory | Skip | WorkingItem):
            values["updated_at"] = in_source.updated_at
        record = msgspec.structs.replace(with_values_from(whole, changed, in_source), **values)
        # That a section stands elsewhere in its file says nothing new, so nobody is asked.
        own = self._gate.is_own(incoming) or changed == [_PLACES]
        return PlannedRecord(
            incoming=incoming,
            action="update",
            record=record,
            in_source=in_source,
            needs_timestamp=isinstance(current, Memory | Skip | WorkingItem) and not has_time,
            current=current,
            verdict=Verdict("apply") if own else self._gate.verdict_on("edit", current, record),
            is_own=own,
        )

    def _plan_deletion(self, incoming: ImportRecord, current: AnyRecord, base: AnyRecord) -> PlannedRecord:
        """Plan for a record that the source says is gone; only a memory can be deleted by its source."""
        if not isinstance(current, Memory) or not isinstance(base, Memory):
            return PlannedRecord(incoming=incoming, action="keep", record=current, in_source=base)
        in_source = msgspec.structs.replace(base, status="deleted")
        if current.status == "deleted":
            return PlannedRecord(incoming=incoming, action="keep", record=current, in_source=in_source)
        return PlannedRecord(
            incoming=incoming,
            action="delete",
            record=msgspec.structs.replace(current, status="deleted"),
            in_source=in_source,
            needs_timestamp=True,
            current=current,
            verdict=self._gate.verdict_on("delete", current, current),
        )


def _is_settled(incoming: ImportRecord, known: ImportedRecord, stored: _StoredState) -> bool:
    """Return whether a record of an earlier import has not changed in the source, or was removed here meanwhile.

    One that maintenance removed because it was over comes back if the source changed, such as its end.
    """
    is_same, by = known.digest == incoming.digest, stored.removed_by.get(known.record_id)
    if known.record_id in stored.versions or by == "system":
        return is_same
    return by is not None and known.record_id not in stored.purged


def _names_of(memory: Memory) -> set[str]:
    """Return the titles that a memory has when it comes back from a format without ids."""
    names = (memory.title, memory.headline, f"{memory.headline} ({memory.id})", memory.id)
    return {one_line(name, MAX_LINE_LENGTH) for name in names}


def _with_origin(incoming: ImportRecord) -> dict[str, Any]:
    """Return the fields of a record of a source; a text whose writer the source does not name is not the person's."""
    if incoming.record != "memory" or "source_type" in incoming.fields:
        return incoming.fields
    return {**incoming.fields, "source_type": "derived"}


def _as_stated(record: AnyRecord) -> AnyRecord:
    """Return a record of this workspace as its source stated it, to compare it with the source's present state."""
    return as_claimed(record) if isinstance(record, Memory) else record


def ledger_key(incoming: ImportRecord) -> str:
    """Return the key of a record in the import ledger."""
    return f"{incoming.record}:{incoming.key}"


def ledger_row(source: str, planned: PlannedRecord, stored: AnyRecord) -> ImportedRecord:
    """Return the line of the import ledger for a plan that was carried out; ``stored`` is the record as it is now."""
    incoming = planned.incoming
    differs = differing_fields(stored, planned.in_source)
    image = record_image(planned.in_source) if differs else None
    return ImportedRecord(
        source, ledger_key(incoming), incoming.record, stored.id, incoming.digest, stored.version, image
    )
