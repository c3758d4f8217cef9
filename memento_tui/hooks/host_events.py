"""Read what each host sends to a hook, and write what it expects back. Standard library only.

The events of all hosts come down to four: a session begins, a person sent a prompt, a file is about to be read, and a
stretch of the session is over.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from memento_tui.hosts.registry import HOSTS, HookMoment

__all__ = ["MAX_ANSWER_CHARS", "HookCall", "format_answer", "moment_of", "parse_call"]

_MOMENT_OF_EVENT: dict[str, HookMoment] = {
    event.name.lower(): event.moment for host in HOSTS.values() for event in host.events
}
"""The meaning of each event of any host, by its name in lower case."""

_READING_TOOLS = frozenset({"read", "read_file", "readfile", "view", "read_many_files", "notebookread"})
_PATH_ARGUMENTS = ("file_path", "absolute_path", "filePath", "path", "notebook_path")
_FRESH_CONTEXT_SOURCES = frozenset({"startup", "clear", "compact"})
"""The ways in which a session starts whose context holds nothing of what was told before."""

_CONTEXT, _CONTEXT_END = "<hook_context>", "</hook_context>"

MAX_ANSWER_CHARS = 10_000
"""Characters of one string that Claude Code passes on."""


class HookCall(NamedTuple):
    """One call of a hook, whichever host it is from. What the host did not say is empty."""

    host: str
    event: str
    """The event's name as the host calls it."""
    moment: HookMoment
    session: str
    cwd: str
    transcript: str
    prompt: str = ""
    file: str = ""
    is_fresh: bool = False
    """A session starts whose context holds nothing of what it was told before."""


def moment_of(event: str) -> HookMoment | None:
    """Return what an event of any host comes down to; ``None`` where memento has nothing to say about it."""
    return _MOMENT_OF_EVENT.get(event.lower())


def parse_call(host: str, event: str, raw: bytes) -> HookCall | None:
    """Return what a host asks; ``None`` where memento has nothing to say about the event or the tool.

    ``event`` may be empty: the host's own word is taken then. Fields that are not known are left alone.

    Raises:
        ValueError: the input is not JSON.

    """
    read = json.loads(raw.decode("utf-8-sig", "replace"))
    if not isinstance(read, dict):
        return None
    name = event or _text(read, "hook_event_name")
    moment = moment_of(name)
    if moment is None or (moment == "read" and not _reads_file(read)):
        return None
    return HookCall(
        host=host,
        event=name,
        moment=moment,
        session=_text(read, "session_id", "conversation_id", "sessionID"),
        cwd=_text(read, "cwd") or _first(read.get("workspace_roots")),
        transcript=_text(read, "transcript_path"),
        prompt=_prompt_text(_text(read, "prompt")),
        file=_file_path(read),
        is_fresh=moment == "start" and (_text(read, "source") or "startup") in _FRESH_CONTEXT_SOURCES,
    )


def format_answer(call: HookCall, text: str) -> str:
    """Return what is written to standard output to put ``text`` into the agent's context.

    No field decides anything for the host: a hook that answers a question of permission would decide for the person.
    """
    if not text:
        return ""
    told = text[:MAX_ANSWER_CHARS]
    host = HOSTS.get(call.host)
    if host is not None and host.answer == "flat":
        return json.dumps({"additional_context": told})
    return json.dumps({"hookSpecificOutput": {"hookEventName": call.event, "additionalContext": told}})


def _text(read: Mapping[str, Any], *names: str) -> str:
    for name in names:
        value = read.get(name)
        if isinstance(value, str) and value:
            # Hosts written in JavaScript cut texts between the halves of a surrogate pair; no UTF-8 text holds one.
            return value.encode("utf-8", "replace").decode()
    return ""


def _prompt_text(prompt: str) -> str:
    """Return what the person said: Gemini puts before it what the session's beginning was told."""
    end = prompt.find(_CONTEXT_END)
    return prompt[end + len(_CONTEXT_END) :].lstrip() if prompt.startswith(_CONTEXT) and end > 0 else prompt


def _first(value: object) -> str:
    return value[0] if isinstance(value, list) and value and isinstance(value[0], str) else ""


def _reads_file(read: Mapping[str, Any]) -> bool:
    tool = read.get("tool_name")
    return tool is None or (isinstance(tool, str) and tool.lower() in _READING_TOOLS)


def _file_path(read: Mapping[str, Any]) -> str:
    given = read.get("tool_input")
    return _text(given, *_PATH_ARGUMENTS) if isinstance(given, dict) else _text(read, *_PATH_ARGUMENTS)
