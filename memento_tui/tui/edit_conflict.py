"""Resolve edit conflicts: another writer changed a record while the person was editing it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from memento_tui.errors import Conflict
from memento_tui.tui.display import shown

if TYPE_CHECKING:
    from textual.app import App

    from memento_tui.api.types import Entry
    from memento_tui.tui.screens.write_problems import ConflictAnswer
    from memento_tui.tui.widgets.text_draft import TextDraft

__all__ = ["CurrentText", "other_writer_name", "save_with_conflicts"]

SaveOutcome = Literal["saved", "theirs", "edit"]
"""Saved; the other writer's text stays; the person goes on editing theirs."""

BaseT = TypeVar("BaseT")


class CurrentText(NamedTuple):
    """The text of a record as another writer left it, and that writer's name as the subject of a sentence."""

    draft: TextDraft
    writer: str


def other_writer_name(entry: Entry) -> str:
    """Return who made an entry, as the subject of a sentence about another writer; safe to show."""
    return "You, elsewhere," if entry.actor == "person" else shown(entry.agent) or "memento"


async def resolve_conflict(app: App[None], current: CurrentText, mine: TextDraft) -> ConflictAnswer:
    """Show both texts and ask which one stays; must run in a worker."""
    from memento_tui.tui.screens.write_problems import ConflictScreen  # noqa: PLC0415 - seldom needed

    return await app.push_screen_wait(ConflictScreen(current.draft.joined(), mine.joined(), current.writer))


async def save_with_conflicts(
    app: App[None],
    base: BaseT,
    mine: TextDraft,
    *,
    write: Callable[[BaseT], object],
    read_current: Callable[[], tuple[BaseT, CurrentText] | None],
) -> SaveOutcome:
    """Write a text over the record ``base``; where that changed meanwhile, let the person choose which text stays.

    ``write`` is called again with the record as it is now if the person's own text is to stay. ``read_current``
    returns that record and its text, or ``None`` where there is nothing to choose from; the `Conflict` is raised then.
    """
    while True:
        try:
            write(base)
        except Conflict:
            current = read_current()
            if current is None:
                raise
        else:
            return "saved"
        base, text = current
        answer = await resolve_conflict(app, text, mine)
        if answer != "mine":
            return answer
