"""Show open contradictions to an agent: both sides with their ages, for as long as nobody has resolved them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memento_tui.api import Workspace
from memento_tui.api.review import ContradictionWithSides
from memento_tui.errors import NotFound
from memento_tui.model import Contradiction, Memory
from memento_tui.model.validation import account_of
from memento_tui.operations.memory_status import bracketed, caution_labels, is_recalled
from memento_tui.text.fence import fenced, one_line, quoted_id

__all__ = [
    "ContradictionEntry",
    "ContradictionSide",
    "contradiction_section",
    "contradictions_among",
    "open_contradictions",
    "visible_contradiction",
]

_MAX_CONTRADICTIONS = 5
_SIDE_CHARS = 300
"""Characters of each side."""


@dataclass(frozen=True)
class ContradictionSide:
    """One of two memories that contradict each other."""

    id: str
    text: str
    age_days: int
    labels: list[str]


@dataclass(frozen=True)
class ContradictionEntry:
    """Two memories that cannot both hold as they stand, until a person says which does."""

    id: str
    kind: str
    why: str
    older: ContradictionSide
    newer: ContradictionSide


def contradictions_among(workspace: Workspace, ids: Sequence[str], now: datetime) -> list[ContradictionEntry]:
    """Return the unresolved contradictions of some memories whose sides an agent may both see, surest first."""
    found = [
        shape for one in workspace.contradictions.around(ids) if (shape := _contradiction_schema(one, now)) is not None
    ]
    return found[:_MAX_CONTRADICTIONS]


def open_contradictions(
    workspace: Workspace, now: datetime, after: str | None, limit: int
) -> tuple[list[ContradictionEntry], str | None]:
    """Return the open contradictions whose sides an agent may both see, surest first, and the next page's cursor.

    A page holds fewer than ``limit`` where some are left out.

    Raises:
        NotFound: ``after`` is no cursor.

    """
    if after is not None:
        workspace.contradictions.get(after)
    found, following = workspace.contradictions.list(after=after, limit=limit)
    return [shape for one in found if (shape := _contradiction_schema(one, now)) is not None], following


def visible_contradiction(dispute: ContradictionWithSides, now: datetime) -> Contradiction:
    """Return the contradiction of a dispute. Raises `NotFound` where an agent may not see one of its sides."""
    if _contradiction_schema(dispute, now) is None:
        raise NotFound(
            f"One side of the contradiction {dispute.contradiction.id} is not recalled any more.",
            "Call contradictions for those that are open.",
        )
    return dispute.contradiction


def _contradiction_schema(dispute: ContradictionWithSides, now: datetime) -> ContradictionEntry | None:
    older, newer, found = dispute.older, dispute.newer, dispute.contradiction
    if older is None or newer is None or not (is_recalled(older) and is_recalled(newer)):
        return None
    if account_of(older.namespace) != account_of(newer.namespace):
        return None
    if any(side.expires_at is not None and side.expires_at <= now for side in (older, newer)):
        return None
    return ContradictionEntry(
        id=found.id,
        kind=found.kind,
        why=one_line(found.why, _SIDE_CHARS),
        older=_side_schema(older, now),
        newer=_side_schema(newer, now),
    )


def _side_schema(memory: Memory, now: datetime) -> ContradictionSide:
    return ContradictionSide(
        id=memory.id,
        text=one_line(memory.content, _SIDE_CHARS),
        age_days=max(0, (now - memory.created_at).days),
        labels=caution_labels(memory, now),
    )


def contradiction_section(found: Sequence[ContradictionEntry]) -> str:
    """Return the section that ends a recall; empty where nothing is disputed."""
    if not found:
        return ""
    lines = [line for one in found for line in _contradiction_lines(one)]
    return f"## Contradictions\nA person has not resolved these yet; weigh both sides.\n{fenced(chr(10).join(lines))}"


def _contradiction_lines(one: ContradictionEntry) -> list[str]:
    return [
        f"{quoted_id(one.id)} {one.kind}: {one.why}",
        *(f"  {_side_heading(name, side)}: {side.text}" for name, side in (("older", one.older), ("newer", one.newer))),
    ]


def _side_heading(name: str, side: ContradictionSide) -> str:
    days = "today" if not side.age_days else f"{side.age_days} days old"
    return f"{name} {quoted_id(side.id)}, {days}{bracketed(side.labels)}"
