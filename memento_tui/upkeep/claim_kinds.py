"""Of which kind a clash is: a change with time, different conditions, or a contradiction proper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from memento_tui.records import Memory
from memento_tui.records.rules import is_under
from memento_tui.upkeep.claim_align import reading
from memento_tui.upkeep.claim_difference import Difference, Span
from memento_tui.upkeep.claim_words import CONDITION_GROUPS, CONDITIONS

__all__ = ["ClashKind", "conditions_told", "kind_of_clash"]

ClashKind = Literal["temporal", "scoped", "genuine"]
_SECONDS_A_DAY = 86_400


def kind_of_clash(difference: Difference, older: Memory, newer: Memory, *, told: bool) -> ClashKind:
    """Return the kind: scoped where the conditions differ, temporal where time may have changed the matter.

    ``told`` says whether the sentences themselves name different conditions.
    """
    if told or _contexts_differ(older, newer):
        return "scoped"
    if difference.change or _periods_apart(older, newer):
        return "temporal"
    days = abs((newer.created_at - older.created_at).total_seconds()) / _SECONDS_A_DAY
    return "temporal" if difference.counts and days >= 1 else "genuine"


def conditions_told(older: Memory, newer: Memory, spans: Sequence[tuple[Span, ...]]) -> bool:
    """Tell whether the sentences that hold the spans name different surroundings, such as Windows and Linux.

    A surrounding inside a span is what the two sides differ in, not under what they hold.
    """
    ours, theirs = (_conditions(memory, side) for memory, side in zip((older, newer), spans, strict=True))
    return any((ours & group) and (theirs & group) and not ours & theirs & group for group in CONDITION_GROUPS)


def _conditions(memory: Memory, spans: tuple[Span, ...]) -> frozenset[str]:
    differing = set(spans)
    return frozenset(
        token.low
        for sentence in reading(memory.content, memory.title).sentences
        if any(sentence.start <= start < sentence.end for start, _ in spans)
        for token in sentence.tokens
        if token.low in CONDITIONS and (token.start, token.end) not in differing
    )


def _contexts_differ(older: Memory, newer: Memory) -> bool:
    contexts = [" ".join(memory.validity_context.casefold().split()) for memory in (older, newer)]
    if all(contexts) and contexts[0] != contexts[1]:
        return True
    one, other = older.namespace, newer.namespace
    return "global" not in (one, other) and not (is_under(one, other) or is_under(other, one))


def _periods_apart(older: Memory, newer: Memory) -> bool:
    """Tell whether one memory had ceased to be valid when the other began to be."""
    return any(
        one.valid_to is not None and other.valid_from is not None and one.valid_to <= other.valid_from
        for one, other in ((older, newer), (newer, older))
    )
