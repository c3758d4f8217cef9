"""Capture the end of a session: a line in the day's log, and a note and proposals where worth it."""

from __future__ import annotations

import re
import secrets
import tempfile
from pathlib import Path
from typing import Annotated, NamedTuple

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.distillation import distill_transcript
from memento_tui.compat.vault.notes import (
    FLEETING_FOLDER,
    CaptureResult,
    NoteDraft,
    free_path,
    namespace_of_named_project,
    note_at,
    object_result,
    path_of,
    put_note,
    slug_of,
    slug_of_namespace,
)
from memento_tui.errors import Conflict, InvalidInput, NotAllowed
from memento_tui.formats.vault import NOTE_SUFFIX
from memento_tui.maintenance.transcripts.reader import Turn, read_transcript
from memento_tui.mcp.tool import UNCHANGED
from memento_tui.mcp.workspaces import McpWorkspaces
from memento_tui.model import Memory
from memento_tui.model.filters import AllOf, OneOf
from memento_tui.model.validation import new_id
from memento_tui.text.fence import one_line

__all__ = ["CaptureTools", "is_worth_keeping", "log_session"]

_CAPTURE_SOURCE = "mcp-capture"
"""The property ``source`` of a captured session."""

_LOG_LIFETIME = "30d"
"""How long a day's log is recalled."""
_MAX_TRIES = 5
_HOST_FOLDERS = (".claude", ".codex", ".cursor", ".codeium", ".gemini")
"""The folders of a home directory in which hosts keep transcripts."""

_MANY_EXCHANGES, _MANY_EDITS, _MANY_READS, _SIGNIFICANT_EXCHANGES = 15, 3, 6, 5
_EDIT_TOOLS, _READ_TOOLS = re.compile(r"edit|write|patch", re.IGNORECASE), re.compile(r"read|view", re.IGNORECASE)
_SIGNIFICANT_WORDS = re.compile(
    r"\b(?:decid|decision|chose|root cause|because|turns? out|learn|gotcha|workaround|always|never|instead of)",
    re.IGNORECASE,
)


class LogResult(NamedTuple):
    """The day's log, whether it named the session before, and why the line waits or is missing."""

    path: str
    is_known: bool
    reason: str = ""


def log_session(workspace: Workspace, session: str, description: str) -> LogResult:
    """Add a line about a session to the day's log, which names each session once."""
    now = clock.now()
    day = f"{now:%Y-%m-%d}"
    path = f"{FLEETING_FOLDER}/{day}{NOTE_SUFFIX}"
    mark = f"`{one_line(session, 100).replace('`', chr(39))}`"
    line = f"- {now:%H:%M} {mark} {description}"
    for _ in range(_MAX_TRIES):
        log = note_at(workspace, path)
        if log is None:
            stored = put_note(workspace, _day_log(path, day, line))
            return LogResult(path, is_known=False, reason=stored.reason)
        if mark in log.content:
            return LogResult(path, is_known=True)
        try:
            outcome = workspace.update(log.id, base_version=log.version, content=f"{log.content}\n{line}")
        except Conflict:
            continue  # another session ended at the same moment
        except NotAllowed as error:
            return LogResult(path, is_known=False, reason=f"The line was not added to {path}. {error}")
        waits = f"The line for {path} waits for a person." if outcome.status == "proposed" else ""
        return LogResult(path, is_known=False, reason=waits)
    return LogResult(path, is_known=False, reason=f"The line was not added to {path}: others write there all the time.")


def _day_log(path: str, day: str, line: str) -> NoteDraft:
    return NoteDraft(
        path=path,
        title=f"Sessions of {day}",
        body=line,
        kind="daily",
        source="session",
        namespace=FLEETING_FOLDER,
        certainty=2,
        fields={"expires_at": _LOG_LIFETIME},
    )


def _captured_note(workspace: Workspace, session: str) -> Memory | None:
    """Return the note that was made of a session, ``None`` where there is none."""
    tree = AllOf((OneOf("session", (session,)), OneOf("status", ("active", "pending", "superseded", "consolidated"))))
    for memory in workspace.list_where(tree, limit=100).items:
        properties = memory.extra.get("frontmatter")
        if isinstance(properties, dict) and properties.get("source") == _CAPTURE_SOURCE:
            found: Memory = memory
            return found
    return None


def _checked_transcript(workspace: Workspace, written: str) -> Path:
    """Return the path of a transcript that an agent may have read here.

    Raises:
        NotAllowed: the agent is on another machine, perhaps, or the path is where no host keeps transcripts.
        InvalidInput: there is no file, or no file can have the path.

    """
    if workspace.author.channel != "mcp":
        raise NotAllowed("transcript_path is read over stdio only.", "Send session_summary instead.")
    try:
        path = Path(written).expanduser().resolve()
    except (OSError, RuntimeError, ValueError) as error:  # a NUL, a user who does not exist, a loop of links
        raise InvalidInput(f"transcript_path: {written!r:.200} is no path: {error}.", "Send session_summary.") from None
    roots = [*(Path.home() / name for name in _HOST_FOLDERS), Path(tempfile.gettempdir())]
    if not any(path.is_relative_to(root.resolve()) for root in roots):
        raise NotAllowed(
            f"transcript_path must lie where a host keeps its transcripts; not {written!r:.200}.",
            f"The folders are {', '.join(f'~/{name}' for name in _HOST_FOLDERS)} and that of temporary files.",
        )
    try:
        is_file = path.is_file()
    except OSError as error:  # a name that is longer than a file system takes
        raise InvalidInput(
            f"transcript_path: {written!r:.200} is no path: {error.strerror}.", "Send session_summary."
        ) from None
    if not is_file:
        raise InvalidInput(f"There is no transcript at {written!r:.200}.", "Check the path, or send session_summary.")
    return path


