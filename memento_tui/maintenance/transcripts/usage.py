"""Detect, in the transcript of a session, which of the memories shown to an agent it used."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from memento_tui.maintenance.transcripts.reader import Turn
from memento_tui.text.keywords import FILLER_WORDS
from memento_tui.text.terms import EDGE_PUNCTUATION, STOP_WORDS, is_compound, terms

__all__ = ["ShownText", "used_memories"]

_FEWEST_SHARED_NAMES = 1
_FEWEST_SHARED_WORDS = 4
_LEAST_SHARED_SHARE = 0.4
"""The least number and share of a memory's own words that the agent must have said."""
_CHARACTERS_READ = 4_000
"""The characters of a memory that are compared."""
_COMMON = frozenset(stem for word in STOP_WORDS | FILLER_WORDS for stem in terms(word))
"""The stems of stop words and filler words."""
_HAS_DIGIT = re.compile(r"\d")
_WITHIN_A_NAME = r"[\w./:@#+-]"
"""The characters of ids: a call for ``note-12`` is none for ``note-1``."""


class ShownText(msgspec.Struct, frozen=True):
    """A memory's text as it was shown, and the first time; ``None``: from the beginning."""

    id: str
    text: str
    at: datetime | None = None


class UsedMemory(msgspec.Struct, frozen=True):
    """The ids of memories that a session used."""

    fetched: frozenset[str]
    """Ids that the agent fetched."""
    reused: frozenset[str]
    """Ids of the memories whose own words the agent repeated."""


def used_memories(shown: Sequence[ShownText], turns: Iterable[Turn]) -> UsedMemory:
    """Return which of the memories shown to a session were used, judged from its turns."""
    compared = [_UsageMatcher(one) for one in shown]
    asked: list[str] = []
    for turn in turns:
        if turn.call is not None:
            asked += [turn.call.asked, turn.call.command if "memento" in turn.call.command else ""]
        is_of_memento = turn.call is not None and bool(turn.call.asked or "memento" in turn.call.command)
        # The arguments of a call are the agent's own words; its output is known to the agent from then on. To remember
        # the same text again is no use of it, and the output of memento itself is the memory.
        said = "" if is_of_memento else turn.text if turn.role == "assistant" else _command_of(turn)
        heard = "" if turn.role == "assistant" or is_of_memento else turn.text
        said_words, heard_words = set(terms(said)), set(terms(heard))
        for one in compared:
            one.follow(said_words, heard_words, turn.at)
    everything = "\n".join(part for part in asked if part)
    return UsedMemory(
        fetched=frozenset(one.id for one in shown if _is_named(one.id, everything)),
        reused=frozenset(one.id for one in compared if one.is_reused()),
    )


def _command_of(turn: Turn) -> str:
    return turn.call.command if turn.call is not None else ""


class _UsageMatcher:
    """One memory's own words during a session, without those that others said before the agent did."""

    def __init__(self, shown: ShownText) -> None:
        self.id = shown.id
        self._at = shown.at
        self._own = _own_words(shown.text[:_CHARACTERS_READ])
        self._taken_up: set[frozenset[str]] = set()

    def follow(self, said: set[str], heard: set[str], at: datetime | None) -> None:
        """Add a turn: the stems that the agent said in it, and those that it heard."""
        if self._at is not None and at is not None and at < self._at:
            # Words that the agent had said before are not taken from the memory.
            heard = heard | said
        else:
            self._taken_up.update(word for word in self._own if word <= said)
        for word in [word for word in self._own if word <= heard and word not in self._taken_up]:
            del self._own[word]

    def is_reused(self) -> bool:
        names = sum(self._own[word] for word in self._taken_up)
        return names >= _FEWEST_SHARED_NAMES and len(self._taken_up) >= max(
            _FEWEST_SHARED_WORDS, _LEAST_SHARED_SHARE * len(self._own)
        )


def _own_words(text: str) -> dict[frozenset[str], bool]:
    """Return the words of a text as sets of stems, with whether each is a name or number; a name is one word."""
    found = {}
    for raw in text.split():
        word = raw.strip(EDGE_PUNCTUATION)
        stems = frozenset(terms(word))
        if stems - _COMMON:
            found[stems] = is_compound(word) or (len(word) > 1 and _HAS_DIGIT.search(word) is not None)
    return found


def _is_named(record_id: str, text: str) -> bool:
    # The arguments of a tool are JSON, which may escape an id.
    writings = {record_id, json.dumps(record_id)[1:-1]}
    patterns = (f"(?<!{_WITHIN_A_NAME}){re.escape(one)}(?!{_WITHIN_A_NAME})" for one in writings if one in text)
    return any(re.search(pattern, text) for pattern in patterns)
