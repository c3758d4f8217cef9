"""Find secrets by weights that were learned: from how a word looks and from the words and signs around it.

People write a password into a sentence in more ways than rules can list: "use it to get in", "not that, this". Here
every word that is no common one is scored by a logistic regression over features that are there or not. Its weights
(``secret_weights.json``) are fitted by ``python -m tests.benchmarks.secrets_fit`` on texts of several writers who had
not seen any rule, on memories that real agents wrote, and on conversations about everyday things.
"""

from __future__ import annotations

# ruff: noqa: RUF001 - quotation marks and signs of many languages part words
import json
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import accumulate, chain
from pathlib import Path
from typing import NamedTuple

from memento_tui.policy.secret_lexicon import TRIGGERS, counts_something, groups_of_word
from memento_tui.policy.secret_patterns import (
    MARKER,
    SPOKEN,
    SecretSpan,
    is_chosen,
    is_drawn,
    is_key,
    is_placeholder,
    is_uuid,
)
from memento_tui.text.words import UNSPACED_CHARACTERS

__all__ = [
    "WEIGHTS_FILE",
    "SecretCandidate",
    "Weights",
    "Word",
    "Words",
    "candidates",
    "features",
    "is_secret",
    "likely_spans",
    "score_of",
    "words_of",
]

WEIGHTS_FILE = Path(__file__).with_name("secret_weights.json")

_SEPARATORS = r"""\s"'`«»“”„‘’「」『』《》<>()\[\]{},;|=：，。、（）！？…→←"""
_GAP = re.compile(rf"([{_SEPARATORS}]+)")
_REMOVED = re.compile(f"({MARKER.pattern})")
_COLON = re.compile(r":(?!//)")
_END = re.compile(r"""[\s"'`»”’」』)\]}.,;!。，、]*(?:$|\n|[.!;。](?:\s|$))""")
_PIECES = re.compile(r"[-_./\\@#+&]+")
_HEX = re.compile(r"[0-9a-fA-F]{6,}", re.ASCII)
_OPENING, _CLOSING = "\"'`«“„‘「『", "\"'`»”’」』"
_TRIM_BEFORE, _TRIM_AFTER = "*_~", ".!?*:~"
_SIGNS_AROUND = ".:!?*_#-/\\$@&"
_ODD = re.compile(r"(?=\S{6,80}$)(?:(?=\D*\d)(?=.*?[^\W\d_]{2})|[^\W\d_]+\S*?[!#$&^*@+%?;]\S*\w|[!#$&^*@+%?;]\S*?\d)")
_NAMED = re.compile(
    r"""(?xs) \w+://.* | arn:.* | (?:p-)?[0-9a-hjkmnp-tv-z]{12}(?:@\d+)?
    | \d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?:/\d+)? | 0x[0-9a-fA-F]+ | [\w.+-]+@[\w-]+(?:\.[\w-]+)+
    | [A-Za-z]+\d+(?:\.\d+)+\w* | [a-z]{2}-[a-z]+-\d[a-z]?
    | (?i:sha|md|rs|es|hs|aes|rsa|utf|pbkdf|rfc|iso|base)[-_]?\d+\w*
    | \d{2,4}s | \d{4}-\d\d-\d\d.* | \d{1,2}:\d\d(?::\d\d)?\w{0,2} | v?\d+(?:\.\d+){1,3}(?:[-+]\w*|\.x)?
    | (?:[A-Za-z][\w.-]*/){2,}[\w.-]* | AAAA[A-Z0-9].* | MII[A-Z].* | age1\w+
    | (?:pk|cus|acct|evt|pi|ch|sub|price|prod|in|we|req)_(?:live_|test_)?\w+
    | ~?\.{0,2}/.* | [\w-]+\(.*
    | [A-Za-z_$][\w$]*\.(?:password|passwd|passphrase|pwd|pass|secret|token|key|otp|pin|value)
    | \$\{?\w+\}? | [A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+
    | [\w.-]+\.(?:com|org|net|io|dev|example|local|internal|py|ts|js|json|ya?ml|toml|md|txt|go|rs|sh|sql|html?|css|php
        |conf|cfg|ini|log|lock|xml|csv)(?::\d+)?"""
)
"""Words that name something: addresses, ids of records, moments, versions, files, variables, public halves of keys."""
_PLAIN_BEFORE, _PLAIN_AFTER = 4, 3
_BEFORE, _AFTER = 12, 8
"""How many words before and after a word are looked at for those that speak of secrets."""
_NOWHERE, _NEAR_PLAIN, _NEAR, _ANYWHERE = (0, 0), (_PLAIN_BEFORE + 1, _PLAIN_AFTER + 1), (_BEFORE, _AFTER), (-1, -1)
"""How many words may lie between a word and one that speaks of secrets, before it and after it, and one more."""
_SPOKEN = ("password", "code", "key", "enter", "use", "account", "public", "kept")
_UNSPACED = re.compile(f"[{UNSPACED_CHARACTERS}]{{2}}")
"""A stretch of a sentence in a script that writes no spaces."""
_RUN = re.compile(f"[{UNSPACED_CHARACTERS}]+|[^{UNSPACED_CHARACTERS}]+")
_CODE = re.compile(r"[*#]?\d{2,}[*#]?[A-Za-z]?\d*[*#]?|[A-Za-z]\d{3,}|\d{1,2}(?:-\d{1,2}){2,5}|\d{2}-\d{2}")
_LETTERS = re.compile(r"[^\W\d_]+")
_MIN_MIXED_CHARACTERS, _MOST_NUMBERING_DIGITS, _MOST_SUFFIX_CHARACTERS = 6, 3, 2
_MIN_DIGITS = 4
"""Digits of the shortest code that people type."""
_MOST_WORDS = 600
"""Words of one text that are scored at most, from its beginning; the rules read all of it."""


