"""The pane with the evidence for the item in focus: its heading, its texts, and its context."""

from __future__ import annotations

import threading

from textual import work
from textual.app import ComposeResult
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from memento_tui.errors import MementoError
from memento_tui.tui.section import ErrorBoundary, app_of, in_thread
from memento_tui.tui.sections.review.evidence import FocusedItem, evidence, heading, size_of
from memento_tui.tui.sections.review.queue_story import QueueItemStory
from memento_tui.tui.text_diff import MIN_SPLIT_WIDTH
from memento_tui.tui.widgets.frames import ScrollFrame

__all__ = ["EvidencePane"]

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
        """Make the texts: the heading, the evidence, the context, and what else is known where there is room."""
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
        from memento_tui.tui.sections.review.context import context_text  # noqa: PLC0415 - as above

        self._stop_context = stopping = threading.Event()
        workspace = app_of(self).workspace

        def look_up() -> Content:
            similar = similar_memories(workspace, focused.item)
            return context_text(similar, transcript_excerpt(focused.item, stopping=stopping))

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
        """Tell what else is known of the item where there is room: below the context, and so after it."""
        parts = (self._heading, self._body, self._around)
        taken = sum(part.virtual_region_with_margin.height for part in parts) + 1
        self._story.show(self.focused, width=self.text_width, height=self.size.height - taken)
