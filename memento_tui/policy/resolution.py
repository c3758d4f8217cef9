"""Resolve contradictions, and mark memories as verified. Each answer is one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any

import msgspec

from memento_tui.errors import Conflict, InvalidField, InvalidInput, NotAllowed
from memento_tui.model import Contradiction, Memory, Proposal, check_memory, make_memory, make_relation
from memento_tui.model.claims import adopt_claims
from memento_tui.model.memory import RECALLED_STATUSES, inherited_fields
from memento_tui.model.review import OPEN_PROPOSAL_STATES, RESOLUTIONS
from memento_tui.model.validation import check_choice, check_line, check_text, to_plain
from memento_tui.policy.gate import Gate
from memento_tui.policy.suspicion import suspicion_of
from memento_tui.storage.journal import Author
from memento_tui.storage.store import Store
from memento_tui.storage.transaction import Transaction

__all__ = [
    "apply_resolution",
    "as_verified",
    "close_suggestions",
    "parse_answer",
    "says_otherwise",
    "side_conflict",
    "with_changes",
    "withdraw_contradictions",
]


def as_verified(memory: Memory, author: Author, now: datetime) -> Memory:
    """Return the memory as verified by ``author`` at ``now``, with the trust that it claimed for itself."""
    memory = adopt_claims(memory)
    stability = "verified" if memory.stability == "draft" else memory.stability
    return msgspec.structs.replace(memory, stability=stability, verified_at=now, verified_by=author.name)


def with_changes(memory: Memory, changes: Mapping[str, Any], now: datetime) -> Memory:
    """Return the memory with some fields changed, checked by every rule of a new one. Raises `InvalidField`."""
    fixed = {"id", "created_at", "version", "shown_count", "used_count", "last_used_at"}
    for name in changes:
        if name in fixed:
            raise InvalidField(name, "cannot be changed")
    plain = {name: getattr(memory, name) for name in Memory.__struct_fields__}
    made = make_memory({**plain, **changes, "updated_at": now}, now=now)
    cleared = {n: None for n, v in changes.items() if v is None and getattr(made, n, None) is not None}
    return check_memory(msgspec.structs.replace(made, **cleared)) if cleared else made


class ResolutionAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One of `RESOLUTIONS`, with the texts that it needs."""

    resolution: str
    older_context: str = ""
    """For ``both_valid``: when the older memory applies."""
    newer_context: str = ""
    content: str = ""
    """For ``merged``: the text that holds both."""


def parse_answer(fields: Mapping[str, Any]) -> ResolutionAnswer:
    """Return a checked answer of plain values.

    Raises:
        InvalidField: the resolution does not exist, or lacks what it needs.

    """
    given = {name: str(fields.get(name) or "") for name in ResolutionAnswer.__struct_fields__}
    answer = ResolutionAnswer(**given)
    check_choice(answer.resolution, "resolution", RESOLUTIONS)
    check_line(answer.older_context, "older_context")
    check_line(answer.newer_context, "newer_context")
    if answer.resolution == "both_valid":
        if not (answer.older_context.strip() and answer.newer_context.strip()):
            raise InvalidField("older_context", "and newer_context are needed", "Say of each when it applies.")
        if answer.older_context.strip() == answer.newer_context.strip():
            raise InvalidField("newer_context", "is the same as older_context", "Say what tells the two apart.")
    if answer.resolution == "merged":
        check_text(answer.content, "content")
    return answer


