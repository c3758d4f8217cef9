"""Read and write Memento Protocol's databases: one SQLite file for each workspace."""

from __future__ import annotations

import base64
import itertools
import re
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from memento_tui.formats.base import (
    ExportRecord,
    ExportReport,
    Format,
    ImportRecord,
    RecordName,
    Refused,
    check_absent,
    write_atomically,
    write_error,
)
from memento_tui.formats.base import (
    namespace_from_parts as namespace_of_parts,
)
from memento_tui.formats.columns import lost_origin, write_row
from memento_tui.formats.protocol.columns import NO_EXPIRY, as_list, compact_json
from memento_tui.formats.protocol.rows import (
    CONSOLIDATION_COLUMNS,
    CRYSTAL_COLUMNS,
    ITEM_COLUMNS,
    MEMORY_COLUMNS,
    SECTION_COLUMNS,
    SKIP_COLUMNS,
    ProtocolMemoryRow,
    ProtocolRow,
    ProtocolWorkspace,
    RowContext,
    RowLocation,
    consolidation_from_row,
    crystal_from_row,
    group_by_workspace,
    item_from_row,
    keep_raw_rows,
    memory_from_row,
    row_digest,
    section_from_row,
    skip_from_row,
    tell_ids_apart,
)
from memento_tui.formats.protocol.vocabulary import SECTION_EXTRA, SECTIONS, linkages_for_memory, merge_ids
from memento_tui.formats.source_files import SourceFile, walk_files
from memento_tui.formats.sqlite_reader import (
    BLOB_KEY,
    DAMAGE_ERRORS,
    NUMBER_KEY,
    SQLITE_MAGIC,
    ForeignDatabase,
    Row,
    open_read_only,
)
from memento_tui.regular_files import read_regular

__all__ = ["DATABASE_SUFFIXES", "FORMAT", "count", "is_workspace", "read", "write"]

DATABASE_SUFFIXES = (".db", ".sqlite", ".sqlite3")

_RECORD_OF_TABLE: Mapping[str, RecordName] = {
    "memories": "memory",
    "consolidations": "memory",
    "skip_list": "skip",
    "working_memory_items": "item",
    "identity_snapshots": "crystal",
}
"""The tables whose rows have ids of their own, and the records that they become."""
_RAW_TABLES = ("access_log", "activity_log", "workspace_settings", "conversation_buffer")
_ACCOUNT_TABLES = ("users", "api_keys", "workspaces", "audit_log")
_SECTIONS_TABLE = "working_memory_sections"
_ENCRYPTED = re.compile(r"enc:[A-Za-z0-9+/]+=*:[A-Za-z0-9+/]+=*")


def is_workspace(path: Path) -> bool:
    """Return whether a file is a SQLite database with a table of memories, as Memento Protocol's is."""
    try:
        if read_regular(path, len(SQLITE_MAGIC)) != SQLITE_MAGIC:
            return False
        with open_read_only(path) as database:
            return {"memories", "skip_list"} <= database.tables
    except (OSError, *DAMAGE_ERRORS):
        return False


def count(root: Path) -> int:
    """Return the number of rows; `read` reports the files that cannot be counted."""
    return sum(_rows_in(file) for file in _files(root) if isinstance(file, SourceFile))


def _rows_in(file: SourceFile) -> int:
    try:
        with open_read_only(Path(file.path)) as database:
            return sum(
                database.count(table) for table in database.tables & {*_RECORD_OF_TABLE, _SECTIONS_TABLE, *_RAW_TABLES}
            )
    except DAMAGE_ERRORS:
        return 0


def read(root: Path) -> Iterator[ImportRecord | Refused]:
    """Yield the records of a file, or of the files of a folder.

    Raises:
        InvalidInput: there is nothing at ``root``.

    """
    return tell_ids_apart(_read(root))


def _read(root: Path) -> Iterator[ImportRecord | Refused]:
    files: list[SourceFile] = []
    for source in _files(root):
        if isinstance(source, Refused):
            yield source
        else:
            files.append(source)
    used = Counter(one for file in files for one in set(_ids(file))) if len(files) > 1 else Counter()
    ambiguous_ids = frozenset(one for one, times in used.items() if times > 1)
    for file in files:
        prefix, namespace = "", "global"
        if root.is_dir():
            workspace = PurePosixPath(file.name).with_suffix("")
            prefix = f"{workspace}/"
            namespace = "global" if str(workspace) == "default" else namespace_of_parts(workspace.parts)
        yield from _read_file(file, RowContext(namespace=namespace, prefix=prefix, ambiguous_ids=ambiguous_ids))


