"""Format one journal entry in full, or the exposure of a memory to an agent."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from textual.content import Content

from memento_tui import clock
from memento_tui.api.activity import JournalAction
from memento_tui.api.decision_fields import changes_between, value_text
from memento_tui.api.types import ActivityRow, ChangedRecord, SessionTotals
from memento_tui.model import Exposure, Memory, Proposal
from memento_tui.model.journal_actions import done_words, note_in_words
from memento_tui.text.quantities import count_of
from memento_tui.tui.display import literal, time_ago
from memento_tui.tui.memory_text import memory_body, memory_facts, memory_title
from memento_tui.tui.text_diff import text_difference
from memento_tui.tui.views.record_story import writer_name

__all__ = ["exposure_text", "journal_entry_text"]

_MAX_CHARACTERS = 2_000
"""Characters of a text that are compared; the time for it grows with their square."""

_MOST_COMPARED = 5
"""Most records of an entry whose texts are compared; where there are more, each gets one line."""

_MOST_NEW_LINES = 12
"""Lines of a new text that are shown."""


def entry_heading(row: ActivityRow) -> Content:
    """Return the lines about an entry itself: its action, writer and time, and why it cannot be undone."""
    entry = row.entry
    at = datetime.fromisoformat(entry.at)
    who = [writer_name(entry), *([entry.actor] if entry.agent else []), f"through {entry.channel}"]
    who += [f"session {entry.session}"] if entry.session else []
    lines = [
        literal(f"{done_words(entry.action, proposes=row.proposes)}  #{entry.seq}", "bold"),
        literal("  ".join(who), "dim"),
        literal(f"{at:%Y-%m-%d %H:%M:%S} UTC, {time_ago(at, clock.now())}  hash {entry.hash.hex()[:12]}", "dim"),
    ]
    if entry.note:
        lines.append(literal(note_in_words(entry.note), "italic"))
    if row.obstacle:
        lines.append(literal(row.obstacle, "$text-warning"))
    return Content("\n").join(lines)


def journal_entry_text(action: JournalAction) -> Content:
    """Return an entry in full: its heading, and its change of each record."""
    parts = [entry_heading(action.row)]
    if action.batch_entries > 1:
        records = count_of(action.batch_records, "record")
        together = f"Part of one bulk write of {action.batch_entries:,} entries and {records}."
        parts.append(literal(f"{together} They are taken back together.", "dim"))
    if action.row.touched > _MOST_COMPARED:
        lines = [_change_summary(change) for change in action.changed]
        left = action.row.touched - len(action.changed)
        parts.append(Content("\n").join([*lines, *([literal(f"and {left:,} more records", "dim")] if left else [])]))
    else:
        parts += [_change(change) for change in action.changed]
    return Content("\n\n").join(parts)


def _change_summary(change: ChangedRecord) -> Content:
    """Return one line about a change: its sign, the record's headline, and the names of the changed fields."""
    kind = literal("" if change.record == "memory" else f"  {change.record}", "dim")
    if change.purged:
        return literal(f"  {change.record} {change.record_id}: {change.missing}", "dim")
    if change.after is None:
        return (
            literal(f"- {change.record_id if change.before is None else _headline(change.before)}", "$text-error")
            + kind
        )
    if change.before is None:
        return literal(f"+ {_headline(change.after)}", "$text-success") + kind
    fields = ", ".join(field.name for field in changes_between(change.before, change.after))
    return literal(f"~ {_headline(change.after)}") + literal(f"  {fields}", "dim") + kind


def _change(change: ChangedRecord) -> Content:
    lines = [literal(f"{change.record} {change.record_id}  version {change.version}", "dim")]
    if change.purged:
        lines.append(literal(f"{change.missing.capitalize()}."))
    elif change.after is None:
        lines.append(
            literal(f"- {_headline(change.before)}" if change.before is not None else "Removed.", "$text-error")
        )
    elif change.before is None:
        lines += _new_text(change.after)
    else:
        lines += _fields(change.before, change.after)
    return Content("\n").join(lines)


def _new_text(record: Any) -> Iterator[Content]:  # noqa: ANN401 - any record
    head, content = _headline(record), str(getattr(record, "content", ""))
    if not content or content.strip() == head:
        yield literal(f"+ {head}", "$text-success")
        if isinstance(record, Proposal):
            yield from _proposed_fields(record)
        return
    if head != content.strip().split("\n", 1)[0].strip():
        yield literal(f"+ {head}", "bold $text-success")
    yield from _new_lines(content)