def resolve_contradiction(
    store: Store, gate: Gate, contradiction_id: str, answer: ResolutionAnswer, *, seen: int | None = None
) -> Contradiction:
    """Resolve a contradiction by a person's answer; ``seen`` is the version that the person saw.

    Raises:
        NotAllowed: an agent asks, or it was resolved already.
        Conflict: it or a side changed since, or one of its memories is not recalled any more. A side that changed gives
            the contradiction a new version: who looks at that sees the side as it now is.
        InvalidField: a text breaks a rule.

    """
    moved: Conflict | None = None
    with _resolution_transaction(gate, f"{answer.resolution} {contradiction_id}") as tx:
        found = _require_unresolved(tx, contradiction_id, seen)
        # Also where no version is named: the person may have looked at the sides before.
        moved = side_conflict(store, tx, found, found)
        if moved is not None:
            resolved = tx.put(found, base=found.version)
        else:
            resolved = apply_resolution(tx, gate.author, found, answer)
            close_suggestions(store, tx, contradiction_id)
    if moved is not None:
        raise moved
    return resolved


def side_conflict(
    store: Store, tx: Transaction, found: Contradiction, shown: Contradiction | Proposal
) -> Conflict | None:
    """Return the conflict with a side that others changed since ``shown`` was written, or ``None``.

    Whoever decides about ``shown`` by its version has read the sides as they were then, or later. A person's own
    changes, such as another answer about the same memory, are no reason to ask again.
    """
    seq = store.journal.written_in(
        "proposal" if isinstance(shown, Proposal) else "contradiction", shown.id, shown.version
    )
    for memory_id in (found.older, found.newer):
        side = tx.get(Memory, memory_id)
        if side is None or not store.journal.is_changed_by_others("memory", memory_id, seq):
            continue
        before = store.journal.image_when(Memory, memory_id, seq)
        if before is None or says_otherwise(before, side):
            return Conflict(
                f"The memory {memory_id} changed since this was asked.",
                "Look at both sides as they stand now, then decide again.",
                current=to_plain(side),
            )
    return None


_NOT_SAID = frozenset(("version", "updated_at", "shown_count", "used_count", "last_used_at", "hits", "last_hit_at"))
"""The fields that change without a record saying something else."""


def says_otherwise(before: Any, after: Any) -> bool:  # noqa: ANN401 - any two records of one kind
    """Tell whether a record says something else than it did: more than its version and the count of its uses."""
    names = [name for name in after.__struct_fields__ if name not in _NOT_SAID]
    return any(getattr(before, name) != getattr(after, name) for name in names)


def postpone_contradiction(
    gate: Gate,
    contradiction_id: str,
    until: datetime | None,
    *,
    seen: int | None = None,
) -> Contradiction:
    """Postpone a contradiction until a moment, or until it is opened by name. Raises like `resolve`."""
    if until is not None and until.year > 9999:  # noqa: PLR2004 - the last that is stored
        raise InvalidInput(f"{until} is too far away.")
    with _resolution_transaction(gate, f"later {contradiction_id}") as tx:
        found = _require_unresolved(tx, contradiction_id, seen)
        return tx.put(msgspec.structs.replace(found, status="later", later_until=until), base=found.version)


def _resolution_transaction(gate: Gate, note: str) -> AbstractContextManager[Transaction]:
    if not gate.is_person:
        raise NotAllowed(
            "Only a person resolves a contradiction.", "Say which memory is right, and a person is asked about it."
        )
    return gate.transaction("resolve", note=note)


def _require_unresolved(tx: Transaction, contradiction_id: str, seen: int | None) -> Contradiction:
    found = tx.require(Contradiction, contradiction_id)
    if found.status == "resolved":
        raise NotAllowed(f"The contradiction {found.id} is resolved already.", "Undo that first.")
    if seen is not None and found.version != seen:
        raise Conflict(
            f"The contradiction {found.id} changed while you looked at it.",
            "Look at it again, then decide.",
            current=to_plain(found),
        )
    return found