class Weights(NamedTuple):
    """The weights that were fitted."""

    features: Mapping[str, float]
    common: frozenset[str]
    """Common words in lower case, which are secrets only where they are pointed at."""
    threshold: float
    """The score above which a word is a secret."""
    drawn_threshold: float
    """The same for a long word that a program drew: most of those are names of things, and rules know the others."""


class Word(NamedTuple):
    """A word, or a phrase of several, with the properties that do not depend on its place."""

    text: str
    """The word as it is written; nothing where a secret was removed."""
    plain: str
    """In lower case, without the signs around it."""
    groups: tuple[str, ...]
    length: int
    """Characters that it takes in the text."""
    reach: tuple[int, int] = _NOWHERE
    """How near a word that speaks of secrets has to be for it to be scored; see `_NOWHERE`."""


class Words(NamedTuple):
    """The words of a text, in their order."""

    text: str
    common: frozenset[str]
    """The common words in lower case, on which the properties of a word depend."""
    words: Sequence[Word]
    starts: Sequence[int]
    """The place in the text at which each word begins, in characters."""

    def end(self, number: int) -> int:
        """Return where a word ends."""
        return self.starts[number] + self.words[number].length


@cache
def _weights() -> Weights:
    stored = json.loads(WEIGHTS_FILE.read_bytes())
    learned = stored["features"], frozenset(stored["common"].split())
    return Weights(*learned, stored["threshold"], stored["drawn_threshold"])


def words_of(text: str, common: frozenset[str]) -> Words:
    """Return the words of a text, split at spaces, quotation marks, brackets and signs of assignment."""
    known = _known_runs(common)
    words: list[Word] = []
    starts: list[int] = []
    at = 0
    for number, part in enumerate(_REMOVED.split(text[:_MOST_CHARACTERS])):
        if number % 2:  # one unknown word, as the secret was
            words.append(Word("", "", (), len(part)))
            starts.append(at)
        else:
            pieces = _GAP.split(part)
            given = pieces[::2]
            if max(map(len, given)) <= _MOST_KNOWN_CHARACTERS:
                runs = list(map(known, given))
            else:
                runs = [known(run) if len(run) <= _MOST_KNOWN_CHARACTERS else _parted(run, common) for run in given]
            places = list(accumulate(map(len, pieces), initial=at))
            words += [word for run in runs for word in run.words]
            starts += [place + offset for place, run in zip(places[::2], runs, strict=True) for offset in run.offsets]
        at += len(part)
    return Words(text, common, words[:_MOST_WORDS], starts[:_MOST_WORDS])


class _Run(NamedTuple):
    """The words between two separators, with their offsets from the first one."""

    words: tuple[Word, ...]
    offsets: tuple[int, ...]


@lru_cache(maxsize=2)
def _known_runs(common: frozenset[str]) -> Callable[[str], _Run]:
    """Return `_parted` with a memory: nearly all runs come again."""
    return lru_cache(maxsize=_MOST_KNOWN_RUNS)(partial(_parted, common=common))


