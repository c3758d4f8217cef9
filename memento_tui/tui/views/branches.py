"""The rows of the tree of facets: what there is of each facet, with counts, folded as the person left it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from memento_tui.records.memory import KINDS, SOURCE_TYPES, STABILITIES, TIERS
from memento_tui.store.facets import FACETS, Facet

__all__ = ["Branch", "branches"]

_TITLES: Mapping[Facet, str] = {
    "namespace": "NAMESPACES",
    "kind": "KINDS",
    "tag": "TAGS",
    "tier": "TIERS",
    "stability": "TRUST",
    "source_type": "SOURCES",
    "agent": "AGENTS",
}
_KNOWN: Mapping[Facet, Sequence[str]] = {
    "kind": KINDS,
    "tier": TIERS,
    "stability": STABILITIES,
    "source_type": SOURCE_TYPES,
}
"""What can be named before anything was counted."""

Counts = Mapping[Facet, Sequence[tuple[str, int]]]


class Branch(msgspec.Struct, frozen=True):
    """One row: the title of a facet, where ``value`` is "", or one of its values."""

    facet: Facet
    value: str
    name: str
    depth: int
    count: int | None
    """``None`` before it was counted."""
    can_fold: bool = False
    is_folded: bool = False

    @property
    def id(self) -> str:
        """What the row is, whatever is counted."""
        return f"{self.facet}:{self.value}"


def branches(counts: Counts, folded: set[str], is_chosen: Callable[[Facet, str], bool]) -> list[Branch]:
    """Return the rows that are to be seen. ``folded`` holds the ids of those whose parts are not."""
    return [branch for facet in FACETS for branch in _facet_branches(facet, counts, folded, is_chosen)]


def _facet_branches(
    facet: Facet, counts: Counts, folded: set[str], is_chosen: Callable[[Facet, str], bool]
) -> Iterator[Branch]:
    counted = counts.get(facet)
    if counted is not None and not counted:
        return
    title = Branch(facet, "", _TITLES[facet], 0, None, can_fold=True, is_folded=f"{facet}:" in folded)
    yield title
    if title.is_folded:
        return
    if facet == "namespace":
        yield from _namespaces(dict(counted or ()), folded)
        return
    if counted is None:
        yield from (Branch(facet, value, value.replace("_", " "), 1, None) for value in _KNOWN.get(facet, ()))
        return
    names = dict(counted)
    order = [value for value in _KNOWN.get(facet, names) if value in names or is_chosen(facet, value)]
    if facet == "kind":
        order.sort(key=lambda value: -names.get(value, 0))
    for value in order:
        name = f"#{value}" if facet == "tag" else value.replace("_", " ") if facet in _KNOWN else value
        yield Branch(facet, value, name, 1, names.get(value, 0))


def _namespaces(counts: Mapping[str, int], folded: set[str]) -> Iterator[Branch]:
    """Yield the namespaces as a tree of their names; each counts what lies below it too."""
    totals: dict[str, int] = {}
    for namespace, count in counts.items():
        names = namespace.split("/")
        for length in range(1, len(names) + 1):
            path = "/".join(names[:length])
            totals[path] = totals.get(path, 0) + count
    # With the separator first of all characters, what lies below a namespace follows it.
    order = sorted(totals, key=lambda path: path.split("/"))
    parents = {path.rpartition("/")[0] for path in order}
    hidden = ""
    for path in order:
        if hidden and path.startswith(hidden):
            continue
        branch = Branch(
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
