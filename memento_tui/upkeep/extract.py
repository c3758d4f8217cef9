"""Drafts without a language model: whole sentences of the sources, each as it stands there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher

from memento_tui.records.memory import SOURCE_TYPES, STABILITIES, Memory
from memento_tui.search.text import STOP_WORDS, terms, unspaced_pairs
from memento_tui.upkeep.sentences import first_sentence, is_lead, sentences

__all__ = ["DRAFT_LENGTH", "MOST_SOURCES", "by_trust", "extract", "title_of"]

DRAFT_LENGTH = 1_200
"""Characters that a draft may have; one whole sentence may be longer where no shorter one is to be had."""

MOST_SOURCES = 200
"""Sources that are read; of more, those that are trusted most."""

_MOST_SENTENCES = 8_000
"""Sentences of all sources together that are compared; each source has an equal share of them."""

_FEWEST_READ = 20
_READ_LENGTH = 20_000
_SOURCES_WITH_A_SHARE = 8
_SHORTEST_SHARE = 160
_TITLE_LENGTH = 120
_FEWEST_TERMS = 5
_ALIKE, _ALIKE_IN_ORDER = 0.7, 0.85
_TRUST_WEIGHT = 0.5

_NUMBERS = re.compile(r"\d+")
_NEGATIONS = re.compile(
    r"\b(?:not?|never|without|cannot|nicht|kein\w{0,2}|nie|ohne|ne|pas|jamais|sans|nunca|sin|не|нет|без)\b"
    r"|n['\u2019]t\b|[不没沒無无未非]|ない|ません",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Sentence:
    """A sentence of a source: its text, its place in the draft's order, and what it is compared by."""

    text: str
    source: int
    place: int
    terms: tuple[str, ...]
    numbers: Counter[str]
    negations: int

    @property
    def cost(self) -> int:
        """Characters in a list: the mark before it and the line break behind it."""
        return len(self.text) + 3


def by_trust(sources: Sequence[Memory]) -> list[Memory]:
    """Return the sources, those first that were verified, then the more certain, the less foreign, the newer."""

    def key(memory: Memory) -> tuple[int, bool, int, int, datetime]:
        foreign = SOURCE_TYPES.index(memory.source_type)
        verified = memory.verified_at is not None
        return STABILITIES.index(memory.stability), verified, memory.certainty, -foreign, memory.updated_at

    return sorted(sources, key=key, reverse=True)


def extract(sources: Sequence[Memory], *, limit: int = DRAFT_LENGTH) -> list[str]:
    """Return whole sentences of the sources that together say most of what they have in common.

    A sentence's weight is the mean share of sources that use its terms (after SumBasic, Nenkova and Vanderwende 2005,
    with sources in the place of word counts), plus up to `_TRUST_WEIGHT` for the rank of its source in `by_trust`.
    First each source gives its best sentence, as far as they fit, then the best of the others follow. Sentences that
    say the same, numbers and negations included, come once. The order is that of `by_trust`, then that of the text.
    """
    ordered = by_trust(sources)[:MOST_SOURCES]
    most = _MOST_SENTENCES // max(len(ordered), _FEWEST_READ)
    found = [sentence for number, source in enumerate(ordered) for sentence in _read(number, source.content, most)]
    fitting = _ranked([sentence for sentence in found if sentence.cost <= limit], len(ordered))
    if not fitting:
        return [min((s.text for s in found) if found else (first_sentence(m.content) for m in ordered), key=len)]
    chosen = _choose(fitting, len(ordered), limit)
    return [sentence.text for sentence in sorted(chosen, key=lambda s: (s.source, s.place))]


