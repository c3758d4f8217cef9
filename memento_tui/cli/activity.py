"""The commands ``activity``, ``exposures``, ``history``, ``undo`` and ``redo``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from memento_tui.cli.command import command, open_workspace
from memento_tui.cli.options import paging
from memento_tui.cli.output import bold, emit, format_fields, format_time, next_page_note, safe, table
from memento_tui.cli.record_completion import complete_ids
from memento_tui.errors import InvalidInput
from memento_tui.model.journal_actions import action_words, counts_in_words, done_words, note_in_words
from memento_tui.model.validation import to_plain
from memento_tui.text.diff import unified_diff
from memento_tui.text.quantities import count_of

__all__ = ["commands"]

if TYPE_CHECKING:
    from memento_tui.api import Workspace
    from memento_tui.api.activity import JournalAction
    from memento_tui.api.decision_fields import DecisionField
    from memento_tui.api.types import (
        ActivityRow,
        AgentTotals,
        Change,
        ChangedRecord,
        DayCount,
        Entry,
        ExposureRow,
        Revision,
        SessionTotals,
    )
    from memento_tui.model import Memory


_MAX_DIFF_LINES = 40
"""Lines of a text's difference that are printed at most."""

_SCORE_PARTS = ("relevance", "keyword", "semantic", "life")
"""The parts of a score that are printed; JSON has all of them."""

_OTHER_REASONS = {"essential": "essential", "file": "about the file"}
"""The reasons of memories that were shown without a score: at the start of a session, and when a file was read."""


def journal_entry_object(entry: Entry) -> dict[str, Any]:
    """Return a journal entry as JSON."""
    names = ("seq", "id", "at", "actor", "agent", "session", "channel", "action", "note", "batch", "undoes", "origin")
    return {name: getattr(entry, name) for name in names} | {"hash": entry.hash.hex()}


def entry_author(entry: Entry) -> str:
    """Return who made an entry, with the channel in parentheses."""
    return f"{entry.agent or entry.actor} ({entry.channel})"


@command(
    "activity",
    decides=lambda options: bool(options["mark_looked"]),
    short_help="Show what was done, by whom, and since you last looked.",
    examples="""
    memento activity
    memento activity agent:claude action:edit since:7d
    memento activity port session:4tq2 --json
    memento activity --since-last-look
    memento activity --summary --mark-looked
    memento activity --entry 341
    """,
)
@click.argument("filter", nargs=-1)
@click.option("--since-last-look", is_flag=True, help="Only entries since you last looked; the same as is:new.")
@click.option("--entry", type=click.IntRange(1), metavar="SEQ", help="Show one entry in full, and what it changed.")
@click.option("--summary", is_flag=True, help="Count what agents did since you last looked, and each day's changes.")
@click.option("--mark-looked", is_flag=True, help="Note that you have seen everything up to now.")
@paging
def activity(
    filter: tuple[str, ...],  # noqa: A002 - its name in the help
    entry: int | None,
    after: str | None,
    limit: int,
    *,
    since_last_look: bool,
    summary: bool,
    mark_looked: bool,
) -> None:
    """List the journal, newest first.

    FILTER is words, searched in notes and in the memories that were changed, and actor: agent: session: channel:
    action: memory: since: before: is:new. `memento undo SEQ` undoes an entry, whoever made it.
    """
    with open_workspace() as workspace:
        # The head is read first: entries that come in while the list is made are not marked as seen.
        head = workspace.activity.head()
        if entry is not None:
            _print_action(workspace.activity.action(entry))
        elif summary:
            _print_summary(workspace.activity.totals_since_last_seen(), workspace.activity.days())
        else:
            list_activity(workspace, " ".join([*filter, *(["is:new"] if since_last_look else [])]), after, limit)
        if mark_looked:
            workspace.activity.mark_seen(head)


def list_activity(workspace: Workspace, query: str, after: str | None, limit: int) -> None:
    """Print one page of the journal."""
    from memento_tui.api.activity import parse_activity  # noqa: PLC0415 - help is shown without it

    read = workspace.activity.page(parse_activity(query), before=_parse_cursor(after), limit=limit + 1)
    rows = read[:limit]
    following = str(rows[-1].entry.seq) if len(read) > limit else None
    emit(
        lambda: {"items": [_row_object(workspace, row) for row in rows], "next": following},
        lambda: _journal_table(rows, following, filtered=bool(query)),
    )