_MOST_KNOWN_RUNS = 16_384
_MOST_KNOWN_CHARACTERS = 32
"""Characters of the longest run that is kept in mind."""


def _parted(run: str, common: frozenset[str]) -> _Run:
    """Return the words of a run between separators."""
    if run.isalpha() and run.isascii():
        return _Run((_word(run, common),), (0,))
    words: list[Word] = []
    offsets: list[int] = []
    at = 0
    is_parted = ":" in run and not run.startswith("arn:")
    for piece in _COLON.split(run) if is_parted else (run,):
        for part in _RUN.finditer(piece):
            begun = part[0].lstrip(_TRIM_BEFORE)
            text = begun.rstrip(_TRIM_AFTER)
            if text:
                offsets.append(at + part.end() - len(begun))
                words.append(_word(text, common))
        at += len(piece) + 1
    return _Run(tuple(words), tuple(offsets))


def _word(text: str, common: frozenset[str]) -> Word:
    plain = text.lower().strip(_SIGNS_AROUND)
    return Word(text, plain, groups_of_word(plain), len(text), _reach(text, plain, common))


class SecretCandidate(NamedTuple):
    """A candidate for a secret: a word of a text, or a phrase of several."""

    first: int
    last: int
    """The places of its first and its last word among the words."""
    start: int
    end: int
    """Where it begins and ends in the text."""
    word: Word
    """The whole of it as one word."""


def candidates(given: Words) -> Iterator[SecretCandidate]:
    """Yield the candidates for secrets: uncommon words and phrases near a word about secrets."""
    words, starts = given.words, given.starts
    spoken = [number for number, word in enumerate(words) if word.groups]
    for number in [number for number, word in enumerate(words) if word.reach is not _NOWHERE]:
        if _is_spoken_of(spoken, number, number, words[number].reach):
            yield SecretCandidate(number, number, starts[number], given.end(number), words[number])
    for first, last in _phrases(given):
        if _is_spoken_of(spoken, first, last, _NEAR):
            start, end = starts[first], given.end(last)
            phrase = given.text[start:end]
            plain = phrase.lower().strip(_SIGNS_AROUND)
            yield SecretCandidate(first, last, start, end, Word(phrase, plain, groups_of_word(plain), end - start))


def _is_spoken_of(spoken: Sequence[int], first: int, last: int, reach: tuple[int, int]) -> bool:
    """Tell whether a word that speaks of secrets, in one of these places, is as near before or after as that."""
    if reach is _ANYWHERE:
        return True
    before, after = bisect_right(spoken, first), bisect_right(spoken, last)
    return (before > 0 and first - spoken[before - 1] < reach[0]) or (
        after < len(spoken) and spoken[after] - last < reach[1]
    )


def _reach(text: str, plain: str, common: frozenset[str]) -> tuple[int, int]:
    """Return how near a word that speaks of secrets has to be for a word to be scored: `_NOWHERE` if none is enough."""
    if not text or (plain in common and text.isalpha()):
        return _NOWHERE
    if _is_plain(text):
        reach = _NEAR_PLAIN if len(text) > _MOST_NUMBERING_DIGITS else _NOWHERE
    elif _is_odd(text):
        reach = _ANYWHERE
    else:
        reach = _NEAR if len(text) >= 3 else _NOWHERE  # noqa: PLR2004 - no secret is shorter
    return _NOWHERE if reach is _NOWHERE or _names_something(text) or _is_numbered(text, common) else reach


_PHRASE_QUOTED = re.compile(
    r"""(?x) ["'`“«„‘”»] (?<![\w"'`].) (?: (?<=")([^"\n]{5,90})" | (?<=')([^'\n]{5,90})' | (?<=`)([^`\n]{5,90})`
    | (?<=“)([^”\n]{5,90})” | (?<=«)([^»\n]{5,90})» | (?<=„)([^“”\n]{5,90})[“”] | (?<=‘)([^’\n]{5,90})’
    | (?<=”)([^”\n]{5,90})” | (?<=»)([^«\n]{5,90})« ) (?!\w)"""
)
"""It begins with a set of signs, which the regular expressions' engine looks for much faster than it tries a choice."""
_PHRASE_ASSIGNED = re.compile(
    r"(?<=[^\W\d_]{2})[ \t]{0,2}[:=：][ \t]{0,3}(?![\"'`«“„‘{\[(<$/])([^\n.,;:=|(){}\[\]]{5,90})"
)
_ASSIGNING = re.compile("[:=：]")
_MOST_SPACES_BEFORE_SIGN = 2
_PARTED_CODE = re.compile(
    r"""(?x) (?<![\w.,:/-]) ( (?:\d{1,4}(?:,[ ]?|[ ]?[-–·][ ]?|[ ])){2,7}\d{1,4} | \d{2,4}[ ]\d{2,4}
    | (?:[A-Za-z0-9]{4}[ ]){3,9}[A-Za-z0-9]{4} ) (?![\w/:-]|[.,]\d)"""
)
"""Digits or groups of letters that a person wrote apart, as on a card or a keypad."""
_PARTED_DIGITS = re.compile(r"\d[ ,–·-]")
_PARTED_GROUPS = re.compile(r" [A-Za-z0-9]{4} [A-Za-z0-9]{4} [A-Za-z0-9]{4}(?!\w)")
_PLACEHOLDER_SIGN = re.compile(r"""[<>${}\[\]`\\]|["']\s?:""")
_MOST_PHRASE_WORDS = 24


