"""The transcript formats of Claude Code, Codex and Gemini CLI, and plain ``{role, content}`` lines.

Claude Code writes one JSON object a line, its kind under ``type``; Codex ``{timestamp, type, payload}``; Gemini CLI a
line about the session, then ``{id, timestamp, type, content}``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import msgspec

from memento_tui.maintenance.transcripts.blocks import (
    MAX_WAITING_CALLS,
    SpokenPart,
    ToolCalls,
    as_text,
    blocks_of,
    first_string,
    text_parts,
)

__all__ = ["ClaudeCodeFormat", "CodexFormat", "GeminiFormat", "PlainFormat"]

_CLAUDE_KINDS = frozenset(
    """
    user assistant system summary attachment progress queue-operation file-history-snapshot permission-mode mode
    custom-title ai-title agent-name last-prompt pr-link tag saved_hook_context
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
_CLAUDE_KEYS = ("sessionId", "session_id", "parentUuid", "uuid", "leafUuid", "snapshot")


class _ClaudeRow(msgspec.Struct, gc=False):
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


class ClaudeCodeFormat:
    """The reader of a Claude Code transcript."""

    name = "claude-code"

    def __init__(self, *, whole: bool = False) -> None:
        self.session = ""
        self.cwd = ""
        self.agent = "claude-code"
        self._calls = ToolCalls(whole=whole)
        self._whole = whole
        self.decode = msgspec.json.Decoder(_ClaudeRow).decode

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        """Tell whether a line can be one of this format."""
        if value.get("type") not in _CLAUDE_KINDS:
            return False
        message = value.get("message")
        return (isinstance(message, dict) and "content" in message) or any(mark in value for mark in _CLAUDE_KEYS)

    @staticmethod
    def convert(value: dict[str, Any]) -> _ClaudeRow:
        """Return a decoded JSON object as a row."""
        return msgspec.convert(value, _ClaudeRow)

    def pieces(self, row: _ClaudeRow, line: int) -> Iterator[SpokenPart]:
        """Yield the spoken parts of a row."""
        self.session = self.session or first_string(row.sessionId, row.session_id)
        self.cwd = first_string(row.cwd) or self.cwd
        is_subagent = row.isSidechain is True or bool(row.parent_tool_use_id)
        if row.isCompactSummary is True or (is_subagent and not self._whole):
            return
        if is_subagent:
            # Who speaks as the user to a sub-agent is the agent that started it.
            yield from (
                part._replace(role="assistant") if part.role == "user" else part for part in self._spoken(row, line)
            )
        else:
            yield from self._spoken(row, line)

    def _spoken(self, row: _ClaudeRow, line: int) -> Iterator[SpokenPart]:
        if row.type == "attachment":
            yield from self._queued(row, line)
        elif isinstance(row.message, dict) and row.isMeta is not True and row.isApiErrorMessage is not True:
            if row.type == "user":
                yield from self._user(row, line)
            elif row.type == "assistant":
                yield from self._assistant(row, line)

    def _queued(self, row: _ClaudeRow, line: int) -> Iterator[SpokenPart]:
        """Yield the text that the person typed while the agent was busy."""
        found = row.attachment
        if not isinstance(found, dict) or found.get("type") != "queued_command" or found.get("isMeta") is True:
            return
        if found.get("commandMode") not in (None, "prompt") or not _is_human(found.get("origin")):
            return
        if parts := text_parts(found.get("prompt")):
            yield SpokenPart("user", parts, line, row.timestamp)

    def _user(self, row: _ClaudeRow, line: int) -> Iterator[SpokenPart]:
        content = row.message.get("content")
        for block in blocks_of(content):
            if block.get("type") == "tool_result":
                output, is_error = as_text(block.get("content")), block.get("is_error") is True
                text, call, first = self._calls.result(block.get("tool_use_id"), output, line, is_error=is_error)
                yield SpokenPart("tool", [text], first, row.timestamp, call)
        parts = text_parts(content)
        if parts and row.isVisibleInTranscriptOnly is not True and _is_human(row.origin):
            yield SpokenPart("user", parts, line, row.timestamp)

    def _assistant(self, row: _ClaudeRow, line: int) -> Iterator[SpokenPart]:
        content = row.message.get("content")
        if row.message.get("model") == "<synthetic>":
            return
        if parts := text_parts(content):
            yield SpokenPart("assistant", parts, line, row.timestamp)
        for block in blocks_of(content):
            if block.get("type") == "tool_use":
                self._calls.add(block.get("id"), block.get("name"), block.get("input"), line)


