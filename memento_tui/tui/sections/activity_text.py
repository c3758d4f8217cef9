"""Format one journal entry in full, or why a memory was shown to an agent."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from textual.content import Content

from memento_tui import clock
from memento_tui.api.activity import JournalAction
from memento_tui.api.types import ActivityRow, ChangedRecord, SessionTotals, changed_fields
from memento_tui.model import Exposure, Memory
from memento_tui.tui.display import ago, literal
from memento_tui.tui.memory_text import memory_body, memory_facts, memory_title
from memento_tui.tui.sections.activity_rows import writer_name
from memento_tui.tui.text_diff import text_difference

__all__ = ["entry_heading", "exposure_text", "journal_entry_text"]

_MAX_CHARACTERS = 2_000
"""Characters of a text that are compared; the time that this takes grows with their square."""

_MOST_COMPARED = 5
"""Records that an entry may have touched for their texts to be compared; of more, each gets one line."""

_MOST_NEW_LINES = 12
"""Lines that are shown of what an entry wrote anew."""


def entry_heading(row: ActivityRow) -> Content:
    """Return the lines about an entry itself: what, who, when, and whether it still holds."""
    entry = row.entry
    at = datetime.fromisoformat(entry.at)
    who = [writer_name(entry), *([entry.actor] if entry.agent else []), f"through {entry.channel}"]
    who += [f"session {entry.session}"] if entry.session else []
    lines = [
        literal(f"{entry.action}  #{entry.seq}", "bold"),
        literal("  ".join(who), "dim"),
        literal(f"{at:%Y-%m-%d %H:%M:%S} UTC, {_when(at)}  hash {entry.hash.hex()[:12]}", "dim"),
    ]
    if entry.note:
        lines.append(literal(entry.note, "italic"))
    if row.obstacle:
        lines.append(literal(row.obstacle, "$text-warning"))
    return Content("\n").join(lines)


def _when(moment: datetime) -> str:
    span = ago(moment, clock.now())
    return "just now" if span == "now" else f"{span} ago"


def journal_entry_text(deed: JournalAction) -> Content:
    """Return an entry in full: its heading, and what it did to each record."""
    parts = [entry_heading(deed.row)]
    if deed.batch_entries > 1:
        together = f"Part of one bulk write of {deed.batch_entries:,} entries and {deed.batch_records:,} records."
        parts.append(literal(f"{together} They are taken back together.", "dim"))
    if deed.row.touched > _MOST_COMPARED:
        lines = [_change_summary(one) for one in deed.changed]
        left = deed.row.touched - len(deed.changed)
        parts.append(Content("\n").join([*lines, *([literal(f"and {left:,} more records", "dim")] if left else [])]))
    else:
        parts += [_change(one) for one in deed.changed]
    return Content("\n\n").join(parts)


def _change_summary(one: ChangedRecord) -> Content:
    """Return one line about a change: what sort it is, what the record says, and which fields changed."""
    kind = literal("" if one.record == "memory" else f"  {one.record}", "dim")
    if one.purged:
        return literal(f"  {one.record} {one.record_id}: its text was purged", "dim")
    if one.after is None:
        return literal(f"- {one.record_id if one.before is None else _headline(one.before)}", "$text-error") + kind
    if one.before is None:
        return literal(f"+ {_headline(one.after)}", "$text-success") + kind
    fields = ", ".join(changed_fields(one.before, one.after)).replace("_", " ")
    return literal(f"~ {_headline(one.after)}") + literal(f"  {fields}", "dim") + kind


def _change(one: ChangedRecord) -> Content:
    lines = [literal(f"{one.record} {one.record_id}  version {one.version}", "dim")]
    if one.purged:
        lines.append(Content("Its text was purged."))
    elif one.after is None:
        lines.append(literal(f"- {_headline(one.before)}" if one.before is not None else "Removed.", "$text-error"))
    elif one.before is None:
        lines += _new_text(one.after)
    else:
        lines += _fields(one.before, one.after)
    return Content("\n").join(lines)


def _new_text(record: Any) -> Iterator[Content]:  # noqa: ANN401 - any record
    head, content = _headline(record), str(getattr(record, "content", ""))
    if not content or content.strip() == head:
        yield literal(f"+ {head}", "$text-success")
        return
    if head != content.strip().split("\n", 1)[0].strip():
        yield literal(f"+ {head}", "bold $text-success")
    text = content[:_MAX_CHARACTERS].split("\n")
    for line in text[:_MOST_NEW_LINES]:
        yield literal(f"+ {line}", "$text-success")
    if len(text) > _MOST_NEW_LINES or len(content) > _MAX_CHARACTERS:
        yield literal(f"  ... {len(content):,} characters in all", "dim")


def _fields(before: Any, after: Any) -> Iterator[Content]:  # noqa: ANN401 - any record
    changed = changed_fields(before, after)
    if "title" not in changed and "content" in changed and (head := _headline(after)):
        yield literal(head, "bold")
    for name, (old, new) in changed.items():
        label = name.replace("_", " ")
        if name == "content":
            yield _text_change(str(old), str(new))
        else:
            yield literal(f"{label}: {_word(old)} -> {_word(new)}")
    if not changed:
        yield literal("Written again as it was.", "dim")


def _text_change(before: str, after: str) -> Content:
    """Return the difference of two texts from where they begin to differ; the rest of long ones is left out."""
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


def _word(value: object) -> str:
    if value in (None, "", [], {}):
        return "(none)"
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
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


def exposure_text(injection: Exposure, memory: Memory | None, totals: SessionTotals | None) -> Content:
    """Return what is known of one injection: where it stood, why, what it cost, and what the memory says."""
    used = "used by the session" if injection.used_at is not None else "not seen to be used"
    place = [f"shown to session {injection.session}", *([f"through {injection.channel}"] if injection.channel else [])]
    parts = [
        Content("(the memory is gone)") if memory is None else memory_title(memory),
        literal("  ".join([*place, _when(injection.at)]), "dim"),
        literal(f"rank {injection.rank}  about {injection.tokens:,} tokens  {used}", "dim"),
    ]
    if totals is not None:
        told = f"{totals.shown:,} shown, {totals.used:,} used, {totals.tokens:,} tokens"
        parts.append(literal(f"the session in all: {told}", "dim"))
    parts += [Content(""), literal(f"score {injection.score:.3f}", "bold")]
    # Where words alone counted, they are all of the relevance.
    left_out = "" if "semantic" in injection.why else "relevance"
    known = {name: injection.why[name] for name in _SCORE_PART_NAMES if injection.why.get(name) and name != left_out}
    parts += [literal(f"  {value:6.3f}  {name:<10} {_SCORE_PART_NAMES[name]}", "dim") for name, value in known.items()]
    if not injection.why:
        parts.append(literal("  Its parts were not kept.", "dim"))
    if memory is not None:
        parts += [Content(""), memory_facts(memory), Content(""), memory_body(memory, None)]
    return Content("\n").join(parts)
