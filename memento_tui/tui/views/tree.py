"""The view of the facets with counts, and the part of the query that it writes to filter the list."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic
from typing import ClassVar

import msgspec
from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from memento_tui.api.types import FACETS, Facet
from memento_tui.errors import MementoError
from memento_tui.model.filters import AllOf, Filter, HasTag, OneOf, Under
from memento_tui.model.memory import KINDS, SOURCE_TYPES, STABILITIES, TIERS
from memento_tui.model.validation import fold_tag
from memento_tui.search.query_language import field_tokens, parse, written_field
from memento_tui.tui.commands import KeyScope, bindings
from memento_tui.tui.display import cells
from memento_tui.tui.section import in_thread
from memento_tui.tui.views.view import FilterChanged, FixedRows, View, ViewClosed, ViewList
from memento_tui.tui.widgets.record_list import Line

__all__ = ["FacetFilter", "TreeView", "facet_nodes", "is_expressible"]

_QUERY_WORD = re.compile(r"""(?:[^\s"]|"[^"]*"?)+""")
_FIELDS: Mapping[Facet, str] = {
    "namespace": "ns",
    "kind": "kind",
    "tag": "tag",
    "tier": "tier",
    "stability": "is",
    "source_type": "by",
    "agent": "by",
}
_ANY_OF_FACETS: tuple[Facet, ...] = ("namespace", "kind", "tier")
"""Facets of which a memory has one value, so that several chosen values mean any of them; of tags it needs all."""

_ONE_ONLY: tuple[Facet, ...] = ("stability", "source_type", "agent")
"""Facets of which the query language takes one value: choosing another replaces it."""


class FacetFilter:
    """A query split into the chosen values of facets and the rest, which stays as it was written."""

    def __init__(self, query: str = "") -> None:
        self.chosen: dict[Facet, list[str]] = {facet: [] for facet in FACETS}
        rest = []
        for word in _QUERY_WORD.findall(query):
            facet, values = _parse_term(word)
            # A second term of a field narrows the result, two values in one term widen it: it stays in the rest.
            if facet is None or (facet != "tag" and self.chosen[facet]):
                rest.append(word)
            else:
                self.chosen[facet] += [value for value in values if not self.has(facet, value)]
        self.rest = " ".join(rest)

    def has(self, facet: Facet, value: str) -> bool:
        """Return whether a value is chosen; the case of tags does not matter."""
        return any(_same_value(facet, value, other) for other in self.chosen[facet])

    def toggle(self, facet: Facet, value: str) -> None:
        """Choose a value, or no longer."""
        if self.has(facet, value):
            self.chosen[facet] = [other for other in self.chosen[facet] if not _same_value(facet, value, other)]
        else:
            self._add(facet, value)

    def clear(self) -> None:
        """Choose no value."""
        for values in self.chosen.values():
            values.clear()

    @property
    def is_any(self) -> bool:
        """Whether any value is chosen."""
        return any(self.chosen.values())

    @property
    def query(self) -> str:
        """The query: a term for the chosen values of each facet, then the rest.

        The rest is last, so that an unclosed quotation mark in it does not include the terms.
        """
        terms = []
        for facet, values in self.chosen.items():
            if facet in _ANY_OF_FACETS and values:
                terms.append(_term(facet, *values))
            else:
                terms += [_term(facet, value) for value in values]
        return " ".join([*terms, self.rest]).strip()

    def _add(self, facet: Facet, value: str) -> None:
        if facet in _ONE_ONLY:
            self.chosen[facet].clear()
        self.chosen[facet].append(value)


def is_expressible(facet: Facet, value: str) -> bool:
    """Return whether the query language can express a value; one with a quotation mark it cannot."""
    expected: Filter
    if facet == "namespace":
        expected = Under(value)
    elif facet == "tag":
        expected = HasTag(value)
    else:
        expected = OneOf(facet, (value,))
    parsed = parse(_term(facet, value))
    return not parsed.problems and not parsed.words and parsed.filter == AllOf((expected,))


def _term(facet: Facet, *values: str) -> str:
    return written_field(_FIELDS[facet], *values)


def _parse_term(word: str) -> tuple[Facet | None, list[str]]:
    """Return the facet and the values that a word of a query chooses; ``None`` and no values for any other word."""
    term = next(field_tokens(word), None)
    if term is None or term.sign or (term.start, term.end) != (0, len(word)):
        return None, []
    values = list(term.values)
    facet = _facet_of(term.field, values)
    if facet is None or (len(values) > 1 and facet not in _ANY_OF_FACETS):
        return None, []
    return (facet, values) if all(is_expressible(facet, value) for value in values) else (None, [])


def _facet_of(field: str, values: Sequence[str]) -> Facet | None:
    if not values:
        return None
    if field == "is":
        return "stability" if values[0] in STABILITIES else None
    if field == "by":
        return "source_type" if values[0] in SOURCE_TYPES else "agent"
    return next((facet for facet, name in _FIELDS.items() if name == field), None)


def _same_value(facet: Facet, one: str, other: str) -> bool:
    return fold_tag(one) == fold_tag(other) if facet == "tag" else one == other


_TITLES: Mapping[Facet, str] = {
    "namespace": "NAMESPACES",
    "kind": "KINDS",
    "tag": "TAGS",
    "tier": "TIERS",
    "stability": "TRUST",
    "source_type": "SOURCES",
    "agent": "AGENTS",
}
_KNOWN_VALUES: Mapping[Facet, Sequence[str]] = {
    "kind": KINDS,
    "tier": TIERS,
    "stability": STABILITIES,
    "source_type": SOURCE_TYPES,
}
"""The values that are shown before anything was counted."""

Counts = Mapping[Facet, Sequence[tuple[str, int]]]


class FacetNode(msgspec.Struct, frozen=True):
    """One row: the title of a facet, with an empty ``value``, or one of its values."""

    facet: Facet
    value: str
    name: str
    depth: int
    count: int | None
    """``None`` until it was counted."""
    can_fold: bool = False
    is_folded: bool = False

    @property
    def id(self) -> str:
        """The facet and the value."""
        return f"{self.facet}:{self.value}"


def facet_nodes(counts: Counts, folded: set[str], is_chosen: Callable[[Facet, str], bool]) -> list[FacetNode]:
    """Return the visible rows. ``folded`` holds the ids of the rows whose parts are hidden."""
    return [branch for facet in FACETS for branch in _nodes_of_facet(facet, counts, folded, is_chosen)]


def _nodes_of_facet(
    facet: Facet, counts: Counts, folded: set[str], is_chosen: Callable[[Facet, str], bool]
) -> Iterator[FacetNode]:
    counted = counts.get(facet)
    if counted is not None and not counted:
        return
    title = FacetNode(facet, "", _TITLES[facet], 0, None, can_fold=True, is_folded=f"{facet}:" in folded)
    yield title
    if title.is_folded:
        return
    if facet == "namespace":
        yield from _namespace_nodes(dict(counted or ()), folded)
        return
    if counted is None:
        yield from (FacetNode(facet, value, value.replace("_", " "), 1, None) for value in _KNOWN_VALUES.get(facet, ()))
        return
    names = dict(counted)
    order = [value for value in _KNOWN_VALUES.get(facet, names) if value in names or is_chosen(facet, value)]
    if facet == "kind":
        order.sort(key=lambda value: -names.get(value, 0))
    for value in order:
        name = f"#{value}" if facet == "tag" else value.replace("_", " ") if facet in _KNOWN_VALUES else value
        yield FacetNode(facet, value, name, 1, names.get(value, 0))


def _namespace_nodes(counts: Mapping[str, int], folded: set[str]) -> Iterator[FacetNode]:
    """Yield the namespaces as a tree; each counts the memories below it too."""
    totals: dict[str, int] = {}
    for namespace, count in counts.items():
        names = namespace.split("/")
        for length in range(1, len(names) + 1):
            path = "/".join(names[:length])
            totals[path] = totals.get(path, 0) + count
    # Sorted by their parts, so that the namespaces below another follow it.
    order = sorted(totals, key=lambda path: path.split("/"))
    parents = {path.rpartition("/")[0] for path in order}
    hidden = ""
    for path in order:
        if hidden and path.startswith(hidden):
            continue
        branch = FacetNode(
            "namespace",
            path,
            path.rpartition("/")[2],
            path.count("/") + 1,
            totals[path],
            can_fold=path in parents,
            is_folded=f"namespace:{path}" in folded,
        )
        hidden = f"{path}/" if branch.is_folded and branch.can_fold else ""
        yield branch


_QUICK_SECONDS = 0.1
"""Seconds; counts that take longer are made when the tree is opened, and not after every write."""

_COUNT_WIDTH = 10


class TreeView(View):
    """A view of the facets with their counts; Enter turns the filter by one on or off."""

    SCOPE: ClassVar[KeyScope] = "tree"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("tree")]

    def __init__(self) -> None:
        super().__init__("tree")
        self.rows: ViewList[FacetNode] = ViewList(self._draw)
        self._filter = FacetFilter()
        self._counts: dict[Facet, Sequence[tuple[str, int]]] = {}
        self._folded: set[str] = set()
        self._is_shown = False
        self._is_counting = False
        self._counting_took = 0.0

    def compose(self) -> ComposeResult:
        """Show the line at the top and the tree."""
        yield self.head
        yield self.note
        yield self.rows

    def show(self, query: str) -> None:
        """Show the tree with the values that a query chooses."""
        if not self._is_shown or query != self._filter.query:
            self._filter = FacetFilter(query)
            self._arrange()
        if not self._is_shown:
            self._is_shown = True
            self._count()

    def reload(self) -> None:
        """Count again if that is quick."""
        if not self._is_counting and self._counting_took < _QUICK_SECONDS:
            self._count()

    @work(exclusive=True, group="count")
    async def _count(self) -> None:
        """Count one facet after the other, and show each as soon as it is known."""
        begun = monotonic()
        self._is_counting = True
        try:
            for facet in FACETS:
                self._counts[facet] = await in_thread(self, self.workspace.facet_counts, facet)
                self._arrange()
        except MementoError as error:
            self.memento.show_status(str(error), problem=True)
        finally:
            self._is_counting = False
            self._counting_took = monotonic() - begun
        self._arrange()

    def _arrange(self, *, select: str | None = None) -> None:
        rows = facet_nodes(self._counts, self._folded, self._filter.has)
        source = FixedRows(rows)
        if self.rows.total:
            self.rows.refresh_rows(source, select=select)
        else:
            self.rows.set_rows(rows, len(rows), source)
        self._show_hint()

    def _show_hint(self) -> None:
        if self._is_counting:
            hint = "counting ..."
        elif self._filter.is_any:
            hint = "* filters the list; u shows all again"
        else:
            hint = "Enter filters the list; several filter it together"
        self.set_heading(Content(hint))
        self.memento.focus_changed()

    def _draw(self, row: FacetNode, width: int) -> list[Line]:
        fold = ("+ " if row.is_folded else "- ") if row.can_fold else "  "
        if not row.value:
            return [[(fold, "muted"), (row.name, "strong")]]
        is_chosen = self._filter.has(row.facet, row.value)
        count = "..." if row.count is None else f"{row.count:,}"
        indent = "  " * (row.depth - 1)
        room = max(width - 4 - len(indent) - _COUNT_WIDTH, 0)
        return [
            [
                ("* " if is_chosen else "  ", "mark"),
                (indent, ""),
                (fold, "muted"),
                (cells(row.name, room), "strong" if is_chosen else ""),
                (f"{count:>{_COUNT_WIDTH}}", "muted"),
            ]
        ]

    def is_available(self, command: str) -> bool:
        """Return whether a command is available: there must be a filter to clear."""
        return command != "tree.clear" or self._filter.is_any

    def action_choose(self) -> None:
        """Turn the filter by the value under the cursor on or off; fold or unfold a title."""
        row = self.rows.current
        if row is None:
            self.memento.show_status("There is nothing here to filter by.", problem=True)
        elif not row.value:
            self._fold(row, fold=not row.is_folded)
        elif not is_expressible(row.facet, row.value):
            self.memento.show_status("A search cannot express this one: it has a quotation mark.", problem=True)
        else:
            self._filter.toggle(row.facet, row.value)
            self._arrange()
            self.post_message(FilterChanged(self._filter.query))

    def action_clear(self) -> None:
        """Clear the filter of the tree."""
        if not self._filter.is_any:
            self.memento.show_status("The tree does not filter the list.", problem=True)
            return
        self._filter.clear()
        self._arrange()
        self.post_message(FilterChanged(self._filter.query))

    def action_fold(self, fold: bool) -> None:  # noqa: FBT001 - the table of commands says which
        """Fold or unfold the row under the cursor; go to its parent if it cannot be folded."""
        row = self.rows.current
        if row is None:
            return
        if row.can_fold and row.is_folded != fold:
            self._fold(row, fold=fold)
        elif fold:
            parent = row.value.rpartition("/")[0] if row.facet == "namespace" else ""
            self._arrange(select=f"{row.facet}:{parent}")
        else:
            self.memento.show_status("There is nothing to unfold here.", problem=True)

    def _fold(self, row: FacetNode, *, fold: bool) -> None:
        (self._folded.add if fold else self._folded.discard)(row.id)
        self._arrange()

    def action_leave(self) -> None:
        """Go back to the list."""
        self.post_message(ViewClosed())
