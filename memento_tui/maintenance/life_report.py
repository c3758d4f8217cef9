"""Describe the life of one memory as text and as data: its weight over time, the factors, the coming steps."""

from __future__ import annotations

import textwrap
from datetime import datetime, timedelta
from typing import Any

from memento_tui.config import DecayPreset
from memento_tui.maintenance.aging import AgingStep, reason_not_to_age, upcoming_steps
from memento_tui.maintenance.trust import sessions_needed
from memento_tui.model import Memory
from memento_tui.moments import format_moment
from memento_tui.search.decay import DecayFactor, decay_curve, decay_factor, half_life_days, last_touched
from memento_tui.search.ranking import (
    BANK_DAYS,
    BANK_USES,
    HIGHEST_FACTOR,
    LOWEST_FACTOR,
    PROTOCOL_ACCESS_HOURS,
    SUPERSEDED_FACTOR,
)

__all__ = ["life_report_data", "life_report_lines"]

_DAYS = 365
_TICK_STEP = 15
"""The unit, in days, of the labels on the time axis, but for the last label."""

_SAMPLED_DAYS = (0, 1, 2, 3, 5, 7, 14, 21, 30, 45, 60, 90, 120, 150, 180, 210, 240, 270, 300, 330, 365)
"""Days of the curve in the data: dense at first, where a half-life of a week shows."""

_ROWS = 8
_NARROWEST, _WIDEST = 40, 100
"""The least and the most columns of the chart."""
_MARGIN = 6
"""Columns before the curve: ``1.15 |``."""

_FINAL = ("archive", "expire")
_DONE = {
    "expire": "expires and is archived",
    "demote": "is demoted to short_term",
    "compact": "is shortened to its first sentence, its text kept",
    "archive": "is archived: no search finds it unless asked",
}


def life_report_lines(
    memory: Memory,
    now: datetime,
    preset: DecayPreset,
    width: int,
    *,
    days: int = _DAYS,
    superseded: bool = False,
    known_since: datetime | None = None,
) -> str:
    """Return the life of a memory as lines of ASCII of at most ``width`` columns (40 at least).

    The curve covers the next ``days``; no line holds any of the memory's own text. ``superseded``: another memory
    takes its place; ``known_since``: the moment of its arrival in this store.
    """
    width = min(max(width, _NARROWEST), _WIDEST)
    life = decay_factor(memory, now, preset=preset, superseded=superseded)
    steps = upcoming_steps(memory, now, preset=preset, known_since=known_since)
    lines = _wrapped(f"Factor in search: {life.factor:.3f} today, preset {preset}.", width)
    lines += ["", *_chart(memory, now, preset, steps, width, days, superseded=superseded), ""]
    lines += _describe_step("age", life.age, _age_words(memory, preset), width)
    lines += _describe_step("use", life.use, _use_words(memory, preset), width)
    lines += _describe_step("certainty", life.certainty, _certainty_words(memory), width)
    lines += _describe_step("stability", life.stability, _stability_words(memory), width)
    lines += _describe_step("confidence", life.confidence, "How far its source is trusted; a person sets it.", width)
    if life.superseded:
        lines += _describe_step(
            "replaced", SUPERSEDED_FACTOR, "Another memory takes its place, which halves the factor.", width
        )
    return "\n".join([*lines, "", *_outlook(memory, steps, width)])


def life_report_data(
    memory: Memory,
    now: datetime,
    preset: DecayPreset,
    *,
    superseded: bool = False,
    known_since: datetime | None = None,
) -> dict[str, Any]:
    """Return the report of `life_report_lines` as values for JSON."""
    life = decay_factor(memory, now, preset=preset, superseded=superseded)
    days = decay_curve(memory, now, preset, _SAMPLED_DAYS, superseded=superseded)
    return {
        "preset": preset,
        "at": format_moment(now),
        "factor": life.factor,
        "lowest": LOWEST_FACTOR,
        "highest": HIGHEST_FACTOR,
        "weight": life.weight,
        "age": life.age,
        "use": life.use,
        "certainty": life.certainty,
        "stability": life.stability,
        "superseded": life.superseded,
        "curve": [{"day": day, "factor": then.factor, "weight": then.weight} for day, then in days],
        "ahead": [
            {"action": step.action, "at": format_moment(step.at), "why": step.why}
            for step in upcoming_steps(memory, now, preset=preset, known_since=known_since)
        ],
        "stays": reason_not_to_age(memory),
    }


