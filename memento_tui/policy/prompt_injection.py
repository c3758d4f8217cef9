"""Score how much a text reads like orders smuggled in for a model, and quote the evidence.

A text is judged as it is written and in other readings: without escapes and markup, with spaced letters joined and
digits read as letters, turned back from rot13 and from right to left, and decoded, up to three deep. A rule that finds
something in any of them counts, and the quote is the passage as it was written. Signs add up only where they stand near
each other: a long text is no more suspicious than its worst passage.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain, islice
from typing import NamedTuple

from memento_tui.policy.prompt_injection_languages import language_rules
from memento_tui.policy.prompt_injection_needs import stored_needs
from memento_tui.policy.prompt_injection_rules import INJECTION_RULES, InjectionRule
from memento_tui.policy.suspicion import SUSPICIOUS_SCORE, InjectionSign, Suspicion
from memento_tui.policy.text_views import (
    MIN_ENCODED_DIGITS,
    TextView,
    count_digits,
    encoded_blocks,
    fold,
    kinds_table,
    may_begin_block,
    unescape,
)
from memento_tui.text.literals import Literals, PatternFilter, find_matches
from memento_tui.text.lookalikes import LATIN_LOOKALIKES

__all__ = ["fold_text", "judge_join", "judge_text"]

MAX_QUOTE = 200
"""Characters of a quote."""
_MAX_QUOTED_WORD_CHARACTERS = 30
"""Characters by which a quote grows at most to end with a whole word."""
_NEARBY_CHARACTERS = 2_000
"""Characters within which signs add up: the longest order in the collections of attacks is shorter."""
_MAX_MATCHES = 200
"""Matches of one rule that are read in one text."""
_MAX_DEPTH = 3
"""Layers of encoding, one within the other, that are decoded."""
_DISGUISE_WEIGHT = 0.3
"""The score, from 0 to 1, that an order gains which was found only by undoing a disguise that no honest text has."""


_Evidence = tuple[str, float, int, int]
_NO_SUSPICION = Suspicion(0.0)


def judge_text(text: str) -> Suspicion:
    """Judge a text. The offsets of the signs refer to ``text`` as it is given."""
    found = list(_evidence(text, _MAX_DEPTH))
    if not found:
        return _NO_SUSPICION
    score, worst = _worst_passage(found)
    signs: dict[str, _Evidence] = {}
    for evidence in [*worst, *found]:
        signs.setdefault(evidence[0], evidence)
    ordered = sorted(signs.values(), key=lambda evidence: evidence[2])
    return Suspicion(score, tuple(_make_sign(text, rule, start, end) for rule, _weight, start, end in ordered))


def judge_join(first: str, second: str) -> Suspicion:
    """Judge two texts read as one, with a space between. Texts that are asked about again are read once.

    Where no rule can match across the two, the join is not read: whoever writes often is compared with every text of
    a while.
    """
    return judge_text(f"{first} {second}") if _may_be_suspicious(first, second) else _NO_SUSPICION


class _Half(NamedTuple):
    """The findings of one text alone, before it is read after or before another."""

    folded: str
    held: frozenset[str]
    """The literals that it holds, of those that the rules need."""
    is_disguised: bool
    has_run: bool
    """Whether it holds characters with which an encoded block may begin."""
    digits: int
    begins_single: bool
    """Whether it begins with one letter by itself, and ``ends_single`` whether it ends with one."""
    ends_single: bool


@lru_cache(maxsize=256)
def _read_half(text: str) -> _Half:
    folded = fold_text(text).text
    is_disguised = bool(_disguised_spans(folded)) or any(True for _ in _hidden_text(text))
    return _Half(
        folded,
        _rules().sought.held_in(folded),
        is_disguised,
        may_begin_block(text),
        count_digits(text),
        _BEGINS_SINGLE.match(folded) is not None,
        _ENDS_SINGLE.search(folded[-_SEAM_CHARACTERS:]) is not None,
    )


_SEAM_CHARACTERS = 100
_BEGINS_SINGLE = re.compile(r"(?:[^a-z0-9\n]|\n(?!\n)){0,4}[a-z0-9@$](?![a-z0-9])")
_ENDS_SINGLE = re.compile(r"(?<![a-z0-9])[a-z0-9@$](?:[^a-z0-9\n]|\n(?!\n)){0,4}\Z")


def _may_be_suspicious(first: str, second: str) -> bool:
    """Tell whether two texts joined may be suspicious where neither is alone.

    What each holds is known. Across the space between them may stand literals, letters that are spaced out, a tag, a
    long gap, encoded numbers, and matches of rules.
    """
    one, other = _read_half(first), _read_half(second)
    if one.is_disguised or other.is_disguised or _is_disguised_across(one, other):
        return True
    known = _rules()
    held = one.held | other.held | known.sought.held_across(one.folded, other.folded)
    if not held.isdisjoint(_OTHER_READINGS) or known.finds_any(f"{one.folded} {other.folded}", held):
        return True
    may_be_encoded = one.has_run or other.has_run or one.digits + other.digits >= MIN_ENCODED_DIGITS
    return may_be_encoded and any(True for _ in encoded_blocks(f"{first} {second}"))


def _is_disguised_across(one: _Half, other: _Half) -> bool:
    ends = (one.folded[-1:], other.folded[:1])
    spaced = one.ends_single and other.begins_single
    if not (spaced or "<" in one.folded or any(end.isspace() for end in ends)):
        return False
    return bool(_disguised_spans(f"{one.folded[-_SEAM_CHARACTERS:]} {other.folded[:_SEAM_CHARACTERS]}"))


def _worst_passage(found: list[_Evidence]) -> tuple[float, list[_Evidence]]:
    """Return the highest score of a passage, and its signs: each rule counts once there."""
    found.sort(key=lambda evidence: (evidence[2], evidence[3]))
    best, worst = 0.0, found[:1]
    first = 0
    for last, evidence in enumerate(found):
        while evidence[2] - found[first][2] > _NEARBY_CHARACTERS:
            first += 1
        # Where matches crowd, only the nearest are read: the time stays in proportion to their number.
        passage = found[max(first, last - _MAX_MATCHES) : last + 1]
        weights: dict[str, float] = {}
        for rule, weight, _start, _end in passage:
            weights[rule] = max(weight, weights.get(rule, 0.0))
        innocence = 1.0
        for weight in weights.values():
            innocence *= 1 - weight
        if round(1 - innocence, 4) > best:
            best, worst = round(1 - innocence, 4), passage
    return best, worst


def fold_text(text: str) -> TextView:
    """Return the text in lower case and NFKC, without accents and invisible characters, lookalikes as Latin letters."""
    view = fold(TextView(text, len(text)))
    if view.text.isascii():
        return view
    return TextView(_LETTERS.sub(_as_latin, view.text), view.length, view.starts, view.places, view.steps)


_LETTERS = re.compile(r"(?<![^\W\d_])[a-z]*+[^\W\d_\x00-\x7f][^\W\d_]*+")
"""A word with a letter outside ASCII."""
_LATIN_LETTER = re.compile(r"[a-z]")


def _as_latin(word: re.Match[str]) -> str:
    found = word[0]
    if found.isascii() or _LATIN_LETTER.search(found) is None:
        return found
    return "".join(LATIN_LOOKALIKES.get(char, char) for char in found)


def _all_latin(word: re.Match[str]) -> str:
    """Return a word in Latin letters if each of its letters looks like one; otherwise as it is."""
    found = word[0]
    latin = "" if found.isascii() else "".join(LATIN_LOOKALIKES.get(char, char) for char in found)
    return latin if latin.isascii() and latin else found


def _evidence(text: str, depth: int) -> Iterator[_Evidence]:
    """Yield the signs of prompt injection in a text: as it stands, decoded, backwards and in rot13."""
    plain = fold_text(text)
    seen: set[str] = set()
    for evidence in _by_rules(plain):
        seen.add(evidence[0])
        yield evidence
    yield from _hidden_text(text)
    changed = _disguised_spans(plain.text)
    if changed:
        opened = _opened(plain.excerpt(changed, _AROUND_DISGUISE))
        yield from _by_rules(opened)
        for evidence in _by_rules(_undisguised(opened)):
            if evidence[0] not in seen:
                yield evidence
                yield "disguised_orders", _DISGUISE_WEIGHT, *evidence[2:]
    held = _rules().sought.held_in(plain.text)
    if not held.isdisjoint(_ROT13_SIGNS):
        turned = TextView(plain.text.translate(_ROT13), plain.length, plain.starts, plain.places, plain.steps)
        for evidence in _by_rules(turned):
            yield evidence
            yield "disguised_orders", _DISGUISE_WEIGHT, *evidence[2:]
    if not held.isdisjoint(_BACKWARD_SIGNS):
        yield from _backwards(plain)
    if depth:
        yield from _encoded_text(text, depth)


def _by_rules(view: TextView) -> Iterator[_Evidence]:
    for rule, match in _rules().matches(view.text):
        if match.end() > match.start():
            yield rule.name, rule.weight, *view.span(*match.span())


class _Rules:
    """The rules in all languages, with a filter of those that may match a text."""

    def __init__(self) -> None:
        self.sought = Literals()
        """The literals that the rules need, and the signs of a text written backwards or in rot13."""
        self.sought.add(*_ROT13_SIGNS, *_BACKWARD_SIGNS)
        rules = [*INJECTION_RULES, *(rule for rule, _parts in language_rules())]
        needs = stored_needs()
        self._rules = [(rule, need.starts) for rule, need in zip(rules, needs, strict=True)]
        self._filter = PatternFilter([need.ways for need in needs], self.sought)
        self._starting = Literals()
        """The literals that matches of rules begin with; searched only in texts in which some rule may match."""
        self._starting.add(*chain.from_iterable(starts for _rule, starts in self._rules))

    def candidates(self, held: frozenset[str]) -> list[InjectionRule]:
        """Return the rules that may find something in a text that holds these literals."""
        return [self._rules[number][0] for number in self._filter.candidates(held)]

    def matches(self, text: str) -> Iterator[tuple[InjectionRule, re.Match[str]]]:
        """Yield the rules' matches in a folded text, a limited number for each rule."""
        return self._matches(text, self.sought.held_in(text))

    def finds_any(self, text: str, held: frozenset[str]) -> bool:
        """Tell whether some rule finds something in a folded text that holds these literals."""
        return any(True for _ in self._matches(text, held))

    def _matches(self, text: str, held: frozenset[str]) -> Iterator[tuple[InjectionRule, re.Match[str]]]:
        tried = [self._rules[number] for number in self._filter.candidates(held)]
        places = self._starting.places_in(text) if tried else {}
        for rule, starts in tried:
            for match in islice(find_matches(rule.pattern, starts, text, places), _MAX_MATCHES):
                yield rule, match