def _is_human(origin: object) -> bool:
    """Tell whether a turn comes from the person; where older versions do not say so, the role decides."""
    return not isinstance(origin, dict) or origin.get("kind") in (None, "human")


_CODEX_ENVELOPES = frozenset(("session_meta", "response_item", "event_msg", "turn_context", "compacted"))
_CODEX_DIRECT_TYPES = frozenset(("message", "function_call", "function_call_output", "reasoning", "local_shell_call"))
_CODEX_RESULTS = frozenset(("function_call_output", "custom_tool_call_output", "local_shell_call_output"))


class _CodexRow(msgspec.Struct, gc=False):
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


class CodexFormat:
    """The reader of a Codex rollout."""

    name = "codex"

    def __init__(self, *, whole: bool = False) -> None:
        self.session = ""
        self.cwd = ""
        self.agent = "codex"
        self._calls = ToolCalls(whole=whole)
        self._is_subagent = False
        self.decode = msgspec.json.Decoder(_CodexRow).decode

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        """Tell whether a line can be one of this format."""
        kind = value.get("type")
        if kind in _CODEX_ENVELOPES:
            return isinstance(value.get("payload"), dict)
        if kind == "message":
            blocks = value.get("content")
            return isinstance(blocks, list) and any(
                isinstance(block, dict) and block.get("type") in ("input_text", "output_text") for block in blocks
            )
        return (kind in _CODEX_DIRECT_TYPES and ("call_id" in value or "summary" in value)) or "record_type" in value

    @staticmethod
    def convert(value: dict[str, Any]) -> _CodexRow:
        """Return a decoded JSON object as a row."""
        return msgspec.convert(value, _CodexRow)

    def pieces(self, row: _CodexRow, line: int) -> Iterator[SpokenPart]:
        """Yield the spoken parts of a row."""
        payload = row.payload
        if row.type in ("session_meta", "turn_context") and isinstance(payload, dict):
            self._meta(payload, is_start=row.type == "session_meta")
        elif row.type == "response_item" and isinstance(payload, dict):
            yield from self._item(payload, row.timestamp, line)
        elif row.type in _CODEX_DIRECT_TYPES or row.type in _CODEX_RESULTS:
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

    def _item(self, item: dict[str, Any], at: object, line: int) -> Iterator[SpokenPart]:
        kind, role = item.get("type"), item.get("role")
        if kind == "message" and role in ("user", "assistant"):
            parts = text_parts(item.get("content"))
            if parts and not (role == "user" and self._is_subagent):
                yield SpokenPart("user" if role == "user" else "assistant", parts, line, at)
        elif kind in ("function_call", "custom_tool_call"):
            arguments = item.get("arguments") if kind == "function_call" else item.get("input", item.get("arguments"))
            self._calls.add(item.get("call_id"), item.get("name"), arguments, line)
        elif kind == "local_shell_call":
            self._calls.add(item.get("call_id"), "local_shell_call", item.get("action"), line)
        elif kind in _CODEX_RESULTS:
            text, call, first = self._calls.result(item.get("call_id"), as_text(item.get("output")), line)
            yield SpokenPart("tool", [text], first, at, call)


_GEMINI_FAILURES = {"success": False, "error": True}


class _GeminiRow(msgspec.Struct, gc=False):
    type: Any = None
    id: Any = None
    timestamp: Any = None
    content: Any = None
    toolCalls: Any = None  # noqa: N815 - as it is written
    sessionId: Any = None  # noqa: N815 - as it is written
    kind: Any = None


