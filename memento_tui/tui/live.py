"""The live view: what was written since the app looked last, by whom, and how old what is shown is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic

from memento_tui.errors import MementoError
from memento_tui.store.journal import Entry
from memento_tui.store.store import Store

__all__ = ["LiveView", "News"]

_STALE_SECONDS = 3.0
"""Without a successful look for so long, the view is told to be old."""

_MOST_TOLD = 3
"""Writers whose deeds one line can tell."""


@dataclass(frozen=True)
class News:
    """What one look found: whether anything was written, and in one sentence what others did."""

    changed: bool = False
    told: str = ""


class LiveView:
    """Follows the journal of one store. ``session`` is the app's own, of which nothing is told."""

    def __init__(self, store: Store, session: str) -> None:
        self._store = store
        self._session = session
        self._seen, self._mark = self._head()
        self._behind = 0
        self._paused_at: float | None = None
        self._looked_at = monotonic()
        self._problem = ""

    def _head(self) -> tuple[int, str]:
        """Return the newest entry's number and what tells it from one of another past, as a restored backup has."""
        head = self._store.head()
        return head, self._store.mark(head)

    def catch_up(self) -> None:
        """Take what stands in the journal now as seen."""
        self._seen, self._mark = self._head()

    def look(self) -> News:
        """Look at the journal. While paused, only how far behind the view is changes."""
        try:
            head, mark = self._head()
            if self._paused_at is not None:
                self._behind = max(head - self._seen, 0)
                return News()
            entries = self._store.entries_after(self._seen) if head > self._seen else []
        except MementoError as error:
            told, self._problem = ("" if self._problem else str(error)), str(error)
            return News(told=told)
        self._looked_at, self._problem = monotonic(), ""
        changed = mark != self._mark
        self._seen, self._mark = head, mark
        return News(changed, _told([entry for entry in entries if entry.session != self._session]))

    @property
    def is_paused(self) -> bool:
        """Whether the person stopped the view."""
        return self._paused_at is not None

    def toggle_pause(self) -> None:
        """Stop following, or follow again."""
        self._paused_at = monotonic() if self._paused_at is None else None
        self._behind = 0

    def life(self) -> str:
        """Return in a few words how the view lives: live, paused for how long and how far behind, or how old."""
        if self._paused_at is not None:
            behind = f", {self._behind:,} behind" if self._behind else ""
            return f"PAUSED {_span(self._paused_at)}{behind} (p)"
        if monotonic() - self._looked_at > _STALE_SECONDS:
            return f"NOT LIVE, as it was {_span(self._looked_at)} ago"
        return "live"


def _span(since: float) -> str:
    seconds = int(monotonic() - since)
    return f"{seconds}s" if seconds < 60 else f"{seconds // 60}m"  # noqa: PLR2004 - seconds in a minute


def _told(entries: Sequence[Entry]) -> str:
    """Return one sentence about what others wrote."""
    done = Counter((entry.agent or entry.channel, entry.action) for entry in entries)
    parts = [f"{who}: {action}" + (f" x{number}" if number > 1 else "") for (who, action), number in done.items()]
    return "; ".join(parts[:_MOST_TOLD]) + (" ..." if len(parts) > _MOST_TOLD else "")
