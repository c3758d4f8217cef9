"""The table of commands, from which keys, footer, palette and help are made; nothing else names a key."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping

import msgspec
from textual.binding import Binding

from memento_tui.app_sections import SECTIONS

__all__ = [
    "COMMANDS",
    "KEYMAPS",
    "KEY_SCOPES",
    "SCREEN_SCOPES",
    "Command",
    "KeyMap",
    "KeyScope",
    "bindings",
    "commands_in_scopes",
    "is_writing",
    "key_code",
    "key_names",
    "markdown_table",
]

KeyScope = str
"""A part of the app with keys of its own: one of `KEY_SCOPES`."""


class Command(msgspec.Struct, frozen=True):
    """One command of one key scope.

    ``action`` is the name of the method ``action_...`` of the widget that owns the scope. ``label`` is its name in the
    footer; empty where the footer leaves it out.
    """

    id: str
    scope: KeyScope
    keys: str
    action: str
    help: str
    label: str = ""
    first: bool = False
    """Whether the key is handled before the focused widget gets it."""
    writes: bool = False
    """Whether it changes something, or leads to where something is changed."""


COMMANDS: tuple[Command, ...] = (
    *(
        Command(f"app.{tab.name}", "everywhere", tab.key, f"section('{tab.name}')", f"Go to {tab.subject}")
        for tab in SECTIONS
    ),
    Command("app.previous", "everywhere", "left_square_bracket", "neighbour(-1)", "Go to the section before"),
    Command("app.next", "everywhere", "right_square_bracket", "neighbour(1)", "Go to the section after"),
    Command("app.jump", "everywhere", "apostrophe", "jump", "Jump by a letter: m Memories, r Review, g the first row"),
    Command("app.undo", "everywhere", "z", "undo", "Undo your last change, after a restart too", "Undo", writes=True),
    Command("app.redo", "everywhere", "Z", "redo", "Redo what you undid", writes=True),
    Command("app.undone", "everywhere", "U", "undone", "Go to what you undid or redid last"),
    Command("app.pause", "everywhere", "p", "pause", "Pause or resume the live view"),
    Command("app.line", "everywhere", "colon", "command_line", "Type a command: a field to change, a place to go to"),
    Command("app.palette", "everywhere", "ctrl+p", "command_palette", "Find a command by its name", "Commands"),
    Command("app.help", "everywhere", "question_mark", "help", "Show the keys of this place", "Keys"),
    Command("app.past", "everywhere", "at", "past", "See the memory as it was: a date, 3 days ago, a journal entry"),
    Command("app.settings", "everywhere", "f2", "settings", "See and change the settings"),
    Command("app.workspaces", "everywhere", "f4", "workspaces", "Go to another workspace"),
    Command("app.imports", "everywhere", "ctrl+o", "imports", "Find memories to import", writes=True),
    Command("app.quit", "everywhere", "q,ctrl+q", "quit", "Quit"),
    Command("rows.up", "rows", "up,k", "move(-1)", "Up by one row"),
    Command("rows.down", "rows", "down,j", "move(1)", "Down by one row"),
    Command("rows.half_up", "rows", "ctrl+u", "page(-0.5)", "Up by half a page"),
    Command("rows.half_down", "rows", "ctrl+d", "page(0.5)", "Down by half a page"),
    Command("rows.page_up", "rows", "pageup", "page(-1.0)", "Up by a page"),
    Command("rows.page_down", "rows", "pagedown", "page(1.0)", "Down by a page"),
    Command("rows.first", "rows", "g,home", "first", "To the first row"),
    Command("rows.last", "rows", "G,end", "last", "To the last row"),
    Command("rows.mark", "rows", "space", "mark", "Mark a row and go on; commands then act on all marked rows"),
    Command("rows.range", "rows", "v", "range", "Begin a range of marks, and end it"),
    Command("rows.leave_range", "rows", "escape", "leave_range", "Leave the range"),
    Command("list.filter", "list", "slash", "filter", "Search or filter", "Search", first=True),
    Command("list.copy", "list", "y", "copy", "Copy: yy its text, yt its title, yl its link, yi its id"),
    Command("list.unmark", "list", "u", "unmark", "Unmark all"),
    Command("list.sort", "list", "comma", "sort", "Sort another way; the head of the list says which"),
    Command("columns.choose", "columns", "vertical_line", "columns", "Choose the columns of the list, and their order"),
    Command("list.zoom", "list", "backslash", "zoom", "Show the list alone, then the pane alone, then both"),
    Command("list.scroll_down", "list", "J", "scroll_side(3)", "Scroll the side pane, without leaving the list"),
    Command("list.scroll_up", "list", "K", "scroll_side(-3)", "Scroll it back"),
    Command("list.clear", "list", "escape", "clear", "Clear the marks, close the view beside it, clear the search"),
    Command("search.leave", "search", "escape", "leave", "Clear the search, then leave it", "Clear", first=True),
    Command("search.list", "search", "enter", "to_list", "Go to the list", "To the list", first=True),
    Command("search.take", "search", "tab", "take", "Take the suggestion; without one, to the list", first=True),
    Command("search.right", "search", "right", "right", "Take the suggestion, or move by a letter", first=True),
    Command("search.up", "search", "up", "go(-1)", "The suggestion above; without one, an earlier search", first=True),
    Command(
        "search.down", "search", "down", "go(1)", "The suggestion below, or a later search, or the list", first=True
    ),
    Command("command.run", "command", "enter", "run", "Run the command, or take the suggestion", first=True),
    Command("command.take", "command", "tab", "take", "Take the suggestion", first=True),
    Command("command.right", "command", "right", "right", "Take the suggestion, or move by a letter", first=True),
    Command("command.up", "command", "up", "go(-1)", "The suggestion above, or an earlier command", first=True),
    Command("command.down", "command", "down", "go(1)", "The suggestion below, or a later command", first=True),
    Command("command.erase", "command", "backspace", "erase", "Erase a letter; with none left, leave", first=True),
    Command("command.leave", "command", "escape", "leave", "Leave the line", first=True),
    Command(
        "past.entry_back", "past", "left_square_bracket", "step(-1)", "To the journal's entry before", "An entry back"
    ),
    Command("past.entry_on", "past", "right_square_bracket", "step(1)", "To the journal's next entry", "On"),
    Command("past.day_back", "past", "left_curly_bracket", "day(-1)", "A day back", "A day back"),
    Command("past.day_on", "past", "right_curly_bracket", "day(1)", "A day on", "On"),
    Command("past.search", "past", "slash", "search", "Search in the memories of then", "Search"),
    Command("past.moment", "past", "at", "moment", "Another moment", "Moment"),
    Command("past.scroll_down", "past", "J", "scroll(3)", "Scroll the text"),
    Command("past.scroll_up", "past", "K", "scroll(-3)", "Scroll it back"),
    Command("past.leave", "past", "escape", "leave", "Back to the present", "The present"),
    Command("home.go", "home", "enter", "go", "Go to the list that a number counts", "Go there"),
    Command("home.decide", "home", "a,x", "decide", "Open the card of what waits: read it, and decide there", "Decide"),
    Command("home.down", "home", "down,j", "move('down')", "To the number below"),
    Command("home.up", "home", "up,k", "move('up')", "To the number above"),
    Command("home.right", "home", "right,l", "move('right')", "To the number at the right"),
    Command("home.left", "home", "left,h", "move('left')", "To the number at the left"),
    Command("home.next", "home", "tab", "step(1)", "To the next number", "Next"),
    Command("home.last", "home", "shift+tab", "step(-1)", "To the last number"),
    Command("home.scroll_down", "home", "pagedown,ctrl+d,J", "scroll(1)", "Scroll down"),
    Command("home.scroll_up", "home", "pageup,ctrl+u,K", "scroll(-1)", "Scroll back up"),
    Command("memories.new", "memories", "n", "new", "Write a new memory", "New", writes=True),
    Command("memories.edit", "memories", "e,enter", "edit", "Edit the memory here", "Edit", writes=True),
    Command("memories.external", "memories", "E", "edit_outside", "Edit the memory in $EDITOR", writes=True),
    Command(
        "memories.fields",
        "memories",
        "c",
        "fields",
        "Change its kind, namespace, certainty, validity, expiry and more",
        writes=True,
    ),
    Command("memories.tags", "memories", "t", "tags", "Change the tags", "Tags", writes=True),
    Command("memories.verify", "memories", "a", "verify", "Approve: mark as verified by you", "Verify", writes=True),
    Command(
        "memories.pin",
        "memories",
        "i",
        "pin",
        "Pin as important, or unpin: agents get pinned ones first",
        "Pin",
        writes=True,
    ),
    Command("memories.delete", "memories", "d,delete", "delete", "Delete; it can be restored", "Delete", writes=True),
    Command(
        "memories.restore",
        "memories",
        "r",
        "restore",
        "Restore a deleted memory (find them with is:deleted)",
        writes=True,
    ),
    Command("memories.weak", "memories", "W", "weak", "Show the weak results of a search too, or not"),
    Command("memories.whole", "memories", "O", "whole", "Show all of a long text"),
    Command("memories.markdown", "memories", "m", "markdown", "Show as Markdown, or as plain text"),
    Command(
        "memories.history",
        "memories",
        "h",
        "view('history')",
        "Its versions, what each changed, and a way back",
        "History",
    ),
    Command("memories.timeline", "memories", "o", "view('timeline')", "What was remembered around the same time"),
    Command("memories.links", "memories", "l", "view('links')", "Its relations; walk along them and back", "Links"),
    Command(
        "memories.why", "memories", "w", "view('why')", "Why it ranks where it does, and how its weight decays", "Why"
    ),
    Command("memories.tree", "memories", "f", "view('tree')", "The tree of namespaces, kinds, tags and trust", "Tree"),
    Command("memories.cited", "memories", "F", "cited", "Open a file that it cites, or the page that it is from"),
    Command("memories.searches", "memories", "s", "searches", "Go to a saved search"),
    Command("memories.save_search", "memories", "S", "save_search", "Save this search under a name", writes=True),
    Command("history.restore", "history", "r", "restore_version", "Restore this version", "Restore", writes=True),
    Command("history.scroll_down", "history", "J", "scroll(3)", "Scroll the difference"),
    Command("history.scroll_up", "history", "K", "scroll(-3)", "Scroll it back"),
    Command("history.leave", "history", "escape", "preview", "Back to the text", "Back"),
    Command("timeline.go", "timeline", "enter", "go", "Go to this memory in the list", "Go there"),
    Command("timeline.leave", "timeline", "escape", "preview", "Back to the text", "Back"),
    Command("links.walk", "links", "enter", "walk", "Walk to the memory at the other end", "Walk there"),
    Command("links.back", "links", "backspace", "back", "Go back by one step", "Step back"),
    Command("links.forward", "links", "shift+backspace,alt+right", "forward", "Go forward again by one step"),
    Command("links.leave", "links", "escape", "preview", "Back to the text", "Back"),
    Command("tree.choose", "tree", "enter,space", "choose", "Filter the list by this, or no longer", "Filter"),
    Command("tree.fold", "tree", "left,h", "fold(True)", "Fold this, or go to its parent"),
    Command("tree.unfold", "tree", "right,l", "fold(False)", "Unfold this"),
    Command("tree.clear", "tree", "u", "clear", "Clear the filter of the tree", "All"),
    Command("tree.leave", "tree", "escape,f", "leave", "Back to the list", "Back"),
    Command("why.down", "why", "down,j,J", "scroll(1)", "Scroll down"),
    Command("why.up", "why", "up,k,K", "scroll(-1)", "Scroll up"),
    Command("why.leave", "why", "escape,w", "preview", "Back to the text", "Back"),
    Command("review.approve", "review", "a", "approve", "Approve and go on", "Approve", writes=True),
    Command(
        "review.reject",
        "review",
        "x",
        "reject",
        "Reject, with a reason the agent can read; a contradiction: it is none",
        "Reject",
        writes=True,
    ),
    Command("review.edit", "review", "e,enter", "edit", "Edit, then approve", "Edit+approve", writes=True),
    Command("review.later", "review", "l", "later", "Put off for a week", "Later", writes=True),
    Command(
        "review.newer",
        "review",
        "n",
        "resolve('newer_supersedes')",
        "Contradiction: the newer replaces the older",
        "Newer",
        writes=True,
    ),
    Command(
        "review.older",
        "review",
        "o",
        "resolve('older_stands')",
        "Contradiction: the older stands",
        "Older",
        writes=True,
    ),
    Command(
        "review.both",
        "review",
        "b",
        "resolve('both_valid')",
        "Contradiction: both hold, each where you say",
        "Both",
        writes=True,
    ),
    Command(
        "review.merge",
        "review",
        "m",
        "resolve('merged')",
        "Contradiction: write the one text that holds",
        "Merge",
        writes=True,
    ),
    Command(
        "review.lines",
        "review",
        "c",
        "lines",
        "Choose lines and sentences of a change: take some, leave others",
        "Lines",
    ),
    Command(
        "review.approve_group",
        "review",
        "A",
        "decide_group('approve')",
        "Approve all of a group, or all that is found",
        "Approve all",
        writes=True,
    ),
    Command(
        "review.reject_group",
        "review",
        "X",
        "decide_group('reject')",
        "Reject all of a group, or all that is found",
        "Reject all",
        writes=True,
    ),
    Command("review.group", "review", "F", "group", "Group what waits by kind, agent, session or source", "Group"),
    Command("review.fold", "review", "left", "fold(True)", "Fold the group", "Fold"),
    Command("review.unfold", "review", "right", "fold(False)", "Unfold the group", "Unfold"),
    Command("review.split", "review", "s", "split", "Differences side by side, or one below the other"),
    Command("review.kind", "review", "f", "kind", "Show one kind of item, then the next"),
    Command("review.external", "review", "E", "edit_outside", "Decide the whole queue in $EDITOR", writes=True),
    Command("lines.take", "lines", "space", "take", "Take or leave the line, with the one it replaces; go on", "Take"),
    Command("lines.part", "lines", "enter", "take_part", "Take, or leave, all lines that change together", "Together"),
    Command("lines.single", "lines", "s", "take_single", "Take or leave this line without the other of its pair"),
    Command("lines.all", "lines", "u", "take_all", "Take all lines, or none", "All"),
    Command(
        "lines.approve",
        "lines",
        "a",
        "approve",
        "Approve the text that is shown below the lines",
        "Approve",
        writes=True,
    ),
    Command("lines.scroll_down", "lines", "J", "scroll(3)", "Scroll the text that would hold"),
    Command("lines.scroll_up", "lines", "K", "scroll(-3)", "Scroll it back"),
    Command("lines.leave", "lines", "escape", "preview", "Back to the change", "Back"),
    Command("working.new", "working", "n", "new", "Add an item", "New", writes=True),
    Command("working.edit", "working", "e,enter", "edit", "Edit the item here", "Edit", writes=True),
    Command("working.next", "working", "w", "next_action", "Change the next action", "Next action", writes=True),
    Command("working.raise", "working", "plus,equals_sign", "priority(1)", "Raise the priority", "Raise", writes=True),
    Command("working.lower", "working", "minus", "priority(-1)", "Lower the priority", writes=True),
    Command("working.category", "working", "c", "category", "Move to another category", "Move", writes=True),
    Command("working.done", "working", "x", "done", "Mark as done, or open again", "Done", writes=True),
    Command("working.delete", "working", "d,delete", "delete", "Delete; undo brings it back", "Delete", writes=True),
    Command("working.board", "working", "b", "board", "A board by category, or one flat list", "Board"),
    Command("working.finished", "working", "f", "finished", "Show finished and archived items too, or not"),
    Command("board.left", "board", "h,left", "column(-1)", "Go to the column at the left, or above"),
    Command("board.right", "board", "l,right", "column(1)", "Go to the column at the right, or below"),
    Command("skips.new", "skips", "n", "new", "Add a skip", "New", writes=True),
    Command("skips.edit", "skips", "e,enter", "edit", "Edit the skip", "Edit", writes=True),
    Command("skips.extend", "skips", "plus,equals_sign", "extend", "Extend it", "Extend", writes=True),
    Command("skips.end", "skips", "x", "end", "End it now; undo brings it back", "End", writes=True),
    Command("skips.decide", "skips", "s", "decide", "Turn it into a standing decision", "Standing", writes=True),
    Command("skips.ended", "skips", "f", "ended", "Show ended skips too, or not"),
    Command("identity.edit", "identity", "e,enter", "edit", "Write a new identity from this one", "Edit", writes=True),
    Command("identity.external", "identity", "E", "edit_outside", "Write it in $EDITOR", writes=True),
    Command(
        "identity.compare",
        "identity",
        "c",
        "compare",
        "Compare the others with this one, or with the one before",
        "Compare",
    ),
    Command(
        "identity.restore",
        "identity",
        "r",
        "restore",
        "Make this old identity the present one, as a new entry",
        "Restore",
        writes=True,
    ),
    Command("identity.approve", "identity", "a", "approve", "Approve what the agent proposed", "Approve", writes=True),
    Command("identity.reject", "identity", "x", "reject", "Reject what the agent proposed", "Reject", writes=True),
    Command("identity.markdown", "identity", "m", "markdown", "Show the prose, or what changed in it", "Prose"),
    Command("identity.proposed", "identity", "f", "proposed", "Show what agents proposed alone, or all"),
    Command("activity.open", "activity", "enter,o", "open_record", "Go to what was changed", "Go there"),
    Command(
        "activity.revert", "activity", "r", "revert", "Take back this entry, whoever made it", "Take back", writes=True
    ),
    Command(
        "activity.quarantine",
        "activity",
        "Q",
        "quarantine",
        "Take what this entry's session wrote out of recall, or give it back",
        writes=True,
    ),
    Command("activity.step", "activity", "f", "step", "Show what is new, what agents did, what you did, then all"),
    Command("activity.ledger", "activity", "i", "ledger", "What agents were shown, or the journal", "Exposures"),
    Command(
        "activity.report",
        "activity",
        "w",
        "report",
        "Whether memories help: what was told and used, week by week, and what to drop",
        "Report",
    ),
    Command("report.go", "report", "enter,o", "go", "Go to the memory, or to the project's memories", "Go there"),
    Command(
        "report.delete", "report", "d,delete", "delete", "Delete the memory; undo brings it back", "Delete", writes=True
    ),
    Command("report.scroll_down", "report", "J", "scroll(3)", "Scroll the text"),
    Command("report.scroll_up", "report", "K", "scroll(-3)", "Scroll it back"),
    Command("report.leave", "report", "escape,w", "preview", "Back to the journal or the exposures", "Back"),
    Command("activity.demote", "activity", "d", "demote", "Exposure: lower the memory's certainty by one", writes=True),
    Command(
        "activity.skip", "activity", "s", "skip", "Exposure: put the memory's subject on the skip list", writes=True
    ),
    Command("activity.reject", "activity", "x", "reject", "Exposure: reject the memory", writes=True),
    Command("health.go", "health", "enter,o", "go", "Go to the memories found, or restore a backup", "Go there"),
    Command("health.refresh", "health", "R", "examine", "Check again, and read every text", "Check again"),
    Command("health.step", "health", "f", "step", "Show what is to mend, what is to tidy, then all"),
    Command("health.backup", "health", "b", "backup", "Make a backup now", "Back up", writes=True),
    Command(
        "health.verify", "health", "c", "verify", "Check the whole journal, or the backup here", "Check", writes=True
    ),
    Command(
        "health.maintain",
        "health",
        "m",
        "maintain('')",
        "Maintain now: what ages, what repeats",
        "Maintain",
        writes=True,
    ),
    Command(
        "health.contradictions",
        "health",
        "M",
        "maintain('contradictions')",
        "Look for contradictions between all memories, too",
        writes=True,
    ),
    Command(
        "health.consolidate",
        "health",
        "C",
        "maintain('consolidate')",
        "Look for memories that say the same in parts, too",
        writes=True,
    ),
    Command(
        "health.patterns",
        "health",
        "P",
        "maintain('patterns')",
        "Look for what several projects taught, too",
        writes=True,
    ),
    Command("health.engine", "health", "e", "engine", "Start or stop the engine", "Engine", writes=True),
    Command("health.reindex", "health", "i", "reindex", "Rebuild the search indexes", "Reindex", writes=True),
    Command("editor.save", "editor", "ctrl+s", "save", "Save", "Save", writes=True),
    Command("editor.cancel", "editor", "escape", "cancel", "Leave without saving; asks if something changed", "Cancel"),
)
"""Every command, in the order in which help shows them."""

KEY_SCOPES: dict[KeyScope, str] = {
    **{name: title for tab in SECTIONS for name, title in ((tab.name, tab.help_title), *tab.inner_scopes)},
    "list": "In every list",
    "columns": "In a list with columns",
    "rows": "Moving and marking",
    "search": "In the search box",
    "command": "In the : line",
    "past": "In the past",
    "editor": "In the editor",
    "everywhere": "Everywhere",
}
"""The heading of each scope in help, in the order in which help shows them."""


def is_writing(action: str, scope: KeyScope) -> bool:
    """Return whether an action of a scope changes something."""
    return (action, scope) in _WRITING


_WRITING = frozenset((command.action, command.scope) for command in COMMANDS if command.writes)


SCREEN_SCOPES: frozenset[KeyScope] = frozenset(("past",))
"""Scopes of screens that cover the app: the keys of everywhere do not reach them."""


def commands_in_scopes(scopes: Iterable[KeyScope]) -> list[Command]:
    """Return the commands of these scopes, in the order of the scopes."""
    return [command for scope in scopes for command in COMMANDS if command.scope == scope]


def bindings(scope: KeyScope) -> list[Binding]:
    """Return the key bindings of the widget that owns a scope."""
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
        if command.scope == scope and command.action
    ]


_KEY_NAMES = {
    "question_mark": "?",
    "slash": "/",
    "plus": "+",
    "minus": "-",
    "comma": ",",
    "colon": ":",
    "backslash": "\\",
    "vertical_line": "|",
    "equals_sign": "=",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "at": "@",
    "pagedown": "PgDn",
    "pageup": "PgUp",
    "escape": "Esc",
    "backspace": "Backspace",
    "delete": "Del",
    "enter": "Enter",
    "tab": "Tab",
    "shift+tab": "Shift+Tab",
    "space": "Space",
    **{f"f{number}": f"F{number}" for number in range(1, 13)},
    "apostrophe": "'",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "alt+less_than_sign": "alt+<",
    "alt+greater_than_sign": "alt+>",
    "ctrl+underscore": "^_",
    "up": "Up",
    "down": "Down",
    "left": "Left",
    "right": "Right",
    "home": "Home",
    "end": "End",
}


def key_names(keys: str) -> str:
    """Return the names of keys for a person, with spaces between."""
    return " ".join(_KEY_NAMES.get(key, key.replace("ctrl+", "^")) for key in keys.split(","))


KEYMAPS: Mapping[str, Mapping[str, str]] = {
    "vim": {},
    "emacs": {
        "app.palette": "alt+x",
        "app.undo": "z, ctrl+underscore",
        "rows.up": "ctrl+p, up, k",
        "rows.down": "ctrl+n, down, j",
        "rows.page_up": "alt+v, pageup",
        "rows.page_down": "ctrl+v, pagedown",
        "rows.first": "alt+less_than_sign, home, g",
        "rows.last": "alt+greater_than_sign, end, G",
        "list.filter": "ctrl+s, slash",
        "list.clear": "ctrl+g, escape",
        "list.copy": "alt+w, y",
        **{
            command.id: f"ctrl+g, {command.keys.replace(',', ', ')}"
            for command in COMMANDS
            if command.id.endswith((".leave", ".leave_range")) or command.id == "editor.cancel"
        },
        "command.up": "alt+p, up",
        "command.down": "alt+n, down",
    },
    "lazygit": {
        "rows.first": "less_than_sign, home, g",
        "rows.last": "greater_than_sign, end, G",
        "app.redo": "Z, ctrl+z",
        "app.palette": "ctrl+p, ctrl+x",
    },
}
"""The keys that differ from the table's, by the name of a keymap in ``config.toml`` and by command."""


