"""Show the history, the links and the sessions of a memory below its text, where a tall screen has room for them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memento_tui.api import Workspace
from memento_tui.api.activity import ActivityQuery
from memento_tui.api.memory_details import links_of
from memento_tui.api.types import ActivityRow, ExposureRow
from memento_tui.model import Memory
from memento_tui.model.journal_actions import done_words, note_in_words
from memento_tui.tui.views.record_story import RecordStory, StoryLine, StoryPart

__all__ = ["MemoryStory"]

_MOST_OF_EACH = 6
"""Lines of one kind that are shown of a memory."""


class MemoryStory(RecordStory[Memory]):
    """The changes of a memory, its links, and to whom it was told."""

    MOST_LINES = 24

    def read(self, workspace: Workspace, record: Memory) -> Sequence[StoryPart]:
        """Return the changes of a memory, its links and its exposures, the newest first."""
        about = ActivityQuery(memory=(record.id,))
        changes = workspace.activity.page(about, limit=_MOST_OF_EACH)
        links = links_of(workspace, record.id)[:_MOST_OF_EACH]
        told = workspace.activity.exposures(about, limit=_MOST_OF_EACH)[0]
        return [
            StoryPart("History", [_change(row) for row in changes]),
            StoryPart("Links", [StoryLine(None, one.word, one.label, one.headline) for one in links]),
            StoryPart("Told to agents", [_exposure(row) for row in told]),
        ]


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
