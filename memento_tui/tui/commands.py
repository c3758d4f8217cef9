"""The one table of commands: keys, footer, palette and help are made from it, and nothing else names a key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec
from textual.binding import Binding

__all__ = ["COMMANDS", "PLACES", "Command", "Place", "bindings", "commands_in", "key_names"]

Place = Literal["everywhere", "list", "search", "memories", "review", "editor"]


class Command(msgspec.Struct, frozen=True):
    """One thing that a person can do, in one place.

    ``action`` is the name of the method ``action_...`` of the widget that owns the place. ``label`` is what the footer
    says, or empty where the footer leaves it out.
    """

    id: str
    place: Place
    keys: str
    action: str
    help: str
    label: str = ""
    first: bool = False
    """The key is looked at before the widget that has the focus sees it."""


COMMANDS: tuple[Command, ...] = (
    Command("app.memories", "everywhere", "1", "section('memories')", "Go to the memories"),
    Command("app.review", "everywhere", "2", "section('review')", "Go to what waits for your decision"),
    Command("app.undo", "everywhere", "z", "undo", "Undo your last change, after a restart too", "Undo"),
    Command("app.redo", "everywhere", "Z", "redo", "Redo what you undid"),
    Command("app.pause", "everywhere", "p", "pause", "Pause or resume the live view"),
    Command("app.palette", "everywhere", "ctrl+p", "command_palette", "Find a command by its name", "Commands"),
    Command("app.help", "everywhere", "question_mark", "help", "Show the keys of this place", "Keys"),
    Command("app.quit", "everywhere", "q,ctrl+q", "quit", "Quit"),
    Command("list.move", "list", "j,k,down,up", "", "Move by one row"),
    Command("list.page", "list", "ctrl+d,ctrl+u,pagedown,pageup", "", "Move by half a page or a page"),
    Command("list.ends", "list", "g,G,home,end", "", "Go to the first or last row"),
    Command("list.mark", "list", "space", "", "Mark a row; what you do then is done to all marked ones"),
    Command("list.range", "list", "v", "", "Begin a range of marks, and end it"),
    Command("search.focus", "memories", "slash", "search", "Search and filter", "Search", first=True),
    Command("search.leave", "search", "escape", "leave", "Clear the search, then leave it"),
    Command("search.list", "search", "enter,down", "to_list", "Go to the list"),
    Command("memories.new", "memories", "n", "new", "Write a new memory", "New"),
    Command("memories.edit", "memories", "e,enter", "edit", "Edit the memory here", "Edit"),
    Command("memories.external", "memories", "E", "edit_outside", "Edit the memory in $EDITOR"),
    Command("memories.tags", "memories", "t", "tags", "Change the tags", "Tags"),
    Command("memories.verify", "memories", "a", "verify", "Approve: mark as verified by you", "Verify"),
    Command("memories.pin", "memories", "i", "pin", "Pin as important, or unpin: agents get pinned ones first", "Pin"),
    Command("memories.delete", "memories", "d,delete", "delete", "Delete; it can be restored", "Delete"),
    Command("memories.restore", "memories", "r", "restore", "Restore a deleted memory (find them with is:deleted)"),
    Command("memories.copy", "memories", "y", "copy", "Copy the id"),
    Command("memories.markdown", "memories", "m", "markdown", "Show as Markdown, or as plain text"),
    Command("memories.unmark", "memories", "u", "unmark", "Unmark all"),
    Command("memories.scroll", "memories", "J,K", "", "Scroll the preview without leaving the list"),
    Command("memories.clear", "memories", "escape", "clear", "Leave the range, the marks, then the search"),
    Command("review.approve", "review", "a", "approve", "Approve and go on", "Approve"),
    Command("review.edit", "review", "e,enter", "edit", "Edit, then approve", "Edit+approve"),
    Command("review.reject", "review", "x", "reject", "Reject, with a reason that the agent can read", "Reject"),
    Command("review.later", "review", "l", "later", "Put off for a week", "Later"),
    Command("review.copy", "review", "y", "copy", "Copy the id"),
    Command("review.unmark", "review", "u", "unmark", "Unmark all"),
    Command("review.scroll", "review", "J,K", "", "Scroll the evidence without leaving the list"),
    Command("review.clear", "review", "escape", "clear", "Leave the range and the marks"),
    Command("editor.save", "editor", "ctrl+s", "save", "Save", "Save"),
    Command("editor.cancel", "editor", "escape", "cancel", "Leave without saving; asks if something changed", "Cancel"),
)
"""Every command, in the order in which help shows them."""

PLACES: dict[Place, str] = {
    "memories": "In the memories",
    "review": "In the review queue",
    "list": "In every list",
    "search": "In the search box",
    "editor": "In the editor",
    "everywhere": "Everywhere",
}
"""What help calls each place."""


def commands_in(places: Iterable[Place]) -> list[Command]:
    """Return the commands of some places, in the order of the places."""
    return [command for place in places for command in COMMANDS if command.place == place]


def bindings(place: Place) -> list[Binding]:
    """Return the key bindings of the widget that owns a place."""
    return [
        Binding(
            command.keys,
            command.action,
            command.label or command.help,
            show=bool(command.label),
            id=command.id,
            priority=command.first,
        )
        for command in COMMANDS
        if command.place == place and command.action
    ]


_KEY_NAMES = {"question_mark": "?", "slash": "/", "pagedown": "PgDn", "pageup": "PgUp", "escape": "Esc"}


def key_names(keys: str) -> str:
    """Return the keys of a command as a person reads them."""
    return " ".join(_KEY_NAMES.get(key, key.replace("ctrl+", "^") if len(key) > 1 else key) for key in keys.split(","))
