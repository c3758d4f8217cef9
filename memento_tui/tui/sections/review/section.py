"""The section of the review: the queue, and beside it the one item in focus with its evidence."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from time import monotonic
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input, Static

from memento_tui import clock
from memento_tui.api.inbox import KIND_NAMES, InboxItem
from memento_tui.errors import MementoError
from memento_tui.storage.review import INBOX_KINDS
from memento_tui.tui.commands import KeyScope, bindings
from memento_tui.tui.display import ago, cells, has_hidden
from memento_tui.tui.row_sources import ListSource
from memento_tui.tui.section import in_thread
from memento_tui.tui.sections.review.decisions import ReviewDecisions
from memento_tui.tui.sections.review.evidence import FocusedItem, evidence, heading, read_focused_item, size_of
from memento_tui.tui.text_diff import MIN_SPLIT_WIDTH
from memento_tui.tui.widgets.paged_rows import RowSource
from memento_tui.tui.widgets.record_list import Line

__all__ = ["ReviewSection"]

_KIND_LABELS = {
    "secret": ("! secret", "error"),
    "contradiction": ("? contradiction", "warning"),
    "suggestion": ("? answer", "warning"),
    "identity": ("@ identity", "strong"),
    "expiring": ("> extend", "muted"),
    "skip": ("+ skip", "good"),
    "item": ("+ work", "good"),
    "learned": ("+ learned", "good"),
    "consolidation": ("= consolidation", "warning"),
    "merge": ("= merge", "warning"),
    "trust": ("^ promote", "muted"),
    "new": ("+ new", "good"),
    "change": ("~ change", "warning"),
    "deletion": ("- delete", "error"),
}
_ACTION_SIGNS = {"edit": "~", "delete": "-"}
_SIGN_WIDTH, _AGE_WIDTH, _WHO_WIDTH = 15, 5, 12
_NARROW = 60


def kind_word(kind: str) -> str:
    """Return the word that rows of a kind begin with, without its sign."""
    return _KIND_LABELS[kind][0][2:]


def waiting_line(row: InboxItem, width: int) -> list[Line]:
    """Return the row of one thing that waits: what it is, what it is about, who asks, since when."""
    word, style = _KIND_LABELS[row.kind]
    if row.kind in ("skip", "item"):
        word = f"{_ACTION_SIGNS.get(row.row.action, '+')}{word[1:]}"
    who = cells(row.row.who, _WHO_WIDTH) if width >= _NARROW else ""
    age = f"{ago(row.row.since, clock.now()):>{_AGE_WIDTH}}"
    left = width - _SIGN_WIDTH - 1 - _AGE_WIDTH - (len(who) + 1 if who else 0)
    head = row.headline
    flag = "!" if row.row.state == "needs_review" or has_hidden(row.row.text) else " "
    pieces = [(f"{word:<{_SIGN_WIDTH}}", style), (flag, "warning"), (cells(head, left), "")]
    if who:
        pieces += [(" ", ""), (who, "muted")]
    return [[*pieces, (age, "muted")]]


_IGNORE_KEYS_SECONDS = 0.5
"""How long keys that decide are ignored after what is in focus changed by itself."""

_CONTEXT_DELAY_SECONDS = 0.3
"""How long something must be in focus before its surroundings are looked up."""

_SPLIT_FROM_WIDTH = 100
"""Cells beside the list from which differences stand side by side unless the person asks otherwise."""

_FILTER_WIDTH = 24

_MAX_CHARACTERS_IN_FRAME = 8_000
"""Characters that are compared and drawn within a frame; more are drawn on a thread."""


class ReviewSection(ReviewDecisions):
    """Decide what stays. The filter box holds the kind of item that is shown, or nothing for all."""

    SCOPE: ClassVar[KeyScope] = "review"
    FILTER_HINT: ClassVar[str] = "kind: new, merge ..."
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("review")]
    DEFAULT_CSS = """
    ReviewSection #review-body { margin-top: 1; }
    ReviewSection #review-around { margin-top: 1; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._counts: dict[str, int] = {}
        self._split: bool | None = None
        """Whether differences stand side by side; ``None`` leaves it to the width."""
        self._drawn_for = (0, False)
        self._settled: Timer | None = None
        self._looking = threading.Event()

    def compose_side(self) -> ComposeResult:
        """Make the three texts beside the list: what is asked, what it is about, and what surrounds it."""
        with VerticalScroll(classes="side-scroll", can_focus=False):
            yield Static(id="review-heading")
            yield Static(id="review-body")
            yield Static(id="review-around")

    def on_mount(self) -> None:
        """Read the queue; the evidence gets more room than the list, and the numbers more than the filter."""
        self.filter_box.styles.width = _FILTER_WIDTH
        head = self.query_one(".head").styles
        head.width, head.max_width, head.text_align = "1fr", "100%", "right"
        self._share_room()
        super().on_mount()

    def _share_room(self) -> None:
        wide = self.has_class("-wide")
        rows, side = self.query_one(".rows").styles, self.query_one(".side").styles
        rows.width, side.width, side.height = ("2fr", "3fr", "1fr") if wide else ("1fr", "1fr", "2fr")

    def update_head(self) -> None:
        """Write the line above the list; an empty queue has the whole room for what it says."""
        super().update_head()
        self.query_one(".side").display = self.rows.total > 0 or bool(self.query("Editor"))

    # The queue

    @property
    def kind(self) -> str:
        """The kind that the filter names by its beginning; empty for all, ``?`` where it names none."""
        wanted = self.filter.strip().lower()
        named = [k for k in INBOX_KINDS if k.startswith(wanted) or kind_word(k).startswith(wanted)]
        return "" if not wanted else wanted if wanted in INBOX_KINDS else (named or ["?"])[0]

    def make_source(self) -> RowSource[InboxItem]:
        """Return what waits, or the part of it that is of the chosen kind."""
        kind = self.kind
        return ListSource(list) if kind == "?" else self.memento.workspace.waiting.view(kind)

    def row_lines(self, row: InboxItem, width: int) -> Sequence[Line]:
        """Return the row of one thing that waits."""
        return waiting_line(row, width)

    def head_text(self) -> Content:
        """Return how many of each kind wait, and how many are marked."""
        if not self._counts:
            return Content("" if self.rows.total else "nothing waits")
        kind = self.kind
        parts = []
        for other, count in self._counts.items():
            style = "bold $text-accent underline" if other == kind else ""
            parts.append(Content.styled(f"{count:,} {kind_word(other)}", style))
        total = sum(self._counts.values())
        waiting = Content(f"{total:,} {'waits' if total == 1 else 'wait'}: ") + Content(", ").join(parts)
        marks = len(self.rows.marks)
        marked = Content.styled(f"{marks:,} marked  ", "bold $text-accent") if marks else Content("")
        above = Content(f"{self.new_above:,} new above (g)  ") if self.new_above > 0 else Content("")
        return marked + above + waiting

    def empty_text(self) -> str:
        """Return what an empty queue says."""
        if self.kind == "?":
            return f"No kind of item is called that. Escape shows all.\n\nThe kinds are {', '.join(INBOX_KINDS)}."
        if self.kind and self._counts:
            return "None of this kind waits any more.\n\nEscape shows all that waits, f goes to the next kind."
        return (
            "All decided.\n\nWhat an agent proposes appears here, and what contradicts itself.\n"
            "2 goes to the memories, z undoes a decision."
        )

    def describe_rows(self, ids: Sequence[str]) -> Sequence[str]:
        """Return a line for each of some things that wait."""
        return [f"{KIND_NAMES[row.kind][0]}: {row.headline}" for row in self.memento.workspace.waiting.rows(ids)]

    def id_to_copy(self, row: InboxItem) -> str:
        """Return the id of what is decided about."""
        return row.row.record_id

    def read(self, *, select: str | None = None) -> None:
        """Show the queue from its beginning."""
        super().read(select=select)
        self._count()

    def reload(self) -> None:
        """Read again, keeping the place; what is in focus is shown anew if it reads otherwise now."""
        super().reload()
        self._count()
        row, focus = self.rows.current, self.focused
        if self._acted or row is None or focus is None or focus.name != row.id:
            return
        if self._read_focus(row) != focus and not self.query("Editor"):
            self._ignore_keys_until = monotonic() + _IGNORE_KEYS_SECONDS
            self.show(row)

    @work(exclusive=True, group="count")
    async def _count(self) -> None:
        """Count what waits, on a thread: it takes as long as the queue is."""
        try:
            self._counts = await in_thread(self, self.memento.workspace.waiting.counts)
        except MementoError as error:
            self.memento.show_status(str(error), problem=True)
            return
        self.memento.show_counts(review=sum(self._counts.values()))
        self.update_head()

    def show_query(self, query: str) -> None:
        """Show a kind of item, or go to one thing by its id or that of the memory that it is about."""
        if not query or query in INBOX_KINDS:
            self.filter_box.value = query
            return
        try:
            name = self.memento.workspace.waiting.find(query)
        except MementoError as error:
            self.memento.show_status(str(error), problem=True)
            return
        with self.filter_box.prevent(Input.Changed):
            self.filter_box.value = self.filter = ""
        self.acted()
        self.read(select=name)
        self.rows.refresh_rows(self.make_source(), select=name)

    def action_kind(self) -> None:
        """Show the next kind of which something waits, then all again."""
        kinds = ["", *self._counts]
        if len(kinds) == 1:
            self.memento.show_status("Nothing waits, so there is no kind to show.", problem=True)
            return
        here = kinds.index(self.kind) if self.kind in kinds else 0
        self.filter_box.value = kinds[(here + 1) % len(kinds)]

    # What is in focus

    def _read_focus(self, row: InboxItem) -> FocusedItem | None:
        try:
            return read_focused_item(self.memento.workspace, row.kind, row.id)
        except MementoError:
            return None

    def show(self, row: InboxItem | None) -> None:
        """Show one thing that waits, with its evidence; its surroundings follow after a moment."""
        focus = None if row is None else self._read_focus(row)
        same = focus is not None and self.focused is not None and self.focused.name == focus.name
        self.focused = focus
        self.memento.focus_changed()
        self.query_one("#review-around", Static).update("")
        self._look_around_soon()
        if focus is None:
            for name in ("heading", "body"):
                self.query_one(f"#review-{name}", Static).update("")
            return
        self.query_one("#review-heading", Static).update(heading(focus, self.memento.keys))
        if not same:
            self.query_one(".side-scroll").scroll_home(animate=False)
        self._draw_evidence()

    @property
    def _evidence_width(self) -> int:
        return max(self.query_one(".side-scroll", VerticalScroll).scrollable_content_region.width, MIN_SPLIT_WIDTH)

    @property
    def is_split(self) -> bool:
        """Whether differences stand side by side."""
        return self._evidence_width >= _SPLIT_FROM_WIDTH if self._split is None else self._split

    def _draw_evidence(self) -> None:
        focus = self.focused
        if focus is None:
            return
        width, split = self._drawn_for = (self._evidence_width, self.is_split)
        body = self.query_one("#review-body", Static)
        if size_of(focus) <= _MAX_CHARACTERS_IN_FRAME:
            body.update(evidence(focus, width, split=split))
        else:
            body.update(Content.styled("comparing ...", "dim"))
            self._draw_slowly(focus, width, split=split)

    @work(exclusive=True, group="evidence")
    async def _draw_slowly(self, focus: FocusedItem, width: int, *, split: bool) -> None:
        drawn = await in_thread(self, evidence, focus, width, split=split)
        if self.focused is focus:
            self.query_one("#review-body", Static).update(drawn)

    def on_resize(self) -> None:
        """Draw the evidence for the width that there is."""
        super().on_resize()
        self._share_room()
        self.call_after_refresh(self._draw_again)

    def _draw_again(self) -> None:
        if self.is_mounted and (self._evidence_width, self.is_split) != self._drawn_for:
            self._draw_evidence()

    def action_split(self) -> None:
        """Show differences side by side, or one below the other."""
        self._split = not self.is_split
        self.memento.show_status("Side by side." if self._split else "One below the other.")
        self._draw_evidence()

    # What surrounds it

    def _look_around_soon(self) -> None:
        self._looking.set()
        self.workers.cancel_group(self, "around")
        if self._settled is not None:
            self._settled.stop()
        self._settled = self.set_timer(_CONTEXT_DELAY_SECONDS, self._look_around) if self.focused else None

    @work(exclusive=True, group="around")
    async def _look_around(self) -> None:
        focus = self.focused
        if focus is None:
            return
        # reads transcripts; seldom first
        from memento_tui.api.review_context import similar_memories, transcript_excerpt  # noqa: PLC0415 - as above
        from memento_tui.tui.sections.review.context import context_text  # noqa: PLC0415

        self._looking = stopping = threading.Event()
        workspace = self.memento.workspace

        def look() -> Content:
            return context_text(
                similar_memories(workspace, focus.item), transcript_excerpt(focus.item, stopping=stopping)
            )

        try:
            found = await in_thread(self, look)
        except MementoError as error:
            self.memento.show_status(str(error), problem=True)
            return
        if self.focused is focus:
            self.query_one("#review-around", Static).update(found)
