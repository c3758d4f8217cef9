"""Whether an agent used what it was shown: seen afterwards, in the transcript of its session.

To be shown is no use. A memory was used if its full text was fetched by its id, or if what the agent said or did
afterwards holds words that are the memory's own: words that the person had not said in that session.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from memento_tui.search.text import STOP_WORDS, is_compound, terms
from memento_tui.upkeep.transcript import Turn

__all__ = ["ShownText", "Used", "used_memories"]

_FEWEST_NAMES = 1
_FEWEST_WORDS = 4
_SHARE = 0.4
"""Of the words that are a memory's own, how many the agent must have said, and which part of them all."""
_READ = 4_000
"""Characters of a memory that are compared."""
_EDGES = ".,;:!?\"'`()[]{}<>*_"
_HAS_DIGIT = re.compile(r"\d")


class ShownText(msgspec.Struct, frozen=True):
    """A memory as it was shown."""

    id: str
    text: str


class Used(msgspec.Struct, frozen=True):
    """The ids of memories that a session used."""

    fetched: frozenset[str]
    """Asked for by id."""
    reused: frozenset[str]
    """Their own words came back in what the agent said."""


def used_memories(shown: Sequence[ShownText], turns: Iterable[Turn]) -> Used:
    """Return which of the memories that a session was shown its turns show to have been used."""
    by_person: set[str] = set()
    by_agent: set[str] = set()
    asked: list[str] = []
    for turn in turns:
        if turn.role == "user":
            by_person |= _words(turn.text)
        elif turn.role == "assistant":
            by_agent |= _words(turn.text)
        elif turn.call is not None:
            # What a call was given is the agent's own words too; what it gave back is not.
            by_agent |= _words(turn.call.command)
            asked += [turn.call.asked, turn.call.command if "memento" in turn.call.command else ""]
    everything = "\n".join(part for part in asked if part)
    return Used(
        fetched=frozenset(one.id for one in shown if one.id in everything),
        reused=frozenset(one.id for one in shown if _reused(one.text, by_person, by_agent)),
    )


def _words(text: str) -> set[str]:
    found = set(terms(text))
    found.update(word.lower() for raw in text.split() if is_compound(word := raw.strip(_EDGES)))
    return found


def _reused(text: str, by_person: set[str], by_agent: set[str]) -> bool:
    own = {word for word in _words(text[:_READ]) if word not in STOP_WORDS} - by_person
    said = own & by_agent
    names = [word for word in said if is_compound(word) or (_HAS_DIGIT.search(word) and len(word) > 1)]
    return len(said) >= _FEWEST_WORDS and len(names) >= _FEWEST_NAMES and len(said) >= _SHARE * len(own)
