"""Tell whether a text, such as a prompt or a path, is about something on the skip list.

Imports nothing but the standard library and Tantivy: memento-hook runs it before every prompt.
"""

from __future__ import annotations

import re
from functools import cache

from memento_tui.named_tuple import NamedTuple
from memento_tui.text.keywords import FILLER_WORDS
from memento_tui.text.terms import (
    EDGE_PUNCTUATION,
    STOP_WORDS,
    character_bigrams,
    is_compound,
    terms,
)
from memento_tui.text.words import UNSPACED_CHARACTERS

__all__ = ["matched_words", "mentions_of", "skip_matches"]

_LEAST_SHARE = 0.6
"""The share of the weight of an item's words that a text must hold: two of three ordinary words.

This and the weights were chosen on one half of ``tests/benchmarks/data/skip_pairs.jsonl``.
"""
_NAME_WEIGHT, _COMMON_WEIGHT = 2.0, 0.4
"""The weight of a path, an identifier or ``#482``, and of a word that items of any subject have, beside 1."""
_ASIDE_WEIGHT = 0.6
"""The factor of the weight of a word in brackets, or before a colon, which says where a thing is from."""
_ALTERNATIVE_SHARE = 0.7
"""The share of the weight of a name such as ``MMAcevedo/Lena`` that one of its plain halves brings."""

_COMMON_WORDS = """
    app broken case directory feature flaky folder full generated issue job legacy module new old page pr project pull
    repo request service slow story support system task thing ticket
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
_COMMON_STEMS = frozenset(term for word in (*FILLER_WORDS, *_COMMON_WORDS) for term in terms(word))
"""Stems of words that say what sort of thing an item is, or in which state: alone they do not name it."""
_ACTIVITY_WORDS = """
    archive automate benchmark clean convert delete deploy draft install merge migrate optimize port publish redesign
    refactor release remove rename reorganize replace rewrite translate translation update upgrade
    """.split()  # noqa: SIM905 - as above
_ACTIVITIES = frozenset(term for word in _ACTIVITY_WORDS for term in terms(word))
"""Stems of what is done to a thing: an item that names one is about doing that, and not about the thing itself."""

_WORD = re.compile(r"[^\s,;()\[\]{}<>]+")
_ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|^[^\s:]+:(?=\s)")
_NUMBER = re.compile(r"#?\d+(?:[.:]\d+)*")
_CAPITALIZED = re.compile(r"[^\W\d_a-z]\w*")
_MARKS = EDGE_PUNCTUATION + "…"


class Mentions(NamedTuple):
    """The words of a text, in the forms in which those of a skip's item are looked for."""

    stems: frozenset[str]
    """Its plain words, stemmed."""
    unpluralized: frozenset[str]
    """The stems of those that do not end as a plural does."""
    names: frozenset[str]
    """Its words as they are written, in small letters."""
    paths: frozenset[str]
    """Its paths, with each of their folders and ends."""
    words: frozenset[str]
    """The plain words that all of these are made of."""


class _ItemWord(NamedTuple):
    text: str
    weight: float


def mentions_of(text: str) -> Mentions:
    """Return the words and names that a text mentions."""
    stems: set[str] = set()
    unpluralized: set[str] = set()
    names: set[str] = set()
    paths: set[str] = set()
    words: set[str] = set()
    for word in map(str.casefold, _words_of(text)):
        words.update(_comparable_parts(word))
        # The parts of a path are not words that somebody says: vendor/lib.js is not about a vendor, nor the reverse.
        if _is_path(word):
            paths.update(_parts_of_path(word))
        else:
            names.add(word)
            stems.update(terms(word))
            if not word.endswith("s"):
                unpluralized.update(terms(word))
    return Mentions(frozenset(stems), frozenset(unpluralized), frozenset(names), frozenset(paths), frozenset(words))


def skip_matches(text: Mentions, item: str, *, in_passing: bool = False) -> bool:
    """Tell whether a text is about the item of a skip.

    It is if it holds the greater part of the item's words, the telling ones above all, and says the activity that the
    item is about, if any; or if the item holds all that the text says. What is said ``in_passing``, such as
    "continue", has no subject of its own: it matches only an item that it holds in full.
    """
    wanted = mentions_of(item)
    said, asked = text.words - STOP_WORDS or text.words, wanted.words - STOP_WORDS or wanted.words
    if not said or not asked:
        return False
    if asked <= said or (not in_passing and said <= asked):
        return True
    return not in_passing and _holds_most(text, item)