def _chart(
    memory: Memory,
    now: datetime,
    preset: DecayPreset,
    steps: list[AgingStep],
    width: int,
    days: int,
    *,
    superseded: bool,
) -> list[str]:
    columns = width - _MARGIN
    moments = [days * column / (columns - 1) for column in range(columns)]
    lives = [life for _, life in decay_curve(memory, now, preset, moments, superseded=superseded)]
    scale = SUPERSEDED_FACTOR if lives[0].superseded else 1.0
    top, bottom = HIGHEST_FACTOR * scale, LOWEST_FACTOR * scale
    places = [_row_of(life, top, bottom) for life in lives]
    gone = next((step.at for step in steps if step.action in _FINAL), None)
    marks = ["." if gone is not None and now + timedelta(days=day) >= gone else "*" for day in moments]
    lines = []
    for row in range(_ROWS):
        value = top - (top - bottom) * row / (_ROWS - 1)
        drawn = "".join(mark if place == row else " " for place, mark in zip(places, marks, strict=True))
        lines.append(f"{value:.2f} |{drawn}".rstrip())
    lines.append(f"     +{'-' * columns}")
    lines.append(_ticks(columns, days))
    if "." in marks:
        lines.append("      days from today; dots: no search finds it any more")
    else:
        lines.append("      days from today")
    return [line[:width] for line in lines]


def _row_of(life: DecayFactor, top: float, bottom: float) -> int:
    return round((top - life.factor) / (top - bottom) * (_ROWS - 1))


def _ticks(columns: int, days: int) -> str:
    line = " " * (_MARGIN + columns)
    for day in (*(days * part // 4 // _TICK_STEP * _TICK_STEP for part in range(4)), days):
        label = str(day) if day else "today"
        at = min(_MARGIN + round(day / days * (columns - 1)), len(line) - len(label))
        line = line[:at] + label + line[at + len(label) :]
    return line.rstrip()


def _outlook(memory: Memory, steps: list[AgingStep], width: int) -> list[str]:
    lines = ["If nobody touches it:"] if steps else []
    for step in steps:
        lines += _wrapped(f"{_day(step.at)}  It {_DONE[step.action]}. {step.why}", width, indent=12)
    if not any(step.action in _FINAL for step in steps):
        lines += _wrapped(reason_not_to_age(memory), width)
    return lines


def _describe_step(name: str, value: float, words: str, width: int) -> list[str]:
    return _wrapped(f"{name:<10}  {value:.2f}  {words}", width, indent=18)


def _wrapped(text: str, width: int, *, indent: int = 0) -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent=" " * indent)


def _age_words(memory: Memory, preset: DecayPreset) -> str:
    created = f"Written on {_day(memory.created_at)}"
    if preset == "protocol":
        return f"{created}; it halves every 7 days, and nothing makes it fresh again."
    if preset == "bank":
        touched = f"Untouched since {_day(last_touched(memory))}"
        if memory.used_count >= BANK_USES or memory.stability != "draft":
            return f"{touched}; it keeps its full weight, since it was used {BANK_USES} times or verified."
        return f"{touched}; full for {BANK_DAYS} days, then it halves every {BANK_DAYS}. Use or an edit makes it fresh."
    of_memory = (memory.tier, memory.surprise) if preset == "balanced" else ()
    half_life = half_life_days(memory.certainty, *of_memory)
    if half_life is None:
        return f"{created}; with certainty 4 or 5 it does not age."
    halves = f"it halves every {half_life:.0f} days at certainty {memory.certainty}"
    if preset == "vault":
        return f"{created}; {halves}. More certainty slows it."
    confirmed = max(memory.updated_at, memory.verified_at or memory.updated_at)
    return f"Changed or verified on {_day(confirmed)}; {halves}. An edit or a verification makes it fresh."


def _use_words(memory: Memory, preset: DecayPreset) -> str:
    if preset == "vault":
        return "This preset does not count use."
    count = {0: "Never used", 1: "Used once"}.get(memory.used_count, f"Used {memory.used_count} times")
    if memory.used_count and memory.last_used_at is not None:
        count += f", last on {_day(memory.last_used_at)}"
    rule = {
        "protocol": f"confirmed use raises it, up to 10 times; the last one's part halves every "
        f"{PROTOCOL_ACCESS_HOURS:.0f} hours",
        "bank": f"{BANK_USES} confirmed uses keep it from ageing",
        "balanced": "confirmed use raises it, up to 15 times, and it halves every 90 days from the last",
    }[preset]
    return f"{count}; {rule}. Being shown counts for nothing."


def _certainty_words(memory: Memory) -> str:
    return f"{memory.certainty} of 5; use in further sessions raises it, a contradiction lowers it."


def _stability_words(memory: Memory) -> str:
    sessions = sessions_needed(memory)
    if sessions is None:
        return f"{memory.stability}; there is nothing above it."
    next_stability = "verified" if memory.stability == "draft" else "stable"
    later = "" if next_stability == "verified" else ", the last of them 30 days after it was verified,"
    return f"{memory.stability}; use in {sessions} sessions{later} asks a person to make it {next_stability}."


def _day(moment: datetime) -> str:
    return format_moment(moment)[:10]