def _files(root: Path) -> Iterator[SourceFile | Refused]:
    if not root.is_dir():
        yield from walk_files(root, "")
        return
    for source in walk_files(root, "", hidden=True):
        name = source.name if isinstance(source, SourceFile) else source.file
        if name.lower().endswith(DATABASE_SUFFIXES):
            yield source


def _ids(file: SourceFile) -> Iterator[tuple[RecordName, str]]:
    """Yield the ids that a file's records have; a file that cannot be read has none, and `_read_file` says so."""
    try:
        with open_read_only(Path(file.path)) as database:
            for table in (one for one in _RECORD_OF_TABLE if "id" in database.columns(one)):
                for row in database.connection.execute(f'SELECT id FROM "{table}"'):  # noqa: S608 - one of our own words
                    yield _RECORD_OF_TABLE[table], row[0]
    except DAMAGE_ERRORS:
        return


def _read_file(file: SourceFile, context: RowContext) -> Iterator[ImportRecord | Refused]:
    try:
        with open_read_only(Path(file.path)) as database:
            if not database.tables & _RECORD_OF_TABLE.keys():
                yield Refused(file.name, 0, "is a SQLite file without the tables of Memento Protocol")
                return
            yield from _DatabaseReader(database, file.name, context).records()
    except DAMAGE_ERRORS as error:
        yield Refused(file.name, 0, f"cannot be read as a SQLite database: {error}")


class _DatabaseReader:
    """One file while it is read."""

    def __init__(self, database: ForeignDatabase, file: str, context: RowContext) -> None:
        self._database = database
        self._connection = database.connection
        self._file = file
        sources_by_target: dict[str, list[str]] = {}
        stored = database.columns("memories")
        self._has_ids = "id" in stored
        if self._has_ids and "consolidated_into" in stored:
            query = "SELECT consolidated_into, id FROM memories WHERE consolidated_into <> '' ORDER BY rowid"
            for into, source in self._answers(query):
                sources_by_target.setdefault(str(into), []).append(str(source))
        self._context = msgspec.structs.replace(context, sources_by_target=sources_by_target)

    def records(self) -> Iterator[ImportRecord | Refused]:
        """Yield the records of the tables, the memories first."""
        yield from self._table("memories", memory_from_row, "content")
        yield from self._table("consolidations", self._consolidation)
        yield from self._table("skip_list", skip_from_row, "item", "reason")
        yield from self._table("working_memory_items", item_from_row)
        yield from self._table(_SECTIONS_TABLE, section_from_row)
        current = self._current_crystal()
        yield from self._table(
            "identity_snapshots",
            lambda context, row, location: crystal_from_row(
                context, row, location, is_current=location.line == current
            ),
        )
        for table in _RAW_TABLES:
            yield from self._whole(table)
        for table in sorted(self._database.tables.intersection(_ACCOUNT_TABLES)):
            yield Refused(f"{self._file}/{table}", 0, "is about accounts and keys, and was left where it is")

    def _table(
        self, table: str, make: Callable[[RowContext, Row, RowLocation], ImportRecord | Refused | None], *secret: str
    ) -> Iterator[ImportRecord | Refused]:
        """Yield the records of a table. Rows of which ``make`` makes none are kept, and so are the encrypted ones.

        ``secret`` names the columns that may be encrypted.
        """
        context, file = self._context, f"{self._file}/{table}"
        left: list[Row] = []
        locked = 0
        for numbered_row in self._database.rows(table, file):
            if isinstance(numbered_row, Refused):
                yield numbered_row
                continue
            number, row = numbered_row
            is_locked = any(isinstance(row.get(name), str) and _ENCRYPTED.fullmatch(row[name]) for name in secret)
            made = None if is_locked else make(context, row, RowLocation(file, number, row_digest(row)))
            if made is None:
                left.append(row)
                locked += is_locked
            else:
                yield made
        yield from keep_raw_rows(context, table, left, file)
        if locked:
            rows = "an encrypted row, which was" if locked == 1 else f"{locked:,} encrypted rows, which were"
            yield Refused(file, 0, f"holds {rows} kept but not read; protocol-rest gets the text from the server")

    def _whole(self, table: str) -> Iterator[ImportRecord | Refused]:
        """Yield the items that keep the rows of a table of which no records are made."""
        file = f"{self._file}/{table}"
        problems: list[Refused] = []

        def rows() -> Iterator[Row]:
            for numbered_row in self._database.rows(table, file):
                if isinstance(numbered_row, Refused):
                    problems.append(numbered_row)
                else:
                    yield numbered_row[1]

        yield from keep_raw_rows(self._context, table, rows(), file)
        yield from problems

    def _consolidation(self, context: RowContext, row: Row, location: RowLocation) -> ImportRecord | Refused | None:
        """Return the memory of a row, or ``None`` where it only documents how a memory with its id was made."""
        query = "SELECT 1 FROM memories WHERE id = ?"
        is_known = self._has_ids and any(self._answers(query, row.get("id")))
        return None if is_known else consolidation_from_row(context, row, location)

    def _current_crystal(self) -> int:
        """Return the number of the newest snapshot's row."""
        if "created_at" not in self._database.columns("identity_snapshots"):
            return 0
        query = "SELECT rowid FROM identity_snapshots ORDER BY created_at DESC, rowid DESC LIMIT 1"
        row = next(self._answers(query), None)
        return row[0] if row else 0

    def _answers(self, query: str, *values: object) -> Iterator[sqlite3.Row]:
        """Yield the rows of a query, as far as the file is whole; where it is not, reading the tables reports it."""
        try:
            yield from self._connection.execute(query, values)
        except DAMAGE_ERRORS:
            return


