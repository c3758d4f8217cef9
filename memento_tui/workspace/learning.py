"""Distilling a transcript into a workspace."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import msgspec

from memento_tui.review.gate import Gate
from memento_tui.store.journal import Author
from memento_tui.upkeep.distilling import distill
from memento_tui.upkeep.drafting import Drafter
from memento_tui.upkeep.learning import Learned, Learner
from memento_tui.upkeep.transcript import Turn, read_transcript
from memento_tui.workspace.workspace import Workspace

__all__ = ["Distilled", "distill_transcript"]


class Distilled(msgspec.Struct, frozen=True):
    """What a transcript held."""

    learned: tuple[Learned, ...]
    problems: tuple[str, ...]
    """A sentence for every part of the transcript that could not be read."""
    turns: int
    session: str
    interrupted: bool = False
    """Whether the reading was ended early; what follows in the transcript was not looked at."""


def distill_transcript(
    workspace: Workspace,
    path: Path,
    *,
    limit: int = 20,
    dry_run: bool = False,
    progress: Callable[[int, int], None] | None = None,
    stopping: threading.Event | None = None,
) -> Distilled:
    """Propose what a transcript teaches: memories, skips and working items, each with the lines it rests on.

    It is written in the transcript's name and not in the caller's, so the gate asks a person about it.

    Raises:
        NotFound: the transcript is missing.
        InvalidInput: it cannot be read, or is in no format that is.

    """
    problems: list[str] = []
    heard = _Heard()
    turns = read_transcript(path, on_problem=problems.append, progress=progress, stopping=stopping)
    candidates = distill(map(heard.note, turns), limit=limit)
    if turns.reading.stopped:
        candidates = []  # what follows may take back what was read, such as a to-do that is done by then
    author = Author("system", "distill", agent=heard.agent or "distill", session=heard.session)
    gate = Gate(workspace.store, author, workspace.gate.rules)
    drafter = Drafter(workspace.config.language_model)
    # By its whole path, so that the lines can be found again from anywhere.
    named = str(path.absolute())
    learner = Learner(workspace.store, gate, workspace.searching.keyword, drafter, named, dry_run=dry_run)
    learned = tuple(learner.learn(candidate) for candidate in candidates)
    return Distilled(learned, tuple(problems), heard.turns, heard.session, turns.reading.stopped)


class _Heard:
    """Notes in passing whose transcript it is."""

    def __init__(self) -> None:
        self.turns = 0
        self.session = self.agent = ""

    def note(self, turn: Turn) -> Turn:
        self.turns += 1
        self.session = self.session or turn.session
        self.agent = self.agent or turn.agent
        return turn
