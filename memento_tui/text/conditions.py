"""Tell by plain words which of two facts holds in a place, where a person has said of each when it applies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

__all__ = ["names_place", "of_other_places"]

_WORD = re.compile(r"[^\W_]+")


def names_place(condition: str, namespace: str) -> bool:
    """Tell whether a condition holds every word of a namespace's last name: ``in web-shop`` for ``projects/web-shop``.

    ``global`` is no place.
    """
    wanted = set(_WORD.findall(namespace.rpartition("/")[2].casefold()))
    return namespace != "global" and bool(wanted) and wanted <= set(_WORD.findall(condition.casefold()))


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
