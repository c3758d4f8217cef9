"""Collect the context of a decision: similar memories, and the passage of the transcript that it came from."""

from __future__ import annotations

import re
import stat
import threading
from collections import deque
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from memento_tui.api.review import ContradictionWithSides, PendingProposal
from memento_tui.errors import InvalidInput, MementoError, NotFound
from memento_tui.maintenance.duplicates import likeness
from memento_tui.maintenance.transcripts.reader import Turn, read_transcript
from memento_tui.model import Memory
from memento_tui.model.memory import RECALLED_STATUSES
from memento_tui.policy.secrets import redact_text

__all__ = [
    "SimilarMemory",
    "TranscriptExcerpt",
    "Utterance",
    "memories_like",
    "similar_memories",
    "transcript_excerpt",
]

if TYPE_CHECKING:
    from memento_tui.api.workspace import Workspace


_LINE_SPAN = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_MAX_COMPARED_CHARACTERS = 20_000
"""Characters. Of a longer text the beginning is compared."""

_MIN_SIMILARITY = 0.1
_MAX_EXCERPT_LINES = 20
_TURNS_AROUND = 2
"""Turns before and after the passage that are read too: the question that it answers, and the reply to it."""

_MAX_UTTERANCE_CHARACTERS = 4_000
_MAX_TRANSCRIPT_BYTES = 512 * 1024 * 1024
"""Bytes."""


class SimilarMemory(msgspec.Struct, frozen=True):
    """A memory with a similar text."""

    memory: Memory
    likeness: float
    """From 0 to 1: how many of their words the two texts share."""


class Utterance(msgspec.Struct, frozen=True):
    """One turn of a transcript, without secrets; a long one is cut."""

    role: str
    first_line: int
    last_line: int
    text: str
    is_cut: bool = False
    is_source: bool = True
    """Whether the memory was learned from this turn; the other turns are its context."""


class TranscriptExcerpt(msgspec.Struct, frozen=True):
    """The place in a transcript that something was learned from."""

    transcript: str
    span: str
    said: tuple[Utterance, ...] = ()
    problem: str = ""
    """Why nothing can be shown of it."""


def similar_memories(
    workspace: Workspace, item: PendingProposal | ContradictionWithSides, limit: int = 5
) -> list[SimilarMemory]:
    """Return recalled memories that share words with a memory that waits, the most alike first.

    The keyword index is asked as it stands; without one there are none.
    """
    text, about = _text_and_ids(item)
    return memories_like(workspace, text, about, limit) if text else []


def memories_like(workspace: Workspace, text: str, without: Collection[str], limit: int = 5) -> list[SimilarMemory]:
    """Return recalled memories that share words with a text, the most alike first, but for those with some ids.

    The keyword index is asked as it stands; without one there are none.
    """
    nearby = workspace.search_engine.keyword.similar(text[:_MAX_COMPARED_CHARACTERS], limit + len(without) + 5)
    if nearby is None:
        return []
    others = workspace._store.memories.get_many([*nearby.ids, *nearby.unindexed]).values()
    found = [
        SimilarMemory(other, likeness(text, f"{other.title}\n{other.content}"))
        for other in others
        if other.id not in without and other.status in RECALLED_STATUSES
    ]
    near = [one for one in found if one.likeness >= _MIN_SIMILARITY]
    return sorted(near, key=lambda one: (-one.likeness, one.memory.id))[:limit]


def _text_and_ids(item: PendingProposal | ContradictionWithSides) -> tuple[str, set[str]]:
    """Return the text to compare, and the ids of the memories that are shown with it anyway."""
    if isinstance(item, ContradictionWithSides):
        side = item.newer or item.older
        sides = {item.contradiction.older, item.contradiction.newer}
        return ("" if side is None else f"{side.title}\n{side.content}"), sides
    if not isinstance(item.target, Memory):
        return "", set()
    proposal, memory = item.proposal, item.target
    about = {memory.id, str(proposal.evidence.get("other", "")), *map(str, proposal.evidence.get("about", ()))}
    title, content = (str(proposal.payload.get(name, getattr(memory, name))) for name in ("title", "content"))
    return f"{title}\n{content}", about


