"""Codex's rollouts: one JSON object a line, ``{timestamp, type, payload}``.

``response_item`` holds what the model saw: messages (also those that Codex put in under the person's role), calls and
their results. ``event_msg`` repeats the same for the screen and is left out, as are reasoning and the developer's role.
The rollouts of 2025 before that envelope hold the payloads directly. In the rollout of a sub-agent the person is not
the one who speaks as ``user``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from memento_tui.upkeep.transcript_blocks import Calls, Piece, as_text, command_of, first_string, text_parts

__all__ = ["Codex"]

_ENVELOPES = frozenset(("session_meta", "response_item", "event_msg", "turn_context", "compacted"))
_DIRECT = frozenset(("message", "function_call", "function_call_output", "reasoning", "local_shell_call"))
_RESULTS = frozenset(("function_call_output", "custom_tool_call_output", "local_shell_call_output"))


class _Row(msgspec.Struct, gc=False):
    type: Any = None
    payload: Any = None
    timestamp: Any = None
    id: Any = None
    record_type: Any = None
    # The payload's own fields, in the rollouts that have no envelope.
    role: Any = None
    content: Any = None
    name: Any = None
    arguments: Any = None
    action: Any = None
    call_id: Any = None
    output: Any = None


class Codex:
    """Reads the lines of one Codex rollout."""

    name = "codex"

    def __init__(self) -> None:
        self.session = ""
        self.cwd = ""
        self.agent = "codex"
        self._calls = Calls()
        self._is_subagent = False
        self.decode = msgspec.json.Decoder(_Row).decode

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        """Tell whether a line can be one of this format."""
        kind = value.get("type")
        if kind in _ENVELOPES:
            return isinstance(value.get("payload"), dict)
        if kind == "message":
            blocks = value.get("content")
            return isinstance(blocks, list) and any(
                isinstance(block, dict) and block.get("type") in ("input_text", "output_text") for block in blocks
            )
        return (kind in _DIRECT and ("call_id" in value or "summary" in value)) or "record_type" in value

    @staticmethod
    def convert(value: dict[str, Any]) -> _Row:
        """Return the row of an object."""
        return msgspec.convert(value, _Row)

    def pieces(self, row: _Row, line: int) -> Iterator[Piece]:
        """Yield what a line says."""
        payload = row.payload
        if row.type in ("session_meta", "turn_context") and isinstance(payload, dict):
            self._meta(payload, is_start=row.type == "session_meta")
        elif row.type == "response_item" and isinstance(payload, dict):
            yield from self._item(payload, row.timestamp, line)
        elif row.type in _DIRECT or row.type in _RESULTS:
            yield from self._item(msgspec.structs.asdict(row), row.timestamp, line)
        elif row.type is None and row.record_type is None:
            self.session = self.session or first_string(row.id)

    def _meta(self, payload: dict[str, Any], *, is_start: bool) -> None:
        self.cwd = first_string(payload.get("cwd")) or self.cwd
        if is_start:
            self.session = self.session or first_string(payload.get("session_id"), payload.get("id"))
            source = payload.get("source")
            is_spawned = isinstance(source, dict) and "subagent" in source
            self._is_subagent = is_spawned or payload.get("thread_source") == "subagent"

    def _item(self, item: dict[str, Any], at: object, line: int) -> Iterator[Piece]:
        kind, role = item.get("type"), item.get("role")
        if kind == "message" and role in ("user", "assistant"):
            parts = text_parts(item.get("content"))
            if parts and not (role == "user" and self._is_subagent):
                yield Piece("user" if role == "user" else "assistant", parts, line, at)
        elif kind in ("function_call", "custom_tool_call"):
            self._calls.add(item.get("call_id"), command_of(item.get("name"), item.get("arguments")), line)
        elif kind == "local_shell_call":
            self._calls.add(item.get("call_id"), command_of("local_shell_call", item.get("action")), line)
        elif kind in _RESULTS:
            text, call, first = self._calls.result(item.get("call_id"), as_text(item.get("output")), line)
            yield Piece("tool", [text], first, at, call)
