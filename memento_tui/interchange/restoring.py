"""Writing a foreign record as it was, but for what has changed here since it was read.

An importer keeps the source's own object in ``extra`` under the format's name, without the texts that the record holds
anyway. An exporter starts from that object and replaces what no longer means what the record says.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import msgspec

from memento_tui.interchange.names import usable_tags
from memento_tui.interchange.note import moment_of
from memento_tui.interchange.outgoing import Outgoing
from memento_tui.records import Memory, WorkingItem
from memento_tui.upkeep.aging import ORIGINAL, uncompacted

__all__ = ["goes_out", "in_full", "kept_of", "moment_as", "moment_in", "tags_as", "without"]

_MILLISECONDS = 100_000_000_000
"""A number of that size or more counts milliseconds; as seconds it would lie beyond the year 5000."""

_LAST_SECOND = 253_402_300_799
"""The last that the calendar of datetime holds."""


def without(value: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return a source's object, its names in their order, with nothing for the texts that the record itself holds."""
    return {**value, **{name: None for name in names if value.get(name)}}


def kept_of(record: Memory | WorkingItem, name: str) -> dict[str, Any]:
    """Return what an import kept under a format's name; nothing where another hand put something else there."""
    kept = record.extra.get(name)
    return dict(kept) if isinstance(kept, dict) else {}


def goes_out(memory: Memory, name: str) -> bool:
    """Tell whether a memory belongs in a file that an agent will read as its own memory, with no place for a status.

    What a person took back or rejected does not, nor what still waits for one, unless it stands in such a file already.
    """
    if memory.status == "pending":
        return bool(kept_of(memory, name))
    return memory.status not in ("deleted", "rejected")


def in_full(record: Outgoing) -> Outgoing:
    """Return a memory with the whole text of which upkeep made a preview, and any other record as it is.

    Other programs, and the files that a memory came from, know nothing of previews. An archived one stays archived.
    """
    if not isinstance(record, Memory) or record.status not in ("compacted", "archived") or ORIGINAL not in record.extra:
        return record
    whole = uncompacted(msgspec.structs.replace(record, status="compacted"))
    return whole if record.status == "compacted" else msgspec.structs.replace(whole, status=record.status)


def moment_in(given: object) -> datetime | None:
    """Return the moment that a source names by ISO 8601 or by seconds or milliseconds since 1970, or ``None``."""
    if type(given) is int:
        if not 0 < given <= _LAST_SECOND * 1000:
            return None
        return datetime.fromtimestamp(given / 1000 if given >= _MILLISECONDS else given, UTC)
    return moment_of(given)


def moment_as(moment: datetime, given: object) -> Any:  # noqa: ANN401 - whatever JSON has
    """Return the source's own words for a moment while they mean it, else the moment in words of their sort."""
    if moment_in(given) == moment:
        return given
    if type(given) is int:
        return int(moment.timestamp() * (1000 if given >= _MILLISECONDS else 1))
    plain = moment.astimezone(UTC)
    if isinstance(given, str) and given[10:11] == " ":
        return plain.strftime("%Y-%m-%d %H:%M:%S")
    precision = "microseconds" if plain.microsecond else "seconds"
    return plain.isoformat(timespec=precision).replace("+00:00", "Z")


def tags_as(tags: Iterable[str], given: object) -> list[Any]:
    """Return the source's own list while it means these tags, else the tags."""
    current = tuple(tags)
    if isinstance(given, list) and usable_tags(word for word in given if isinstance(word, str)) == current:
        return given
    return list(current)
