"""What is asked of the activity list and of the injection ledger: words, and filters such as ``agent:claude``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from datetime import datetime

import msgspec

from memento_tui import clock
from memento_tui.errors import InvalidInput
from memento_tui.records.when import parse_moment, parse_span

__all__ = ["FILTERS", "ActivityQuery", "parse_activity"]

FILTERS: Mapping[str, str] = {
    "actor": "person, agent or system",
    "agent": "the agent's name",
    "session": "the session",
    "channel": "cli, tui, mcp, http, hook, mirror, api, import or engine",
    "action": "what was done",
    "memory": "the id of a memory that was touched",
    "since": "a date, a span such as 7d, or the number of an entry",
    "before": "the same",
    "is": "new: since you last looked",
}
"""The names of the filters, and what each takes."""

_FILTER = re.compile(r"(\w+):(.*)", re.DOTALL)
_BEGINNINGS = ("actor", "agent", "session", "channel", "action")


class ActivityQuery(msgspec.Struct, frozen=True, kw_only=True):
    """One question. What is left empty does not narrow; where several values are given, one must fit."""

    words: tuple[str, ...] = ()
    actor: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    session: tuple[str, ...] = ()
    channel: tuple[str, ...] = ()
    action: tuple[str, ...] = ()
    memory: tuple[str, ...] = ()
    first_seq: int | None = None
    before_seq: int | None = None
    since: datetime | None = None
    before: datetime | None = None
    is_new: bool = False
    """Only what came since the person last looked."""


def parse_activity(text: str, now: datetime | None = None) -> ActivityQuery:
    """Return the question that a line asks: ``port agent:claude action:"skip add" since:7d``.

    Raises:
        InvalidInput: a filter has no value, or one that it cannot have.

    """
    given: dict[str, list[str]] = {}
    for part in _parts(text):
        match = _FILTER.fullmatch(part)
        name, value = (match[1].lower(), match[2]) if match and match[1].lower() in FILTERS else ("words", part)
        values = [one.strip() for one in value.split(",")] if name in _BEGINNINGS else [value.strip()]
        if not all(values):
            raise InvalidInput(f"{name}: has no value.", f"It takes {FILTERS.get(name, 'a word')}.")
        given.setdefault(name, []).extend(values)
    fields: dict[str, object] = {
        name: tuple(given[name]) for name in ("words", "memory", *_BEGINNINGS) if name in given
    }
    for name, seq_field in (("since", "first_seq"), ("before", "before_seq")):
        for value in given.get(name, []):
            fields.update(_bound(name, seq_field, value, now or clock.now()))
    for value in given.get("is", []):
        if value.lower() != "new":
            raise InvalidInput(f"is:{value:.40} is not known.", "is:new finds what came since you last looked.")
        fields["is_new"] = True
    return msgspec.convert(fields, ActivityQuery)


def _parts(text: str) -> list[str]:
    """Return the words of a line; quotation marks hold some together, and one that is open ends with the line."""
    splitter = shlex.shlex(text, posix=True)
    splitter.whitespace_split = True
    splitter.commenters = splitter.escape = ""
    splitter.quotes = '"'
    try:
        return list(splitter)
    except ValueError:
        return text.replace('"', " ").split()


def _bound(name: str, seq_field: str, value: str, now: datetime) -> dict[str, object]:
    if value.isdecimal() and value.isascii():
        return {seq_field: min(int(value), 2**62)}
    span = parse_span(value)
    return {name: now - span if span is not None else parse_moment(value, name, now)}
