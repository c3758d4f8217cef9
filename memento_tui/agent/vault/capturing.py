"""Capturing the end of a session."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated, NamedTuple

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from memento_tui.agent.arguments import UNCHANGED
from memento_tui.agent.fence import one_line
from memento_tui.agent.seats import Seats
from memento_tui.agent.vault.notes import free_path, path_of, slug_of
from memento_tui.agent.vault.projects import namespace_of, slug_of_namespace
from memento_tui.agent.vault.results import Captured, said
from memento_tui.agent.vault.sessions import CAPTURE, captured_before, checked_transcript, is_worth_keeping, log_session
from memento_tui.agent.vault.storing import Draft, put_note
from memento_tui.errors import InvalidInput
from memento_tui.records.ids import new_id
from memento_tui.workspace import Workspace
from memento_tui.workspace.learning import distill_transcript

__all__ = ["CaptureTools"]

_TITLE = 80
_MOST_FILES = 20


class CaptureTools:
    """The tool for the end of a session."""

    def __init__(self, seats: Seats) -> None:
        self._seats = seats

    def memento_capture(  # noqa: PLR0913 - the client's own
        self,
        ctx: Context,
        session_summary: Annotated[str, Field(description="what was decided, found and fixed, and why")] = "",
        *,
        cwd: str = "",
        branch: str = "",
        files_edited: list[str] = UNCHANGED,
        session_id: str = UNCHANGED,
        transcript_path: Annotated[str, Field(description="a host's transcript; what it teaches is proposed")] = (
            UNCHANGED
        ),
        agent: str = "unknown",
        fleeting_only: Annotated[bool, Field(description="only a line in the day's log")] = False,
    ) -> Annotated[CallToolResult, Captured]:
        """Keep what a session taught, once at its end: a line in the day's log and a note of the summary."""
        workspace = self._seats.of(ctx)
        if not session_summary.strip() and not transcript_path:
            raise InvalidInput("There is nothing to capture.", "Give session_summary or transcript_path.")
        namespace = namespace_of(workspace, cwd)
        ended = _Session(session_id or secrets.token_hex(6), namespace, cwd, branch, agent, tuple(files_edited or ()))
        captured = Captured(session_id=ended.id, project=slug_of_namespace(namespace))
        known = captured_before(workspace, ended.id)
        if known is not None:
            captured.note_path, captured.deduplicated = path_of(known), True
            return said(captured)
        if transcript_path:  # first: where it cannot be read, nothing is stored
            captured.proposed = _proposed(workspace, checked_transcript(workspace, transcript_path))
        logged = log_session(workspace, ended.id, ended.line())
        captured.fleeting, reasons = logged.path, [logged.reason]
        if session_summary.strip() and not fleeting_only:
            put = put_note(workspace, ended.note(workspace, session_summary.strip()))
            captured.note_path, captured.pending = path_of(put.memory), put.pending
            captured.deduplicated = None if put.is_new else True
            reasons.append(put.reason)
        elif logged.is_known:
            captured.deduplicated = True
        captured.reason = " ".join(reason for reason in reasons if reason) or None
        return said(captured)


class _Session(NamedTuple):
    """What a client says of a session that ended."""

    id: str
    namespace: str
    cwd: str
    branch: str
    agent: str
    files: tuple[str, ...]

    def line(self) -> str:
        """Return what the day's log says of it."""
        branch = f"({one_line(self.branch, 100)})" if self.branch else ""
        files = f", {len(self.files)} files" if self.files else ""
        parts = [one_line(self.cwd, 200) or "?", branch, f"- {one_line(self.agent, 60)}{files}"]
        return " ".join(part for part in parts if part)

    def note(self, workspace: Workspace, summary: str) -> Draft:
        """Return the note of its summary."""
        title = one_line(summary, _TITLE)
        listed = "".join(f"\n- {one_line(name, 300)}" for name in self.files[:_MOST_FILES])
        return Draft(
            path=free_path(workspace, slug_of(title), new_id()[:6]),
            title=title,
            body=f"{summary}\n\n## Files edited{listed}" if listed else summary,
            kind="discovery",
            source=CAPTURE,
            namespace=self.namespace,
            certainty=2,
            session=self.id,
            properties={"project": self.cwd, "branch": self.branch, "agent": self.agent},
        )


def _proposed(workspace: Workspace, transcript: Path) -> int:
    """Propose what a transcript teaches where the session was worth it; return how much that is."""
    if not is_worth_keeping(transcript):
        return 0
    learned = distill_transcript(workspace, transcript).learned
    return sum(one.outcome in ("proposed", "stored") for one in learned)