@cache
def _rules() -> _Rules:
    """Return the rules, made at the first use."""
    return _Rules()


# Readings

_MARKUP = re.compile(
    r"<!--.{0,400}?-->|(?<=[a-z])</?[a-z][^<>\n]{0,60}>(?=[a-z])|(?<=[a-z])</?(?:b|i|u|em|s|span|strong)>(?= )",
    re.DOTALL,
)
_MIN_GAP = 13
_MIN_RULE = 25
"""Characters of a line that is drawn with signs, as it parts texts."""
_RULE_KINDS = kinds_table(("-", "_-.*~="))
_LONG_GAP = re.compile(rf"\s{{{_MIN_GAP},}}|[_\-.*~=]{{{_MIN_RULE},}}")
_ESCAPES = re.compile(r"&(?:#|[A-Za-z]{2,8};)|%[0-9A-Fa-f]{2}|\\[uUx][0-9a-fA-F{]")


_AROUND_DISGUISE = 400
"""Characters around a disguise that are read with it."""


def _disguised_spans(read: str) -> list[tuple[int, int]]:
    """Return where a folded text may be written otherwise than it is meant."""
    kinds = read.encode("ascii", "replace")
    letters, leet = kinds.translate(_LETTER_KINDS), kinds.translate(_LEET_KINDS)
    patterns = []
    if _may_hold_gap(read, kinds):
        patterns.append(_LONG_GAP)
    if _may_hold_spaced_letters(read, letters):
        patterns.append(_SPACED_LETTERS)
    if "&" in read or "%" in read or "\\" in read:
        patterns.append(_ESCAPES)
    if "<" in read:
        patterns.append(_MARKUP)
    spans = [match.span() for pattern in patterns for match in pattern.finditer(read)]
    if b"a" * _MIN_JOINED_CHARACTERS in leet:
        spans += [word.span() for word in _JOINED_WORDS.finditer(read) if _parted(word) != word[0]]
    if _may_hold_leet(leet) and _ANY_LEET.search(read) is not None:
        spans += [word.span() for word in _LEET_WORD.finditer(read) if _from_leet(word) in _ORDER_WORDS]
    if not read.isascii():
        spans += [word.span() for word in _LETTERS.finditer(read) if _all_latin(word) != word[0]]
    return spans


