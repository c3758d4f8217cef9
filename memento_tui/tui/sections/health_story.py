"""Tell below the explanation of a check what the workspace holds, with a bar for each amount."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memento_tui.api import Workspace
from memento_tui.api.types import Facet
from memento_tui.tui.sections.health_text import HealthRow
from memento_tui.tui.views.record_story import RecordStory, StoryLine, StoryPart

__all__ = ["HealthStory"]

_PARTS: Mapping[Facet, str] = {
    "kind": "What is remembered",
    "stability": "How far it is trusted",
    "agent": "Who wrote it",
    "namespace": "Where it belongs",
    "tag": "What it is about",
}
"""The fields by which memories are counted, each with the title above its bars."""

_MOST_VALUES, _NAME_WIDTH, _COUNT_WIDTH = 8, 20, 7


class HealthStory(RecordStory[HealthRow]):
    """How many memories are of each kind, trust, writer, namespace and tag; it is the same for every row."""

    def read(self, workspace: Workspace, record: HealthRow) -> Sequence[StoryPart]:
        """Return the amounts, the largest first."""
        del record
        return [
            StoryPart(title, list(_bars(workspace.facet_counts(facet))), _NAME_WIDTH, _COUNT_WIDTH)
            for facet, title in _PARTS.items()
        ]


def _bars(counts: Sequence[tuple[str, int]]) -> Iterator[StoryLine]:
    shown = counts[:_MOST_VALUES]
    most = max((count for _, count in shown), default=0)
    for value, count in shown:
        yield StoryLine(None, value.replace("_", " "), f"{count:>{_COUNT_WIDTH},}", "", share=count / most)
    if len(counts) > _MOST_VALUES:
        yield StoryLine(None, f"and {len(counts) - _MOST_VALUES:,} more", "", "")
