"""Gemini CLI's chats: a line about the session, then one message a line, ``{id, timestamp, type, content}``.

A message is written anew, under its id, when the counts of its tokens or the results of its calls are there. Changes
of the session (``$set``) hold what Gemini CLI itself put in front of it, and are left out.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import msgspec

from memento_tui.upkeep.transcript_blocks import (
    MAX_WAITING_CALLS,
    Calls,
    Piece,
    as_text,
    blocks_of,
    command_of,
    first_string,
    text_parts,
)

__all__ = ["Gemini"]

_FAILED = {"success": False, "error": True}


class _Row(msgspec.Struct, gc=False):
    type: Any = None
    id: Any = None
    timestamp: Any = None
    content: Any = None
    toolCalls: Any = None  # noqa: N815 - as it is written
    sessionId: Any = None  # noqa: N815 - as it is written
    kind: Any = None


class Gemini:
    """Reads the lines of one chat."""

    name = "gemini"

    def __init__(self) -> None:
        self.session = ""
        self.cwd = ""
        self.agent = "gemini"
        self._read: OrderedDict[str, None] = OrderedDict()
        self._is_subagent = False
        self.decode = msgspec.json.Decoder(_Row).decode

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        """Tell whether a line can be one of this format."""
        return "projectHash" in value or (value.get("type") == "gemini" and "content" in value)

    @staticmethod
    def convert(value: dict[str, Any]) -> _Row:
        """Return the row of an object."""
        return msgspec.convert(value, _Row)

    def pieces(self, row: _Row, line: int) -> Iterator[Piece]:
        """Yield what a line says."""
        if row.type is None:
            self.session = self.session or first_string(row.sessionId)
            self._is_subagent = self._is_subagent or row.kind == "subagent"
        elif row.type in ("user", "gemini"):
            # In the chat of a sub-agent the person is not the one who speaks as the user.
            is_said = row.type == "gemini" or not self._is_subagent
            if is_said and (parts := text_parts(row.content)) and self._is_new(row.id):
                yield Piece("user" if row.type == "user" else "assistant", parts, line, row.timestamp)
            for call in blocks_of(row.toolCalls):
                yield from self._call(call, line)

    def _call(self, call: dict[str, Any], line: int) -> Iterator[Piece]:
        status = call.get("status")
        if not self._is_new(call.get("id")):
            return
        done = Calls()
        done.add("", command_of(call.get("name"), call.get("args")), line)
        output = "\n".join(_printed(block) for block in blocks_of(call.get("result")))
        failed = _FAILED.get(status) if isinstance(status, str) else None
        text, ended, first = done.result("", output, line, is_error=failed)
        yield Piece("tool", [text], first, call.get("timestamp"), ended)

    def _is_new(self, name: object) -> bool:
        """Tell whether a message or call was not read before; only the last ones are known, so memory is bounded."""
        if not isinstance(name, str):
            return True
        if name in self._read:
            return False
        self._read[name] = None
        if len(self._read) > MAX_WAITING_CALLS:
            self._read.popitem(last=False)
        return True


def _printed(block: dict[str, Any]) -> str:
    answered = block.get("functionResponse")
    return as_text(answered.get("response")) if isinstance(answered, dict) else as_text([block])