class KeyMap:
    """The keys of all commands: those of the table, of a keymap of `KEYMAPS`, and those that a person set instead.

    ``problems`` has a sentence for each setting that cannot be used.
    """

    def __init__(self, remapped: Mapping[str, str], keymap: str = "vim") -> None:
        remapped = {**KEYMAPS[keymap], **remapped}
        known = {command.id: command for command in COMMANDS if command.action}
        self.remapped: dict[str, str] = {}
        problems = []
        asked = {
            name: ",".join(key_code(key) for key in keys.replace(",", " ").split()) for name, keys in remapped.items()
        }
        for name, codes in asked.items():
            keys = remapped[name]
            if name not in known:
                problems.append(f"There is no command {name}; `memento keys` lists them.")
            elif not codes:
                problems.append(f"The command {name} would have no key; name at least one.")
            elif other := self._command_with_keys(known[name], codes):
                problems.append(f"{keys} cannot be the key of {name}: it is that of {other.id}.")
            elif known[name].writes and (looking := _looking_keys(known[name], asked).intersection(codes.split(","))):
                shown = ", ".join(map(key_names, sorted(looking)))
                problems.append(f"{shown} cannot be the key of {name}: one moves or looks by it.")
            else:
                self.remapped[name] = codes
        self.problems = tuple(problems)

    def of(self, command: Command) -> str:
        """Return the keys of a command, as Textual names them, with commas between."""
        return self.remapped.get(command.id, command.keys)

    def _command_with_keys(self, command: Command, keys: str) -> Command | None:
        """Return a command of the same scope, or of everywhere, that has one of these keys."""
        scopes = (command.scope,) if command.scope in SCREEN_SCOPES else (command.scope, "everywhere")
        rivals = (c for c in COMMANDS if c is not command and c.scope in scopes)
        return next((c for c in rivals if set(self.of(c).split(",")) & set(keys.split(","))), None)