def _new_lines(content: str) -> Iterator[Content]:
    text = content[:_MAX_CHARACTERS].split("\n")
    for line in text[:_MOST_NEW_LINES]:
        yield literal(f"+ {line}", "$text-success")
    if len(text) > _MOST_NEW_LINES or len(content) > _MAX_CHARACTERS:
        yield literal(f"  ... {len(content):,} characters in all", "dim")


def _proposed_fields(proposal: Proposal) -> Iterator[Content]:
    """Yield the fields that a proposal would set; a text with its lines."""
    for name, value in proposal.payload.items():
        if name == "content" and isinstance(value, str):
            yield from _new_lines(value)
        else:
            yield literal(f"{name}: {_value_text(value)}")


def _fields(before: Any, after: Any) -> Iterator[Content]:  # noqa: ANN401 - any record
    changes = changes_between(before, after)
    names = {field.name for field in changes}
    if "title" not in names and "content" in names and (head := _headline(after)):
        yield literal(head, "bold")
    for field in changes:
        if field.name == "content":
            yield _text_change(str(field.before), str(field.after))
        else:
            yield literal(f"{field.name}: {_value_text(field.before)} -> {_value_text(field.after)}")
    if not changes:
        yield literal("Written again as it was.", "dim")


def _text_change(before: str, after: str) -> Content:
    """Return the difference of two texts from their first difference on; the rest of long ones is left out."""
    shared = 0
    for old_line, new_line in zip(before.splitlines(keepends=True), after.splitlines(keepends=True), strict=False):
        if old_line != new_line:
            break
        shared += len(old_line)
    shared = shared if shared > _MAX_CHARACTERS // 2 else 0
    old, new = before[shared : shared + _MAX_CHARACTERS], after[shared : shared + _MAX_CHARACTERS]
    parts = [literal(f"  ... {shared:,} unchanged characters", "dim italic")] if shared else []
    parts.append(text_difference(old, new))
    if len(before) - shared > _MAX_CHARACTERS or len(after) - shared > _MAX_CHARACTERS:
        parts.append(literal("  ... the rest is not compared here; Enter opens the memory", "dim italic"))
    return Content("\n").join(parts)


def _value_text(value: object) -> str:
    text = value_text(value) or "none"
    return text if len(text) <= 200 else f"{text[:200]} ..."  # noqa: PLR2004 - some lines' worth


def _headline(record: Any) -> str:  # noqa: ANN401 - any record
    for name in ("headline", "title", "item", "why", "content"):
        text = str(getattr(record, name, "") or "").strip()
        if text:
            return text.split("\n", 1)[0][:200]
    if hasattr(record, "src"):
        return f"{record.type}: {record.src} -> {record.dst}"
    action = f"{getattr(record, 'action', '')} {getattr(record, 'target', '')} {getattr(record, 'target_id', '')}"
    state = getattr(record, "state", "")
    return f"{action.strip()} ({state})" if state else action.strip()


_SCORE_PART_NAMES = {
    "keyword": "how well its words fit",
    "semantic": "how near it is in meaning",
    "relevance": "the two together",
    "life": "times this, for its life:",
    "age": "  how fresh it is",
    "use": "  how often it was of use",
    "certainty": "  how certain it is",
    "stability": "  how far it was checked",
    "superseded": "another took its place",
}


def exposure_text(exposure: Exposure, memory: Memory | None, totals: SessionTotals | None) -> Content:
    """Return an exposure in full: its session, rank, tokens and scores, then the memory."""
    used = "used by the session" if exposure.used_at is not None else "not seen to be used"
    session = [f"shown to session {exposure.session}", *([f"through {exposure.channel}"] if exposure.channel else [])]
    parts = [
        Content("(the memory is gone)") if memory is None else memory_title(memory),
        literal("  ".join([*session, time_ago(exposure.at, clock.now())]), "dim"),
        literal(f"rank {exposure.rank}  about {exposure.tokens:,} tokens  {used}", "dim"),
    ]
    if totals is not None:
        counts = f"{totals.shown:,} shown, {totals.used:,} used, {totals.tokens:,} tokens"
        parts.append(literal(f"the session in all: {counts}", "dim"))
    parts += [Content(""), literal(f"score {exposure.score:.3f}", "bold")]
    # In a search by words alone the relevance is the score of the words.
    left_out = "" if "semantic" in exposure.why else "relevance"
    known = {name: exposure.why[name] for name in _SCORE_PART_NAMES if exposure.why.get(name) and name != left_out}
    parts += [literal(f"  {value:6.3f}  {name:<10} {_SCORE_PART_NAMES[name]}", "dim") for name, value in known.items()]
    if not exposure.why:
        parts.append(literal("  Its parts were not kept.", "dim"))
    if memory is not None:
        parts += [Content(""), memory_facts(memory), Content(""), memory_body(memory, None)]
    return Content("\n").join(parts)
