"""Tell whether two texts are about different places (a project, a branch) or things numbered differently.

It imports little, because hooks use it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

from memento_tui.text.terms import STOP_WORDS
from memento_tui.text.words import PLAIN_WORD

__all__ = ["is_about_another", "names_place", "numbered_things", "of_other_places"]


def names_place(condition: str, namespace: str) -> bool:
    """Tell whether a condition holds every word of a namespace's last name: ``in web-shop`` for ``projects/web-shop``.

    ``global`` is no place.
    """
    wanted = set(PLAIN_WORD.findall(namespace.rpartition("/")[2].casefold()))
    return namespace != "global" and bool(wanted) and wanted <= set(PLAIN_WORD.findall(condition.casefold()))


def of_other_places(pairs: Iterable[tuple[str, str]], conditions: Mapping[str, str], namespace: str) -> set[str]:
    """Return the ids of those facts that hold elsewhere.

    Of each of the ``pairs`` of ids that a person let stand side by side, it is the one whose condition does not name
    the namespace while the other's does. ``conditions`` are by id; a pair with an id that is not there is let be.
    """
    elsewhere = set()
    for pair in pairs:
        if all(name in conditions for name in pair):
            here = {name for name in pair if names_place(conditions[name], namespace)}
            elsewhere |= set(pair) - here if len(here) == 1 else set()
    return elsewhere


_SUBJECT_CHARS = 40
"""Characters at the beginning of a text that say what it is about."""

_MOST_BEHIND_A_NUMBER = 40
"""Characters in which it says whether a number is the end of a range, and of what it is the version."""

_DATE = re.compile(r"(?:^\W{0,3}|(?<!\bas )\b(?:on|of|dated)[ \t]+)(\d{4}-\d\d-\d\d)(?![\w-]|[ \t]\d)", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_SMALL_AMOUNT = re.compile(r"0\.\d+")
_CHANGE = re.compile(r"\b(?:up|down)grad|\bbump|\bmigrat|\bmov(?:e|ing)\b|\bswitch|\bupdat", re.IGNORECASE)
_ASKS_WHICH = re.compile(r"\b(?:which|what)\b[^.?!\n]{0,40}\b(?:version|release)s?\b(?!\s*v?\d)", re.IGNORECASE)
_NOT_A_NAME = STOP_WORDS | frozenset(
    "least less non off or over post pre since sub utf without".split()  # noqa: SIM905 - as in STOP_WORDS
)
"""Words after which a number is an amount or a moment, or no thing of its own."""


@cache
def _numbered() -> re.Pattern[str]:
    # Not compiled before its first use: most prompts hold no digit.
    return re.compile(
        r"""
        (?<![\w.]) (?P<before>(?:since|least|minimum|min|before|after|until|to|from|than) [ \t]+ (?:the[ \t]+)?)?
        (?P<name>[^\W\d_]{2,}) (?:[ \t]{1,2}(?P<version>versions?|releases?))? (?:[ \t]{1,2}[#vV]?|-[vV]?(?=\d))
        (?P<number>\d{1,12}(?:\.\d{1,6})*(?:(?<=-\d{4})-\d{2,12}(?!-))?)
        (?P<more>(?:(?:[ \t]*,|[ \t]+(?:and|or|to|nor))[ \t]+[#vV]?\d{1,12}(?:\.\d{1,6})*(?![\w.,:-]*\d))*)
        (?![\w%+]|[.,:\u2013-]\d|[ \t]*(?:[smhd]|[kmg]b|ms|min|sec\w*|minutes?|hours?|days?|weeks?|months?|years?)\b)
        (?P<after>[ \t,]*(?:
            (?:or|and)[ \t]+(?:newer|later|higher|above|up|older|below|lower|earlier) | onwards? | at[ \t]+least
        )\b)?
        (?:[ \t]+(?:of|for)[ \t]+(?:(?:the|our)[ \t]+)?(?P<of>[^\W\d_]{2,}))?
        """,
        re.VERBOSE | re.IGNORECASE,
    )


def numbered_things(text: str, within: int | None = None) -> dict[str, set[str]]:
    """Return the numbers that a text puts behind each of its words, without the plural's ending.

    All of them, or those of its first characters.

    So are ``ABC-123``, ``Python 3.11`` and ``version 2.4 of the importer``, and the date on which something was. No
    version is among them that is one of a range, nor what something is to be moved to, nor any where the text asks
    which one it is: all of these are answered by what is known of another.
    """
    found: dict[str, set[str]] = {}
    if _DIGIT.search(text) is None:
        return found
    asks_which = _ASKS_WHICH.search(text) is not None
    is_change = _CHANGE.search(text) is not None
    end = len(text) if within is None else within
    for match in _numbered().finditer(text, 0, end + _MOST_BEHIND_A_NUMBER):
        if match.end("number") > end:
            break
        numbers = [match["number"], *_NUMBER.findall(match["more"])]
        before = (match["before"] or "").split(maxsplit=1)
        is_open = (
            match["after"]
            or " to " in match["more"]
            or (before and (is_change or before[0].casefold() not in ("to", "from")))
        )
        if is_open or (asks_which and "." in match["number"]):
            continue
        for name in _names_of(match):
            found.setdefault(name, set()).update(map(_plain_number, numbers))
    if dates := _DATE.findall(text, 0, end):
        found.setdefault("", set()).update(dates)
    return found


def _names_of(match: re.Match[str]) -> list[str]:
    """Return what a number is the number of: ``version`` beside the name of that which has it."""
    first = match["name"].casefold().removesuffix("s")
    is_version = match["version"] or first in ("version", "release")
    if not is_version:
        is_amount = match["name"].casefold() in _NOT_A_NAME or _SMALL_AMOUNT.fullmatch(match["number"])
        return [] if is_amount else [first]
    of = [match["of"].casefold().removesuffix("s")] if match["of"] else []
    named = [first] if match["version"] and match["name"].casefold() not in _NOT_A_NAME else []
    return ["version", *named, *of]


def _plain_number(number: str) -> str:
    return (number.lstrip("0") or "0") if number.isdigit() else number


def is_about_another(things: Mapping[str, set[str]], text: str) -> bool:
    """Tell whether a text is about a thing of the same name with another number than those asked about.

    It is if it begins with that name and holds none of the numbers, but as those of something else. A number that is
    said in passing, as in "while I am on issue 500", rules out no text that is about something else.
    """
    if not things:
        return False
    name = next((name for name in numbered_things(text, _SUBJECT_CHARS) if name in things), None)
    return name is not None and not _holds_any(things[name], name, text)


def _holds_any(numbers: set[str], name: str, text: str) -> bool:
    """Tell whether a text holds a number, or a part of one: version 2 is told to who asks for 2.4, and the reverse."""
    if not name:
        return any(number in text for number in numbers)
    ends = {number.rpartition("-")[2] for number in numbers}
    if not _have_same(set(map(_plain_number, _NUMBER.findall(text))), ends):
        return False
    own = numbered_things(text)
    of_others = {number for other, held in own.items() if other not in ("", name) for number in held}
    return _have_same(own.get(name, set()), numbers) or not _have_same(of_others, numbers)


def _have_same(some: set[str], others: set[str]) -> bool:
    return any(
        f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.") for one in some for other in others
    )
