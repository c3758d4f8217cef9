"""Tell whether a text, such as a prompt or a path, is about something on the skip list.

Imports nothing but the standard library and Tantivy: memento-hook runs it before every prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

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

_CAPITALIZED_WEIGHT = 1.3
"""The weight of a word that is written with a capital inside an item: mostly the name of a product."""
_DETAIL_WEIGHT = 0.25
"""The weight of the number of a version that something is moved to; who asks for the move need not say it."""

_COMMON_WORDS = """
    app branch broken case code directory feature flaky folder full generated issue job legacy module new old page pr
    project pull repo request service slow state status story support system task thing ticket version
    """
_COMMON_STEMS = frozenset(terms(f"{' '.join(FILLER_WORDS)} {_COMMON_WORDS}"))
"""Stems of words that say what sort of thing an item is, or in which state: alone they do not name it."""
_HANDLING_WORDS = """
    avoid change don't edit editing ignore modify modifying never read reading skip stop touch touching
    """
_HANDLING_STEMS = frozenset(terms(_HANDLING_WORDS))
"""Stems of words that say only that a thing is to be left alone, or is dealt with: they tell no item from another."""
_ACTIVITY_GROUPS = """
    upgrade update bump move migrate switch convert port
    rewrite reimplement port convert
    refactor restructure reorganize clean tidy
    optimize speed
    delete remove drop
    deploy publish release ship
    translate translation localize
    archive
    automate
    benchmark
    draft
    install
    merge
    redesign
    rename
    replace
    """
_ACTIVITIES: dict[str, frozenset[str]] = {}
"""By the stem of what is done to a thing, the stems of what people call doing so.

An item that names one is about doing that, and not about the thing itself.
"""
for _group in _ACTIVITY_GROUPS.strip().splitlines():
    _alike = frozenset(terms(_group))
    for _stem in _alike:
        _ACTIVITIES[_stem] = _ACTIVITIES.get(_stem, frozenset()) | _alike
_FOLDER_WORDS = frozenset({"directory", "folder", "dir"})

_WORD = re.compile(r"[^\s,;()\[\]{}<>]+")
_ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|^[^\s:]+:(?=\s)")
_MOVED_FROM = re.compile(r"\bfrom\s+(\S+)\s+to\b", re.IGNORECASE)
_FOLDER = re.compile(r"\b([^\W\d_][\w.-]*)\s+(?:directory|folder|dir)\b(?!\s+(?:of|for))", re.IGNORECASE)
_NUMBER = re.compile(r"#?\d+(?:[.:]\d+)*")
_VERSION = re.compile(r"v(\d+(?:\.\d+)*)")
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
    activities: frozenset[str]
    """The stems of what people call doing it; empty where it is nothing that is done."""
    is_folder: bool


def mentions_of(text: str) -> Mentions:
    """Return the words and names that a text mentions."""
    stems: set[str] = set()
    unpluralized: set[str] = set()
    names: set[str] = set()
    paths: set[str] = set()
    words: set[str] = set()
    for word in map(str.casefold, _words_of(text)):
        words.update(_comparable_parts(word))
        if version := _VERSION.fullmatch(word):
            names.add(version[1])
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
    item is about, if any; or if all that the text says is one word of the item. What is said ``in_passing``, such as
    "continue", has no subject of its own: it matches only an item that it holds in full.
    """
    wanted = mentions_of(item)
    said, asked = text.words - STOP_WORDS or text.words, wanted.words - STOP_WORDS or wanted.words
    if not said or not asked:
        return False
    if asked <= said or (not in_passing and len(said) == 1 and said <= asked):
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
    if word.casefold() in STOP_WORDS:
        return False
    alike = _activities_of(word)
    is_said = text.words.issuperset(_comparable_parts(word.casefold())) or not text.stems.isdisjoint(alike)
    return is_said or _share_held(text, _ItemWord(word, 1.0, alike, is_folder=False)) > 0


def _holds_most(text: Mentions, item: str) -> bool:
    words = _weighted_words(item)
    activities = [word for word in words if word.activities]
    subject = [word for word in words if not word.activities]
    numbers = [word for word in subject if _NUMBER.fullmatch(word.text)]
    if not subject or (numbers and _has_other_number(text, numbers)):
        return False
    is_detailed = activities and any(word.weight >= 1 and word not in numbers for word in subject)
    weights = [min(word.weight, _DETAIL_WEIGHT) if is_detailed and word in numbers else word.weight for word in subject]
    held = sum(weight * _share_held(text, word) for word, weight in zip(subject, weights, strict=True))
    has_activity = not activities or any(not text.stems.isdisjoint(word.activities) for word in activities)
    return has_activity and held >= _LEAST_SHARE * sum(weights)


def _has_other_number(text: Mentions, numbers: Iterable[_ItemWord]) -> bool:
    """Tell whether a text holds numbers, but none of an item's: version 3 is another than version 2."""
    said = {name.lstrip("#") for name in text.names if _NUMBER.fullmatch(name)}
    own = {word.text.lstrip("#") for word in numbers}
    return bool(said) and not any(f"{one}.".startswith(f"{other}.") for one in said for other in own)


def _weighted_words(item: str) -> list[_ItemWord]:
    """Return the words of an item without stop words and those of handling it, each once, with their weights."""
    asides = {word for aside in (*_ASIDE.findall(item), *_MOVED_FROM.findall(item)) for word in _words_of(aside)}
    folders = set(_FOLDER.findall(item))
    found: dict[str, _ItemWord] = {}
    for place, word in enumerate(_words_of(item)):
        plain = word.casefold()
        if plain in STOP_WORDS or (word not in folders and _holds_all(_HANDLING_STEMS, plain)):
            continue
        weight = _weight_of(word, is_first=not place) * (_ASIDE_WEIGHT if word in asides else 1.0)
        activities = frozenset[str]() if word in folders else _activities_of(word)
        found.setdefault(plain, _ItemWord(word, weight, activities, is_folder=word in folders))
    return list(found.values())


def _weight_of(word: str, *, is_first: bool) -> float:
    if _is_name(word):
        return _NAME_WEIGHT
    if _holds_all(_COMMON_STEMS, word):
        return _COMMON_WEIGHT
    return _CAPITALIZED_WEIGHT if not is_first and _CAPITALIZED.fullmatch(word) else 1.0


def _activities_of(word: str) -> frozenset[str]:
    return frozenset(alike for stem in _stems(word) for alike in _ACTIVITIES.get(stem, ()))


def _share_held(text: Mentions, item_word: _ItemWord) -> float:
    """Return which share of the weight of an item's word a text earns, 0 to 1."""
    word, plain = item_word.text, item_word.text.casefold()
    if item_word.is_folder and not _is_path(word):
        return float(plain in text.paths or (plain in text.names and not text.names.isdisjoint(_FOLDER_WORDS)))
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
    own = _stems(word)
    return bool(own) and stems.issuperset(own)


@lru_cache(maxsize=1_000)
def _stems(word: str) -> tuple[str, ...]:
    return tuple(terms(word))


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
