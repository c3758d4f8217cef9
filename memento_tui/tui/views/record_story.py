"""Show facts about a record below its text, where a tall screen has room; of a memory, its history."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Generic, NamedTuple, Protocol, TypeVar

from rich.cells import cell_len
from textual import work
from textual.content import Content
from textual.widgets import Static

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.activity import ActivityQuery
from memento_tui.api.queries import links_of
from memento_tui.api.types import ActivityRow, Entry, ExposureRow, MemorySummary
from memento_tui.errors import MementoError, NotFound
from memento_tui.model import Memory
from memento_tui.model.journal_actions import done_words, note_in_words
from memento_tui.text.labels import caution_labels
from memento_tui.tui.display import ago, cells, literal, shown
from memento_tui.tui.section import ErrorBoundary, app_of, in_thread
from memento_tui.tui.text_diff import wrap_runs
from memento_tui.tui.widgets.frames import ScrollFrame

__all__ = [
    "LEAST_LINES",
    "TALL_LINES",
    "MemoryStory",
    "RecordStory",
    "StoryLine",
    "StoryPart",
    "StoryScroll",
    "entry_line",
    "memory_line",
    "memory_parts",
    "session_part",
    "writer_name",
]

TALL_LINES = 42
"""Rows of a terminal from which on a short text or list leaves more room than rests the eye."""

LEAST_LINES = 8
"""Rows that must be free before anything is shown in them."""

_PAUSE_SECONDS = 0.15
"""Seconds that a record is shown before more is read about it, so that going through a list reads nothing."""

_AGE_WIDTH, _FIRST_WIDTH, _SECOND_WIDTH = 5, 12, 14
_WIDEST_FIRST = 32
"""Cells of the first word of a line, where it is several and the screen is wide."""
_BAR, _WIDEST_BAR = "\N{LOWER HALF BLOCK}", 60
_MOST_LINES_OF_PROSE, _MOST_LINES_BELOW = 6, 3


class _Identified(Protocol):
    @property
    def id(self) -> str: ...


RecordT = TypeVar("RecordT", bound=_Identified)


class StoryLine(NamedTuple):
    """One line about a record: a moment, two words and a text, with a further text below it.

    None of them need be safe to show.
    """

    at: datetime | None
    first: str
    second: str
    text: str
    below: str = ""
    label: str = ""
    """How far the text is to be trusted, in front of the text below."""
    share: float = 0.0
    """How much of the room a bar in the place of the text takes (0 to 1); 0 where it has none."""

    def draw(
        self, width: int, now: datetime, first_width: int = _FIRST_WIDTH, second_width: int = _SECOND_WIDTH
    ) -> Iterator[Content]:
        """Yield its lines, none wider than ``width`` cells; the other widths are those of its two words."""
        age = "" if self.at is None else ago(self.at, now)
        columns = [(self.first, first_width), (self.second, second_width)]
        words = [f"{age:>{_AGE_WIDTH}}", *(cells(word, room) for word, room in columns if room)]
        room = width - cell_len("  ".join(words)) - 2
        text = _BAR * max(1, round(min(room, _WIDEST_BAR) * self.share)) if self.share else self.text
        # A text that stands whole in the row is not said again.
        below = "" if self.below == self.text and cell_len(shown(self.text)) <= room else self.below
        below = f"[{self.label}] {below}".rstrip() if self.label else below
        yield literal("  ".join([*words, cells(text, room)]).rstrip(), "" if self.below else "dim")
        indent = " " * (_AGE_WIDTH + 2)
        for line in _wrapped(below, width - len(indent), _MOST_LINES_BELOW) if below else ():
            yield Content.styled(f"{indent}{line}", "dim")


class StoryPart(NamedTuple):
    """Some lines below a title; a text among them is wrapped."""

    title: str
    lines: Sequence[StoryLine | str]
    first_width: int = _FIRST_WIDTH
    """Cells of the first word of each line, at least."""
    second_width: int = _SECOND_WIDTH
    """Cells of the second word, where any line has one."""

    def draw(self, width: int, now: datetime) -> Iterator[Content]:
        """Yield its lines, and a blank one; nothing where it has none."""
        if not self.lines:
            return
        yield literal(self.title, "bold")
        widest = max((cell_len(shown(line.first)) for line in self.lines if isinstance(line, StoryLine)), default=0)
        first_width = max(self.first_width, min(widest, _WIDEST_FIRST, width // 3))
        second_width = (
            self.second_width if any(isinstance(line, StoryLine) and line.second for line in self.lines) else 0
        )
        for line in self.lines:
            if isinstance(line, str):
                yield from (Content.styled(row, "dim") for row in _wrapped(line, width, _MOST_LINES_OF_PROSE))
            else:
                yield from line.draw(width, now, first_width, second_width)
        yield Content("")


class RecordStory(ErrorBoundary, Static, Generic[RecordT]):
    """The facts about a record that `read` returns: read on a thread, shown where there is room."""

    MOST_LINES = 40
    """Rows that are filled at most."""

    DEFAULT_CSS = "RecordStory { height: auto; display: none; text-wrap: nowrap; }"

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[RecordT, int, int] | None = None
        self._asked = 0
        """The number of the last request to show a record; results of earlier ones are dropped."""

    def read(self, workspace: Workspace, record: RecordT) -> Sequence[StoryPart]:
        """Return the facts about a record, in parts. Called on threads."""
        raise NotImplementedError

    def show(self, record: RecordT | None, *, width: int, height: int) -> None:
        """Tell of a record in a room of so many cells; nothing where that is too little, or the screen is not tall."""
        lines = min(height - 1, self.MOST_LINES)
        if record is None or lines < LEAST_LINES or self.app.size.height < TALL_LINES:
            self._shown = None
            self.display = False
            self._asked += 1
            return
        before, self._shown = self._shown, (record, width, lines)
        if before != self._shown:
            self.display = before is not None and before[0].id == record.id and self.display
            self._fill(record, width, lines)

    @work(group="story")
    async def _fill(self, record: RecordT, width: int, lines: int) -> None:
        self._asked += 1
        asked = self._asked
        await asyncio.sleep(_PAUSE_SECONDS)
        if asked != self._asked:
            return
        try:
            parts = await in_thread(self, self.read, app_of(self).workspace, record)
        except MementoError as error:
            app_of(self).show_status(str(error), problem=True)
            return
        if asked != self._asked:
            return
        now = clock.now()
        drawn = [line for part in parts for line in part.draw(width, now)]
        self.update(Content("\n").join(drawn[:lines]))
        self.display = bool(drawn)

    def read_again(self) -> None:
        """Read and draw it again: time has passed, or something was written that leaves the record as it is."""
        if self._shown is not None:
            record, width, lines = self._shown
            self._fill(record, width, lines)


class StoryScroll(ScrollFrame, Generic[RecordT]):
    """The text of a record, which scrolls, and below it further facts, where there is room."""

    def __init__(self, text: Static, story: RecordStory[RecordT]) -> None:
        super().__init__(classes="side-scroll", can_focus=False)
        self._text, self._story = text, story
        self._record: RecordT | None = None

    def compose(self) -> Iterator[Static]:
        """Lay out the text, and the facts below it."""
        yield self._text
        yield self._story

    def tell(self, record: RecordT | None) -> None:
        """Tell of the record that the text is about."""
        if record is not None and record == self._record:
            self._story.read_again()
        self._record = record
        self.call_after_refresh(self._fit)

    def on_resize(self) -> None:
        """Tell more of the record where there is room now."""
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        height = self.size.height - self._text.outer_size.height
        self._story.show(self._record, width=self.text_width, height=height)


def _wrapped(text: str, width: int, most: int) -> Iterator[str]:
    """Yield a text, safe to show, in at most so many lines; the last one shows where more was left out."""
    plain = shown(" ".join(text.split()))[: width * (most + 1)]
    lines = ["".join(piece for piece, _ in line) for line in wrap_runs([(plain, False)], width)]
    yield from lines[: most - 1]
    if rest := "".join(lines[most - 1 :]):
        yield cells(rest, width).rstrip()


_MOST_OF_EACH = 6
"""Lines of one kind that are shown of a memory."""

_MOST_BESIDE = 8
"""Lines about other records that were written with a record."""

_TEXT_CHARACTERS = 400
"""Characters of a memory's text from which the lines below its title are made."""


