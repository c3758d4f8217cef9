"""Derive each record's table, row and JSON image from the record's own fields, and read rows by the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, Generic, TypeVar

import msgspec

from memento_tui.model import AnyRecord, Contradiction, Crystal, Memory, Proposal, Relation, Skip, WorkingItem
from memento_tui.model.memory import Source, content_digest
from memento_tui.moments import format_moment
from memento_tui.storage.connection import Connection, Row

__all__ = [
    "RECORD_NAMES",
    "TABLES",
    "RecordT",
    "Table",
    "cut_page",
    "record_image",
    "record_name",
    "select_records",
    "table_of",
]

RecordT = TypeVar("RecordT", bound=AnyRecord)

_USAGE_COUNTERS = {"shown_count": "shown", "used_count": "used", "hits": "used"}
_USAGE_MOMENTS = {"last_used_at": "last_used_at", "last_hit_at": "last_used_at"}

_to_json = msgspec.json.Encoder().encode
_OPTIONAL_MOMENT = datetime | None


def _json_text(value: object) -> str:
    return _to_json(value).decode()


def _moment_text(value: datetime | None) -> str | None:
    return None if value is None else format_moment(value)


def _moment(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)


def _identity(value: Any) -> Any:  # noqa: ANN401 - a column's value
    return value


class Table(Generic[RecordT]):
    """The mapping between one record type and its table.

    Counters of use live in the table ``usage``: they are read with the record and never written with it.
    """

    def __init__(self, name: str, record: type[RecordT]) -> None:
        self.name = name
        self.record = record
        self.image = msgspec.json.Decoder(record)
        counters = {**_USAGE_COUNTERS, **_USAGE_MOMENTS}
        hints = _hints(record)
        self.columns = [field for field in record.__struct_fields__ if field not in counters]
        self._values = attrgetter(*self.columns)
        encoders = [_encoder(hints[column]) for column in self.columns]
        self._encoders = [(place, encode) for place, encode in enumerate(encoders) if encode is not _identity]
        self._counters = [field for field in record.__struct_fields__ if field in counters]
        fields = [*self.columns, *self._counters]
        self._fields = fields
        decoders = [(field, _decoder(hints[field])) for field in fields]
        self._decoders = [(field, decode) for field, decode in decoders if decode is not _identity]
        selected = [f"{name}.{column}" for column in self.columns]
        selected += [
            f"coalesce(usage.{counters[f]}, 0)" if f in _USAGE_COUNTERS else f"usage.{counters[f]}"
            for f in self._counters
        ]
        joined = f" LEFT JOIN usage ON usage.record = '{name}' AND usage.record_id = {name}.id"
        self.select = f"SELECT {', '.join(selected)} FROM {name}" + (joined if self._counters else "")
        extra = ["digest"] if name == "memory" else []
        self.stored = stored = [*self.columns, *extra]
        """The columns of `row`, in its order."""
        updates = ", ".join(f"{column} = excluded.{column}" for column in stored if column != "id")
        self.insert = f"INSERT INTO {name} ({', '.join(stored)}) VALUES ({', '.join('?' * len(stored))})"
        self.insert_numbered = (
            f"INSERT INTO {name} (number, {', '.join(stored)}) VALUES (?, {', '.join('?' * len(stored))})"
        )
        self.upsert = f"{self.insert} ON CONFLICT (id) DO UPDATE SET {updates}"

    def row(self, record: RecordT) -> list[Any]:
        """Return the values of the table's columns."""
        values = list(self._values(record))
        for place, encode in self._encoders:
            values[place] = encode(values[place])
        if isinstance(record, Memory):
            values.append(content_digest(record.content))
        return values

    def record_of(self, row: Row) -> RecordT:
        """Return the record that a row of ``select`` holds."""
        values = dict(zip(self._fields, row, strict=False))
        for field, decode in self._decoders:
            values[field] = decode(values[field])
        return self.record(**values)

    def image_of(self, record: RecordT) -> str:
        """Return the JSON that the journal keeps: the record without its counters of use."""
        if self._counters and any(getattr(record, field) for field in self._counters):
            record = msgspec.structs.replace(
                record, **{field: (0 if field in _USAGE_COUNTERS else None) for field in self._counters}
            )
        return _json_text(record)


def _hints(record: type[msgspec.Struct]) -> dict[str, Any]:
    return {field.name: field.type for field in msgspec.structs.fields(record)}


def _encoder(hint: Any) -> Callable[[Any], Any]:  # noqa: ANN401 - a type
    if hint is datetime or hint == _OPTIONAL_MOMENT:
        return _moment_text
    if _is_container(hint):
        return _json_text
    return int if hint is bool else _identity


def _decoder(hint: Any) -> Callable[[Any], Any]:  # noqa: ANN401 - a type
    if hint is datetime or hint == _OPTIONAL_MOMENT:
        return _moment
    if _is_container(hint):
        return msgspec.json.Decoder(hint).decode
    return bool if hint is bool else _identity


def _is_container(hint: Any) -> bool:  # noqa: ANN401 - a type
    return hint is Source or getattr(hint, "__origin__", None) in (tuple, dict)


TABLES: dict[str, Table[Any]] = {
    "memory": Table("memory", Memory),
    "relation": Table("relation", Relation),
    "skip": Table("skip", Skip),
    "item": Table("item", WorkingItem),
    "crystal": Table("crystal", Crystal),
    "contradiction": Table("contradiction", Contradiction),
    "proposal": Table("proposal", Proposal),
}
RECORD_NAMES: dict[type, str] = {table.record: name for name, table in TABLES.items()}


def record_name(record: AnyRecord) -> str:
    """Return the name of a record's kind, as the journal and the command line use it."""
    return RECORD_NAMES[type(record)]


def table_of(record: type[RecordT]) -> Table[RecordT]:
    """Return the table of a record type."""
    table: Table[RecordT] = TABLES[RECORD_NAMES[record]]
    return table


def record_image(record: AnyRecord) -> str:
    """Return the JSON that the journal keeps of a record: the record without its counters of use."""
    return TABLES[record_name(record)].image_of(record)


def select_records(
    connection: Connection, record: type[RecordT], where: str, parameters: Sequence[object] = ()
) -> list[RecordT]:
    """Return the records of a type that a condition selects."""
    table = table_of(record)
    return [table.record_of(row) for row in connection.execute(f"{table.select} WHERE {where}", parameters)]


RowT = TypeVar("RowT")


def cut_page(rows: Sequence[RowT], limit: int) -> tuple[list[RowT], bool]:
    """Return the ``limit`` rows of a page, of which one more was read, and whether that one was there.

    A page of no rows is where the list ends: there is no row behind which the next page could begin.
    """
    return list(rows[:limit]), 0 < limit < len(rows)
