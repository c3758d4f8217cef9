"""Which of the records that a source tells apart by a number alone is which, after one of them came or went.

A bullet in a list has no name. Known by its number it would take over the memory of its neighbour, with what a person
verified there, as soon as a line is put in above it. So it is known by its text: one with the same text as before is
the same, and so is one whose text is like that of a bullet which is no longer there. Any other is new.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import SequenceMatcher

import msgspec

from memento_tui.interchange.incoming import SAID, Incoming, Refused
from memento_tui.store.imports import LedgerRow

__all__ = ["renumbered"]

_LIKE = 0.6
"""The share of two texts that is the same where one was made of the other."""
_MOST_COMPARED = 100
"""Texts of one list that are compared with each other; of a longer one only those that are the same are known again."""
_LONGEST_COMPARED = 4_000


def renumbered(
    found: Iterable[Incoming | Refused], ledger: Mapping[str, LedgerRow], said: Callable[[LedgerRow], str]
) -> Iterator[Incoming | Refused]:
    """Yield what a reader finds, the records of each list under the keys that they had at the import before.

    ``said`` returns the text that a line of the ledger stands for, or nothing where that was purged.
    """
    listed: list[Incoming] = []
    for one in found:
        if isinstance(one, Refused):
            yield one
            continue
        if listed and listed[0].among != one.among:
            yield from _renumbered(listed, ledger, said)
            listed = []
        if one.among:
            listed.append(one)
        else:
            yield one
    yield from _renumbered(listed, ledger, said)


def _renumbered(
    listed: list[Incoming], ledger: Mapping[str, LedgerRow], said: Callable[[LedgerRow], str]
) -> Iterator[Incoming]:
    before = _before(listed[0].record, listed[0].among, ledger) if listed else {}
    for one, key in zip(listed, _keys(listed, before, said), strict=True):
        yield msgspec.structs.replace(one, key=key)


def _before(record: str, among: str, ledger: Mapping[str, LedgerRow]) -> dict[str, LedgerRow]:
    """Return the lines of the ledger for what stood in a list, by the keys of its records."""
    start = f"{record}:"
    rows = {key.removeprefix(start): row for key, row in ledger.items() if key.startswith(f"{start}{among}.")}
    return {key: row for key, row in rows.items() if key[len(among) + 1 :].isdecimal()}


def _keys(listed: list[Incoming], before: dict[str, LedgerRow], said: Callable[[LedgerRow], str]) -> list[str]:
    left = dict(before)
    keys: dict[int, str] = {}
    for at, one in enumerate(listed):
        same = [key for key, row in left.items() if row.digest[SAID] == one.digest[SAID]]
        if same:
            keys[at] = one.key if one.key in same else same[0]
            del left[keys[at]]
    others = [at for at in range(len(listed)) if at not in keys]
    texts = {key: said(row) for key, row in left.items()} if max(len(others), len(left)) <= _MOST_COMPARED else {}
    for at in others:
        own = listed[at].key
        text = listed[at].fields["content"]
        like = {key: _likeness(text, other) for key, other in texts.items()}
        best = max(like, key=lambda key: (like[key], key == own), default="")
        if best and like[best] >= _LIKE:
            keys[at] = best
            del texts[best]
    used = {*before, *keys.values()}
    for at in others:
        if at not in keys:
            keys[at] = _free(listed[at], used)
            used.add(keys[at])
    return [keys[at] for at in range(len(listed))]


def _likeness(one: str, other: str) -> float:
    matcher = SequenceMatcher(None, one[:_LONGEST_COMPARED], other[:_LONGEST_COMPARED], autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= _LIKE else 0.0


def _free(one: Incoming, used: set[str]) -> str:
    numbers = itertools.count(len(used) + 1)
    return one.key if one.key not in used else next(k for n in numbers if (k := f"{one.among}.{n}") not in used)
