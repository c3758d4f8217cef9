"""Skips, working items and identity crystals: the three short lists, behind the same gate as memories."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

import msgspec

from memento_tui.errors import Conflict, DataDirectoryError, InvalidField
from memento_tui.records import Crystal, Proposal, Skip, WorkingItem, make_crystal, make_item, make_proposal, make_skip
from memento_tui.records.when import utc_now
from memento_tui.review.policy import Intent, Preset, Verdict, judge
from memento_tui.store.journal import Author
from memento_tui.store.store import Store
from memento_tui.store.tables import as_plain
from memento_tui.store.transaction import Transaction

__all__ = ["Crystals", "Items", "Skips"]

_log = logging.getLogger(__name__)

Entry = TypeVar("Entry", Skip, WorkingItem)
_WORD = re.compile(r"\w+")
_FIXED = {"id", "created_at", "created_by", "version", "hits", "last_hit_at"}


class _Governed:
    """What the lists share: an author, a policy, and writes that either happen or become proposals."""

    target: Literal["skip", "item", "crystal"]

    def __init__(self, store: Store, author: Author, preset: Preset) -> None:
        self._store = store
        self._author = author
        self._preset = preset

    def _judge(self, action: Literal["create", "edit", "delete"], *, identity_is_persons: bool = False) -> Verdict:
        by_person = self._author.actor == "person"
        intent = Intent(action, self.target, by_person=by_person, identity_is_persons=identity_is_persons)
        return judge(self._preset, intent)

    def _propose(
        self, tx: Transaction, action: str, verdict: Verdict, target_id: str, base: int, payload: dict[str, Any]
    ) -> Proposal:
        fields = {
            "action": action,
            "target": self.target,
            "target_id": target_id,
            "base_version": base,
            "payload": msgspec.json.decode(msgspec.json.encode(payload)),
            "reasons": verdict.reasons,
            "proposed_by": self._author.name,
            "session": self._author.session,
        }
        return tx.put(make_proposal(fields), base=0)

    def _create(self, make: Callable[..., Entry], fields: dict[str, Any]) -> Entry | Proposal:
        made = make(fields)
        verdict = self._judge("create")
        with self._store.transaction(self._author, f"{self.target} add") as tx:
            if verdict.answer == "propose":
                payload = {name: getattr(made, name) for name in made.__struct_fields__ if name != "version"}
                return self._propose(tx, "create", verdict, made.id, 0, payload)
            return tx.put(made, base=0)

    def _change(
        self, make: Callable[..., Entry], prefix: str, base_version: int | None, changes: dict[str, Any]
    ) -> Entry | Proposal:
        for name in changes:
            if name in _FIXED:
                raise InvalidField(name, "cannot be changed")
        found = self._store.resolve(self.target, prefix)
        verdict = self._judge("edit")
        with self._store.transaction(self._author, f"{self.target} edit") as tx:
            before = tx.require(self.target, found)
            plain = {name: getattr(before, name) for name in before.__struct_fields__}
            after = make({**plain, **changes, "updated_at": tx.now})
            if verdict.answer != "propose" or base_version not in (None, before.version):
                return tx.put(after, base=before.version if base_version is None else base_version)
            wanted = {name: getattr(after, name) for name in changes}
            return self._propose(tx, "edit", verdict, found, before.version, wanted)

    def _remove(self, prefix: str) -> Proposal | None:
        found = self._store.resolve(self.target, prefix)
        verdict = self._judge("delete")
        with self._store.transaction(self._author, f"{self.target} remove") as tx:
            before = tx.require(self.target, found)
            if verdict.answer == "propose":
                return self._propose(tx, "delete", verdict, found, before.version, {})
            tx.remove(before, base=before.version)
            return None


class Skips(_Governed):
    """What the agent is not to do, why, and until when."""

    target = "skip"

    def add(self, item: str, reason: str, expires_at: Any, **fields: Any) -> Skip | Proposal:  # noqa: ANN401 - a moment in any form
        """Add a skip. Raises `InvalidField` unless its end is in the future."""
        values = {"item": item, "reason": reason, "expires_at": expires_at, "created_by": self._author.name, **fields}
        return self._create(make_skip, values)

    def update(self, skip_id: str, *, base_version: int | None = None, **changes: Any) -> Skip | Proposal:  # noqa: ANN401 - fields
        """Change a skip: extend it, or say the reason better."""
        return self._change(make_skip, skip_id, base_version, changes)

    def remove(self, skip_id: str) -> Proposal | None:
        """End a skip now; a proposal comes back where the gate asks a person."""
        return self._remove(skip_id)

    def list(self, *, ended: bool = False) -> list[Skip]:
        """Return the skips that hold, soonest to end first; with ``ended`` those that are over as well."""
        return self._store.skips(at=None if ended else utc_now())

    def get(self, skip_id: str) -> Skip:
        """Return a skip by its id or a unique beginning of it."""
        skip: Skip = self._store.get("skip", self._store.resolve("skip", skip_id))
        return skip

    def check(self, query: str) -> Sequence[Skip]:
        """Return the skips that hold for something about to be done, and count a hit for each.

        A skip matches if all the words of its item stand in the query, or all those of the query in its item.
        """
        asked = _words(query)
        matched = [skip for skip in self.list() if asked and _matches(asked, _words(skip.item))]
        if matched:
            try:
                self._store.count_use("skip", [skip.id for skip in matched], used=1)
            except DataDirectoryError as error:
                _log.warning("hits of skips were not counted: %s", error)
        return matched


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


def _matches(asked: set[str], item: set[str]) -> bool:
    return bool(item) and (item <= asked or asked <= item)


class Items(_Governed):
    """What is being done, what holds until further notice, and what is waited for."""

    target = "item"

    def create(self, title: str, **fields: Any) -> WorkingItem | Proposal:  # noqa: ANN401 - fields
        """Add a working item. Raises `InvalidField`."""
        return self._create(make_item, {"title": title, **fields})

    def update(self, item_id: str, *, base_version: int | None = None, **changes: Any) -> WorkingItem | Proposal:  # noqa: ANN401 - fields
        """Change a working item."""
        return self._change(make_item, item_id, base_version, changes)

    def remove(self, item_id: str) -> Proposal | None:
        """Remove a working item; a proposal comes back where the gate asks a person."""
        return self._remove(item_id)

    def get(self, item_id: str) -> WorkingItem:
        """Return a working item by its id or a unique beginning of it."""
        item: WorkingItem = self._store.get("item", self._store.resolve("item", item_id))
        return item

    def list(self, *, category: str | None = None, status: str | None = None) -> list[WorkingItem]:
        """Return the working items, highest priority first."""
        return self._store.items(category=category, status=status)


class Crystals(_Governed):
    """Who the agent is, in prose, and who it was."""

    target = "crystal"

    def current(self) -> Crystal | None:
        """Return the crystal that holds now."""
        return self._store.current_crystal()

    def history(self) -> list[Crystal]:
        """Return all crystals, newest first, proposed ones among them."""
        return self._store.crystals()

    def write(self, content: str, *, base_id: str | None = None) -> Crystal:
        """Write a new crystal; the old one stays in the history. Its status is ``proposed`` if a person is asked.

        Raises:
            Conflict: the crystal ``base_id``, which the caller read, is no longer the current one.
            InvalidField: the text breaks a rule.

        """
        with self._store.transaction(self._author, "crystal write") as tx:
            before = tx.with_status("crystal", "current")
            current: Crystal | None = before[0] if before else None
            parent = "" if current is None else current.id
            made = make_crystal({"content": content, "parent": parent, "author": self._author.name})
            if base_id is not None and base_id != parent:
                raise Conflict(
                    "The identity was changed meanwhile.",
                    "Read it again, then write yours from it.",
                    current=None if current is None else as_plain(current),
                    attempted=as_plain(made),
                )
            persons = current is not None and self._has_person(current)
            verdict = self._judge("create", identity_is_persons=persons)
            if verdict.answer == "propose":
                proposed = tx.put(msgspec.structs.replace(made, status="proposed"), base=0)
                self._propose(tx, "create", verdict, proposed.id, proposed.version, {})
                return proposed
            for old in before:
                tx.put(msgspec.structs.replace(old, status="past"), base=old.version)
            return tx.put(made, base=0)

    def _has_person(self, crystal: Crystal) -> bool:
        return any(revision.entry.actor == "person" for revision in self._store.history("crystal", crystal.id))

    def restore(self, crystal_id: str) -> Crystal:
        """Write an old crystal's text as a new one."""
        old = self._store.get("crystal", self._store.resolve("crystal", crystal_id))
        return self.write(old.content)
