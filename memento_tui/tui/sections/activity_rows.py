"""The rows of the activity: one line for a journal entry, and one for a memory that an agent was shown."""

from __future__ import annotations

from datetime import datetime

from memento_tui import clock
from memento_tui.api.types import ActivityRow, Entry, ExposureRow
from memento_tui.tui.display import ago, cells, has_hidden
from memento_tui.tui.widgets.record_list import Line

__all__ = ["ActivityListRow", "entry_line", "exposure_line", "writer_name"]

ActivityListRow = ActivityRow | ExposureRow

_ACTION_WIDTH, _AGE_WIDTH, _WHO_WIDTH, _CHANNEL_WIDTH, _SESSION_WIDTH = 9, 6, 12, 7, 8
_NARROW, _WIDE = 50, 76

_ACTORS = {"person": ("P", "good"), "agent": ("A", "strong"), "system": ("S", "muted")}


def writer_name(entry: Entry) -> str:
    """Return who made an entry, as the person at the terminal says it."""
    return entry.agent or {"person": "you"}.get(entry.actor, entry.actor)


def entry_line(row: ActivityRow, width: int, looked: int) -> list[Line]:
    """Return the row of an entry: actor, whether it is new or taken back, action, headline, who, channel, age.

    ``looked`` is the newest entry that the person has seen; 0 where they never looked, so that nothing is news.
    """
    entry = row.entry
    glyph, glyph_style = _ACTORS.get(entry.actor, ("?", "muted"))
    flag, flag_style = _flag(row, looked)
    who = cells(writer_name(entry), _WHO_WIDTH) + " " if width >= _NARROW else ""
    channel = cells(entry.channel, _CHANNEL_WIDTH) if width >= _WIDE else ""
    more = f" +{row.touched - 1:,}" if row.touched > 1 else ""
    age = f"{ago(datetime.fromisoformat(entry.at), clock.now()):>{_AGE_WIDTH}}"
    left = width - 3 - _ACTION_WIDTH - 1 - len(more) - 1 - _width_of(who, _WHO_WIDTH) - len(channel) - _AGE_WIDTH
    said = row.headline or entry.note or f"{row.record} {row.record_id}".strip()
    over = row.undone_by is not None
    return [
        [
            (glyph, glyph_style),
            (flag, flag_style),
            (" ", ""),
            (cells(entry.action, _ACTION_WIDTH), "muted"),
            (" ", ""),
            (cells(said, left), "muted" if over else ""),
            (more, "muted"),
            (" ", ""),
            (who, "muted"),
            (channel, "muted"),
            (age, "muted"),
        ]
    ]


def _width_of(padded: str, width: int) -> int:
    """Return the cells of a column that is left out where it is empty, with the blank behind it."""
    return width + 1 if padded else 0


def _flag(row: ActivityRow, looked: int) -> tuple[str, str]:
    if has_hidden(row.headline):
        return "!", "warning"
    if row.undone_by is not None:
        return "<", "warning"
    if looked and row.entry.seq > looked and row.entry.actor != "person":
        return "*", "mark"
    return " ", ""


def exposure_line(row: ExposureRow, width: int) -> list[Line]:
    """Return the row of an injection: rank, score, whether it was used, what was shown, session, tokens, age."""
    injection = row.exposure
    said = "(the memory is gone)" if row.memory is None else row.memory.headline
    session = cells(injection.session, _SESSION_WIDTH) + " " if width >= _NARROW else ""
    tokens = f"{injection.tokens:>5,} tokens" if width >= _WIDE else ""
    age = f"{ago(injection.at, clock.now()):>{_AGE_WIDTH}}"
    left = width - 13 - _width_of(session, _SESSION_WIDTH) - len(tokens) - _AGE_WIDTH
    flag = "!" if has_hidden(said) else "+" if injection.used_at is not None else " "
    is_out = row.memory is None or row.memory.status in ("deleted", "rejected")
    return [
        [
            (f"{injection.rank:>3} ", "muted"),
            (f"{injection.score:5.2f} ", ""),
            (flag, "warning" if flag == "!" else "good"),
            (" ", ""),
            (cells(said, left), "muted" if is_out else ""),
            (" ", ""),
            (session, "muted"),
            (tokens, "muted"),
            (age, "muted"),
        ]
    ]
