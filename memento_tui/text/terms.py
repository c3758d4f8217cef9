"""Split text into index terms: analyzers, identifiers whole and in parts, and stop words.

Imports nothing but the standard library and Tantivy: memento-hook reads it before every prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import tantivy

from memento_tui.text.words import UNSPACED_CHARACTERS

__all__ = [
    "ANALYZERS",
    "EDGE_PUNCTUATION",
    "STOP_WORDS",
    "analyzer",
    "camel_case_parts",
    "character_bigrams",
    "compared_terms",
    "different_stems",
    "has_identifiers",
    "identifiers",
    "is_compound",
    "searchable",
    "single_terms",
    "spaced_pieces",
    "terms",
    "unspaced_characters",
]

STOP_WORDS = frozenset(
    """
    a about after again all also am an and any are as at be because been before being between both but by can could did
    do does doing done down during each few for from further get got had has have having he her here hers him his how i
    if in into is it its itself just let me more most my no nor not now of off on once only or other our out over own
    same she should so some such than that the their them then there these they this those through to too under until
    up us very was we were what when where which while who whom whose why will with would you your yours
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
"""English words that carry no subject. They are dropped from queries only, never from the index."""

_COMPOUND = re.compile(
    r"""
      # Both begin where a word begins: tried at every letter they would take quadratic time on a long one.
      (?<![^\W_]) /?+[^\W_]++ (?>(?: [-_./:@\#+]++ [^\W_]++ )+)  # /v2/users  Navier-Stokes  CVE-2024-1234  snake_case
    | (?<![^\W_]) [^\W_]* (?: [a-z][A-Z] | [A-Z]{2}[a-z] ) [^\W_]*  # relLangURL  HTTPServer
    """,
    re.VERBOSE,
)
# Each begins with a character that is rare in prose, which makes the search fast.
_JOINER_INSIDE_WORD = re.compile(r"[-_./:@#+](?=[^\W_])")
_CAMEL_BOUNDARY = re.compile(r"[A-Z](?:(?<=[a-z].)|(?=[A-Z][a-z]))")
_JOINERS = re.compile(r"[-_./:@#+]+")
_CAMEL_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
EDGE_PUNCTUATION = ".,;:!?\"'`()[]{}<>*_~|=…“”‘’«»‹›。、，"  # noqa: RUF001 - signs that stand around words
"""Marks that stand around a word and are no part of it."""

_MOST_IDENTIFIERS, _LONGEST_IDENTIFIER, _MOST_CAMEL_PARTS = 20_000, 200, 8

_LONGEST_TERM = 80
"""Bytes of UTF-8 from which on a word is no term."""


def _word_analyzer(*filters: tantivy.Filter) -> tantivy.TextAnalyzer:
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    for step in (
        tantivy.Filter.remove_long(_LONGEST_TERM),
        tantivy.Filter.lowercase(),
        tantivy.Filter.ascii_fold(),
        *filters,
    ):
        builder = builder.filter(step)
    return builder.build()


def _whitespace_analyzer() -> tantivy.TextAnalyzer:
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()


ANALYZERS = {
    "stemmed": lambda: _word_analyzer(tantivy.Filter.stemmer("english")),
    "exact": _word_analyzer,
    "whole": _whitespace_analyzer,
}
"""The analyzers by their names in the schema: stemmed words, unchanged words, and the terms of `identifiers`."""


@cache
def analyzer(name: str) -> tantivy.TextAnalyzer:
    """Return an analyzer of `ANALYZERS`, built on first use."""
    return ANALYZERS[name]()


def terms(text: str, name: str = "stemmed") -> list[str]:
    """Return the terms of a text, as the index holds them."""
    return analyzer(name).analyze(searchable(text))


def compared_terms(text: str) -> list[str]:
    """Return the terms by which texts are compared: long runs of a script without spaces are among them.

    The index holds their pairs of characters, and no such run. Two texts would be alike by a name in other letters.
    """
    found = terms(text)
    if not text.isascii():
        runs = _unspaced_script().findall(searchable(text))
        found += [run for run in runs if len(run.encode()) >= _LONGEST_TERM]
    return found


def different_stems(text: str) -> list[str]:
    """Return the different stems of a short text, sorted: a filter by its words compares these."""
    return sorted(set(terms(text)))


def is_compound(text: str) -> bool:
    """Tell whether a word is an identifier, path or joined name rather than one plain word."""
    return _COMPOUND.search(text) is not None


