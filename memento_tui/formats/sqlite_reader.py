"""Read a SQLite file that another program wrote: read-only, row by row, whatever state it is in."""

from __future__ import annotations

import base64
import math
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memento_tui.formats.base import Refused

__all__ = ["BLOB_KEY", "DAMAGE_ERRORS", "NUMBER_KEY", "SQLITE_MAGIC", "ForeignDatabase", "Row", "open_read_only"]

SQLITE_MAGIC = b"SQLite format 3\x00"
"""The first bytes of every such file."""

BLOB_KEY, NUMBER_KEY = "$blob", "$number"
"""The keys under which a row holds values that JSON cannot: bytes in base64, and an infinite number."""

DAMAGE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""The errors that a query of a damaged file may raise; its names may no longer be text."""

_WAL_FLAG_OFFSET = 18
"""The byte of a header that is 2 in a database with a write-ahead log."""

_PAGE_ROWS = 500
"""Rows read at a time."""

_MAX_VALUE_BYTES = 16 * 1024 * 1024
"""Bytes of one value; a row with a longer one cannot be read."""

Row = dict[str, Any]


@contextmanager
def open_read_only(path: Path) -> Iterator[ForeignDatabase]:
    """Open a SQLite file read-only. This and each query of it raise one of `DAMAGE` where the file is damaged."""
    if path.exists() and not path.is_file():  # a pipe would wait for its writer, for ever
        raise sqlite3.DatabaseError("it is no regular file")
    # SQLite would put two files beside a database with a write-ahead log and leave them there; where nobody has it open
    # there is no log, and the file alone is all there is.
    immutable = int(_uses_wal(path) and not path.with_name(f"{path.name}-wal").exists())
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable={immutable}", uri=True)
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
        connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
        connection.row_factory = sqlite3.Row
        # Its schema may name functions; none of them is to run.
        connection.execute("PRAGMA trusted_schema = OFF")
        yield ForeignDatabase(connection)
    finally:
        connection.close()


def _uses_wal(path: Path) -> bool:
    """Return whether a database has a write-ahead log, according to its header."""
    try:
        with path.open("rb") as file:
            return file.read(_WAL_FLAG_OFFSET + 1)[_WAL_FLAG_OFFSET:] == b"\x02"
    except OSError:
        return False  # opening it as a database says why


class ForeignDatabase:
    """One file while it is read. Every name of a table is one of the caller's own words, never the file's."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        # As SQLite itself writes it: whoever writes "CREATE/**/VIRTUAL TABLE" there hides what it is.
        query = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE %'"
        self.tables: frozenset[str] = frozenset(
            row[0] for row in connection.execute(query) if self._is_numbered(row[0])
        )
        """Real tables whose rows have numbers; a view may hide any amount of work."""

    def _is_numbered(self, table: str) -> bool:
        """Tell whether ``rowid`` is the number of a table's rows: no column, which may be computed, has that name."""
        query = "SELECT 1 FROM pragma_table_xinfo(?) WHERE lower(name) = 'rowid'"
        return self.connection.execute(query, (table,)).fetchone() is None

    def columns(self, table: str) -> list[str]:
        """Return the names of the columns that a real table stores; a computed one may hide any amount of work."""
        if table not in self.tables:
            return []
        found = (row[0] for row in self.connection.execute("SELECT name FROM pragma_table_info(?)", (table,)))
        return [name for name in found if _is_utf8(name)]  # in a damaged file a name may be no text

    def count(self, table: str) -> int:
        """Return how many rows a table has."""
        return int(self.connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0])  # noqa: S608 - as the class says

    def rows(self, table: str, name: str) -> Iterator[tuple[int, Row] | Refused]:
        """Yield the rows of a table with their numbers. One that cannot be read is refused as a line of ``name``."""
        if table not in self.tables:
            return
        quoted = [column.replace('"', '""') for column in self.columns(table)]
        stored = "".join(f', "{column}"' for column in quoted)
        query = f'SELECT rowid AS "rowid"{stored} FROM "{table}" WHERE rowid > ? ORDER BY rowid LIMIT ?'  # noqa: S608 - quoted
        after, page = -(2**63), _PAGE_ROWS
        while True:
            before = after
            try:
                # One at a time: in a file that was made for it, each can be a hundred megabytes.
                for row in self.connection.execute(query, (after, page)):
                    after = row[0]
                    yield _json_row(row) or Refused(name, after, "holds text that is not UTF-8")
            except DAMAGE_ERRORS as error:
                if page > 1:
                    page = 1
                    continue
                following = self._after(table, after)
                if following is None:
                    yield Refused(name, 0, f"cannot be read to its end: {error}")
                    return
                yield Refused(name, following, f"cannot be read: {error}")
                after, page = following, _PAGE_ROWS
                continue
            if after <= before:  # nothing follows, or what follows is not in its order
                return

    def _after(self, table: str, number: int) -> int | None:
        """Return the number of the next row without reading the row itself, or ``None``."""
        query = f'SELECT min(rowid) FROM "{table}" WHERE rowid > ?'  # noqa: S608 - as the class says
        try:
            number_found: int | None = self.connection.execute(query, (number,)).fetchone()[0]
        except DAMAGE_ERRORS:
            return None
        return number_found


def _json_row(row: sqlite3.Row) -> tuple[int, Row] | None:
    """Return a row's number and its values as JSON can hold them; ``None`` if one is text that is not UTF-8."""
    values: Row = {}
    for name, value in zip(row.keys()[1:], tuple(row)[1:], strict=True):
        if isinstance(value, bytes):
            values[name] = {BLOB_KEY: base64.b64encode(value).decode()}
        elif isinstance(value, float) and not math.isfinite(value):
            values[name] = {NUMBER_KEY: str(value)}
        elif isinstance(value, str) and not _is_utf8(value):
            return None
        else:
            values[name] = value
    return row[0], values


def _is_utf8(value: str) -> bool:
    try:
        return value.isascii() or bool(value.encode())
    except UnicodeEncodeError:
        return False
