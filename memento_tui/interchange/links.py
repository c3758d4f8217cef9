"""The relations that imported records name: drawn when all of them are known, redrawn when a record changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memento_tui.errors import MementoError
from memento_tui.interchange.incoming import Incoming
from memento_tui.interchange.targets import Targets
from memento_tui.records import Relation, make_relation
from memento_tui.store.imports import LedgerRow

__all__ = ["LinkKeeper"]

_LINK = "link:"
_WRITTEN_OUT = ("file", "item")
"""The types of relations whose end is written as it is: a path, or a working item's id."""


class LinkKeeper:
    """Collects the links of one import, and tells at its end what there is to draw."""

    def __init__(self, ledger: Mapping[str, LedgerRow]) -> None:
        self._ledger = ledger
        self._notes: list[tuple[str, str, dict[str, Any]]] = []
        self._ids: dict[str, str] = {}
        self._links: list[tuple[Incoming, str]] = []

    def take(self, one: Incoming, record_id: str) -> None:
        """Remember a record as the end of links, and the links that begin at it."""
        if one.record != "memory":
            return
        self._ids[one.key] = record_id
        self._notes.append((one.key, one.fields.get("title", ""), one.fields.get("extra", {}).get("frontmatter", {})))
        if one.links:
            self._links.append((one, record_id))

    def gone(self, alive: Mapping[str, int]) -> Iterator[str]:
        """Yield the relations that an earlier import drew and whose links are gone.

        ``alive`` has the versions of the relations of earlier imports that still exist.
        """
        named = {_key(one, *link) for one, _ in self._links for link in one.links}
        for key, row in self._ledger.items():
            if row.record_id not in alive or row.record != "relation" or key in named:
                continue
            if key.startswith(_LINK) and self._is_of_a_note(key.removeprefix(_LINK)):
                yield row.record_id

    def missing(self, alive: Mapping[str, int]) -> Iterator[tuple[str, Relation]]:
        """Yield the relations that do not exist yet, each with what names it in the ledger.

        A link whose target is not among what was imported is left; the text of the record still holds it.
        """
        targets = Targets()
        for note in self._notes if self._links else ():
            targets.take(*note)
        for one, src in self._links:
            for kind, written, label in one.links:
                key = _key(one, kind, written, label)
                end = self._end(targets, one, kind, written)
                drawn = self._ledger.get(key)
                if (drawn and drawn.record_id in alive) or end is None or end == src:
                    continue
                try:
                    yield key, make_relation({"src": src, "dst": end, "type": kind, "label": label})
                except MementoError:
                    # A label that is no single line is the note's own business; the link stays in its text.
                    continue

    def _end(self, targets: Targets, one: Incoming, kind: str, written: str) -> str | None:
        """Return the id or path that a link leads to; ``None`` for a memory that is not among the imported."""
        if kind in _WRITTEN_OUT:
            return written
        target = targets.resolve(written, one.key)
        return None if target is None else self._ids[target]

    def _is_of_a_note(self, rest: str) -> bool:
        """Tell whether a link begins at one of the notes of this import; a note's key may hold the mark itself."""
        ends = [place for place, character in enumerate(rest) if character == ">"]
        return any(rest[:end] in self._ids for end in ends)


def _key(one: Incoming, kind: str, written: str, label: str) -> str:
    """Return what names a link in the ledger; one record may be joined to another in several ways."""
    return f"{_LINK}{one.key}>{kind}>{written}" + (f">{label}" if label else "")