def _may_hold_gap(read: str, kinds: bytes) -> bool:
    words = read.split()
    spaces = len(read) - sum(map(len, words))
    return spaces - len(words) >= _MIN_GAP - 2 or b"-" * _MIN_RULE in kinds.translate(_RULE_KINDS)


def _may_hold_spaced_letters(read: str, kinds: bytes) -> bool:
    """Tell whether `_SPACED_LETTERS` can find something in a text, from its characters by `_LETTER_KINDS`."""
    signs = read.count("@") + read.count("$")
    if signs >= _MIN_SPACED_SIGNS:
        return True
    single = b" a a a " if signs else b" a a a a a a "
    return single in b" %b " % b" ".join(kinds.split())


def _may_hold_leet(kinds: bytes) -> bool:
    """Tell whether `_ANY_LEET` can find something in a text, from its characters by `_LEET_KINDS`."""
    return b"a0a" in kinds or b" 0a" in kinds or b"00a" in kinds or kinds.startswith(b"0a")


def _opened(view: TextView) -> TextView:
    """Return the reading without escapes, markup within words and long gaps, and with words of lookalikes in Latin."""
    if _ESCAPES.search(view.text) is not None:
        view = fold(unescape(view))
        view = TextView(_LETTERS.sub(_as_latin, view.text), view.length, view.starts, view.places, view.steps)
    view = view.replace(_MARKUP, lambda _match: "")
    view = view.replace(_LONG_GAP, lambda gap: "\n" if "\n" in gap[0] else " ")
    if not view.text.isascii():
        latin = _LETTERS.sub(_all_latin, view.text)
        view = TextView(latin, view.length, view.starts, view.places, view.steps)
    return view


