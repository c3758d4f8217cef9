# ruff: noqa: RUF001 - the numerals of other scripts look like letters of this one
"""Words for quantities: numbers, units of measurement, months and weekdays; a count with its noun or unit."""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = [
    "CJK_NUMERALS",
    "FOREIGN_NUMBER_WORDS",
    "MONTHS",
    "MONTH_NAMES",
    "NUMBER_WORDS",
    "ORDINALS",
    "SCALES",
    "UNITS",
    "VAGUE_COUNTS",
    "WEEKDAYS",
    "Unit",
    "count_of",
    "format_bytes",
]

NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen twenty""".split()  # noqa: SIM905 - a paragraph is easier to read than quoted words
    )
} | {
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
    "hundred": 100,
    "dozen": 12,
    "single": 1,
    "couple": 2,
}
"""English words for a whole number."""

VAGUE_COUNTS = {"a couple of": 2, "couple of": 2, "a few": 3, "a dozen": 12}
"""English phrases for a number that nobody counted, with the number that is meant most often."""

ORDINALS = {
    word: number
    for number, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth".split(),  # noqa: SIM905 - as above
        start=1,
    )
}

SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "bn": 1e9, "b": 1e9, "billion": 1e9}
"""Words and letters that multiply the number before them; a lone ``b`` behind a number may also be a byte."""

FOREIGN_NUMBER_WORDS = {
    word: number
    for number, words in {
        2: "zwei deux", 3: "drei trois tres", 4: "vier quatre cuatro", 5: "fünf cinq cinco", 6: "sechs seis",
        7: "sieben siete", 8: "ocho", 9: "neun nueve", 10: "zehn diez", 11: "elf onze", 12: "zwölf douze doce",
        100: "hundert", 1_000: "tausend", 1_000_000: "millionen",
    }.items()
    for word in words.split()
}  # fmt: skip
"""German, French and Spanish words for a number of two or more that are no other word of these languages or English."""

CJK_NUMERALS = {
    "〇": 0, "零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9,
    "十": 10,
}  # fmt: skip
"""Chinese and Japanese numerals of one character."""

MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
MONTHS = (
    {name: number for number, name in enumerate(MONTH_NAMES, 1)}
    | {name[:3]: number for number, name in enumerate(MONTH_NAMES, 1)}
    | {"sept": 9}
)
"""The months' names and short names in lower case, and their numbers from 1."""

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

Dimension = Literal["duration", "size", "percent", "money", "times"]

_SECOND, _MINUTE, _HOUR, _DAY = 1.0, 60.0, 3600.0, 86400.0
_KIBIBYTE = 1024.0


class Unit(NamedTuple):
    """A unit of measurement."""

    dimension: Dimension
    factor: float
    """How many of the dimension's own unit it is: seconds, bytes, or the unit itself."""
    symbol: str
    """The shortest way to write it, the same for every word of one unit."""


_UNIT_WORDS: tuple[tuple[Dimension, float, str], ...] = (
    ("duration", 0.001, "ms msec millisecond milliseconds"),
    ("duration", _SECOND, "s sec secs second seconds"),
    ("duration", _MINUTE, "min mins minute minutes"),
    ("duration", _HOUR, "h hr hrs hour hours"),
    ("duration", _DAY, "d day days"),
    ("duration", 7 * _DAY, "w week weeks"),
    ("duration", 30 * _DAY, "month months"),
    ("duration", 365 * _DAY, "y year years"),
    ("size", 1.0, "b byte bytes"),
    ("size", _KIBIBYTE, "kb kib kilobyte kilobytes"),
    ("size", _KIBIBYTE**2, "mb mib megabyte megabytes"),
    ("size", _KIBIBYTE**3, "gb gib gigabyte gigabytes"),
    ("size", _KIBIBYTE**4, "tb tib terabyte terabytes"),
    ("percent", 1.0, "% percent"),
    ("money", 1.0, "usd dollar dollars"),
    ("money", 1.0, "eur euro euros"),
    ("money", 1.0, "pounds_sterling"),
    ("times", 1.0, "x time times"),
)
UNITS = {
    word: Unit(dimension, factor, words.split()[0])
    for dimension, factor, words in _UNIT_WORDS
    for word in words.split()
}
"""The units by the lower-case words for them. A kilobyte counts 1,024 bytes, a month 30 days."""


def count_of(count: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun: ``1 memory``, ``2 memories``; the plural ends in s if not given."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def format_bytes(count: int) -> str:
    """Return a number of bytes in decimal units, such as ``258 kB`` or ``1.4 GB``."""
    size = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1_000:  # noqa: PLR2004 - the next unit
            return f"{size:.0f} {unit}" if unit in ("bytes", "kB") else f"{size:.1f} {unit}"
        size /= 1_000
    return f"{size:.1f} TB"
