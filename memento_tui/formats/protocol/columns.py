"""Define bidirectional columns: each converts a value of a Memento Protocol row to fields and back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from memento_tui.errors import InvalidInput
from memento_tui.formats.base import one_line, usable_tags
from memento_tui.formats.protocol.vocabulary import DEFAULT_TYPE, ITEM_CATEGORIES, kind_fields, tag_fields
from memento_tui.model.lists import ITEM_STATUSES, MAX_ITEM_PRIORITY
from memento_tui.model.validation import MAX_LINE_LENGTH, check_id
from memento_tui.moments import parse_moment, parse_span

__all__ = [
    "EXTRA_KEY",
    "INACTIVE_STATUSES",
    "NO_EXPIRY",
    "Column",
    "Fields",
    "as_list",
    "category_column",
    "compact_json",
    "consolidated_column",
    "format_iso_moment",
    "format_sql_moment",
    "id_column",
    "kind_column",
    "line_column",
    "moment_column",
    "parse_row_moment",
    "plain_tags_column",
    "priority_column",
    "read_row",
    "status_column",
    "tags_column",
    "text_column",
    "unmapped_column",
    "write_row",
]

EXTRA_KEY = "memento-protocol"
"""The key of ``extra`` for what only this format knows."""

NO_EXPIRY = "never"
"""What is written as the end of a skip that has none."""

INACTIVE_STATUSES = ("consolidated", "superseded", "archived")
"""The statuses that Memento Protocol has one word for: ``consolidated``, not recalled any more."""

_MAX_KIND_LENGTH = 100
_MAX_TITLE_LENGTH = MAX_LINE_LENGTH - 20
"""Characters. Some titles are given a word in front."""
_DATE_START = re.compile(r"\d{4}-\d\d-\d\d")

_NEVER_EMPTY = object()
"""What a column of a new row holds that is never left empty: an empty one differs from it, and is kept."""

Fields = Mapping[str, Any]


class Column(msgspec.Struct, frozen=True):
    """One column: what its value says, and the value that says it."""

    name: str
    read: Callable[[Any], Fields]
    """Takes any value at all; what it cannot read gives the fields of a column that says nothing."""
    write: Callable[[Fields], Any]
    spare: bool = False
    """Left out of a row where it would be ``None``."""


def read_row(columns: Iterable[Column], row: Fields) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields that a row gives, and what is to be kept of it: ``row`` values and ``absent`` columns."""
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
            absent += [] if column.spare else [column.name]
        elif not _is_same(column.write(read), value) or (value is None and column.spare):
            kept[column.name] = value
    kept.update((name, value) for name, value in row.items() if name not in known)
    found: dict[str, Any] = {"row": kept} if kept else {}
    if absent:
        found["absent"] = absent
    return fields, found


def write_row(columns: Iterable[Column], fields: Fields, kept: Fields) -> dict[str, Any]:
    """Return the row of a record: as it was read where the record still means that, else in the format's usual form."""
    given = kept.get("row")
    given = given if isinstance(given, dict) else {}
    absent = kept.get("absent")
    absent = absent if isinstance(absent, list) else []
    row: dict[str, Any] = {}
    for column in columns:
        value = column.write(fields)
        if column.name in given and _agrees(column, given[column.name], fields):
            row[column.name] = given[column.name]
        elif not (value is None and column.spare) and not (column.name in absent and _agrees(column, None, fields)):
            row[column.name] = value
    known = {column.name for column in columns}
    return {**row, **{name: value for name, value in given.items() if name not in known}}


def _agrees(column: Column, value: object, fields: Fields) -> bool:
    return all(fields.get(name) == meant for name, meant in column.read(value).items())


def _is_same(one: object, other: object) -> bool:
    """Tell whether two values are written alike: ``1``, ``1.0`` and ``true`` are not."""
    return type(one) is type(other) and one == other


def id_column(name: str) -> Column:
    """Return the column that names the record."""
    return Column(
        name, lambda value: {"id": value} if _is_id(value) else {}, lambda fields: fields.get("id", _NEVER_EMPTY)
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
        lambda fields: fields.get(field) or empty,
    )


def line_column(name: str, field: str, *, empty: str | None = "") -> Column:
    """Return a column whose field holds one line."""
    return Column(
        name,
        lambda value: {field: one_line(value, _MAX_TITLE_LENGTH) if isinstance(value, str) else ""},
        lambda fields: fields.get(field) or empty,
    )


