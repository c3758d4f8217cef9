"""Sum up the exposure ledger: exposures by week and project, and the memories that agents used."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

import msgspec

from memento_tui.model.memory import RECALLED_STATUSES
from memento_tui.moments import format_moment
from memento_tui.storage.database import Database

__all__ = ["MemoryUse", "PeriodUse", "UseQueries"]

_TOLD = (
    "told AS (SELECT injection.memory_id, injection.session, injection.at, injection.tokens,"
    " injection.used_at IS NOT NULL AS used, "
    " coalesce(hook_session.learned, 0) > 0 OR injection.session IN"
    " (SELECT session FROM injection WHERE used_at IS NOT NULL) AS read,"
    " coalesce(nullif(hook_session.namespace, ''), memory.namespace, '') AS project FROM injection"
    " LEFT JOIN hook_session ON hook_session.session = injection.session"
    " LEFT JOIN memory ON memory.id = injection.memory_id WHERE injection.at >= :since)"
)
"""The exposures since a moment.

``read`` says that a use in the session would have been seen: its transcript was read, or a use was seen in it. The
project is the one that the session began in; where no hook saw it begin, the namespace of the memory.
"""

_SUMS = (
    "count(*), count(DISTINCT session), count(DISTINCT memory_id), sum(tokens), sum(used),"
    " sum(iif(used, tokens, 0)), sum(read)"
)


class PeriodUse(msgspec.Struct, frozen=True, kw_only=True):
    """The counts of exposures to sessions of one project, in one week or in all."""

    week: date | None
    """The Monday with which it begins, by UTC; ``None`` for the sum of all weeks."""
    namespace: str
    """The project; empty where it is not known, and for the sum of all."""
    told: int
    """How many times a memory was shown."""
    sessions: int
    memories: int
    """How many different ones."""
    tokens: int
    used: int
    """How many of the times the session was seen to use it."""
    used_tokens: int
    seen: int
    """How many of the times a use would have been seen: the session's transcript was read, or it fetched memories."""

    @property
    def share(self) -> float | None:
        """The used share of those exposures whose use could be seen, 0 to 1; ``None`` where there were none."""
        return self.used / self.seen if self.seen else None


class MemoryUse(msgspec.Struct, frozen=True, kw_only=True):
    """How often one memory was shown and used."""

    memory_id: str
    told: int
    sessions: int
    tokens: int
    used: int
    """How many of the times the session was seen to use it."""
    ever_used: int
    """How often it was used in all, before the period and without an exposure too."""
    seen_sessions: int
    """Sessions whose transcript was read, and that were shown it since its last change."""
    first_at: datetime
    last_at: datetime


class UseQueries:
    """The use of the memories of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def weeks(self, since: datetime) -> list[PeriodUse]:
        """Return the sums of each week and project, the newest week first, in it the most shown first."""
        week = "date(at, 'weekday 0', '-6 days')"
        query = (
            f"WITH {_TOLD} SELECT {week}, project, {_SUMS} FROM told GROUP BY 1, 2"
            " ORDER BY 1 DESC, count(*) DESC, project"
        )
        return self._sums(query, since)

    def projects(self, since: datetime) -> list[PeriodUse]:
        """Return the sums of each project, the most shown first."""
        query = f"WITH {_TOLD} SELECT NULL, project, {_SUMS} FROM told GROUP BY 2 ORDER BY count(*) DESC, project"
        return self._sums(query, since)

    def total(self, since: datetime) -> PeriodUse:
        """Return the sums over all projects and weeks since a moment."""
        return self._sums(f"WITH {_TOLD} SELECT NULL, '', {_SUMS} FROM told", since)[0]

    def _sums(self, query: str, since: datetime) -> list[PeriodUse]:
        with self._database.reading() as connection:
            rows = connection.execute(query, {"since": format_moment(since)}).fetchall()
        return [
            PeriodUse(
                week=None if row[0] is None else date.fromisoformat(row[0]),
                namespace=row[1],
                **dict(zip(_SUM_NAMES, (int(value or 0) for value in row[2:]), strict=True)),
            )
            for row in rows
        ]

    def memories(self, since: datetime, project: str = "") -> Sequence[MemoryUse]:
        """Return the use of each memory that was shown and still can be, those with the most tokens first."""
        statuses = ", ".join(repr(status) for status in RECALLED_STATUSES)
        query = (
            f"WITH {_TOLD} SELECT told.memory_id, count(*), count(DISTINCT told.session), sum(told.tokens),"
            " sum(told.used), max(coalesce(usage.used, 0)),"
            " count(DISTINCT iif(told.read AND told.at >= memory.updated_at, told.session, NULL)),"
            " min(told.at), max(told.at) FROM told JOIN memory ON memory.id = told.memory_id"
            " LEFT JOIN usage ON usage.record = 'memory' AND usage.record_id = told.memory_id"
            f" WHERE memory.status IN ({statuses}) AND :project IN ('', told.project)"
            " GROUP BY told.memory_id ORDER BY sum(told.tokens) DESC, told.memory_id"
        )
        with self._database.reading() as connection:
            rows = connection.execute(query, {"since": format_moment(since), "project": project}).fetchall()
        return [
            MemoryUse(
                memory_id=row[0],
                told=row[1],
                sessions=row[2],
                tokens=row[3],
                used=row[4],
                ever_used=row[5],
                seen_sessions=row[6],
                first_at=datetime.fromisoformat(row[7]),
                last_at=datetime.fromisoformat(row[8]),
            )
            for row in rows
        ]


_SUM_NAMES = ("told", "sessions", "memories", "tokens", "used", "used_tokens", "seen")
