"""The one queue over everything that waits for a person: proposals of every kind, and contradictions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime
from threading import Lock
from typing import Any, Literal

import msgspec

from memento_tui import clock
from memento_tui.api.review import ContradictionQueue, ContradictionWithSides, PendingProposal, ProposalQueue
from memento_tui.errors import AmbiguousId, InvalidInput, MementoError, NotAllowed, NotFound
from memento_tui.model import Contradiction
from memento_tui.model.review import INBOX_KINDS, RESOLUTIONS, RISKY_KINDS
from memento_tui.storage.review import InboxRow
from memento_tui.storage.store import Store
from memento_tui.storage.tables import cut_page

__all__ = [
    "KIND_NAMES",
    "MAX_BULK_EDIT_ITEMS",
    "Decision",
    "DecisionOutcome",
    "DecisionVerb",
    "Inbox",
    "InboxItem",
    "InboxListing",
    "InboxOrder",
    "counts_in_words",
    "decide",
    "inbox_name",
]

DecisionVerb = Literal[
    "approve",
    "reject",
    "later",
    "newer_supersedes",
    "older_stands",
    "both_valid",
    "merged",
    "not_a_contradiction",
]

InboxOrder = Literal["risk", "oldest", "newest", "agent"]
"""The order of the list: by risk, the oldest or the newest first, or by agent and then by risk."""

CONTRADICTION_PREFIX = "contradiction:"
"""The prefix of a contradiction's name in the inbox. A proposal's name is its id."""


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """A person's decision on one inbox entry."""

    id: str
    """A proposal's id; for a contradiction `CONTRADICTION` and its id."""
    verb: DecisionVerb
    seen: int | None
    """The version that the person saw; an entry that changed since is not decided. ``None`` accepts any."""
    reason: str = ""
    """For a rejection; the agent can read it."""
    changes: dict[str, Any] = {}
    """The person's changes before an approval, or the texts that a resolution needs: contexts, or the merged text."""
    despite: str = ""
    """The risk of an approval that the person was asked about and accepts, one of `RISKY_KINDS`."""


class DecisionOutcome(msgspec.Struct, frozen=True):
    """The outcome of one decision among several."""

    id: str
    state: str
    """The state that it has now, or ``failed``."""
    error: str = ""
    """The error with its remedy, in words."""


def inbox_name(record: str, record_id: str) -> str:
    """Return the name of a proposal or a contradiction in the whole queue."""
    return f"{CONTRADICTION_PREFIX}{record_id}" if record == "contradiction" else record_id


