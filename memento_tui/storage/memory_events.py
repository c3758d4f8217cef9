"""Read the events of the memories of one namespace: their changes and their exposures."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

import msgspec

from memento_tui.moments import format_moment
from memento_tui.storage.database import Database

__all__ = ["MemoryEvent", "MemoryEventQueries"]


class MemoryEvent(msgspec.Struct, frozen=True):
    """One change of one memory: the entry that made it, its place in that entry, its author and its kind."""

    entry_id: str
    ordinal: int
    at: str
    author: str
    memory_id: str
    action: str
    """``create``, ``update``, ``delete`` or ``consolidate``."""


_IS_UNDER = "({0} = :namespace OR ({0} >= :below AND {0} < :end))"

_NAMESPACE_THEN = "coalesce(json_extract(change.image, '$.namespace'), 'global')"
"""SQL: the namespace of a memory at a version; an image leaves out default values."""

_SELECT_EVENTS = (
    "SELECT entry.id, change.ordinal, entry.at,"
    " CASE entry.agent WHEN '' THEN entry.actor ELSE entry.agent END, change.record_id,"
    " CASE WHEN entry.action = 'consolidate' THEN 'consolidate'"
    " WHEN json_extract(change.image, '$.status') = 'deleted' THEN 'delete'"
    " WHEN change.version = 1 THEN 'create' ELSE 'update' END AS event"
    " FROM {0} WHERE change.record = 'memory' AND change.image IS NOT NULL AND entry.at >= :since"
    # A memory that was moved here has earlier versions that are not of this namespace.
    f" AND {_IS_UNDER.format(_NAMESPACE_THEN)}"
    " AND (:actions = '[]' OR event IN (SELECT value FROM json_each(:actions)))"
    " ORDER BY change.seq DESC, change.ordinal LIMIT :limit"
)

_BY_MEMORY = (
    "memory CROSS JOIN change ON change.record = 'memory' AND change.record_id = memory.id"
    f" AND {_IS_UNDER.format('memory.namespace')}"
    " CROSS JOIN entry ON entry.seq = change.seq"
)
"""The join that reads from the namespace's memories to their changes: entries about others cost nothing."""

_BY_ENTRY = "entry CROSS JOIN change ON change.seq = entry.seq"
"""The join that reads from the newest entry back: fast where most entries are about the namespace."""

_COUNT_EXPOSURES = (
    "SELECT CAST(strftime('%s', injection.at) AS INTEGER) / :seconds * :seconds AS start, count(*)"
    " FROM memory CROSS JOIN injection ON injection.memory_id = memory.id"
    f" WHERE {_IS_UNDER.format('memory.namespace')} AND injection.at >= :since GROUP BY start ORDER BY start"
)


class MemoryEventQueries:
    """The events of the memories in one namespace and those below it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def changes(
        self, namespace: str, *, since: datetime, actions: Collection[str] = (), limit: int, is_small: bool
    ) -> list[MemoryEvent]:
        """Return the newest changes, newest first; ``actions`` are the kinds to return, all if empty.

        ``is_small`` says that the namespace holds a small part of the memories. Its changes are then found by its
        memories, so that the cost does not grow with what others write.
        """
        query = _SELECT_EVENTS.format(_BY_MEMORY if is_small else _BY_ENTRY)
        given = {
            **_bounds(namespace),
            "since": format_moment(since),
            "actions": msgspec.json.encode(sorted(actions)).decode(),
            "limit": limit,
        }
        with self._database.reading() as connection:
            return [MemoryEvent(*row) for row in connection.execute(query, given)]

    def exposure_counts(self, namespace: str, *, since: datetime, seconds: int) -> list[tuple[int, int]]:
        """Return the number of exposures in each span of ``seconds``, by the span's beginning in seconds since 1970."""
        given = {**_bounds(namespace), "since": format_moment(since), "seconds": seconds}
        with self._database.reading() as connection:
            return [(int(row[0]), int(row[1])) for row in connection.execute(_COUNT_EXPOSURES, given)]


def _bounds(namespace: str) -> dict[str, str]:
    # "0" is the character after "/".
    return {"namespace": namespace, "below": f"{namespace}/", "end": f"{namespace}0"}
