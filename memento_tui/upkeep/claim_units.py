"""The words that values are read with: numbers, units, weekdays, and nouns that a number belongs to."""

from __future__ import annotations

from memento_tui.upkeep.claim_words import words

__all__ = ["IDENTITIES", "LABELS", "NUMBER_WORDS", "ORDINALS", "UNITS", "WEEKDAYS"]

LABELS = words(
    """
    port page episode level version chapter row column season volume room floor grade rank priority seed build
    python node java ruby go rust postgres postgresql django react
    """
)
"""Nouns whose number follows them."""

IDENTITIES = words(
    """
    pr issue ticket phase stage step task section tier item fix round part sprint batch milestone story bug commit case
    figure table appendix rfc adr line rule number entry record note job lesson example sample node worker request run
    file question option attempt release
    """
)
"""Nouns whose number tells which one is meant: PR 12 and PR 13 are two things, not two claims of one."""

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen twenty""".split()  # noqa: SIM905 - as above
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

ORDINALS = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "ninth": 9,
    "tenth": 10,
}

_SECOND, _MINUTE, _HOUR, _DAY = 1.0, 60.0, 3600.0, 86400.0
_KB = 1024.0

UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), ("duration", 0.001)),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), ("duration", _SECOND)),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), ("duration", _MINUTE)),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), ("duration", _HOUR)),
    **dict.fromkeys(("d", "day", "days"), ("duration", _DAY)),
    **dict.fromkeys(("w", "week", "weeks"), ("duration", 7 * _DAY)),
    **dict.fromkeys(("month", "months"), ("duration", 30 * _DAY)),
    **dict.fromkeys(("y", "year", "years"), ("duration", 365 * _DAY)),
    **dict.fromkeys(("b", "byte", "bytes"), ("size", 1.0)),
    **dict.fromkeys(("kb", "kib", "kilobytes"), ("size", _KB)),
    **dict.fromkeys(("mb", "mib", "megabytes"), ("size", _KB**2)),
    **dict.fromkeys(("gb", "gib", "gigabytes"), ("size", _KB**3)),
    **dict.fromkeys(("tb", "tib", "terabytes"), ("size", _KB**4)),
    **dict.fromkeys(("percent", "%"), ("percent", 1.0)),
    **dict.fromkeys(("dollars", "dollar", "usd", "euros", "euro", "eur", "pounds_sterling"), ("money", 1.0)),
    **dict.fromkeys(("times", "time", "x"), ("times", 1.0)),
}
"""A unit's dimension, and how many of the dimension's own unit it is."""
