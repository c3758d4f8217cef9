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

_ACTORS = {"person": ("P", "good"), "agent": ("A", "agent"), "system": ("S", "muted")}


def writer_name(entry: Entry) -> str:
    """Return the name of an entry's writer: the agent, ``you`` for the person, or ``system``."""
    return entry.agent or {"person": "you"}.get(entry.actor, entry.actor)


def entry_line(row: ActivityRow, width: int, last_seen: int) -> list[Line]:
    """Return the row of an entry: actor, whether it is new or undone, action, headline, writer, channel, age.

    ``last_seen`` is the newest entry that the person has seen; 0 where they saw none, so that nothing is new.
    """
    entry = row.entry
    glyph, glyph_style = _ACTORS.get(entry.actor, ("?", "muted"))
    flag, flag_style = _flag(row, last_seen)
    who = cells(writer_name(entry), _WHO_WIDTH) + " " if width >= _NARROW else ""
    channel = cells(entry.channel, _CHANNEL_WIDTH) if width >= _WIDE else ""
    more = f" +{row.touched - 1:,}" if row.touched > 1 else ""
    age = f"{ago(datetime.fromisoformat(entry.at), clock.now()):>{_AGE_WIDTH}}"
    left = width - 3 - _ACTION_WIDTH - 1 - len(more) - 1 - _width_of(who, _WHO_WIDTH) - len(channel) - _AGE_WIDTH
    headline = row.headline or entry.note or f"{row.record} {row.record_id}".strip()
    is_undone = row.undone_by is not None
    return [
        [
            (glyph, glyph_style),
            (flag, flag_style),
            (" ", ""),
            (cells(entry.action, _ACTION_WIDTH), "muted"),
            (" ", ""),
            (cells(headline, left), "muted" if is_undone else ""),
            (more, "muted"),
            (" ", ""),
            (who, glyph_style),
            (channel, "muted"),
            (age, "muted"),
        ]
    ]


def _width_of(padded: str, width: int) -> int:
    """Return the cells of a column and the blank behind it; 0 where it is left out."""
    return width + 1 if padded else 0


def _flag(row: ActivityRow, last_seen: int) -> tuple[str, str]:
    if has_hidden(row.headline):
        return "!", "warning"
    if row.undone_by is not None:
        return "<", "warning"
    if last_seen and row.entry.seq > last_seen and row.entry.actor != "person":
        return "*", "mark"
    return " ", ""


def exposure_line(row: ExposureRow, width: int) -> list[Line]:
    """Return the row of an exposure: rank, score, whether it was used, headline, session, tokens, age."""
    exposure = row.exposure
    headline = "(the memory is gone)" if row.memory is None else row.memory.headline
    session = cells(exposure.session, _SESSION_WIDTH) + " " if width >= _NARROW else ""
    tokens = f"{exposure.tokens:>5,} tokens" if width >= _WIDE else ""
    age = f"{ago(exposure.at, clock.now()):>{_AGE_WIDTH}}"
    left = width - 13 - _width_of(session, _SESSION_WIDTH) - len(tokens) - _AGE_WIDTH
    flag = "!" if has_hidden(headline) else "+" if exposure.used_at is not None else " "
    is_gone = row.memory is None or row.memory.status in ("deleted", "rejected")
    return [
        [
            (f"{exposure.rank:>3} ", "muted"),
            (f"{exposure.score:5.2f} ", ""),
            (flag, "warning" if flag == "!" else "good"),
            (" ", ""),
            (cells(headline, left), "muted" if is_gone else ""),
            (" ", ""),
            (session, "muted"),
            (tokens, "muted"),
            (age, "muted"),
        ]
    ]
