"""Contradictions as an agent reads them: both sides laid out, with their ages, for as long as nobody resolved them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memento_tui.agent.fence import fenced, one_line, quoted_id
from memento_tui.agent.labels import in_brackets, is_recalled, labels_of
from memento_tui.agent.shapes import Disagreement, Side
from memento_tui.errors import NotFound
from memento_tui.records import Contradiction, Memory
from memento_tui.records.accounts import account_of
from memento_tui.workspace import Workspace
from memento_tui.workspace.contradictions import Dispute

__all__ = ["disagreements", "dispute_section", "open_disagreements", "visible"]

_MOST = 5
_TEXT = 300
"""Characters of each side."""


def disagreements(workspace: Workspace, ids: Sequence[str], now: datetime) -> list[Disagreement]:
    """Return the unresolved contradictions of some memories whose sides an agent may both see, surest first."""
    found = [shape for one in workspace.contradictions.around(ids) if (shape := _shape(one, now)) is not None]
    return found[:_MOST]


def open_disagreements(
    workspace: Workspace, now: datetime, after: str | None, limit: int
) -> tuple[list[Disagreement], str | None]:
    """Return the open contradictions whose sides an agent may both see, surest first, and the next page's cursor.

    A page holds fewer than ``limit`` where some are left out.

    Raises:
        NotFound: ``after`` is no cursor.

    """
    if after is not None:
        workspace.contradictions.get(after)
    found, following = workspace.contradictions.list(after=after, limit=limit)
    return [shape for one in found if (shape := _shape(one, now)) is not None], following


def visible(dispute: Dispute, now: datetime) -> Contradiction:
    """Return the contradiction of a dispute. Raises `NotFound` where an agent may not see one of its sides."""
    if _shape(dispute, now) is None:
        raise NotFound(
            f"One side of the contradiction {dispute.contradiction.id} is not recalled any more.",
            "Call contradictions for those that are open.",
        )
    return dispute.contradiction


def _shape(dispute: Dispute, now: datetime) -> Disagreement | None:
    older, newer, found = dispute.older, dispute.newer, dispute.contradiction
    if older is None or newer is None or not (is_recalled(older) and is_recalled(newer)):
        return None
    if account_of(older.namespace) != account_of(newer.namespace):
        return None
    if any(side.expires_at is not None and side.expires_at <= now for side in (older, newer)):
        return None
    return Disagreement(
        id=found.id,
        kind=found.kind,
        why=one_line(found.why, _TEXT),
        older=_side(older, now),
        newer=_side(newer, now),
    )


def _side(memory: Memory, now: datetime) -> Side:
    return Side(
        id=memory.id,
        text=one_line(memory.content, _TEXT),
        age_days=max(0, (now - memory.created_at).days),
        labels=labels_of(memory, now),
    )


def dispute_section(found: Sequence[Disagreement]) -> str:
    """Return the section that ends a recall; empty where nothing is disputed."""
    if not found:
        return ""
    lines = [line for one in found for line in _lines(one)]
    return f"## Contradictions\nA person has not resolved these yet; weigh both sides.\n{fenced(chr(10).join(lines))}"


def _lines(one: Disagreement) -> list[str]:
    return [
        f"{quoted_id(one.id)} {one.kind}: {one.why}",
        *(f"  {_head(name, side)}: {side.text}" for name, side in (("older", one.older), ("newer", one.newer))),
    ]


def _head(name: str, side: Side) -> str:
    days = "today" if not side.age_days else f"{side.age_days} days old"
    return f"{name} {quoted_id(side.id)}, {days}{in_brackets(side.labels)}"
