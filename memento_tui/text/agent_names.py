"""Keep the names that agents give themselves apart from the words for the person and for memento.

An agent's name stands wherever a person or a model reads who wrote something. One that calls itself ``you`` would have
its words read as the person's.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby

from memento_tui.text.fence import without_invisible

__all__ = ["PLAIN_NAME", "honest_agent_name", "is_machine_name", "is_persons_name"]

_ANONYMOUS = "agent"
"""The name of an agent whose own name is somebody else's."""

_HOST_WORDS = frozenset(("user", "person", "human", "owner", "me"))
"""Words for the person that the names of many machines hold, as ``user-pc``."""

_TRUST_WORDS = frozenset(("you", "your", "yourself", "myself", "verified", "approved", "trusted", "essential"))
"""Words that make every name read as the person's, or as trust that a person gave."""

_PERSON_WORDS = _HOST_WORDS | _TRUST_WORDS
"""Words that make an agent's name read so."""

_PROGRAM_NAMES = frozenset(("i", "memento", "system", "maintenance", "mirror", "hub", "stable"))
"""Whole names that memento or its words stand under."""

_SMALL_WORDS = (
    "the",
    "this",
    "by",
    "a",
    "an",
    "is",
    "was",
    "am",
    "i",
    "me",
    "my",
    "of",
    "for",
    "from",
    "as",
    "s",
    "real",
)
"""Words that may stand around those when a name is written without spaces."""

_OF_ME = re.compile(r"(?:by|is|was|from|for|of)(?:the|my|real)?me")
"""Whole names that are about me; ``me`` itself is a part of too many words to be looked for in others."""

_TRADE_NAMES = re.compile(r"youtrack|youtube", re.IGNORECASE)
"""Names of services that agents are for, and that begin like the person's."""

_WORD = re.compile(r"[^\W\d_]+")
"""Letters alone: a name is the same whatever number or mark is put to it."""

PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
"""The names that a machine, a workspace and a login of the hub may have; they stand beside agents' in every list."""

_RUN = re.compile(r"(?:[^\W_]|[@$!|]){3,}")
"""Letters, digits and signs that may be meant as one word; ``M3`` is a machine."""

_AS_LETTERS = tuple(str.maketrans("034578@$!|1\u03b8", f"oeastbasii{one}o") for one in "il")
"""The letters that digits and signs in a name are read as; a one is an i or an l."""

_YOU_WITH_A_SIGN = re.compile(r"\by[^\w\s./:+-]{1,2}(?=ur?\b)")
"""The word ``you`` with a sign as its o."""

_LETTER_OF_NAME = re.compile(
    r"(?:LATIN|SYMBOL) (?:(?:SMALL|CAPITAL) )?LETTER (?:SMALL CAPITAL |TURNED )?([A-Z])(?: WITH .*)?$"
)
"""The Latin letter that Unicode's name of a character tells, as LATIN SMALL LETTER Y WITH HOOK."""

_SEPARATE = re.compile(r"(?<![^\W_])[^\W_](?:[\W_]+[^\W_](?![^\W_]))+")
"""Letters and digits that each stand alone, as in ``y-0-u``."""

_NO_LETTER = re.compile(r"[\s._:/+-]+")
"""The characters that may separate the letters of one word."""

_SIGNS_AS_LETTERS = {
    "\xa5": "y",
    "\u20ac": "e",
    "\u0265": "y",
    "\u222a": "u",
    "\u228d": "u",
    "\u110b": "o",
}
"""The letters that some signs, and letters of no like sound, are read as; Unicode calls none of them confusable."""

_BLANK_PATTERN = "\u2800"
"""The pattern of Braille without a dot: a sign by its category that leaves its place empty."""

_UPSILON = "\u03c5"
"""The letter that reads as a u, and in its large form as a Y."""

_MU = "\u03bc"
"""The letter that reads as a u, and in its large form as an M."""

_Y_AS_U = str.maketrans("y", "u")


class _Words:
    """The words for the person, as they are or with each y as a u."""

    def __init__(self, table: dict[int, int], alone: frozenset[str] = _PERSON_WORDS) -> None:
        """Make them for names; ``alone`` are those that no name may hold."""
        self.single = frozenset(word.translate(table) for word in alone)
        # "the" and "me" make a theme.
        self._person = tuple({word.translate(table) for word in _PERSON_WORDS} - {"me"})
        self._small = tuple(word.translate(table) for word in _SMALL_WORDS)

    def are_in(self, name: str) -> bool:
        """Tell whether one of the words stands in a folded name, with spaces and without."""
        words = _WORD.findall(name)
        runs = ("".join(run) for is_letter, run in groupby(words, lambda word: len(word) == 1) if is_letter)
        letters = "".join(words)
        is_found = not self.single.isdisjoint((*words, *runs, letters)) or self._make(letters)
        return is_found or _OF_ME.fullmatch(letters) is not None

    def _make(self, letters: str) -> bool:
        """Tell whether letters are such words in a row, one of them for the person."""
        reached = {0: False}
        for start in range(len(letters)):
            if (is_persons := reached.get(start)) is None:
                continue
            for words, names in ((self._person, True), (self._small, is_persons)):
                for word in words:
                    if letters.startswith(word, start):
                        end = start + len(word)
                        reached[end] = reached.get(end, False) or is_persons or names
        return reached.get(len(letters), False)