class MemoryStory(RecordStory[Memory]):
    """A memory's changes, links and exposures, similar memories, and others written in the same session."""

    def read(self, workspace: Workspace, record: Memory) -> Sequence[StoryPart]:
        """Return the facts about a memory in parts, in each the newest or the most similar first."""
        from memento_tui.api.review_context import memories_like  # noqa: PLC0415 - only where there is room for it

        like = memories_like(workspace, f"{record.title}\n{record.content}", {record.id}, _MOST_OF_EACH)
        alike = [
            StoryLine(one.memory.updated_at, _kind(one.memory), f"{one.likeness:.0%} alike", one.memory.headline)
            for one in like
        ]
        beside = session_part(workspace, record.source.session, without={record.id})
        return [
            *memory_parts(workspace, record.id),
            StoryPart("Says something alike", alike),
            beside if beside.lines else _around(workspace, record),
        ]


def session_part(
    workspace: Workspace, session: str, *, without: Collection[str] = (), without_entries: Collection[int] = ()
) -> StoryPart:
    """Return a session's other entries, newest first, without some entries and those about some records."""
    if not session:
        return StoryPart("", [])
    found = workspace.activity.page(ActivityQuery(session=(session,)), limit=2 * _MOST_BESIDE)
    others = [
        one
        for one in found
        if one.entry.session == session and one.record_id not in without and one.entry.seq not in without_entries
    ]
    return StoryPart("The same session", [entry_line(one) for one in others[:_MOST_BESIDE]])


