"""SQL that the store shares with memento-hook, which reads the database with the standard library alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

TYPE_CHECKING = False  # as in `typing`, whose import a host would wait for
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "ADD_SKIP_HIT",
    "COUNT_USE",
    "DROP_OLD_SKIP_HITS",
    "NEWEST_ENTRY",
    "OPEN_PROPOSALS",
    "RECALLED",
    "SELECT_EARLIER_IN_SESSION",
    "SELECT_KEPT_BOTH",
    "SELECT_SETTING",
    "SELECT_SUCCESSORS",
    "SELECT_WRITERS",
    "WRITE_SETTING",
    "last_writers",
]

RECALLED = "('active', 'consolidated', 'superseded', 'compacted')"
"""`memento_tui.model.memory.RECALLED_STATUSES`, as a list of SQL."""

OPEN_PROPOSALS = "('pending', 'needs_review', 'later')"
"""`memento_tui.model.review.OPEN_PROPOSAL_STATES`, as a list of SQL."""

NEWEST_ENTRY = "SELECT seq, hash FROM entry ORDER BY seq DESC LIMIT 1"

SELECT_SETTING = "SELECT value FROM setting WHERE name = ?"

WRITE_SETTING = "INSERT OR REPLACE INTO setting VALUES (?, ?)"

COUNT_USE = (
    "INSERT INTO usage (record, record_id, shown, used, last_used_at) VALUES (?, ?, ?, ?, ?)"
    " ON CONFLICT (record, record_id) DO UPDATE SET"
    " shown = shown + excluded.shown, used = used + excluded.used,"
    " last_used_at = coalesce(excluded.last_used_at, last_used_at)"
)
"""Adds to the counters of a record; the moment is that of its last use, null where it was only shown."""

ADD_SKIP_HIT = "INSERT INTO skip_hit (skip_id, session, channel, at, words) VALUES (?, ?, ?, ?, ?)"

_HITS_KEPT = 50
"""Hits of one skip that are kept, the last ones; the counter goes on."""

DROP_OLD_SKIP_HITS = (
    "DELETE FROM skip_hit WHERE skip_id = ?1 AND number <="
    f" (SELECT number FROM skip_hit WHERE skip_id = ?1 ORDER BY number DESC LIMIT 1 OFFSET {_HITS_KEPT})"
)

SELECT_SUCCESSORS = (
    "SELECT relation.dst, relation.src FROM relation JOIN memory AS old ON old.id = relation.dst"
    " JOIN memory AS new ON new.id = relation.src WHERE relation.type IN ('supersedes', 'consolidated_from')"
    " AND relation.dst IN (SELECT value FROM json_each(?))"
    f" AND new.status IN {RECALLED} AND ((old.stability = 'draft' AND NOT old.pinned) OR new.stability <> 'draft')"
    " ORDER BY relation.number"
)
"""Selects pairs of a memory, of those in a JSON list of ids, and one that takes its place; see `Store.successors`."""

SELECT_EARLIER_IN_SESSION = (
    "SELECT earlier.id, earlier.title, substr(earlier.content, -?) FROM memory AS own"
    " JOIN memory AS earlier ON json_extract(earlier.source, '$.session') = json_extract(own.source, '$.session')"
    " AND earlier.number < own.number AND earlier.namespace = own.namespace WHERE own.id = ?"
    f" AND earlier.status IN {RECALLED} AND earlier.sensitivity IN ('normal', own.sensitivity)"
    " ORDER BY earlier.number DESC LIMIT ?"
)
"""Selects the last memories that a session wrote before one of its own; see `MemoryQueries.session_context`."""

SELECT_KEPT_BOTH = (
    "SELECT older, newer FROM contradiction WHERE status = 'resolved' AND resolution = 'both_valid'"
    " AND older IN (SELECT value FROM json_each(?1)) AND newer IN (SELECT value FROM json_each(?1)) ORDER BY number"
)
"""Selects the pairs among a JSON list of ids that a person let stand side by side, each with its condition."""

SELECT_WRITERS = (
    "SELECT change.record_id, entry.actor, entry.session, entry.agent"
    " FROM stored_change AS change INDEXED BY change_record CROSS JOIN entry ON entry.seq = change.seq"
    " WHERE change.record = ? AND change.record_id IN (SELECT value FROM json_each(?))"
    " AND entry.actor IN ('agent', 'person') ORDER BY change.version"
)
"""Selects who wrote each version of the records of a kind in a JSON list of ids, oldest first; see `last_writers`."""


def last_writers(rows: Iterable[Sequence[Any]]) -> dict[str, str]:
    """Return the session, or the agent without one, that wrote each record last; none where a person did."""
    found: dict[str, str] = {}
    for record_id, actor, session, agent in rows:
        if actor == "person":
            found.pop(record_id, None)
        else:
            found[record_id] = f"session {session}" if session else f"agent {agent}"
    return found
