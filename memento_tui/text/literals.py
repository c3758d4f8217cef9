"""Find which of many literals a text holds, and where, in one pass over it however many there are."""

from __future__ import annotations

import ahocorasick

__all__ = ["Literals"]


class Literals:
    """Literals that are looked for together, such as those that the matches of many rules need.

    Each user adds its own and then asks what a text holds: the users of one text share one pass over it.
    """

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._automaton: ahocorasick.Automaton | None = None
        self._last: tuple[str, frozenset[str]] = ("", frozenset())
        self._longest_known: int | None = None

    def add(self, *literals: str) -> frozenset[str]:
        """Let literals be looked for, and return them as a set; none may be empty."""
        added = frozenset(literals)
        self._known |= added
        self._automaton = None
        self._last = ("", frozenset())
        self._longest_known = None
        return added

    def held_in(self, text: str) -> frozenset[str]:
        """Return the literals that stand in a text, letter for letter. Asked again about the same text, it knows.

        At least one literal must have been added.
        """
        last, held = self._last
        if last != text:
            held = frozenset([literal for _end, literal in (self._automaton or self._made()).iter(text)])
            self._last = (text, held)
        return held

    def held_across(self, first: str, second: str) -> frozenset[str]:
        """Return the literals that stand where one text meets another, with a space between; some of each beside them.

        At least one literal must have been added.
        """
        longest = self._longest()
        seam = f"{first[-longest:]} {second[:longest]}"
        return frozenset([literal for _end, literal in (self._automaton or self._made()).iter(seam)])

    def _longest(self) -> int:
        if self._longest_known is None:
            self._longest_known = max(map(len, self._known))
        return self._longest_known

    def places_in(self, text: str) -> dict[str, list[int]]:
        """Return where each literal begins that stands in a text. At least one literal must have been added."""
        places: dict[str, list[int]] = {}
        for end, literal in (self._automaton or self._made()).iter(text):
            places.setdefault(literal, []).append(end + 1 - len(literal))
        return places

    def _made(self) -> ahocorasick.Automaton:
        """Return the automaton of all literals, made anew: a thousand of them take a third of a millisecond."""
        automaton = ahocorasick.Automaton()
        for literal in self._known:
            automaton.add_word(literal, literal)
        automaton.make_automaton()
        self._automaton = automaton
        return automaton