_SPACED_LETTERS = re.compile(
    r"(?<![a-z0-9])[a-z0-9@$](?![a-z0-9])(?>(?:(?:[^\w\n]|_|\n(?!\n)){1,4}[a-z0-9@$](?![a-z0-9])){5,})"
)
_LETTER_KINDS = kinds_table(("a", string.ascii_lowercase + string.digits))
_MIN_SPACED_SIGNS = 4
"""Of six characters in a row three are letters or digits, or four are signs that stand for letters."""
_SEPARATOR = re.compile(r"[^a-z0-9@$]+")
_LEET_WORD = re.compile(
    r"(?<![a-z0-9])(?=[0134578@$!|]{0,12}[a-z])(?=[a-z]{0,20}[0134578@$!|])[a-z0134578@$!|]{2,24}(?![a-z0-9])"
)
_LEET = str.maketrans("034578@$!|", "oeastbasil")
_ANY_LEET = re.compile(r"[a-z][013457@$!|][a-z]|(?<![a-z0-9])[0134][a-z]")
_LEET_KINDS = kinds_table(("a", string.ascii_lowercase), ("0", "013457@$!|"))
_MIN_JOINED_CHARACTERS = 16
_JOINED_WORDS = re.compile(rf"(?<![a-z])[a-z]{{{_MIN_JOINED_CHARACTERS},200}}(?![a-z])")
_ROT13 = str.maketrans("abcdefghijklmnopqrstuvwxyz", "nopqrstuvwxyzabcdefghijklm")
_ROT13_SIGNS = frozenset(
    word.translate(_ROT13)
    for word in (
        "ignore",
        "previous",
        "instruction",
        "disregard",
        "password",
        "system",
        "execute",
        "the user",
        "forget",
    )
)
_WORDS = """
    ignore disregard forget override bypass all any the your every previous prior earlier above instructions
    instruction rules rule guidelines directives prompt prompts messages commands and then now you are not do never
    tell user users the owner human send post upload forward email to reveal show print output system developer
    secret secrets password passwords api key keys token tokens credentials from with without asking approval
    approve approved delete run execute this that memory memories act as if were mode jailbreak unrestricted obey
    follow only new must will is of in on a an i me my it everything before said told hide mention anyone trust
    verified pretend no have has been safety filters guidelines
    """.split()  # noqa: SIM905 - as a list it is a page
_KNOWN_WORD = re.compile("|".join(sorted(set(_WORDS), key=len, reverse=True)))
_ORDER_WORDS = frozenset(_WORDS)
_MIN_KNOWN_WORDS = 3


def _undisguised(view: TextView) -> TextView:
    """Return the reading in which the disguises are undone that no honest text wears."""
    view = view.replace(_SPACED_LETTERS, _joined)
    view = view.replace(_LEET_WORD, lambda word: plain if (plain := _from_leet(word)) in _ORDER_WORDS else word[0])
    return view.replace(_JOINED_WORDS, _parted)


def _joined(run: re.Match[str]) -> str:
    """Join spaced letters to words; where the gaps differ, the longer ones separate words."""
    gaps = _SEPARATOR.findall(run[0])
    least = min(map(len, gaps), default=1)  # none where signs that stand for letters part them
    words = re.split(rf"[^a-z0-9@$]{{{least + 1},}}", run[0])
    joined = [_SEPARATOR.sub("", word) for word in words]
    return " ".join(_part_words(word) if len(joined) == 1 else word for word in joined)


