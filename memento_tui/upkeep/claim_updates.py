"""Reports of how a matter stands by now: *still on the paper list* against *is using the app now*."""

from __future__ import annotations

from collections.abc import Iterator

from memento_tui.upkeep.claim_align import shared_weight
from memento_tui.upkeep.claim_difference import Difference, Pair, Side, words_span
from memento_tui.upkeep.claim_words import CHANGE_CUES, UPDATE_CUES
from memento_tui.upkeep.claims import Token

__all__ = ["UPDATE_FEATURES", "reported_updates"]

UPDATE_FEATURES = (
    "context",  # share of what the two sentences say that both say
    "shared",  # weight of that, 1 from 5 up
    "change",  # whether one says outright that something changed
    "names apart",  # names on either side that the other text does not know
    "similarity",  # cosine of the two texts
    "elapsed",  # time between the two texts
)

_MUCH = 5.0
_LEAST_SHARED = 1.0
_SPANNED = 3


def reported_updates(pair: Pair) -> Iterator[Difference]:
    """Yield a difference where a sentence reports the present state of what the other one speaks of."""
    cues = [_cues(side) for side in (pair.first, pair.second)]
    if not any(cues) or pair.first.sentence.weights.keys() == pair.second.sentence.weights.keys():
        return
    shared = shared_weight(pair.first.context, pair.second.context)
    if shared < _LEAST_SHARED:
        return
    sides = (pair.first, pair.second)
    least = min(sum(side.context.values()) for side in sides)
    features = (
        shared / least,
        min(shared / _MUCH, 1.0),
        float(any(token.low in CHANGE_CUES for side in cues for token in side)),
        min(_names_apart(*sides) / 2, 1.0) * min(_names_apart(*reversed(sides)) / 2, 1.0),
        pair.similarity,
        pair.elapsed,
    )
    telling = [_telling(side, other, found) for side, other, found in zip(sides, reversed(sides), cues, strict=True)]
    spans = [words_span(tokens) for tokens in telling]
    quoted = [(tokens[0].start, tokens[-1].end) for tokens in telling]
    yield Difference("update", features, spans[0], spans[1], (quoted[0], quoted[1]), change=True)


def _cues(side: Side) -> list[Token]:
    return [token for token in side.sentence.tokens if token.low in UPDATE_CUES]


def _names_apart(side: Side, other: Side) -> float:
    names = {token.stem for token in side.sentence.tokens if token.name and token.weight}
    return float(len(names - other.reading.stems))


def _telling(side: Side, other: Side, cues: list[Token]) -> list[Token]:
    """Return the words that differ: the report and what stands behind it, or what only this side says."""
    tokens = side.sentence.tokens
    if cues:
        at = tokens.index(cues[0])
        behind = [token for token in tokens[at + 1 :] if token.weight and token.stem not in other.context]
        return [cues[0], *behind[: _SPANNED - 1]]
    own = [token for token in tokens if token.weight and token.stem not in other.context]
    return own[:_SPANNED] or list(tokens[-1:])
