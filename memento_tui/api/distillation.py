"""Distill a transcript into a workspace."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from memento_tui.api.workspace import Workspace
from memento_tui.config import LanguageModelConfig
from memento_tui.errors import InvalidInput
from memento_tui.maintenance.consolidation.drafting import Drafter
from memento_tui.maintenance.distillation.distiller import distill
from memento_tui.maintenance.distillation.proposals import (
    Conversation,
    DistillationProposer,
    DistillationResult,
    extract_with_model,
)
from memento_tui.maintenance.distillation.statements import Candidate
from memento_tui.maintenance.transcripts.reader import TextTranscript, Turn, read_plain_text, read_transcript
from memento_tui.policy.gate import Gate
from memento_tui.storage.journal import Author

__all__ = ["DistillationReport", "distill_text", "distill_transcript"]

_MAX_CANDIDATES = 100
"""Candidates read at most from one text, among which the requested ones are found."""


class DistillationReport(msgspec.Struct, frozen=True):
    """The candidates that a transcript held."""

    learned: tuple[DistillationResult, ...]
    problems: tuple[str, ...]
    """A sentence for every part of the transcript that could not be read, and why a language model was not asked."""
    turns: int
    session: str
    interrupted: bool = False
    """Whether reading ended early; the rest of the transcript was not read."""


def distill_transcript(
    workspace: Workspace,
    path: Path,
    *,
    limit: int = 20,
    namespace: str = "",
    dry_run: bool = False,
    progress: Callable[[int, int], None] | None = None,
    stopping: threading.Event | None = None,
) -> DistillationReport:
    """Propose memories, skips and working items from a transcript, each with the lines that it rests on.

    The gate asks a person about it, in the name of the transcript's agent and session; an agent that hands one over has
    its own, whatever the transcript says. ``namespace`` is the project's: what was learned there holds there, but for
    preferences, which are the person's everywhere.

    Raises:
        NotFound: the transcript is missing.
        InvalidInput: it cannot be read, or is in no format that is.

    """
    problems: list[str] = []
    heard = _TranscriptMetadata()
    turns = read_transcript(path, on_problem=problems.append, progress=progress, stopping=stopping)
    conversation = Conversation()
    candidates = distill(map(conversation.note, map(heard.note, turns)), limit=limit)
    drafter = Drafter(workspace.config.language_model)
    problems += filter(None, [drafter.withheld])
    candidates += extract_with_model(conversation.turns, drafter)[: max(0, limit - len(candidates))]
    if turns.reading.stopped:
        candidates = []  # what follows may take back what was read, such as a to-do that is done by then
    if namespace:
        candidates = [_with_namespace(candidate, namespace) for candidate in candidates]
    agent, session = heard.agent, heard.session
    if workspace.author.actor == "agent":
        agent, session = workspace.author.agent or agent, workspace.author.session
    author = Author("system", "distill", agent=agent or "distill", session=session)
    gate = Gate(workspace._store, author, workspace.gate.rules)
    # By its whole path, so that the lines can be found again from anywhere.
    named = str(path.absolute())
    learner = DistillationProposer(
        workspace._store, gate, workspace.search_engine.keyword, drafter, named, dry_run=dry_run
    )
    learned = tuple(learner.learn(candidate) for candidate in candidates)
    return DistillationReport(learned, tuple(problems), heard.turns, heard.session, turns.reading.stopped)


def _with_namespace(candidate: Candidate, namespace: str) -> Candidate:
    if candidate.fields.get("kind") == "preference":
        return candidate
    return msgspec.structs.replace(candidate, fields={**candidate.fields, "namespace": namespace})


def distill_text(
    workspace: Workspace,
    text: str,
    named: str,
    *,
    limit: int = 20,
    wanted: Callable[[Candidate], bool] | None = None,
    fields: Mapping[str, Any] | None = None,
    make_id: Callable[[], str] | None = None,
    language_model: LanguageModelConfig | None = None,
) -> DistillationReport:
    """Propose records from a conversation that an agent handed over as text, in the name of that agent.

    The text is JSON lines in one of the formats of transcripts, or plain: see
    `memento_tui.maintenance.transcripts.reader`.
    ``named`` says where it is from, since there is no file. Only what is ``wanted`` is learned; everything that is
    gets ``fields`` (such as a namespace) and an id of ``make_id``. ``language_model`` is the caller's; ``None`` for the
    person's own.
    """
    problems: list[str] = []
    read = _read_given_text(workspace, text, problems)
    found = distill(read.turns, limit=limit if wanted is None else _MAX_CANDIDATES)
    given = dict(fields or {})
    candidates = []
    for candidate in [one for one in found if wanted is None or wanted(one)][:limit]:
        more = given | ({"id": make_id()} if make_id else {})
        if candidate.target == "memory" and not read.names_speakers:
            more["source_type"] = "derived"  # nobody can tell that the person said it
        candidates.append(msgspec.structs.replace(candidate, fields={**candidate.fields, **more}))
    drafter = Drafter(workspace.config.language_model if language_model is None else language_model)
    problems += filter(None, [drafter.withheld])
    learner = DistillationProposer(workspace._store, workspace.gate, workspace.search_engine.keyword, drafter, named)
    learned = tuple(learner.learn(candidate) for candidate in candidates)
    return DistillationReport(learned, tuple(problems), len(read.turns), workspace.author.session)


def _read_given_text(workspace: Workspace, text: str, problems: list[str]) -> TextTranscript:
    if text.lstrip().startswith("{"):
        with tempfile.TemporaryDirectory(prefix="memento-", dir=workspace.paths.temporary_folder()) as folder:
            file = Path(folder) / "given.jsonl"
            file.write_bytes(text.encode("utf-8", "replace"))
            try:
                return TextTranscript(list(read_transcript(file, on_problem=problems.append)), names_speakers=True)
            except InvalidInput:
                problems.clear()  # a text that merely begins with a brace
    author = workspace.author
    return read_plain_text(text, agent=author.agent, session=author.session)


class _TranscriptMetadata:
    """Collects a transcript's session, agent and number of turns while its turns are read."""

    def __init__(self) -> None:
        self.turns = 0
        self.session = self.agent = ""

    def note(self, turn: Turn) -> Turn:
        self.turns += 1
        self.session = self.session or turn.session
        self.agent = self.agent or turn.agent
        return turn
