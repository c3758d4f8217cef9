"""Tell whether two texts are about different places (a project, a branch) or things numbered differently.

It imports little, because hooks use it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

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

_NUMBERED = re.compile(
    r"(?<![\w.])([^\W\d_]{2,})[ \t]{1,2}#?(\d{1,12})(?![\w%]|[.,:]\d)(?![ \t]*(?:[smhd]|[kmg]b|ms|min)\b)"
)
_NOT_A_NAME = frozenset(
    """
    about after all and are at be before by for from has have in is least less more most of off on or over than the
    to under until was were with
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
"""Words after which a number is an amount or a moment."""


def numbered_things(text: str) -> dict[str, set[str]]:
    """Return the numbers that a text puts behind each of its words, without the plural's ending."""
    found: dict[str, set[str]] = {}
    for word, number in _NUMBERED.findall(text):
        name = word.casefold()
        if name not in _NOT_A_NAME:
            found.setdefault(name.removesuffix("s"), set()).add(number.lstrip("0") or "0")
    return found


def is_about_another(things: dict[str, set[str]], text: str) -> bool:
    """Tell whether a text is about a thing of the same name with another number than those asked about.

    It is if it begins with that name and holds none of the numbers. A number that is said in passing, as in "while I am
    on issue 500", rules out no text that is about something else.
    """
    if not things:
        return False
    own = numbered_things(text[:_SUBJECT_CHARS])
    return any(
        name in own and not any(re.search(rf"(?<!\d)0*{number}(?!\d)", text) for number in numbers)
        for name, numbers in things.items()
    )
