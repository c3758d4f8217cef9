"""Searches that a person keeps under a name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from memento_tui.errors import InvalidField, InvalidInput, NotAllowed, NotFound
from memento_tui.search.language import parse
from memento_tui.store.journal import Author
from memento_tui.store.store import Store

__all__ = ["SavedSearch", "SavedSearches"]

_SETTING = "saved_searches"
_LONGEST_NAME, _LONGEST_QUERY = 40, 1_000
"""Characters."""
_MOST = 100


class SavedSearch(msgspec.Struct, frozen=True):
    """A query and the name it goes by."""

    name: str
    query: str

    @property
    def id(self) -> str:
        """The form in which names are compared: their case does not matter."""
        return self.name.casefold()


_decode = msgspec.json.Decoder(list[SavedSearch]).decode


class SavedSearches:
    """The saved searches of one data directory, by name. They are settings: the journal does not tell of them."""

    def __init__(self, store: Store, author: Author) -> None:
        self._store = store
        self._author = author

    def list(self) -> Sequence[SavedSearch]:
        """Return all of them, by name."""
        return sorted(_read(self._store.setting(_SETTING)), key=lambda saved: saved.id)

    def get(self, name: str) -> SavedSearch:
        """Return one by its name, in whatever case. Raises `NotFound`."""
        return _found(_read(self._store.setting(_SETTING)), name)

    def save(self, name: str, query: str, *, replace: bool = False) -> SavedSearch:
        """Keep a query under a name.

        Raises:
            InvalidInput: the query has a part that cannot be used, or there are too many saved searches already.
            InvalidField: the name is empty, too long, or holds characters that cannot be seen.
            NotAllowed: the name is taken and ``replace`` is not set, or an agent asks.

        """
        made = SavedSearch(_checked_name(name), _checked_query(query))

        def add(present: Sequence[SavedSearch]) -> Sequence[SavedSearch]:
            others = [saved for saved in present if saved.id != made.id]
            if len(others) < len(present) and not replace:
                raise _taken(made.name)
            if len(others) >= _MOST:
                raise InvalidInput(f"There are {_MOST} saved searches already.", "Remove one that you do not need.")
            return [*others, made]

        self._change(add)
        return made

    def rename(self, name: str, new_name: str) -> SavedSearch:
        """Give a saved search another name. Raises like `save`, and `NotFound`."""
        wanted = _checked_name(new_name)
        renamed: list[SavedSearch] = []

        def change(present: Sequence[SavedSearch]) -> Sequence[SavedSearch]:
            old = _found(present, name)
            made = SavedSearch(wanted, old.query)
            others = [saved for saved in present if saved.id != old.id]
            if any(saved.id == made.id for saved in others):
                raise _taken(wanted)
            renamed.append(made)
            return [*others, made]

        self._change(change)
        return renamed[-1]

    def remove(self, name: str) -> SavedSearch:
        """Forget a saved search, and return what it was. Raises `NotFound` or `NotAllowed`."""
        removed: list[SavedSearch] = []

        def change(present: Sequence[SavedSearch]) -> Sequence[SavedSearch]:
            removed.append(_found(present, name))
            return [saved for saved in present if saved.id != removed[-1].id]

        self._change(change)
        return removed[-1]

    def _change(self, change: Callable[[Sequence[SavedSearch]], Sequence[SavedSearch]]) -> None:
        if self._author.actor != "person":
            raise NotAllowed("Only a person keeps searches.", "Search for what you need instead.")
        self._store.change_setting(_SETTING, lambda present: msgspec.json.encode(list(change(_read(present)))).decode())


def _read(setting: str | None) -> list[SavedSearch]:
    return [] if setting is None else _decode(setting)


def _found(present: Sequence[SavedSearch], name: str) -> SavedSearch:
    wanted = name.strip().casefold()
    found = next((saved for saved in present if saved.id == wanted), None)
    if found is None:
        raise NotFound(f"There is no saved search {name!r:.60}.", "`memento searches` lists them.")
    return found


def _taken(name: str) -> NotAllowed:
    return NotAllowed(f"There is a saved search {name!r} already.", "Choose another name, or remove that one first.")


def _checked_name(name: str) -> str:
    given = " ".join(name.split())
    if not given:
        raise InvalidField("name", "is empty", "Give the search a name of a few words.")
    if len(given) > _LONGEST_NAME:
        raise InvalidField("name", f"has {len(given)} characters; the limit is {_LONGEST_NAME}")
    if not given.isprintable():
        raise InvalidField("name", "holds characters that cannot be seen", "Type it anew.")
    return given


def _checked_query(query: str) -> str:
    given = query.strip()
    if not given:
        raise InvalidInput("There is no search to save.", "Search for something first.")
    if len(given) > _LONGEST_QUERY:
        raise InvalidInput(f"The query has {len(given):,} characters; the limit is {_LONGEST_QUERY:,}.")
    if problems := parse(given).problems:
        raise InvalidInput(f"The search was not saved. {problems[0]}", "Mend the query, then save it.")
    return given
