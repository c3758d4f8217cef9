"""Show the present memories and the session of a journal entry or an exposure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memento_tui.api import Workspace
from memento_tui.api.activity import ActivityQuery
from memento_tui.api.types import ActivityRow, ChangedRecord, ExposureRow
from memento_tui.model import Memory
from memento_tui.tui.sections.activity_rows import ActivityListRow
from memento_tui.tui.views.record_story import (
    RecordStory,
    StoryLine,
    StoryPart,
    entry_line,
    memory_line,
    memory_parts,
    session_part,
)

__all__ = ["ActivityStory"]

_MOST_MEMORIES = 4
"""Memories of an entry that are told of."""

_MOST_BESIDE = 8
"""Lines about other records written, or shown, together with a row."""

_REACH = 40
"""Entries before and after one among which those of its bulk write are looked for."""


class ActivityStory(RecordStory[ActivityListRow]):
    """The memories of a row, and the other rows of its bulk write and its session."""

    def read(self, workspace: Workspace, record: ActivityListRow) -> Sequence[StoryPart]:
        """Return the memories of a row as they are now, and the rows beside it, the newest first."""
        if isinstance(record, ExposureRow):
            return [_shown_beside(workspace, record), *memory_parts(workspace, record.exposure.memory_id)]
        changed = workspace.activity.action(record.entry.seq).changed
        memories = _memories_of(workspace, changed)
        shown_whole = {(change.record_id, change.version) for change in changed if change.before is None}
        others = [memory for memory in memories if (memory.id, memory.version) not in shown_whole]
        title = "The memory now" if len(others) == 1 else "The memories now"
        return [
            StoryPart(title, [memory_line(memory) for memory in others]),
            *(memory_parts(workspace, memories[0].id) if len(memories) == 1 else ()),
            *_written_beside(workspace, record),
        ]


def _memories_of(workspace: Workspace, changed: Sequence[ChangedRecord]) -> Sequence[Memory]:
    """Return the memories that some changes are about, those that still exist."""
    ids = list(dict.fromkeys(name for change in changed for name in _named(change)))[:_MOST_MEMORIES]
    found = workspace.get_many(ids)
    return [found[name] for name in ids if name in found]


def _named(change: ChangedRecord) -> Iterator[str]:
    """Yield the ids that may be those of memories: the record's own, a contradiction's sides, a relation's ends..."""
    if change.record == "memory":
        yield change.record_id
    record = change.before if change.after is None else change.after
    yield from (name for field in ("target_id", "older", "newer", "src", "dst") if (name := getattr(record, field, "")))


def _written_beside(workspace: Workspace, row: ActivityRow) -> Iterator[StoryPart]:
    """Yield the other entries of a bulk write, and the others of the session."""
    entry, log = row.entry, workspace.activity
    told = {entry.seq}
    if entry.batch:
        near = log.page(
            ActivityQuery(first_seq=entry.seq - _REACH, before_seq=entry.seq + _REACH + 1), limit=2 * _REACH + 1
        )
        batch = [one for one in near if one.entry.batch == entry.batch and one.id != row.id]
        told.update(one.entry.seq for one in batch)
        yield StoryPart("Written together with it", [entry_line(one) for one in batch[:_MOST_BESIDE]])
    yield session_part(workspace, entry.session, without_entries=told)


def _shown_beside(workspace: Workspace, row: ExposureRow) -> StoryPart:
    """Return the other exposures of the session."""
    session = row.exposure.session
    if not session:
        return StoryPart("", [])
    shown = workspace.activity.exposures(ActivityQuery(session=(session,)), limit=2 * _MOST_BESIDE)[0]
    others = [one for one in shown if one.exposure.session == session and one.id != row.id]
    return StoryPart("The same session was shown", [_exposure_line(one) for one in others[:_MOST_BESIDE]])


def _exposure_line(row: ExposureRow) -> StoryLine:
    used = "not used" if row.exposure.used_at is None else "used"
    headline = "(the memory is gone)" if row.memory is None else row.memory.headline
    return StoryLine(row.exposure.at, used, "", headline)
