"""The relations that imported records name: drawn when all of them are known, redrawn when a record changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memento_tui.errors import MementoError
from memento_tui.interchange.incoming import Incoming
from memento_tui.interchange.targets import Targets
from memento_tui.records import make_relation
from memento_tui.store.store import LedgerRow
from memento_tui.store.transaction import Transaction

__all__ = ["LinkKeeper"]


class LinkKeeper:
    """Collects the links of one import, and draws them at its end."""

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

    def draw(self, tx: Transaction, source: str) -> list[LedgerRow]:
        """Write the relations that do not exist yet, and return their lines for the ledger.

        A link whose target is not among what was imported is left; the text of the record still holds it.
        """
        rows: list[LedgerRow] = []
        if not self._links:
            return rows
        targets = Targets()
        for note in self._notes:
            targets.take(*note)
        for one, src in self._links:
            for kind, written, label in one.links:
                key = f"link:{one.key}>{kind}>{written}"
                target = targets.resolve(written, one.key)
                if key in self._ledger or target is None or self._ids[target] == src:
                    continue
                fields = {"src": src, "dst": self._ids[target], "type": kind, "label": label}
                try:
                    relation = tx.put(make_relation(fields, now=tx.now), base=0)
                except MementoError:
                    # A label that is no single line is the note's own business; the link stays in its text.
                    continue
                rows.append(LedgerRow(source, key, "relation", relation.id, b"", relation.version))
        return rows