@cache
def _unspaced_script() -> re.Pattern[str]:
    # Not compiled before its first use: the large class takes as long as all other patterns here together.
    return re.compile(f"[{UNSPACED_CHARACTERS}]+")


@cache
def _unwritten_breaks() -> re.Pattern[str]:
    """Return the pattern of the characters without width that some put between the words of such a script."""
    return re.compile(f"(?<=[{UNSPACED_CHARACTERS}])[\u200b-\u200d\u2060]+(?=[{UNSPACED_CHARACTERS}])")


def searchable(text: str) -> str:
    """Return a text as it is split into terms: accents as one with their letters, and scripts without spaces apart.

    An accent that stands for itself, as in much that macOS wrote, would end its word; and the name in ``用Redis缓存``
    would be found by nobody who looks for Redis.
    """
    if text.isascii():
        return text
    import unicodedata  # noqa: PLC0415 - most texts that a hook reads are plain

    text = unicodedata.normalize("NFC", text)
    if "\u200b" in text or "\u200c" in text or "\u200d" in text or "\u2060" in text:
        text = _unwritten_breaks().sub("", text)
    return _unspaced_script().sub(r" \g<0> ", text)


def single_terms(text: str) -> list[str]:
    """Return the terms of a text; in a script that is written without spaces each character is one."""
    if not text.isascii():
        text = _unspaced_script().sub(lambda run: f" {' '.join(run[0])} ", searchable(text))
    return terms(text)


def spaced_pieces(text: str) -> list[str]:
    """Return the pieces of a text between the runs of scripts that are written without spaces."""
    return _unspaced_script().split(text)


def unspaced_characters(text: str) -> list[str]:
    """Return the different characters of a script that is written without spaces, in their order."""
    return [] if text.isascii() else list(dict.fromkeys("".join(_unspaced_script().findall(text))))


def character_bigrams(text: str) -> list[str]:
    """Return the pairs of neighbouring characters in the runs of a script that is written without spaces."""
    runs = [] if text.isascii() else _unspaced_script().findall(text)
    return [pair for run in runs for pair in ([run[i : i + 2] for i in range(len(run) - 1)] or [run])]


def camel_case_parts(text: str) -> list[str]:
    """Return the parts of the camelCase names in a word: rel and lang of ``relLang``; an empty list for plain words."""
    found = []
    for piece in _JOINERS.split(text):
        if not piece.islower() and not piece.isupper() and len(parts := _CAMEL_PARTS.findall(piece)) > 1:
            found += [part.lower() for part in parts]
    return found


def _adjacent_parts_joined(parts: list[str]) -> Iterator[str]:
    """Yield every run of adjacent parts, joined: of ``relLangURL`` rellang, langurl and rellangurl."""
    for start in range(min(len(parts), _MOST_CAMEL_PARTS)):
        for end in range(start + 2, min(len(parts), _MOST_CAMEL_PARTS) + 1):
            yield "".join(parts[start:end])


def has_identifiers(text: str) -> bool:
    """Tell whether `identifiers` may find any in a text, at a tenth of its cost; most prose holds none."""
    is_joined = _JOINER_INSIDE_WORD.search(text) is not None or _CAMEL_BOUNDARY.search(text) is not None
    return is_joined or bool(character_bigrams(text))


def identifiers(text: str) -> str:
    """Return the compound names in a text, separated by spaces: each whole, and the parts of each camelCase name.

    Runs in scripts without spaces become pairs of characters, so that a query for a part of one finds it.
    """
    found = dict.fromkeys(_identifier_parts(searchable(text)))
    if len(found) > _MOST_IDENTIFIERS:
        found = dict.fromkeys(list(found)[:_MOST_IDENTIFIERS])
    return " ".join(found)


def _identifier_parts(text: str) -> Iterator[str]:
    yield from character_bigrams(text)
    if _JOINER_INSIDE_WORD.search(text) is None and _CAMEL_BOUNDARY.search(text) is None:
        return
    # Most words are plain, and telling them apart here is ten times as fast as the pattern is.
    joined = " ".join([w for w in dict.fromkeys(text.split()) if not (w.isalnum() and (w.islower() or w.istitle()))])
    for name in _COMPOUND.findall(joined):
        if len(name) > _LONGEST_IDENTIFIER:
            continue
        yield name.lower().strip("/")
        for piece in _JOINERS.split(name):
            if found := camel_case_parts(piece):
                yield piece.lower()
                yield from found
                yield from _adjacent_parts_joined(found)
