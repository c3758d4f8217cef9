"""Differences in polarity: *use rebase* against *never use rebase*, *enabled* against *disabled*."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cache

from memento_tui.maintenance.contradictions.alignment import (
    Clause,
    Difference,
    SentencePair,
    Span,
    describes_a_moment,
    token_spans,
)
from memento_tui.text.lexicon import ANTONYMS, CHANGE_CUES, NEGATIVE_VERBS, NEGATIVE_VERBS_BEFORE_TO, TO_BE
from memento_tui.text.quantities import WEEKDAYS
from memento_tui.text.tokens import Token, stem

__all__ = ["NEGATION_FEATURES", "negated_claims"]

NEGATION_FEATURES = (
    "denied",  # share of the denied claim's words that the other claim holds too
    "held",  # the same share of the other claim
    "denied apart",  # weight of the words that only the denied claim holds, 1 from 3 up
    "held apart",  # the same of the other claim
    "scope",  # whether the words right behind the denial are in the other claim
    "universal",  # whether the denial is universal: no, nobody, never
    "opposite",  # whether the denial is a pair of opposites instead of a negation
    "only opposite",  # whether, besides these, the claims say the same of one and the same thing
    "names apart",  # names that only one of the claims holds
    "shared",  # weight of the common words, 1 from 4 up
    "similarity",  # cosine of the two texts
)

_LEAST_WORD_WEIGHT = 0.5
"""The least weight of a word here: in a short claim a frequent verb is half of the statement."""

_MOST_APART, _SHARED_WEIGHT_SCALE = 3.0, 4.0
_EXACT_SHARE_POWER = 4
"""The exponent that lowers a high share wherever anything else differs too."""

_SCOPE = 3
_QUOTED_BEFORE, _QUOTED = 3, 8
_LEAST_SHARED = 1.5
"""Weight that two claims must share before one can deny the other."""

_UNIVERSAL = frozenset({"no", "nobody", "none", "nothing", "never", "nowhere", "neither"})
_WORDS_THAT_CANCEL_NEGATION = frozenset({"longer", "only", "just", "necessarily", "more", "than", "matter", "problem"})
"""Words after which a *no* or *not* before them is no denial."""


@cache
def _opposites() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for one, other in ANTONYMS:
        for here, there in ((one, other), (other, one)):
            found.setdefault(here, set()).add(there)
            found.setdefault(stem(here), set()).add(stem(there))
    return {word: frozenset(words - {word}) for word, words in found.items()}


def negated_claims(pair: SentencePair) -> Iterator[Difference]:
    """Yield a difference for every two clauses that say the same with an odd number of denials between them."""
    if pair.first.sentence.asks or pair.second.sentence.asks:
        return
    denied = [_governed(sentence.tokens) for sentence in (pair.first.sentence, pair.second.sentence)]
    theirs = [(clause, _denials(clause, denied[0], pair.first.reading.stems)) for clause in pair.second.clauses()]
    for clause in pair.first.clauses():
        denials = _denials(clause, denied[1], pair.second.reading.stems)
        for other, others in theirs:
            difference = _compare_clauses(pair, clause, denials, other, others)
            if difference is not None:
                yield difference


def _denies(clause: Clause, at: int) -> bool:
    """Tell whether a word is a denial, and no part of a figure of speech."""
    token = clause[at]
    after = clause[at + 1].low if at + 1 < len(clause) else ""
    if token.low in NEGATIVE_VERBS_BEFORE_TO:
        return after == "to"
    if token.low == "no" and at + 1 < len(clause) and clause[at + 1].number:
        return False  # No. 3
    return (token.denies or token.low in NEGATIVE_VERBS) and after not in _WORDS_THAT_CANCEL_NEGATION


def _scope(clause: Clause, at: int) -> frozenset[str]:
    """Return the stems of the first words that a denial governs."""
    return frozenset([token.stem for token in clause[at + 1 :] if _weight(token)][:_SCOPE])


def _governed(tokens: Clause) -> frozenset[str]:
    """Return the stems of the words that a sentence denies: those behind each of its denials."""
    places = [at for at in range(len(tokens)) if _denies(tokens, at)]
    return frozenset().union(*(_scope(tokens, at) for at in places))


def _denials(clause: Clause, denied_elsewhere: frozenset[str], known_elsewhere: frozenset[str]) -> list[int]:
    """Return the indexes of the denials whose scope the other sentence does not deny anywhere.

    *Absolute imports, no relative ones* only adds to a text that never speaks of relative ones.
    """
    return [
        at
        for at in range(len(clause))
        if _denies(clause, at)
        and not _scope(clause, at) & denied_elsewhere
        and not _excludes_what_is_unknown(clause, at, known_elsewhere)
    ]


def _excludes_what_is_unknown(clause: Clause, at: int, known: frozenset[str]) -> bool:
    """Tell whether a *no* stands before a thing of which the other text does not speak, and no sentence is made of it.

    *There is no young man* denies what the other says of a man.
    """
    if clause[at].low != "no" or any(token.low in TO_BE for token in clause):
        return False
    named = next((token.stem for token in clause[at + 1 :] if _weight(token)), "")
    return bool(named) and named not in known


def _weights(clause: Clause, denials: Sequence[int]) -> dict[str, float]:
    skipped = set(denials)
    return {
        token.stem: max(_weight(token), _LEAST_WORD_WEIGHT)
        for at, token in enumerate(clause)
        if _weight(token) and at not in skipped
    }


def _weight(token: Token) -> float:
    """Return the weight of a word here, where a day of the week is part of the claim: *never deploy on Fridays*."""
    return 1.0 if token.stem in WEEKDAYS else token.weight


def _opposed_words(one: Clause, other: Clause) -> list[tuple[Token, Token]]:
    """Return the pairs of opposites, one word in each clause, that are not in both."""
    table = _opposites()
    ours, theirs = {token.low for token in one}, {token.low for token in other}
    found = []
    for at, token in enumerate(one):
        if token.denies or token.low in NEGATIVE_VERBS or _is_denied(one, at):
            continue  # It counts as a denial already.
        against = table.get(token.low) or (table.get(token.stem) if token.weight else None)
        if against and token.low not in theirs:
            for place, word in enumerate(other):
                if word.denies or word.low in NEGATIVE_VERBS or word.low in ours or _is_denied(other, place):
                    continue
                if word.low in against or (word.weight and word.stem in against):
                    found.append((token, word))
                    break
    return found


def _is_denied(clause: Clause, at: int) -> bool:
    """Tell whether the next word denies this one: *must not* is the denial of *may*, and no opposite of it as well."""
    return at + 1 < len(clause) and clause[at + 1].denies


def _compare_clauses(
    pair: SentencePair, one: Clause, denials: list[int], other: Clause, others: list[int]
) -> Difference | None:
    opposites = _opposed_words(one, other)
    denied = len(denials) != len(others) and (not denials or not others or (len(denials) + len(others)) % 2 == 1)
    if denied == bool(len(opposites) % 2):
        return None
    weights = (_weights(one, denials), _weights(other, others))
    for token, word in opposites:
        weights[0].pop(token.stem, None)
        weights[1].pop(word.stem, None)
    swapped = len(others) > len(denials) if denied else sum(weights[1].values()) > sum(weights[0].values())
    first, second = (weights[1], weights[0]) if swapped else weights
    shared = first.keys() & second.keys()
    common = sum(first[word] for word in shared)
    if common < _LEAST_SHARED:
        return None
    mine, theirs = (other, one) if swapped else (one, other)
    features = _features(pair, first, second, common, mine, theirs, (others if swapped else denials), denied=denied)
    if denied:
        spans = [
            token_spans(_denied(here, places)) or _last_shared(here, weights[at].keys() & weights[1 - at].keys())
            for at, (here, places) in enumerate(((one, denials), (other, others)))
        ]
        quoted = (_quoted(one, denials), _quoted(other, others))
    else:
        spans = [token_spans(side) for side in zip(*opposites, strict=True)]
        quoted = (_quoted(one, [one.index(opposites[0][0])]), _quoted(other, [other.index(opposites[0][1])]))
    change = any(token.low in CHANGE_CUES or token.low == "now" for token in (*one, *other))
    return Difference("denial", features, spans[0], spans[1], quoted, change=change)


def _features(
    pair: SentencePair,
    first: dict[str, float],
    second: dict[str, float],
    common: float,
    denied_clause: Clause,
    held: Clause,
    denials: Sequence[int],
    *,
    denied: bool,
) -> tuple[float, ...]:
    mine, theirs = sum(first.values()), sum(second.values())
    names = {token.stem for token in (*denied_clause, *held) if token.name} & (first.keys() ^ second.keys())
    scope = [word for at in denials for word in _scope(denied_clause, at) if word in first]
    return (
        common / mine,
        min(common / theirs, 1.0),
        min(max(mine - common, 0.0) / _MOST_APART, 1.0),
        min(max(theirs - common, 0.0) / _MOST_APART, 1.0),
        sum(word in second for word in scope) / len(scope) if scope else 0.5,
        float(any(denied_clause[at].low in _UNIVERSAL for at in denials)),
        float(not denied),
        float(not denied and not (describes_a_moment(denied_clause) or describes_a_moment(held)))
        * min(common / mine, common / theirs, 1.0) ** _EXACT_SHARE_POWER,
        min(len(names) / 2, 1.0),
        min(common / _SHARED_WEIGHT_SCALE, 1.0),
        pair.similarity,
    )


def _denied(clause: Clause, denials: Sequence[int]) -> list[Token]:
    """Return each denial with the first word of weight that it governs."""
    found: list[Token] = []
    for at in denials:
        found.append(clause[at])
        found += [token for token in clause[at + 1 :] if token.weight][:1]
    return list(dict.fromkeys(found))


def _last_shared(clause: Clause, shared: AbstractSet[str]) -> tuple[Span, ...]:
    """Return the spans of the words of a claim that the other side denies: the last ones that both hold."""
    return token_spans([token for token in clause if token.stem in shared][-2:] or clause[-1:])


def _quoted(clause: Clause, places: Sequence[int]) -> Span:
    begin = max(places[0] - _QUOTED_BEFORE, 0) if places else 0
    part = clause[begin : begin + _QUOTED]
    return part[0].start, part[-1].end
