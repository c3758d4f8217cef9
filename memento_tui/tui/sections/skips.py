"""The section of skips: things that agents are not to do or read again, with the reason and the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from textual import work
from textual.binding import BindingType
from textual.content import Content

from memento_tui import clock
from memento_tui.api.lists import SkipQuery, parse_skip_query
from memento_tui.model import Skip
from memento_tui.moments import parse_moment
from memento_tui.tui.commands import KeyScope, bindings
from memento_tui.tui.sections.entry_list import EntryListSection, EntryWriter
from memento_tui.tui.sections.entry_story import SkipStory
from memento_tui.tui.sections.entry_text import MOST_HITS_SHOWN, SKIP_BELOW, SKIP_COLUMNS, skip_details, skip_line
from memento_tui.tui.sections.record_spec import DEFAULT_EXTENSION, EXPIRY_HINT, SKIP_SPEC
from memento_tui.tui.widgets.record_list import Line

__all__ = ["SkipsSection"]


class SkipsSection(EntryListSection[Skip]):
    """See, extend and end skips."""

    SCOPE: ClassVar[KeyScope] = "skips"
    SPEC = SKIP_SPEC
    RECENT_ACTIVITY_OF: ClassVar[tuple[str, ...]] = ("skip",)
    FILTER_HINT: ClassVar[str] = "filter: words by:claude expires:<7d"
    ORDERS: ClassVar[Mapping[str, str]] = {"end": "Soonest to end", "created": "Newest", "hits": "Most hits"}
    ORDER_KEYS: ClassVar[Mapping[str, Callable[[Skip], Any]]] = {
        "created": lambda skip: -skip.created_at.timestamp(),
        "hits": lambda skip: (-skip.hits, skip.expires_at),
    }
    COLUMNS = SKIP_COLUMNS
    BELOW = SKIP_BELOW
    SIDE_TITLE: ClassVar[str] = "Skip"
    NEEDS_ROW: ClassVar[frozenset[str]] = frozenset(f"skips.{name}" for name in ("edit", "extend", "end", "decide"))
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("skips")]

    DEFAULT_CSS = """
    SkipsSection.-wide .side { max-width: 40%; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._query: SkipQuery = parse_skip_query("")
        self._holding_count = 0

    def make_story(self) -> SkipStory:
        """Return the widget with the facts about a skip below its text."""
        return SkipStory()

    def select(self, entries: Sequence[Skip]) -> Sequence[Skip]:
        """Return the skips that the filter selects, soonest to end first, and then those that have ended."""
        now = clock.now()
        self._holding_count = sum(1 for skip in entries if skip.expires_at > now)
        matching = [
            skip for skip in entries if (self.with_past or skip.expires_at > now) and self._query.matches(skip, now)
        ]
        ended = [skip for skip in matching if skip.expires_at <= now]
        return [*(skip for skip in matching if skip.expires_at > now), *reversed(ended)]

    def row_lines(self, row: Skip, width: int) -> Sequence[Line]:
        """Return the row of a skip."""
        return skip_line(row, width, self.columns.names)

    def details(self, row: Skip) -> Content:
        """Return the skip in full."""
        hits = self.memento.workspace.skips.hits(row.id, limit=MOST_HITS_SHOWN)
        return skip_details(row, hits, self.history_of(row))

    def head_text(self) -> Content:
        """Return how many skips there are, and whether ended ones are among them."""
        self.memento.show_counts(skips=self._holding_count)
        return Content(self.counted() + ("  those over too (f)" if self.with_past else ""))

    def empty_text(self) -> str:
        """Return a hint for a filter that finds nothing, or for an empty list."""
        if self.filter:
            return "Nothing found.\n\nFewer words find more; f shows those that are over. Escape clears the filter."
        return (
            "Nothing is skipped.\n\n"
            "n        add a skip: what not to do, why, and until when\n"
            "f        show those that are over\n"
            "q        leave, then:\n"
            '         memento skip add dist/ --reason "not ours" --until 30d\n\n'
            "Agents look here before they act; every match counts as a hit."
        )

    def filter_fields(self) -> Mapping[str, Iterable[tuple[str, str]]]:
        """Return who made skips, and spans in which they end."""
        makers = dict.fromkeys(skip.created_by for skip in self._all_entries() if skip.created_by)
        return {"by": [(maker, "") for maker in makers], "expires": [("<1d", ""), ("<7d", ""), ("<30d", "")]}

    def filter_changed(self) -> None:
        """Show the skips that the new filter selects."""
        self._query = parse_skip_query(self.filter)
        self.read()
        for problem in self._query.problems[:1]:
            self.memento.show_status(problem, problem=True)

    # Changing

    @work(exclusive=True, group="change")
    async def action_extend(self) -> None:
        """Ask for another end of the selected skips."""
        chosen = self.actions.choose()
        if not chosen:
            return
        hint = f"{EXPIRY_HINT.capitalize()}. Enter extends, Escape leaves"
        if self.rows.marks:
            await self._extend_marked(chosen, hint)
            return
        seen = self.current_seen()
        if seen is None:
            return
        writer, skips = EntryWriter(self, seen), self.memento.workspace.skips

        def accept(text: str) -> str:
            end = parse_moment(text, "expires_at", clock.now())
            written = writer.write(
                lambda base: self.note_written(skips.extend(base.id, end, base_version=base.version))
            )
            return f"It holds until {written.expires_at:%Y-%m-%d %H:%M}Z. z undoes."

        await self.ask(
            f"Until when? {self.heading('Extend', seen)}", DEFAULT_EXTENSION, accept, hint=hint, proposed=True
        )

    async def _extend_marked(self, chosen: Mapping[str, int | None], hint: str) -> None:
        ends: list[datetime] = []

        def accept(text: str) -> str:
            ends.append(parse_moment(text, "expires_at", clock.now()))
            return ""

        question = f"Until when? Extend {len(chosen):,} marked"
        await self.ask(question, DEFAULT_EXTENSION, accept, hint=hint, proposed=True)
        if ends:
            skips = self.memento.workspace.skips
            await self.actions.run_on(
                chosen,
                "Extend",
                "Extended",
                lambda skip_id, seen: self.note_written(skips.extend(skip_id, ends[0], base_version=seen)),
            )

    @work(exclusive=True, group="change")
    async def action_end(self) -> None:
        """End the selected skips now."""
        skips = self.memento.workspace.skips
        await self.actions.run_on_chosen("End", "Ended", lambda skip_id, seen: skips.remove(skip_id, base_version=seen))

    @work(exclusive=True, group="change")
    async def action_decide(self) -> None:
        """Turn the selected skips into standing decisions."""
        skips = self.memento.workspace.skips
        several = len(self.selection.ids()) > 1
        await self.actions.run_on_chosen(
            "Turn into standing decisions:",
            "Turned into standing decisions:" if several else "It is a standing decision now, among the work (4)",
            lambda skip_id, seen: skips.decide(skip_id, base_version=seen),
        )

    def action_ended(self) -> None:
        """List ended skips too, or not."""
        self.toggle_past()
        self.memento.show_status(
            "Those that are over are shown too." if self.with_past else "Only those that hold are shown."
        )