_SMALL = frozenset(_SMALL_WORDS)
_PERSON = _Words({})
_PERSON_Y_AS_U = _Words(_Y_AS_U)
_MEMBER = _Words({}, _TRUST_WORDS)


@lru_cache(maxsize=1024)
def is_persons_name(name: str) -> bool:
    """Tell whether a name reads as that of the person, or as their trust, also in letters that look like Latin ones.

    A capital begins a word, as in ``TheUser``, and signs between letters may make none, as in ``y-o-u``.
    """
    plain = _TRADE_NAMES.sub(" ", _decomposed(name))
    for text in dict.fromkeys((plain, _split_at_capitals(plain), plain.replace(_MU, "u"))):
        folded = _latin(text)
        if any(map(_PERSON.are_in, _readings(folded))):
            return True
        if _UPSILON in text.casefold() and _PERSON_Y_AS_U.are_in(folded.translate(_Y_AS_U)):
            return True
    return False


@lru_cache(maxsize=1024)
def is_machine_name(name: str) -> bool:
    """Tell whether a machine of the hub may stand in lists by a name: a plain one, and neither person's nor memento's.

    ``user-pc`` is one, ``you`` and ``verified-by-you`` are none.
    """
    if not PLAIN_NAME.fullmatch(name):
        return False
    plain = name.lower()
    texts = (plain, _split_at_capitals(name).lower())
    for read in (read for text in texts for read in _readings(text)):
        words = _WORD.findall(read)
        if _MEMBER.are_in(read) or "".join(words) in _PROGRAM_NAMES or ("me" in words and _SMALL.issuperset(words)):
            return False
    return True


def _readings(folded: str) -> Iterator[str]:
    """Yield a folded name as it is, and as it is read where digits and signs stand for letters."""
    yield folded
    spelled = _YOU_WITH_A_SIGN.sub("yo", folded)
    if spelled != folded:
        yield spelled
    # The digits of a word may stand apart from its letters.
    joined = _SEPARATE.sub(lambda found: "".join(filter(str.isalnum, found[0])), folded)
    for text in dict.fromkeys((folded, joined, _NO_LETTER.sub("", folded))):
        for table in _AS_LETTERS:
            read = _RUN.sub(lambda run, table=table: _spelled(run[0], table), text)  # type: ignore[misc]
            if read != text:
                yield read


def _spelled(run: str, table: dict[int, int]) -> str:
    return run.translate(table) if any(map(str.isalpha, run)) else run


def honest_agent_name(name: str, *, is_program: bool = False) -> str:
    """Return the name under which an agent writes: its own, or ``agent`` where that is the person's or memento's.

    ``is_program`` says that memento itself writes.
    """
    if is_persons_name(name) or (name and not _decomposed(name).replace(_BLANK_PATTERN, "").strip()):
        return _ANONYMOUS
    read = _readings(_latin(_decomposed(name)))
    if not is_program and any("".join(_WORD.findall(text)) in _PROGRAM_NAMES for text in read):
        return _ANONYMOUS
    return name


def _decomposed(name: str) -> str:
    """Return a name in plain letters as far as it has such, without accents, other marks and what nobody sees."""
    if name.isascii():
        return name
    letters = unicodedata.normalize("NFKD", without_invisible(name))
    kept = ((char, unicodedata.category(char)) for char in letters)
    # A letter that only modifies others, and has no plain form, is read as the apostrophe that it looks like.
    return "".join("'" if category == "Lm" else char for char, category in kept if category not in _UNSEEN)


_UNSEEN = frozenset(("Mn", "Mc", "Me", "Cf", "Cn"))
"""Unicode's categories of marks, and of what has no form of its own."""


def _split_at_capitals(name: str) -> str:
    """Return a name with a space before each capital that begins a word."""
    if name.islower():
        return name
    parts = []
    for before, char, after in zip(f" {name}", name, f"{name[1:]} ", strict=False):
        begins = char.isupper() and (before.islower() or (before.isupper() and after.islower()))
        parts.append(f" {char}" if begins else char)
    return "".join(parts)


def _latin(name: str) -> str:
    """Return a decomposed name in small letters, with Latin ones for those that look like them."""
    if name.isascii():
        return name.lower()
    from memento_tui.text.lookalikes import LATIN_LOOKALIKES  # noqa: PLC0415 - nearly every name is plain

    letters = _decomposed(name.casefold())
    return "".join(LATIN_LOOKALIKES.get(char) or _SIGNS_AS_LETTERS.get(char) or _named_letter(char) for char in letters)


def _named_letter(char: str) -> str:
    """Return the Latin letter that a character is by its name, such as one with a stroke; else the character."""
    found = None if char.isascii() else _LETTER_OF_NAME.search(unicodedata.name(char, ""))
    return found[1].lower() if found else char
