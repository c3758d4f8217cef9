"""Find which of many literals a text holds, and where, in one pass over it however many there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

import ahocorasick

__all__ = ["Literals"]


class Literals:
    """Literals that are looked for together, such as those that the matches of many rules need.

    Each user adds its own and then asks what a text holds: the users of one text share one pass over it.
    """

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._automaton: ahocorasick.Automaton | None = None
        self._last: tuple[str, dict[str, list[int]]] = ("", {})

    def add(self, *literals: str) -> frozenset[str]:
        """Let literals be looked for, and return them as a set; none may be empty."""
        added = frozenset(literals)
        self._known |= added
        self._automaton = None
        self._last = ("", {})
        return added

    def held_in(self, text: str) -> AbstractSet[str]:
        """Return the literals that stand in a text, letter for letter."""
        return self.places_in(text).keys()

    def places_in(self, text: str) -> Mapping[str, Sequence[int]]:
        """Return where each literal begins that stands in a text. Asked again about the same text, it knows.

        At least one literal must have been added.
        """
        last, places = self._last
        if last != text:
            places = {}
            for end, literal in (self._automaton or self._made()).iter(text):
                if literal in places:
                    places[literal].append(end + 1 - len(literal))
                else:
                    places[literal] = [end + 1 - len(literal)]
            self._last = (text, places)
        return places

    def _made(self) -> ahocorasick.Automaton:
        """Return the automaton of all literals, made anew: a thousand of them take a third of a millisecond."""
        automaton = ahocorasick.Automaton()
        for literal in self._known:
            automaton.add_word(literal, literal)
        automaton.make_automaton()
        self._automaton = automaton
        return automaton
