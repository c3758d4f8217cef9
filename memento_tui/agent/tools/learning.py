"""Distilling: what the transcript of a session taught, as proposals."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from memento_tui.agent.answers import answer
from memento_tui.agent.fence import fenced, one_line, quoted_id
from memento_tui.agent.seats import Seats
from memento_tui.agent.shapes import Distilled, Lesson
from memento_tui.errors import InvalidInput, NotAllowed, NotFound
from memento_tui.upkeep.learning import Learned
from memento_tui.workspace import Workspace
from memento_tui.workspace.learning import distill_text, distill_transcript

__all__ = ["LearningTools"]

_LONGEST_TEXT = 100_000
_LARGEST_FILE = 64 * 1024 * 1024
"""Bytes. A session of a whole day is a tenth of it."""
_SUFFIXES = (".jsonl", ".json")
_LONGEST_LESSON = 200


class LearningTools:
    """The tool that learns from transcripts."""

    def __init__(self, seats: Seats) -> None:
        self._seats = seats

    def distill(
        self,
        ctx: Context,
        text: Annotated[str, Field(max_length=_LONGEST_TEXT, description="User: ... Assistant: ...")] = "",
        path: Annotated[str, Field(description="or your host's transcript file")] = "",
        limit: Annotated[int, Field(ge=1, le=50)] = 20,
    ) -> Annotated[CallToolResult, Distilled]:
        """Find what a conversation taught (decisions, preferences, skips, to-dos) and propose it to the person."""
        workspace = self._seats.of(ctx)
        if bool(text.strip()) == bool(path.strip()):
            raise InvalidInput("Either text or path is needed, and not both.", "Give text for a short conversation.")
        if text.strip():
            found = distill_text(workspace, text, "given by the agent", limit=limit)
        else:
            found = distill_transcript(workspace, _transcript(workspace, path), limit=limit)
        shape = Distilled(lessons=[_lesson(one) for one in found.learned], problems=list(found.problems))
        return answer(_distilled_text(shape, found.turns), shape)


def _transcript(workspace: Workspace, given: str) -> Path:
    """Return the file of a transcript that this agent may have read.

    Raises:
        NotAllowed: the agent is not on this machine, or the path is none of a transcript.
        NotFound: there is no such file.

    """
    if workspace.author.channel == "http":
        raise NotAllowed("Files are not read for an agent that asks over HTTP.", "Give the conversation as text.")
    named = os.path.expanduser(given)  # noqa: PTH111 - pathlib's raises for a user who does not exist
    path = Path() if "\0" in given else Path(os.path.realpath(named))
    if not os.path.isabs(named) or path.suffix not in _SUFFIXES:  # noqa: PTH117 - it may be no path at all
        raise NotAllowed(
            f"{given!r:.200} is not the path of a transcript.",
            f"Give the whole path of a file whose name ends in {' or '.join(_SUFFIXES)}, or the conversation as text.",
        )
    try:
        found = path.stat()
    except OSError as error:
        raise NotFound(f"There is no transcript {path!s:.200}.", "Ask your host where it keeps it.") from error
    if not stat.S_ISREG(found.st_mode):
        raise NotAllowed(f"{path!s:.200} is not a regular file.", "Name the transcript file itself.")
    if found.st_size > _LARGEST_FILE:
        raise NotAllowed(
            f"{path!s:.200} has {found.st_size:,} bytes; {_LARGEST_FILE:,} are read at most.",
            "Ask the person to run memento distill on it.",
        )
    return path


def _lesson(learned: Learned) -> Lesson:
    fields = learned.candidate.fields
    text = next((str(fields[name]) for name in ("content", "title", "item") if fields.get(name)), "")
    return Lesson(
        target=learned.candidate.target,
        outcome=learned.outcome,
        id=learned.id,
        text=one_line(text, _LONGEST_LESSON),
        why=learned.why,
    )


def _distilled_text(shape: Distilled, turns: int) -> str:
    parts = [f"Read {turns} turns."]
    if shape.lessons:
        parts.append(f"A person decides about what is proposed:\n{fenced(chr(10).join(map(_line, shape.lessons)))}")
    else:
        parts.append("Nothing in it is worth keeping.")
    return "\n".join([*parts, *shape.problems])


def _line(lesson: Lesson) -> str:
    name = f" {quoted_id(lesson.id)}" if lesson.id else ""
    why = f" ({one_line(lesson.why)})" if lesson.why else ""
    return f"{lesson.outcome}: {lesson.target}{name}{why}: {lesson.text}"
