"""The one queue over everything that waits for a person: proposals of every kind, and contradictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

import msgspec

from memento_tui import clock
from memento_tui.errors import AmbiguousId, InvalidInput, NotFound
from memento_tui.store.store import Store
from memento_tui.store.waiting import WAITING_KINDS, WaitingRow
from memento_tui.workspace.contradictions import ContradictionQueue, Dispute
from memento_tui.workspace.deciding import CONTRADICTION, Decided, Decision, decide, decide_all, decided_name
from memento_tui.workspace.queue import Pending, ReviewQueue

__all__ = ["KIND_NAMES", "MOST_IN_A_SHEET", "WAITING_KINDS", "Waiting", "WaitingQueue", "WaitingView", "counted"]

MOST_IN_A_SHEET = 200
"""How many things are opened at once in a person's editor; the oldest first."""

KIND_NAMES: Mapping[str, tuple[str, str]] = {
    "secret": ("held a secret", "held a secret"),
    "contradiction": ("contradiction", "contradictions"),
    "suggestion": ("suggested answer", "suggested answers"),
    "identity": ("identity", "identities"),
    "expiring": ("expiring skip", "expiring skips"),
    "skip": ("skip", "skips"),
    "item": ("working item", "working items"),
    "learned": ("learned", "learned"),
    "consolidation": ("consolidation", "consolidations"),
    "merge": ("merge", "merges"),
    "trust": ("promotion", "promotions"),
    "new": ("new", "new"),
    "change": ("change", "changes"),
    "deletion": ("deletion", "deletions"),
}
"""What one and what several of each kind are called behind their number."""


def counted(counts: Mapping[str, int]) -> str:
    """Return the numbers of each kind in words: ``4 new, 1 merge``."""
    return ", ".join(f"{count:,} {KIND_NAMES[kind][count != 1]}" for kind, count in counts.items())


class Waiting(msgspec.Struct, frozen=True):
    """One thing that waits, as a list shows it. What it is in full, `WaitingQueue.get` says."""

    row: WaitingRow

    @property
    def id(self) -> str:
        """Its name within the queue: a proposal's id, or ``contradiction:`` and the contradiction's."""
        return decided_name(self.row.record, self.row.record_id)

    @property
    def kind(self) -> str:
        """One of `WAITING_KINDS`."""
        return self.row.kind

    @property
    def headline(self) -> str:
        """The first line that says something of what it is about."""
        lines = (line.strip().lstrip("#").strip() for line in self.row.text.splitlines())
        return next(filter(None, lines), f"{self.row.target} {self.row.record_id}")

    @property
    def version(self) -> int:
        """The version that a decision names."""
        return self.row.version


class WaitingView:
    """The queue as it is at one moment, or the part of it that is of one kind; read by page from the database."""

    def __init__(self, store: Store, kind: str, at: datetime) -> None:
        self._store, self._kind, self._at = store, kind, at

    def total(self) -> int:
        """Return how many wait."""
        counts = self._store.waiting.counts(self._at)
        return counts.get(self._kind, 0) if self._kind else sum(counts.values())

    def page(self, start: int, count: int) -> Sequence[Waiting]:
        """Return ``count`` of them from index ``start``, the one that has waited longest first."""
        return [Waiting(row) for row in self._store.waiting.page(self._at, self._kind, start, count)]

    def locate(self, row_id: str) -> int | None:
        """Return where one stands."""
        return self._store.waiting.locate(self._at, self._kind, *_parts(row_id))

    def ids(self, start: int, count: int) -> Sequence[str]:
        """Return the names of some of them."""
        return [decided_name(*pair) for pair in self._store.waiting.ids(self._at, self._kind, start, count)]


def _parts(name: str) -> tuple[str, str]:
    if name.startswith(CONTRADICTION):
        return "contradiction", name.removeprefix(CONTRADICTION)
    return "proposal", name


class WaitingQueue:
    """Everything that waits in one workspace, oldest first.

    Oldest first, because nothing then waits for ever, and because what arrives while somebody reads is added at the
    end: it moves nothing that is being read.
    """

    def __init__(self, store: Store, review: ReviewQueue, contradictions: ContradictionQueue) -> None:
        self._store = store
        self._review = review
        self._contradictions = contradictions

    def view(self, kind: str = "") -> WaitingView:
        """Return the queue as it is now, or its part of one kind. Raises `InvalidInput` for an unknown kind."""
        if kind and kind not in WAITING_KINDS:
            raise InvalidInput(f"Nothing waits as {kind!r:.40}.", f"The kinds are {', '.join(WAITING_KINDS)}.")
        return WaitingView(self._store, kind, clock.now())

    def counts(self) -> dict[str, int]:
        """Return how many of each kind wait now; kinds of which none does are left out."""
        return self._store.waiting.counts(clock.now())

    def count(self) -> int:
        """Return how many wait now; quicker than counting by kind."""
        return self._review.count() + self._contradictions.count()

    def list(
        self, kind: str = "", *, after: str | None = None, limit: int = 50
    ) -> tuple[Sequence[Waiting], str | None]:
        """Return what waits, and the next page's cursor. A cursor holds even if what it names was decided since.

        Raises:
            InvalidInput: an unknown kind or cursor, or a limit below 1.

        """
        if limit < 1:
            raise InvalidInput(f"A page holds at least one item; not {limit}.", "Give a limit of 1 or more.")
        view = self.view(kind)
        if after is None:
            found = view.page(0, limit)
        else:
            found = [Waiting(row) for row in self._store.waiting.after(clock.now(), kind, *_parts(after), limit)]
        return found, found[-1].id if len(found) == limit else None

    def get(self, name: str) -> Pending | Dispute:
        """Return one of them in full, with the records that it is about. Raises `NotFound` or `AmbiguousId`."""
        record, record_id = _parts(name)
        return self._contradictions.get(record_id) if record == "contradiction" else self._review.get(record_id)

    def find(self, given: str) -> str:
        """Return the name of what a person means: an id or a unique beginning of one, or a memory that waits.

        Raises:
            NotFound, AmbiguousId: nothing, or several things, are meant.

        """
        if given.startswith(CONTRADICTION):
            return decided_name("contradiction", self._contradictions.get(_parts(given)[1]).contradiction.id)
        if self._store.find("contradiction", given) is not None:
            return decided_name("contradiction", given)
        try:
            return self._review.get(given).proposal.id
        except AmbiguousId:
            raise
        except NotFound as no_proposal:
            try:
                return decided_name("contradiction", self._contradictions.get(given).contradiction.id)
            except AmbiguousId:
                raise
            except NotFound:
                raise no_proposal from None

    def rows(self, names: Sequence[str]) -> Sequence[Waiting]:
        """Return those of the named that wait, in the order of the queue."""
        return [Waiting(row) for row in self._store.waiting.rows(clock.now(), [_parts(name) for name in names])]

    def decide_one(self, decision: Decision) -> str:
        """Decide one thing and return the state that it has now. Raises like `deciding.decide`."""
        return decide(self._review, self._contradictions, decision)

    def decide(
        self, decisions: Sequence[Decision], *, progress: Callable[[int, int], None] | None = None
    ) -> Sequence[Decided]:
        """Decide several things, each on its own; one undo takes back all that were decided."""
        return decide_all(self._store, self._review, self._contradictions, decisions, progress=progress)
