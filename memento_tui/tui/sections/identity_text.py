"""Read and format identity crystals: the rows of the timeline, the facts and prose of one, its changes, its story."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from itertools import islice

from textual.content import Content

from memento_tui import clock
from memento_tui.api import Workspace, identity
from memento_tui.api.identity import crystal_before, writer_of
from memento_tui.api.review import PendingProposal
from memento_tui.model import Crystal
from memento_tui.text.diff import diff_steps
from memento_tui.tui.columns import Columns, ListColumn, TextBelow, age_since, fixed
from memento_tui.tui.display import cells, has_hidden, hidden_characters, literal, more_characters, shown
from memento_tui.tui.row_sources import ListSource
from memento_tui.tui.text_diff import text_difference
from memento_tui.tui.views.record_story import RecordStory, StoryLine, StoryPart
from memento_tui.tui.widgets.record_list import Line

__all__ = [
    "CRYSTAL_BELOW",
    "CRYSTAL_COLUMNS",
    "CRYSTAL_ORDERS",
    "CrystalSource",
    "IdentityStory",
    "change_in_words",
    "crystal_changes",
    "crystal_facts",
    "crystal_line",
    "crystal_prose",
    "first_lines",
    "local_day",
    "other_writer_name",
]

_MAX_CHARACTERS = 20_000
"""Characters of a text that are shown and compared; more would keep the screen busy."""

_MORE_HINT = ". E opens all of it in your editor"

_FIRST_LINES = 6
"""Lines of a crystal that a question about it shows."""

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
    """Return a day in words: ``3 May``, with the year where it is not this one."""
    day, today = local_time(moment), local_time(clock.now())
    return f"{day.day} {day:%B}" + ("" if day.year == today.year else f" {day.year}")


def other_writer_name(crystal: Crystal) -> str:
    """Return who wrote a crystal, as the subject of a sentence about another writer; safe to show."""
    return "You, elsewhere," if crystal.author == "person" else shown(crystal.author) or "Somebody"


def crystal_facts(crystal: Crystal, pending: PendingProposal | None) -> Content:
    """Return the lines above the text: its status, author and size, and the evidence of its proposal."""
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
        counts = ", ".join(f"{count}x {name}" for name, count in hidden.most_common(3))
        lines.append(literal(f"! hidden characters, shown as <...>: {counts}", "bold $text-warning"))
    return Content("\n").join(lines)


def crystal_prose(crystal: Crystal) -> Content:
    """Return the text of a crystal; a very long one is cut, with a note."""
    text = literal(crystal.content[:_MAX_CHARACTERS], multiline=True)
    return Content("").join([text, more_characters(crystal.content, _MAX_CHARACTERS, _MORE_HINT)])


def crystal_changes(before: Crystal, after: Crystal) -> Content:
    """Return the difference of two crystals; of very long ones that of their beginnings, with a note."""
    head = f"compared with the one of {local_day(before.created_at)}, {local_time(before.created_at):%H:%M}"
    if before.content == after.content:
        return literal(f"{head}: both say the same.", "$quiet")
    difference = text_difference(before.content[:_MAX_CHARACTERS], after.content[:_MAX_CHARACTERS])
    longer = max(before.content, after.content, key=len)
    rest = more_characters(longer, _MAX_CHARACTERS, _MORE_HINT)
    return Content("\n\n").join([literal(head, "$text-accent"), Content("").join([difference, rest])])


def first_lines(crystal: Crystal) -> Content:
    """Return the beginning of a crystal, for a question about it."""
    lines = [line for line in crystal.content[:2_000].split("\n") if line.strip()]
    first = [literal(cells(line, 62).rstrip()) for line in lines[:_FIRST_LINES]]
    return Content("\n").join([*first, *([Content("...")] if len(lines) > _FIRST_LINES else [])])


_GLYPHS = {"current": ("=", "good"), "proposed": ("~", "warning"), "past": ("-", "muted"), "rejected": ("x", "error")}
_DATE_WIDTH, _AUTHOR_WIDTH, _SIZE_WIDTH = 10, 12, 5
_HEAD_CHARACTERS = 400
"""Characters of a text in which its first words are found."""


class CrystalSource(ListSource[Crystal]):
    """The crystals whose text holds some words or that have some status, in one of `CRYSTAL_ORDERS`."""

    def __init__(self, crystals: identity.Crystals, query: str, order: str) -> None:
        self._crystals = crystals
        self._order = order
        self._words = query.casefold().split()
        self._all: Sequence[Crystal] = ()
        super().__init__(self._read_matching)

    @property
    def all(self) -> Sequence[Crystal]:
        """Every crystal, those that the query leaves out included, newest first."""
        self.rows()
        return self._all

    def _read_matching(self) -> Sequence[Crystal]:
        self._all = self._crystals.timeline()
        found = [crystal for crystal in self._all if self._is_match(crystal)]
        if self._order == "oldest":
            return found[::-1]
        if self._order == "longest":
            return sorted(found, key=lambda crystal: -len(crystal.content))
        return sorted(found, key=identity.writer_of) if self._order == "author" else found

    def _is_match(self, crystal: Crystal) -> bool:
        text = f"{crystal.id} {crystal.author} {crystal.content}".casefold()
        return all(word == f"is:{crystal.status}" if word.startswith("is:") else word in text for word in self._words)


def _first_words(row: Crystal) -> str:
    lines = [line for line in row.content[:_HEAD_CHARACTERS].split("\n") if line.strip()]
    # A heading says the same in all of them.
    return " ".join(" ".join(line for line in lines if not line.startswith("#")).split()) or " ".join(lines)


CRYSTAL_COLUMNS = Columns[Crystal](
    name="identity",
    all={
        "day": ListColumn(
            "day",
            "the day when it was written",
            fixed(_DATE_WIDTH),
            lambda row, _: f"{local_time(row.created_at):%Y-%m-%d}",
            orders=("newest", "oldest"),
        ),
        "author": ListColumn(
            "by", "who wrote it", fixed(_AUTHOR_WIDTH), lambda row, _: identity.writer_of(row), orders=("author",)
        ),
        "size": ListColumn(
            "size",
            "how many characters it has",
            fixed(_SIZE_WIDTH),
            lambda row, _: _size(len(row.content)),
            is_number=True,
            orders=("longest",),
        ),
        "status": ListColumn("status", "present, past, proposed or rejected", fixed(8), lambda row, _: row.status),
        "text": ListColumn(
            "text",
            "its first words; always shown",
            fixed(0),
            lambda row, _: _first_words(row),
            lambda row, _: {"current": "strong", "proposed": ""}.get(row.status, "muted"),
        ),
        "age": age_since("how long ago it was written", lambda row: row.created_at, "newest", "oldest"),
    },
    first=("day", "author", "size", "text"),
    main="text",
    staying="day",
)

CRYSTAL_BELOW = TextBelow[Crystal](lambda row, _: [(_first_words(row), "muted")])

CRYSTAL_ORDERS = {"newest": "Newest", "oldest": "Oldest", "longest": "Longest", "author": "By author, the newest"}
"""The orders of the timeline, in words that say what comes first."""


def crystal_line(row: Crystal, width: int, names: Sequence[str], *, is_base: bool) -> list[Line]:
    """Return the row of a crystal: its status, whether the others are compared with it, and its columns."""
    flag = "c" if is_base else "!" if _has_hidden(row.content) else " "
    return [CRYSTAL_COLUMNS.line(row, width, names, [_GLYPHS[row.status], (flag, "match" if is_base else "warning")])]


def _size(characters: int) -> str:
    return str(characters) if characters < 1_000 else f"{characters / 1_000:.1f}k"  # noqa: PLR2004 - a thousand


@lru_cache(maxsize=256)
def _has_hidden(content: str) -> bool:
    # A row is painted often, and a page of prose is long.
    return has_hidden(content)


_MOST_VERSIONS = 12
"""Versions that are told, each in two lines."""

_MAX_COMPARISONS = 50_000
"""Pairs of words that one comparison looks at: a dozen comparisons take a tenth of a second."""


class IdentityStory(RecordStory[Crystal]):
    """Every version of the identity with its changes, and the part that agents may be given."""

    def read(self, workspace: Workspace, record: Crystal) -> Sequence[StoryPart]:
        """Return the cost of a crystal in a session's context, and all versions, the newest first."""
        history = workspace.crystals.timeline()
        versions = [_version(crystal, history) for crystal in islice(history, _MOST_VERSIONS)]
        return [StoryPart("What agents may be told", [_told(record)]), StoryPart("How it came to be", versions)]