_MOMENT_TYPE = "TEXT DEFAULT (datetime('now'))"
_LIST_TYPE = "TEXT DEFAULT '[]'"
_ROWID_TYPE = "INTEGER PRIMARY KEY AUTOINCREMENT"

_SCHEMA: Mapping[str, Mapping[str, str]] = {
    "memories": {
        "id": "TEXT PRIMARY KEY",
        "content": "TEXT NOT NULL",
        "type": "TEXT DEFAULT 'observation'",
        "tags": _LIST_TYPE,
        "created_at": _MOMENT_TYPE,
        "expires_at": "TEXT",
        "relevance": "REAL DEFAULT 1.0",
        "access_count": "INTEGER DEFAULT 0",
        "last_accessed_at": "TEXT",
        "consolidated": "INTEGER DEFAULT 0",
        "consolidated_into": "TEXT",
        "linkages": _LIST_TYPE,
        "embedded_at": "TEXT",
        "images": _LIST_TYPE,
    },
    "skip_list": {
        "id": "TEXT PRIMARY KEY",
        "item": "TEXT NOT NULL",
        "reason": "TEXT NOT NULL",
        "expires_at": "TEXT NOT NULL",
        "added_at": _MOMENT_TYPE,
    },
    "working_memory_items": {
        "id": "TEXT PRIMARY KEY",
        "category": "TEXT NOT NULL",
        "title": "TEXT NOT NULL",
        "content": "TEXT NOT NULL DEFAULT ''",
        "status": "TEXT NOT NULL DEFAULT 'active'",
        "priority": "INTEGER DEFAULT 0",
        "tags": _LIST_TYPE,
        "next_action": "TEXT",
        "last_touched": _MOMENT_TYPE,
        "created_at": _MOMENT_TYPE,
        "updated_at": _MOMENT_TYPE,
    },
    "working_memory_sections": {
        "section_key": "TEXT PRIMARY KEY",
        "heading": "TEXT NOT NULL",
        "content": "TEXT DEFAULT ''",
        "updated_at": _MOMENT_TYPE,
    },
    "identity_snapshots": {
        "id": "TEXT PRIMARY KEY",
        "crystal": "TEXT NOT NULL",
        "source_count": "INTEGER DEFAULT 0",
        "created_at": _MOMENT_TYPE,
    },
    "consolidations": {
        "id": "TEXT PRIMARY KEY",
        "summary": "TEXT NOT NULL",
        "source_ids": _LIST_TYPE,
        "tags": _LIST_TYPE,
        "type": "TEXT DEFAULT 'auto'",
        "created_at": _MOMENT_TYPE,
        "method": "TEXT DEFAULT 'template'",
        "template_summary": "TEXT",
    },
    "access_log": {"id": _ROWID_TYPE, "memory_id": "TEXT NOT NULL", "accessed_at": _MOMENT_TYPE, "query": "TEXT"},
    "activity_log": {
        "id": _ROWID_TYPE,
        "action": "TEXT NOT NULL",
        "memory_id": "TEXT",
        "detail": "TEXT",
        "created_at": _MOMENT_TYPE,
    },
    "conversation_buffer": {
        "id": _ROWID_TYPE,
        "role": "TEXT NOT NULL",
        "content": "TEXT NOT NULL",
        "char_count": "INTEGER NOT NULL",
        "created_at": _MOMENT_TYPE,
    },
    "workspace_settings": {"key": "TEXT PRIMARY KEY", "value": "TEXT NOT NULL", "updated_at": _MOMENT_TYPE},
}
"""The tables as that server makes them."""

