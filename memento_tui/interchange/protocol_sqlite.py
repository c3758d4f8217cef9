"""The database of Memento Protocol: one SQLite file for each workspace, read and never written.

A file that is given alone is the workspace ``default``; in a folder, a file's path without its ending is the name of
its workspace. Tables of accounts and keys are left where they are. Encrypted texts cannot be read without the server's
key: their rows are kept as they are, and the server itself can give them to ``protocol-rest``.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath

import msgspec

from memento_tui.interchange.foreign_sqlite import DAMAGE, MARK, ForeignDatabase, Row, opened
from memento_tui.interchange.incoming import Incoming, RecordName, Refused
from memento_tui.interchange.names import namespace_of as namespace_of_parts
from memento_tui.interchange.protocol_records import At, Place, each_once, kept_rows
from memento_tui.interchange.protocol_tables import (
    consolidation_of,
    crystal_of,
    digest_of,
    item_of,
    memory_of,
    section_of,
    skip_of,
)
from memento_tui.interchange.tree import SourceFile, walk

__all__ = ["SUFFIXES", "count", "is_workspace", "read"]

SUFFIXES = (".db", ".sqlite", ".sqlite3")

_TABLES: Mapping[str, RecordName] = {
    "memories": "memory",
    "consolidations": "memory",
    "skip_list": "skip",
    "working_memory_items": "item",
    "identity_snapshots": "crystal",
}
"""The tables whose rows have ids of their own, and the records that they become."""
_KEPT_WHOLE = ("access_log", "activity_log", "workspace_settings", "conversation_buffer")
_OF_ACCOUNTS = ("users", "api_keys", "workspaces", "audit_log")
_SECTIONS = "working_memory_sections"
_ENCRYPTED = re.compile(r"enc:[A-Za-z0-9+/]+=*:[A-Za-z0-9+/]+=*")


def is_workspace(path: Path) -> bool:
    """Tell whether a file is a SQLite database with a table of memories, as Memento Protocol's is."""
    try:
        with path.open("rb") as file:
            if file.read(len(MARK)) != MARK:
                return False
        with opened(path) as database:
            return {"memories", "skip_list"} <= database.tables
    except (OSError, *DAMAGE):
        return False


def count(root: Path) -> int:
    """Return the number of rows; what cannot be counted is told of by `read`."""
    return sum(_rows_in(file) for file in _files(root) if isinstance(file, SourceFile))


def _rows_in(file: SourceFile) -> int:
    try:
        with opened(Path(file.path)) as database:
            return sum(database.count(table) for table in database.tables & {*_TABLES, _SECTIONS, *_KEPT_WHOLE})
    except DAMAGE:
        return 0


def read(root: Path) -> Iterator[Incoming | Refused]:
    """Yield what a file, or the files of a folder, hold.

    Raises:
        InvalidInput: there is nothing at ``root``.

    """
    return each_once(_read(root))


def _read(root: Path) -> Iterator[Incoming | Refused]:
    files: list[SourceFile] = []
    for found in _files(root):
        if isinstance(found, Refused):
            yield found
        else:
            files.append(found)
    used = Counter(one for file in files for one in set(_ids(file))) if len(files) > 1 else Counter()
    shared = frozenset(one for one, times in used.items() if times > 1)
    for file in files:
        prefix, namespace = "", "global"
        if root.is_dir():
            workspace = PurePosixPath(file.name).with_suffix("")
            prefix = f"{workspace}/"
            namespace = "global" if str(workspace) == "default" else namespace_of_parts(workspace.parts)
        yield from _read_file(file, Place(namespace=namespace, prefix=prefix, shared=shared))


def _files(root: Path) -> Iterator[SourceFile | Refused]:
    if not root.is_dir():
        yield from walk(root, "")
        return
    for found in walk(root, "", hidden=True):
        name = found.name if isinstance(found, SourceFile) else found.file
        if name.lower().endswith(SUFFIXES):
            yield found


def _ids(file: SourceFile) -> Iterator[tuple[RecordName, str]]:
    """Yield the ids that a file's records have; a file that cannot be read has none, and `_read_file` says so."""
    try:
        with opened(Path(file.path)) as database:
            for table in database.tables & _TABLES.keys():
                for row in database.connection.execute(f'SELECT id FROM "{table}"'):  # noqa: S608 - one of our own words
                    yield _TABLES[table], row[0]
    except DAMAGE:
        return


