"""Compare the current rows with the last images of the journal, and put them back as the journal has them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Literal

import msgspec

from memento_tui.storage.connection import Connection
from memento_tui.storage.interruption import raise_if_stopped
from memento_tui.storage.tables import TABLES

__all__ = ["RowFault", "put_rows_back", "row_faults", "tags_differ"]

_ROWS_PER_PROGRESS = 500
"""Rows that are compared between two words of progress."""

_NEWEST = "(SELECT max(version) FROM change WHERE record = '{0}' AND record_id = {0}.id)"

_EXPECTED_TAGS = (
    "SELECT DISTINCT fold(tag.value) AS tag, memory.number AS number FROM memory, json_each(memory.tags) AS tag"
)


class RowFault(msgspec.Struct, frozen=True):
    """A record whose current row is not what the journal says."""

    record: str
    record_id: str
    kind: Literal["changed", "missing", "unknown"]
    """``unknown``: there is a row, and the journal says that the record was removed or knows nothing of it."""
    columns: tuple[str, ...] = ()
    """The columns that were changed."""

    @property
    def sentence(self) -> str:
        """The fault, in words."""
        said = {"missing": "is missing", "unknown": "is not in the journal"}
        changed = f"was changed outside of the journal ({', '.join(self.columns)})"
        return f"{self.record} {self.record_id} {said.get(self.kind, changed)}"


def row_faults(
    connection: Connection,
    *,
    since: int = 0,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    stop: threading.Event | None = None,
) -> Iterator[RowFault]:
    """Yield the records whose rows are not as the journal says; with ``since`` of those changed after that entry.

    ``progress`` is told the rows that were compared and how many there are. Raises `StoppedError`.
    """
    total = sum(int(connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]) for name in TABLES)
    done = 0
    for name, table in TABLES.items():
        columns = ", ".join(f"{name}.{column}" for column in table.stored)
        query = (
            f"SELECT change.image, change.removed, {columns} FROM {name} LEFT JOIN change ON change.record = '{name}'"
            f" AND change.record_id = {name}.id AND change.version = {_NEWEST.format(name)}"
        )
        if since:
            query += f" WHERE {name}.id IN (SELECT record_id FROM change WHERE seq > {since:d} AND record = '{name}')"
        identity = table.stored.index("id")
        for image, removed, *found in connection.execute(query):
            done += 1
            if done % _ROWS_PER_PROGRESS == 0:
                raise_if_stopped(stop)
                progress(done, total)
            if image is None or removed:
                yield RowFault(name, found[identity], "unknown")
                continue
            expected = table.row(table.image.decode(image))
            if found != expected:
                pairs = zip(table.stored, found, expected, strict=True)
                yield RowFault(name, found[identity], "changed", tuple(c for c, is_, was in pairs if is_ != was))
        for (record_id,) in connection.execute(_select_missing(name, since)):
            yield RowFault(name, record_id, "missing")
    progress(total, total)


def _select_missing(name: str, since: int) -> str:
    return (
        f"SELECT record_id FROM change WHERE record = '{name}' AND seq > {since:d} AND NOT removed"
        " AND image IS NOT NULL"
        " AND NOT EXISTS (SELECT 1 FROM change AS later WHERE later.record = change.record"
        " AND later.record_id = change.record_id AND later.version > change.version)"
        f" AND NOT EXISTS (SELECT 1 FROM {name} WHERE {name}.id = change.record_id)"
    )


def tags_differ(connection: Connection) -> bool:
    """Tell whether the table of tags is not what the memories' own tags make."""
    query = f"SELECT EXISTS ({_EXPECTED_TAGS} EXCEPT SELECT tag, number FROM memory_tag)"
    query += f" OR (SELECT count(*) FROM memory_tag) <> (SELECT count(*) FROM ({_EXPECTED_TAGS}))"
    return bool(connection.execute(query).fetchone()[0])


def put_rows_back(connection: Connection) -> list[RowFault]:
    """Make the rows what the journal says, and the table of tags anew; return what was put back.

    For a running transaction, and a journal that was verified in it: what the journal holds was judged when it was
    written. A row that the journal knows nothing of stays as it is.
    """
    mended = [fault for fault in row_faults(connection) if fault.kind != "unknown"]
    for fault in mended:
        table = TABLES[fault.record]
        image = connection.execute(
            "SELECT image FROM change WHERE record = ? AND record_id = ? ORDER BY version DESC LIMIT 1",
            (fault.record, fault.record_id),
        ).fetchone()[0]
        connection.execute(table.upsert, table.row(table.image.decode(image)))
    if tags_differ(connection):
        connection.execute("DELETE FROM memory_tag")
        connection.execute(f"INSERT INTO memory_tag (tag, number) {_EXPECTED_TAGS}")
    return mended
