"""Completion of the ids of records in a shell: one function for every command that takes one."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from memento_tui.cli.command import CliSession
from memento_tui.cli.output import safe

__all__ = ["complete_ids", "is_plain_name"]

if TYPE_CHECKING:
    from memento_tui.api import Workspace
    from memento_tui.api.inbox import InboxItem

_Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
_Named = Iterable[tuple[str, str]]

_MOST_OFFERED = 50
"""Ids that a shell is given: more are not read by anybody."""

_MOST_HELP_CHARACTERS = 70
"""Characters of a title beside an id: shells cut off longer lines."""

_PLAIN_NAME = re.compile(r"[\w@%+=./][\w@%+=./-]*")
"""Characters without a special meaning in bash, zsh, fish and the protocol of completions."""


def is_plain_name(name: str) -> bool:
    """Return whether a shell may put a name into the line as it is: it would run or split any other."""
    return _PLAIN_NAME.fullmatch(name) is not None


def complete_ids(kind: str, *, kind_option: str = "") -> _Completer:
    """Return the completion for an argument that takes ids of a kind, one of `_SOURCES`.

    ``kind_option`` is the option of the command that names another kind.
    """

    def complete(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
        source = _SOURCES.get(context.params.get(kind_option) or kind)
        given = context.params.get(parameter.name or "")
        taken = given if isinstance(given, tuple) else ()
        if source is None:
            return []
        try:
            return _read(context.ensure_object(CliSession), source, typed, taken)
        except Exception:  # noqa: BLE001 - a shell would print it into the line that is being typed
            return []

    return complete


def _read(
    session: CliSession, source: Callable[[Workspace, str], _Named], typed: str, taken: Sequence[str]
) -> list[CompletionItem]:
    """Return a source's records whose ids begin as typed, from a workspace opened read-only."""
    from memento_tui.api import Workspace  # noqa: PLC0415 - a command's help is shown without it

    logging.getLogger("memento_tui").addHandler(logging.NullHandler())
    with Workspace(session.directory, channel="cli", create=False, read_only=True) as workspace:
        fitting = (
            CompletionItem(name, help=safe(about[:_MOST_HELP_CHARACTERS]))
            for name, about in source(workspace, typed)
            if name.startswith(typed) and name not in taken and is_plain_name(name)
        )
        return list(islice(fitting, _MOST_OFFERED))


def _memories(workspace: Workspace, typed: str) -> _Named:
    """Return those that a list shows, the last changed first; once an id was begun, of any status."""
    from memento_tui.model.memory import RECALLED_STATUSES  # noqa: PLC0415 - as above

    return _memories_of(workspace, typed, RECALLED_STATUSES)


def _removed_memories(workspace: Workspace, typed: str) -> _Named:
    """Return memories that can be restored; once an id was begun, any, as each has earlier versions."""
    return _memories_of(workspace, typed, ("deleted", "rejected", "archived", "compacted"))


def _memories_of(workspace: Workspace, typed: str, statuses: tuple[str, ...]) -> _Named:
    from memento_tui.model.filters import OneOf  # noqa: PLC0415 - as above

    if typed:
        rows = workspace.summaries(workspace.ids_beginning("memory", typed, _MOST_OFFERED))
    else:
        rows = workspace.view(OneOf("status", statuses)).page(0, _MOST_OFFERED)
    return [(row.id, row.headline) for row in rows]


def _cards(workspace: Workspace, typed: str, *records: str) -> _Named:
    """Return the items that wait in Review, the riskiest first; of all kinds of records unless some are named."""
    found = [one for one in _waiting(workspace, typed) if not records or one.row.record in records]
    return [(one.row.record_id, f"{one.kind}: {one.headline}") for one in found]


def _waiting(workspace: Workspace, typed: str) -> Sequence[InboxItem]:
    from memento_tui.api.inbox import inbox_name  # noqa: PLC0415 - as above

    if not typed:
        return workspace.inbox.view().page(0, _MOST_OFFERED)
    return workspace.inbox.rows(
        [
            inbox_name(record, found)
            for record in ("proposal", "contradiction")
            for found in workspace.ids_beginning(record, typed, _MOST_OFFERED)
        ]
    )


def _skips(workspace: Workspace, _typed: str) -> _Named:
    return [(skip.id, skip.item) for skip in workspace.skips.list(ended=True)]


def _items(workspace: Workspace, _typed: str) -> _Named:
    return [(item.id, item.title) for item in workspace.items.list()]


def _crystals(workspace: Workspace, _typed: str) -> _Named:
    return [(crystal.id, f"{crystal.status}: {crystal.content}") for crystal in workspace.crystals.timeline()]


def _sessions(workspace: Workspace, _typed: str) -> _Named:
    return [(one.session, one.agent) for one in workspace.sessions.list(_MOST_OFFERED)]


def _searches(workspace: Workspace, _typed: str) -> _Named:
    return [(saved.name, saved.query) for saved in workspace.saved_searches.list()]


_SOURCES: Mapping[str, Callable[[Workspace, str], _Named]] = {
    "memory": _memories,
    "removed memory": _removed_memories,
    "card": _cards,
    "proposal": lambda workspace, typed: _cards(workspace, typed, "proposal"),
    "contradiction": lambda workspace, typed: _cards(workspace, typed, "contradiction"),
    "skip": _skips,
    "item": _items,
    "crystal": _crystals,
    "session": _sessions,
    "search": _searches,
}
"""The function that returns the ids of each kind of record, and a description beside each.

Where an id was begun, all memories and proposals are searched by it, of which there may be very many; of the other
kinds all are returned.
"""
