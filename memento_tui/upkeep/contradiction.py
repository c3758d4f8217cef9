"""Finding contradictions: two memories near in meaning and different in claim."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from memento_tui.records import Memory
from memento_tui.upkeep.claim_align import aligned, reading
from memento_tui.upkeep.claim_difference import Difference, Pair, Side
from memento_tui.upkeep.claim_kinds import conditions_told, kind_of_clash
from memento_tui.upkeep.claim_numbers import differing_values
from memento_tui.upkeep.claim_polarity import opposed_claims
from memento_tui.upkeep.claim_slots import changed_slots
from memento_tui.upkeep.claim_updates import reported_updates
from memento_tui.upkeep.claim_weights import judged

__all__ = ["SCORE_TO_RAISE", "SIMILARITY_TO_COMPARE", "Clash", "compare", "differences", "weighed"]

SCORE_TO_RAISE = 0.45
"""The score from which a clash is raised: on the development pairs, where precision and recall both meet their goals;
``python -m tests.benchmarks.conflicts`` shows the figures."""

SIMILARITY_TO_COMPARE = 0.2
"""Pairs less alike than this need not be compared."""

_LONGEST_QUOTE = 80
_SECONDS_A_DAY = 86_400.0
_UNDER_OTHER_CONDITIONS = 0.6
"""What remains of a score where the two sentences name different surroundings: Windows in one, Linux in the other."""

_MODEL_SHARE = 0.5
"""What a cross-encoder's opinion counts beside the comparison of claims."""


class Clash(msgspec.Struct, frozen=True):
    """What two memories disagree about."""

    kind: Literal["temporal", "scoped", "genuine"]
    """temporal: each may have held in its time; scoped: they hold under different conditions; genuine: neither."""
    older_spans: tuple[tuple[int, int], ...]
    """Start and end, in the older memory's content, of the words that differ."""
    newer_spans: tuple[tuple[int, int], ...]
    score: float
    """From 0 to 1: how sure the finder is; it means the same from pair to pair."""
    why: str
    """One plain sentence for a person."""


def compare(older: Memory, newer: Memory, similarity: float) -> Clash | None:
    """Return what two memories disagree about, or None where no difference in claim is seen.

    ``similarity`` is the cosine of the two texts' embeddings, from 0 to 1, or an estimate of it from their words.
    The result depends on nothing else than the arguments; changing the sides changes only the sides of the spans.
    Only the sentences that share most are compared, so a long text costs little more than reading it.
    """
    # In a fixed order, so that the answer does not depend on which side is called the older one.
    swapped = _order(newer) < _order(older)
    first, second = (newer, older) if swapped else (older, newer)
    if first.content.split() == second.content.split():
        return None
    best: Difference | None = None
    score = -1.0
    sentences = sum(len(reading(memory.content, memory.title).sentences) for memory in (first, second))
    for difference in differences(first, second, similarity):
        if (chance := judged(difference, sentences)) > score:
            best, score = difference, chance
    if best is None:
        return None
    spans = (best.second, best.first) if swapped else (best.first, best.second)
    quoted = best.quoted[::-1] if swapped else best.quoted
    quotes = [_quote(memory.content, span) for memory, span in zip((older, newer), quoted, strict=True)]
    told = conditions_told(older, newer, spans)
    if told:
        score *= _UNDER_OTHER_CONDITIONS
    return Clash(
        kind=kind_of_clash(best, older, newer, told=told),
        older_spans=spans[0],
        newer_spans=spans[1],
        score=round(score, 4),
        why=f"The older says “{quotes[0]}”, the newer “{quotes[1]}”.",
    )


def differences(first: Memory, second: Memory, similarity: float) -> Iterator[Difference]:
    """Yield every difference between the sentences of two memories that share most."""
    one, other = reading(first.content, first.title), reading(second.content, second.title)
    days = abs((second.created_at - first.created_at).total_seconds()) / _SECONDS_A_DAY
    for here, there in aligned(one, other):
        pair = Pair(
            Side(one, one.sentences[here], one.contexts[here]),
            Side(other, other.sentences[there], other.contexts[there]),
            min(max(similarity, 0.0), 1.0),
            days,
        )
        yield from differing_values(pair)
        yield from opposed_claims(pair)
        yield from changed_slots(pair)
        yield from reported_updates(pair)


def weighed(clash: Clash, contradiction_probability: float) -> Clash:
    """Return the clash with a score that also heeds what a cross-encoder thinks of the two texts.

    The two odds are combined by their geometric mean, so either alone can neither raise nor drop a clash that the
    other is sure of.
    """
    ours, theirs = _inside(clash.score), _inside(contradiction_probability)
    odds = (ours / (1 - ours)) ** (1 - _MODEL_SHARE) * (theirs / (1 - theirs)) ** _MODEL_SHARE
    return msgspec.structs.replace(clash, score=round(odds / (1 + odds), 4))


def _inside(probability: float) -> float:
    return min(max(probability, 0.001), 0.999)


def _order(memory: Memory) -> tuple[str, str, str]:
    return memory.content, memory.title, memory.id


def _quote(text: str, span: tuple[int, int]) -> str:
    """Return words for the sentence: one line, nothing that does not print, no longer than a phrase."""
    words = text[span[0] : min(span[1], span[0] + 2 * _LONGEST_QUOTE)]
    plain = "".join(letter if letter.isprintable() else " " for letter in words)
    plain = " ".join(plain.replace("“", '"').replace("”", '"').split())
    return plain if len(plain) <= _LONGEST_QUOTE else f"{plain[: _LONGEST_QUOTE - 1]}…"
