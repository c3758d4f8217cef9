"""Sessions: begin one, keep what it taught, and leave a note to the next."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from memento_tui import clock
from memento_tui.agent.answers import answer, item_entry, item_lines, skip_entry, skip_lines
from memento_tui.agent.arguments import UNCHANGED, Namespace, Session
from memento_tui.agent.decisions import DECIDED, asked_by
from memento_tui.agent.fence import fenced, one_line, quoted_id
from memento_tui.agent.labels import labels_of
from memento_tui.agent.seats import Seats
from memento_tui.agent.sessions import Opening, checked_handle, leave_note, open_session
from memento_tui.agent.shapes import Captured, Essential, Opened, Remembered, Written
from memento_tui.agent.tools.outcomes import remembered, remembered_text, written
from memento_tui.agent.tools.proposals import asking, asking_lines
from memento_tui.errors import InvalidInput

__all__ = ["SessionTools"]

_MOST_DECISIONS = 20
_DECIDED_OF_LATE = 5
_ESSENTIAL = 300
"""Characters of each essential memory; its full text is to be had by its id."""


class SessionTools:
    """The tools for sessions."""

    def __init__(self, seats: Seats) -> None:
        self._seats = seats

    def session_open(
        self,
        ctx: Context,
        cwd: Annotated[str, Field(description="your working directory")] = "",
        namespace: Namespace = UNCHANGED,
    ) -> Annotated[CallToolResult, Opened]:
        """Begin a session: who you are, what always holds, open work, skips, and what was decided on your proposals.

        Pass the session and namespace that it returns to later calls.
        """
        workspace = self._seats.of(ctx)
        opening = open_session(workspace, cwd, namespace or "")
        now = clock.now()
        shape = Opened(
            session=opening.session,
            namespace=opening.namespace,
            identity="" if opening.identity is None else opening.identity.content,
            essentials=[
                Essential(id=one.id, text=one_line(one.content, _ESSENTIAL), labels=labels_of(one, now))
                for one in opening.essentials
            ],
            items=[item_entry(item) for item in opening.items],
            skips=[skip_entry(skip) for skip in opening.skips],
            decided=[asking(one) for one in asked_by(workspace, DECIDED, limit=_DECIDED_OF_LATE)[0]],
            contradictions=workspace.contradictions.count(),
        )
        return answer(_opened_text(shape, opening), shape)

    def session_close(
        self,
        ctx: Context,
        session: Session,
        summary: str,
        next_action: Annotated[str, Field(description="what to do first next time")] = "",
        namespace: Namespace = UNCHANGED,
    ) -> Annotated[CallToolResult, Written]:
        """End a session: leave a note on where things stand. What will still hold next month: capture it first."""
        checked_handle(session)
        place = "global" if namespace is UNCHANGED else namespace
        return written(leave_note(self._seats.of(ctx), session, summary, next_action, place), "Left the note")

    def capture(
        self,
        ctx: Context,
        summary: Annotated[str, Field(description="what a newcomer must know now; no log")],
        decisions: Annotated[
            list[str], Field(description="each an instruction", max_length=_MOST_DECISIONS)
        ] = UNCHANGED,
        namespace: Namespace = UNCHANGED,
        session: Session = UNCHANGED,
    ) -> Annotated[CallToolResult, Captured]:
        """Keep a stretch of work in one call, before your context is compacted: a summary, and each decision taken."""
        workspace = self._seats.of(ctx)
        if not summary.strip():
            raise InvalidInput("summary: is empty.", "Say what the next session must know.")
        author = workspace.author
        handle = author.session if session is UNCHANGED else checked_handle(session)
        place = {"namespace": "global" if namespace is UNCHANGED else namespace}
        source = {"source": {"agent": author.agent, "session": handle}}
        began = clock.now()
        texts = [
            {"content": summary, "kind": "daily"},
            *({"content": text, "kind": "decision"} for text in decisions or ()),
        ]
        kept = workspace.remember_many([{**text, **place, **source} for text in texts])
        shape = Captured(memories=[remembered(workspace, memory, began) for memory in kept])
        return answer(_captured_text(shape.memories), shape)


def _captured_text(kept: list[Remembered]) -> str:
    """Return what became of each, by its place: what it says may hold what was just taken out of it."""
    names = ["summary", *(f"decision {number}" for number in range(1, len(kept)))]
    return "\n".join(f"{name}: {remembered_text(one)}" for name, one in zip(names, kept, strict=True))


def _opened_text(shape: Opened, opening: Opening) -> str:
    place = f", namespace {quoted_id(shape.namespace)}" if shape.namespace else ", no project"
    parts = [f"Session {quoted_id(shape.session)}{place}."]
    if shape.identity:
        parts.append(f"Identity:\n{fenced(shape.identity)}")
    if shape.essentials:
        parts.append(f"Always holds (full text: get):\n{_essential_lines(shape.essentials)}")
    if opening.items:
        parts.append(f"Working items:\n{item_lines(opening.items)}")
    if opening.skips:
        parts.append(f"Skips:\n{skip_lines(opening.skips)}")
    if shape.decided:
        parts.append(f"Decided about your proposals:\n{asking_lines(shape.decided)}")
    if shape.contradictions:
        parts.append(f"Open contradictions: {shape.contradictions}; see contradictions.")
    return "\n\n".join(parts)


def _essential_lines(essentials: list[Essential]) -> str:
    return fenced("\n".join(f"{quoted_id(one.id)} [{', '.join(one.labels)}]: {one.text}" for one in essentials))