def _phrases(given: Words) -> Iterator[tuple[int, int]]:
    """Yield the numbers of the first and last words of each phrase in quotation marks or after a sign."""
    text, starts = given.text, given.starts
    for match in chain(_PHRASE_QUOTED.finditer(text), _assigned_phrases(text), _parted_codes(text)):
        begin, stop = match.span(match.lastindex or 0)
        first = bisect_left(starts, begin)
        last = bisect_left(starts, stop) - 1
        if last >= 0 and given.end(last) > stop:
            last -= 1
        if first < last < first + _MOST_PHRASE_WORDS and not _holds_a_value(given, first, last):
            yield first, last


def _assigned_phrases(text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of `_PHRASE_ASSIGNED`, which is tried only at the spaces before a sign that assigns."""
    end = 0
    for sign in _ASSIGNING.finditer(text):
        start = sign.start()
        first = max(end, start - _MOST_SPACES_BEFORE_SIGN)
        while start > first and text[start - 1] in " \t":
            start -= 1
        if start >= end and (match := _PHRASE_ASSIGNED.match(text, start)) is not None:
            yield match
            end = match.end()


def _parted_codes(text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of `_PARTED_CODE`, after a fast check of whether a text can have any."""
    if _PARTED_DIGITS.search(text) is not None or _PARTED_GROUPS.search(text) is not None:
        yield from _PARTED_CODE.finditer(text)


def _holds_a_value(given: Words, first: int, last: int) -> bool:
    """Tell whether a phrase holds a key, which is one by itself, or something that stands for one."""
    if _PLACEHOLDER_SIGN.search(given.text, given.starts[first], given.end(last)) is not None:
        return True
    return any(
        len(word.text) >= _MIN_LONG_CHARACTERS and not _drawn_as(word.text).isdisjoint(_DRAWN)
        for word in given.words[first : last + 1]
    )


def _is_numbered(text: str, common: frozenset[str]) -> bool:
    """Tell whether a word is made of common ones and of a digit or two, as ``feature2x`` and ``k8s-secret-01`` are."""
    digits = sum(map(str.isdigit, text))
    if not digits or text.isdigit():
        return False
    letters = [part for part in _LETTERS.findall(text.lower()) if len(part) > _MOST_SUFFIX_CHARACTERS]
    if len(text) < _MIN_MIXED_CHARACTERS and digits < _MIN_DIGITS and not _CODE.fullmatch(text):
        return True
    return digits <= _MOST_NUMBERING_DIGITS and bool(letters) and all(part in common for part in letters)


def _is_plain(text: str) -> bool:
    """Tell whether a word is one of any language, or a short number: either stands beside such words too often."""
    return (text.isalpha() and text[1:].islower()) or (text.isdigit() and len(text) < _MIN_DIGITS)


def _is_odd(text: str) -> bool:
    """Tell whether a word mixes letters with digits or signs, as a password does; it counts wherever it stands."""
    return not text.isalpha() and not text.isdigit() and _ODD.match(text) is not None


def _names_something(text: str) -> bool:
    if text.isalpha():
        return False
    if text[0] == "-" or "EXAMPLE" in text.upper() or not text.isprintable():
        return True
    return _NAMED.fullmatch(text) is not None or _UNSPACED.search(text) is not None


def features(given: Words, found: SecretCandidate) -> list[str]:
    """Return the names of the features of a word or a phrase and of its surroundings."""
    text, common, words, starts = given
    first, last, start, end, word = found
    look = _look(word, common)
    own = _own(word.text, word.groups, common) if first == last else _of_phrase(words[first : last + 1], common)
    names = ["always", f"look {look}", *own]
    before = text[given.end(first - 1) : start] if first else "^"
    after = text[end : starts[last + 1]] if last + 1 < len(words) else "$"
    sign = _sign(before)[-3:]
    names += [f"before {sign}", f"after {_sign(after)[:2]}", f"before {sign} {look}"]
    if text[start - 1 : start] in _OPENING and text[end : end + 1] in _CLOSING and first:
        names += ["quoted", f"quoted {look}"]
    if _END.match(text, end):
        names += ["end", f"end {look}"]
    return [*names, *_surroundings(words[max(0, first - _BEFORE) : first], words[last + 1 : last + 1 + _AFTER], look)]


def _of_phrase(words: Sequence[Word], common: frozenset[str]) -> Iterator[str]:
    yield f"phrase of {min(len(words), 9)}"
    plain = sum(word.text.isalpha() for word in words)
    lower = sum(word.text.islower() for word in words)
    yield f"phrase plain {plain == len(words)} lower {lower == len(words)}"
    yield f"phrase common {4 * sum(word.plain in common for word in words) // len(words)} of 4"
    yield f"phrase begins {_shape(words[0].text)}"
    yield f"phrase ends {_shape(words[-1].text)}"
    lengths = {len(word.text) for word in words}
    if len(lengths) == 1:
        yield f"phrase even {min(lengths)}"
        yield f"phrase even {min(lengths)} {min(len(words), 9)}"
    for group in {group for word in words for group in word.groups}:
        yield f"phrase speaks of {group}"


def _surroundings(before: Sequence[Word], after: Sequence[Word], look: str) -> set[str]:
    found: set[str] = set()
    for distance in range(1, 5):
        if len(before) < distance:
            found.add(f"beginning {distance}")
            break
        word = before[-distance]
        found |= _names_before(word.plain[:8], word.groups, min(distance, 3), look)
    for distance, word in enumerate(after[:3], 1):
        found |= _names_after(word.plain[:8], word.groups, min(distance, 2))
    near_before = {group for word in before for group in word.groups}
    near_after = {group for word in after for group in word.groups}
    found.update(f"near before {group} {look}" for group in near_before)
    found.update(f"near after {group} {look}" for group in near_after)
    found.update(f"not near {group}" for group in _SPOKEN if group not in near_before and group not in near_after)
    return found


@lru_cache(maxsize=8192)
def _names_before(stem: str, groups: Sequence[str], distance: int, look: str) -> frozenset[str]:
    """Return the features of a word with a look, ``distance`` words after a given word; 3 stands for 3 or more."""
    found = {f"word before {stem}"}
    if distance < 3:  # noqa: PLR2004 - the last two words count by their place too
        found.add(f"word {distance} before {stem}")
    for group in groups:
        found |= {f"group {distance} before {group}", f"group before {group} {look}"}
    return frozenset(found)


@lru_cache(maxsize=8192)
def _names_after(stem: str, groups: Sequence[str], distance: int) -> frozenset[str]:
    """Return the features of a word ``distance`` words before a given word; 2 stands for 2 or more."""
    found = {f"word after {stem}", *(f"group {distance} after {group}" for group in groups)}
    if distance == 1:
        found.add(f"next word {stem}")
    return frozenset(found)


def _look(word: Word, common: frozenset[str]) -> str:
    """Return how a word looks: drawn by a program, mixed by a person, or plain; and whether it is a common word."""
    text = word.text
    if " " in text:
        return "phrase"
    if not _drawn_as(text).isdisjoint(_DRAWN):
        return "drawn"
    if any(map(str.isdigit, text)):
        return "digits" if text.isdigit() else "mixed"
    if not text.isalpha():
        pieces = [piece for piece in _PIECES.split(word.plain) if piece]
        known = all(piece in common for piece in pieces)
        return "joined common" if known else "joined"
    if text[1:] != text[1:].lower():
        return "capitals"
    return "common" if word.plain in common else "plain"


_JUDGES = {"key": is_key, "drawn": is_drawn, "chosen": is_chosen, "uuid": is_uuid, "placeholder": is_placeholder}
_DRAWN = frozenset({"key", "drawn", "chosen"})


@lru_cache(maxsize=1024)
def _drawn_as(text: str) -> frozenset[str]:
    """Return how the rules judge a value by itself."""
    return frozenset(name for name, judge in _JUDGES.items() if judge(text))


_LENGTHS = (12, 16, 24, 40)
"""Up to the first every length counts by itself, then by steps."""


@lru_cache(maxsize=2048)
def _own(text: str, groups: Sequence[str], common: frozenset[str]) -> tuple[str, ...]:
    """Return the names of a word's features that do not depend on the words around it."""
    return tuple(_own_names(text, groups, common))


def _own_names(text: str, groups: Sequence[str], common: frozenset[str]) -> Iterator[str]:
    length = len(text)
    yield f"shape {_shape(text)}"
    yield f"length {length if length <= _LENGTHS[0] else next((step for step in _LENGTHS if length <= step), 'more')}"
    signs = sum(not character.isalnum() for character in text)
    kinds = (any(map(str.isdigit, text)), any(map(str.isupper, text)), any(map(str.islower, text)))
    yield f"kinds {kinds[0]:d}{kinds[1]:d}{kinds[2]:d}{min(signs, 2)}"
    if text.isdigit():
        yield f"digits {min(length, 9)}"
    pieces = [piece for piece in _PIECES.split(text.lower()) if piece]
    if len(pieces) > 1:
        yield f"pieces {min(len(pieces), 5)}"
        yield f"common pieces {min(sum(piece in common for piece in pieces), 4)} of {min(len(pieces), 4)}"
    for name in _drawn_as(text):
        yield f"is {name}"
    if "://" in text:
        yield "is address"
    if _HEX.fullmatch(text):
        yield f"hex {length if length in (7, 8, 12, 16, 24, 32, 40, 48, 64, 96, 128) else 'other'}"
    for group in groups:
        yield f"itself {group}"


def _shape(text: str) -> str:
    """Return the kinds of characters of a word in their order, each run as one: ``Aa-0`` of ``Otter-19``."""
    found: list[str] = []
    for character in text[:40]:
        kind = (
            "A" if character.isupper() else "a" if character.islower() else "0" if character.isdigit()
            else "x" if character.isalpha() else character
        )  # fmt: skip
        if not found or found[-1] != kind:
            found.append(kind)
    return "".join(found[:10])


def _sign(between: str) -> str:
    """Return the characters between two words, a run of spaces as one and a line's end as N."""
    return between if between == " " else _SPACES.sub(" ", between).replace("\n", "N")


_SPACES = re.compile(r"[^\S\n]+")


def likely_spans(text: str, *, gated: bool = True) -> Iterator[SecretSpan]:
    """Yield every word that the learned weights take for a secret.

    ``gated`` False leaves out the cheap test that comes first, and more may be found.
    """
    if gated and not _may_hold_any(text):
        return
    learned = _weights()
    given = words_of(text, learned.common)
    if len(given.words) < 2:  # noqa: PLR2004 - an id, a tag, a name: nothing around it says what it is
        return
    removed = [place for match in _REMOVED.finditer(text) for place in match.span()]
    for found in candidates(given):
        if found.start in removed or found.end in removed:
            continue  # the rest of a word of which the secret was removed already
        if is_secret(found.word, score_of(features(given, found), learned), learned) and not (
            found.word.text.isdigit() and counts_something(text, found.start, found.end)
        ):
            secret = found.word.text.rstrip("\\")  # what escapes the quotation mark behind it stays
            if secret:
                yield found.start, found.start + len(secret), "password" if len(secret) < _MIN_KEY_CHARACTERS else "key"


def _may_hold_any(text: str) -> bool:
    if not TRIGGERS.isdisjoint(SPOKEN.held_in(text.lower())):
        return True
    return any(_is_odd(word) for word in text.split() if not word.isalpha())


def score_of(names: Iterable[str], learned: Weights) -> float:
    """Return the sum of the weights of a word's features, which does not depend on their order.

    Features that were not learned count nothing.
    """
    known = learned.features
    return math.fsum([known[name] for name in names if name in known])


def is_secret(word: Word, score: float, learned: Weights) -> bool:
    """Tell whether a score is high enough for a word."""
    is_long_and_drawn = len(word.text) >= _MIN_LONG_CHARACTERS and _look(word, learned.common) == "drawn"
    return score > (learned.drawn_threshold if is_long_and_drawn else learned.threshold)


_MIN_LONG_CHARACTERS = 16
_MOST_CHARACTERS = 8_000
_MIN_KEY_CHARACTERS = 24
