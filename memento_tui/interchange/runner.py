"""Carrying out an import or an export: what a reader finds goes into the store once, and only what changed again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from memento_tui.errors import InvalidInput, MementoError, NotAllowed
from memento_tui.interchange.formats import FORMATS, Format
from memento_tui.interchange.incoming import Incoming, Refused
from memento_tui.interchange.links import LinkKeeper
from memento_tui.interchange.outgoing import Written
from memento_tui.records import (
    Memory,
    make_crystal,
    make_item,
    make_memory,
    make_proposal,
    make_relation,
    make_skip,
)
from memento_tui.records.ids import new_id
from memento_tui.records.memory import content_digest
from memento_tui.store.journal import Author
from memento_tui.store.store import LedgerRow
from memento_tui.store.tables import AnyRecord
from memento_tui.store.transaction import Transaction
from memento_tui.workspace import Workspace

__all__ = ["ImportReport", "run_export", "run_import"]

_BATCH = 2000

_MAKERS: Mapping[str, Callable[[Mapping[str, Any]], AnyRecord]] = {
    "memory": make_memory,
    "skip": lambda fields: make_skip(fields, stored=True),
    "item": make_item,
    "crystal": make_crystal,
    "relation": make_relation,
}
_UNCOMPARED = frozenset({"version", "updated_at", "shown_count", "used_count", "last_used_at", "hits", "last_hit_at"})
"""Fields that say how a record is kept, not what it says."""


class ImportReport(msgspec.Struct):
    """What an import did, or would do."""

    imported: int = 0
    updated: int = 0
    unchanged: int = 0
    deleted: int = 0
    """How many memories the source says are gone."""
    refused: list[Refused] = []


def run_import(
    workspace: Workspace,
    format_name: str,
    path: Path,
    *,
    dry_run: bool = False,
    hold: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> ImportReport:
    """Take in what a file or folder holds. A second run changes nothing; a changed source updates.

    ``hold`` lets every new memory wait in the review queue. ``progress`` is called with how much was read, and of how
    much. What was changed both here and in the source is refused, with the reason; what is here stays.

    Raises:
        InvalidInput: the format is unknown, or there is nothing at the path.
        NotAllowed: an agent asks.

    """
    if workspace.author.actor != "person":
        raise NotAllowed("Only a person imports.", "Remember what matters, one memory at a time.")
    chosen = _format(format_name)
    if not path.exists():
        raise InvalidInput(f"There is nothing at {path}.", "Check the path.")
    run = _Run(workspace, f"{format_name}:{path.resolve()}", dry_run=dry_run, hold=hold)
    total = chosen.count(path) if progress is not None else 0
    found = chosen.read(path)
    while batch := list(islice(found, _BATCH)):
        run.take(batch)
        if progress is not None:
            progress(min(run.seen, total), total)
    run.finish()
    if progress is not None:
        progress(total, total)
    return run.report


def _format(name: str) -> Format:
    if name not in FORMATS:
        raise InvalidInput(f"{name!r} is not a format that memento reads.", f"It reads {', '.join(FORMATS)}.")
    return FORMATS[name]


class _Run:
    """One import under way."""

    def __init__(self, workspace: Workspace, source: str, *, dry_run: bool, hold: bool) -> None:
        self.report = ImportReport()
        self.seen = 0
        self._store = workspace.store
        self._author = Author("person", "import", session=workspace.author.session)
        self._source = source
        self._dry_run = dry_run
        self._hold = hold
        self._ledger = self._store.ledger(source)
        self._journal_batch = new_id()
        self._links = LinkKeeper(self._ledger)
        self._may_have_twins = self._store.count_all() > 0
        """Whether there was anything before; looking for twins costs a query for each record."""

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
        note = f"from {self._source}"
        with self._store.transaction(self._author, "import", note=note, batch=self._journal_batch) as tx:
            rows = self._take_all(tx, incoming)
            self._store.write_ledger(tx, rows)
        self._ledger.update({row.key: row for row in rows})

    def finish(self) -> None:
        """Draw the relations that the records of this source name."""
        if self._dry_run:
            return
        with self._store.transaction(self._author, "import", note="relations", batch=self._journal_batch) as tx:
            self._store.write_ledger(tx, self._links.draw(tx, self._source))

    def _take_all(self, tx: Transaction | None, incoming: list[Incoming]) -> list[LedgerRow]:
        fresh: dict[str, list[AnyRecord]] = {}
        rows: list[LedgerRow] = []
        versions = self._versions(incoming)
        for one in incoming:
            try:
                row = self._take_one(tx, one, versions.get(one.record, {}), fresh)
            except MementoError as error:
                self.report.refused.append(Refused(one.file, one.line, str(error)))
                continue
            if row is not None:
                rows.append(row)
                self._links.take(one, row.record_id)
        if tx is not None:
            for records in fresh.values():
                tx.add_all(records)
                self._propose(tx, (r for r in records if isinstance(r, Memory) and r.status == "pending"))
        return rows

    def _versions(self, incoming: Iterable[Incoming]) -> dict[str, dict[str, int]]:
        """Return the present versions of all the records that a batch may be about, by kind and id."""
        wanted: dict[str, set[str]] = {}
        for one in incoming:
            known = self._ledger.get(self._key(one))
            ids = (known.record_id if known else None, one.fields.get("id"))
            wanted.setdefault(one.record, set()).update(i for i in ids if isinstance(i, str))
        return {record: self._store.versions(record, sorted(ids)) for record, ids in wanted.items()}

    @staticmethod
    def _key(one: Incoming) -> str:
        return f"{one.record}:{one.key}"

    def _take_one(
        self, tx: Transaction | None, one: Incoming, versions: Mapping[str, int], fresh: dict[str, list[AnyRecord]]
    ) -> LedgerRow | None:
        """Decide what becomes of one record; return the line for the ledger, or ``None`` where there is none."""
        key = self._key(one)
        known = self._ledger.get(key)
        if known is not None and known.record_id in versions:
            if known.digest == one.digest:
                self.report.unchanged += 1
                return known
            return self._update(tx, one, known.record_id, self._store.image(one.record, known.record_id, known.version))
        if one.deleted:
            return None
        named = one.fields.get("id")
        if isinstance(named, str) and named in versions:
            return self._meet(tx, one, named)
        record = self._make(one, known.record_id if known else None)
        twin = self._twin(record) if named is None else None
        if twin is not None:
            self.report.unchanged += 1
            return LedgerRow(self._source, key, one.record, twin.id, one.digest, twin.version)
        fresh.setdefault(one.record, []).append(record)
        self.report.imported += 1
        return LedgerRow(self._source, key, one.record, record.id, one.digest, record.version)

    def _make(self, one: Incoming, record_id: str | None) -> AnyRecord:
        fields = {**one.fields, "version": 1}
        if record_id is not None:
            fields["id"] = record_id
        if self._hold and one.record == "memory":
            fields["status"] = "pending"
        return _MAKERS[one.record](fields)

    def _twin(self, record: AnyRecord) -> Memory | None:
        """Return a memory that says the same in the same place; the source may have been moved."""
        if not isinstance(record, Memory) or not self._may_have_twins:
            return None
        twins = self._store.twins(content_digest(record.content))
        return next((t for t in twins if (t.namespace, t.title) == (record.namespace, record.title)), None)

    def _meet(self, tx: Transaction | None, one: Incoming, record_id: str) -> LedgerRow:
        """Take in a record whose id exists, though this source never brought it."""
        current = self._store.get(one.record, record_id)
        version = one.fields.get("version")
        wanted = _MAKERS[one.record]({**one.fields, "version": current.version})
        if not _differing(current, wanted):
            self.report.unchanged += 1
            return LedgerRow(self._source, self._key(one), one.record, record_id, one.digest, current.version)
        if isinstance(version, int) and version < current.version:
            raise InvalidInput(
                f"the {one.record} {record_id} is at version {current.version} here, and at {version} in the source",
                "What is here stays; export again to edit it.",
            )
        return self._update(tx, one, record_id, None)

    def _update(self, tx: Transaction | None, one: Incoming, record_id: str, base: AnyRecord | None) -> LedgerRow:
        """Take in what the source changed since ``base``, what it said last (``None``: all that it says now)."""
        current = self._store.get(one.record, record_id)
        if one.deleted:
            return self._tombstone(tx, one, current)
        wanted = _MAKERS[one.record]({**one.fields, "id": record_id, "version": current.version})
        named = [name for name in one.fields if name not in _UNCOMPARED and name not in ("id", "created_at")]
        changed = [n for n in named if base is None or getattr(wanted, n) != getattr(base, n)]
        disputed = [n for n in changed if base is not None and getattr(current, n) != getattr(base, n)]
        disputed = [n for n in disputed if getattr(current, n) != getattr(wanted, n)]
        if disputed:
            raise InvalidInput(
                f"{', '.join(disputed)} changed both here ({one.record} {record_id}) and in the source",
                "What is here stays. Make the two agree, then import again.",
            )
        values = {name: getattr(wanted, name) for name in changed if getattr(current, name) != getattr(wanted, name)}
        self.report.updated += 1
        if tx is None or not values:
            return LedgerRow(self._source, self._key(one), one.record, record_id, one.digest, current.version)
        if hasattr(current, "updated_at"):
            values["updated_at"] = getattr(wanted, "updated_at", tx.now) if "updated_at" in one.fields else tx.now
        written = tx.put(msgspec.structs.replace(current, **values), base=current.version)
        return LedgerRow(self._source, self._key(one), one.record, record_id, one.digest, written.version)

    def _tombstone(self, tx: Transaction | None, one: Incoming, current: Any) -> LedgerRow:  # noqa: ANN401 - any record
        version = current.version
        if isinstance(current, Memory) and current.status != "deleted":
            self.report.deleted += 1
            if tx is not None:
                gone = msgspec.structs.replace(current, status="deleted", updated_at=tx.now)
                version = tx.put(gone, base=version).version
        else:
            self.report.unchanged += 1
        return LedgerRow(self._source, self._key(one), one.record, current.id, one.digest, version)

    def _propose(self, tx: Transaction, pending: Iterable[Memory]) -> None:
        for record in pending:
            fields = {
                "action": "create",
                "target_id": record.id,
                "base_version": record.version,
                "reasons": ("held_import",) if self._hold else ("pending_in_source",),
                "proposed_by": record.source.agent or "import",
            }
            tx.put(make_proposal(fields), base=0)


def _differing(one: Any, other: Any) -> list[str]:  # noqa: ANN401 - any record
    names = (name for name in one.__struct_fields__ if name not in _UNCOMPARED)
    return [name for name in names if getattr(one, name) != getattr(other, name)]


def run_export(workspace: Workspace, path: Path, *, format_name: str = "memento") -> Written:
    """Write everything that a format has a place for. Raises `InvalidInput` if the place cannot be written."""
    chosen = _format(format_name)
    if chosen.write is None:
        raise InvalidInput(f"memento reads {format_name} but does not write it.", "Export as memento or vault.")
    return chosen.write(_everything(workspace), path)


def _everything(workspace: Workspace) -> Iterator[Any]:
    store = workspace.store
    for batch in store.all_memories():
        yield from batch
    for record in ("relation", "skip", "item", "crystal"):
        yield from store.all_of(record)