def _parse_cursor(after: str | None) -> int | None:
    if after is None:
        return None
    if not after.isdecimal():
        raise InvalidInput(f"{after!r:.60} is not a cursor.", "Use the `next` of the page before.")
    return int(after)


def _row_object(workspace: Workspace, row: ActivityRow) -> dict[str, Any]:
    # An entry of a bulk write may have changed thousands of records.
    changes = None if row.entry.batch else workspace.activity.changes(row.entry.seq)
    return {**journal_entry_object(row.entry), "records": _changes_object(changes), **_row_facts(row)}


def _row_facts(row: ActivityRow) -> dict[str, Any]:
    return {
        "touched": row.touched,
        "headline": row.headline,
        "undone_by": row.undone_by,
        "can_be_undone": not row.obstacle,
        "obstacle": row.obstacle,
    }


def _changes_object(changes: Sequence[Change] | None) -> list[dict[str, Any]] | None:
    if changes is None:
        return None
    return [{"record": c.record, "id": c.record_id, "version": c.version, "removed": c.removed} for c in changes]


def _journal_table(rows: Sequence[ActivityRow], following: str | None, *, filtered: bool) -> str:
    if not rows:
        return "The filter selects no entry of the journal." if filtered else "Nothing has happened yet."
    cells = [
        [
            str(row.entry.seq),
            format_time(row.entry.at),
            _action_text(row),
            entry_author(row.entry),
            _subject_text(row),
            _headline_text(row),
        ]
        for row in rows
    ]
    return table(["ENTRY", "WHEN", "WHAT", "WHO", "RECORDS", "SAYS"], cells) + next_page_note(following)


def _action_text(row: ActivityRow) -> str:
    return done_words(row.entry.action, proposes=row.proposes) + (
        f" (undone by {row.undone_by})" if row.undone_by else ""
    )


def _subject_text(row: ActivityRow) -> str:
    more = f" and {row.touched - 1:,} more" if row.touched > 1 else ""
    return f"{row.record} {row.record_id}{more}" if row.record else ""


def _headline_text(row: ActivityRow) -> str:
    return "  ".join(filter(None, (row.headline, f"[{note_in_words(row.entry.note)}]" if row.entry.note else "")))


def _print_action(action: JournalAction) -> None:
    emit(lambda: _action_object(action), lambda: _action_in_full(action))


def _action_object(action: JournalAction) -> dict[str, Any]:
    changed = [
        {
            "record": one.record,
            "id": one.record_id,
            "version": one.version,
            "removed": one.removed,
            "purged": one.purged,
            "dropped": one.dropped,
            "before": None if one.before is None else to_plain(one.before),
            "after": None if one.after is None else to_plain(one.after),
        }
        for one in action.changed
    ]
    batch = {"batch_entries": action.batch_entries, "batch_records": action.batch_records}
    return {**journal_entry_object(action.row.entry), **_row_facts(action.row), **batch, "changed": changed}


def _bulk_in_words(action: JournalAction) -> str:
    return f"{count_of(action.batch_entries, 'entry', 'entries')}, {count_of(action.batch_records, 'record')}"


def _action_in_full(action: JournalAction) -> str:
    entry = action.row.entry
    facts = {
        "entry": f"{entry.seq} {done_words(entry.action, proposes=action.row.proposes)}",
        "when": format_time(entry.at),
        "who": " ".join(filter(None, (entry.actor, entry.agent))),
        "channel": entry.channel,
        "session": entry.session,
        "note": note_in_words(entry.note),
        "bulk": _bulk_in_words(action) if entry.batch else "",
        "undo": action.row.obstacle or f"memento undo {entry.seq}",
        "hash": entry.hash.hex()[:16],
    }
    parts = [format_fields(facts), *(_change_text(one) for one in action.changed)]
    if action.row.touched > len(action.changed):
        parts.append(f"and {action.row.touched - len(action.changed):,} more records")
    return "\n\n".join(parts)


def _change_text(one: ChangedRecord) -> str:
    head = bold(safe(f"{one.record} {one.record_id}, version {one.version}"))
    if one.purged:
        return f"{head}: {one.missing}"
    if one.after is None:
        return f"{head}: removed"
    if one.before is None:
        fields = format_fields(
            {name: value for name, value in to_plain(one.after).items() if value and name != "content"}
        )
        content = getattr(one.after, "content", "")
        return "\n".join(filter(None, (f"{head}: new", fields, safe(content, multiline=True))))
    from memento_tui.api.decision_fields import changes_between  # noqa: PLC0415 - a command's help is shown without it

    lines = [line for field in changes_between(one.before, one.after) for line in _field_change_lines(field)]
    return "\n".join([head, *(safe(line) for line in lines)])


