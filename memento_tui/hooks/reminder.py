"""Tell the person once, when a turn ends, that a session changed much and remembered nothing of it.

No field of the answer keeps the agent from ending its turn, and nothing of it reaches the agent.
"""

from __future__ import annotations

import re

from memento_tui.hooks.host_events import HookCall
from memento_tui.hooks.settings import HookSettings
from memento_tui.hosts.moments import EVERY_TURN_EVENTS, NOTICE_HOSTS
from memento_tui.regular_files import read_regular
from memento_tui.storage.hook_store import HookStore

__all__ = ["reminder_after_turn"]

_MANY_CHANGES = 10
"""Changes of files after which a session is likely to have learned something."""

_MOST_BYTES_READ = 16_000_000
"""Bytes of a transcript that is searched: some 10 ms, and most sessions. Of a longer one nothing is said."""

_TOOL_NAME = re.compile(rb'(?<!\\)"name": ?"([\w.-]+)"')
"""The names of tools that were called; those within quoted output have a backslash before the quotation mark."""

_CHANGING_TOOLS = frozenset(
    b"Edit MultiEdit Write NotebookEdit apply_patch replace write_file edit write create_file str_replace".split()
)
"""The tools with which the agents of these hosts change files."""

_REMEMBERING_TOOLS = frozenset(
    b"""
    remember update capture store session_close skip_add item_add identity_write memory_store memory_update
    store_memory retain
    """.split()
)
"""The tools of memento's profiles that keep something."""

_NAMES_OF_OTHERS = frozenset((b"update", b"store"))
"""Names that tools of other servers may have too; not every host writes the server's name before a tool's."""

_REMEMBERING_COMMAND = re.compile(rb"\bmemento(?: --data-dir \S+)? (?:add|skip add|item add|distill|import)\b")
"""The commands that keep something."""


def reminder_after_turn(call: HookCall, store: HookStore, settings: HookSettings) -> str:
    """Return the sentence for the person; most often empty, and never twice for a session."""
    is_asked = settings.remind and call.host in NOTICE_HOSTS and call.event.lower() in EVERY_TURN_EVENTS
    if not (is_asked and call.session and call.transcript) or store.is_reminded(call.session):
        return ""
    changes = _unremembered_changes(call.transcript)
    if changes < _MANY_CHANGES:
        return ""
    return (
        f"memento: this session changed files {changes} times and remembered nothing. If the next one should know"
        " something of it, ask the agent to remember that. (Said once; `remind = false` under [hooks] switches it off.)"
    )


def _unremembered_changes(path: str) -> int:
    """Return how many times a session changed files, 0 where it remembered anything or that cannot be known."""
    try:
        said = read_regular(path, _MOST_BYTES_READ + 1)
    except (OSError, ValueError):  # no file, a pipe that nobody writes into, or no name that a file can have
        return 0
    if len(said) > _MOST_BYTES_READ:
        return 0
    names = _TOOL_NAME.findall(said)
    if any(map(_remembers, names)) or _REMEMBERING_COMMAND.search(said):
        return 0
    return sum(name in _CHANGING_TOOLS for name in names)


def _remembers(tool: bytes) -> bool:
    name = tool.rpartition(b"__")[2]
    return name in _REMEMBERING_TOOLS and (b"memento" in tool or name not in _NAMES_OF_OTHERS)
