"""Format the context of the item in focus: the transcript it was learned from, and similar memories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

from memento_tui import clock
from memento_tui.api.review_context import SimilarMemory, TranscriptExcerpt, Utterance
from memento_tui.tui.display import ago, literal

__all__ = ["context_text"]

_MAX_CHARACTERS = 240
"""Characters of each similar memory that are shown."""


def context_text(similar: Sequence[SimilarMemory], excerpt: TranscriptExcerpt | None) -> Content:
    """Return both in one text, which is empty where there is neither."""
    lines: list[Content] = []
    if excerpt is not None:
        lines += [*_excerpt(excerpt), Content("")]
    if similar:
        lines.append(Content.styled("MEMORIES THAT SAY SOMETHING ALIKE", "bold $text-accent"))
        for memory in similar:
            lines += _similar_memory(memory)
    return Content("\n").join(lines)


def _excerpt(excerpt: TranscriptExcerpt) -> Iterator[Content]:
    location = f"{excerpt.transcript}{f', lines {excerpt.span}' if excerpt.span else ''}"
    yield Content.styled("SAID IN ", "bold $text-accent") + literal(location, "dim")
    if excerpt.problem:
        yield literal(excerpt.problem, "dim")
    for utterance in excerpt.said:
        yield from _utterance(utterance)


def _utterance(utterance: Utterance) -> Iterator[Content]:
    mark = "> " if utterance.is_source else "  "
    yield literal(f"{mark}{utterance.role}, line {utterance.first_line}", "bold" if utterance.is_source else "dim bold")
    yield literal(utterance.text, "" if utterance.is_source else "dim", multiline=True)
    if utterance.is_cut:
        yield Content.styled("... it goes on in the transcript", "dim")


def _similar_memory(similar: SimilarMemory) -> Iterator[Content]:
    memory = similar.memory
    trust = "draft" if memory.stability == "draft" else memory.stability
    age = ago(memory.updated_at, clock.now())
    yield literal(f"{similar.likeness:.0%}  {memory.id}  {trust}  {age}", "dim")
    text = memory.content if len(memory.content) <= _MAX_CHARACTERS else f"{memory.content[:_MAX_CHARACTERS]}..."
    yield literal(f"{memory.title}: {text}" if memory.title.strip() else text)
