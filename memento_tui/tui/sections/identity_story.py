"""Tell how an identity came to be: its versions with the words that changed, and what of it agents may be told."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from memento_tui.api import Workspace
from memento_tui.api.identity import crystal_before, writer_of
from memento_tui.model import Crystal
from memento_tui.text.diff import diff_steps
from memento_tui.tui.views.record_story import RecordStory, StoryLine, StoryPart

__all__ = ["IdentityStory", "change_in_words"]

_MOST_VERSIONS = 12
"""Versions that are told, each in two lines."""

_MAX_CHARACTERS = 20_000
"""Characters of a text that are compared."""

_MAX_COMPARISONS = 50_000
"""Pairs of words that one comparison looks at: a dozen comparisons take a tenth of a second."""


class IdentityStory(RecordStory[Crystal]):
    """Every version of the identity with what it changed, and what of it agents may be told."""

    def read(self, workspace: Workspace, record: Crystal) -> Sequence[StoryPart]:
        """Return what agents may be told of a crystal, and all versions, the newest first."""
        history = workspace.crystals.timeline()
        versions = [_version(crystal, history) for crystal in islice(history, _MOST_VERSIONS)]
        return [StoryPart("What agents may be told", [_told(record)]), StoryPart("How it came to be", versions)]


def _told(crystal: Crystal) -> str:
    from memento_tui.hooks.told_lists import told_of_identity  # noqa: PLC0415 - only a tall screen needs it

    if crystal.status != "current":
        waits = " until you approve it (a)" if crystal.status == "proposed" else ""
        return f"Nothing of this one{waits}."
    told = told_of_identity(crystal)
    cut = " Its end is left out there: it is too long." if told.is_cut else ""
    return f"This text, when a session begins, where there is room for it: about {told.tokens:,} tokens.{cut}"


def _version(crystal: Crystal, history: Sequence[Crystal]) -> StoryLine:
    before = crystal_before(crystal, history)
    if before is None:
        changed, words = "the first", crystal.content
    else:
        changed, words = change_in_words(before.content[:_MAX_CHARACTERS], crystal.content[:_MAX_CHARACTERS])
    return StoryLine(crystal.created_at, writer_of(crystal), crystal.status, changed, words)


def change_in_words(before: str, after: str) -> tuple[str, str]:
    """Return how many words a text lost and gained, such as ``+2 -1 words``, and the changes, one behind the other."""
    old, new = re.findall(r"\S+", before), re.findall(r"\S+", after)
    lost, gained = 0, 0
    changes: list[str] = []
    for tag, a1, a2, b1, b2 in diff_steps(old, new, limit=_MAX_COMPARISONS):
        if tag != "equal":
            lost, gained = lost + a2 - a1, gained + b2 - b1
            changes += [f"- {' '.join(old[a1:a2])}"] if a2 > a1 else []
            changes += [f"+ {' '.join(new[b1:b2])}"] if b2 > b1 else []
    return (f"+{gained:,} -{lost:,} words" if changes else "says the same"), "   ".join(changes)
