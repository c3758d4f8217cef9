"""The rows of the activity: one line for a journal entry, and one for a memory that an agent was shown."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memento_tui.api.types import ActivityRow, ExposureRow
from memento_tui.model.journal_actions import done_words, note_in_words
from memento_tui.tui.columns import Columns, ListColumn, age_since, fixed, share
from memento_tui.tui.display import has_hidden
from memento_tui.tui.views.record_story import writer_name
from memento_tui.tui.widgets.record_list import Line

__all__ = ["ENTRY_COLUMNS", "EXPOSURE_COLUMNS", "ActivityListRow", "entry_line", "exposure_line"]

ActivityListRow = ActivityRow | ExposureRow

_GONE = "(the memory is gone)"
_NARROW, _WIDE = 50, 76
_LEAST_WITH_CHANNEL = 90
"""Cells of a row from which on it shows the channel, which the entry beside it says too."""

_ACTORS = {"person": ("P", "good"), "agent": ("A", "agent"), "system": ("S", "muted")}


def _what(row: ActivityRow) -> str:
    words = row.headline or note_in_words(row.entry.note) or f"{row.record} {row.record_id}".strip()
    return words if row.touched < 2 else f"+{row.touched - 1:,} {words}"  # noqa: PLR2004 - more than one record


ENTRY_COLUMNS = Columns[ActivityRow](
    name="journal",
    all={
        "action": ListColumn(
            "action",
            "what was done",
            share(0.2, 16, 13),
            lambda row, _: done_words(row.entry.action, proposes=row.proposes),
            least=_NARROW,
        ),
        "what": ListColumn(
            "what",
            "the record that was changed, behind the number of others; always shown",
            fixed(0),
            lambda row, _: _what(row),
            lambda row, _: "muted" if row.undone_by is not None else "",
        ),
        "who": ListColumn(
            "who",
            "who did it",
            fixed(12),
            lambda row, _: writer_name(row.entry),
            lambda row, _: _ACTORS.get(row.entry.actor, ("?", "muted"))[1],
            least=_NARROW,
        ),
        "channel": ListColumn(
            "by way of",
            "the app, a command, MCP, a hook",
            fixed(11),
            lambda row, _: row.entry.channel,
            least=_LEAST_WITH_CHANNEL,
        ),
        "session": ListColumn("session", "the session that it was done in", fixed(8), lambda row, _: row.entry.session),
        "records": ListColumn(
            "records", "how many records it changed", fixed(7), lambda row, _: f"{row.touched:,}", is_number=True
        ),
        "entry": ListColumn("entry", "its number in the journal", fixed(7), lambda row, _: row.id, is_number=True),
        "age": age_since("how long ago it was done", lambda row: datetime.fromisoformat(row.entry.at)),
    },
    first=("action", "what", "who", "channel", "age"),
    main="what",
    staying="age",
    least_main=16,  # who did it is worth more than the end of a headline, which stands beside the list
)

EXPOSURE_COLUMNS = Columns[ExposureRow](
    name="exposures",
    all={
        "rank": ListColumn(
            "rank", "its place among what was shown", fixed(4), lambda row, _: f"{row.exposure.rank}", is_number=True
        ),
        "score": ListColumn(
            "score",
            "how well it fitted",
            fixed(5),
            lambda row, _: f"{row.exposure.score:.2f}",
            lambda *_: "",
            is_number=True,
        ),
        "memory": ListColumn(
            "memory",
            "the memory that was shown; always shown",
            fixed(0),
            lambda row, _: _GONE if row.memory is None else row.memory.headline,
            lambda row, _: "muted" if row.memory is None or row.memory.status in ("deleted", "rejected") else "",
        ),
        "session": ListColumn(
            "session", "the session that was shown it", fixed(8), lambda row, _: row.exposure.session, least=_NARROW
        ),
        "channel": ListColumn("by way of", "a hook, MCP, a command", fixed(11), lambda row, _: row.exposure.channel),
        "tokens": ListColumn(
            "tokens",
            "how many tokens it took",
            fixed(6),
            lambda row, _: f"{row.exposure.tokens:,}",
            is_number=True,
            least=_WIDE,
        ),
        "age": age_since("how long ago it was shown", lambda row: row.exposure.at),
    },
    first=("rank", "score", "memory", "session", "tokens", "age"),
    main="memory",
    staying="age",
    marks=2,
)


def entry_line(row: ActivityRow, width: int, names: Sequence[str], last_seen: int) -> list[Line]:
    """Return the row of an entry: its actor, whether it is new or undone, and its columns.

    ``last_seen`` is the newest entry that the person has seen; 0 where they saw none, so that nothing is new.
    """
    actor = _ACTORS.get(row.entry.actor, ("?", "muted"))
    return [ENTRY_COLUMNS.line(row, width, names, [actor, _flag(row, last_seen)])]


def _flag(row: ActivityRow, last_seen: int) -> tuple[str, str]:
    if has_hidden(row.headline):
        return "!", "warning"
    if row.undone_by is not None:
        return "<", "warning"
    if last_seen and row.entry.seq > last_seen and row.entry.actor != "person":
        return "*", "mark"
    return " ", ""


def exposure_line(row: ExposureRow, width: int, names: Sequence[str]) -> list[Line]:
    """Return the row of an exposure: whether it was used, and its columns."""
    hides = row.memory is not None and has_hidden(row.memory.headline)
    flag = "!" if hides else "+" if row.exposure.used_at is not None else " "
    return [EXPOSURE_COLUMNS.line(row, width, names, [(flag, "warning" if hides else "good")])]