def decide_all(
    store: Store,
    review: ProposalQueue,
    contradictions: ContradictionQueue,
    decisions: Sequence[Decision],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Sequence[DecisionOutcome]:
    """Decide several entries; one that fails does not stop the others, and one undo takes back all decisions.

    A rejected contradiction is none. ``progress`` is called with how many are done, and of how many.
    """
    outcomes = []
    with store.one_undo() if len(decisions) > 1 else nullcontext():
        for number, decision in enumerate(decisions):
            if progress is not None:
                progress(number, len(decisions))
            try:
                outcomes.append(DecisionOutcome(decision.id, decide(review, contradictions, decision)))
            except MementoError as error:
                outcomes.append(DecisionOutcome(decision.id, "failed", str(error)))
    return outcomes


def decide(review: ProposalQueue, contradictions: ContradictionQueue, decision: Decision) -> str:
    """Carry one decision out and return the entry's new state.

    Raises:
        NotFound: there is no such entry.
        NotAllowed: an agent asks, it was decided already, or the decision does not fit it.
        RiskNotAccepted: it could do harm, and the decision does not say that the person knows.
        Conflict: it or its target changed since the person saw it.
        InvalidField: a change, or a text that a resolution needs, breaks a rule.

    """
    if decision.id.startswith(CONTRADICTION_PREFIX):
        return _resolve_contradiction(contradictions, decision)
    options: dict[str, Any] = {"seen": decision.seen}
    match decision.verb:
        case "approve":
            return review.approve(decision.id, **options, despite=decision.despite, **decision.changes).state
        case "reject":
            return review.reject(decision.id, decision.reason, **options).state
        case "later":
            return review.later(decision.id, **options).state
        case _:
            if review.get(decision.id).proposal.target != "contradiction":
                raise NotAllowed("It is no contradiction, so there are no sides to choose.", "Approve it or reject it.")
            # An answer of the person's own takes the place of the one that was suggested.
            answer = {"resolution": decision.verb, **decision.changes}
            return review.approve(decision.id, **options, despite=decision.despite, **answer).state


def _resolve_contradiction(contradictions: ContradictionQueue, decision: Decision) -> str:
    found = decision.id.removeprefix(CONTRADICTION_PREFIX)
    if decision.verb == "approve":
        raise NotAllowed("A contradiction has no plain yes.", "Say which side holds, that both do, or that it is none.")
    if decision.verb == "later":
        return contradictions.later(found, seen=decision.seen).status
    verb = "not_a_contradiction" if decision.verb == "reject" else decision.verb
    if verb not in RESOLUTIONS:
        raise NotAllowed(f"A contradiction cannot be decided by {verb}.")
    outcome = contradictions.resolve(found, verb, seen=decision.seen, **decision.changes)
    return getattr(outcome, "resolution", "") or "proposed"


MAX_BULK_EDIT_ITEMS = 200
"""How many entries are opened at once in a person's editor, the riskiest first."""

KIND_NAMES: Mapping[str, tuple[str, str]] = {
    "orders": ("that reads like orders", "that read like orders"),
    "secret": ("held a secret", "held a secret"),
    "quarantined": ("of a quarantined session", "of quarantined sessions"),
    "burst": ("of a burst", "of bursts"),
    "contradiction": ("contradiction", "contradictions"),
    "suggestion": ("suggested answer", "suggested answers"),
    "identity": ("identity", "identities"),
    "deletion": ("deletion", "deletions"),
    "change": ("change", "changes"),
    "merge": ("merge", "merges"),
    "code": ("about code that changed", "about code that changed"),
    "consolidation": ("consolidation", "consolidations"),
    "learned": ("learned", "learned"),
    "promotion": ("promotion", "promotions"),
    "expiring": ("expiring skip", "expiring skips"),
    "skip": ("skip", "skips"),
    "item": ("working item", "working items"),
    "new": ("new", "new"),
}
"""The singular and plural of each kind, as they follow a number."""


def counts_in_words(counts: Mapping[str, int]) -> str:
    """Return the numbers of each kind in words: ``4 new, 1 merge``."""
    return ", ".join(f"{count:,} {KIND_NAMES[kind][count != 1]}" for kind, count in counts.items())


class InboxItem(msgspec.Struct, frozen=True):
    """One inbox entry as a list shows it; `Inbox.get` returns it in full."""

    row: InboxRow

    @property
    def id(self) -> str:
        """Its name within the queue: a proposal's id, or ``contradiction:`` and the contradiction's."""
        return inbox_name(self.row.record, self.row.record_id)

    @property
    def kind(self) -> str:
        """One of `WAITING_KINDS`."""
        return self.row.kind

    @property
    def risk(self) -> str:
        """Its kind where that is one of `RISKY_KINDS`: an approval has to name it. Empty for all others."""
        return self.kind if self.kind in RISKY_KINDS else ""

    @property
    def headline(self) -> str:
        """The first line of its text that is not blank."""
        lines = (line.strip().lstrip("#").strip() for line in self.row.text.splitlines())
        return next(filter(None, lines), f"{self.row.target} {self.row.record_id}")

    @property
    def version(self) -> int:
        """The version that a decision names."""
        return self.row.version


class InboxView:
    """The inbox at one moment, or its entries of one kind, read by page from the database."""

    def __init__(self, store: Store, kind: str, at: datetime) -> None:
        self._store, self._kind, self._at = store, kind, at

    def total(self) -> int:
        """Return how many wait."""
        counts = self._store.inbox.counts(self._at)
        return counts.get(self._kind, 0) if self._kind else sum(counts.values())

    def page(self, start: int, count: int) -> Sequence[InboxItem]:
        """Return ``count`` items from index ``start``, the riskiest first, then those that waited longest."""
        return [InboxItem(row) for row in self._store.inbox.page(self._at, self._kind, start, count)]

    def locate(self, row_id: str) -> int | None:
        """Return the index of an entry, or ``None`` where it does not wait."""
        return self._store.inbox.locate(self._at, self._kind, *_split_name(row_id))

    def ids(self, start: int, count: int) -> Sequence[str]:
        """Return the names of some of them."""
        return [inbox_name(*pair) for pair in self._store.inbox.ids(self._at, self._kind, start, count)]


class InboxListing:
    """The entries of a kind whose texts hold some words, as they were when they were first asked for. Used on threads.

    Which they are is read once, and their rows by page: what comes later is none of them, what was decided leaves them
    once that is found, and what each held then is known by its version.
    """

    def __init__(self, store: Store, kind: str, words: Sequence[str], order: InboxOrder, at: datetime) -> None:
        self._store, self._kind, self._words, self._order, self._at = store, kind, words, order, at
        self._lock = Lock()
        self._found: dict[tuple[str, str], int] | None = None
        self._keys: Sequence[tuple[str, str]] = ()

    def _versions(self) -> dict[tuple[str, str], int]:
        with self._lock:
            if self._found is None:
                self._found = dict(self._store.inbox.listed(self._at, self._kind, self._words, self._order))
                self._keys = list(self._found)
            return self._found

    def _part(self, start: int, count: int) -> Sequence[tuple[str, str]]:
        self._versions()
        return self._keys[start : start + count]

    def total(self) -> int:
        """Return how many there are."""
        return len(self._versions())

    def page(self, start: int, count: int) -> Sequence[InboxItem]:
        """Return ``count`` of them from index ``start`` as they are now, fewer only at the end."""
        while True:
            keys = self._part(start, count)
            rows = {(row.record, row.record_id): InboxItem(row) for row in self._store.inbox.rows(self._at, keys)}
            if len(rows) == len(keys):
                return [rows[key] for key in keys]
            self._leave_out([key for key in keys if key not in rows])

    def _leave_out(self, decided: Iterable[tuple[str, str]]) -> None:
        with self._lock:
            found = self._found or {}
            for key in decided:
                found.pop(key, None)
            self._keys = list(found)

    def as_listed(self, names: Collection[str]) -> Mapping[str, InboxItem]:
        """Return those of some that wait, by name, each with the version that it was listed with.

        A decision names that version: one that says something else by now is refused.
        """
        versions = self._versions()
        rows = self._store.inbox.rows(self._at, [key for name in names if (key := _split_name(name)) in versions])
        items = [InboxItem(msgspec.structs.replace(row, version=versions[row.record, row.record_id])) for row in rows]
        return {item.id: item for item in items}

    def locate(self, row_id: str) -> int | None:
        """Return the index of an entry, or ``None`` where it is not among them."""
        key = _split_name(row_id)
        return self._keys.index(key) if key in self._versions() else None

    def ids(self, start: int, count: int) -> Sequence[str]:
        """Return the names of some of them."""
        return [inbox_name(*key) for key in self._part(start, count)]


def _known_kind(kind: str) -> str:
    if kind and kind not in INBOX_KINDS:
        raise InvalidInput(f"Nothing waits as {kind!r:.40}.", f"The kinds are {', '.join(INBOX_KINDS)}.")
    return kind


def _split_name(name: str) -> tuple[str, str]:
    if name.startswith(CONTRADICTION_PREFIX):
        return "contradiction", name.removeprefix(CONTRADICTION_PREFIX)
    return "proposal", name


class Inbox:
    """Everything that waits in one workspace, the riskiest first.

    What could do the most harm is decided first; of one kind, what waits longest, so that nothing waits for ever.
    """

    def __init__(self, store: Store, review: ProposalQueue, contradictions: ContradictionQueue) -> None:
        self._store = store
        self._review = review
        self._contradictions = contradictions

    def view(self, kind: str = "") -> InboxView:
        """Return the queue as it is now, or its part of one kind. Raises `InvalidInput` for an unknown kind."""
        return InboxView(self._store, _known_kind(kind), clock.now())

    def listing(self, kind: str = "", words: Sequence[str] = (), order: InboxOrder = "risk") -> InboxListing:
        """Return the entries of a kind whose texts hold all of some words, in an order, to be decided as listed.

        Raises:
            InvalidInput: an unknown kind.

        """
        return InboxListing(self._store, _known_kind(kind), words, order, clock.now())

    def counts(self) -> dict[str, int]:
        """Return how many of each kind wait now; kinds of which none does are left out."""
        return self._store.inbox.counts(clock.now())

    def count(self) -> int:
        """Return how many wait now; quicker than counting by kind."""
        return self._review.count() + self._contradictions.count()

    def list(
        self, kind: str = "", *, after: str | None = None, limit: int = 50
    ) -> tuple[Sequence[InboxItem], str | None]:
        """Return inbox entries and the next page's cursor, which is valid even if its entry was decided since.

        Raises:
            InvalidInput: an unknown kind or cursor, or a limit below 1.

        """
        if limit < 1:
            raise InvalidInput(f"A page holds at least one item; not {limit}.", "Give a limit of 1 or more.")
        view = self.view(kind)
        if after is None:
            read = view.page(0, limit + 1)
        else:
            rows = self._store.inbox.after(clock.now(), kind, *_split_name(after), limit + 1)
            read = [InboxItem(row) for row in rows]
        found, goes_on = cut_page(read, limit)
        return found, found[-1].id if goes_on else None

    def get(self, name: str) -> PendingProposal | ContradictionWithSides:
        """Return one of them in full, with the records that it is about. Raises `NotFound` or `AmbiguousId`."""
        record, record_id = _split_name(name)
        return self._contradictions.get(record_id) if record == "contradiction" else self._review.get(record_id)

    def find(self, given: str) -> str:
        """Return the name of the entry that a person means by an id or its beginning, or by the id of a waiting memory.

        Raises:
            NotFound, AmbiguousId: nothing, or several things, are meant.

        """
        if given.startswith(CONTRADICTION_PREFIX):
            return inbox_name("contradiction", self._contradictions.get(_split_name(given)[1]).contradiction.id)
        if self._store.find(Contradiction, given) is not None:
            return inbox_name("contradiction", given)
        names = [
            inbox_name(kind, found) for kind in ("proposal", "contradiction") if (found := self._id_of(kind, given))
        ]
        if len(names) > 1:
            raise AmbiguousId(given, names)
        # Only what is named like no entry may be a record that waits: a decision about an entry is about that.
        return names[0] if names else self._review.get(given).proposal.id

    def _id_of(self, kind: str, given: str) -> str:
        """Return the id of an entry's record by a unique beginning of it; empty where none begins so."""
        try:
            return self._store.resolve(kind, given)
        except AmbiguousId:
            raise
        except NotFound:
            return ""

    def rows(self, names: Sequence[str]) -> Sequence[InboxItem]:
        """Return those of the named that wait, in the order of the queue."""
        return [InboxItem(row) for row in self._store.inbox.rows(clock.now(), [_split_name(name) for name in names])]

    def decide_one(self, decision: Decision) -> str:
        """Decide one entry and return its new state. Raises like the function `decide`."""
        return decide(self._review, self._contradictions, decision)

    def decide(
        self, decisions: Sequence[Decision], *, progress: Callable[[int, int], None] | None = None
    ) -> Sequence[DecisionOutcome]:
        """Decide several entries, each on its own; one undo takes back all decisions."""
        return decide_all(self._store, self._review, self._contradictions, decisions, progress=progress)
