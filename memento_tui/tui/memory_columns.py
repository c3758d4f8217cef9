"""The columns of the list of memories, and the row of one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memento_tui.api.types import MemorySummary
from memento_tui.tui.columns import Columns, ListColumn, TextBelow, age_since, fixed, share
from memento_tui.tui.display import ago, has_hidden
from memento_tui.tui.memory_text import trust_glyph
from memento_tui.tui.widgets.record_list import Line

__all__ = ["MEMORY_BELOW", "MEMORY_COLUMNS", "WIDE_ROW", "memory_line"]

WIDE_ROW = 90
"""Cells from which on the row of a memory has a column of tags."""

_NARROW = 60
"""Cells below which a row has no room for a word beside its title and its age."""


def _has_ended(row: MemorySummary, now: datetime) -> bool:
    return row.expires_at is not None and row.expires_at <= now


def _ends(row: MemorySummary, now: datetime) -> str:
    if row.expires_at is None:
        return ""
    return "ended" if _has_ended(row, now) else ago(row.expires_at, now).removeprefix("in ")


def _title_style(row: MemorySummary, now: datetime) -> str:
    return "muted" if _has_ended(row, now) or row.status in ("deleted", "rejected") else ""


_KIND_WORDS = {
    "anti_pattern": "avoid",
    "decision": "decide",
    "discovery": "found",
    "heuristic": "rule",
    "instruction": "do",
    "observation": "saw",
    "preference": "prefer",
}
"""Short names of kinds for the narrow column; the other kinds are short already."""

MEMORY_COLUMNS = Columns[MemorySummary](
    name="memories",
    all={
        "kind": ListColumn(
            "kind", "its kind", fixed(8), lambda row, _: _KIND_WORDS.get(row.kind, row.kind), least=_NARROW
        ),
        "title": ListColumn(
            "title", "its title, or its first line; always shown", fixed(0), lambda row, _: row.headline, _title_style
        ),
        "tags": ListColumn(
            "tags", "its tags", share(0.2, 24), lambda row, _: " ".join(f"#{tag}" for tag in row.tags), least=WIDE_ROW
        ),
        "namespace": ListColumn("namespace", "where it belongs", share(0.2, 20), lambda row, _: row.namespace),
        "certainty": ListColumn(
            "sure",
            "its certainty, 1 to 5",
            fixed(4),
            lambda row, _: f"{row.certainty}",
            is_number=True,
            orders=("certainty",),
        ),
        "used": ListColumn(
            "used",
            "how often agents used it",
            fixed(5),
            lambda row, _: f"{row.used_count:,}",
            is_number=True,
            orders=("used", "last_used"),
        ),
        "agent": ListColumn("agent", "who wrote it, where that was an agent", fixed(12), lambda row, _: row.agent),
        "source": ListColumn("source", "user, derived or external", fixed(8), lambda row, _: row.source_type),
        "ends": ListColumn("ends", "when it expires", fixed(6), _ends, is_number=True),
        "created": age_since("how long ago it was written", lambda row: row.created_at, "created", label="made"),
        "changed": age_since("how long ago it was changed", lambda row: row.updated_at, "changed"),
    },
    first=("kind", "title", "tags", "changed"),
    main="title",
    staying="changed",
)


MEMORY_BELOW = TextBelow[MemorySummary](lambda row, _: [(row.head, "muted")])


def memory_line(row: MemorySummary, width: int, names: Sequence[str] = MEMORY_COLUMNS.first) -> list[Line]:
    """Return the row of a memory: its trust, whether it is pinned, and its columns."""
    flag = "!" if has_hidden(row.title + row.head) else "^" if row.pinned else " "
    marks = [trust_glyph(row.status, row.stability), (flag, {"!": "warning", "^": "match"}.get(flag, ""))]
    return [MEMORY_COLUMNS.line(row, width, names, marks)]
