"""How an identity crystal reads beside the timeline: its facts, its prose, and what changed in it."""

from __future__ import annotations

from datetime import datetime

from textual.content import Content

from memento_tui import clock
from memento_tui.records import Crystal
from memento_tui.tui.display import cells, hidden_characters, literal, shown
from memento_tui.tui.prose import difference
from memento_tui.workspace import identity
from memento_tui.workspace.queue import Pending

__all__ = [
    "crystal_changes",
    "crystal_facts",
    "crystal_prose",
    "day_of",
    "first_lines",
    "local",
    "writer_elsewhere",
]

_LONGEST = 20_000
"""Characters of a text that are shown; more would keep the screen busy."""

_FIRST_LINES = 6

_NAMES = {
    "current": "The present identity",
    "proposed": "Proposed, and waits for you",
    "past": "A past identity",
    "rejected": "Rejected",
}


def local(moment: datetime) -> datetime:
    """Return a moment in the person's own time zone."""
    return moment.astimezone()


def day_of(moment: datetime) -> str:
    """Return a day as a sentence says it: ``3 May``, with the year where it is another."""
    day, today = local(moment), local(clock.now())
    return f"{day.day} {day:%B}" + ("" if day.year == today.year else f" {day.year}")


def writer_elsewhere(crystal: Crystal) -> str:
    """Return who wrote a crystal, as the subject of a sentence about another writer; safe to show."""
    return "You, elsewhere," if crystal.author == "person" else shown(crystal.author) or "Somebody"


def crystal_facts(crystal: Crystal, pending: Pending | None) -> Content:
    """Return the lines above the text: what it is, whose, and what speaks for or against it."""
    moment = local(crystal.created_at)
    life = f"{day_of(crystal.created_at)}, {moment:%H:%M}  by {identity.writer_of(crystal)}"
    lines = [
        Content.styled(_NAMES[crystal.status], "bold $text-warning" if pending else "bold"),
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
    return Content("").join([text, _rest(len(crystal.content))])


def crystal_changes(before: Crystal, after: Crystal) -> Content:
    """Return what changed from one crystal to another; as much of it as may be shown."""
    head = f"compared with the one of {day_of(before.created_at)}, {local(before.created_at):%H:%M}"
    if before.content == after.content:
        return literal(f"{head}: both say the same.", "$text-muted")
    told = difference(before.content[:_LONGEST], after.content[:_LONGEST])
    rest = _rest(max(len(before.content), len(after.content)))
    return Content("\n\n").join([literal(head, "$text-accent"), Content("").join([told, rest])])


def _rest(characters: int) -> Content:
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