def is_worth_keeping(transcript: Path) -> bool:
    """Tell whether a session did or decided enough for more than a line in the log.

    That is more than 15 exchanges, more than 3 edits, at least 6 files read, or at least 5 exchanges with a word
    about a decision or a lesson. Raises like `read_transcript`.
    """
    exchanges = edits = reads = significant = 0
    for turn in read_transcript(transcript, on_problem=lambda _problem: None):
        exchanges += turn.role == "user"
        edits += _tool_call_count(turn, _EDIT_TOOLS)
        reads += _tool_call_count(turn, _READ_TOOLS)
        significant += turn.role != "tool" and _SIGNIFICANT_WORDS.search(turn.text) is not None
    return (
        exchanges > _MANY_EXCHANGES
        or edits > _MANY_EDITS
        or reads >= _MANY_READS
        or significant >= _SIGNIFICANT_EXCHANGES
    )


def _tool_call_count(turn: Turn, tools: re.Pattern[str]) -> bool:
    return turn.role == "tool" and turn.call is not None and tools.search(turn.call.tool) is not None


_MAX_TITLE_CHARS = 80
_MAX_FILES = 20


class CaptureTools:
    """The tool for the end of a session."""

    def __init__(self, mcp_workspaces: McpWorkspaces) -> None:
        self._mcp_workspaces = mcp_workspaces

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
    ) -> Annotated[CallToolResult, CaptureResult]:
        """Keep what a session taught, once at its end: a line in the day's log and a note of the summary."""
        workspace = self._mcp_workspaces.of(ctx)
        if not session_summary.strip() and not transcript_path:
            raise InvalidInput("There is nothing to capture.", "Give session_summary or transcript_path.")
        namespace = namespace_of_named_project(workspace, cwd)
        ended = _EndedSession(
            session_id or secrets.token_hex(6), namespace, cwd, branch, agent, tuple(files_edited or ())
        )
        captured = CaptureResult(session_id=ended.id, project=slug_of_namespace(namespace))
        existing = _captured_note(workspace, ended.id)
        if existing is not None:
            captured.note_path, captured.deduplicated = path_of(existing), True
            return object_result(captured)
        if transcript_path:  # first: where it cannot be read, nothing is stored
            captured.proposed = _propose_lessons(workspace, _checked_transcript(workspace, transcript_path))
        logged = log_session(workspace, ended.id, ended.line())
        captured.fleeting, reasons = logged.path, [logged.reason]
        if session_summary.strip() and not fleeting_only:
            stored = put_note(workspace, ended.note(workspace, session_summary.strip()))
            captured.note_path, captured.pending = path_of(stored.memory), stored.pending
            captured.deduplicated = None if stored.is_new else True
            reasons.append(stored.reason)
        elif logged.is_known:
            captured.deduplicated = True
        captured.reason = " ".join(reason for reason in reasons if reason) or None
        return object_result(captured)


class _EndedSession(NamedTuple):
    """A session that ended, as a client describes it."""

    id: str
    namespace: str
    cwd: str
    branch: str
    agent: str
    files: tuple[str, ...]

    def line(self) -> str:
        """Return its line in the day's log."""
        branch = f"({one_line(self.branch, 100)})" if self.branch else ""
        files = f", {len(self.files)} files" if self.files else ""
        parts = [one_line(self.cwd, 200) or "?", branch, f"- {one_line(self.agent, 60)}{files}"]
        return " ".join(part for part in parts if part)

    def note(self, workspace: Workspace, summary: str) -> NoteDraft:
        """Return the note of its summary."""
        title = one_line(summary, _MAX_TITLE_CHARS)
        listed = "".join(f"\n- {one_line(name, 300)}" for name in self.files[:_MAX_FILES])
        return NoteDraft(
            path=free_path(workspace, slug_of(title), new_id()[:6]),
            title=title,
            body=f"{summary}\n\n## Files edited{listed}" if listed else summary,
            kind="discovery",
            source=_CAPTURE_SOURCE,
            namespace=self.namespace,
            certainty=2,
            session=self.id,
            properties={"project": self.cwd, "branch": self.branch, "agent": self.agent},
        )


def _propose_lessons(workspace: Workspace, transcript: Path) -> int:
    """Propose the lessons of a transcript where the session was worth it; return how many they are."""
    if not is_worth_keeping(transcript):
        return 0
    lessons = distill_transcript(workspace, transcript).learned
    return sum(lesson.outcome in ("proposed", "stored") for lesson in lessons)
