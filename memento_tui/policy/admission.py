"""Judge every change at the moment it is written: whatever a writer forgets to ask, the transaction asks.

A person's own channels decide. What an agent, a file or maintenance writes can lower trust and never raise it, and what
the policy wants a person to see is refused unless it waits.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Literal, cast

import msgspec

from memento_tui.branches import is_taken_from_branch
from memento_tui.errors import NotAllowed
from memento_tui.model import AnyRecord, Contradiction, Crystal, Memory, Proposal, Relation, Skip, WorkingItem
from memento_tui.model.claims import HIGHEST_CLAIMED_CERTAINTY, with_authorship, without_decisions, without_persons_name
from memento_tui.model.memory import RECALLED_STATUSES, lowers_sensitivity
from memento_tui.model.review import OPEN_PROPOSAL_STATES
from memento_tui.model.validation import texts_image
from memento_tui.policy.hiding import hides_persons_entry, hides_persons_text, is_persons_text
from memento_tui.policy.policy import PolicySettings, WriteIntent, judge, reasons_in_words
from memento_tui.policy.screening import Screened, Screening
from memento_tui.policy.secrets import redact_record
from memento_tui.policy.set_rules import SetRules, quarantined_writer
from memento_tui.policy.suspicion import SUSPICIOUS_SCORE
from memento_tui.storage.journal import FILE_CHANNELS, Origin
from memento_tui.storage.store import Store
from memento_tui.storage.tables import RECORD_NAMES, TABLES, RecordT, record_name
from memento_tui.storage.transaction import Transaction

__all__ = ["Admission", "identity_is_persons"]

_CLOCK_DIFFERENCE = timedelta(days=1)
"""How far the clock of another machine may be ahead."""

_MEANING_FIELDS = ("content", "title", "kind", "namespace", "tags", "validity_context", "source_type", "source")
_STANDING_FIELDS = ("certainty", "sensitivity", "expires_at", "valid_from", "valid_to", "extra")
"""Fields that a verification covers beside the meaning: a change of one by anybody else ends it."""


def identity_is_persons(store: Store, current: Crystal | None) -> bool:
    """Tell whether a person wrote or approved the identity that holds now; where none does, whether they ever did.

    One that was purged leaves none, and the next is not for an agent alone to say.
    """
    if current is None:
        return store.writes.has_of_person(RECORD_NAMES[Crystal])
    return any(revision.entry.actor == "person" for revision in store.journal.history(Crystal, current.id))


class Admission:
    """The guard of one transaction; see `memento_tui.storage.transaction.WriteGuard`."""

    def __init__(
        self, store: Store, origin: Origin, rules: PolicySettings, screening: Screening, sets: SetRules
    ) -> None:
        self._sets = sets
        self._store = store
        self._origin = origin
        self._rules = rules
        self._screening = screening

    def admit(self, tx: Transaction, before: RecordT | None, after: RecordT) -> RecordT:
        """Return a record as it may be stored. Raises `NotAllowed`."""
        if isinstance(after, Proposal | Contradiction):
            if isinstance(before, Proposal) and isinstance(after, Proposal):
                _check_same_subject(before, after)
            if self._origin not in ("person", "member"):
                _check_undecided(before, after)
            return redact_record(after)[0]
        screened = self._screening.screen(after)
        if self._is_vouched(after):
            return cast("RecordT", screened.record)
        if self._origin == "person":
            return cast("RecordT", self._by_person(before, screened))
        if self._origin == "member":
            return cast("RecordT", self._by_member(before, screened))
        return cast("RecordT", self._by_others(tx, before, screened))

    def _by_person(self, before: AnyRecord | None, screened: Screened) -> AnyRecord:
        """Return a person's write. A new memory that the rules let wait, such as pasted orders, raises `NotAllowed`."""
        clean: AnyRecord = screened.record
        if before is None and isinstance(clean, Memory) and clean.status in RECALLED_STATUSES:
            self._require_free(_creation(clean, screened, by_person=True))
        return self._signed(before, clean)

    def _by_member(self, before: AnyRecord | None, screened: Screened) -> AnyRecord:
        """Return the write of a person at another machine, decisions included; text that reads like orders waits.

        Who stands behind the texts of a skip or a working item, its own machine has noted in it.
        """
        clean: AnyRecord = screened.record
        told = not isinstance(clean, Memory) or clean.status in RECALLED_STATUSES
        is_new = before is None or texts_image(before) != texts_image(clean)
        if told and is_new and screened.injection_score >= SUSPICIOUS_SCORE:
            raise NotAllowed(
                "This waits for a person's decision: it reads like orders for a model.", "Propose it instead."
            )
        return clean

    def _signed(self, before: AnyRecord | None, after: AnyRecord) -> AnyRecord:
        """Return a record that says, where it has no trust of its own, whether a person stands behind its texts."""
        if not isinstance(after, Skip | WorkingItem | Crystal):
            return after
        signed: AnyRecord = with_authorship(cast("Any", before), after, by_person=self._origin == "person")
        return signed

    def _by_others(self, tx: Transaction, before: AnyRecord | None, screened: Screened) -> AnyRecord:
        clean: AnyRecord = screened.record
        if before is None:
            clean = _not_of_the_future(clean, tx.now)
        if _takes_effect(before, clean):
            self._require_alone(tx, clean)
        match clean:
            case Memory():
                return self._memory(tx, cast("Memory | None", before), clean, screened)
            case Crystal():
                admitted = self._crystal(tx, cast("Crystal | None", before), clean, screened)
                return self._signed(before, admitted)
            case Relation():
                return self._relation(tx, clean, screened)
            case Skip() | WorkingItem():
                self._require_free(self._listed(cast("Skip | WorkingItem | None", before), clean, screened))
                return self._signed(before, clean)
        return clean

    def admit_removal(self, _tx: Transaction, before: AnyRecord) -> None:
        """Let a record be removed. Raises `NotAllowed`."""
        if self._origin in ("person", "member", "maintenance"):
            return
        if isinstance(before, Skip | WorkingItem):
            self._require_free(self._listed(before, None, None))
        elif not isinstance(before, Relation | Contradiction):
            raise NotAllowed(f"Only a person removes a {record_name(before)} for good.", "Delete it instead.")

    def _is_vouched(self, record: AnyRecord) -> bool:
        key = (record_name(record), record.id)
        known = self._screening.vouched.get(key)
        if known is None or msgspec.structs.replace(known, version=record.version) != record:
            return False
        del self._screening.vouched[key]
        return True

    def _require_free(self, intent: WriteIntent) -> None:
        """Raise `NotAllowed` where the policy wants a person to see a write first."""
        verdict = judge(self._rules, intent)
        if verdict.answer == "propose":
            why = "; ".join(reasons_in_words(verdict.reasons))
            raise NotAllowed(f"This waits for a person's decision: {why}.", "Propose it instead.")

    def _require_alone(self, tx: Transaction, record: AnyRecord) -> None:
        """Raise `NotAllowed` where a write waits because of others of the same session."""
        also = [TABLES[change.record].image.decode(change.image) for change in tx.changes if change.image is not None]
        kinds = (Memory, Skip, WorkingItem, Crystal)
        found = self._sets.findings(record, tx.now, [one for one in also if isinstance(one, kinds)])
        if found.reasons:
            why = "; ".join(reasons_in_words(found.reasons))
            raise NotAllowed(f"This waits for a person's decision: {why}.", "Propose it instead.")

    # Memories

    def _memory(self, tx: Transaction, before: Memory | None, after: Memory, screened: Screened) -> Memory:
        admitted = without_decisions(before, without_persons_name(after))
        if before is None:
            if admitted.status in RECALLED_STATUSES:
                self._require_free(_creation(admitted, screened))
            return admitted
        if before.status not in RECALLED_STATUSES and admitted.status in RECALLED_STATUSES:
            if self._comes_back(before, admitted):
                return admitted
            raise NotAllowed(
                f"The memory {before.id} is {before.status}; only a person lets it in.", "Propose it, or leave it."
            )
        if lowers_sensitivity(before, admitted):
            raise NotAllowed(
                f"Only a person makes {before.id} less than {before.sensitivity}.", "Ask the person to do it."
            )
        if self._origin == "maintenance" and not _says_something_else(before, admitted):
            return admitted
        if _is_set_aside(before, admitted) and before.stability == "draft" and not before.pinned:
            return admitted  # out of recall until a person has looked
        if before.status in RECALLED_STATUSES:
            self._judge_change(before, admitted, screened, tx.now)
        return _without_verification(before, admitted)

    def _comes_back(self, before: Memory, after: Memory) -> bool:
        """Tell whether a note or line that is back brings its memory to the state that its absence took it from."""
        if self._origin != "file" or before.status != "deleted" or quarantined_writer(self._store, before):
            return False
        versions = self._store.journal.history(Memory, before.id)
        if len(versions) < 2 or versions[0].entry.channel not in FILE_CHANNELS:  # noqa: PLR2004 - the deletion and what was before
            return False
        was = versions[1].record
        kept = {"version": after.version, "updated_at": after.updated_at}
        return was is not None and _without_counters(msgspec.structs.replace(was, **kept)) == _without_counters(after)

    def _judge_change(self, before: Memory, after: Memory, screened: Screened, now: datetime) -> None:
        is_gone = after.status == "deleted" and before.status != "deleted"
        if not is_gone and _same(before, after, (*_MEANING_FIELDS, *_STANDING_FIELDS, "status")):
            return
        external = after.source_type == "external" and not _same(before, after, ("content", "source_type"))
        reads_the_same = is_gone or texts_image(before) == texts_image(after)
        self._require_free(
            WriteIntent(
                "delete" if is_gone else "edit",
                external=external and not is_gone,
                injection_score=0.0 if reads_the_same else screened.injection_score,
                target_verified=before.stability != "draft" or before.pinned,
                hides_persons=self._origin == "agent" and hides_persons_text(self._store, before, after, now),
                leaves_branch=self._origin != "maintenance" and is_taken_from_branch(before.namespace, after.namespace),
            )
        )

    # The rest

    def _listed(
        self, before: Skip | WorkingItem | None, after: Skip | WorkingItem | None, screened: Screened | None
    ) -> WriteIntent:
        action: Literal["create", "edit", "delete"]
        action = "create" if before is None else "delete" if after is None else "edit"
        hides = before is not None and self._origin == "agent" and hides_persons_entry(self._store, before, after)
        return WriteIntent(
            action,
            "skip" if isinstance(before or after, Skip) else "item",
            injection_score=0.0 if screened is None else screened.injection_score,
            hides_persons=hides,
        )

    def _crystal(self, tx: Transaction, before: Crystal | None, after: Crystal, screened: Screened) -> Crystal:
        becomes_current = after.status == "current" and (before is None or before.status != "current")
        if becomes_current and (self._origin != "agent" or before is not None):
            raise NotAllowed("Only a person decides which identity holds.", "Propose it instead.")
        if becomes_current:
            replaced = [*tx.with_status(Crystal, "current"), *self._replaced_now(tx)]
            intent = WriteIntent(
                "create",
                "crystal",
                injection_score=screened.injection_score,
                identity_is_persons=any(identity_is_persons(self._store, crystal) for crystal in (replaced or (None,))),
            )
            self._require_free(intent)
        elif before is not None and msgspec.structs.replace(before, status=after.status) != after:
            raise NotAllowed("The history of identities is never rewritten.", "Write a new one.")
        return after

    def _consolidates_unasked(self, tx: Transaction, relation: Relation) -> bool:
        """Tell whether a file says that a memory stands for another, and no person is asked about the first.

        Of one that waits, a decision takes away the relations that the person was not shown.
        """
        if relation.type != "consolidated_from" or self._origin != "file":
            return False
        source = tx.get(Memory, relation.src)
        return source is None or source.status != "pending"

    @staticmethod
    def _replaced_now(tx: Transaction) -> list[Crystal]:
        """Return the crystals that this transaction has taken out of effect."""
        changed = {change.record_id for change in tx.changes if change.record == "crystal"}
        return [crystal for crystal in tx.with_status(Crystal, "past") if crystal.id in changed]

    def _relation(self, tx: Transaction, relation: Relation, screened: Screened) -> Relation:
        if screened.injection_score >= SUSPICIOUS_SCORE:
            raise NotAllowed("The label of this relation reads like orders for a model.", "Leave it out.")
        if self._sets.is_quarantined():
            raise NotAllowed(
                "The person took this session out of recall until they have looked.", "Relate nothing meanwhile."
            )
        if relation.type == "supersedes" or self._consolidates_unasked(tx, relation):
            replaced = tx.get(Memory, relation.dst)
            if replaced is not None and (replaced.stability != "draft" or replaced.pinned):
                raise NotAllowed(
                    f"The memory {relation.dst} is verified or essential; only a person says that another takes its"
                    " place.",
                    "Remember what is new; the person decides about the old.",
                )
            source = tx.get(Memory, relation.src)
            is_recalled = source is not None and source.status != "pending"
            if (
                replaced is not None
                and is_recalled
                and self._origin == "agent"
                and is_persons_text(self._store, replaced)
            ):
                raise NotAllowed(
                    f"A person wrote the memory {relation.dst}; only a person says that another takes its place.",
                    "Remember what is new; the person decides about the old.",
                )
        return relation


