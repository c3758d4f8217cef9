"""Records as databases of Memento Protocol: ``<workspace>.db`` with the hosted tables, as its own server opens it."""

from __future__ import annotations

import base64
import itertools
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from memento_tui.errors import InvalidInput
from memento_tui.interchange.foreign_sqlite import BLOB, NUMBER
from memento_tui.interchange.incoming import Refused
from memento_tui.interchange.outgoing import Outgoing, Written, cannot_write, put_in_place
from memento_tui.interchange.protocol_columns import ENDLESS, compact, listed, row_of
from memento_tui.interchange.protocol_linkages import linkages_of, merged
from memento_tui.interchange.protocol_model import SECTION, SECTIONS
from memento_tui.interchange.protocol_outgoing import Departing, DepartingMemory, Workspace, parted
from memento_tui.interchange.protocol_tables import CONSOLIDATION, CRYSTAL, ITEM, MEMORY, SECTION_ROW, SKIP

__all__ = ["write"]

_NOW = "TEXT DEFAULT (datetime('now'))"
_LIST = "TEXT DEFAULT '[]'"
_NUMBERED = "INTEGER PRIMARY KEY AUTOINCREMENT"

_SCHEMA: Mapping[str, Mapping[str, str]] = {
    "memories": {
        "id": "TEXT PRIMARY KEY",
        "content": "TEXT NOT NULL",
        "type": "TEXT DEFAULT 'observation'",
        "tags": _LIST,
        "created_at": _NOW,
        "expires_at": "TEXT",
        "relevance": "REAL DEFAULT 1.0",
        "access_count": "INTEGER DEFAULT 0",
        "last_accessed_at": "TEXT",
        "consolidated": "INTEGER DEFAULT 0",
        "consolidated_into": "TEXT",
        "linkages": _LIST,
        "embedded_at": "TEXT",
        "images": _LIST,
    },
    "skip_list": {
        "id": "TEXT PRIMARY KEY",
        "item": "TEXT NOT NULL",
        "reason": "TEXT NOT NULL",
        "expires_at": "TEXT NOT NULL",
        "added_at": _NOW,
    },
    "working_memory_items": {
        "id": "TEXT PRIMARY KEY",
        "category": "TEXT NOT NULL",
        "title": "TEXT NOT NULL",
        "content": "TEXT NOT NULL DEFAULT ''",
        "status": "TEXT NOT NULL DEFAULT 'active'",
        "priority": "INTEGER DEFAULT 0",
        "tags": _LIST,
        "next_action": "TEXT",
        "last_touched": _NOW,
        "created_at": _NOW,
        "updated_at": _NOW,
    },
    "working_memory_sections": {
        "section_key": "TEXT PRIMARY KEY",
        "heading": "TEXT NOT NULL",
        "content": "TEXT DEFAULT ''",
        "updated_at": _NOW,
    },
    "identity_snapshots": {
        "id": "TEXT PRIMARY KEY",
        "crystal": "TEXT NOT NULL",
        "source_count": "INTEGER DEFAULT 0",
        "created_at": _NOW,
    },
    "consolidations": {
        "id": "TEXT PRIMARY KEY",
        "summary": "TEXT NOT NULL",
        "source_ids": _LIST,
        "tags": _LIST,
        "type": "TEXT DEFAULT 'auto'",
        "created_at": _NOW,
        "method": "TEXT DEFAULT 'template'",
        "template_summary": "TEXT",
    },
    "access_log": {"id": _NUMBERED, "memory_id": "TEXT NOT NULL", "accessed_at": _NOW, "query": "TEXT"},
    "activity_log": {
        "id": _NUMBERED,
        "action": "TEXT NOT NULL",
        "memory_id": "TEXT",
        "detail": "TEXT",
        "created_at": _NOW,
    },
    "conversation_buffer": {
        "id": _NUMBERED,
        "role": "TEXT NOT NULL",
        "content": "TEXT NOT NULL",
        "char_count": "INTEGER NOT NULL",
        "created_at": _NOW,
    },
    "workspace_settings": {"key": "TEXT PRIMARY KEY", "value": "TEXT NOT NULL", "updated_at": _NOW},
}
"""The tables as that server makes them."""

_CHUNK = 1 << 20

_Row = tuple[str, dict[str, Any]]
"""A table and a row of it."""


def write(records: Iterable[Outgoing], root: Path) -> Written:
    """Write ``root/<workspace>.db`` for every workspace that there is.

    The format has no place for trust, titles and memories that nobody has approved. What is superseded or archived here
    is not recalled there either.

    Raises:
        InvalidInput: one of the files is there already, or cannot be written.

    """
    workspaces = parted(records)
    files = {root / f"{name}.db": workspace for name, workspace in workspaces.by_name.items()}
    for path in files:
        if path.exists():
            raise InvalidInput(f"{path} is there already.", "Choose an empty folder.")
    refused: list[Refused] = []
    written = 0
    for path, workspace in files.items():
        try:
            with tempfile.TemporaryDirectory() as folder:
                database = Path(folder) / "workspace.db"
                written += _fill(database, workspace, path.name, refused)
                with database.open("rb") as file:
                    put_in_place(path, iter(partial(file.read, _CHUNK), b""))
        except OSError as error:
            raise cannot_write(path, error) from error
    return Written(
        records=written + workspaces.relations,
        files=len(files),
        left_out=workspaces.left_out,
        refused=tuple(refused),
    )