def matched_words(text: Mentions, item: str, *, in_passing: bool = False) -> str:
    """Return the words of the item of a skip that a text holds; empty where the text is not about it.

    `skip_matches` says when it is. All of the item stands for what it holds by single characters alone.
    """
    if not skip_matches(text, item, in_passing=in_passing):
        return ""
    held = [word for word in _words_of(item) if _is_held(text, word)]
    return " ".join(held) or item


def _is_held(text: Mentions, word: str) -> bool:
    parts = _comparable_parts(word.casefold())
    return word.casefold() not in STOP_WORDS and (text.words.issuperset(parts) or _share_held(text, word) > 0)


def _holds_most(text: Mentions, item: str) -> bool:
    words = _weighted_words(item)
    activities = [word for word in words if not _ACTIVITIES.isdisjoint(terms(word.text))]
    subject = [word for word in words if word not in activities]
    if not subject:
        return False
    held = sum(word.weight * _share_held(text, word.text) for word in subject)
    has_activity = not activities or any(_share_held(text, word.text) for word in activities)
    return has_activity and held >= _LEAST_SHARE * sum(word.weight for word in subject)


def _weighted_words(item: str) -> list[_ItemWord]:
    """Return the words of an item without stop words, each once, with their weights."""
    asides = {word for aside in _ASIDE.findall(item) for word in _words_of(aside)}
    found: dict[str, _ItemWord] = {}
    for word in _words_of(item):
        plain = word.casefold()
        if plain in STOP_WORDS:
            continue
        is_common = _holds_all(_COMMON_STEMS, plain)
        weight = _NAME_WEIGHT if _is_name(word) else _COMMON_WEIGHT if is_common else 1.0
        found.setdefault(plain, _ItemWord(word, weight * (_ASIDE_WEIGHT if word in asides else 1.0)))
    return list(found.values())


def _share_held(text: Mentions, word: str) -> float:
    """Return which share of the weight of an item's word a text earns, 0 to 1."""
    plain = word.casefold()
    if character_bigrams(word):
        return float(text.words >= set(_comparable_parts(plain)))
    if _is_path(word):
        if plain.strip("/") in text.paths:
            return 1.0
        halves = [half for half in word.split("/") if _CAPITALIZED.fullmatch(half) and half.casefold() in text.names]
        return max((1.0 if is_compound(half) else _ALTERNATIVE_SHARE for half in halves), default=0.0)
    if _NUMBER.fullmatch(word):
        return float(not {plain.lstrip("#"), f"#{plain.lstrip('#')}"}.isdisjoint(text.names))
    # Stems alike do not make words alike: a vendored folder is not one of vendors.
    stems = text.unpluralized if plain.endswith("ed") else text.stems
    return float(plain in text.names or (not _is_name(word) and _holds_all(stems, word)))


def _holds_all(stems: frozenset[str], word: str) -> bool:
    own = terms(word)
    return bool(own) and stems.issuperset(own)


def _is_name(word: str) -> bool:
    return word.startswith("#") or _is_path(word) or (is_compound(word) and not _NUMBER.fullmatch(word))


def _is_path(word: str) -> bool:
    return "/" in word


def _words_of(text: str) -> list[str]:
    found = (word.strip(_MARKS + ":") for word in _WORD.findall(text.replace("’", "'")))  # noqa: RUF001 - a sign
    return [word.removesuffix("'s") for word in found if any(letter.isalnum() for letter in word)]


def _parts_of_path(path: str) -> set[str]:
    """Return the folders of a path, the path up to each of them, and each end of it."""
    parts = [part for part in path.split("/") if part]
    beginnings = {"/".join(parts[:end]) for end in range(1, len(parts))}
    return beginnings | {"/".join(parts[start:]) for start in range(len(parts))} | set(parts)


@cache
def _plain_parts() -> re.Pattern[str]:
    # Not compiled before its first use, as with `memento_tui.text.terms.character_bigrams`.
    return re.compile(rf"[^\W_{UNSPACED_CHARACTERS}]+")


def _comparable_parts(word: str) -> list[str]:
    """Return the words that a word is made of; in scripts without spaces, pairs of characters take their place."""
    return [*_pairs(word), *_plain_parts().findall(word)]


def _pairs(word: str) -> list[str]:
    """Return the pairs of characters in a script without spaces; one character beside others is mostly grammar."""
    pairs = character_bigrams(word)
    return [pair for pair in pairs if len(pair) > 1] or pairs
