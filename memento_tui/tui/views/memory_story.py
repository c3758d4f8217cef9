"""Show the history, the links and the sessions of a memory below its text, where a tall screen has room for them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.activity import ActivityQuery
from memento_tui.api.memory_details import links_of
from memento_tui.api.types import ActivityRow, ExposureRow
from memento_tui.model import Memory
from memento_tui.model.journal_actions import done_words, note_in_words
from memento_tui.text.labels import caution_labels
from memento_tui.tui.views.record_story import RecordStory, StoryLine, StoryPart

__all__ = ["MemoryStory", "memory_line", "memory_parts"]

_MOST_OF_EACH = 6
"""Lines of one kind that are shown of a memory."""

_TEXT_CHARACTERS = 400
"""Characters of a memory's text from which the lines below its title are made."""


class MemoryStory(RecordStory[Memory]):
    """The changes of a memory, its links, and to whom it was told."""

    MOST_LINES = 24

    def read(self, workspace: Workspace, record: Memory) -> Sequence[StoryPart]:
        """Return the changes of a memory, its links and its exposures, the newest first."""
        return memory_parts(workspace, record.id)


def memory_parts(workspace: Workspace, memory_id: str) -> Sequence[StoryPart]:
    """Return the changes of a memory, its links and its exposures, the newest first."""
    about = ActivityQuery(memory=(memory_id,))
    changes = workspace.activity.page(about, limit=_MOST_OF_EACH)
    links = links_of(workspace, memory_id)[:_MOST_OF_EACH]
    told = workspace.activity.exposures(about, limit=_MOST_OF_EACH)[0]
    return [
        StoryPart("History", [_change(row) for row in changes]),
        StoryPart("Links", [StoryLine(None, one.word, one.label, one.headline) for one in links]),
        StoryPart("Told to agents", [_exposure(row) for row in told]),
    ]


def memory_line(memory: Memory) -> StoryLine:
    """Return a memory with its age, its kind and its title; below them how far it is to be trusted, and its text."""
    text = " ".join(memory.content[:_TEXT_CHARACTERS].split())
    standing = ", ".join(caution_labels(memory, clock.now()))
    return StoryLine(memory.updated_at, memory.kind.replace("_", " "), "", memory.headline, text, standing)


def _change(row: ActivityRow) -> StoryLine:
    entry = row.entry
    who = entry.agent or {"person": "you"}.get(entry.actor, entry.actor)
    undone = "" if row.undone_by is None else "(taken back)  "
    done = done_words(entry.action, proposes=row.proposes)
    return StoryLine(datetime.fromisoformat(entry.at), who, done, f"{undone}{note_in_words(entry.note)}")


def _exposure(row: ExposureRow) -> StoryLine:
    exposure = row.exposure
    session = f"session {exposure.session}" if exposure.session else ""
    return StoryLine(exposure.at, "not used" if exposure.used_at is None else "used", exposure.channel, session)
