"""One import under way: what becomes of each record of a source, of new ones and of those that were here before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from memento_tui.errors import InvalidInput, MementoError
from memento_tui.interchange.comparing import differing, is_kept, is_named, taken_over
from memento_tui.interchange.import_gate import ImportGate
from memento_tui.interchange.incoming import Incoming, Refused
from memento_tui.interchange.links import LinkKeeper
from memento_tui.interchange.numbered import renumbered
from memento_tui.interchange.restoring import in_full
from memento_tui.records import Crystal, Memory, make_crystal, make_item, make_memory, make_relation, make_skip
from memento_tui.records.ids import new_id
from memento_tui.records.memory import content_digest
from memento_tui.review.gate import Gate
from memento_tui.store.imports import LedgerRow
from memento_tui.store.journal import Author
from memento_tui.store.tables import TABLES, AnyRecord
from memento_tui.store.transaction import Transaction
from memento_tui.workspace import Workspace

__all__ = ["BATCH", "ImportReport", "ImportRun"]

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
class _Standing:
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
        self._links = LinkKeeper(self._ledger)
        self._may_have_twins = self._store.count_all() > 0
        """Whether there was anything before; looking for twins costs a query for each record."""

    def known_again(self, found: Iterable[Incoming | Refused]) -> Iterator[Incoming | Refused]:
        """Yield what a reader finds; what only a number names has the number that it had at the import before."""
        return renumbered(found, self._ledger, self._text_of)

    def _text_of(self, row: LedgerRow) -> str:
        said = self._store.imports.said(row)
        return said.content if isinstance(said, Memory) else ""

    def take(self, batch: list[Incoming | Refused]) -> None:
        """Take in one batch in one transaction."""
        self.seen += len(batch)
        incoming = []
        for one in batch:
            if isinstance(one, Refused):
                self.report.refused.append(one)
            else:
                incoming.append(one)
        if self._dry_run:
            self._take_all(None, incoming)
            return
        with self._transaction(f"from {self._source}") as tx:
            rows = self._take_all(tx, incoming)
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
                    tx.remove(tx.require("relation", relation_id), base=alive[relation_id])
        while fresh := dict(islice(missing, BATCH)):
            with self._transaction("relations") as tx:
                drawn_now = zip(fresh, tx.add_all(list(fresh.values())), strict=True)
                rows = [LedgerRow(self._source, key, "relation", one.id, b"", one.version) for key, one in drawn_now]
                self._store.imports.write(tx, rows)

    def _transaction(self, note: str) -> AbstractContextManager[Transaction]:
        return self._store.transaction(self._author, "import", note=note, batch=self._journal_batch)

    def _take_all(self, tx: Transaction | None, incoming: list[Incoming]) -> list[LedgerRow]:
        fresh: dict[str, list[AnyRecord]] = {}
        rows: list[LedgerRow] = []
        known = self._standing(incoming)
        for one in incoming:
            try:
                row = self._take_one(tx, one, known[one.record], fresh)
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

    def _standing(self, incoming: Iterable[Incoming]) -> dict[str, _Standing]:
        """Return what is known of all the records that a batch may be about, by their kind."""
        wanted: dict[str, set[str]] = {}
        for one in incoming:
            known = self._ledger.get(self._key(one))
            ids = (known.record_id if known else None, one.fields.get("id"))
            wanted.setdefault(one.record, set()).update(i for i in ids if isinstance(i, str))
        return {
            record: _Standing(self._store.versions(record, sorted(ids)), self._store.purged(record, sorted(ids)))
            for record, ids in wanted.items()
        }

    @staticmethod
    def _key(one: Incoming) -> str:
        return f"{one.record}:{one.key}"

    def _row(self, one: Incoming, kept: AnyRecord, said: AnyRecord) -> LedgerRow:
        """Return the line for the ledger: ``kept`` is the record as it is here, ``said`` as the source has it."""
        image = TABLES[one.record].image_of(said) if differing(kept, said) else None
        return LedgerRow(self._source, self._key(one), one.record, kept.id, one.digest, kept.version, image)

    def _take_one(
        self, tx: Transaction | None, one: Incoming, standing: _Standing, fresh: dict[str, list[AnyRecord]]
    ) -> LedgerRow | None:
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
            return self._meet(tx, one, named)
        said = self._make(one, known.record_id if known else None)
        if said.id in standing.purged:
            raise InvalidInput(f"the {one.record} {said.id} was purged here.", "Take it out of the source as well.")
        twin = self._twin(said) if named is None else None
        if twin is not None:
            self.report.unchanged += 1
            return self._row(one, twin, msgspec.structs.replace(said, id=twin.id))
        record = self._gate.judged(said) if isinstance(said, Memory) else self._settled(said)
        fresh.setdefault(one.record, []).append(record)
        self.report.imported += 1
        return self._row(one, record, said)

    def _make(self, one: Incoming, record_id: str | None) -> AnyRecord:
        fields = {**one.fields, "version": 1}
        if record_id is not None:
            fields["id"] = record_id
        return self._gate.clean(_MAKERS[one.record](fields))

    def _settled(self, said: AnyRecord) -> AnyRecord:
        """Return a new record that is no memory as it may come in: never a second identity."""
        if isinstance(said, Crystal) and said.status == "current" and self._store.current_crystal() is not None:
            return msgspec.structs.replace(said, status="past")
        return said

    def _twin(self, record: AnyRecord) -> Memory | None:
        """Return a memory that says the same in the same place; the source may have been moved."""
        if not isinstance(record, Memory) or not self._may_have_twins:
            return None
        twins = self._store.twins(content_digest(record.content))
        return next((t for t in twins if (t.namespace, t.title) == (record.namespace, record.title)), None)

    def _meet(self, tx: Transaction | None, one: Incoming, record_id: str) -> LedgerRow:
        """Take in a record whose id exists, though this source never brought it."""
        current = self._store.get(one.record, record_id)
        if one.deleted:
            return self._tombstone(tx, one, current, current)
        wanted = self._gate.clean(_MAKERS[one.record]({**one.fields, "version": current.version}))
        differs = differing(current, wanted)
        # Another place of its own source, such as an export of what came from there, keeps it in its own way.
        is_same = all(map(is_kept, differs)) and (one.record, record_id) in self._others
        if not differs or is_same:
            self.report.unchanged += 1
            return self._row(one, current, wanted)
        version = one.fields.get("version")
        if isinstance(version, int):  # it was exported: the change was made from what it said then
            base = self._store.image(one.record, record_id, version)
        else:
            base = self._said_elsewhere(one, record_id)
        return self._update(tx, one, record_id, base, named_only=True)

    def _said_elsewhere(self, one: Incoming, record_id: str) -> AnyRecord | None:
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
    def _others(self) -> dict[tuple[str, str], LedgerRow]:
        return self._store.imports.of_others(self._source)

    def _update(
        self, tx: Transaction | None, one: Incoming, record_id: str, base: AnyRecord | None, *, named_only: bool = False
    ) -> LedgerRow:
        """Take in what the source changed since ``base``, what it said last; ``None`` takes in all that differs.

        ``named_only`` leaves alone what the source does not name: it may be a line that a person wrote by hand.
        """
        current = self._store.get(one.record, record_id)
        if one.deleted:
            return self._tombstone(tx, one, current, base or current)
        wanted = self._gate.clean(_MAKERS[one.record]({**one.fields, "id": record_id, "version": current.version}))
        # A source that never was a preview knows nothing of the one that upkeep made here; a change makes it whole.
        whole = current if getattr(base, "status", "") == "compacted" else in_full(current)
        changed = differing(whole if base is None else base, wanted)
        if base is None or named_only:
            changed = [name for name in changed if is_named(name, one.fields)]
        still_other = set(differing(whole, wanted))
        changed_here = set() if base is None else set(differing(whole, base))
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
        record = taken_over(whole, changed, wanted)
        self.report.updated += 1
        if tx is None:
            return self._row(one, current, wanted)
        values: dict[str, Any] = {}
        if isinstance(wanted, Memory) and "content" in changed:
            values["injection_score"] = max(current.injection_score, self._gate.injection_score(wanted))
        if hasattr(current, "updated_at"):
            values["updated_at"] = getattr(wanted, "updated_at", tx.now) if "updated_at" in one.fields else tx.now
        return self._row(one, tx.put(msgspec.structs.replace(record, **values), base=current.version), wanted)

    def _tombstone(self, tx: Transaction | None, one: Incoming, current: Any, base: Any) -> LedgerRow:  # noqa: ANN401 - any record
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


def _is_among(row: LedgerRow, record: str, versions: Mapping[str, int]) -> bool:
    return row.record == record and row.record_id in versions