def _not_of_the_future(new: AnyRecord, now: datetime) -> AnyRecord:
    """Return a new record that is no younger than now: one of the next century would be the newest for ever."""
    latest = now + _CLOCK_DIFFERENCE
    fields = new.__struct_fields__
    late = [name for name in ("created_at", "updated_at") if name in fields and getattr(new, name) > latest]
    return msgspec.structs.replace(new, **dict.fromkeys(late, now)) if late else new


def _takes_effect(before: AnyRecord | None, after: AnyRecord) -> bool:
    """Tell whether a write brings a text that an agent is told."""
    match after:
        case Memory():
            return after.status in RECALLED_STATUSES and (before is None or texts_image(before) != texts_image(after))
        case Crystal():
            return after.status == "current"
        case Skip() | WorkingItem():
            return before is None or texts_image(before) != texts_image(after)
    return False


def _creation(memory: Memory, screened: Screened, *, by_person: bool = False) -> WriteIntent:
    return WriteIntent(
        "create",
        by_person=by_person,
        external=memory.source_type == "external",
        injection_score=screened.injection_score,
    )


def _check_undecided(before: AnyRecord | None, after: Proposal | Contradiction) -> None:
    """Raise `NotAllowed` where anybody but a person decides, or changes a decision."""
    if isinstance(after, Proposal):
        decided = after.state in ("approved", "rejected", "later")
        decided = decided or (isinstance(before, Proposal) and before.state not in OPEN_PROPOSAL_STATES)
        decided = decided and not (isinstance(before, Proposal) and before.state == after.state == "later")
    else:
        decided = after.status != "open" and not (isinstance(before, Contradiction) and before.status == after.status)
    if decided:
        raise NotAllowed("Only a person decides about a proposal or a contradiction.", "Leave it to the person.")


