"""Run an import or an export: every record passes the policy gate once, and again only when it changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from memento_tui.api import Workspace
from memento_tui.errors import InvalidInput, MementoError, NotAllowed
from memento_tui.formats.base import ExportReport, ImportRecord, Refused
from memento_tui.formats.registry import FORMATS, Format
from memento_tui.formats.reimport import (
    RelationCollector,
    differing_fields,
    is_extra_name,
    is_named_by_source,
    match_positional_records,
    with_values_from,
)
from memento_tui.formats.round_trip import restore_full_text
from memento_tui.model import (
    AnyRecord,
    Crystal,
    Memory,
    Relation,
    make_crystal,
    make_item,
    make_memory,
    make_proposal,
    make_relation,
    make_skip,
)
from memento_tui.model.memory import content_digest
from memento_tui.model.validation import new_id
from memento_tui.policy.gate import Gate, creation_fingerprint
from memento_tui.policy.policy import WriteIntent
from memento_tui.policy.secrets import redact_record
from memento_tui.storage.journal import Author
from memento_tui.storage.ledgers import ImportedRecord
from memento_tui.storage.tables import TABLES
from memento_tui.storage.transaction import Transaction

__all__ = ["ImportReport", "ImportRun", "run_export", "run_import"]


@dataclass(frozen=True)
class _HoldReason:
    """Why a new memory waits for a person."""

    reasons: tuple[str, ...]
    evidence: Mapping[str, Any]


class ImportGate:
    """Looks at every record of one import; ``hold`` lets all new memories wait for a person."""

    def __init__(self, gate: Gate, *, hold: bool) -> None:
        self.held = 0
        """How many new memories wait for a person."""
        self.redacted = 0
        """How many records held a secret."""
        self._gate = gate
        self._hold = hold
        self._waiting: dict[str, _HoldReason] = {}
        self._removed: dict[str, Any] = {}

    def clean(self, record: AnyRecord) -> AnyRecord:
        """Return a record of the source without the secrets it holds: neither the store nor the ledger keeps them."""
        clean, removals = redact_record(record)
        if removals:
            clean = _strip_secret_remnants(record, clean)
            self.redacted += 1
            self._removed[record.id] = msgspec.to_builtins(removals)
        return clean

    def judged(self, memory: Memory) -> Memory:
        """Return a new memory as it may come in: held back where a person is to look at it first."""
        screened = self._gate.screen(memory)
        clean: Memory = screened.record
        removed = self._removed.get(memory.id)
        judged = WriteIntent(
            "create", by_person=True, injection_score=screened.injection_score, secret_found=removed is not None
        )
        rules = ("injection_suspected", "secret_found")
        reasons = [reason for reason in self._gate.judge(judged).reasons if reason in rules]
        if self._hold:
            reasons.append("held_import")
        if memory.status == "pending":
            reasons.append("pending_in_source")
        if not reasons:
            return clean
        evidence = {**screened.evidence, **({} if removed is None else {"removed": removed})}
        self._waiting[memory.id] = _HoldReason(tuple(reasons), evidence)
        self.held += 1
        return msgspec.structs.replace(clean, status="pending")

    def injection_score(self, memory: Memory) -> float:
        """Return how much a text reads like orders for a model."""
        return self._gate.screen(memory).injection_score

    def propose(self, tx: Transaction, pending: Iterable[Memory]) -> None:
        """Ask a person about new memories that wait, which `judged` returned and which are stored by now."""
        for record in pending:
            waiting = self._waiting.pop(record.id)
            fields = {
                "action": "create",
                "target_id": record.id,
                "base_version": record.version,
                "reasons": waiting.reasons,
                "evidence": waiting.evidence,
                "fingerprint": creation_fingerprint(record),
                "proposed_by": record.source.agent or "import",
            }
            tx.put(make_proposal(fields), base=0)


def _strip_secret_remnants(record: AnyRecord, clean: AnyRecord) -> AnyRecord:
    """Take out of a title what a reader cut from a secret in the text: a part of one is no longer told as one."""
    if not isinstance(record, Memory) or not isinstance(clean, Memory):
        return clean
    words = clean.title.split()
    kept = [word for word in words if word in clean.content or word.rstrip(".") not in record.content]
    return clean if kept == words else msgspec.structs.replace(clean, title=" ".join(kept))


BATCH = 2000
"""Records of one transaction: other writers wait for tens of milliseconds."""

_MAKERS: Mapping[str, Callable[[Mapping[str, Any]], AnyRecord]] = {
    "memory": make_memory,
    "skip": lambda fields: make_skip(fields, stored=True),
    "item": make_item,
    "crystal": make_crystal,
    "relation": make_relation,
}


class ImportReport(msgspec.Struct):
    """What an import did, or would do."""

    imported: int = 0
    updated: int = 0
    unchanged: int = 0
    held: int = 0
    """How many of the imported wait for a person to review them."""
    deleted: int = 0
    """How many memories the source says are gone."""
    refused: list[Refused] = []
    redacted: int = 0
    """How many records held a secret, which was removed before they were stored."""


@dataclass(frozen=True)
class _StoredState:
    """What is known of some records of one kind, by id."""

    versions: Mapping[str, int]
    purged: set[str]


class ImportRun:
    """One import under way, batch by batch."""

    def __init__(self, workspace: Workspace, source: str, *, dry_run: bool, hold: bool) -> None:
        self.report = ImportReport()
        self.seen = 0
        self._store = workspace.store
        self._author = Author("person", "import", session=workspace.author.session)
        self._gate = ImportGate(Gate(self._store, self._author, workspace.gate.rules), hold=hold)
        self._source = source
        self._dry_run = dry_run
        self._ledger = self._store.imports.of(source)
        self._journal_batch = new_id()
        self._links = RelationCollector(self._ledger)
        self._may_have_twins = self._store.count_all() > 0
        """Whether there was anything before; looking for twins costs a query for each record."""

    def match_positions(self, found: Iterable[ImportRecord | Refused]) -> Iterator[ImportRecord | Refused]:
        """Yield what a reader finds; what only a number names has the number that it had at the import before."""
        return match_positional_records(found, self._ledger, self._text_of)

    def _text_of(self, row: ImportedRecord) -> str:
        said = self._store.imports.said(row)
        return said.content if isinstance(said, Memory) else ""

    def take(self, batch: list[ImportRecord | Refused]) -> None:
        """Take in one batch in one transaction."""
        self.seen += len(batch)
        incoming = []
        for one in batch:
            if isinstance(one, Refused):
                self.report.refused.append(one)
            else:
                incoming.append(one)
        if self._dry_run:
            self._import_batch(None, incoming)
            return
        with self._transaction(f"from {self._source}") as tx:
            rows = self._import_batch(tx, incoming)
            self._store.imports.write(tx, rows)
        self._ledger.update({row.key: row for row in rows})

    def finish(self) -> None:
        """Draw the relations that the records of this source name, and sum up."""
        self.report.held, self.report.redacted = self._gate.held, self._gate.redacted
        self.report.refused.sort(key=lambda refused: (refused.file, refused.line))
        if self._dry_run:
            return
        drawn = [row.record_id for row in self._ledger.values() if row.record == "relation"]
        alive = self._store.versions("relation", drawn)
        gone, missing = self._links.gone(alive), self._links.missing(alive)
        while stale := list(islice(gone, BATCH)):
            with self._transaction("relations") as tx:
                for relation_id in stale:
                    tx.remove(tx.require(Relation, relation_id), base=alive[relation_id])
        while fresh := dict(islice(missing, BATCH)):
            with self._transaction("relations") as tx:
                drawn_now = zip(fresh, tx.add_all(list(fresh.values())), strict=True)
                rows = [
                    ImportedRecord(self._source, key, "relation", one.id, b"", one.version) for key, one in drawn_now
                ]
                self._store.imports.write(tx, rows)

    def _transaction(self, note: str) -> AbstractContextManager[Transaction]:
        return self._store.transaction(self._author, "import", note=note, batch=self._journal_batch)

    def _import_batch(self, tx: Transaction | None, incoming: list[ImportRecord]) -> list[ImportedRecord]:
        fresh: dict[str, list[AnyRecord]] = {}
        rows: list[ImportedRecord] = []
        known = self._standing(incoming)
        for one in incoming:
            try:
                row = self._import_one(tx, one, known[one.record], fresh)
            except MementoError as error:
                self.report.refused.append(Refused(one.file, one.line, str(error)))
                continue
            if row is not None:
                rows.append(row)
                self._links.take(one, row.record_id)
        if tx is None:
            return rows
        for record, records in fresh.items():
            written = tx.add_all(records)
            self._gate.propose(tx, (r for r in written if isinstance(r, Memory) and r.status == "pending"))
            # One that was here before, and was undone, goes on counting its versions.
            again = {r.id: r.version for r in written if r.version > 1}
            rows = [
                msgspec.structs.replace(r, version=again[r.record_id]) if _is_among(r, record, again) else r
                for r in rows
            ]
        return rows

    def _standing(self, incoming: Iterable[ImportRecord]) -> dict[str, _StoredState]:
        """Return what is known of all the records that a batch may be about, by their kind."""
        wanted: dict[str, set[str]] = {}
        for one in incoming:
            known = self._ledger.get(self._key(one))
            ids = (known.record_id if known else None, one.fields.get("id"))
            wanted.setdefault(one.record, set()).update(i for i in ids if isinstance(i, str))
        return {
            record: _StoredState(self._store.versions(record, sorted(ids)), self._store.purged(record, sorted(ids)))
            for record, ids in wanted.items()
        }

    @staticmethod
    def _key(one: ImportRecord) -> str:
        return f"{one.record}:{one.key}"

    def _row(self, one: ImportRecord, kept: AnyRecord, said: AnyRecord) -> ImportedRecord:
        """Return the line for the ledger: ``kept`` is the record as it is here, ``said`` as the source has it."""
        image = TABLES[one.record].image_of(said) if differing_fields(kept, said) else None
        return ImportedRecord(self._source, self._key(one), one.record, kept.id, one.digest, kept.version, image)

    def _import_one(
        self, tx: Transaction | None, one: ImportRecord, standing: _StoredState, fresh: dict[str, list[AnyRecord]]
    ) -> ImportedRecord | None:
        """Decide what becomes of one record; return the line for the ledger, or ``None`` where there is none."""
        known = self._ledger.get(self._key(one))
        if known is not None and known.record_id in standing.versions:
            if known.digest == one.digest:
                self.report.unchanged += 1
                return known
            return self._update(tx, one, known.record_id, self._store.imports.said(known))
        if one.deleted:
            return None
        named = one.fields.get("id")
        if isinstance(named, str) and named in standing.versions:
            return self._import_existing(tx, one, named)
        said = self._make(one, known.record_id if known else None)
        if said.id in standing.purged:
            raise InvalidInput(f"the {one.record} {said.id} was purged here.", "Take it out of the source as well.")
        twin = self._find_duplicate(said) if named is None else None
        if twin is not None:
            self.report.unchanged += 1
            return self._row(one, twin, msgspec.structs.replace(said, id=twin.id))
        record = self._gate.judged(said) if isinstance(said, Memory) else self._settled(said)
        fresh.setdefault(one.record, []).append(record)
        self.report.imported += 1
        return self._row(one, record, said)

    def _make(self, one: ImportRecord, record_id: str | None) -> AnyRecord:
        fields = {**one.fields, "version": 1}
        if record_id is not None:
            fields["id"] = record_id
        return self._gate.clean(_MAKERS[one.record](fields))

    def _settled(self, said: AnyRecord) -> AnyRecord:
        """Return a new record that is no memory as it may come in: never a second identity."""
        if isinstance(said, Crystal) and said.status == "current" and self._store.current_crystal() is not None:
            return msgspec.structs.replace(said, status="past")
        return said

    def _find_duplicate(self, record: AnyRecord) -> Memory | None:
        """Return a memory that says the same in the same place; the source may have been moved."""
        if not isinstance(record, Memory) or not self._may_have_twins:
            return None
        twins = self._store.twins(content_digest(record.content))
        return next((t for t in twins if (t.namespace, t.title) == (record.namespace, record.title)), None)

    def _import_existing(self, tx: Transaction | None, one: ImportRecord, record_id: str) -> ImportedRecord:
        """Take in a record whose id exists, though this source never brought it."""
        current: Any = self._store.get_named(one.record, record_id)
        if one.deleted:
            return self._tombstone(tx, one, current, current)
        wanted = self._gate.clean(_MAKERS[one.record]({**one.fields, "version": current.version}))
        differs = differing_fields(current, wanted)
        # Another place of its own source, such as an export of what came from there, keeps it in its own way.
        is_same = all(map(is_extra_name, differs)) and (one.record, record_id) in self._others
        if not differs or is_same:
            self.report.unchanged += 1
            return self._row(one, current, wanted)
        version = one.fields.get("version")
        if isinstance(version, int):  # it was exported: the change was made from what it said then
            base = self._store.image_named(one.record, record_id, version)
        else:
            base = self._base_of_other_source(one, record_id)
        return self._update(tx, one, record_id, base, named_only=True)

    def _base_of_other_source(self, one: ImportRecord, record_id: str) -> AnyRecord | None:
        """Return what the source said that brought a record, if it is gone and may have been moved here, or ``None``.

        Raises:
            InvalidInput: that source is still where it was, so the two only share an id.

        """
        other = self._others.get((one.record, record_id))
        if other is None:
            return None
        elsewhere = other.source.partition(":")[2]
        if Path(elsewhere).exists():
            raise InvalidInput(
                f"the {one.record} {record_id} comes from {elsewhere}, and says something else there.",
                "What is here stays. Give the one in this source another id, or make the two agree.",
            )
        said: AnyRecord | None = self._store.imports.said(other)
        return said

    @cached_property
    def _others(self) -> dict[tuple[str, str], ImportedRecord]:
        return self._store.imports.of_others(self._source)

    def _update(
        self,
        tx: Transaction | None,
        one: ImportRecord,
        record_id: str,
        base: AnyRecord | None,
        *,
        named_only: bool = False,
    ) -> ImportedRecord:
        """Take in what the source changed since ``base``, what it said last; ``None`` takes in all that differs.

        ``named_only`` leaves alone what the source does not name: it may be a line that a person wrote by hand.
        """
        current: Any = self._store.get_named(one.record, record_id)
        if one.deleted:
            return self._tombstone(tx, one, current, base or current)
        wanted = self._gate.clean(_MAKERS[one.record]({**one.fields, "id": record_id, "version": current.version}))
        # A source that never was a preview knows nothing of the one that upkeep made here; a change makes it whole.
        whole = current if getattr(base, "status", "") == "compacted" else restore_full_text(current)
        changed = differing_fields(whole if base is None else base, wanted)
        if base is None or named_only:
            changed = [name for name in changed if is_named_by_source(name, one.fields)]
        still_other = set(differing_fields(whole, wanted))
        changed_here = set() if base is None else set(differing_fields(whole, base))
        disputed = [name for name in changed if name in still_other and name in changed_here]
        if disputed:
            raise InvalidInput(
                f"{', '.join(disputed)} changed both here ({one.record} {record_id}) and in the source.",
                "What is here stays. Make the two agree, then import again.",
            )
        changed = [name for name in changed if name in still_other]
        if not changed:
            self.report.unchanged += 1
            return self._row(one, current, wanted)
        record = with_values_from(whole, changed, wanted)
        self.report.updated += 1
        if tx is None:
            return self._row(one, current, wanted)
        values: dict[str, Any] = {}
        if isinstance(wanted, Memory) and "content" in changed:
            values["injection_score"] = max(current.injection_score, self._gate.injection_score(wanted))
        if hasattr(current, "updated_at"):
            values["updated_at"] = getattr(wanted, "updated_at", tx.now) if "updated_at" in one.fields else tx.now
        return self._row(one, tx.put(msgspec.structs.replace(record, **values), base=current.version), wanted)

    def _tombstone(self, tx: Transaction | None, one: ImportRecord, current: Any, base: Any) -> ImportedRecord:  # noqa: ANN401 - any record
        if not isinstance(current, Memory):
            self.report.unchanged += 1
            return self._row(one, current, base)
        said = msgspec.structs.replace(base, status="deleted")
        if current.status == "deleted":
            self.report.unchanged += 1
            return self._row(one, current, said)
        self.report.deleted += 1
        if tx is None:
            return self._row(one, current, said)
        gone = msgspec.structs.replace(current, status="deleted", updated_at=tx.now)
        return self._row(one, tx.put(gone, base=current.version), said)


def _is_among(row: ImportedRecord, record: str, versions: Mapping[str, int]) -> bool:
    return row.record == record and row.record_id in versions


def run_import(
    workspace: Workspace,
    format_name: str,
    path: Path | str,
    *,
    dry_run: bool = False,
    hold: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> ImportReport:
    """Take in what a file or folder holds, or a server whose address is ``path``.

    A second run changes nothing; a changed source updates.

    ``hold`` lets every new memory wait in the review queue. ``progress`` is called with how much was read, and of how
    much. What was changed both here and in the source is refused, with the reason; what is here stays.

    Raises:
        InvalidInput: the format is unknown, or there is nothing at the path.
        NotAllowed: an agent asks.

    """
    if workspace.author.actor != "person":
        raise NotAllowed("Only a person imports.", "Remember what matters, one memory at a time.")
    chosen = _format_named(format_name)
    run = ImportRun(workspace, f"{format_name}:{chosen.locate(path)}", dry_run=dry_run, hold=hold)
    total = chosen.count(path) if progress is not None else 0
    found = run.match_positions(chosen.read(path))
    while batch := list(islice(found, BATCH)):
        run.take(batch)
        if progress is not None:
            progress(min(run.seen, total), total)
    run.finish()
    if progress is not None:
        progress(total, total)
    return run.report


def _format_named(name: str) -> Format:
    if name not in FORMATS:
        raise InvalidInput(f"{name!r} is not a format that memento reads.", f"It reads {', '.join(FORMATS)}.")
    return FORMATS[name]


def run_export(workspace: Workspace, path: Path | str, *, format_name: str = "memento") -> ExportReport:
    """Write everything that a format has a place for; ``path`` is an address where that is a server.

    Raises:
        InvalidInput: the place cannot be written.

    """
    chosen = _format_named(format_name)
    chosen.check_place(path)
    everything = _all_records(workspace)
    return chosen.write(everything if chosen.is_own else map(restore_full_text, everything), path)


def _all_records(workspace: Workspace) -> Iterator[Any]:
    store = workspace.store
    for batch in store.all_memories():
        yield from batch
    for record in ("relation", "skip", "item", "crystal"):
        yield from store.all_of(record)
