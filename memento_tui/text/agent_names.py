"""Keep the names that agents give themselves apart from the words for the person and for memento.

An agent's name stands wherever a person or a model reads who wrote something. One that calls itself ``you`` would have
its words read as the person's.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["honest_agent_name", "is_persons_name"]

_ANONYMOUS = "agent"
"""The name of an agent whose own name is somebody else's."""

_PERSON_WORDS = frozenset(
    ("you", "your", "user", "person", "human", "owner", "me", "myself", "verified", "approved", "trusted", "essential")
)
"""Words that make a name read as the person's, or as trust that a person gave."""

_PROGRAM_NAMES = frozenset(("i", "memento", "system", "maintenance", "mirror", "hub", "stable"))
"""Whole names that memento or its words stand under."""

_WORD = re.compile(r"[^\W\d_]+")


def is_persons_name(name: str) -> bool:
    """Tell whether a name reads as that of the person, or as their trust, also in letters that look like Latin ones."""
    words = _WORD.findall(_folded(name))
    return not _PERSON_WORDS.isdisjoint(words)


def honest_agent_name(name: str, *, is_program: bool = False) -> str:
    """Return the name under which an agent writes: its own, or ``agent`` where that is the person's or memento's.

    ``is_program`` says that memento itself writes.
    """
    if is_persons_name(name) or (not is_program and "".join(_WORD.findall(_folded(name))) in _PROGRAM_NAMES):
        return _ANONYMOUS
    return name


def _folded(name: str) -> str:
    """Return a name in small Latin letters without accents and invisible characters, as far as it has such."""
    if name.isascii():
        return name.lower()
    from memento_tui.text.lookalikes import LATIN_LOOKALIKES  # noqa: PLC0415 - nearly every name is plain

    letters = (char for char in unicodedata.normalize("NFKD", name.casefold()) if not unicodedata.combining(char))
    return "".join(LATIN_LOOKALIKES.get(char, char) for char in letters if unicodedata.category(char) != "Cf")
