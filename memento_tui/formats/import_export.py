"""Run an import or an export: every record passes the policy gate once, and again only when it changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import cast

import msgspec

from memento_tui.api import Workspace
from memento_tui.api.import_session import ImportSession
from memento_tui.api.past import Past
from memento_tui.api.types import Author, ImportedRecord, Progress, Transaction
from memento_tui.errors import DataDirectoryError, InvalidInput, MementoError, NotAllowed
from memento_tui.formats.agents_file_locations import FilePlace, KnownPlaces, places_of, reads_places, settle_places
from memento_tui.formats.base import ExportRecord, ExportReport, Format, ImportRecord, Refused
from memento_tui.formats.columns import restore_full_text
from memento_tui.formats.import_gate import DrawnLink, ImportGate, RelationCollector, match_positional_records
from memento_tui.formats.import_plan import ImportPlanner, PlannedRecord, ledger_key, ledger_row
from memento_tui.formats.memento_jsonl import write as write_own
from memento_tui.formats.registry import FORMATS, source_name
from memento_tui.model import AnyRecord, Crystal, Memory, Relation
from memento_tui.model.claims import as_claimed
from memento_tui.model.validation import new_id

__all__ = ["READING", "ImportReport", "ImportRun", "run_export", "run_import"]

IMPORT_BATCH_SIZE = 2000
"""Records of one transaction: other writers wait for tens of milliseconds."""


_MOST_WITHOUT_BACKUP = 100
"""The most records that are imported without a backup first."""

READING = "Importing"
"""The step of an import that may be stopped; records imported until then stay."""


class ImportReport(msgspec.Struct):
    """The counts of an import, or of a dry run."""

    imported: int = 0
    updated: int = 0
    unchanged: int = 0
    held: int = 0
    """How many of the imported wait for a person to review them."""
    deleted: int = 0
    """How many memories the source says are gone."""
    waiting: int = 0
    """How many changes of records that exist, and new skips, items and identities, wait for a person."""
    refused: list[Refused] = []
    redacted: int = 0
    """How many records held a secret, which was removed before they were stored."""
    shortened: int = 0
    """How many skips were to end later than any may, and end two years after they were made."""
    renamed: int = 0
    """How many of the imported are ``id@workspace``, because a record of another workspace has their id."""


class ImportRun:
    """One import under way, batch by batch. A dry run plans each batch and writes nothing."""

    def __init__(
        self,
        workspace: Workspace,
        chosen: Format,
        source: str,
        *,
        dry_run: bool,
        hold: bool,
        progress: Progress | None = None,
    ) -> None:
        self.report = ImportReport()
        self.seen = 0
        """How many records, and refusals, were read so far."""
        self._session = workspace.import_session(Author("person", "import", session=workspace.author.session))
        self._gate = ImportGate(self._session.gate, self._session.is_signed, hold=hold)
        self._keep_before = partial(workspace.backups.keep_before_import, progress=progress)
        self._is_kept = dry_run or not workspace.config.maintenance.backups
        self._source = source
        self._dry_run = dry_run
        self._ledger = self._session.ledger.of(source)
        self._planner = ImportPlanner(self._session, source, chosen, self._ledger, self._gate)
        self._had_records = self._session.count_all() > 0
        self._journal_batch = new_id()
        self._links = RelationCollector(self._ledger)
        self._places: dict[str, tuple[FilePlace, ...]] = {}

    def match_positions(self, records: Iterable[ImportRecord | Refused]) -> Iterator[ImportRecord | Refused]:
        """Yield a reader's records; one without a name keeps the number that it had at the previous import."""
        return match_positional_records(records, self._ledger, self._text_of)

    def _text_of(self, row: ImportedRecord) -> str:
        record = self._session.ledger.in_source(row)
        return record.content if isinstance(record, Memory) else ""

    def import_batch(self, batch: list[ImportRecord | Refused]) -> None:
        """Import one batch in one transaction. A backup is made before the first large one; raises where that fails."""
        self.seen += len(batch)
        self.report.refused += [record for record in batch if isinstance(record, Refused)]
        records = [record for record in batch if isinstance(record, ImportRecord)]
        if self._dry_run:
            for planned in self._planner.plan(records):
                self._count(planned)
            return
        if len(records) > _MOST_WITHOUT_BACKUP and not self._is_kept:
            self._keep_before()
            self._is_kept = True
        with self._transaction(f"from {self._source}") as tx:
            rows = self._apply(tx, self._planner.plan(records))
            self._session.ledger.write(tx, rows)
        taken = {row.key: row for row in rows}
        self._ledger.update(taken)
        for record in records:
            if places := places_of(record.fields.get("extra", {})):
                self._places[ledger_key(record)] = places
            if (row := taken.get(ledger_key(record))) is not None:
                self._links.add(record, row.record_id)

    def _count(self, planned: PlannedRecord | ImportedRecord | Refused) -> None:
        if isinstance(planned, Refused):
            self.report.refused.append(planned)
        elif isinstance(planned, ImportedRecord) or planned.action == "keep":
            self.report.unchanged += 1
        elif planned.waits:
            self.report.waiting += 1
        elif planned.action == "create":
            self.report.imported += 1
        elif planned.action == "update":
            self.report.updated += 1
        else:
            self.report.deleted += 1

    def _apply(
        self, tx: Transaction, plans: Iterable[PlannedRecord | ImportedRecord | Refused]
    ) -> list[ImportedRecord]:
        """Carry out the plans of a batch; return the lines for the ledger. New records are written last, together."""
        rows: list[ImportedRecord] = []
        new: dict[str, list[PlannedRecord]] = {}
        for planned in plans:
            if isinstance(planned, ImportedRecord):
                rows.append(planned)
            elif isinstance(planned, PlannedRecord) and planned.action == "create" and not planned.waits:
                new.setdefault(planned.incoming.record, []).append(planned)
                continue
            elif isinstance(planned, PlannedRecord):
                try:
                    stored = self._carry_out(tx, planned)
                except MementoError as error:
                    self._count(Refused(planned.incoming.file, planned.incoming.line, str(error)))
                    continue
                if stored is not None:
                    rows.append(ledger_row(self._source, planned, stored))
            self._count(planned)
        for created in new.values():
            for planned, record in self._write_new(tx, created):
                self._count(planned)
                rows.append(ledger_row(self._source, planned, record))
        return rows

    def _write_new(self, tx: Transaction, created: Sequence[PlannedRecord]) -> list[tuple[PlannedRecord, AnyRecord]]:
        """Write new records of one kind together; return each with its record, without those that may not come in."""
        for planned in created:
            if planned.is_own:
                self._gate.vouch(planned.record)
        try:
            written = tx.add_all([planned.record for planned in created])
        except NotAllowed as error:
            if len(created) > 1:
                return [pair for planned in created for pair in self._write_new(tx, [planned])]
            incoming = created[0].incoming
            self._count(Refused(incoming.file, incoming.line, str(error)))
            return []
        self._gate.propose(tx, (r for r in written if isinstance(r, Memory) and r.status == "pending"))
        return list(zip(created, written, strict=True))

    def _carry_out(self, tx: Transaction, planned: PlannedRecord) -> AnyRecord | None:
        """Write or propose a change; return the record as it stands then, ``None`` where there is none yet."""
        if planned.waits:
            return self._gate.propose_change(tx, planned)
        record = planned.record
        if planned.action == "keep":
            return record
        if planned.needs_timestamp:
            record = msgspec.structs.replace(record, updated_at=tx.now)
        if planned.is_own:
            self._gate.vouch(record)
        return tx.put(record, base=record.version)

    def finish(self) -> None:
        """Draw the relations that the records of this source name, and complete the report."""
        self.report.held, self.report.redacted = self._gate.held, self._gate.redacted
        self.report.shortened, self.report.renamed = self._planner.shortened, self._planner.renamed
        if not self._dry_run:
            self._draw_relations()
            self._settle_places()
        self.report.refused.sort(key=lambda refused: (refused.file, refused.line))

    def _draw_relations(self) -> None:
        drawn = [row.record_id for row in self._ledger.values() if row.record == "relation"]
        alive = self._session.versions("relation", drawn)
        gone = self._links.gone(alive)
        missing = (pair for pair in self._links.missing(alive) if not self._is_drawn(pair[1].relation))
        while stale := list(islice(gone, IMPORT_BATCH_SIZE)):
            with self._transaction("relations") as tx:
                for relation_id in stale:
                    tx.remove(tx.require(Relation, relation_id), base=alive[relation_id])
        while fresh := dict(islice(missing, IMPORT_BATCH_SIZE)):
            with self._transaction("relations") as tx:
                rows = [
                    ImportedRecord(self._source, key, "relation", relation.id, b"", relation.version)
                    for key, relation in self._draw(tx, fresh)
                ]
                self._session.ledger.write(tx, rows)

    def _is_drawn(self, relation: Relation) -> bool:
        """Tell whether there is a relation that says the same, such as the one that was exported as this link."""
        if not self._had_records:
            return False
        meant = (relation.dst, relation.type, relation.label or relation.type)
        drawn = self._session.relations(relation.src, direction="out")
        return any((one.dst, one.type, one.label or one.type) == meant for one in drawn)

    def _draw(self, tx: Transaction, links: Mapping[str, DrawnLink]) -> list[tuple[str, Relation]]:
        """Write relations together; return each with its key, without those that may not come in."""
        try:
            written = tx.add_all([link.relation for link in links.values()])
        except NotAllowed as error:
            if len(links) > 1:
                return [pair for key, link in links.items() for pair in self._draw(tx, {key: link})]
            incoming = next(iter(links.values())).incoming
            self._count(Refused(incoming.file, incoming.line, str(error)))
            return []
        return list(zip(links, written, strict=True))

    def _settle_places(self) -> None:
        if not reads_places(self._source):
            return
        settlement = settle_places(self._session, self._source, self._ledger, self._places)
        if settlement.keys:
            with self._transaction("places") as tx:
                for memory in settlement.memories:
                    self._gate.vouch(memory)
                    tx.put(memory, base=memory.version)
                self._session.ledger.drop(tx, self._source, settlement.keys)

    def _transaction(self, note: str) -> AbstractContextManager[Transaction]:
        return self._session.transaction("import", note=note, batch=self._journal_batch)