def _fill(path: Path, workspace: Workspace, name: str, refused: list[Refused]) -> int:
    """Make the database; return how many records it holds."""
    written = 0
    with closing(sqlite3.connect(path)) as connection, connection:
        columns = {table: dict(declared) for table, declared in _SCHEMA.items()}
        for table, declared in columns.items():
            _define(connection, table, declared)
        for table, row in itertools.chain(_rows(workspace), _kept_rows(workspace)):
            try:
                _insert(connection, table, row, columns[table])
            except (sqlite3.Error, OverflowError, ValueError, TypeError) as error:
                refused.append(Refused(f"{name}/{table}", 0, f"does not take {str(row.get('id'))!r:.60}: {error}"))
            else:
                written += 1
    return written


def _define(connection: sqlite3.Connection, table: str, declared: Mapping[str, str]) -> None:
    columns = ", ".join(f"{name} {kind}" for name, kind in declared.items())
    connection.execute(f"CREATE TABLE {table} ({columns})")


def _rows(workspace: Workspace) -> Iterator[_Row]:
    for memory in workspace.memories.values():
        yield _memory_row(memory, workspace)
    for skip in workspace.skips:
        yield "skip_list", row_of(SKIP, skip.fields, skip.kept)
    sections: set[str] = set()
    for item in workspace.items:
        if "rows" not in item.kept and (row := _item_row(item, sections)) is not None:
            yield row
    for crystal in workspace.crystals:
        yield "identity_snapshots", row_of(CRYSTAL, crystal.fields, crystal.kept)


def _memory_row(memory: DepartingMemory, workspace: Workspace) -> _Row:
    fields, kept, present = memory.fields, memory.kept, workspace.others(memory.fields["id"])
    if kept.get("table") == "consolidations":
        sources = merged(listed(kept.get("source_ids")), memory.made_from, present)
        return "consolidations", {
            **row_of(CONSOLIDATION, fields, kept),
            "source_ids": _as_written(kept, "source_ids", sources),
        }
    told = workspace.told_to(fields["id"])
    linkages = linkages_of(listed(kept.get("linkages")), memory.arrows, present, told)
    row = row_of(MEMORY, fields, kept)
    return "memories", {
        **row,
        "consolidated_into": workspace.into(memory),
        "linkages": _as_written(kept, "linkages", linkages),
    }


def _as_written(kept: Mapping[str, Any], name: str, values: list[Any]) -> Any:  # noqa: ANN401 - whatever a row held
    """Return a list as the source wrote it, if it still says the same, else as JSON."""
    return kept[name] if name in kept and listed(kept[name]) == values else compact(values)


def _item_row(item: Departing, sections: set[str]) -> _Row | None:
    """Return the row of a working item; ``None`` if there is none. A second section of a name stays an item."""
    fields, kept = item.fields, item.kept
    if kept.get("table") == "skip_list":
        # A standing decision that the person has ended is in force no more.
        ended = fields["status"] != "active" or fields["category"] != "skip_list"
        skip = {**fields, "item": fields["title"], "reason": fields["content"], "expires_at": None}
        row = row_of(SKIP, skip, kept)
        row["expires_at"] = ENDLESS if row["expires_at"] is None else row["expires_at"]
        return None if ended else ("skip_list", row)
    key = fields["extra"].get(SECTION)
    if isinstance(key, str) and key and key not in sections:
        sections.add(key)
        section = {**fields, "key": key, "title": _heading(key, fields["title"])}
        own = kept if kept.get("table") == "working_memory_sections" else {}
        return "working_memory_sections", row_of(SECTION_ROW, section, own)
    row = row_of(ITEM, fields, kept)
    given = kept.get("row")
    if not isinstance(given, dict) or "last_touched" not in given:
        row["last_touched"] = row["updated_at"]
    return "working_memory_items", row


def _heading(key: str, title: str) -> str:
    return SECTIONS.get(key, title) if title == key else title


def _kept_rows(workspace: Workspace) -> Iterator[_Row]:
    """Yield the rows that an import could make nothing of, but for those that a record has come for since."""
    for item in workspace.items:
        table, rows = item.kept.get("table"), item.kept.get("rows")
        if isinstance(table, str) and table in _SCHEMA and isinstance(rows, list):
            for row in rows:
                if isinstance(row, dict) and not (table == "memories" and row.get("id") in workspace.memories):
                    yield table, row


def _insert(connection: sqlite3.Connection, table: str, row: Mapping[str, Any], known: dict[str, str]) -> None:
    """Insert a row, and first the columns that the table does not have."""
    for name in row.keys() - known.keys():
        connection.execute(f"ALTER TABLE {table} ADD COLUMN {_quoted(name)}")
        known[name] = ""
    names = ", ".join(_quoted(name) for name in row)
    places = ", ".join("?" * len(row))
    statement = f"INSERT INTO {table} ({names}) VALUES ({places})"  # noqa: S608 - the names are quoted
    connection.execute(statement, [_value(value) for value in row.values()])


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _value(value: Any) -> Any:  # noqa: ANN401 - whatever a row held
    if isinstance(value, dict) and value.keys() == {BLOB}:
        return base64.b64decode(value[BLOB])
    if isinstance(value, dict) and value.keys() == {NUMBER}:
        return float(value[NUMBER])
    return compact(value) if isinstance(value, dict | list) else value
