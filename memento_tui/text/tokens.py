"""Split a text into sentences of weighted tokens, for the comparison of two texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

import msgspec

from memento_tui.text.lexicon import (
    COMMON_WORDS,
    FUNCTION_WORDS,
    IRREGULAR_FORMS,
    SYNONYMS,
    is_negator,
)
from memento_tui.text.markdown import Span
from memento_tui.text.quantities import NUMBER_WORDS, WEEKDAYS
from memento_tui.text.sentences import sentences
from memento_tui.text.terms import STOP_WORDS, terms

__all__ = ["Sentence", "Token", "read_sentences", "stem"]

_MOST_CHARACTERS = 60_000
"""Characters of a text that are read: thirty pages, a tenth of a second. The rest is not compared."""

_MOST_TOKENS = 60
"""The most tokens of a sentence; a longer one is cut into several."""

_MOST_SENTENCES, _MOST_WORDS = 1_000, 12_000
"""Limits on the sentences and words that are read of a text: those of sixty thousand characters of prose."""

_LONGEST_WORD = 80

_COMMON_WEIGHT, _WORD_WEIGHT, _NAME_WEIGHT = 0.25, 1.0, 1.5
"""The weights of a frequent word, an ordinary word and a name as evidence of a common subject."""

_TOKEN = re.compile(
    r"""
    (?>(?: [$€£¥] \s?+ | [~≤≥/@.#]{1,3}+ )?)
    [^\W_]++
    (?>(?: (?: [_./:@'\u2019+&]++ | , (?=\d{3}) | (?<=\d) [-\u2013] (?=[^\W_]) | - (?=\d) ) [^\W_]++ )*)
    (?>(?: % | \+\+ | \# )?)
    """,
    re.VERBOSE,
)
_CLAUSE_MARK = re.compile(r"[,;:()|\u2014\u2013]|\s-+\s|->|→")
_NUMBER = re.compile(r"[$€£¥~≤≥./ ]*+v?\d")
_ITEM_NUMBER = re.compile(r"\d{1,3}[.)]\s|\d{1,3}\.\d{1,2}\s(?=[A-Z][a-z])")
"""A number at the start of a line that counts nothing: ``1.3 Create``."""

_QUESTION = re.compile(r"[?\uff1f\u061f][\"'\u201d\u2019)\]*_`]*\Z")
_SEMICOLON = re.compile(r";(?=\s)")

_CONTRACTED_ENDING = re.compile(r"['\u2019](?:s|ve|re|ll|d|m)$")


class Token(msgspec.Struct, frozen=True, gc=False):
    """A word, name or number of a text, from ``start`` to ``end``."""

    low: str
    """The word in lower case, without a possessive or a contracted verb."""
    stem: str
    weight: float
    """Its weight as evidence of a common subject; 0 for words of grammar and for numbers."""
    start: int
    end: int
    denies: bool = False
    """Whether it negates: *not*, *never*, *doesn't*."""
    name: bool = False
    """Whether it is a proper name or an identifier."""
    number: bool = False
    ends: bool = False
    """Whether a clause ends behind it."""
    heads: bool = False
    """Whether a colon or the border of a table's cell stands behind it."""


class Sentence(msgspec.Struct, frozen=True, gc=False):
    """A sentence, or one item of a list."""

    tokens: tuple[Token, ...]
    weights: dict[str, float]
    """The weight of each stem that has one."""
    asks: bool
    """Whether it is a question."""

    @property
    def start(self) -> int:
        """The start of its first word, in characters of the text."""
        return self.tokens[0].start

    @property
    def end(self) -> int:
        """The end of its last word, in characters of the text."""
        return self.tokens[-1].end


class _WordFeatures(msgspec.Struct, frozen=True, gc=False):
    low: str
    stem: str
    weight: float
    denies: bool
    number: bool


def _synonym_stems() -> dict[str, str]:
    return {_plain_stem(word): _plain_stem(min(kin)) for kin in SYNONYMS for word in sorted(kin)}


def _plain_stem(word: str) -> str:
    word = IRREGULAR_FORMS.get(word, word)
    found = terms(word)
    return found[0] if len(found) == 1 else word


_UNWEIGHTED_WORDS = STOP_WORDS | FUNCTION_WORDS
_SYNONYM_STEMS = _synonym_stems()


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return the stem of a lower-case word; near-synonyms share one."""
    plain = _plain_stem(word)
    return _SYNONYM_STEMS.get(plain, plain)


@lru_cache(maxsize=50_000)
def _word_features(raw: str) -> _WordFeatures:
    low = raw.lower().replace("\u2019", "'")
    denies = is_negator(low)
    low = _CONTRACTED_ENDING.sub("", low)
    if low.endswith("n't"):
        low = {"can't": "can", "won't": "will"}.get(low, low[:-3])
    number = low in NUMBER_WORDS or _NUMBER.match(low) is not None
    if "." in low and all(len(part) == 1 and part.isalpha() for part in low.split(".")):
        low = low.replace(".", "")  # U.S. is US
    # A path or an identifier is compared unchanged.
    found = low if low.endswith(("+", "#")) or any(mark in low for mark in "/._@#") else stem(low)
    if number or denies or low in _UNWEIGHTED_WORDS or low in WEEKDAYS or low.rstrip("s") in WEEKDAYS:
        weight = 0.0
    elif len(low) < 2:  # noqa: PLR2004 - a letter
        weight = _COMMON_WEIGHT
    else:
        weight = _COMMON_WEIGHT if low in COMMON_WORDS or found in COMMON_WORDS else _WORD_WEIGHT
    return _WordFeatures(low, found, weight, denies, number)


def _is_name(raw: str, *, first: bool, code: bool) -> bool:
    if code or any(mark in raw for mark in "_/@#."):
        return True
    if not first:
        return raw[0].isupper() and raw != "I"
    body = raw[1:]
    return any(letter.isupper() or letter.isdigit() for letter in body)


def _token(raw: str, start: int, *, first: bool, code: bool) -> Token:
    word = _word_features(raw if len(raw) <= _LONGEST_WORD else raw[:_LONGEST_WORD])
    name = not word.number and (raw[0].isalpha() or "/" in raw or "#" in raw) and _is_name(raw, first=first, code=code)
    weight = word.weight
    if name and (weight or raw.isupper()) and not raw.startswith(("I'", "I\u2019")):
        weight = _NAME_WEIGHT if weight >= _WORD_WEIGHT else _WORD_WEIGHT
    end = start + len(raw)
    return Token(word.low, word.stem, weight, start, end, word.denies, name, word.number)


def _sentence(tokens: list[Token], *, asks: bool) -> Sentence:
    weights: dict[str, float] = {}
    for token in tokens:
        if token.weight > weights.get(token.stem, 0.0):
            weights[token.stem] = token.weight
    return Sentence(tuple(tokens), weights, asks)


def _tokens(text: str, start: int, end: int) -> Iterator[Token]:
    """Yield the tokens between two places in a text, with the ends of clauses marked."""
    last: Token | None = None
    for match in _TOKEN.finditer(text, start, end):
        if last is not None:
            gap = text[last.end : match.start()]
            if last.number and gap.startswith(".") and match[0][0].isupper():
                last = msgspec.structs.replace(last, number=False)  # "die 3. Maschine": an ordinal counts nothing
            yield _marked(last, gap)
        elif _ITEM_NUMBER.match(text, match.start(), match.start() + 6):
            continue
        code = match.start() > 0 and text[match.start() - 1] == "`"
        last = _token(match[0], match.start(), first=last is None, code=code)
    if last is not None:
        yield last


def _marked(token: Token, gap: str) -> Token:
    """Return a token with the marks that the characters behind it give it."""
    if gap == " " or not _CLAUSE_MARK.search(gap):
        return token
    return msgspec.structs.replace(token, ends=True, heads=":" in gap or "|" in gap)


def _statements(text: str) -> Iterator[Span]:
    """Yield start and end of every sentence, split at its semicolons: each side of one is a statement of its own."""
    for start, end in sentences(text):
        begin = start
        for mark in _SEMICOLON.finditer(text, start, end):
            yield begin, mark.end()
            begin = mark.end()
        yield begin, end


def _sentences(text: str) -> Iterator[Sentence]:
    words = 0
    for start, end in islice(_statements(text[:_MOST_CHARACTERS]), _MOST_SENTENCES):
        tokens = list(islice(_tokens(text, start, end), _MOST_WORDS - words))
        words += len(tokens)
        asks = _QUESTION.search(text, start, end) is not None
        for begin in range(0, len(tokens), _MOST_TOKENS):
            yield _sentence(tokens[begin : begin + _MOST_TOKENS], asks=asks)


def read_sentences(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of a text in order; time and size are bounded."""
    return tuple(_sentences(text))
