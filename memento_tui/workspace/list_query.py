"""What selects among the short lists: words, and fields such as ``category:waiting`` or ``expires:<7d``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import msgspec

from memento_tui.errors import InvalidInput
from memento_tui.records import Skip, WorkingItem
from memento_tui.records.item import CATEGORIES, ITEM_STATUSES
from memento_tui.records.rules import fold_tag
from memento_tui.records.when import parse_span

__all__ = [
    "CATEGORY_WORDS",
    "STATUS_WORDS",
    "ItemQuery",
    "SkipQuery",
    "category_named",
    "item_query",
    "skip_query",
    "status_named",
]

CATEGORY_WORDS = {name: name.replace("_", " ") for name in CATEGORIES}
"""What each category of a working item is called."""

STATUS_WORDS = {**{name: name for name in ITEM_STATUSES}, "completed": "done"}
"""What each status of a working item is called."""

_TERM = re.compile(r'(?:(\w+):)?(?:"([^"]*)"?|(\S+))')


class ItemQuery(msgspec.Struct, frozen=True):
    """Selects working items by words and tags, of which they have all, and by categories and statuses, of which one."""

    words: tuple[str, ...] = ()
    categories: frozenset[str] = frozenset()
    statuses: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    problems: tuple[str, ...] = ()
    """A sentence for each part that could not be read, and is left out."""

    def matches(self, item: WorkingItem) -> bool:
        """Tell whether an item is selected."""
        return (
            (not self.categories or item.category in self.categories)
            and (not self.statuses or item.status in self.statuses)
            and (not self.tags or self.tags <= {fold_tag(tag) for tag in item.tags})
            and _has_all(self.words, (item.title, item.content, item.next_action))
        )


class SkipQuery(msgspec.Struct, frozen=True):
    """Selects skips that have all the words, were made by somebody, and are to end within a span."""

    words: tuple[str, ...] = ()
    makers: tuple[str, ...] = ()
    within: timedelta | None = None
    problems: tuple[str, ...] = ()
    """A sentence for each part that could not be read, and is left out."""

    def matches(self, skip: Skip, now: datetime) -> bool:
        """Tell whether a skip is selected at a moment."""
        return (
            _has_all(self.words, (skip.item, skip.reason))
            and all(maker in skip.created_by.casefold() for maker in self.makers)
            and (self.within is None or timedelta() < skip.expires_at - now < self.within)
        )


def item_query(text: str, *, strict: bool = False) -> ItemQuery:
    """Read words, ``category:``, ``status:`` and ``tag:``. ``strict`` raises `InvalidInput` for the first problem."""
    words: list[str] = []
    categories: set[str] = set()
    statuses: set[str] = set()
    tags: set[str] = set()
    problems: list[str] = []
    for key, value in _terms(text, ("category", "status", "tag")):
        if key == "category":
            _choose(value, key, CATEGORY_WORDS, categories, problems)
        elif key == "status":
            _choose(value, key, STATUS_WORDS, statuses, problems)
        elif key == "tag":
            tags.add(fold_tag(value.lstrip("#")))
        else:
            words.append(value.casefold())
    _check(problems, strict=strict)
    return ItemQuery(tuple(words), frozenset(categories), frozenset(statuses), frozenset(tags), tuple(problems))


def skip_query(text: str, *, strict: bool = False) -> SkipQuery:
    """Read words, ``by:`` and ``expires:<7d``. ``strict`` raises `InvalidInput` for the first problem."""
    words: list[str] = []
    makers: list[str] = []
    within: timedelta | None = None
    problems: list[str] = []
    for key, value in _terms(text, ("by", "expires")):
        if key == "by":
            makers.append(value.casefold())
        elif key == "expires":
            span = parse_span(value.lstrip("<="))
            if span is None:
                problems.append(f"expires: takes a span such as <7d, not {value!r:.60}.")
            within = span or within
        else:
            words.append(value.casefold())
    _check(problems, strict=strict)
    return SkipQuery(tuple(words), tuple(makers), within, tuple(problems))


def category_named(text: str) -> str:
    """Return the category that a person's words, or the beginning of them, name. Raises `InvalidInput`."""
    return _named(text, "category", CATEGORY_WORDS)


def status_named(text: str) -> str:
    """Return the status that a person's word, or the beginning of it, names. Raises `InvalidInput`."""
    return _named(text, "status", STATUS_WORDS)


def _named(text: str, key: str, words: dict[str, str]) -> str:
    found: set[str] = set()
    problems: list[str] = []
    _choose(text.strip(), key, words, found, problems)
    _check(problems, strict=True)
    if len(found) > 1:
        raise InvalidInput(f"The {key} {text!r:.60} may mean several.", f"Name one of {_listed(words)}.")
    return found.pop()


def _terms(text: str, keys: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Yield each word with its key, empty for none. What looks like a key and is none is part of the word."""
    for match in _TERM.finditer(text):
        key, quoted, plain = match.groups()
        value = plain if quoted is None else quoted
        if key in keys:
            yield key, value
        elif value.rstrip(":") not in keys:
            # A key without a value yet is being typed.
            yield "", f"{key}:{value}" if key else value


def _choose(value: str, key: str, words: dict[str, str], chosen: set[str], problems: list[str]) -> None:
    """Add the names that a word begins, or their words do; one that is meant in full is the only one."""
    given = value.casefold().replace("-", "_").replace(" ", "_")
    named = {name: (name, word.replace(" ", "_")) for name, word in words.items()}
    exact = {name for name, said in named.items() if given in said}
    found = exact or {name for name, said in named.items() if any(word.startswith(given) for word in said)}
    if given and found:
        chosen |= found
    else:
        problems.append(f"There is no {key} {value!r:.60}; there are {_listed(words)}.")


def _listed(words: dict[str, str]) -> str:
    return ", ".join(words.values())


def _has_all(words: Sequence[str], texts: Sequence[str]) -> bool:
    text = "\n".join(texts).casefold() if words else ""
    return all(word in text for word in words)


def _check(problems: Sequence[str], *, strict: bool) -> None:
    if problems and strict:
        raise InvalidInput(problems[0])