def apply_resolution(tx: Transaction, author: Author, found: Contradiction, answer: ResolutionAnswer) -> Contradiction:
    """Carry out an answer within a running transaction. Raises `Conflict` where a memory is not recalled any more."""
    older, newer = _require_memory(tx, found.older), _require_memory(tx, found.newer)
    match answer.resolution:
        case "newer_supersedes":
            _supersede(tx, author, found, newer, older)
        case "older_stands":
            _supersede(tx, author, found, older, newer)
        case "both_valid":
            _keep_both(tx, author, found, older, answer.older_context)
            _keep_both(tx, author, found, newer, answer.newer_context)
        case "merged":
            _supersede(tx, author, found, newer, older, content=answer.content)
        case _:
            for side in (older, newer):
                if side.id in found.lowered:
                    tx.put(_restore_certainty(found, side), base=side.version)
    resolved = msgspec.structs.replace(
        found,
        status="resolved",
        resolution=answer.resolution,
        resolved_by=author.name,
        resolved_at=tx.now,
        later_until=None,
    )
    return tx.put(resolved, base=found.version)


def close_suggestions(store: Store, tx: Transaction, contradiction_id: str, *, but: str = "") -> None:
    """Close the answers that were suggested to a contradiction which is resolved now; an undo opens them again."""
    for suggestion in store.proposals.about(contradiction_id, "contradiction"):
        if suggestion.state in OPEN_PROPOSAL_STATES and suggestion.id != but:
            closed = msgspec.structs.replace(
                suggestion, state="expired", decided_at=tx.now, note="The contradiction is resolved."
            )
            tx.put(closed, base=suggestion.version)


def withdraw_contradictions(tx: Transaction, store: Store, before: Memory, after: Memory) -> None:
    """Remove the unresolved contradictions of a memory whose text changed.

    They quote what it does not say any more. It is compared anew once it is embedded, or by the next maintenance run.
    """
    if before.content == after.content:
        return
    for found in store.contradictions.of(before.id):
        for name in found.lowered:
            side = tx.get(Memory, name)
            if side is not None:
                tx.put(_restore_certainty(found, side), base=side.version)
        tx.remove(found, base=found.version)


def _require_memory(tx: Transaction, memory_id: str) -> Memory:
    memory = tx.get(Memory, memory_id)
    if memory is None or memory.status not in RECALLED_STATUSES:
        state = "gone" if memory is None else memory.status
        raise Conflict(
            f"The memory {memory_id} is {state}, so there is nothing to resolve.", "Restore it first if it still holds."
        )
    return memory


def _restore_certainty(found: Contradiction, memory: Memory) -> Memory:
    """Give a side back the certainty that it lost when the contradiction was found."""
    if memory.id not in found.lowered:
        return memory
    return msgspec.structs.replace(memory, certainty=min(5, memory.certainty + 1))


def _keep_both(tx: Transaction, author: Author, found: Contradiction, memory: Memory, context: str) -> None:
    kept = msgspec.structs.replace(
        _restore_certainty(found, memory), validity_context=context.strip(), updated_at=tx.now
    )
    tx.put(as_verified(kept, author, tx.now), base=memory.version)


def _supersede(
    tx: Transaction, author: Author, found: Contradiction, winner: Memory, loser: Memory, *, content: str = ""
) -> None:
    """Let one memory supersede the other; it is verified, because a person decided so."""
    kept = as_verified(_restore_certainty(found, winner), author, tx.now)
    if content:
        inherited = {**inherited_fields([winner, loser]), "injection_score": suspicion_of(content).score}
        kept = msgspec.structs.replace(kept, content=content, updated_at=tx.now, **inherited)
        kept = check_memory(kept)
    tx.put(kept, base=winner.version)
    lost = loser.certainty if content or loser.id in found.lowered else max(1, loser.certainty - 1)
    tx.put(msgspec.structs.replace(loser, status="superseded", certainty=lost), base=loser.version)
    for relation in tx.relations_from(loser.id, "supersedes"):
        if relation.dst == winner.id:
            tx.remove(relation, base=relation.version)
    if all(relation.dst != loser.id for relation in tx.relations_from(winner.id, "supersedes")):
        tx.put(make_relation({"src": winner.id, "dst": loser.id, "type": "supersedes"}, now=tx.now), base=0)
