"""Define bidirectional columns: each declares once how a foreign value becomes fields of a record, and back.

A foreign record is written back as it was read, to the byte, except for what changed here since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from memento_tui.errors import InvalidInput
from memento_tui.formats.base import ENDED_STATUSES, one_line, usable_tags
from memento_tui.formats.note import property_moment
from memento_tui.maintenance.aging import ORIGINAL_TEXT_KEY, restore_compacted
from memento_tui.model import AnyRecord, Memory, WorkingItem
from memento_tui.model.memory import Source
from memento_tui.model.validation import check_id

__all__ = [
    "Column",
    "ColumnGroup",
    "Fields",
    "encode_go_json",
    "foreign_moment_column",
    "foreign_tags_column",
    "format_foreign_moment",
    "id_column",
    "is_exported",
    "kept_fields",
    "line_column",
    "lost_by_columns",
    "lost_origin",
    "new_row_column",
    "parse_foreign_moment",
    "read_fields",
    "read_only",
    "read_row",
    "record_fields",
    "restore_full_text",
    "restore_row",
    "text_column",
    "unmapped_column",
    "without_keys",
    "write_row",
]


_ESCAPED = (
    (b"<", b"\\u003c"),
    (b">", b"\\u003e"),
    (b"&", b"\\u0026"),
    ("\u2028".encode(), b"\\u2028"),
    ("\u2029".encode(), b"\\u2029"),
)
"""None of them stands outside of a string, so they are replaced in the whole."""


def encode_go_json(value: Any) -> bytes:  # noqa: ANN401 - whatever JSON has
    """Return a value as ``encoding/json`` writes it: on one line, with the special characters of HTML escaped."""
    encoded = msgspec.json.encode(value)
    for mark, escape in _ESCAPED:
        encoded = encoded.replace(mark, escape)
    return encoded


_MIN_MILLISECOND_TIMESTAMP = 100_000_000_000
"""A number of that size or more counts milliseconds; as seconds it would lie beyond the year 5000."""

_MAX_TIMESTAMP = 253_402_300_799
"""The last that the calendar of datetime holds."""


def without_keys(value: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return a source's object, its names in their order, with nothing for the texts that the record itself holds."""
    return {**value, **{name: None for name in names if value.get(name)}}


def kept_fields(record: Memory | WorkingItem, name: str) -> dict[str, Any]:
    """Return the data that an import kept under a format's key; empty where something else has been put there."""
    kept = record.extra.get(name)
    return dict(kept) if isinstance(kept, dict) else {}


def is_exported(memory: Memory, name: str) -> bool:
    """Return whether a memory belongs in a file that an agent will read as its own memory, with no place for a status.

    A deleted or rejected one does not, nor one that still waits for a person, unless it stands in such a file already.
    """
    if memory.status == "pending":
        return bool(kept_fields(memory, name))
    return memory.status not in ENDED_STATUSES


def lost_origin(written: AnyRecord, read: AnyRecord) -> set[str]:
    """Return the fields that a foreign file has no word for: who wrote a text that nobody changed.

    How the format keeps a record, its part of ``extra``, is nothing that the record says.
    """
    lost = {f"extra.{name}" for name in getattr(read, "extra", {})}
    is_text_same = getattr(written, "content", "") == getattr(read, "content", "")
    return lost | {"source", "source_type"} if is_text_same else lost


def lost_by_columns(columns: Iterable[Column | ColumnGroup], fields: Fields, read: AnyRecord) -> set[str]:
    """Return the fields that a record has again when it is written as a new object and read back.

    ``fields`` are those of the record that was written, as columns take them.
    """
    again = read_fields(columns, write_row(columns, fields, {}))
    return {name for name, value in again.items() if name in read.__struct_fields__ and getattr(read, name) == value}


def restore_full_text(record: AnyRecord) -> AnyRecord:
    """Return a memory with the whole text of which maintenance made a preview, and any other record as it is.

    Other programs, and the files that a memory came from, know nothing of previews. An archived one stays archived.
    """
    if (
        not isinstance(record, Memory)
        or record.status not in ("compacted", "archived")
        or ORIGINAL_TEXT_KEY not in record.extra
    ):
        return record
    whole = restore_compacted(msgspec.structs.replace(record, status="compacted"))
    return whole if record.status == "compacted" else msgspec.structs.replace(whole, status=record.status)


