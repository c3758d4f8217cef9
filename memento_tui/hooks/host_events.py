"""Parse the input that each host sends to a hook, and format the answer that it expects. Standard library only."""

from __future__ import annotations

import json
from collections.abc import Mapping

from memento_tui.hosts.moments import FLAT_ANSWER_HOSTS, MOMENT_OF_EVENT, NOTICE_HOSTS
from memento_tui.named_tuple import NamedTuple

__all__ = ["MAX_ANSWER_CHARS", "HookCall", "format_answer", "format_notice", "moment_of", "parse_call"]

TYPE_CHECKING = False  # as in `typing`, whose import a host would wait for
if TYPE_CHECKING:
    from typing import Any

    from memento_tui.hosts.moments import HookMoment


_READING_TOOLS = frozenset({"read", "read_file", "readfile", "view", "read_many_files", "notebookread"})
"""The names of the tools that read files, of any host, in lower case."""

_WRITING_TOOLS = frozenset(
    """
    remember update capture store memory_store memory_update store_memory retain memento_store memento_capture
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
"""The tools of memento's profiles that store or rewrite memories."""

_PATH_ARGUMENTS = ("file_path", "absolute_path", "filePath", "path", "notebook_path")
"""The arguments of those tools that hold the path."""

_FRESH_CONTEXT_SOURCES = frozenset({"startup", "clear", "compact"})
"""The values of ``source`` with which a session starts whose context holds nothing that was shown before."""

_CONTEXT, _CONTEXT_END = "<hook_context>", "</hook_context>"
"""The lines between which Gemini puts the context of the session's start, before the first prompt."""

_MAX_PATH_CHARS = 4096
"""Characters of a path; Linux opens none of more bytes, macOS none of a quarter."""

MAX_ANSWER_CHARS = 10_000
"""Characters of one string that Claude Code passes on to the agent."""


class HookCall(NamedTuple):
    """One call of a hook, from any host. A field that the host did not send is empty."""

    host: str
    event: str
    """The event's name as the host calls it."""
    moment: HookMoment
    """The moment of a session that the event marks; see `memento_tui.hosts.moments`."""
    session: str
    cwd: str
    transcript: str
    prompt: str = ""
    file: str = ""
    is_fresh: bool = False
    """Whether a session starts whose context holds nothing that was shown before."""
    is_compacted: bool = False
    """Whether it goes on after its context was compacted."""


def moment_of(event: str) -> HookMoment | None:
    """Return the moment that an event of any host stands for; ``None`` for an event that memento does not answer."""
    return MOMENT_OF_EVENT.get(event.lower())


def parse_call(host: str, event: str, raw: bytes) -> HookCall | None:
    """Return the call of a host; ``None`` for an event or a tool that memento does not answer.

    ``event`` may be empty: the name in the input is used then. Unknown fields are ignored.

    Raises:
        ValueError: the input is not JSON.

    """
    try:
        payload = json.loads(raw.decode("utf-8-sig", "replace"))
    except RecursionError:
        raise ValueError("the input is nested too deeply") from None
    if not isinstance(payload, dict):
        return None
    name = event or _text(payload, "hook_event_name")
    moment = moment_of(name)
    if moment is None or (moment == "read" and not _reads_file(payload)):
        return None
    if moment == "write" and not _writes_memory(payload):
        return None
    return HookCall(
        host=host,
        event=name,
        moment=moment,
        session=_text(payload, "session_id", "conversation_id", "sessionID"),
        cwd=_path(_text(payload, "cwd") or _first(payload.get("workspace_roots"))),
        transcript=_path(_text(payload, "transcript_path")),
        prompt=_prompt_text(_text(payload, "prompt")),
        file=_path(_file_path(payload)),
        is_fresh=moment == "start" and (_text(payload, "source") or "startup") in _FRESH_CONTEXT_SOURCES,
        is_compacted=moment == "start" and _text(payload, "source") == "compact",
    )


def format_answer(call: HookCall, text: str) -> str:
    """Return the text for standard output that puts ``text`` into the agent's context.

    No field decides anything for the host: a hook that answers a question of permission would decide for the person.
    """
    if not text:
        return ""
    shortened = text[:MAX_ANSWER_CHARS]
    if call.host in FLAT_ANSWER_HOSTS:
        return json.dumps({"additional_context": shortened})
    return json.dumps({"hookSpecificOutput": {"hookEventName": call.event, "additionalContext": shortened}})


def format_notice(call: HookCall, text: str) -> str:
    """Return the text for standard output that shows ``text`` to the person; the agent's turn ends as it would."""
    return json.dumps({"systemMessage": text}) if text and call.host in NOTICE_HOSTS else ""


def _text(payload: Mapping[str, Any], *names: str) -> str:
    for name in names:
        value = payload.get(name)
        if isinstance(value, str) and value:
            # Hosts written in JavaScript cut texts between the halves of a surrogate pair; no UTF-8 text holds one.
            return value.encode("utf-8", "replace").decode()
    return ""


def _path(given: str) -> str:
    """Return a path; nothing for one that no system opens: following its folders would take seconds."""
    return given if len(given) <= _MAX_PATH_CHARS else ""


def _prompt_text(prompt: str) -> str:
    """Return the prompt without the context of the session's start, which Gemini puts before it."""
    end = prompt.find(_CONTEXT_END)
    return prompt[end + len(_CONTEXT_END) :].lstrip() if prompt.startswith(_CONTEXT) and end > 0 else prompt


def _first(value: object) -> str:
    return value[0] if isinstance(value, list) and value and isinstance(value[0], str) else ""


def _reads_file(payload: Mapping[str, Any]) -> bool:
    tool = payload.get("tool_name")
    return tool is None or (isinstance(tool, str) and tool.lower() in _READING_TOOLS)


def _writes_memory(payload: Mapping[str, Any]) -> bool:
    tool = payload.get("tool_name")
    if not isinstance(tool, str) or "memento" not in tool:
        return False
    # mcp__SERVER__TOOL, and mcp_SERVER_TOOL in Gemini CLI; "memento" stands in the server's name, wherever that ends.
    if "__" in tool:
        return tool.rpartition("__")[2] in _WRITING_TOOLS
    return tool.endswith(tuple(f"_{name}" for name in _WRITING_TOOLS))


def _file_path(payload: Mapping[str, Any]) -> str:
    arguments = payload.get("tool_input")
    return _text(arguments, *_PATH_ARGUMENTS) if isinstance(arguments, dict) else _text(payload, *_PATH_ARGUMENTS)
