"""What is kept of a session: a line in the day's log always, a note and proposals where it was worth them."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import NamedTuple

from memento_tui import clock
from memento_tui.agent.fence import one_line
from memento_tui.agent.vault.notes import FLEETING, note_at
from memento_tui.agent.vault.storing import Draft, put_note
from memento_tui.errors import Conflict, InvalidInput, NotAllowed
from memento_tui.interchange.vault import SUFFIX
from memento_tui.records import Memory
from memento_tui.store.filters import AllOf, OneOf
from memento_tui.upkeep.transcript import Turn, read_transcript
from memento_tui.workspace import Workspace

__all__ = ["CAPTURE", "Logged", "captured_before", "checked_transcript", "is_worth_keeping", "log_session"]

CAPTURE = "mcp-capture"
"""The property ``source`` of a captured session."""

_KEPT_FOR = "30d"
"""How long a day's log is recalled."""
_TRIES = 5
_HOSTS = (".claude", ".codex", ".cursor", ".codeium", ".gemini")
"""The folders of a home directory in which hosts keep transcripts."""

_MANY_EXCHANGES, _MANY_EDITS, _MANY_READS, _TELLING_EXCHANGES = 15, 3, 6, 5
_EDITING, _READING = re.compile(r"edit|write|patch", re.IGNORECASE), re.compile(r"read|view", re.IGNORECASE)
_TELLING = re.compile(
    r"\b(?:decid|decision|chose|root cause|because|turns? out|learn|gotcha|workaround|always|never|instead of)",
    re.IGNORECASE,
)


class Logged(NamedTuple):
    """The day's log, whether it named the session before, and why the line waits or is missing."""

    path: str
    is_known: bool
    reason: str = ""


def log_session(workspace: Workspace, session: str, told: str) -> Logged:
    """Add a line about a session to the day's log, which names each session once."""
    now = clock.now()
    day = f"{now:%Y-%m-%d}"
    path = f"{FLEETING}/{day}{SUFFIX}"
    mark = f"`{one_line(session, 100).replace('`', chr(39))}`"
    line = f"- {now:%H:%M} {mark} {told}"
    for _ in range(_TRIES):
        log = note_at(workspace, path)
        if log is None:
            put = put_note(workspace, _log(path, day, line))
            return Logged(path, is_known=False, reason=put.reason)
        if mark in log.content:
            return Logged(path, is_known=True)
        try:
            done = workspace.update(log.id, base_version=log.version, content=f"{log.content}\n{line}")
        except Conflict:
            continue  # another session ended at the same moment
        except NotAllowed as error:
            return Logged(path, is_known=False, reason=f"The line was not added to {path}. {error}")
        waits = f"The line for {path} waits for a person." if done.status == "proposed" else ""
        return Logged(path, is_known=False, reason=waits)
    return Logged(path, is_known=False, reason=f"The line was not added to {path}: others write there all the time.")


def _log(path: str, day: str, line: str) -> Draft:
    return Draft(
        path=path,
        title=f"Sessions of {day}",
        body=line,
        kind="daily",
        source="session",
        namespace=FLEETING,
        certainty=2,
        fields={"expires_at": _KEPT_FOR},
    )


def captured_before(workspace: Workspace, session: str) -> Memory | None:
    """Return the note that was made of a session, ``None`` where there is none."""
    tree = AllOf((OneOf("session", (session,)), OneOf("status", ("active", "pending", "superseded", "consolidated"))))
    for memory in workspace.store.page(tree, limit=100).items:
        properties = memory.extra.get("frontmatter")
        if isinstance(properties, dict) and properties.get("source") == CAPTURE:
            found: Memory = memory
            return found
    return None


def checked_transcript(workspace: Workspace, named: str) -> Path:
    """Return the path of a transcript that an agent may have read here.

    Raises:
        NotAllowed: the agent is on another machine, perhaps, or the path is where no host keeps transcripts.
        InvalidInput: there is no file, or no file can have the path.

    """
    if workspace.author.channel != "mcp":
        raise NotAllowed("transcript_path is read over stdio only.", "Send session_summary instead.")
    try:
        path = Path(named).expanduser().resolve()
    except (OSError, RuntimeError, ValueError) as error:  # a NUL, a user who does not exist, a loop of links
        raise InvalidInput(f"transcript_path: {named!r:.200} is no path: {error}.", "Send session_summary.") from None
    roots = [*(Path.home() / name for name in _HOSTS), Path(tempfile.gettempdir())]
    if not any(path.is_relative_to(root.resolve()) for root in roots):
        raise NotAllowed(
            f"transcript_path must lie where a host keeps its transcripts; not {named!r:.200}.",
            f"The folders are {', '.join(f'~/{name}' for name in _HOSTS)} and that of temporary files.",
        )
    if not path.is_file():
        raise InvalidInput(f"There is no transcript at {named!r:.200}.", "Check the path, or send session_summary.")
    return path


def is_worth_keeping(transcript: Path) -> bool:
    """Tell whether a session did enough, or said enough that is telling, for more than a line in the log.

    That is more than 15 exchanges, more than 3 edits, at least 6 files read, or at least 5 exchanges with a word that
    tells of a decision or a lesson. Raises like `read_transcript`.
    """
    exchanges = edits = reads = telling = 0
    for turn in read_transcript(transcript, on_problem=lambda _problem: None):
        exchanges += turn.role == "user"
        edits += _calls(turn, _EDITING)
        reads += _calls(turn, _READING)
        telling += turn.role != "tool" and _TELLING.search(turn.text) is not None
    return exchanges > _MANY_EXCHANGES or edits > _MANY_EDITS or reads >= _MANY_READS or telling >= _TELLING_EXCHANGES


def _calls(turn: Turn, tools: re.Pattern[str]) -> bool:
    return turn.role == "tool" and turn.call is not None and tools.search(turn.call.tool) is not None
