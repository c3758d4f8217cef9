"""Format what surrounds the item in focus: the transcript it was learned from, and similar memories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

from memento_tui import clock
from memento_tui.api.review_context import SimilarMemory, TranscriptExcerpt, Utterance
from memento_tui.tui.display import ago, literal

__all__ = ["context_text"]

_LONGEST_NEIGHBOUR = 240
"""Characters of each memory that says something alike."""


def context_text(neighbours: Sequence[SimilarMemory], spoken: TranscriptExcerpt | None) -> Content:
    """Return both in one text; nothing where there is neither."""
    lines: list[Content] = []
    if spoken is not None:
        lines += [*_spoken(spoken), Content("")]
    if neighbours:
        lines.append(Content.styled("MEMORIES THAT SAY SOMETHING ALIKE", "bold $text-accent"))
        for neighbour in neighbours:
            lines += _neighbour(neighbour)
    return Content("\n").join(lines)


def _spoken(spoken: TranscriptExcerpt) -> Iterator[Content]:
    where = f"{spoken.transcript}{f', lines {spoken.span}' if spoken.span else ''}"
    yield Content.styled("SAID IN ", "bold $text-accent") + literal(where, "dim")
    if spoken.problem:
        yield literal(spoken.problem, "dim")
    for said in spoken.said:
        yield from _utterance(said)


def _utterance(said: Utterance) -> Iterator[Content]:
    yield literal(f"{said.role}, line {said.first_line}", "dim bold")
    yield literal(said.text, multiline=True)
    if said.is_cut:
        yield Content.styled("... it goes on in the transcript", "dim")


def _neighbour(neighbour: SimilarMemory) -> Iterator[Content]:
    memory = neighbour.memory
    trust = "draft" if memory.stability == "draft" else memory.stability
    age = ago(memory.updated_at, clock.now())
    yield literal(f"{neighbour.likeness:.0%}  {memory.id}  {trust}  {age}", "dim")
    text = memory.content if len(memory.content) <= _LONGEST_NEIGHBOUR else f"{memory.content[:_LONGEST_NEIGHBOUR]}..."
    yield literal(f"{memory.title}: {text}" if memory.title.strip() else text)