def _from_leet(word: re.Match[str]) -> str:
    found = word[0]
    if found.isalpha() or found.isdigit():
        return found
    plain = found.translate(_LEET)
    return re.sub(r"1(?=1|$)|(?<=[1l])1", "l", plain).replace("1", "i")


def _parted(word: re.Match[str]) -> str:
    return _part_words(word[0])


def _part_words(word: str) -> str:
    """Return joined words with spaces between those that an order is made of; the word itself if they are few."""
    found = _KNOWN_WORD.findall(word)
    if len(found) < _MIN_KNOWN_WORDS or sum(map(len, found)) < 0.8 * len(word):
        return word
    return _KNOWN_WORD.sub(lambda known: f"{known[0]} ", word).strip()


_BACKWARD_SIGNS = frozenset(
    word[::-1] for word in ("ignore", "previous", "instruction", "disregard", "password", "system prompt")
)
_OTHER_READINGS = _ROT13_SIGNS | _BACKWARD_SIGNS
"""Literals that are signs of a text written backwards or in rot13."""


def _backwards(plain: TextView) -> Iterator[_Evidence]:
    """Yield the rules' matches in a text read backwards."""
    length = len(plain.text)
    for rule, weight, start, end in _by_rules(TextView(plain.text[::-1], length)):
        first, last = plain.span(length - end, length - start)
        yield rule, weight, first, last
        yield "disguised_orders", _DISGUISE_WEIGHT, first, last


# Hidden text

_DIRECTION_OVERRIDES = re.compile("[\u202a-\u202e]")
_DIRECTION_ISOLATES = re.compile("[\u2066-\u2069]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_TAG_CHARACTERS = re.compile("(?<!\U0001f3f4)[\U000e0001-\U000e007e]{2,}+")
_FLAG_EMOJI = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f")
_FLAG_CODE = re.compile(r"(?:gb|us|ca|au|es|fr|de|jp)[a-z]{2,3}")
_INVISIBLE_RUN = re.compile(
    "[\u200b-\u200f\u2060-\u2064\ufeff\u00ad\u180e\u3164]{3,}+|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3,}+"
)
_LONG_INVISIBLE_RUN = 4
"""Invisible characters in a row that no editor leaves behind; three are left by copying from some chats."""
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
    for tags in _TAG_CHARACTERS.finditer(_FLAG_EMOJI.sub(lambda flag: " " * len(flag[0]), text)):
        # A flag of a part of a country is written in tags; one whose first character was lost is none the worse.
        if _FLAG_CODE.fullmatch("".join(chr(ord(char) - 0xE0000) for char in tags[0])) is None:
            yield "tag_characters", 0.8, *tags.span()
            break
    run = _INVISIBLE_RUN.search(text)
    if run is not None:
        yield "invisible_run", 0.5 if len(run[0]) >= _LONG_INVISIBLE_RUN else 0.4, *run.span()
    split = list(_SPLIT_WORD.finditer(text))
    if len(split) >= _MIN_SPLIT_WORDS:
        yield "split_words", 0.5, split[0].start(), split[-1].end() + 1


_MIN_ENCODED_SCORE = 0.25


def _encoded_text(text: str, depth: int) -> Iterator[_Evidence]:
    """Yield the worst sign within the blocks of base64, base32, hexadecimal digits or numbers, if there is any."""
    worst: _Evidence | None = None
    for block in encoded_blocks(text):
        found = list(_evidence(block.text, depth - 1))
        score = _worst_passage(found)[0] if found else 0.0
        if score > _MIN_ENCODED_SCORE and (worst is None or score > worst[1]):
            worst = ("encoded_orders", max(score, SUSPICIOUS_SCORE), block.start, block.end)
    if worst is not None:
        yield worst


def _make_sign(text: str, rule: str, start: int, end: int) -> InjectionSign:
    """Return the evidence with a quote of whole words, cut at `MAX_QUOTE` characters."""
    left, right = start, max(end, start + 1)
    while left > 0 and start - left < _MAX_QUOTED_WORD_CHARACTERS and text[left - 1].isalnum():
        left -= 1
    while right < len(text) and right - end < _MAX_QUOTED_WORD_CHARACTERS and text[right].isalnum():
        right += 1
    quote = text[left:right]
    if len(quote) > MAX_QUOTE:
        cut = quote.rfind(" ", 0, MAX_QUOTE + 1)
        quote = quote[: cut if cut > 0 else MAX_QUOTE]
    return InjectionSign(rule, quote, left, right)
