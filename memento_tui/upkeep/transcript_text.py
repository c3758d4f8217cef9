"""Conversations as plain text: ``User: ...`` and ``Assistant: ...``, or paragraphs that name no speaker.

That is how agents and scripts hand over a conversation that they do not have as a file. Where nobody is named, the
paragraphs are read as a person's words: who said them cannot be told, which the caller should let show.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from memento_tui.upkeep.injected import strip_injected
from memento_tui.upkeep.transcript import Turn
from memento_tui.upkeep.transcript_blocks import Role

__all__ = ["TextTranscript", "read_text"]

_SPEAKER = re.compile(
    r"[ \t]{0,3}(?:#{1,6}[ \t]+|[-*][ \t]+)?(?:\*\*|\[)?"
    r"(?P<who>user|human|person|me|assistant|ai|agent|model|claude|codex|gemini|tool|system)(?:\*\*|\])?"
    r"[ \t]*:(?:\*\*)?[ \t]*(?P<said>.*)",
    re.IGNORECASE,
)
_ROLES: dict[str, Role | None] = {
    "user": "user",
    "human": "user",
    "person": "user",
    "me": "user",
    "tool": None,
    "system": None,
}
"""Who speaks, by name: an agent where it does not stand here, and nobody to learn from where it is ``None``."""


class TextTranscript(NamedTuple):
    """What was read of a text."""

    turns: list[Turn]
    names_speakers: bool


def read_text(text: str, *, agent: str = "", session: str = "") -> TextTranscript:
    """Return the turns of a conversation, each with the lines of the text that it stands in."""
    lines = text.splitlines()
    names_speakers = any(_SPEAKER.match(line) for line in lines)
    spoken = _spoken(lines) if names_speakers else _paragraphs(lines)
    turns = [
        Turn(role, said, first, last, None, session, agent, "")
        for role, words, first, last in spoken
        if (said := strip_injected([words]))
    ]
    return TextTranscript(turns, names_speakers)


def _spoken(lines: list[str]) -> Iterator[tuple[Role, str, int, int]]:
    """Yield what each speaker said, with its first and last line; what stands before the first speaker is left out."""
    role: Role | None = None
    said: list[str] = []
    first = 1
    for number, line in enumerate([*lines, "user:"], 1):
        match = _SPEAKER.match(line)
        if match is None:
            said.append(line)
            continue
        if role is not None:
            yield role, "\n".join(said), first, number - 1
        role, said, first = _ROLES.get(match["who"].lower(), "assistant"), [match["said"]], number


def _paragraphs(lines: list[str]) -> Iterator[tuple[Role, str, int, int]]:
    said: list[str] = []
    for number, line in enumerate([*lines, ""], 1):
        if line.strip():
            said.append(line)
        elif said:
            yield "user", "\n".join(said), number - len(said), number - 1
            said = []
