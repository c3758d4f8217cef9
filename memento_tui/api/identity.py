"""The identity through time: every crystal in order, the changes between them, and the proposals among them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memento_tui.errors import Conflict, NotFound
from memento_tui.model import Crystal, Proposal, make_crystal
from memento_tui.model.memory import content_digest
from memento_tui.model.review import OPEN_PROPOSAL_STATES
from memento_tui.model.validation import to_plain
from memento_tui.policy.admission import identity_is_persons
from memento_tui.policy.gate import Gate, ProposalDraft, Screened
from memento_tui.policy.policy import Verdict, WriteIntent
from memento_tui.storage.store import Store
from memento_tui.storage.transaction import Transaction
from memento_tui.text.diff import unified_diff

__all__ = ["CrystalChange", "Crystals", "crystal_before", "writer_of"]


class CrystalChange(msgspec.Struct, frozen=True):
    """The change from one crystal to another."""

    before: Crystal | None
    """``None`` where the other is the first of all: everything in it is new."""
    after: Crystal

    @property
    def unified(self) -> str:
        """The difference as a unified diff; empty where both say the same."""
        head = f"--- {self.before.id if self.before else '/dev/null'}\n+++ {self.after.id}"
        if self.before is None:
            lines = self.after.content.split("\n")
            return "\n".join([head, f"@@ -0,0 +1,{len(lines)} @@", *(f"+{line}" for line in lines)])
        changed = unified_diff(self.before.content, self.after.content)
        return f"{head}\n{changed}" if changed else ""


def crystal_before(crystal: Crystal, history: Sequence[Crystal]) -> Crystal | None:
    """Return the crystal that one came after, ``None`` where there was none.

    For one that is proposed that is the current one, because approving would replace it; for any other its parent, or
    where that is not known the latest before it that held. ``history`` is the timeline of all crystals.
    """
    if crystal.status == "proposed":
        return next((other for other in history if other.status == "current"), None)
    parent = next((other for other in history if other.id == crystal.parent), None)
    if parent is not None:
        return parent
    places = [place for place, other in enumerate(history) if other.id == crystal.id]
    older = history[places[0] + 1 :] if places else ()
    return next((other for other in older if other.status in ("current", "past")), None)


def writer_of(crystal: Crystal) -> str:
    """Return who wrote a crystal: ``you``, or the agent by its name. The name is as the agent gave it."""
    return "you" if crystal.author == "person" else crystal.author or "unknown"


class Crystals:
    """The agent's identity in prose: the current crystal, the proposed ones, and the past."""

    def __init__(self, store: Store, gate: Gate) -> None:
        self._store = store
        self._author = gate.author
        self._gate = gate

    def current(self) -> Crystal | None:
        """Return the crystal that holds now."""
        return self._store.lists.current_crystal()

    def timeline(self) -> list[Crystal]:
        """Return every crystal, newest first, those that are proposed or were rejected among them."""
        # Sorting keeps the order of writing among those of one moment.
        return sorted(self._store.all_of(Crystal), key=lambda crystal: crystal.created_at)[::-1]

    def find(self, crystal_id: str) -> Crystal | None:
        """Return a crystal by its whole id, or ``None``."""
        return self._store.find(Crystal, crystal_id)

    def get(self, crystal_id: str) -> Crystal:
        """Return a crystal by its id or a unique beginning of it. Raises `NotFound` or `AmbiguousId`."""
        return self._store.get(Crystal, self._store.resolve("crystal", crystal_id))

    def compare(self, crystal_id: str, other: str | None = None) -> CrystalChange:
        """Return the change from a crystal to ``other``; without that, the change that led to it from the one before.

        Raises:
            NotFound, AmbiguousId: no crystal, or several, have one of the ids.

        """
        first = self.get(crystal_id)
        if other is not None:
            return CrystalChange(first, self.get(other))
        return CrystalChange(crystal_before(first, self.timeline()), first)

    def open_proposal(self, crystal_id: str) -> Proposal:
        """Return the proposal through which a crystal waits for a person. Raises `NotFound` if none does."""
        proposals = self._store.proposals.about(crystal_id, "crystal")
        found = next((p for p in proposals if p.state in OPEN_PROPOSAL_STATES), None)
        if found is None:
            raise NotFound("This identity does not wait for a decision.", "Those that do are marked with ~.")
        return found

    def write(self, content: str, *, base_id: str | None = None) -> Crystal:
        """Write a new crystal; the old one stays in the history. Its status is ``proposed`` if a person is asked.

        Raises:
            Conflict: the crystal ``base_id``, which the caller read, is no longer the current one.
            InvalidField: the text breaks a rule.

        """
        with self._gate.transaction("crystal write") as tx:
            before = tx.with_status(Crystal, "current")
            current: Crystal | None = before[0] if before else None
            parent = "" if current is None else current.id
            screened = self._gate.screen(
                make_crystal({"content": content, "parent": parent, "author": self._author.name})
            )
            made: Crystal = screened.record
            if base_id is not None and base_id != parent:
                raise Conflict(
                    "The identity was changed meanwhile.",
                    "Read it again, then write yours from it.",
                    current=None if current is None else to_plain(current),
                    attempted=to_plain(made),
                )
            verdict = self._verdict(current, screened)
            if verdict.answer == "propose":
                return self._proposed(tx, made, verdict, screened)
            for old in before:
                tx.put(msgspec.structs.replace(old, status="past"), base=old.version)
            return tx.put(made, base=0)

    def _verdict(self, current: Crystal | None, screened: Screened) -> Verdict:
        intent = WriteIntent(
            "create",
            "crystal",
            by_person=self._gate.is_person,
            injection_score=screened.injection_score,
            identity_is_persons=identity_is_persons(self._store, current),
            secret_found=screened.secret_found,
        )
        return self._gate.judge(intent, screened.record)

    def _proposed(self, tx: Transaction, made: Crystal, verdict: Verdict, screened: Screened) -> Crystal:
        """Return the crystal that waits, or the one with the same text that waits already or was rejected."""
        fingerprint = f"crystal {content_digest(made.content).hex()}"
        known = self._store.proposals.same(fingerprint)
        if known is not None and (known.state in OPEN_PROPOSAL_STATES or not self._gate.is_person):
            before = tx.get(Crystal, known.target_id)
            if before is not None:
                return before
        proposed = tx.put(msgspec.structs.replace(made, status="proposed"), base=0)
        evidence = screened.evidence | ({"parent": made.parent} if made.parent else {})
        self._gate.propose(tx, ProposalDraft("create", proposed, evidence=evidence, fingerprint=fingerprint), verdict)
        return proposed

    def restore(self, crystal_id: str) -> Crystal:
        """Write an old crystal's text as a new one."""
        return self.write(self.get(crystal_id).content)
