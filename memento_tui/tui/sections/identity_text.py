"""Read and format identity crystals: the source and rows of the timeline, the facts and prose of one, its changes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from threading import Lock

from textual.content import Content

from memento_tui import clock
from memento_tui.api import identity
from memento_tui.api.review import PendingProposal
from memento_tui.model import Crystal
from memento_tui.tui.display import cells, has_hidden, hidden_characters, literal, shown
from memento_tui.tui.text_diff import text_difference
from memento_tui.tui.widgets.record_list import Line

__all__ = [
    "CrystalSource",
    "crystal_changes",
    "crystal_facts",
    "crystal_line",
    "crystal_prose",
    "first_lines",
    "local_day",
    "other_writer_name",
]

_LONGEST = 20_000
"""Characters of a text that are shown; more would keep the screen busy."""

_FIRST_LINES = 6

_STATUS_NAMES = {
    "current": "The present identity",
    "proposed": "Proposed, and waits for you",
    "past": "A past identity",
    "rejected": "Rejected",
}


def local_time(moment: datetime) -> datetime:
    """Return a moment in the person's own time zone."""
    return moment.astimezone()


def local_day(moment: datetime) -> str:
    """Return a day as a sentence says it: ``3 May``, with the year where it is another."""
    day, today = local_time(moment), local_time(clock.now())
    return f"{day.day} {day:%B}" + ("" if day.year == today.year else f" {day.year}")


def other_writer_name(crystal: Crystal) -> str:
    """Return who wrote a crystal, as the subject of a sentence about another writer; safe to show."""
    return "You, elsewhere," if crystal.author == "person" else shown(crystal.author) or "Somebody"


def crystal_facts(crystal: Crystal, pending: PendingProposal | None) -> Content:
    """Return the lines above the text: what it is, whose, and what speaks for or against it."""
    moment = local_time(crystal.created_at)
    life = f"{local_day(crystal.created_at)}, {moment:%H:%M}  by {identity.writer_of(crystal)}"
    lines = [
        Content.styled(_STATUS_NAMES[crystal.status], "bold $text-warning" if pending else "bold"),
        literal(f"{life}  {len(crystal.content):,} characters  {crystal.id}", "dim"),
    ]
    if pending is not None:
        lines += [literal(f"asks you because {why}", "dim") for why in pending.why]
        lines += [literal(f"{name}: {text}", "$text-warning") for name, text in pending.rests_on if name != "about"]
        if pending.moved or pending.proposal.state == "needs_review":
            lines.append(Content.styled("! The identity changed since this was proposed.", "bold $text-warning"))
    hidden = hidden_characters(crystal.content)
    if hidden:
        told = ", ".join(f"{count}x {name}" for name, count in hidden.most_common(3))
        lines.append(literal(f"! hidden characters, shown as <...>: {told}", "bold $text-warning"))
    return Content("\n").join(lines)


def crystal_prose(crystal: Crystal) -> Content:
    """Return the text of a crystal; a very long one is cut, and says so."""
    text = literal(crystal.content[:_LONGEST], multiline=True)
    return Content("").join([text, _more_characters_note(len(crystal.content))])


def crystal_changes(before: Crystal, after: Crystal) -> Content:
    """Return what changed from one crystal to another; as much of it as may be shown."""
    head = f"compared with the one of {local_day(before.created_at)}, {local_time(before.created_at):%H:%M}"
    if before.content == after.content:
        return literal(f"{head}: both say the same.", "$text-muted")
    told = text_difference(before.content[:_LONGEST], after.content[:_LONGEST])
    rest = _more_characters_note(max(len(before.content), len(after.content)))
    return Content("\n\n").join([literal(head, "$text-accent"), Content("").join([told, rest])])


def _more_characters_note(characters: int) -> Content:
    left = characters - _LONGEST
    return (
        Content.styled(f"\n\n... {left:,} more characters. E opens all of it in your editor.", "dim")
        if left > 0
        else Content("")
    )


def first_lines(crystal: Crystal) -> Content:
    """Return the beginning of a crystal, for a question about it."""
    lines = [line for line in crystal.content[:2_000].split("\n") if line.strip()]
    told = [literal(cells(line, 62).rstrip()) for line in lines[:_FIRST_LINES]]
    return Content("\n").join([*told, *([Content("...")] if len(lines) > _FIRST_LINES else [])])


_GLYPHS = {"current": ("=", "good"), "proposed": ("~", "warning"), "past": ("-", "muted"), "rejected": ("x", "error")}
_DATE_WIDTH, _AUTHOR_WIDTH, _SIZE_WIDTH = 10, 10, 5
_HEAD = 400
"""Characters of a text that its first words are looked for in."""


class CrystalSource:
    """The crystals that hold some words or have some status, newest first. All are read at once, when first asked."""

    def __init__(self, crystals: identity.Crystals, wanted: str) -> None:
        self._crystals = crystals
        self._wanted = wanted.casefold().split()
        self._guard = Lock()
        self._all: list[Crystal] | None = None
        self._rows: list[Crystal] = []

    @property
    def all(self) -> Sequence[Crystal]:
        """Every crystal, whatever is wanted."""
        with self._guard:
            if self._all is None:
                self._all = self._crystals.timeline()
                self._rows = [crystal for crystal in self._all if self._is_wanted(crystal)]
            return self._all

    @property
    def rows(self) -> Sequence[Crystal]:
        """Those that are wanted."""
        return self._rows if self.all else ()

    def _is_wanted(self, crystal: Crystal) -> bool:
        text = f"{crystal.id} {crystal.author} {crystal.content}".casefold()
        return all(word == f"is:{crystal.status}" if word.startswith("is:") else word in text for word in self._wanted)

    def total(self) -> int:
        """Return how many there are."""
        return len(self.rows)

    def page(self, start: int, count: int) -> Sequence[Crystal]:
        """Return some of them."""
        return self.rows[start : start + count]

    def locate(self, row_id: str) -> int | None:
        """Return where one stands."""
        return next((place for place, row in enumerate(self.rows) if row.id == row_id), None)

    def ids(self, start: int, count: int) -> Sequence[str]:
        """Return the ids of some of them."""
        return [row.id for row in self.page(start, count)]


def crystal_line(row: Crystal, width: int, *, is_base: bool) -> list[Line]:
    """Return the row of a crystal: status, date, author, size, the first words."""
    glyph, style = _GLYPHS[row.status]
    flag = "c" if is_base else "!" if _has_hidden(row.content) else " "
    author = cells(identity.writer_of(row), _AUTHOR_WIDTH)
    facts = f"{local_time(row.created_at):%Y-%m-%d} {author} {_size(len(row.content)):>{_SIZE_WIDTH}}  "
    lines = [line for line in row.content[:_HEAD].split("\n") if line.strip()]
    # A heading says the same in all of them.
    said = " ".join(" ".join(line for line in lines if not line.startswith("#")).split()) or " ".join(lines)
    left = width - 3 - _DATE_WIDTH - _AUTHOR_WIDTH - _SIZE_WIDTH - 4
    tone = {"current": "strong", "proposed": ""}.get(row.status, "muted")
    return [
        [
            (glyph, style),
            (flag, "match" if is_base else "warning"),
            (" ", ""),
            (facts, "muted"),
            (cells(said, left), tone),
        ]
    ]


def _size(characters: int) -> str:
    return str(characters) if characters < 1_000 else f"{characters / 1_000:.1f}k"  # noqa: PLR2004 - a thousand


@lru_cache(maxsize=256)
def _has_hidden(content: str) -> bool:
    # A row is painted often, and a page of prose is long.
    return has_hidden(content)