def _field_change_lines(field: DecisionField) -> Iterable[str]:
    from memento_tui.api.decision_fields import value_text  # noqa: PLC0415 - as above

    before, after = value_text(field.before), value_text(field.after)
    if "\n" not in before + after:
        return [f"  {field.name}: {before or 'none'} -> {after or 'none'}"]
    lines = unified_diff(before, after).splitlines()
    cut = [f"  ... {len(lines) - _MAX_DIFF_LINES} more lines"] if len(lines) > _MAX_DIFF_LINES else []
    return [f"  {field.name}:", *(f"  {line}" for line in lines[:_MAX_DIFF_LINES]), *cut]


def _print_summary(totals: AgentTotals, days: Sequence[DayCount]) -> None:
    data = {**to_plain(totals), "days": [to_plain(day) for day in days]}
    emit(data, lambda: f"{_totals_text(totals)}\n\n{_days_text(days)}")


def _totals_text(totals: AgentTotals) -> str:
    since = f"since you last looked, at entry {totals.after}" if totals.after else "so far"
    if not totals.entries:
        return f"Agents did nothing {since}."
    at_least = "at least " if totals.is_capped else ""
    counts = {
        "by agent": totals.by_agent,
        "by action": counts_in_words(totals.by_action, totals.proposed),
        "records": totals.by_record,
    }
    fields = {
        name: ", ".join(f"{key or 'without a name'} {number:,}" for key, number in numbers.items())
        for name, numbers in counts.items()
    }
    return f"Agents made {at_least}{count_of(totals.entries, 'entry', 'entries')} {since}.\n{format_fields(fields)}"


def _days_text(days: Sequence[DayCount]) -> str:
    rows = [[day.day, f"{day.person:,}", f"{day.agent:,}", f"{day.system:,}"] for day in days]
    return table(["DAY (UTC)", "PERSON", "AGENT", "SYSTEM"], rows)


@command(
    "exposures",
    short_help="Show what agents were shown, why, and at what cost.",
    examples="""
    memento exposures
    memento exposures session:4tq2
    memento exposures port since:7d --json
    memento exposures memory:7f3k
    memento exposures --totals
    """,
)
@click.argument("filter", nargs=-1)
@click.option("--totals", is_flag=True, help="Add up what each session was shown, the last one first.")
@paging
def exposures(
    filter: tuple[str, ...],  # noqa: A002 - its name in the help
    after: str | None,
    limit: int,
    *,
    totals: bool,
) -> None:
    """List the exposures, newest first: which memories were shown to which session.

    FILTER is words, searched in the memories, and session: channel: memory: since: before:.
    """
    from memento_tui.api.activity import parse_activity  # noqa: PLC0415 - help is shown without it

    query = parse_activity(" ".join(filter))
    with open_workspace() as workspace:
        if totals:
            sessions = workspace.activity.sessions(query, limit)
            emit(
                lambda: {"items": [to_plain(one) for one in sessions], "next": None},
                lambda: _session_totals_table(sessions),
            )
            return
        rows, following = workspace.activity.exposures(query, after=after, limit=limit)
    emit(
        lambda: {"items": [_exposure_object(row) for row in rows], "next": following},
        lambda: _exposures_table(rows, following),
    )


def _exposure_object(row: ExposureRow) -> dict[str, Any]:
    memory = row.memory
    now = {} if memory is None else {"headline": memory.headline, "status": memory.status, "version": memory.version}
    return {**to_plain(row.exposure), "memory": now or None}


def _exposures_table(rows: Sequence[ExposureRow], following: str | None) -> str:
    if not rows:
        return "No agent was shown a memory that the filter selects."
    cells = [
        [
            row.exposure.memory_id,
            format_time(row.exposure.at),
            row.exposure.session,
            str(row.exposure.rank),
            f"{row.exposure.score:.3f}",
            str(row.exposure.tokens),
            "used" if row.exposure.used_at else "",
            _scores_text(row.exposure.why),
            "(gone)" if row.memory is None else row.memory.headline,
        ]
        for row in rows
    ]
    return table(
        ["MEMORY", "WHEN", "SESSION", "RANK", "SCORE", "TOKENS", "USED", "WHY", "SAYS"], cells
    ) + next_page_note(following)