def transcript_excerpt(
    item: PendingProposal | ContradictionWithSides, *, stopping: threading.Event | None = None
) -> TranscriptExcerpt | None:
    """Return the passage of the transcript that an entry was learned from; ``None`` where no transcript is named.

    Only a regular file that is named by its whole path, and is a transcript, is read: who wrote the record may have
    put any path there. Secrets in it are not repeated.
    """
    place = _transcript_location(item)
    if place is None:
        return None
    transcript, span = place
    match = _LINE_SPAN.fullmatch(span.strip())
    if match is None:
        return TranscriptExcerpt(transcript, span)
    first, last = int(match[1]), int(match[2] or match[1])
    try:
        turns = _read_turns(_readable_path(transcript), first, last, stopping)
        said = tuple(_utterance(turn, is_source=_meets(turn, first, last)) for turn in turns)
    except MementoError as error:
        return TranscriptExcerpt(transcript, span, problem=error.message)
    return TranscriptExcerpt(transcript, span, said, "" if said else "These lines say nothing that can be read.")


def _readable_path(transcript: str) -> Path:
    """Return the path of a transcript that may be read. Raises `InvalidInput` or `NotFound`."""
    path = Path(transcript)
    if not path.is_absolute():
        raise InvalidInput("It is not named by its whole path, so it was not looked for.")
    try:
        found = path.lstat()
    except FileNotFoundError:
        raise NotFound("The transcript is not there any more.") from None
    except (OSError, ValueError):
        raise InvalidInput("It cannot be read.") from None
    if not stat.S_ISREG(found.st_mode) or found.st_size > _MAX_TRANSCRIPT_BYTES:
        raise InvalidInput("It is not a plain file, or too large to read here.")
    return path


def _transcript_location(item: PendingProposal | ContradictionWithSides) -> tuple[str, str] | None:
    if isinstance(item, ContradictionWithSides):
        return None
    evidence = item.proposal.evidence
    if evidence.get("transcript"):
        return str(evidence["transcript"]), str(evidence.get("lines", ""))
    source = item.target.source if isinstance(item.target, Memory) else None
    return (source.transcript, source.span) if source is not None and source.transcript else None


def _read_turns(path: Path, first: int, last: int, stopping: threading.Event | None) -> list[Turn]:
    """Return the turns of a passage with some around them; none where the passage has none."""
    before: deque[Turn] = deque(maxlen=_TURNS_AROUND)
    found: list[Turn] = []
    after: list[Turn] = []
    for turn in read_transcript(path, on_problem=_ignore_problem, stopping=stopping):
        if turn.last_line < first:
            before.append(turn)
        elif _meets(turn, first, last) and len(found) < _MAX_EXCERPT_LINES:
            found.append(turn)
        else:
            after.append(turn)
        if len(after) == _TURNS_AROUND or (after and not found):
            break
    return [*before, *found, *after] if found else []


def _meets(turn: Turn, first: int, last: int) -> bool:
    return turn.first_line <= last and turn.last_line >= first


def _ignore_problem(problem: str) -> None:
    """Ignore a line that cannot be read: the passage is in others."""


def _utterance(turn: Turn, *, is_source: bool) -> Utterance:
    text = redact_text(turn.text)[0]
    lines = text[:_MAX_UTTERANCE_CHARACTERS].split("\n")
    is_cut = len(lines) > _MAX_EXCERPT_LINES or len(text) > _MAX_UTTERANCE_CHARACTERS
    kept = "\n".join(lines[:_MAX_EXCERPT_LINES])
    return Utterance(turn.role, turn.first_line, turn.last_line, kept, is_cut, is_source)