_COPY_BYTES = 1 << 20

_Row = tuple[str, dict[str, Any]]
"""A table and a row of it."""


def write(records: Iterable[ExportRecord], root: Path) -> ExportReport:
    """Write ``root/<workspace>.db`` for every workspace that there is.

    The format has no place for trust, titles and memories that nobody has approved. What is superseded or archived here
    is not recalled there either.

    Raises:
        InvalidInput: one of the files is there already, or cannot be written.

    """
    workspaces = group_by_workspace(records)
    files = {root / f"{name}.db": workspace for name, workspace in workspaces.by_name.items()}
    for path in files:
        check_absent(path, "Choose an empty folder.")
    refused: list[Refused] = []
    written = 0
    for path, workspace in files.items():
        try:
            with tempfile.TemporaryDirectory() as folder:
                database = Path(folder) / "workspace.db"
                written += _fill_database(database, workspace, path.name, refused)
                with database.open("rb") as file:
                    write_atomically(path, iter(partial(file.read, _COPY_BYTES), b""))
        except OSError as error:
            raise write_error(path, error) from error
    return ExportReport(
        records=written + workspaces.relations,
        files=len(files),
        left_out=workspaces.left_out,
        refused=tuple(refused),
    )


def _fill_database(path: Path, workspace: ProtocolWorkspace, name: str, refused: list[Refused]) -> int:
    """Make the database; return how many records it holds."""
    written = 0
    with closing(sqlite3.connect(path)) as connection, connection:
        columns = {table: dict(declared) for table, declared in _SCHEMA.items()}
        for table, declared in columns.items():
            _create_table(connection, table, declared)
        for table, row in itertools.chain(_rows(workspace), _raw_rows(workspace)):
            try:
                _insert(connection, table, row, columns[table])
            except (sqlite3.Error, OverflowError, ValueError, TypeError) as error:
                refused.append(Refused(f"{name}/{table}", 0, f"does not take {str(row.get('id'))!r:.60}: {error}"))
            else:
                written += 1
    return written


def _create_table(connection: sqlite3.Connection, table: str, declared: Mapping[str, str]) -> None:
    columns = ", ".join(f"{name} {kind}" for name, kind in declared.items())
    connection.execute(f"CREATE TABLE {table} ({columns})")


def _rows(workspace: ProtocolWorkspace) -> Iterator[_Row]:
    for memory in workspace.memories.values():
        yield _memory_row(memory, workspace)
    for skip in workspace.skips:
        yield "skip_list", write_row(SKIP_COLUMNS, skip.fields, skip.kept)
    sections: set[str] = set()
    for item in workspace.items:
        if "rows" not in item.kept and (row := _item_row(item, sections)) is not None:
            yield row
    for crystal in workspace.crystals:
        yield "identity_snapshots", write_row(CRYSTAL_COLUMNS, crystal.fields, crystal.kept)