def _session_totals_table(sessions: Sequence[SessionTotals]) -> str:
    if not sessions:
        return "No session was shown a memory that the filter selects."
    rows = [[s.session, format_time(s.last_at), f"{s.shown:,}", f"{s.used:,}", f"{s.tokens:,}"] for s in sessions]
    return table(["SESSION", "LAST", "SHOWN", "USED", "TOKENS"], rows)


def _scores_text(numbers: Mapping[str, float]) -> str:
    scores = [f"{name} {numbers[name]:.2f}" for name in _SCORE_PARTS if name in numbers]
    return " ".join([*scores, *(reason for name, reason in _OTHER_REASONS.items() if name in numbers)])


@command(
    "history",
    short_help="Show the versions of a memory, or the whole journal.",
    examples="""
    memento history 7f3k
    memento history 7f3k --json
    memento history --limit 20
    """,
)
@click.argument("id", required=False, shell_complete=complete_ids("memory"))
@paging
def history(id: str | None, after: str | None, limit: int) -> None:  # noqa: A002 - its name in the help
    """Show every version of the memory ID, newest first; without ID the journal, as `memento activity` lists it."""
    with open_workspace() as workspace:
        if id is not None:
            revisions = workspace.history(id)
            emit(lambda: {"items": _revision_objects(revisions), "next": None}, lambda: _revisions_text(revisions))
            return
        list_activity(workspace, "", after, limit)


def _revision_objects(revisions: Sequence[Revision[Memory]]) -> list[dict[str, Any]]:
    return [
        {
            **journal_entry_object(revision.entry),
            "version": revision.version,
            "removed": revision.removed,
            "purged": revision.purged,
            "dropped": revision.dropped,
            "record": None if revision.record is None else to_plain(revision.record),
        }
        for revision in revisions
    ]


def _revisions_text(revisions: Sequence[Revision[Memory]]) -> str:
    older: list[Revision[Memory] | None] = [*revisions[1:], None]
    rows = [
        [
            str(r.version),
            str(r.entry.seq),
            format_time(r.entry.at),
            action_words(r.entry.action).done,
            entry_author(r.entry),
            _revision_diff(r, before),
        ]
        for r, before in zip(revisions, older, strict=True)
    ]
    return table(["VERSION", "ENTRY", "WHEN", "WHAT", "WHO", "CHANGED"], rows)


def _revision_diff(revision: Revision[Memory], before: Revision[Memory] | None) -> str:
    from memento_tui.api.decision_fields import changes_between  # noqa: PLC0415 - as above

    if revision.purged:
        return revision.missing
    if revision.record is None:
        return "removed"
    if before is None or before.record is None:
        return revision.record.headline
    return ", ".join(field.name for field in changes_between(before.record, revision.record))


@command(
    "undo",
    decides=True,
    short_help="Undo the last change, or any journal entry.",
    examples="""
    memento undo
    memento undo 341
    memento history
    """,
)
@click.argument("seq", type=click.IntRange(1), required=False)
def undo(seq: int | None) -> None:
    """Undo your last change, or the journal entry SEQ, whoever made it; a bulk write is undone whole."""
    with open_workspace() as workspace:
        entries = workspace.undo(seq)
    emit({"undone": [journal_entry_object(entry) for entry in entries]}, lambda: _undone_text("Undone", entries))


@command(
    "redo",
    decides=True,
    short_help="Redo what was undone last.",
    examples="""
    memento redo
    memento redo --json
    """,
)
def redo() -> None:
    """Redo what you undid last, unless you have changed something since."""
    with open_workspace() as workspace:
        entries = workspace.redo()
    emit({"redone": [journal_entry_object(entry) for entry in entries]}, lambda: _undone_text("Redone", entries))


def _undone_text(verb: str, entries: Sequence[Entry]) -> str:
    return "\n".join(
        safe(
            f"{verb} {e.seq}: {action_words(e.action).verb}, {format_time(e.at)}, {entry_author(e)}"
            f" {note_in_words(e.note)}".rstrip()
        )
        for e in entries
    )


commands = {"activity": activity, "exposures": exposures, "history": history, "undo": undo, "redo": redo}
