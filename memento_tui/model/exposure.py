"""An exposure: one memory that was shown to one agent session."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from memento_tui import clock
from memento_tui.errors import InvalidField
from memento_tui.model.validation import check_id, check_line, convert_fields, new_id

__all__ = ["Exposure", "make_exposure"]


class Exposure(msgspec.Struct, frozen=True, kw_only=True):
    """One memory shown to one session: its rank, its score, its tokens, and whether it was used."""

    id: str
    memory_id: str
    memory_version: int
    session: str
    channel: str = ""
    at: datetime
    rank: int
    """1 for the first of the memories that were shown together."""
    score: float
    tokens: int
    why: dict[str, float] = {}
    """The numbers that made the score, by name: ``keyword``, ``semantic``, ``life`` and their parts.

    ``title_alone`` is 1 where a hook told its title and not its text.
    """
    used_at: datetime | None = None
    """When the session was seen to use it; ``None`` until then."""


_EXPOSURE_FIELDS = {
    "rank": "a whole number",
    "score": "a number",
    "tokens": "a whole number",
    "session": "text",
    "why": "an object of numbers",
}


def make_exposure(fields: Mapping[str, Any], *, now: datetime | None = None) -> Exposure:
    """Make a ledger entry of plain values. Raises `InvalidField`."""
    values = {"id": new_id(), "at": now or clock.now(), **fields}
    injection = convert_fields(values, Exposure, expected=_EXPOSURE_FIELDS, moments=("at", "used_at"))
    check_id(injection.id)
    check_id(injection.memory_id, "memory_id")
    check_line(injection.session, "session", required=True)
    for name, least in (("rank", 1), ("tokens", 0), ("memory_version", 1)):
        if getattr(injection, name) < least:
            raise InvalidField(name, f"must be {least} or more; not {getattr(injection, name)}")
    return injection