class GeminiFormat:
    """The reader of a Gemini CLI chat."""

    name = "gemini"

    def __init__(self, *, whole: bool = False) -> None:
        self.session = ""
        self.cwd = ""
        self.agent = "gemini"
        self._whole = whole
        self._read: OrderedDict[str, None] = OrderedDict()
        self._is_subagent = False
        self.decode = msgspec.json.Decoder(_GeminiRow).decode

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        """Tell whether a line can be one of this format."""
        return "projectHash" in value or (value.get("type") == "gemini" and "content" in value)

    @staticmethod
    def convert(value: dict[str, Any]) -> _GeminiRow:
        """Return a decoded JSON object as a row."""
        return msgspec.convert(value, _GeminiRow)

    def pieces(self, row: _GeminiRow, line: int) -> Iterator[SpokenPart]:
        """Yield the spoken parts of a row."""
        if row.type is None:
            self.session = self.session or first_string(row.sessionId)
            self._is_subagent = self._is_subagent or row.kind == "subagent"
        elif row.type in ("user", "gemini"):
            # In the chat of a sub-agent the person is not the one who speaks as the user.
            is_spoken = row.type == "gemini" or not self._is_subagent
            if is_spoken and (parts := text_parts(row.content)) and self._is_new(row.id):
                yield SpokenPart("user" if row.type == "user" else "assistant", parts, line, row.timestamp)
            for call in blocks_of(row.toolCalls):
                yield from self._call(call, line)

    def _call(self, call: dict[str, Any], line: int) -> Iterator[SpokenPart]:
        status = call.get("status")
        if not self._is_new(call.get("id")):
            return
        done = ToolCalls(whole=self._whole)
        done.add("", call.get("name"), call.get("args"), line)
        output = "\n".join(_gemini_output(block) for block in blocks_of(call.get("result")))
        failed = _GEMINI_FAILURES.get(status) if isinstance(status, str) else None
        text, ended, first = done.result("", output, line, is_error=failed)
        yield SpokenPart("tool", [text], first, call.get("timestamp"), ended)

    def _is_new(self, name: object) -> bool:
        """Tell whether a message or call is new; only the last ids are kept, so memory is bounded."""
        if not isinstance(name, str):
            return True
        if name in self._read:
            return False
        self._read[name] = None
        if len(self._read) > MAX_WAITING_CALLS:
            self._read.popitem(last=False)
        return True


def _gemini_output(block: dict[str, Any]) -> str:
    answered = block.get("functionResponse")
    return as_text(answered.get("response")) if isinstance(answered, dict) else as_text([block])


_PLAIN_ROLES = {
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


class _PlainRow(msgspec.Struct, gc=False):
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


class PlainFormat:
    """The reader of a plain transcript."""

    name = "plain"

    def __init__(self, *, whole: bool = False) -> None:
        self.session = ""
        self.cwd = ""
        self.agent = ""
        self._calls = ToolCalls(whole=whole)
        self.decode = msgspec.json.Decoder(_PlainRow).decode

    @staticmethod
    def recognises(value: dict[str, Any]) -> bool:
        """Tell whether a line can be one of this format."""
        role = value.get("role")
        return isinstance(role, str) and role in _PLAIN_ROLES and ("content" in value or "tool_calls" in value)

    @staticmethod
    def convert(value: dict[str, Any]) -> _PlainRow:
        """Return a decoded JSON object as a row."""
        return msgspec.convert(value, _PlainRow)

    def pieces(self, row: _PlainRow, line: int) -> Iterator[SpokenPart]:
        """Yield the spoken parts of a row."""
        self.session = self.session or first_string(row.session_id, row.session, row.sessionId)
        self.cwd = first_string(row.cwd) or self.cwd
        self.agent = self.agent or first_string(row.agent)
        role, at = _PLAIN_ROLES.get(row.role, "") if isinstance(row.role, str) else "", row.timestamp or row.at
        if role == "tool":
            text, call, first = self._calls.result(row.tool_call_id, as_text(row.content), line, is_error=row.is_error)
            yield SpokenPart("tool", [text], first, at, call)
        elif role == "user":
            yield from self._results(row, line, at)
            if parts := text_parts(row.content):
                yield SpokenPart("user", parts, line, at)
        elif role == "assistant":
            if parts := text_parts(row.content):
                yield SpokenPart("assistant", parts, line, at)
            self._remember_calls(row, line)

    def _results(self, row: _PlainRow, line: int, at: object) -> Iterator[SpokenPart]:
        for block in blocks_of(row.content):
            if block.get("type") == "tool_result":
                is_error = block.get("is_error") is True
                output = as_text(block.get("content"))
                text, call, first = self._calls.result(block.get("tool_use_id"), output, line, is_error=is_error)
                yield SpokenPart("tool", [text], first, at, call)

    def _remember_calls(self, row: _PlainRow, line: int) -> None:
        for block in blocks_of(row.content):
            if block.get("type") == "tool_use":
                self._calls.add(block.get("id"), block.get("name"), block.get("input"), line)
        for called in blocks_of(row.tool_calls):
            function = called.get("function")
            if isinstance(function, dict):
                self._calls.add(called.get("id"), function.get("name"), function.get("arguments"), line)
