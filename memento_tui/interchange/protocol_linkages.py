"""What a memory of Memento Protocol is linked to: its linkages, what it was consolidated from and into."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any, NamedTuple

from memento_tui.interchange.names import one_line
from memento_tui.interchange.protocol_model import LABEL_OF_RELATION, RELATION_OF_LINKAGE, linkage_of

__all__ = ["Arrow", "linkages_of", "links_of", "merged"]

_CONSOLIDATED_FROM = "consolidated_from"
_LONGEST_LABEL = 200


class Arrow(NamedTuple):
    """One relation as the format sees it: its type here, and its end by the id or path that is written."""

    type: str
    target: str
    label: str


def links_of(linkages: Iterable[object], sources: Iterable[str], prefix: str) -> tuple[tuple[str, str, str], ...]:
    """Return the links of a memory for `Incoming`: of its linkages, then to the memories that it was made from.

    ``prefix`` is what the keys of the workspace's memories begin with.
    """
    arrows = [arrow for linkage in linkages if (arrow := _arrow_of(linkage)) is not None]
    arrows += [Arrow(_CONSOLIDATED_FROM, source, "") for source in sources]
    found: dict[tuple[str, str], Arrow] = {}
    for arrow in arrows:
        found.setdefault((arrow.type, arrow.target), arrow)
    return tuple(
        (arrow.type, arrow.target if arrow.type in ("item", "file") else prefix + arrow.target, arrow.label)
        for arrow in found.values()
    )


def _arrow_of(linkage: object) -> Arrow | None:
    """Return what a linkage says, or ``None`` where it says nothing that can be understood."""
    if not isinstance(linkage, dict):
        return None
    kind, label = linkage.get("type"), linkage.get("label")
    target = linkage.get("path" if kind == "file" else "id")
    if (
        not isinstance(kind, str)
        or kind not in RELATION_OF_LINKAGE
        or not isinstance(target, str)
        or not target.strip()
    ):
        return None
    shown = one_line(label, _LONGEST_LABEL) if isinstance(label, str) else ""
    if kind == "memory" and shown == LABEL_OF_RELATION[_CONSOLIDATED_FROM]:
        return Arrow(_CONSOLIDATED_FROM, target, "")
    return Arrow(RELATION_OF_LINKAGE[kind], target, shown)


def linkages_of(
    given: Iterable[object], arrows: Iterable[Arrow], present: Container[str], told: Container[str] = ()
) -> list[Any]:
    """Return the linkages of a memory: those that it came with and still has, in their order, then the others.

    Those that memento has no relation for stay: what is not understood, and what leads to a memory that is not
    ``present``. ``told`` are the memories that say themselves that they were consolidated into this one.
    """
    left = {(arrow.type, arrow.target): arrow for arrow in arrows}
    still: list[Any] = []
    standing = set(left)
    left = {place: arrow for place, arrow in left.items() if place[0] != _CONSOLIDATED_FROM or place[1] not in told}
    for linkage in given:
        arrow = _arrow_of(linkage)
        place = None if arrow is None else (arrow.type, arrow.target)
        leads_out = arrow is not None and arrow.type not in ("item", "file") and arrow.target not in present
        if place is None or leads_out or place in standing:
            still.append(linkage)
            left.pop(place or ("", ""), None)
    return still + [linkage_of(*arrow) for arrow in left.values()]


def merged(given: Iterable[object], current: Iterable[str], present: Container[str]) -> list[Any]:
    """Return a list of ids: those of ``given`` that still hold or lead to nothing here, then the other current ones."""
    now = list(dict.fromkeys(current))
    still = [one for one in given if not isinstance(one, str) or one in now or one not in present]
    return still + [one for one in now if one not in still]
