"""The parts that all transcript formats have in common: spoken parts, and tool calls with their results."""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

import msgspec

__all__ = [
    "Role",
    "SpokenPart",
    "ToolCall",
    "ToolCalls",
    "as_text",
    "blocks_of",
    "first_string",
    "moment_of",
    "outcome",
    "shortened",
    "text_parts",
]

Role = Literal["user", "assistant", "tool"]

MAX_OUTPUT = 16_000
"""The characters of a tool's output that a turn keeps: half from its beginning, half from its end."""

MAX_COMMAND = 2_000
MAX_WAITING_CALLS = 1_000
MAX_HEADER = 600
"""The characters at the beginning of an output in which a host states how the command ended."""

_EXIT = re.compile(
    r"^[ \t]*(?:Exit code:?|Process exited with code|exit_code[:=]|Command exited with code)[ \t]*(-?\d{1,5})\b",
    re.MULTILINE | re.IGNORECASE,
)
_NOT_RUN = (
    "The user doesn't want to",
    "Permission to use",
    "[Request interrupted",
    "Request interrupted",
    "Command running in background",
    "exec_command failed for",
    "aborted by user",
)
_SHELL_TOOLS = frozenset(
    """
    bash shell exec_command local_shell_call container.exec execute_command run_command run_shell_command terminal
    powershell
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
_TO_DO_TOOLS = {"TodoWrite": ("todos", "content"), "update_plan": ("plan", "step")}
"""The tools that keep a to-do list, with the fields of the list and of a step's text."""
MAX_STEPS, MAX_STEP = 100, 300
_SHELLS = frozenset(("bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh"))
_MILLISECONDS = 1e11
"""The timestamp from which a number counts milliseconds: as seconds it would lie in the year 5138."""


class ToolCall(msgspec.Struct, frozen=True):
    """A tool call: its name, its shell command if any, and whether it failed (``None``: unknown)."""

    tool: str
    command: str = ""
    failed: bool | None = None
    finished: tuple[str, ...] = ()
    """The completed steps of a to-do list, if the tool keeps one."""
    asked: str = ""
    """The arguments of a tool of memento, as JSON: they may name memories."""
    given: Any = None
    """The arguments of any call, as the host wrote them; only where a transcript is read whole."""


class SpokenPart(NamedTuple):
    """The parts of a turn, from one or two lines of a transcript, with injected context still in them."""

    role: Role
    parts: list[str]
    first_line: int
    at: Any = None
    call: ToolCall | None = None


class ToolCalls:
    """The calls without results yet, by id. Bounded: the oldest are dropped.

    ``whole`` keeps the arguments of every call and the full text of its result, without the command above it.
    """

    def __init__(self, *, whole: bool = False) -> None:
        self._waiting: OrderedDict[str, tuple[ToolCall, int]] = OrderedDict()
        self._whole = whole

    def add(self, call_id: object, tool: object, arguments: object, line: int) -> None:
        """Keep the call of a tool until its result arrives."""
        if isinstance(call_id, str):
            call = command_of(tool, arguments)
            if self._whole:
                call = msgspec.structs.replace(call, given=arguments)
            self._waiting[call_id] = (call, line)
            if len(self._waiting) > MAX_WAITING_CALLS:
                self._waiting.popitem(last=False)

    def result(self, call_id: object, output: str, line: int, *, is_error: object = None) -> tuple[str, ToolCall, int]:
        """Return the output of a finished call, the call, and its first line."""
        call, first_line = (
            self._waiting.pop(call_id, (ToolCall(""), line)) if isinstance(call_id, str) else (ToolCall(""), line)
        )
        failed, output = outcome(output, is_error)
        text = output if self._whole else shortened(output)
        if call.command and not self._whole:
            text = f"$ {call.command}\n{text}"
        return text, msgspec.structs.replace(call, failed=failed), first_line


def outcome(output: str, is_error: object) -> tuple[bool | None, str]:
    """Return whether a call failed, ``None`` where its result does not say so, and its output.

    Claude Code sets ``is_error`` and begins with ``Exit code 1``. Codex writes ``Exit code: 1`` or ``Process exited
    with code 1`` above ``Output:``, and in older versions an object with ``output`` and ``metadata.exit_code``.
    """
    if output.startswith("{") and '"exit_code"' in output:
        try:
            value = json.loads(output)
            code, printed = value["metadata"]["exit_code"], value["output"]
        except (ValueError, KeyError, TypeError, RecursionError):
            pass
        else:
            if isinstance(code, int) and isinstance(printed, str):
                return code != 0, printed
    head = output[:MAX_HEADER]
    if head.lstrip().startswith(_NOT_RUN):
        return None, output
    header, has_body, body = head.partition("Output:\n")
    if match := _EXIT.search(header if has_body else head[:120]):
        return int(match[1]) != 0, output[len(header) + len("Output:\n") :] if body else output
    return (is_error if isinstance(is_error, bool) else None), output


def shortened(text: str) -> str:
    """Return a tool's output, or the beginning and the end of a long one."""
    if len(text) <= MAX_OUTPUT:
        return text
    return f"{text[: MAX_OUTPUT // 2]}\n...\n{text[-MAX_OUTPUT // 2 :]}"


def as_text(content: object) -> str:
    """Return the text of a result, which is a string, a list of blocks, or an object around one of them."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text_parts(content))
    if isinstance(content, dict):
        return as_text(content.get("content") or content.get("output") or content.get("text") or "")
    return ""


def text_parts(content: object) -> list[str]:
    """Return the text of the blocks of a message, without thinking, images and calls."""
    if isinstance(content, str):
        return [content]
    found: list[str] = []
    if isinstance(content, list):
        for block in content:
            if isinstance(block, str):
                found.append(block)
            elif isinstance(block, dict) and block.get("type") in (None, "text", "input_text", "output_text"):
                text = block.get("text")
                if isinstance(text, str):
                    found.append(text)
    return found


def command_of(tool: object, arguments: object) -> ToolCall:
    """Return the call of a tool; of a shell call, with its command in one string."""
    name = tool if isinstance(tool, str) else ""
    if name in _TO_DO_TOOLS:
        return ToolCall(name, finished=_result_of_block(name, arguments))
    if "memento" in name:
        return ToolCall(name, asked=_call_of_block(arguments))
    return _shell_call(name, arguments) if name.lower() in _SHELL_TOOLS else ToolCall(name)


def _shell_call(name: str, arguments: object) -> ToolCall:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return ToolCall(name)
    if not isinstance(arguments, dict):
        return ToolCall(name)
    command = arguments.get("command") or arguments.get("cmd")
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        is_wrapped = len(command) == 3 and command[0] in _SHELLS and command[1] in ("-c", "-lc")  # noqa: PLR2004 - shell, -c, command
        command = command[2] if is_wrapped else " ".join(command)
    if not isinstance(command, str) or len(command) > MAX_COMMAND:
        return ToolCall(name)
    return ToolCall(name, command.strip())


def _call_of_block(arguments: object) -> str:
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return written[:MAX_COMMAND]


def _result_of_block(tool: str, arguments: object) -> tuple[str, ...]:
    """Return the words of the completed steps of a to-do list."""
    in_list, in_step = _TO_DO_TOOLS[tool]
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return ()
    steps = value.get(in_list) if isinstance(value, dict) else None
    done = [step.get(in_step) for step in blocks_of(steps) if step.get("status") == "completed"]
    return tuple(words for words in done[:MAX_STEPS] if isinstance(words, str) and len(words) <= MAX_STEP)


def moment_of(value: object) -> datetime | None:
    """Return the moment of a timestamp (ISO 8601, or seconds or milliseconds since 1970), or ``None``."""
    try:
        if isinstance(value, str):
            parsed = datetime.fromisoformat(value)
            return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone(UTC)
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS else value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def first_string(*values: object) -> str:
    """Return the first value that is a text and not empty."""
    return next((value for value in values if isinstance(value, str) and value), "")


def blocks_of(content: object) -> Iterable[dict[str, Any]]:
    """Return the blocks of a message that are objects."""
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