def run_import(
    workspace: Workspace,
    format_name: str,
    path: Path | str,
    *,
    dry_run: bool = False,
    hold: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Import a file or a folder, or the account on a server whose address is ``path``.

    A second run changes nothing; a changed source updates.

    ``hold`` puts every new memory into the review queue. ``progress`` is called with the present step, and with how
    much of how much is done. A record that changed both here and in the source is refused, with the reason, and stays
    as it is here.

    Before more than a hundred records are imported a backup is made, unless that is switched off. Afterwards the
    keyword index is brought up to date, so that the first search does not wait for it.

    Raises:
        InvalidInput: the format is unknown, or there is nothing at the path.
        NotAllowed: an agent asks.
        DataDirectoryError: the backup cannot be made; nothing was imported.

    """
    if workspace.author.actor != "person":
        raise NotAllowed("Only a person imports.", "Remember what matters, one memory at a time.")
    chosen = _format_named(format_name)
    run = ImportRun(
        workspace, chosen, f"{format_name}:{source_name(chosen, path)}", dry_run=dry_run, hold=hold, progress=progress
    )
    total = chosen.count(path) if progress is not None else 0
    records = run.match_positions(chosen.read(path))
    while batch := list(islice(records, IMPORT_BATCH_SIZE)):
        run.import_batch(batch)
        if progress is not None:
            progress(READING, min(run.seen, total), total)
    run.finish()
    if progress is not None:
        progress(READING, total, total)
    if not dry_run:
        _index(workspace, progress)
    return run.report


def _index(workspace: Workspace, progress: Progress | None) -> None:
    """Bring the keyword index up to date; where that cannot be done now, the first search does it and says why."""
    with suppress(DataDirectoryError):
        workspace.catch_up(None if progress is None else partial(progress, "Indexing"))


_UNSIGNED = (
    "The lines are not signed, for no key could be written: an import takes their decisions as claims to be approved."
)


def _format_named(name: str) -> Format:
    if name not in FORMATS:
        raise InvalidInput(f"{name!r} is not a format that memento reads.", f"It reads {', '.join(FORMATS)}.")
    return FORMATS[name]


def run_export(
    workspace: Workspace,
    path: Path | str,
    *,
    format_name: str = "memento",
    past: Past | None = None,
    in_clear: bool = False,
) -> ExportReport:
    """Write everything that a format has a place for; ``path`` is an address where that is a server.

    With ``past`` the records are written as they were then. ``in_clear`` lets an encrypted workspace be written so.

    Raises:
        NotAllowed: the workspace is encrypted, and nobody said ``in_clear``.
        InvalidInput: the place cannot be written.

    """
    workspace.check_may_leave(in_clear=in_clear)
    chosen = _format_named(format_name)
    chosen.check_place(path)
    records: Iterator[AnyRecord] = (past or workspace).export_records()
    session = workspace.import_session(workspace.author)
    if not chosen.is_own:
        places, undecided = KnownPlaces(session), _Undecided(session, chosen)
        leaving = map(undecided.as_known, filter(undecided.may_leave, records))
        known = map(places.only_known, map(_as_stated, leaving))
        written = chosen.write(cast("Iterator[ExportRecord]", known), path)
        notices = (*written.notices, *places.notices(), *undecided.notices())
        return msgspec.structs.replace(written, left_out=written.left_out + undecided.left_out, notices=notices)
    sign = session.signature if session.can_sign() else None
    report = write_own(cast("Iterator[ExportRecord]", records), Path(path), sign)
    return report if sign else msgspec.structs.replace(report, notices=(*report.notices, _UNSIGNED))


class _Undecided:
    """Leaves waiting and rejected records out of one export, because other programs would show them to agents.

    Those that an import of the same format brought stay in, for such a file holds them already. The ledger of imports
    says which those are, not the record: an agent may write that into any memory.
    """

    def __init__(self, session: ImportSession, chosen: Format) -> None:
        self.left_out = 0
        self._waiting = 0
        self._session = session
        self._format = chosen
        self._came_so = {row.record_id for row in session.ledger.of_formats([chosen.name])}

    def may_leave(self, record: AnyRecord) -> bool:
        """Tell whether a record is written, and count those that are not."""
        waits = isinstance(record, Memory | Crystal) and record.status in ("pending", "proposed")
        turned_down = isinstance(record, Memory | Crystal) and record.status == "rejected"
        stays = (waits or turned_down) and record.id not in self._came_so
        self.left_out += stays
        self._waiting += waits and stays
        return not stays

    def as_known(self, record: AnyRecord) -> AnyRecord:
        """Return a record without a place in files that no import gave it, where the format keeps such."""
        if self._format.without_place is None or not isinstance(record, Memory):
            return record
        bare = self._format.without_place(record)
        return record if bare is record or self._has_its_place(record) else bare

    def _has_its_place(self, memory: Memory) -> bool:
        """Tell whether an import gave a memory its place, and an agent's change of it may be written there."""
        if memory.id not in self._came_so:
            return False
        others = self._session.fields_of_others(memory)
        is_exported = self._format.exports_drafts or memory.stability != "draft"
        return "extra" not in others and (is_exported or not others)

    def notices(self) -> tuple[str, ...]:
        """Return a sentence about the waiting records, if there are any."""
        if not self._waiting:
            return ()
        said = "1 text that waits" if self._waiting == 1 else f"{self._waiting:,} texts that wait"
        return (f"{said} for a decision {'is' if self._waiting == 1 else 'are'} not written. Decide in Review first.",)


def _as_stated(record: AnyRecord) -> AnyRecord:
    """Return a record as a foreign format states it: a memory in full, with the trust that its source claimed."""
    return restore_full_text(as_claimed(record) if isinstance(record, Memory) else record)
