"""What the journal says was done, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from memento_tui.store.journal import Change, Entry
from memento_tui.store.store import Store
from memento_tui.tui.display import cells

__all__ = ["news_of", "subject_of", "taken_back"]

_VERBS = {
    "approve": "approved",
    "edit": "changed",
    "forget": "deleted",
    "import": "imported",
    "later": "put off",
    "purge": "purged",
    "redo": "redid",
    "reject": "rejected",
    "relate": "linked",
    "remember": "remembered",
    "restore": "restored",
    "undo": "undid",
    "verify": "verified",
}
_ASKED = {"remember": "asks to remember", "edit": "asks to change", "forget": "asks to delete"}
"""What an agent did whose write waits for a person."""

_LOOKED_INTO = 30
"""Entries of which it is looked up whether they wait for a person."""

_HEADLINE_WIDTH = 40


def news_of(store: Store, entries: Sequence[Entry]) -> str:
    """Return who did what, in a few words: ``claude-code remembered 3, asks to change 1``."""
    done: dict[str, Counter[str]] = {}
    for number, entry in enumerate(entries):
        verb = _VERBS.get(entry.action, entry.action)
        if number < _LOOKED_INTO and _waits(store, entry):
            verb = _ASKED.get(entry.action, f"asks to {entry.action}")
        done.setdefault(_who(entry), Counter())[verb] += 1
    return "; ".join(
        f"{who} " + ", ".join(verb if verb == "imported" else f"{verb} {count}" for verb, count in verbs.items())
        for who, verbs in done.items()
    )


def _who(entry: Entry) -> str:
    if entry.actor == "person":
        return f"you ({entry.channel})"
    return entry.agent or entry.actor


def _waits(store: Store, entry: Entry) -> bool:
    if entry.actor != "agent" or entry.batch:
        return False
    changes = store.changes(entry.seq)
    return entry.action in _ASKED and any(change.record == "proposal" for change in changes)


def taken_back(store: Store, entries: Sequence[Entry]) -> str:
    """Return what an undo or a redo took back: ``deleted "Use JWT"``, or ``deleted 5``."""
    first = entries[0]
    verb = _VERBS.get(_original(store, first).action, first.action)
    if len(entries) > 1:
        return f"{verb} {len(entries):,}"
    changes = store.changes(first.seq)
    if len(changes) > 2:  # noqa: PLR2004 - a record and the proposal that was about it
        return f"{verb} {len(changes):,}"
    subject = subject_of(changes)
    headline = "" if subject is None else _headline(store, subject)
    return f'{verb} "{cells(headline, _HEADLINE_WIDTH).rstrip()}"' if headline else verb


def _original(store: Store, entry: Entry) -> Entry:
    """Return the entry that an undo took back, or the entry itself where it is no undo."""
    while entry.undoes is not None:
        entry = store.entries_after(entry.undoes - 1, 1)[0]
    return entry


def subject_of(changes: Sequence[Change]) -> Change | None:
    """Return the change that an entry is about: that of a memory before that of the proposal about it."""
    return next((change for change in changes if change.record != "proposal"), next(iter(changes), None))


def _headline(store: Store, change: Change) -> str:
    record = store.image(change.record, change.record_id, change.version)
    if record is None:
        record = store.image(change.record, change.record_id, change.version - 1)
    if change.record == "proposal" and record is not None:
        record = store.find(record.target, record.target_id)
    for name in ("headline", "title", "item", "content"):
        if value := getattr(record, name, ""):
            return str(value)
    return ""
