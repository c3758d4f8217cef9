"""The objects that Memento Protocol's local files hold, and the text that they are written as."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from memento_tui.interchange.protocol_columns import (
    Column,
    Fields,
    category,
    flag,
    identity,
    item_status,
    kind,
    line,
    moment_of,
    moment_written_iso,
    plain_tags,
    priority,
    row_of,
    tags,
    taken,
    text,
    when,
)

__all__ = ["FILE", "ITEM", "LINKS", "MEMORY", "SKIP", "as_text", "decoded", "is_in_order", "kept_text"]

FILE = "file"
"""The name under which `KEPT` holds what only the files know."""

MEMORY: tuple[Column, ...] = (
    identity("id"),
    text("content", "content"),
    kind("type"),
    tags("tags", list),
    when("created", "created_at", moment_written_iso),
    when("expires", "expires_at", moment_written_iso, is_optional=True),
    flag("consolidated", on=True, off=None),
)
"""All but `LINKS`."""
LINKS = ("consolidated_into", "consolidated_from", "linkages")
"""The fields that lead to other memories."""
SKIP: tuple[Column, ...] = (
    identity("id"),
    line("item", "item"),
    line("reason", "reason"),
    when("expires", "expires_at", moment_written_iso, is_optional=True),
    when("added", "created_at", moment_written_iso),
)


def _or(name: str, field: str) -> Column:
    """Return the column of a moment that some files name otherwise; it is written only where it was read."""

    def read(value: object) -> Fields:
        moment: datetime | None = moment_of(value)
        return {} if moment is None else {field: moment}

    return Column(name, read, lambda _: None, spare=True)


ITEM: tuple[Column, ...] = (
    identity("id"),
    category("category"),
    line("title", "title"),
    text("content", "content"),
    item_status("status"),
    priority("priority"),
    plain_tags("tags", list),
    line("next_action", "next_action", empty=None),
    _or("created", "created_at"),
    _or("updated", "updated_at"),
    when("created_at", "created_at", moment_written_iso),
    when("updated_at", "updated_at", moment_written_iso),
)

_LONGEST_TEXT = 500_000
"""Characters of an unusual spelling that are kept beside what it says."""


def decoded(text: str) -> Any:  # noqa: ANN401 - JSON
    """Return the value of a JSON text, a mark of its encoding before it or not.

    Raises:
        ValueError: it is no JSON that can be kept; the message says why.

    """
    try:
        return msgspec.json.decode(text.removeprefix("\ufeff"))
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def as_text(value: object) -> str:
    """Return the JSON of a value as the format's own program writes it."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def is_in_order(columns: tuple[Column, ...], value: Mapping[str, Any]) -> bool:
    """Tell whether an object has its fields in the order in which they are written."""
    return list(row_of(columns, *taken(columns, value))) == list(value)


def kept_text(columns: tuple[Column, ...], value: Mapping[str, Any], text: str) -> dict[str, str]:
    """Return what to keep of the text of an object, so that it is written as it was: nothing if it is so anyway."""
    own = {name: given for name, given in value.items() if name not in LINKS}
    links = {name: value[name] for name in LINKS if name in value}
    usual = as_text({**row_of(columns, *taken(columns, own)), **links})
    return {} if usual == text or len(text) > _LONGEST_TEXT else {"text": text}
