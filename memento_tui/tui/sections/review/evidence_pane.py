"""The pane with the evidence for the item in focus: its heading, its texts, its context and related facts."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.review import ContradictionWithSides, PendingProposal
from memento_tui.errors import MementoError
from memento_tui.model import Memory, Skip, WorkingItem
from memento_tui.tui.display import ago, literal
from memento_tui.tui.section import ErrorBoundary, app_of, in_thread
from memento_tui.tui.sections.review.evidence import FocusedItem, evidence, heading, size_of
from memento_tui.tui.text_diff import MIN_SPLIT_WIDTH
from memento_tui.tui.views.record_story import RecordStory, StoryLine, StoryPart, memory_parts, session_part
from memento_tui.tui.widgets.frames import ScrollFrame

if TYPE_CHECKING:
    from memento_tui.api.review_context import SimilarMemory, TranscriptExcerpt, Utterance

__all__ = ["EvidencePane", "QueueItemStory"]

_CONTEXT_DELAY_SECONDS = 0.3
"""How long an item must be in focus before its context is looked up."""

_SPLIT_FROM_WIDTH = 100
"""Cells beside the list from which differences stand side by side unless the person asks otherwise."""

_MAX_CHARACTERS_IN_FRAME = 8_000
"""Characters that are compared and drawn within a frame; more are drawn on a thread."""


class EvidencePane(ErrorBoundary, ScrollFrame, can_focus=False):
    """Shows one item of the queue; its context follows after a moment."""

    DEFAULT_CSS = """
    EvidencePane #review-body { margin-top: 1; }
    EvidencePane #review-around { margin-top: 1; }
    """

    def __init__(self) -> None:
        super().__init__(classes="side-scroll")
        self._heading = Static(id="review-heading")
        self._body = Static(id="review-body")
        self._around = Static(id="review-around")
        self._story = QueueItemStory()
        self.focused: FocusedItem | None = None
        """The item that is shown."""
        self._split: bool | None = None
        """Whether differences stand side by side; ``None`` leaves it to the width."""
        self._drawn_for = (0, False)
        """The width and the split that the evidence was drawn for."""
        self._context_timer: Timer | None = None
        self._stop_context = threading.Event()

    def compose(self) -> ComposeResult:
        """Make the texts: the heading, the evidence, the context, and further facts where there is room."""
        yield self._heading
        yield self._body
        yield self._around
        yield self._story

    def show(self, focused: FocusedItem | None) -> None:
        """Show an item, or nothing; the scroll position is kept while it stays the same item."""
        same = focused is not None and self.focused is not None and self.focused.name == focused.name
        self.focused = focused
        self._around.update("")
        if not same:
            self._story.show(None, width=0, height=0)
        self._look_up_context_soon()
        if focused is None:
            self._heading.update("")
            self._body.update("")
            return
        self._heading.update(heading(focused, app_of(self).keys))
        if not same:
            self.scroll_home(animate=False)
        self._draw()

    def show_text(self, heading: Content, body: Content) -> None:
        """Show a text that is about no single item."""
        self.show(None)
        self._heading.update(heading)
        self._body.update(body)
        self.scroll_home(animate=False)

    # The evidence

    @property
    def _text_width(self) -> int:
        return self.text_width if self.text_width > 0 else MIN_SPLIT_WIDTH  # before it is laid out it has none

    @property
    def is_split(self) -> bool:
        """Whether differences stand side by side."""
        return self._text_width >= _SPLIT_FROM_WIDTH if self._split is None else self._split

    def toggle_split(self) -> None:
        """Show differences side by side, or one below the other."""
        self._split = not self.is_split
        self._draw()

    def redraw_if_resized(self) -> None:
        """Draw the evidence again if it was drawn for another width."""
        if self.is_mounted and (self._text_width, self.is_split) != self._drawn_for:
            self._draw()

    def _draw(self) -> None:
        focused = self.focused
        if focused is None:
            return
        width, split = self._drawn_for = (self._text_width, self.is_split)
        if size_of(focused) <= _MAX_CHARACTERS_IN_FRAME:
            self._body.update(evidence(focused, width, split=split))
        else:
            self._body.update(Content.styled("comparing ...", "dim"))
            self._draw_on_thread(focused, width, split=split)

    @work(exclusive=True, group="evidence")
    async def _draw_on_thread(self, focused: FocusedItem, width: int, *, split: bool) -> None:
        drawn = await in_thread(self, evidence, focused, width, split=split)
        if self.focused is focused:
            self._body.update(drawn)

    # The context

    def _look_up_context_soon(self) -> None:
        self._stop_context.set()
        self.workers.cancel_group(self, "context")
        if self._context_timer is not None:
            self._context_timer.stop()
        self._context_timer = self.set_timer(_CONTEXT_DELAY_SECONDS, self._look_up_context) if self.focused else None

    @work(exclusive=True, group="context")
    async def _look_up_context(self) -> None:
        focused = self.focused
        if focused is None:
            return
        # It reads transcripts, and is seldom needed first.
        from memento_tui.api.review_context import similar_memories, transcript_excerpt  # noqa: PLC0415 - as above

        self._stop_context = stopping = threading.Event()
        workspace = app_of(self).workspace

        def look_up() -> Content:
            similar = similar_memories(workspace, focused.item)
            return _context_text(similar, transcript_excerpt(focused.item, stopping=stopping))

        try:
            text = await in_thread(self, look_up)
        except MementoError as error:
            app_of(self).show_status(str(error), problem=True)
            return
        if self.focused is focused:
            self._around.update(text)
            self._around.display = bool(text)
            self.call_after_refresh(self._tell_more)

    def _tell_more(self) -> None:
        """Show further facts about the item below the context, where there is room."""
        parts = (self._heading, self._body, self._around)
        taken = sum(part.virtual_region_with_margin.height for part in parts) + 1
        self._story.show(self.focused, width=self.text_width, height=self.size.height - taken)


_MAX_SIMILAR_CHARACTERS = 240
"""Characters of each similar memory that are shown."""


def _context_text(similar: Sequence[SimilarMemory], excerpt: TranscriptExcerpt | None) -> Content:
    """Return both in one text, which is empty where there is neither."""
    lines: list[Content] = []
    if excerpt is not None:
        lines += [*_excerpt(excerpt), Content("")]
    if similar:
        lines.append(Content.styled("MEMORIES THAT SAY SOMETHING ALIKE", "bold $text-accent"))
        for memory in similar:
            lines += _similar_memory(memory)
    return Content("\n").join(lines)


def _excerpt(excerpt: TranscriptExcerpt) -> Iterator[Content]:
    location = f"{excerpt.transcript}{f', lines {excerpt.span}' if excerpt.span else ''}"
    yield Content.styled("SAID IN ", "bold $text-accent") + literal(location, "dim")
    if excerpt.problem:
        yield literal(excerpt.problem, "dim")
    for utterance in excerpt.said:
        yield from _utterance(utterance)


def _utterance(utterance: Utterance) -> Iterator[Content]:
    mark = "> " if utterance.is_source else "  "
    yield literal(f"{mark}{utterance.role}, line {utterance.first_line}", "bold" if utterance.is_source else "dim bold")
    yield literal(utterance.text, "" if utterance.is_source else "dim", multiline=True)
    if utterance.is_cut:
        yield Content.styled("... it goes on in the transcript", "dim")


def _similar_memory(similar: SimilarMemory) -> Iterator[Content]:
    memory = similar.memory
    trust = "draft" if memory.stability == "draft" else memory.stability
    age = ago(memory.updated_at, clock.now())
    yield literal(f"{similar.likeness:.0%}  {memory.id}  {trust}  {age}", "dim")
    text = (
        memory.content
        if len(memory.content) <= _MAX_SIMILAR_CHARACTERS
        else f"{memory.content[:_MAX_SIMILAR_CHARACTERS]}..."
    )
    yield literal(f"{memory.title}: {text}" if memory.title.strip() else text)


_MOST_DECIDED = 8
"""Earlier decisions about the same writer that are shown."""


class QueueItemStory(RecordStory[FocusedItem]):
    """The history, the earlier decisions and the session that a person checks before they decide."""

    def read(self, workspace: Workspace, record: FocusedItem) -> Sequence[StoryPart]:
        """Return the history of an item's sides, the decisions about its writer, and its session's other writes."""
        if isinstance(record.item, ContradictionWithSides):
            return list(_sides(workspace, record.item))
        proposal = record.item.proposal
        is_new = proposal.action == "create" or proposal.target != "memory"
        return [
            *([] if is_new else memory_parts(workspace, proposal.target_id)),
            _decided(workspace, proposal.proposed_by),
            session_part(workspace, proposal.session, without={proposal.target_id, proposal.id}),
        ]


def _sides(workspace: Workspace, found: ContradictionWithSides) -> Iterator[StoryPart]:
    for name, side in (("older", found.older), ("newer", found.newer)):
        if side is not None:
            # That each is linked to the other is what the card itself says.
            parts = [part for part in memory_parts(workspace, side.id) if part.title != "Links"]
            parts.append(session_part(workspace, side.source.session, without={side.id}))
            yield from (StoryPart(f"The {name}: {part.title.lower()}", part.lines) for part in parts)


def _decided(workspace: Workspace, writer: str) -> StoryPart:
    """Return the person's last decisions about proposals of a writer."""
    found = workspace.review.made_by(writer, ("approved", "rejected"), limit=_MOST_DECIDED)[0] if writer else []
    return StoryPart(f"You decided about {writer}", [_decision(pending) for pending in found])


def _decision(pending: PendingProposal) -> StoryLine:
    proposal = pending.proposal
    what = f"{'new' if proposal.action == 'create' else proposal.action} {proposal.target}"
    return StoryLine(proposal.decided_at, proposal.state, what, _subject(pending), proposal.note)


def _subject(pending: PendingProposal) -> str:
    match target := pending.target:
        case Memory():
            return target.headline
        case Skip():
            return target.item
        case WorkingItem():
            return target.title
    return pending.proposal.target_id
