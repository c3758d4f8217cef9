"""Map the events of all hosts to a few moments of a session, and say which hosts take an answer in which form.

Imports nothing: memento-hook reads it at every call. The rest of what hosts are is in `memento_tui.hosts.registry`.
"""

__all__ = ["EVERY_TURN_EVENTS", "FLAT_ANSWER_HOSTS", "MOMENT_OF_EVENT", "NOTICE_HOSTS"]

TYPE_CHECKING = False  # as in `typing`
if TYPE_CHECKING:
    from typing import Literal

    HookMoment = Literal["start", "prompt", "read", "write", "end"]
    """A session begins, a person sent a prompt, a file is about to be read, memento was written to, a stretch ended."""

MOMENT_OF_EVENT: "dict[str, HookMoment]" = {
    "sessionstart": "start",
    "userpromptsubmit": "prompt",
    "beforeagent": "prompt",
    "beforesubmitprompt": "prompt",
    "pretooluse": "read",
    "beforetool": "read",
    "beforereadfile": "read",
    "posttooluse": "write",
    "aftertool": "write",
    "precompact": "end",
    "precompress": "end",
    "stop": "end",
    "afteragent": "end",
    "sessionend": "end",
}
"""The moment that an event stands for, by its name in lower case."""

FLAT_ANSWER_HOSTS = frozenset({"cursor"})
"""The hosts that read an answer of one object with ``additional_context``; the others read Claude Code's form."""

NOTICE_HOSTS = frozenset({"claude-code", "codex", "gemini"})
"""The hosts that show a ``systemMessage`` to the person, and go on."""

EVERY_TURN_EVENTS = frozenset({"stop", "afteragent"})
"""The events that come after every answer, in lower case."""
