"""Follow the journal of a workspace: others' writes, and the age of the view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic

from memento_tui.api.activity import ActivityLog
from memento_tui.api.types import Entry
from memento_tui.errors import LockedWorkspace, MementoError
from memento_tui.model.journal_actions import action_words

__all__ = ["JournalUpdate", "JournalWatcher"]

_MOST_WRITERS_NAMED = 3
"""Writers and their actions that one line can name."""

_STALE_SECONDS = 3.0
"""Seconds without a successful poll after which the view is called old."""


@dataclass(frozen=True)
class JournalUpdate:
    """The result of one poll: whether anything was written, and a summary of the entries of others."""

    changed: bool = False
    summary: str = ""
    locked: str = ""
    """The sentence that says that the workspace was locked; empty where it was not."""


class JournalWatcher:
    """Follows the journal of a workspace. Entries of ``session``, the app's own, are left out of summaries."""

    def __init__(self, journal: ActivityLog, session: str) -> None:
        self._journal = journal
        self._session = session
        self._seen, self._mark = journal.position()
        self._behind = 0
        self._paused_at: float | None = None
        self._polled_at = monotonic()
        self._problem = ""

    def catch_up(self) -> None:
        """Count the present journal as seen."""
        self._seen, self._mark = self._journal.position()

    def poll(self) -> JournalUpdate:
        """Read the entries since the last poll. While paused, only the number of entries behind changes."""
        try:
            head, mark = self._journal.position()
            if self._paused_at is not None:
                self._behind = max(head - self._seen, 0)
                return JournalUpdate()
            entries = self._journal.entries_after(self._seen) if head > self._seen else []
        except LockedWorkspace as error:
            return JournalUpdate(locked=str(error))
        except MementoError as error:
            summary, self._problem = ("" if self._problem else str(error)), str(error)
            return JournalUpdate(summary=summary)
        self._polled_at, self._problem = monotonic(), ""
        changed = mark != self._mark
        self._seen, self._mark = head, mark
        return JournalUpdate(
            changed, _summary_of_entries([entry for entry in entries if entry.session != self._session])
        )

    @property
    def is_paused(self) -> bool:
        """Whether the person stopped the view."""
        return self._paused_at is not None

    def toggle_pause(self) -> None:
        """Pause, or follow again."""
        self._paused_at = monotonic() if self._paused_at is None else None
        self._behind = 0

    def status_text(self) -> str:
        """Return the state of the view in a few words: live, paused for how long and how far behind, or how old."""
        if self._paused_at is not None:
            behind = f", {self._behind:,} behind" if self._behind else ""
            return f"PAUSED {_elapsed(self._paused_at)}{behind} (p)"
        if monotonic() - self._polled_at > _STALE_SECONDS:
            return f"NOT LIVE, as it was {_elapsed(self._polled_at)} ago"
        return "live"


def _elapsed(since: float) -> str:
    seconds = int(monotonic() - since)
    return f"{seconds}s" if seconds < 60 else f"{seconds // 60}m"  # noqa: PLR2004 - seconds in a minute


def _summary_of_entries(entries: Sequence[Entry]) -> str:
    """Return one sentence with the writers of entries and their actions."""
    done = Counter((_writer(entry), action_words(entry.action).done) for entry in entries)
    parts = [f"{who}: {action}" + (f" x{number}" if number > 1 else "") for (who, action), number in done.items()]
    return "; ".join(parts[:_MOST_WRITERS_NAMED]) + (" ..." if len(parts) > _MOST_WRITERS_NAMED else "")


def _writer(entry: Entry) -> str:
    return entry.agent or ("you, elsewhere" if entry.actor == "person" else entry.channel)
