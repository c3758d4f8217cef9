"""The injection ledger: what was put in front of which session, why, what it cost, and whether it was of use."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from memento_tui import clock
from memento_tui.records import Injection
from memento_tui.records.when import to_text
from memento_tui.store.database import Database
from memento_tui.store.reads import Glance, glances_by_id

__all__ = ["InjectionFilter", "InjectionRow", "Injections", "SessionTotals"]

_COLUMNS = ", ".join(Injection.__struct_fields__)
_MARKS = ", ".join("?" * len(Injection.__struct_fields__))
_decode_why = msgspec.json.Decoder(dict[str, float]).decode


class InjectionFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which rows of the ledger are wanted. What is left empty does not narrow."""

    session: tuple[str, ...] = ()
    """Beginnings of which one must fit; so for ``channel``."""
    channel: tuple[str, ...] = ()
    memories: tuple[str, ...] | None = None
    """Whole ids of which one must fit; so for ``ids``, those of the rows themselves."""
    ids: tuple[str, ...] | None = None
    since: datetime | None = None
    before: datetime | None = None


class InjectionRow(msgspec.Struct, frozen=True):
    """One row of the ledger, with the memory as it stands now (``None`` where it is gone)."""

    injection: Injection
    memory: Glance | None

    @property
    def id(self) -> str:
        """The identity within the ledger."""
        return self.injection.id


class SessionTotals(msgspec.Struct, frozen=True):
    """What one session was shown in all."""

    session: str
    shown: int
    tokens: int
    used: int
    """How many of those it was seen to use."""
    last_at: datetime


class Injections:
    """The ledger of one database, newest row first. It bypasses the journal: reading is not history."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, injections: Sequence[Injection]) -> None:
        """Write down what was put in front of an agent session."""
        with self._database.writing() as connection:
            connection.executemany(
                f"INSERT INTO injection ({_COLUMNS}) VALUES ({_MARKS})",
                [_values(injection) for injection in injections],
            )

    def mark_used(self, session: str, memory_ids: Iterable[str]) -> None:
        """Note that a session used what it had been shown of some memories."""
        query = "UPDATE injection SET used_at = ? WHERE session = ? AND memory_id = ? AND used_at IS NULL"
        moment = to_text(clock.now())
        with self._database.writing() as connection:
            connection.executemany(query, [(moment, session, memory_id) for memory_id in memory_ids])

    def newest(self) -> int:
        """Return the number of the newest row; 0 in an empty ledger. It only grows."""
        with self._database.reading() as connection:
            return int(connection.execute("SELECT coalesce(max(number), 0) FROM injection").fetchone()[0])

    def total(self, wanted: InjectionFilter) -> int:
        """Return how many rows a filter selects."""
        sql, parameters = _where(wanted)
        with self._database.reading() as connection:
            return int(connection.execute(f"SELECT count(*) FROM injection WHERE {sql}", parameters).fetchone()[0])

    def page(self, wanted: InjectionFilter, start: int, count: int) -> list[InjectionRow]:
        """Return ``count`` rows from index ``start``."""
        sql, parameters = _where(wanted)
        query = f"SELECT {_COLUMNS} FROM injection WHERE {sql} ORDER BY number DESC LIMIT ? OFFSET ?"
        with self._database.reading() as connection:
            found = [_injection(row) for row in connection.execute(query, (*parameters, count, start))]
            shown = glances_by_id(connection, list({injection.memory_id for injection in found}))
        glances = {glance.id: glance for glance in shown}
        return [InjectionRow(injection, glances.get(injection.memory_id)) for injection in found]

    def ids(self, wanted: InjectionFilter, start: int, count: int) -> list[str]:
        """Return the ids of ``count`` rows from index ``start``."""
        sql, parameters = _where(wanted)
        query = f"SELECT id FROM injection WHERE {sql} ORDER BY number DESC LIMIT ? OFFSET ?"
        with self._database.reading() as connection:
            return [row[0] for row in connection.execute(query, (*parameters, count, start))]

    def position(self, wanted: InjectionFilter, injection_id: str) -> int | None:
        """Return the index of a row in what a filter selects, or ``None`` where it is not selected."""
        sql, parameters = _where(wanted)
        with self._database.reading() as connection:
            query = f"SELECT number FROM injection WHERE id = ? AND {sql}"
            row = connection.execute(query, (injection_id, *parameters)).fetchone()
            if row is None:
                return None
            query = f"SELECT count(*) FROM injection WHERE number > ? AND {sql}"
            return int(connection.execute(query, (row[0], *parameters)).fetchone()[0])

    def sessions(self, wanted: InjectionFilter, limit: int) -> list[SessionTotals]:
        """Return what each session was shown in all, the one last served first."""
        sql, parameters = _where(wanted)
        query = f"{_TOTALS} WHERE {sql} GROUP BY session ORDER BY max(number) DESC LIMIT ?"
        with self._database.reading() as connection:
            return [_totals(row) for row in connection.execute(query, (*parameters, limit))]

    def session(self, name: str) -> SessionTotals | None:
        """Return what one session was shown in all, or ``None`` where it was shown nothing."""
        with self._database.reading() as connection:
            row = connection.execute(f"{_TOTALS} WHERE session = ? GROUP BY session", (name,)).fetchone()
        return None if row is None else _totals(row)


_TOTALS = "SELECT session, count(*), sum(tokens), count(used_at), max(at) FROM injection"


def _totals(row: sqlite3.Row) -> SessionTotals:
    return SessionTotals(row[0], shown=row[1], tokens=row[2], used=row[3], last_at=datetime.fromisoformat(row[4]))


def _where(wanted: InjectionFilter) -> tuple[str, list[object]]:
    parts, parameters = ["1"], list[object]()
    for column in ("session", "channel"):
        values: tuple[str, ...] = getattr(wanted, column)
        if values:
            # A range and not LIKE, which the index of sessions could not serve.
            fits = " OR ".join([f"({column} >= ? AND {column} < ?)"] * len(values))
            parts.append(f"({fits})")
            parameters += [bound for value in values for bound in (value, value + "\U0010ffff")]
    for column, ids in (("memory_id", wanted.memories), ("id", wanted.ids)):
        if ids is not None:
            parts.append(f"{column} IN (SELECT value FROM json_each(?))")
            parameters.append(msgspec.json.encode(ids).decode())
    for condition, bound in (("at >= ?", wanted.since), ("at < ?", wanted.before)):
        if bound is not None:
            parts.append(condition)
            parameters.append(to_text(bound))
    return " AND ".join(parts), parameters


def _values(injection: Injection) -> tuple[object, ...]:
    plain = (getattr(injection, name) for name in Injection.__struct_fields__)
    return tuple(_stored(value) for value in plain)


def _stored(value: object) -> object:
    if isinstance(value, datetime):
        return to_text(value)
    return msgspec.json.encode(value).decode() if isinstance(value, dict) else value


def _injection(row: sqlite3.Row) -> Injection:
    values = dict(zip(Injection.__struct_fields__, row, strict=True))
    values["at"] = datetime.fromisoformat(values["at"])
    values["used_at"] = None if values["used_at"] is None else datetime.fromisoformat(values["used_at"])
    return Injection(**{**values, "why": _decode_why(values["why"])})