def _around(workspace: Workspace, memory: Memory) -> StoryPart:
    """Return the memories written just before and after a memory, the latest first."""
    try:
        entries = workspace.timeline(memory.id, later=_MOST_BESIDE // 2, earlier=_MOST_BESIDE // 2)
    except NotFound:  # it was purged a moment ago
        return StoryPart("", [])
    lines = [
        StoryLine(one.created_at, _kind(one.summary), "", one.summary.headline)
        for one in entries
        if one.summary.id != memory.id
    ]
    return StoryPart("Around the same time", lines)


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
    return StoryLine(memory.updated_at, _kind(memory), "", memory.headline, text, standing)


def _kind(memory: Memory | MemorySummary) -> str:
    return memory.kind.replace("_", " ")


def writer_name(entry: Entry) -> str:
    """Return the name of an entry's writer: the agent, ``you`` for the person, or ``system``."""
    return entry.agent or {"person": "you"}.get(entry.actor, entry.actor)


def entry_line(row: ActivityRow) -> StoryLine:
    """Return a line on a journal entry: its age, its action, and its record."""
    entry = row.entry
    words = row.headline or note_in_words(entry.note) or f"{row.record} {row.record_id}".strip()
    undone = "" if row.undone_by is None else "(taken back)  "
    done = done_words(entry.action, proposes=row.proposes)
    return StoryLine(datetime.fromisoformat(entry.at), done, "", f"{undone}{words}")


def _change(row: ActivityRow) -> StoryLine:
    entry = row.entry
    who = writer_name(entry)
    undone = "" if row.undone_by is None else "(taken back)  "
    done = done_words(entry.action, proposes=row.proposes)
    return StoryLine(datetime.fromisoformat(entry.at), who, done, f"{undone}{note_in_words(entry.note)}")


def _exposure(row: ExposureRow) -> StoryLine:
    exposure = row.exposure
    session = f"session {exposure.session}" if exposure.session else ""
    return StoryLine(exposure.at, "not used" if exposure.used_at is None else "used", exposure.channel, session)
