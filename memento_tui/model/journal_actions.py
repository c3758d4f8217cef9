"""The words in which a person reads the actions of the journal; programs keep the names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

__all__ = [
    "JOURNAL_ACTIONS",
    "action_words",
    "actions_called",
    "counts_in_words",
    "done_words",
    "note_in_words",
]


class ActionWords(NamedTuple):
    """An action in words."""

    verb: str
    """The verb in the infinitive, for a command or a key: ``Undid delete``."""
    done: str
    """The participle, for an entry of the journal: ``deleted``."""


JOURNAL_ACTIONS: Mapping[str, ActionWords] = {
    "approve": ActionWords("approve", "approved"),
    "code": ActionWords("check cited code", "code checked"),
    "consolidate": ActionWords("consolidate", "consolidated"),
    "contradiction": ActionWords("find contradiction", "contradiction"),
    "crystal write": ActionWords("write identity", "identity set"),
    "distill": ActionWords("propose lesson", "lesson proposed"),
    "edit": ActionWords("edit", "edited"),
    "forget": ActionWords("delete", "deleted"),
    "hub": ActionWords("exchange with the hub", "hub"),
    "import": ActionWords("import", "imported"),
    "item add": ActionWords("add work item", "item added"),
    "item edit": ActionWords("edit work item", "item edited"),
    "item remove": ActionWords("delete work item", "item deleted"),
    "later": ActionWords("put off", "put off"),
    "limit history": ActionWords("limit history", "history limited"),
    "maintain": ActionWords("maintenance", "maintenance"),
    "mirror": ActionWords("mirror", "mirrored"),
    "proposals that ended": ActionWords("end proposals", "proposals ended"),
    "provenance": ActionWords("hold what was copied", "copied text held"),
    "purge": ActionWords("purge", "purged"),
    "quarantine": ActionWords("quarantine", "quarantined"),
    "redo": ActionWords("redo", "redone"),
    "refused approval": ActionWords("refused approval", "approval refused"),
    "reject": ActionWords("reject", "rejected"),
    "relate": ActionWords("link", "linked"),
    "release": ActionWords("release", "released"),
    "remember": ActionWords("add", "added"),
    "resolve": ActionWords("resolve", "resolved"),
    "restore": ActionWords("restore", "restored"),
    "restore backup": ActionWords("restore backup", "backup restored"),
    "skip add": ActionWords("add skip", "skip added"),
    "skip decide": ActionWords("decide skip", "skip decided"),
    "skip edit": ActionWords("edit skip", "skip edited"),
    "skip remove": ActionWords("delete skip", "skip deleted"),
    "suggest": ActionWords("suggest", "suggested"),
    "undo": ActionWords("undo", "undone"),
    "verify": ActionWords("verify", "verified"),
}
"""The words of every action that this program writes."""

_FROM_HUB = "hub "
"""Before an action of another machine that would mean something else in this journal."""

_PROPOSING = ("distill", "suggest")
"""The actions whose own words say that something is proposed."""

_NAMED_IN_NOTE = re.compile(r"(?P<before>(?:undo|redo) of \d+ \()(?P<action>[^()]*)\)")
"""The note of an undo or a redo, which names the undone or redone entry."""


def action_words(action: str) -> ActionWords:
    """Return the words of an action; one that a newer program wrote is called by its name."""
    if action in JOURNAL_ACTIONS:
        return JOURNAL_ACTIONS[action]
    known = JOURNAL_ACTIONS.get(action.removeprefix(_FROM_HUB))
    if known is not None:
        return ActionWords(f"{known.verb} (hub)", f"{known.done} (hub)")
    return ActionWords(action, action)


def done_words(action: str, *, proposes: bool) -> str:
    """Return an entry's action in words; ``proposes`` means that it only proposed the action."""
    if not proposes or action in _PROPOSING:
        return action_words(action).done
    return "proposed (hub)" if action.startswith(_FROM_HUB) else "proposed"


def counts_in_words(by_action: Mapping[str, int], proposed: Mapping[str, int]) -> Mapping[str, int]:
    """Return the counts of entries by action, in words, the most frequent first; ``proposed`` only proposed it."""
    counts: Counter[str] = Counter()
    for action, number in by_action.items():
        waiting = proposed.get(action, 0)
        counts[done_words(action, proposes=False)] += number - waiting
        counts[done_words(action, proposes=True)] += waiting
    return {words: number for words, number in counts.most_common() if number}


def note_in_words(note: str) -> str:
    """Return the note of an entry with the action that it names in words."""
    named = _NAMED_IN_NOTE.fullmatch(note)
    return note if named is None else f"{named['before']}{action_words(named['action']).verb})"


_CALLED: Mapping[str, tuple[str, ...]] = {
    **{name: (name, *words) for name, words in JOURNAL_ACTIONS.items()},
    **{(hub := f"{_FROM_HUB}{name}"): (hub, *words, *action_words(hub)) for name, words in JOURNAL_ACTIONS.items()},
}
"""The words by which each action is called, its name among them; one of another machine also by those of its kind."""


def actions_called(text: str) -> Sequence[str]:
    """Return the names of the actions that a person calls so, or begins to, in whatever case.

    Those of other machines have the sign "(hub)" in their words, which may be left out.
    """
    typed = text.lower()
    called = [name for name, words in _CALLED.items() if typed in words]
    begun = (name for name, words in _CALLED.items() if any(word.startswith(typed) for word in words))
    return called or list(begun)
