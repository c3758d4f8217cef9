"""The part of a query that a tree of facets writes: which values are chosen, beside what else the query says."""

from __future__ import annotations

import re
from collections.abc import Mapping

from memento_tui.records.memory import SOURCE_TYPES, STABILITIES
from memento_tui.search.language import parse
from memento_tui.store.facets import FACETS, Facet
from memento_tui.store.filters import AllOf, Filter, HasTag, OneOf, Under

__all__ = ["Narrowing", "can_be_written"]

_WORD = re.compile(r"""(?:[^\s"]|"[^"]*"?)+""")
_TERM = re.compile(r"""(ns|kind|tag|tier|is|by):(?:"([^"]*)"|([^\s"]+))""", re.IGNORECASE)
_FIELDS: Mapping[Facet, str] = {
    "namespace": "ns",
    "kind": "kind",
    "tag": "tag",
    "tier": "tier",
    "stability": "is",
    "source_type": "by",
    "agent": "by",
}
_EITHER: tuple[Facet, ...] = ("namespace", "kind", "tier")
"""A memory has one of these, so that several chosen ones mean either; of tags it may have all that are chosen."""

_ONE_ONLY: tuple[Facet, ...] = ("stability", "source_type", "agent")
"""Of these the query language takes one at a time: choosing another lets go of the first."""


class Narrowing:
    """A query taken apart into chosen values and the rest, which stays as it was written."""

    def __init__(self, query: str = "") -> None:
        self.chosen: dict[Facet, list[str]] = {facet: [] for facet in FACETS}
        rest = []
        for word in _WORD.findall(query):
            facet, values = _read(word)
            # A second term of a field narrows further, while two values in one term widen: it stays as it is.
            if facet is None or (facet != "tag" and self.chosen[facet]):
                rest.append(word)
            else:
                self.chosen[facet] += [value for value in values if not self.has(facet, value)]
        self.rest = " ".join(rest)

    def has(self, facet: Facet, value: str) -> bool:
        """Tell whether a value is chosen; the case of tags does not matter."""
        return any(_same(facet, value, other) for other in self.chosen[facet])

    def toggle(self, facet: Facet, value: str) -> None:
        """Choose a value, or let it go."""
        if self.has(facet, value):
            self.chosen[facet] = [other for other in self.chosen[facet] if not _same(facet, value, other)]
        else:
            self._add(facet, value)

    def clear(self) -> None:
        """Let every value go."""
        for values in self.chosen.values():
            values.clear()

    @property
    def is_any(self) -> bool:
        """Whether any value is chosen."""
        return any(self.chosen.values())

    @property
    def query(self) -> str:
        """The query: a term for what is chosen of each facet, then the rest.

        Words are last, so that a quotation mark that is not closed takes in nothing of what the tree writes.
        """
        terms = []
        for facet, values in self.chosen.items():
            if facet in _EITHER and values:
                terms.append(_term(facet, ",".join(values)))
            else:
                terms += [_term(facet, value) for value in values]
        return " ".join([*terms, self.rest]).strip()

    def _add(self, facet: Facet, value: str) -> None:
        if facet in _ONE_ONLY:
            self.chosen[facet].clear()
        self.chosen[facet].append(value)


def can_be_written(facet: Facet, value: str) -> bool:
    """Tell whether the query language can name a value: one with a comma or a quotation mark in it cannot be named."""
    wanted: Filter
    if facet == "namespace":
        wanted = Under(value)
    elif facet == "tag":
        wanted = HasTag(value)
    else:
        wanted = OneOf(facet, (value,))
    found = parse(_term(facet, value))
    return not found.problems and not found.words and found.filter == AllOf((wanted,))


def _term(facet: Facet, value: str) -> str:
    quoted = f'"{value}"' if re.search(r"\s", value) else value
    return f"{_FIELDS[facet]}:{quoted}"


def _read(word: str) -> tuple[Facet | None, list[str]]:
    """Return the facet and the values that a term of a query chooses; ``None`` for any other part of it."""
    term = _TERM.fullmatch(word)
    if term is None:
        return None, []
    text = term[2] if term[2] is not None else term[3]
    facet = _facet(term[1].lower(), text)
    values = [part.strip() for part in text.split(",") if part.strip()]
    if facet is None or not values or (len(values) > 1 and facet not in _EITHER):
        return None, []
    return (facet, values) if all(can_be_written(facet, value) for value in values) else (None, [])


def _facet(field: str, text: str) -> Facet | None:
    if field == "is":
        return "stability" if text in STABILITIES else None
    if field == "by":
        return "source_type" if text in SOURCE_TYPES else "agent"
    return next(facet for facet, name in _FIELDS.items() if name == field)


def _same(facet: Facet, one: str, other: str) -> bool:
    return one.casefold() == other.casefold() if facet == "tag" else one == other
