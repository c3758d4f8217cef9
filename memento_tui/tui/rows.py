"""What one row of each list looks like. Glyphs are ASCII, so that every terminal agrees on their width."""

from __future__ import annotations

from memento_tui.review.evidence import deed_of
from memento_tui.store.reads import Glance
from memento_tui.tui import clock
from memento_tui.tui.display import ago, cells, has_hidden
from memento_tui.tui.sources import QueueRow
from memento_tui.tui.widgets.record_list import Line

__all__ = ["KIND_WORDS", "LEGEND", "memory_line", "proposal_line", "trust_glyph"]

KIND_WORDS = {
    "anti_pattern": "avoid",
    "decision": "decide",
    "discovery": "found",
    "heuristic": "rule",
    "instruction": "do",
    "observation": "saw",
    "preference": "prefer",
}
"""Short names for the narrow column; the other kinds are short themselves."""

LEGEND = "= stable  + verified  . draft  ~ waits for you  x deleted  ^ pinned  ! hidden characters"

_KIND_WIDTH, _AGE_WIDTH = 8, 6
_NARROW, _WIDE = 60, 90


def trust_glyph(status: str, stability: str) -> tuple[str, str]:
    """Return the glyph that tells status and trust, and the name of its style."""
    if status in ("deleted", "rejected"):
        return "x", "error"
    if status == "pending":
        return "~", "warning"
    if status in ("archived", "superseded", "consolidated", "compacted"):
        return "-", "muted"
    return {"stable": ("=", "good"), "verified": ("+", "good")}.get(stability, (".", "muted"))


def memory_line(row: Glance, width: int) -> list[Line]:
    """Return the row of a memory: trust, pin, kind, headline, tags, age."""
    now = clock.now()
    glyph, style = trust_glyph(row.status, row.stability)
    flag = "!" if has_hidden(row.title + row.head) else "^" if row.pinned else " "
    age = f"{ago(row.updated_at, now):>{_AGE_WIDTH}}"
    tags = _tags(row, width)
    kind = cells(KIND_WORDS.get(row.kind, row.kind), _KIND_WIDTH) + " " if width >= _NARROW else ""
    left = width - 3 - len(kind) - _AGE_WIDTH - (_tag_width(width) + 1 if tags else 0)
    ended = row.expires_at is not None and row.expires_at <= now
    pieces = [
        (glyph, style),
        (flag, "warning" if flag == "!" else "match"),
        (" ", ""),
        (kind, "muted"),
        (cells(row.headline, left), "muted" if ended or row.status in ("deleted", "rejected") else ""),
    ]
    if tags:
        pieces += [(" ", ""), (tags, "muted")]
    return [[*pieces, (age, "muted")]]


def _tag_width(width: int) -> int:
    return min(28, width // 4)


def _tags(row: Glance, width: int) -> str:
    if width < _WIDE or not row.tags:
        return ""
    return cells(" ".join(f"#{tag}" for tag in row.tags), _tag_width(width))


_SIGNS = {"create": ("+", "good"), "edit": ("~", "warning"), "delete": ("-", "error"), "merge": ("=", "warning")}


def proposal_line(row: QueueRow, width: int) -> list[Line]:
    """Return the row of a proposal: what it would do, to what, who asks, since when."""
    proposal, target = row.pending.proposal, row.pending.target
    sign, style = _SIGNS[proposal.action]
    word = f"{sign} {deed_of(proposal)}"
    who = cells(proposal.proposed_by, 12) if width >= _NARROW else ""
    age = f"{ago(proposal.created_at, clock.now()):>{_AGE_WIDTH}}"
    left = width - 9 - (len(who) + 1 if who else 0) - _AGE_WIDTH - 1
    head = target.headline if hasattr(target, "headline") else _plain_headline(row)
    flag = "!" if has_hidden(head) or proposal.state == "needs_review" else " "
    pieces = [(f"{word:<9}", style), (flag, "warning"), (cells(head, left), "")]
    if who:
        pieces += [(" ", ""), (who, "muted")]
    return [[*pieces, (age, "muted")]]


def _plain_headline(row: QueueRow) -> str:
    proposal, target = row.pending.proposal, row.pending.target
    for name in ("title", "item", "content"):
        value = getattr(target, name, None) or proposal.payload.get(name)
        if value:
            return str(value)
    return f"{proposal.target} {proposal.target_id}"
