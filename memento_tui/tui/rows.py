"""What one row of each list looks like. Glyphs are ASCII, so that every terminal agrees on their width."""

from __future__ import annotations

from memento_tui import clock
from memento_tui.store.reads import Glance
from memento_tui.tui.display import ago, cells, has_hidden
from memento_tui.tui.widgets.record_list import Line

__all__ = ["KIND_WORDS", "LEGEND", "memory_line", "trust_glyph"]

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
        (flag, {"!": "warning", "^": "match"}.get(flag, "")),
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