def _read_file(file: SourceFile, place: Place) -> Iterator[Incoming | Refused]:
    try:
        with opened(Path(file.path)) as database:
            if not database.tables & _TABLES.keys():
                yield Refused(file.name, 0, "is a SQLite file without the tables of Memento Protocol")
                return
            yield from _Workspace(database, file.name, place).records()
    except DAMAGE as error:
        yield Refused(file.name, 0, f"cannot be read as a SQLite database: {error}")


class _Workspace:
    """One file while it is read."""

    def __init__(self, database: ForeignDatabase, file: str, place: Place) -> None:
        self._database = database
        self._connection = database.connection
        self._file = file
        made_from: dict[str, list[str]] = {}
        if "consolidated_into" in database.columns("memories"):
            query = "SELECT consolidated_into, id FROM memories WHERE consolidated_into <> '' ORDER BY rowid"
            for into, source in self._answers(query):
                made_from.setdefault(str(into), []).append(str(source))
        self._place = msgspec.structs.replace(place, made_from=made_from)

    def records(self) -> Iterator[Incoming | Refused]:
        """Yield what the tables hold, the memories first."""
        yield from self._table("memories", memory_of, "content")
        yield from self._table("consolidations", self._consolidation)
        yield from self._table("skip_list", skip_of, "item", "reason")
        yield from self._table("working_memory_items", item_of)
        yield from self._table(_SECTIONS, section_of)
        current = self._current_crystal()
        yield from self._table(
            "identity_snapshots", lambda place, row, at: crystal_of(place, row, at, is_current=at.line == current)
        )
        for table in _KEPT_WHOLE:
            yield from self._whole(table)
        for table in sorted(self._database.tables.intersection(_OF_ACCOUNTS)):
            yield Refused(f"{self._file}/{table}", 0, "is about accounts and keys, and was left where it is")

    def _table(
        self, table: str, make: Callable[[Place, Row, At], Incoming | Refused | None], *secret: str
    ) -> Iterator[Incoming | Refused]:
        """Yield the records of a table. Rows of which ``make`` makes none are kept, and so are the encrypted ones.

        ``secret`` names the columns that may be encrypted.
        """
        place, file = self._place, f"{self._file}/{table}"
        left: list[Row] = []
        locked = 0
        for found in self._database.rows(table, file):
            if isinstance(found, Refused):
                yield found
                continue
            number, row = found
            is_locked = any(isinstance(row.get(name), str) and _ENCRYPTED.fullmatch(row[name]) for name in secret)
            made = None if is_locked else make(place, row, At(file, number, digest_of(row)))
            if made is None:
                left.append(row)
                locked += is_locked
            else:
                yield made
        yield from kept_rows(place, table, left, file)
        if locked:
            rows = "an encrypted row, which was" if locked == 1 else f"{locked:,} encrypted rows, which were"
            yield Refused(file, 0, f"holds {rows} kept but not read; protocol-rest gets the text from the server")

    def _whole(self, table: str) -> Iterator[Incoming | Refused]:
        """Yield what keeps a table of which no records are made."""
        file = f"{self._file}/{table}"
        problems: list[Refused] = []

        def rows() -> Iterator[Row]:
            for found in self._database.rows(table, file):
                if isinstance(found, Refused):
                    problems.append(found)
                else:
                    yield found[1]

        yield from kept_rows(self._place, table, rows(), file)
        yield from problems

    def _consolidation(self, place: Place, row: Row, at: At) -> Incoming | Refused | None:
        """Return the memory of a row, or ``None`` where it only tells how a memory with its id came to be."""
        query = "SELECT 1 FROM memories WHERE id = ?"
        is_known = "memories" in self._database.tables and any(self._answers(query, row.get("id")))
        return None if is_known else consolidation_of(place, row, at)

    def _current_crystal(self) -> int:
        """Return the number of the newest snapshot's row."""
        if "created_at" not in self._database.columns("identity_snapshots"):
            return 0
        query = "SELECT rowid FROM identity_snapshots ORDER BY created_at DESC, rowid DESC LIMIT 1"
        found = next(self._answers(query), None)
        return found[0] if found else 0

    def _answers(self, query: str, *values: object) -> Iterator[sqlite3.Row]:
        """Yield what a query finds, as far as the file is whole; where it is not, reading the rows says so."""
        try:
            yield from self._connection.execute(query, values)
        except DAMAGE:
            return