_LOOKING_SCOPES = ("everywhere", "rows", "list", "home", "review")
_LOOKING_KEYS = ("enter", "escape", "space", "tab", "shift+tab", "up", "down", "left", "right")


def _looking_keys(writing: Command, asked: Mapping[str, str]) -> set[str]:
    """Return the keys by which one moves or looks at something, but for those that a command has anyway.

    Whoever may write the settings could else have a person decide by going down, or to another section. The keys of
    the table count beside those ``asked`` for, by command: a hand goes on pressing those it knows.
    """
    looking = (c for c in COMMANDS if c.scope in (*_LOOKING_SCOPES, writing.scope) and not c.writes)
    keys = {key for c in looking for key in f"{c.keys},{asked.get(c.id, c.keys)}".split(",")}
    return keys.union(_LOOKING_KEYS).difference(writing.keys.split(","))


def key_code(key: str) -> str:
    """Return Textual's name of a key that a person wrote, such as ``?`` or ``^p``."""
    names = {shown: code for code, shown in _KEY_NAMES.items()}
    if key in names:
        return names[key]
    if key.startswith("^") and len(key) > 1:
        return f"ctrl+{key[1:].lower()}"
    if len(key) == 1 and not key.isalnum():
        return unicodedata.name(key, key).lower().replace("-", "_").replace(" ", "_")
    return key


def markdown_table() -> str:
    """Return the table of keys as the README shows it."""
    lines = []
    for scope, title in KEY_SCOPES.items():
        lines += [f"**{title}**", "", "| key | what it does |", "|---|---|"]
        lines += [f"| `{key_names(command.keys)}` | {command.help} |" for command in commands_in_scopes([scope])]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"