def parse_foreign_moment(given: object) -> datetime | None:
    """Return the moment that a source names by ISO 8601 or by seconds or milliseconds since 1970, or ``None``."""
    if type(given) is int:
        if not 0 < given <= _MAX_TIMESTAMP * 1000:
            return None
        return datetime.fromtimestamp(given / 1000 if given >= _MIN_MILLISECOND_TIMESTAMP else given, UTC)
    return property_moment(given)


def format_foreign_moment(moment: datetime, given: object) -> Any:  # noqa: ANN401 - whatever JSON has
    """Return the source's own text for a moment while it means it, else the moment in the same form."""
    if parse_foreign_moment(given) == moment:
        return given
    if type(given) is int:
        return int(moment.timestamp() * (1000 if given >= _MIN_MILLISECOND_TIMESTAMP else 1))
    plain = moment.astimezone(UTC)
    if isinstance(given, str) and given[10:11] == " ":
        return plain.strftime("%Y-%m-%d %H:%M:%S")
    precision = "microseconds" if plain.microsecond else "seconds"
    return plain.isoformat(timespec=precision).replace("+00:00", "Z")


def _format_foreign_tags(tags: Iterable[str], given: object) -> list[Any]:
    """Return the source's own list while it means these tags, else the tags."""
    current = tuple(tags)
    if isinstance(given, list) and usable_tags(word for word in given if isinstance(word, str)) == current:
        return given
    return list(current)


NEVER_EMPTY = object()
"""The value that a column writes which is never left empty: an empty one in a row differs from it, and is kept."""

Fields = Mapping[str, Any]
"""Fields of a record by name; those of its source are also given as ``source.agent`` and ``source.session``."""


class Column(msgspec.Struct, frozen=True):
    """One name of a foreign object: the fields that its value gives, and the value that these fields give."""

    name: str
    read: Callable[[Any], Fields]
    """Takes any value at all; of one that it cannot read it returns the fields that a missing value gives."""
    write: Callable[[Fields, Any], Any]
    """Takes the fields of a record and the value that the source had, ``None`` for a new object."""
    is_optional: bool = False
    """Left out of a new object where the value would be ``None``."""


class ColumnGroup(msgspec.Struct, frozen=True):
    """Several names of a foreign object that are understood only together."""

    read: Callable[[Fields], Fields]
    """Takes the whole object."""
    write: Callable[[Fields, Fields], Fields]
    """Takes the fields of a record and the object that the source had, empty for a new one; returns what to change."""


# Formats of which the whole foreign object is kept beside the record


def read_fields(columns: Iterable[Column | ColumnGroup], row: Fields) -> dict[str, Any]:
    """Return the fields that an object gives. A name that it lacks, or leaves ``null``, gives no field."""
    fields: dict[str, Any] = {}
    for column in columns:
        if isinstance(column, ColumnGroup):
            read = column.read(row)
        elif (value := row.get(column.name)) is not None:
            read = column.read(value)
        else:
            continue
        for name, value in read.items():
            if "." in name:
                whole, _, part = name.partition(".")
                fields.setdefault(whole, {})[part] = value
            elif value is not None:
                fields[name] = value
    return fields


def restore_row(columns: Iterable[Column | ColumnGroup], fields: Fields, source: Fields) -> dict[str, Any]:
    """Return the object that a source had, in its order, with only those values changed that the record contradicts."""
    row = dict(source)
    for column in columns:
        if isinstance(column, ColumnGroup):
            row |= column.write(fields, source)
            continue
        given = source.get(column.name)
        if not _agrees(column, given, fields):
            value = column.write(fields, given)
            if value is not None or column.name in source or not column.is_optional:
                row[column.name] = value
    return row


def record_fields(record: msgspec.Struct) -> dict[str, Any]:
    """Return the fields of a record as columns take them, the parts of its source among them."""
    fields = msgspec.structs.asdict(record)
    source = fields.get("source")
    if isinstance(source, Source):
        fields["source.agent"], fields["source.session"] = source.agent, source.session
    return fields


# Formats of which only those values are kept that the columns would not write again