def _told(crystal: Crystal) -> str:
    from memento_tui.hooks.context_preview import identity_preview  # noqa: PLC0415 - only a tall screen needs it

    if crystal.status != "current":
        waits = " until you approve it (a)" if crystal.status == "proposed" else ""
        return f"Nothing of this one{waits}."
    told = identity_preview(crystal)
    cut = " Its end is left out there: it is too long." if told.is_cut else ""
    return f"This text, when a session begins, where there is room for it: about {told.tokens:,} tokens.{cut}"


def _version(crystal: Crystal, history: Sequence[Crystal]) -> StoryLine:
    before = crystal_before(crystal, history)
    if before is None:
        changed, words = "the first", crystal.content
    else:
        changed, words = change_in_words(before.content[:_MAX_CHARACTERS], crystal.content[:_MAX_CHARACTERS])
    return StoryLine(crystal.created_at, writer_of(crystal), crystal.status, changed, words)


def change_in_words(before: str, after: str) -> tuple[str, str]:
    """Return the number of words gained and lost, as ``+2 -1 words``, and the changed words on one line."""
    old, new = re.findall(r"\S+", before), re.findall(r"\S+", after)
    lost, gained = 0, 0
    changes: list[str] = []
    for tag, a1, a2, b1, b2 in diff_steps(old, new, limit=_MAX_COMPARISONS):
        if tag != "equal":
            lost, gained = lost + a2 - a1, gained + b2 - b1
            changes += [f"- {' '.join(old[a1:a2])}"] if a2 > a1 else []
            changes += [f"+ {' '.join(new[b1:b2])}"] if b2 > b1 else []
    return (f"+{gained:,} -{lost:,} words" if changes else "says the same"), "   ".join(changes)
