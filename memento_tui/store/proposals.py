"""Reading proposals: the queue in pages, and what was proposed before."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

from memento_tui.errors import InvalidInput
from memento_tui.records import Proposal
from memento_tui.records.when import to_text
from memento_tui.store.database import Database
from memento_tui.store.tables import select

__all__ = ["Proposals"]


class Proposals:
    """The proposals of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(
        self, states: Sequence[str], *, at: datetime, after: str | None = None, limit: int = 50
    ) -> tuple[list[Proposal], str | None]:
        """Return proposals in these states, oldest first, and the next page's cursor.

        Those put off until after ``at`` are left out unless only ``later`` is asked for.
        """
        if limit < 1:
            raise InvalidInput(f"A page holds at least one proposal; not {limit}.", "Give a limit of 1 or more.")
        marks = ", ".join("?" * len(states))
        where, parameters = f"state IN ({marks})", list[object](states)
        if list(states) != ["later"]:
            where += " AND (state <> 'later' OR coalesce(later_until, '9') <= ?)"
            parameters.append(to_text(at))
        if after is not None:
            where += " AND number > (SELECT number FROM proposal WHERE id = ?)"
            parameters.append(after)
        with self._database.reading() as connection:
            found = select(connection, "proposal", f"{where} ORDER BY number LIMIT ?", [*parameters, limit])
        return found, found[-1].id if len(found) == limit else None

    def count(self, states: Sequence[str], *, at: datetime) -> int:
        """Return how many proposals `page` would return in all."""
        marks = ", ".join("?" * len(states))
        query = (
            f"SELECT count(*) FROM proposal WHERE state IN ({marks})"
            " AND (state <> 'later' OR coalesce(later_until, '9') <= ?)"
        )
        with self._database.reading() as connection:
            return int(connection.execute(query, [*states, to_text(at)]).fetchone()[0])

    def about(self, target_id: str, record: str = "memory") -> list[Proposal]:
        """Return the proposals about one record of a kind, newest first."""
        where = "target_id = ? AND target = ? ORDER BY number DESC"
        with self._database.reading() as connection:
            return select(connection, "proposal", where, (target_id, record))

    def of(
        self, proposed_by: str, states: Sequence[str], *, after: str | None = None, limit: int = 50
    ) -> tuple[list[Proposal], str | None]:
        """Return what one agent proposed, in these states and put off or not, and the next page's cursor.

        What was decided last comes first; of what waits, the newest.
        """
        marks = ", ".join("?" * len(states))
        where, parameters = f"proposed_by = ? AND state IN ({marks})", list[object]([proposed_by, *states])
        moment = "coalesce(decided_at, created_at)"
        if after is not None:
            where += f" AND ({moment}, number) < (SELECT {moment}, number FROM proposal WHERE id = ?)"
            parameters.append(after)
        where += f" ORDER BY {moment} DESC, number DESC LIMIT ?"
        with self._database.reading() as connection:
            found = select(connection, "proposal", where, [*parameters, limit])
        return found, found[-1].id if len(found) == limit else None

    def same(self, fingerprint: str) -> Proposal | None:
        """Return the newest proposal that waits, or was rejected, and would do the same; ``None`` if there is none."""
        where = (
            "fingerprint = ? AND fingerprint <> '' AND state IN ('pending', 'later', 'needs_review', 'rejected')"
            " ORDER BY number DESC LIMIT 1"
        )
        with self._database.reading() as connection:
            return next(iter(select(connection, "proposal", where, (fingerprint,))), None)

    def waiting_for(self, reason: str) -> list[Proposal]:
        """Return the proposals with a reason that nobody has decided about, put off or not, oldest first."""
        where = (
            "state IN ('pending', 'later', 'needs_review')"
            " AND EXISTS (SELECT 1 FROM json_each(proposal.reasons) WHERE value = ?) ORDER BY number"
        )
        with self._database.reading() as connection:
            return select(connection, "proposal", where, (reason,))

    def merging(self) -> set[str]:
        """Return the ids of the memories on both sides of the merges that wait."""
        query = (
            "SELECT target_id, json_extract(evidence, '$.other') FROM proposal"
            " WHERE action = 'merge' AND state IN ('pending', 'later', 'needs_review')"
        )
        with self._database.reading() as connection:
            return {str(side) for row in connection.execute(query) for side in row}

    def sources_used(self, reason: str) -> list[frozenset[str]]:
        """Return the sets of records that proposals with a reason were made from, whatever became of them."""
        query = (
            "SELECT json_extract(evidence, '$.about') FROM proposal"
            " WHERE EXISTS (SELECT 1 FROM json_each(reasons) WHERE value = ?)"
        )
        with self._database.reading() as connection:
            rows = connection.execute(query, (reason,)).fetchall()
        return [frozenset(msgspec.json.decode(row[0], type=list[str])) for row in rows if row[0]]