def kind_column(name: str) -> Column:
    """Return the column of a memory's type."""
    return Column(name, _read_kind, lambda fields: fields.get("kind_raw") or fields.get("kind", DEFAULT_TYPE))


def _read_kind(value: object) -> Fields:
    word = one_line(value, _MAX_KIND_LENGTH) if isinstance(value, str) else ""
    return {"kind_raw": "", **kind_fields(word)}


def tags_column(name: str, write: Callable[[Sequence[Any]], Any]) -> Column:
    """Return the column of a memory's tags; ``write`` makes of a list what the format writes."""
    return Column(
        name, _read_tags, lambda fields: write([*(fields.get("tags") or ()), *(fields.get("system_tags") or ())])
    )


def _read_tags(value: object) -> Fields:
    parted = tag_fields(usable_tags(word for word in as_list(value) if isinstance(word, str)))
    return {name: tuple(words) for name, words in parted.items()}


def plain_tags_column(name: str, write: Callable[[Sequence[Any]], Any]) -> Column:
    """Return the column of the tags of a record that does not part provenance from subject."""
    return Column(
        name,
        lambda value: {"tags": usable_tags(word for word in as_list(value) if isinstance(word, str))},
        lambda fields: write(list(fields.get("tags") or ())),
    )


def as_list(value: object) -> list[Any]:
    """Return the list that a value is, or that it is the JSON of; an empty one for anything else."""
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return []
    return value if isinstance(value, list) else []


def compact_json(values: Any) -> str:  # noqa: ANN401 - a list or an object
    """Return a value as JavaScript writes it: JSON without spaces."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def moment_column(name: str, field: str, write: Callable[[datetime], str], *, is_optional: bool = False) -> Column:
    """Return a column that holds a moment. One that may be missing says that there is none where it cannot be read."""
    return Column(
        name,
        lambda value: _read_moment(value, field, is_optional=is_optional),
        lambda fields: (None if is_optional else _NEVER_EMPTY) if fields.get(field) is None else write(fields[field]),
    )


def _read_moment(value: object, field: str, *, is_optional: bool) -> Fields:
    moment = parse_row_moment(value)
    return {} if moment is None and not is_optional else {field: moment}


def parse_row_moment(value: object) -> datetime | None:
    """Return the moment that a text names; ``None`` for any other value, a span such as ``7d`` among them."""
    if not isinstance(value, str) or not _DATE_START.match(value.strip()) or parse_span(value) is not None:
        return None
    try:
        return parse_moment(value, "moment")
    except InvalidInput:
        return None


def format_iso_moment(moment: datetime) -> str:
    """Return a moment as JavaScript writes it: ``2026-02-14T10:00:00.000Z``."""
    precision = "microseconds" if moment.microsecond % 1000 else "milliseconds"
    return moment.astimezone(UTC).isoformat(timespec=precision).replace("+00:00", "Z")


def format_sql_moment(moment: datetime) -> str:
    """Return a moment as SQLite's ``datetime('now')`` writes it, with a fraction where there is one."""
    precision = "microseconds" if moment.microsecond else "seconds"
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(" ", timespec=precision)


def consolidated_column(name: str, on: object, off: object) -> Column:
    """Return the column that says whether a memory was consolidated; ``on`` and ``off`` are what the format writes."""
    return Column(
        name,
        lambda value: {"status": "consolidated" if value in (1, "1", "true") else "active"},
        lambda fields: on if fields.get("status") in INACTIVE_STATUSES else off,
        spare=off is None,
    )


def unmapped_column(name: str, usual: object = None) -> Column:
    """Return a column that memento has no field for; ``usual`` is what a new row has."""
    return Column(name, lambda _: {}, lambda _: usual)


def category_column(name: str) -> Column:
    """Return the column of a working item's category, which becomes one of `ITEM_CATEGORIES`."""
    return Column(name, _read_category, lambda fields: fields.get("category"))


def _read_category(value: object) -> Fields:
    if value in ITEM_CATEGORIES:
        return {"category": value}
    return {"category": "skip_list" if value == "skip" else "session_note"}


def status_column(name: str) -> Column:
    """Return the column of a working item's status."""
    return Column(
        name,
        lambda value: {"status": value if value in ITEM_STATUSES else "active"},
        lambda fields: fields.get("status"),
    )


def priority_column(name: str) -> Column:
    """Return the column of a working item's priority."""
    return Column(name, _read_priority, lambda fields: fields.get("priority", 0))


def _read_priority(value: object) -> Fields:
    return {"priority": value if type(value) is int and abs(value) <= MAX_ITEM_PRIORITY else 0}