def _check_same_subject(before: Proposal, after: Proposal) -> None:
    """Raise `NotAllowed` where a proposal that somebody may have looked at would be about something else."""
    if (before.action, before.target, before.target_id) != (after.action, after.target, after.target_id):
        raise NotAllowed(f"The proposal {before.id} is about {before.target_id}.", "Make another one.")


def _is_set_aside(before: Memory, after: Memory) -> bool:
    """Tell whether a memory only waits from now on. It may be said to come from outside: that makes it no surer."""
    if after.source_type == "external":
        # An agent's claim that the person said it goes with that.
        before = without_decisions(before, msgspec.structs.replace(before, source_type="external"))
    return after.status == "pending" and _same(before, after, (*_MEANING_FIELDS, *_STANDING_FIELDS))


def _same(one: Memory, other: Memory, names: tuple[str, ...]) -> bool:
    return all(getattr(one, name) == getattr(other, name) for name in names)


def _says_something_else(before: Memory, after: Memory) -> bool:
    """Tell whether a change alters a memory's meaning; compaction, which keeps the text in ``extra``, does not."""
    if after.status == "compacted" and after.extra.get("original_content") == before.content:
        after = msgspec.structs.replace(after, content=before.content)
    return not _same(before, after, _MEANING_FIELDS)


def _without_counters(memory: Memory) -> Memory:
    return msgspec.structs.replace(memory, shown_count=0, used_count=0, last_used_at=None)


def _without_verification(before: Memory, after: Memory) -> Memory:
    """Return a change that no person made, without the trust that a person gave to the text before it.

    The new text is its writer's: an agent's rewrite of a person's words is the agent's.
    """
    if _same(before, after, (*_MEANING_FIELDS, *_STANDING_FIELDS)):
        return after
    tier, source_type, certainty = after.tier, after.source_type, after.certainty
    if not _same(before, after, ("content", "title", "kind", "validity_context", "source_type")):
        tier = "short_term" if tier in ("long_term", "shared") else tier
        source_type = "derived" if source_type == "user" else source_type
        certainty = min(certainty, HIGHEST_CLAIMED_CERTAINTY)
    return msgspec.structs.replace(
        after,
        stability="draft",
        verified_at=None,
        verified_by="",
        tier=tier,
        pinned=False,
        source_type=source_type,
        certainty=certainty,
    )
