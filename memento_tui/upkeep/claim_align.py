"""Which sentences of two texts speak of the same thing: only those are compared, however long the texts are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

import msgspec

from memento_tui.upkeep.claim_words import CLAUSE_WORDS, INDEFINITE, TO_BE
from memento_tui.upkeep.claims import Sentence, Token, read

__all__ = ["Clause", "Reading", "aligned", "clauses", "is_scene", "reading", "shared_weight"]

_BEST_PAIRS = 6
"""Sentence pairs that are looked into."""

_MOST_PLACES = 24
"""Sentences that one word may lead to; a word in more of them does not tell where to look."""

_NEIGHBOUR = 0.4
"""What a word of the sentence before, or of the title, counts beside a word of the sentence itself."""

_CACHED_CHARACTERS = 8_000
_SHORTEST_CLAUSE = 3
_WHOLE = 25
"""Tokens of a sentence that is also compared as one clause."""


class Reading(msgspec.Struct, frozen=True, gc=False):
    """A text's sentences, each with the weights of its context: its own words, the title's, the sentence before's."""

    sentences: tuple[Sentence, ...]
    contexts: tuple[Mapping[str, float], ...]
    stems: frozenset[str]
    """Every stem of the text that has a weight."""


Clause = tuple[Token, ...]


def _read(text: str, title: str) -> Reading:
    sentences = read(text)
    headed: dict[str, float] = {}
    for sentence in read(title):
        headed.update(sentence.weights)
    contexts = []
    before: Mapping[str, float] = {}
    for sentence in sentences:
        context = dict(sentence.weights)
        for weights in (headed, before):
            for word, weight in weights.items():
                if word not in context:
                    context[word] = _NEIGHBOUR * weight
        contexts.append(context)
        before = sentence.weights
    stems = frozenset(word for sentence in sentences for word in sentence.weights)
    return Reading(sentences, tuple(contexts), stems | headed.keys())


_read_again = lru_cache(maxsize=512)(_read)
_read_long_again = lru_cache(maxsize=4)(_read)


def reading(text: str, title: str = "") -> Reading:
    """Return what comparing needs to know of a text; readings are kept for the next comparison, few of long texts."""
    return (_read_again if len(text) <= _CACHED_CHARACTERS else _read_long_again)(text, title)


def shared_weight(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Return the weight of the words that two contexts share, each at the smaller of its two weights."""
    if len(one) > len(other):
        one, other = other, one
    return sum(min(weight, other[word]) for word, weight in one.items() if word in other)


def aligned(older: Reading, newer: Reading) -> list[tuple[int, int]]:
    """Return the places of the sentence pairs that share most, best first."""
    places: dict[str, list[int]] = {}
    for at, context in enumerate(older.contexts):
        for word in context:
            places.setdefault(word, []).append(at)
    common: Counter[tuple[int, int]] = Counter()
    best: dict[tuple[int, int], float] = {}
    for at, context in enumerate(newer.contexts):
        common.clear()
        for word, weight in context.items():
            found = places.get(word, ())
            if len(found) <= _MOST_PLACES:
                for place in found:
                    common[place, at] += min(weight, older.contexts[place][word])  # type: ignore[assignment]
        if common:
            best.update(sorted(common.items(), key=lambda item: (-item[1], item[0]))[:_BEST_PAIRS])
    ranked = sorted(best.items(), key=lambda item: (-item[1], abs(item[0][0] - item[0][1]), min(item[0])))
    return [pair for pair, _ in ranked[:_BEST_PAIRS]]


def clauses(sentence: Sentence) -> list[Clause]:
    """Return a sentence's clauses, and the sentence itself where it is short enough to be one."""
    found: list[Clause] = []
    begun = 0
    tokens = sentence.tokens
    for at, token in enumerate(tokens):
        if at - begun >= _SHORTEST_CLAUSE and (tokens[at - 1].ends or token.low in CLAUSE_WORDS):
            found.append(tokens[begun:at])
            begun = at
    found.append(tokens[begun:])
    if len(found) > 1 and len(tokens) <= _WHOLE:
        found.append(tokens)
    return found


def is_scene(clause: Clause) -> bool:
    """Tell whether a clause describes a moment instead of a lasting state: *a man is playing*, *two dogs run*."""
    if clause[0].low in INDEFINITE or clause[0].number:
        return True
    return any(
        token.low in TO_BE and any(after.low.endswith("ing") for after in clause[at + 1 : at + 3])
        for at, token in enumerate(clause)
    )