def title_of(sources: Sequence[Memory], lines: Sequence[str]) -> str:
    """Return a title for a draft: the one of the sources' titles that shares most with the others, or one of ``lines``.

    ``lines`` are the draft's own, one at least. One that is too long for a title is cut where a word ends, and says so.
    """
    titles = [memory.title.strip() for memory in by_trust(sources)[:MOST_SOURCES] if memory.title.strip()]
    if titles:
        use = Counter(term for title in titles for term in set(_terms(title)))
        # `max` returns the first of several: the one that is trusted most.
        return max(titles, key=lambda title: _mean([use[term] for term in set(_terms(title))]))
    candidates = [" ".join(line.split()) for line in lines]
    line = next((line for line in candidates if len(line) <= _TITLE_LENGTH), candidates[0])
    if len(line) <= _TITLE_LENGTH:
        return line
    cut = line.rfind(" ", 0, _TITLE_LENGTH)
    return line[:cut].rstrip(",;:") + " ..." if cut > 0 else f"A draft of {len(sources)} memories"


def _read(number: int, content: str, most: int) -> Iterator[_Sentence]:
    spans = sentences(content[:_READ_LENGTH])
    if len(content) > _READ_LENGTH:
        spans = spans[:-1]  # it may go on beyond what was read
    kept = [(start, end) for start, end in spans if not is_lead(content[start:end])]
    for place, (start, end) in enumerate((kept or spans)[:most]):
        text = content[start:end]
        negations = len(_NEGATIONS.findall(text))
        yield _Sentence(text, number, place, tuple(_terms(text)), Counter(_NUMBERS.findall(text)), negations)


def _terms(text: str) -> list[str]:
    # A run without spaces is one term to the analyzer; its pairs stand for its words.
    words = [word for word in terms(text, "exact") if word not in STOP_WORDS and not unspaced_pairs(word)]
    return terms(" ".join(words)) + unspaced_pairs(text)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(len(values), _FEWEST_TERMS)


def _ranked(found: list[_Sentence], sources: int) -> list[_Sentence]:
    """Return the sentences, the weightiest first."""
    users: dict[str, set[int]] = {}
    for sentence in found:
        for term in sentence.terms:
            users.setdefault(term, set()).add(sentence.source)

    def weight(sentence: _Sentence) -> float:
        central = _mean([len(users[term]) / sources for term in set(sentence.terms)])
        return central + _TRUST_WEIGHT * (1 - sentence.source / sources)

    return sorted(found, key=weight, reverse=True)


def _choose(ranked: list[_Sentence], sources: int, limit: int) -> list[_Sentence]:
    share = max(limit // min(sources, _SOURCES_WITH_A_SHARE), _SHORTEST_SHARE)
    chosen: list[_Sentence] = []
    room = limit
    # One of each source within a fair share, one of each that has none yet, then whatever is left.
    for longest, once in ((share, True), (limit, True), (limit, False)):
        spoken = {sentence.source for sentence in chosen}
        for sentence in sorted(ranked, key=lambda s: s.source) if once else ranked:
            if sentence.cost > min(longest, room) or (once and sentence.source in spoken):
                continue
            if sentence in chosen or any(_repeats(sentence, other) for other in chosen):
                # What the source says is already there.
                spoken.add(sentence.source)
                continue
            chosen.append(sentence)
            spoken.add(sentence.source)
            room -= sentence.cost
    return chosen


def _repeats(sentence: _Sentence, other: _Sentence) -> bool:
    """Tell whether ``sentence`` says nothing that ``other`` does not say."""
    if sentence.text.casefold() == other.text.casefold():
        return True
    if sentence.negations != other.negations or not sentence.terms:
        return False
    if sentence.numbers <= other.numbers and _within(sentence.terms, other.terms):
        return True
    if sentence.numbers != other.numbers:
        return False
    mine, theirs = set(sentence.terms), set(other.terms)
    if len(mine & theirs) < _ALIKE * len(mine | theirs):
        return False
    return SequenceMatcher(None, sentence.terms, other.terms, autojunk=False).ratio() >= _ALIKE_IN_ORDER


def _within(few: Sequence[str], many: Sequence[str]) -> bool:
    """Tell whether the terms follow each other in ``many`` too, others between them allowed."""
    rest = iter(many)
    return all(term in rest for term in few)
