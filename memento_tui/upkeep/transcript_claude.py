"""Claude Code's transcripts: one JSON object a line, its kind under ``type``, what was said under ``message``.

A turn of the agent takes a line for each of its blocks. The result of a tool comes under the role ``user``. Lines
that nobody said are left out: meta notes, summaries, hooks, notifications, and the side chains of sub-agents, whose
"user" is the agent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from memento_tui.upkeep.transcript_blocks import Calls, Piece, as_text, blocks_of, command_of, first_string, text_parts

__all__ = ["ClaudeCode"]

_KINDS = frozenset(
    """
    user assistant system summary attachment progress queue-operation file-history-snapshot permission-mode mode
    custom-title ai-title agent-name last-prompt pr-link tag saved_hook_context
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
_MARKS = ("sessionId", "session_id", "parentUuid", "uuid", "leafUuid", "snapshot")


class _Row(msgspec.Struct, gc=False):
    type: Any = None
    message: Any = None
    timestamp: Any = None
    sessionId: Any = None  # noqa: N815 - the format's names
    session_id: Any = None
    cwd: Any = None
    isMeta: Any = None  # noqa: N815
    isSidechain: Any = None  # noqa: N815
    isCompactSummary: Any = None  # noqa: N815
    isVisibleInTranscriptOnly: Any = None  # noqa: N815
    isApiErrorMessage: Any = None  # noqa: N815
    parent_tool_use_id: Any = None
    origin: Any = None
    attachment: Any = None


class ClaudeCode:
    """Reads the lines of one Claude Code transcript."""

    name = "claude-code"

    def __init__(self) -> None:
        self.session = ""
        self.cwd = ""
        self.agent = "claude-code"
        self._calls = Calls()
        self.decode = msgspec.json.Decoder(_Row).decode

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        """Tell whether a line can be one of this format."""
        if value.get("type") not in _KINDS:
            return False
        message = value.get("message")
        return (isinstance(message, dict) and "content" in message) or any(mark in value for mark in _MARKS)

    @staticmethod
    def convert(value: dict[str, Any]) -> _Row:
        """Return the row of an object."""
        return msgspec.convert(value, _Row)

    def pieces(self, row: _Row, line: int) -> Iterator[Piece]:
        """Yield what a line says."""
        self.session = self.session or first_string(row.sessionId, row.session_id)
        self.cwd = first_string(row.cwd) or self.cwd
        if row.isSidechain is True or row.parent_tool_use_id or row.isCompactSummary is True:
            return
        if row.type == "attachment":
            yield from self._queued(row, line)
        elif isinstance(row.message, dict) and row.isMeta is not True and row.isApiErrorMessage is not True:
            if row.type == "user":
                yield from self._user(row, line)
            elif row.type == "assistant":
                yield from self._assistant(row, line)

    def _queued(self, row: _Row, line: int) -> Iterator[Piece]:
        """Yield what the person typed while the agent was busy."""
        found = row.attachment
        if not isinstance(found, dict) or found.get("type") != "queued_command" or found.get("isMeta") is True:
            return
        if found.get("commandMode") not in (None, "prompt") or not _is_human(found.get("origin")):
            return
        if parts := text_parts(found.get("prompt")):
            yield Piece("user", parts, line, row.timestamp)

    def _user(self, row: _Row, line: int) -> Iterator[Piece]:
        content = row.message.get("content")
        for block in blocks_of(content):
            if block.get("type") == "tool_result":
                output, is_error = as_text(block.get("content")), block.get("is_error") is True
                text, call, first = self._calls.result(block.get("tool_use_id"), output, line, is_error=is_error)
                yield Piece("tool", [text], first, row.timestamp, call)
        parts = text_parts(content)
        if parts and row.isVisibleInTranscriptOnly is not True and _is_human(row.origin):
            yield Piece("user", parts, line, row.timestamp)

    def _assistant(self, row: _Row, line: int) -> Iterator[Piece]:
        content = row.message.get("content")
        if row.message.get("model") == "<synthetic>":
            return
        if parts := text_parts(content):
            yield Piece("assistant", parts, line, row.timestamp)
        for block in blocks_of(content):
            if block.get("type") == "tool_use":
                self._calls.add(block.get("id"), command_of(block.get("name"), block.get("input")), line)


def _is_human(origin: object) -> bool:
    """Tell whether the person is the origin of a turn; older versions do not say and are taken at their role."""
    return not isinstance(origin, dict) or origin.get("kind") in (None, "human")
