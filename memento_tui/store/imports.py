"""The import ledger: which record came from where, so that an import run twice changes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from memento_tui.store.database import Database
from memento_tui.store.tables import TABLES
from memento_tui.store.transaction import Transaction

__all__ = ["ImportLedger", "LedgerRow"]


class LedgerRow(msgspec.Struct, frozen=True):
    """Where an imported record came from, and what its source and the record were then."""

    source: str
    key: str
    record: str
    record_id: str
    digest: bytes
    version: int
    said: str | None = None
    """The record as the source had it, as JSON, where that is not what the record said at ``version``."""


class ImportLedger:
    """The ledger of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, source: str) -> dict[str, LedgerRow]:
        """Return what was imported from a source, by key."""
        query = "SELECT source, key, record, record_id, digest, version, said FROM import_ledger WHERE source = ?"
        with self._database.reading() as connection:
            return {row[1]: LedgerRow(*row) for row in connection.execute(query, (source,))}

    def of_others(self, source: str) -> dict[tuple[str, str], LedgerRow]:
        """Return what other sources brought, by the kind and id of the record."""
        query = "SELECT source, key, record, record_id, digest, version, said FROM import_ledger WHERE source <> ?"
        with self._database.reading() as connection:
            return {(row[2], row[3]): LedgerRow(*row) for row in connection.execute(query, (source,))}

    def said(self, row: LedgerRow) -> Any:  # noqa: ANN401 - the record that the name says
        """Return a record as its source had it when it was last read, or ``None`` where that was purged."""
        if row.said is not None:
            return TABLES[row.record].image.decode(row.said)
        query = "SELECT image FROM change WHERE record = ? AND record_id = ? AND version = ?"
        with self._database.reading() as connection:
            found = connection.execute(query, (row.record, row.record_id, row.version)).fetchone()
        return None if found is None or found[0] is None else TABLES[row.record].image.decode(found[0])

    def write(self, tx: Transaction, rows: Iterable[LedgerRow]) -> None:
        """Note in a running transaction where its records came from."""
        tx.connection.executemany(
            "INSERT OR REPLACE INTO import_ledger (source, key, record, record_id, digest, version, said)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(r.source, r.key, r.record, r.record_id, r.digest, r.version, r.said) for r in rows],
        )

    def drop(self, tx: Transaction, source: str, keys: Iterable[str]) -> None:
        """Forget in a running transaction that records came from a source; the records stay."""
        tx.connection.executemany(
            "DELETE FROM import_ledger WHERE source = ? AND key = ?", [(source, key) for key in keys]
        )