def read_row(columns: Iterable[Column], row: Fields) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields that a row gives, and the rest to keep: ``row`` values and ``absent`` names."""
    fields: dict[str, Any] = {}
    kept: dict[str, Any] = {}
    absent: list[str] = []
    known = set()
    for column in columns:
        known.add(column.name)
        value = row.get(column.name)
        read = column.read(value)
        fields.update(read)
        if column.name not in row:
            absent += [] if column.is_optional else [column.name]
        elif not _is_same(column.write(read, None), value) or (value is None and column.is_optional):
            kept[column.name] = value
    kept.update((name, value) for name, value in row.items() if name not in known)
    rest: dict[str, Any] = {"row": kept} if kept else {}
    if absent:
        rest["absent"] = absent
    return fields, rest


def write_row(columns: Iterable[Column | ColumnGroup], fields: Fields, kept: Fields) -> dict[str, Any]:
    """Return the row of a record: as it was read where the record still agrees, else in the format's usual form.

    ``kept`` is what `read_row` returned beside the fields; it is empty for a record that came from elsewhere.
    """
    given = kept.get("row")
    given = given if isinstance(given, dict) else {}
    absent = kept.get("absent")
    absent = absent if isinstance(absent, list) else []
    row: dict[str, Any] = {}
    known: set[str] = set()
    for column in columns:
        if isinstance(column, ColumnGroup):
            row |= column.write(fields, {})
            continue
        known.add(column.name)
        value = column.write(fields, None)
        if column.name in given and _agrees(column, given[column.name], fields):
            row[column.name] = given[column.name]
        elif not (value is None and column.is_optional) and not (
            column.name in absent and _agrees(column, None, fields)
        ):
            row[column.name] = value
    return {**row, **{name: value for name, value in given.items() if name not in known}}


def _agrees(column: Column, value: object, fields: Fields) -> bool:
    for name, meant in column.read(value).items():  # noqa: SIM110 - it runs for every column of every record
        if fields.get(name) != meant:
            return False
    return True


def _is_same(value: object, other: object) -> bool:
    """Return whether two values are written alike: ``1``, ``1.0`` and ``true`` are not."""
    return type(value) is type(other) and value == other


# Columns that several formats have


def id_column(name: str) -> Column:
    """Return the column that names the record."""
    return Column(
        name, lambda value: {"id": value} if _is_id(value) else {}, lambda fields, _: fields.get("id", NEVER_EMPTY)
    )


def _is_id(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(check_id(value))
    except InvalidInput:
        return False


def text_column(name: str, field: str, *, empty: str | None = "") -> Column:
    """Return a column of prose; ``empty`` is how the format writes that there is none."""
    return Column(
        name,
        lambda value: {field: value if isinstance(value, str) else ""},
        lambda fields, _: fields.get(field) or empty,
    )


def line_column(
    name: str, field: str, max_length: int, *, empty: str | None = "", only_if_present: bool = False
) -> Column:
    """Return a column whose field holds one line of at most ``max_length`` characters.

    ``only_if_present`` is for a field that the source gives or does not: without it the record may have any value.
    """

    def read(value: object) -> Fields:
        if only_if_present and not isinstance(value, str):
            return {}
        return {field: one_line(value, max_length) if isinstance(value, str) else ""}

    return Column(name, read, lambda fields, _: fields.get(field) or empty, is_optional=only_if_present)


def foreign_tags_column(name: str) -> Column:
    """Return a column with a list of tags, which stays in the source's spelling while it means the same."""
    return Column(
        name,
        lambda value: {
            "tags": usable_tags(word for word in value if isinstance(word, str)) if isinstance(value, list) else ()
        },
        lambda fields, given: _format_foreign_tags(fields["tags"], given),
    )


def foreign_moment_column(name: str, field: str, example: str | None = None) -> Column:
    """Return a column that holds a moment in the source's own form, and in that of ``example`` in a new object.

    A source that does not give the moment, or gives one that cannot be read, agrees with any.
    """

    def read(value: object) -> Fields:
        moment: datetime | None = parse_foreign_moment(value)
        return {} if moment is None else {field: moment}

    return Column(name, read, lambda fields, given: format_foreign_moment(fields[field], given or example))


def unmapped_column(name: str, usual: object = None) -> Column:
    """Return a column that memento has no field for; ``usual`` is the value in a new row."""
    return new_row_column(name, lambda _: usual)


def new_row_column(name: str, write: Callable[[Fields], Any]) -> Column:
    """Return a column that gives no field: it is written in a new object, and stays as it is in any other."""
    return Column(name, lambda _: {}, lambda fields, _: write(fields))


def read_only(read: Callable[[Fields], Fields]) -> ColumnGroup:
    """Return a group that gives fields and is never written."""
    return ColumnGroup(read, lambda _fields, _row: {})
