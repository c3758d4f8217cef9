"""Score how much a text reads like orders smuggled in for a model, and quote the evidence."""

from __future__ import annotations

import base64
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from memento_tui.policy.prompt_injection_rules import INJECTION_RULES, InjectionRule

__all__ = ["SUSPICIOUS_SCORE", "fold_text", "suspicion_of"]

_LOOKALIKES = dict(
    zip(
        "аеорсухкмнтвіјѕԁɡһӏαοеνρτικχАВЕКМНОРСТУХІЈЅΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
        "aeopcyxkmhtbijsdghlaoevptikxabekmhopctyxijsabezhikmnoptyx",
        strict=True,
    )
)
"""Cyrillic and Greek letters that look like Latin ones; read as those in a word that has Latin letters too."""
_LETTERS = re.compile(r"[^\W\d_]++")
_LATIN_LETTER = re.compile(r"[a-z]")
_QUOTES = {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'}
_LIGATURE_LIMIT = 20
"""Characters that one character may unfold to; U+FDFA has 18."""


class FoldedText(msgspec.Struct, frozen=True):
    """The text to match, and for each of its characters the place in the original; ``None`` where they are the same."""

    text: str
    places: tuple[int, ...] | None
    length: int

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the start and end in the original of the characters from ``start`` to ``end``."""
        if self.places is None:
            return start, end
        last = self.places[end - 1] + 1 if end > start else self.places[start]
        return self.places[start], min(last, self.length)


def fold_text(text: str) -> FoldedText:
    """Return the text in lower case and NFKC, without accents and invisible characters, lookalikes as Latin letters."""
    if text.isascii():
        return FoldedText(text.lower(), None, len(text))
    pieces: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        piece = char.lower() if char.isascii() else _plain_letters(char)
        if piece:
            pieces.append(piece)
            places.extend([place] * len(piece))
    plain = _LETTERS.sub(_as_latin, "".join(pieces))
    return FoldedText(plain, tuple(places), len(text))


@lru_cache(maxsize=4096)
def _plain_letters(char: str) -> str:
    """Return the replacement of a character outside ASCII: itself, plain letters, or "" where it is invisible."""
    kept = []
    for part in unicodedata.normalize("NFKD", char):
        category = unicodedata.category(part)
        if category not in ("Cf", "Cc", "Mn", "Me", "Cn", "Co", "Cs") and part not in "\u3164\u115f\u1160\uffa0\u2800":
            kept.append(part)
    piece = unicodedata.normalize("NFC", "".join(kept)).lower()[:_LIGATURE_LIMIT]
    return _QUOTES.get(piece, piece)


def _as_latin(word: re.Match[str]) -> str:
    found = word[0]
    return (
        found
        if found.isascii() or _LATIN_LETTER.search(found) is None
        else "".join(_LOOKALIKES.get(char, char) for char in found)
    )


SUSPICIOUS_SCORE = 0.5
"""From this score on, a text waits for a person."""
MAX_QUOTE = 200
"""Characters of a quote."""
_MAX_QUOTED_WORD_CHARACTERS = 30
"""Characters by which a quote grows at most to end with a whole word."""


class InjectionSign(msgspec.Struct, frozen=True):
    """One piece of evidence: the rule, and the words in the text that it found."""

    rule: str
    quote: str
    start: int
    end: int


class Suspicion(msgspec.Struct, frozen=True):
    """The score, from 0 to 1, and the signs that it rests on, in the order of the text."""

    score: float
    signs: tuple[InjectionSign, ...] = ()


def suspicion_of(text: str) -> Suspicion:
    """Judge a text. The offsets of the signs refer to ``text`` as it is given."""
    return _score_text(text, deep=True)


_NO_SUSPICION = Suspicion(0.0)


def _score_text(text: str, *, deep: bool) -> Suspicion:
    found = [*_by_rules(text), *_hidden_text(text)]
    if deep:
        found += _encoded_text(text)
    if not found:
        return _NO_SUSPICION
    innocence = 1.0
    for _rule, weight, _start, _end in found:
        innocence *= 1 - weight
    signs = sorted(
        (_make_sign(text, rule, start, end) for rule, _weight, start, end in found), key=lambda sign: sign.start
    )
    return Suspicion(round(1 - innocence, 4), tuple(signs))


_Evidence = tuple[str, float, int, int]


def _by_rules(text: str) -> Iterator[_Evidence]:
    read = fold_text(text)
    for rule in _candidate_rules(read.text):
        match = rule.pattern.search(read.text)
        if match is not None:
            yield rule.name, rule.weight, *read.span(*match.span())


_RULES_BY_LITERAL: dict[str, tuple[InjectionRule, ...]] = {
    need: tuple(rule for rule in INJECTION_RULES if need in rule.needs)
    for rule in INJECTION_RULES
    for need in rule.needs
}
_RULES_BY_ASCII_LITERAL = {need: rules for need, rules in _RULES_BY_LITERAL.items() if need.isascii()}


def _candidate_rules(read: str) -> list[InjectionRule]:
    """Return the rules whose required words occur in the text."""
    needed = _RULES_BY_ASCII_LITERAL if read.isascii() else _RULES_BY_LITERAL
    found = {rule.name for need, rules in needed.items() if need in read for rule in rules}
    return [rule for rule in INJECTION_RULES if rule.name in found] if found else []


_DIRECTION_OVERRIDES = re.compile("[\u202a-\u202e]")
_DIRECTION_ISOLATES = re.compile("[\u2066-\u2069]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_TAG_CHARACTERS = re.compile("(?<!\U0001f3f4)[\U000e0001-\U000e007e]{2,}+")
_FLAG_EMOJI = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f")
_INVISIBLE_RUN = re.compile(
    "[\u200b-\u200f\u2060-\u2064\ufeff\u00ad\u180e\u3164]{3,}+|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3,}+"
)
_SPLIT_WORD = re.compile("[A-Za-z][\u200b-\u200d\u2060\ufeff\u00ad]{1,2}(?=[A-Za-z])")
_MIN_SPLIT_WORDS = 3
"""Words split by an invisible character; one may be left by copying from a web page."""


def _hidden_text(text: str) -> Iterator[_Evidence]:
    """Yield signs of hidden text: direction overrides, tag characters, invisible characters in runs or within words."""
    if text.isascii():
        return
    directions = _DIRECTION_OVERRIDES.search(text) or _DIRECTION_ISOLATES.search(text)
    if directions is not None and _RIGHT_TO_LEFT.search(text) is None:
        yield "turns_direction", 0.5, *directions.span()
    tags = _TAG_CHARACTERS.search(_FLAG_EMOJI.sub(lambda flag: " " * len(flag[0]), text))
    if tags is not None:
        yield "tag_characters", 0.8, *tags.span()
    run = _INVISIBLE_RUN.search(text)
    if run is not None:
        yield "invisible_run", 0.5, *run.span()
    split = list(_SPLIT_WORD.finditer(text))
    if len(split) >= _MIN_SPLIT_WORDS:
        yield "split_words", 0.5, split[0].start(), split[-1].end() + 1


_BASE64_BLOB = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{24,}+={0,2}", re.ASCII)
_HEX_DIGITS = re.compile(r"[0-9A-Fa-f]+", re.ASCII)
_MAX_BLOBS = 20
"""Blocks that are decoded in one text, and `_LONGEST` characters of each: an attack wants its orders found early."""
_MAX_BLOB_CHARACTERS = 4_096


def _encoded_text(text: str) -> Iterator[_Evidence]:
    """Yield the worst sign within the blocks of base64 or hexadecimal digits, if there is any."""
    worst: _Evidence | None = None
    for number, blob in enumerate(_BASE64_BLOB.finditer(text)):
        if number >= _MAX_BLOBS:
            break
        for inner in _decodings(blob[0][:_MAX_BLOB_CHARACTERS]):
            score = _score_text(inner, deep=False).score
            if score > (worst[1] if worst else 0.25):
                worst = ("encoded_orders", score, *blob.span())
    if worst is not None:
        yield worst


def _decodings(blob: str) -> Iterator[str]:
    """Yield the readable texts that a block may encode."""
    whole = blob.rstrip("=")
    plain = whole.translate({45: 43, 95: 47})
    readings = [base64.b64decode(plain[: len(plain) // 4 * 4])]
    if _HEX_DIGITS.fullmatch(whole):
        readings.append(bytes.fromhex(whole[: len(whole) // 2 * 2]))
    for raw in readings:
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            continue
        if sum(char.isprintable() or char.isspace() for char in text) == len(text):
            yield text


def _make_sign(text: str, rule: str, start: int, end: int) -> InjectionSign:
    """Return the evidence with a quote of whole words, cut at `MAX_QUOTE` characters."""
    left, right = start, end
    while left > 0 and start - left < _MAX_QUOTED_WORD_CHARACTERS and text[left - 1].isalnum():
        left -= 1
    while right < len(text) and right - end < _MAX_QUOTED_WORD_CHARACTERS and text[right].isalnum():
        right += 1
    quote = text[left:right]
    if len(quote) > MAX_QUOTE:
        cut = quote.rfind(" ", 0, MAX_QUOTE + 1)
        quote = quote[: cut if cut > 0 else MAX_QUOTE]
    return InjectionSign(rule, quote, left, right)
