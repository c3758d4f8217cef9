"""Plain JSON lines: ``{role, content}`` with an optional timestamp, as chat programs and test sets write them.

Content is a string or a list of blocks. Calls of tools are read in both shapes that are about: blocks ``tool_use`` and
``tool_result``, and ``tool_calls`` answered by a message of the role ``tool``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from memento_tui.upkeep.transcript_blocks import Calls, Piece, as_text, blocks_of, command_of, first_string, text_parts

__all__ = ["Plain"]

_ROLES = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "model": "assistant",
    "ai": "assistant",
    "tool": "tool",
    "function": "tool",
    "system": "",
    "developer": "",
}


class _Row(msgspec.Struct, gc=False):
    role: Any = None
    content: Any = None
    timestamp: Any = None
    at: Any = None
    session: Any = None
    session_id: Any = None
    sessionId: Any = None  # noqa: N815 - as some write it
    agent: Any = None
    cwd: Any = None
    tool_calls: Any = None
    tool_call_id: Any = None
    is_error: Any = None


class Plain:
    """Reads the lines of one plain transcript."""

    name = "plain"

    def __init__(self) -> None:
        self.session = ""
        self.cwd = ""
        self.agent = ""
        self._calls = Calls()
        self.decode = msgspec.json.Decoder(_Row).decode

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        """Tell whether a line can be one of this format."""
        role = value.get("role")
        return isinstance(role, str) and role in _ROLES and ("content" in value or "tool_calls" in value)

    @staticmethod
    def convert(value: dict[str, Any]) -> _Row:
        """Return the row of an object."""
        return msgspec.convert(value, _Row)

    def pieces(self, row: _Row, line: int) -> Iterator[Piece]:
        """Yield what a line says."""
        self.session = self.session or first_string(row.session_id, row.session, row.sessionId)
        self.cwd = first_string(row.cwd) or self.cwd
        self.agent = self.agent or first_string(row.agent)
        role, at = _ROLES.get(row.role, "") if isinstance(row.role, str) else "", row.timestamp or row.at
        if role == "tool":
            text, call, first = self._calls.result(row.tool_call_id, as_text(row.content), line, is_error=row.is_error)
            yield Piece("tool", [text], first, at, call)
        elif role == "user":
            yield from self._results(row, line, at)
            if parts := text_parts(row.content):
                yield Piece("user", parts, line, at)
        elif role == "assistant":
            if parts := text_parts(row.content):
                yield Piece("assistant", parts, line, at)
            self._remember_calls(row, line)

    def _results(self, row: _Row, line: int, at: object) -> Iterator[Piece]:
        for block in blocks_of(row.content):
            if block.get("type") == "tool_result":
                is_error = block.get("is_error") is True
                output = as_text(block.get("content"))
                text, call, first = self._calls.result(block.get("tool_use_id"), output, line, is_error=is_error)
                yield Piece("tool", [text], first, at, call)

    def _remember_calls(self, row: _Row, line: int) -> None:
        for block in blocks_of(row.content):
            if block.get("type") == "tool_use":
                self._calls.add(block.get("id"), command_of(block.get("name"), block.get("input")), line)
        for called in blocks_of(row.tool_calls):
            function = called.get("function")
            if isinstance(function, dict):
                self._calls.add(called.get("id"), command_of(function.get("name"), function.get("arguments")), line)