def _memory_row(memory: ProtocolMemoryRow, workspace: ProtocolWorkspace) -> _Row:
    fields, kept, present = memory.fields, memory.kept, workspace.others_of(memory.fields["id"])
    if kept.get("table") == "consolidations":
        sources = merge_ids(as_list(kept.get("source_ids")), memory.source_ids, present)
        return "consolidations", {
            **write_row(CONSOLIDATION_COLUMNS, fields, kept),
            "source_ids": _list_as_written(kept, "source_ids", sources),
        }
    naming = workspace.members_naming(fields["id"])
    linkages = linkages_for_memory(as_list(kept.get("linkages")), memory.edges, present, naming)
    row = write_row(MEMORY_COLUMNS, fields, kept)
    return "memories", {
        **row,
        "consolidated_into": workspace.consolidated_into(memory),
        "linkages": _list_as_written(kept, "linkages", linkages),
    }


def _list_as_written(kept: Mapping[str, Any], name: str, values: list[Any]) -> Any:  # noqa: ANN401 - whatever a row held
    """Return a list as the source wrote it, if it still has the same values, else as JSON."""
    return kept[name] if name in kept and as_list(kept[name]) == values else compact_json(values)


def _item_row(item: ProtocolRow, sections: set[str]) -> _Row | None:
    """Return the row of a working item; ``None`` if there is none. A second section of a name stays an item."""
    fields, kept = item.fields, item.kept
    if kept.get("table") == "skip_list":
        # A standing decision that the person has ended is in force no more.
        ended = fields["status"] != "active" or fields["category"] != "skip_list"
        skip = {**fields, "item": fields["title"], "reason": fields["content"], "expires_at": None}
        row = write_row(SKIP_COLUMNS, skip, kept)
        row["expires_at"] = NO_EXPIRY if row["expires_at"] is None else row["expires_at"]
        return None if ended else ("skip_list", row)
    key = fields["extra"].get(SECTION_EXTRA)
    if isinstance(key, str) and key and key not in sections:
        sections.add(key)
        section = {**fields, "key": key, "title": _section_heading(key, fields["title"])}
        own = kept if kept.get("table") == "working_memory_sections" else {}
        return "working_memory_sections", write_row(SECTION_COLUMNS, section, own)
    row = write_row(ITEM_COLUMNS, fields, kept)
    given = kept.get("row")
    if not isinstance(given, dict) or "last_touched" not in given:
        row["last_touched"] = row["updated_at"]
    return "working_memory_items", row


def _section_heading(key: str, title: str) -> str:
    return SECTIONS.get(key, title) if title == key else title


def _raw_rows(workspace: ProtocolWorkspace) -> Iterator[_Row]:
    """Yield the rows that an import could make nothing of, but for those that a record has come for since."""
    for item in workspace.items:
        table, rows = item.kept.get("table"), item.kept.get("rows")
        if isinstance(table, str) and table in _SCHEMA and isinstance(rows, list):
            for row in rows:
                if isinstance(row, dict) and not (table == "memories" and row.get("id") in workspace.memories):
                    yield table, row


def _insert(connection: sqlite3.Connection, table: str, row: Mapping[str, Any], known: dict[str, str]) -> None:
    """Insert a row, and first the columns that the table does not have."""
    for name in (one for one in row if one not in known):
        connection.execute(f"ALTER TABLE {table} ADD COLUMN {_quoted(name)}")
        known[name] = ""
    names = ", ".join(_quoted(name) for name in row)
    places = ", ".join("?" * len(row))
    statement = f"INSERT INTO {table} ({names}) VALUES ({places})"  # noqa: S608 - the names are quoted
    connection.execute(statement, [_sql_value(value) for value in row.values()])


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _sql_value(value: Any) -> Any:  # noqa: ANN401 - whatever a row held
    if isinstance(value, dict) and value.keys() == {BLOB_KEY}:
        return base64.b64decode(value[BLOB_KEY])
    if isinstance(value, dict) and value.keys() == {NUMBER_KEY}:
        return float(value[NUMBER_KEY])
    return compact_json(value) if isinstance(value, dict | list) else value


def _is_folder_of_workspaces(path: Path) -> bool:
    files = path.iterdir() if path.is_dir() else [path]
    return any(file.suffix.lower() in DATABASE_SUFFIXES and is_workspace(file) for file in files)


FORMAT = Format(
    name="protocol-sqlite",
    title="Database of Memento Protocol",
    description="the SQLite files of Memento Protocol's server, one for each workspace",
    read=read,
    count=count,
    write=write,
    loses=lost_origin,
    is_place=_is_folder_of_workspaces,
)
