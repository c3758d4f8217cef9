"""How much a text reads like orders smuggled in for a model, by the stated rules of `injection_rules`.

The score combines the evidence as a noisy-or: 1 minus the product of (1 - weight) over the rules that found something
(Pearl, Probabilistic Reasoning in Intelligent Systems, 1988, 4.3.2). A rule counts once however often it matches. The
score says how a text reads and not what it is for: a memory that quotes an attack in order to describe it scores like
the attack, and a person decides.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

import msgspec

from memento_tui.review.injection_rules import RULES, Rule
from memento_tui.review.injection_text import folded

__all__ = ["SUSPICIOUS", "Sign", "Suspicion", "suspicion_of"]

SUSPICIOUS = 0.5
"""From this score on, a text waits for a person."""
MAX_QUOTE = 200
"""Characters of a quote."""
_WORD = 30
"""Characters by which a quote grows at most to end with a whole word."""


class Sign(msgspec.Struct, frozen=True):
    """One piece of evidence: the rule, and the words in the text that it found."""

    rule: str
    quote: str
    start: int
    end: int


class Suspicion(msgspec.Struct, frozen=True):
    """The score, from 0 to 1, and what it rests on, in the order of the text."""

    score: float
    signs: tuple[Sign, ...] = ()


def suspicion_of(text: str) -> Suspicion:
    """Judge a text. The offsets of the signs refer to ``text`` as it is given."""
    return _judged(text, deep=True)


_NONE = Suspicion(0.0)


def _judged(text: str, *, deep: bool) -> Suspicion:
    found = [*_by_rules(text), *_hidden(text)]
    if deep:
        found += _encoded(text)
    if not found:
        return _NONE
    innocence = 1.0
    for _rule, weight, _start, _end in found:
        innocence *= 1 - weight
    signs = sorted((_sign(text, rule, start, end) for rule, _weight, start, end in found), key=lambda sign: sign.start)
    return Suspicion(round(1 - innocence, 4), tuple(signs))


_Evidence = tuple[str, float, int, int]


def _by_rules(text: str) -> Iterator[_Evidence]:
    read = folded(text)
    for rule in _candidates(read.text):
        match = rule.pattern.search(read.text)
        if match is not None:
            yield rule.name, rule.weight, *read.span(*match.span())


_NEEDED: dict[str, tuple[Rule, ...]] = {
    need: tuple(rule for rule in RULES if need in rule.needs) for rule in RULES for need in rule.needs
}
_PLAIN_NEEDED = {need: rules for need, rules in _NEEDED.items() if need.isascii()}


def _candidates(read: str) -> list[Rule]:
    """Return the rules that have in the text what every match of theirs needs."""
    needed = _PLAIN_NEEDED if read.isascii() else _NEEDED
    found = {rule.name for need, rules in needed.items() if need in read for rule in rules}
    return [rule for rule in RULES if rule.name in found] if found else []


_OVERRIDES = re.compile("[\u202a-\u202e]")
_ISOLATES = re.compile("[\u2066-\u2069]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_TAGS = re.compile("(?<!\U0001f3f4)[\U000e0001-\U000e007e]{2,}+")
_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f")
_INVISIBLE_RUN = re.compile(
    "[\u200b-\u200f\u2060-\u2064\ufeff\u00ad\u180e\u3164]{3,}+|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3,}+"
)
_SPLIT_WORD = re.compile("[A-Za-z][\u200b-\u200d\u2060\ufeff\u00ad]{1,2}(?=[A-Za-z])")
_MANY = 3
"""Words split by an invisible character; one may be left by copying from a web page."""


def _hidden(text: str) -> Iterator[_Evidence]:
    """Yield what hides text from the person: direction overrides, tag characters, runs of invisible characters."""
    if text.isascii():
        return
    directions = _OVERRIDES.search(text) or _ISOLATES.search(text)
    if directions is not None and _RIGHT_TO_LEFT.search(text) is None:
        yield "turns_direction", 0.5, *directions.span()
    tags = _TAGS.search(_FLAG.sub(lambda flag: " " * len(flag[0]), text))
    if tags is not None:
        yield "tag_characters", 0.8, *tags.span()
    run = _INVISIBLE_RUN.search(text)
    if run is not None:
        yield "invisible_run", 0.5, *run.span()
    split = list(_SPLIT_WORD.finditer(text))
    if len(split) >= _MANY:
        yield "split_words", 0.5, split[0].start(), split[-1].end() + 1


_BLOB = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{24,}+={0,2}", re.ASCII)
_HEX = re.compile(r"[0-9A-Fa-f]+", re.ASCII)
_MOST = 20
"""Blocks that are decoded in one text, and `_LONGEST` characters of each: an attack wants its orders found early."""
_LONGEST = 4_096


def _encoded(text: str) -> Iterator[_Evidence]:
    """Yield the worst of what stands in blocks of base64 or hexadecimal digits, and in tag characters."""
    worst: _Evidence | None = None
    for number, blob in enumerate(_BLOB.finditer(text)):
        if number >= _MOST:
            break
        for inner in _decodings(blob[0][:_LONGEST]):
            score = _judged(inner, deep=False).score
            if score > (worst[1] if worst else 0.25):
                worst = ("encoded_orders", score, *blob.span())
    if worst is not None:
        yield worst


def _decodings(blob: str) -> Iterator[str]:
    """Yield the readable texts that a block may stand for."""
    whole = blob.rstrip("=")
    plain = whole.translate({45: 43, 95: 47})
    readings = [base64.b64decode(plain[: len(plain) // 4 * 4])]
    if _HEX.fullmatch(whole):
        readings.append(bytes.fromhex(whole[: len(whole) // 2 * 2]))
    for raw in readings:
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            continue
        if sum(char.isprintable() or char.isspace() for char in text) == len(text):
            yield text


def _sign(text: str, rule: str, start: int, end: int) -> Sign:
    """Return the evidence with a quote of whole words, cut at `MAX_QUOTE` characters."""
    left, right = start, end
    while left > 0 and start - left < _WORD and text[left - 1].isalnum():
        left -= 1
    while right < len(text) and right - end < _WORD and text[right].isalnum():
        right += 1
    quote = text[left:right]
    if len(quote) > MAX_QUOTE:
        cut = quote.rfind(" ", 0, MAX_QUOTE + 1)
        quote = quote[: cut if cut > 0 else MAX_QUOTE]
    return Sign(rule, quote, left, right)
