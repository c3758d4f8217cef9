"""Write a foreign record back as it was read, to the byte, except for what changed here since."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import msgspec

from memento_tui.formats.base import ENDED_STATUSES, usable_tags
from memento_tui.formats.note import property_moment
from memento_tui.maintenance.aging import ORIGINAL_TEXT_KEY, restore_compacted
from memento_tui.model import AnyRecord, Memory, WorkingItem

__all__ = [
    "encode_go_json",
    "format_foreign_moment",
    "format_foreign_tags",
    "is_exported",
    "kept_fields",
    "parse_foreign_moment",
    "restore_full_text",
    "without_keys",
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


def format_foreign_tags(tags: Iterable[str], given: object) -> list[Any]:
    """Return the source's own list while it means these tags, else the tags."""
    current = tuple(tags)
    if isinstance(given, list) and usable_tags(word for word in given if isinstance(word, str)) == current:
        return given
    return list(current)
