"""Carry out a person's decision about a proposal, checked again at that moment; word its evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from itertools import pairwise
from typing import Any

import msgspec

from memento_tui.errors import Conflict, InvalidField, NotAllowed, RiskNotAccepted
from memento_tui.model import (
    Contradiction,
    Crystal,
    Memory,
    Proposal,
    Skip,
    WorkingItem,
    make_crystal,
    make_item,
    make_relation,
    make_skip,
)
from memento_tui.model.lists import is_unverified
from memento_tui.model.memory import RECALLED_STATUSES, inherited_fields
from memento_tui.model.review import OPEN_PROPOSAL_STATES, risk_of
from memento_tui.model.validation import check_line, text_of, to_plain
from memento_tui.policy.gate import Gate
from memento_tui.policy.resolution import (
    apply_resolution,
    as_verified,
    close_suggestions,
    parse_answer,
    says_otherwise,
    side_conflict,
    with_changes,
    withdraw_contradictions,
)
from memento_tui.policy.suspicion import suspicion_of
from memento_tui.storage.journal import Author, origin_of
from memento_tui.storage.store import Store
from memento_tui.storage.tables import record_name
from memento_tui.storage.transaction import Transaction

__all__ = [
    "evidence_lines",
    "has_moved",
    "proposal_verb",
    "require_as_written",
    "require_entry_as_written",
    "suggestion_lines",
]

_LIST_RECORD_MAKERS: dict[str, Callable[..., Any]] = {"skip": make_skip, "item": make_item}


def approve_proposal(
    store: Store,
    gate: Gate,
    proposal_id: str,
    *,
    changes: Mapping[str, Any] | None = None,
    seen: int | None = None,
    despite: str = "",
) -> Proposal:
    """Carry a proposal out, with the person's own changes on top if there are any.

    ``seen`` is the version of the proposal that the person looked at; it is needed for one that was rewritten.
    ``despite`` is the risk that they were told of, one of `RISKY_KINDS`, and said yes to a second time.

    Raises:
        NotAllowed: an agent asks, or the proposal was decided already.
        RiskNotAccepted: it is of one of `RISKY_KINDS`, and ``despite`` names another or none.
        Conflict: the proposal or its target changed since; a moved target makes it ``needs_review``, and the next
            approval applies to the target as it then stands.

    """
    moved: Conflict | None = None
    with _decision_transaction(gate, "approve", proposal_id) as tx:
        proposal = _open_proposal(tx, proposal_id, seen)
        if seen is None:
            _require_as_made(store, proposal)
        _require_accepted_risk(proposal, changes or {}, despite)
        target = tx.get_named(proposal.target, proposal.target_id)
        if changes and proposal.action == "delete":
            raise NotAllowed("A deletion cannot be edited.", "Approve it as it is, or reject it and make your change.")
        moved = _target_conflict(store, tx, proposal, target)
        if moved is not None:
            tx.action = "refused approval"
            current = target.version if target is not None else 0
            decided = msgspec.structs.replace(proposal, state="needs_review", base_version=current)
            if proposal.target == "crystal" and (standing := store.lists.current_crystal()) is not None:
                decided = msgspec.structs.replace(decided, evidence={**proposal.evidence, "parent": standing.id})
            if gone := _changed_sources(store, proposal):
                kept = {name: v for name, v in proposal.evidence["sources"].items() if name not in gone}
                decided = msgspec.structs.replace(decided, evidence={**proposal.evidence, "sources": kept})
        else:
            _carry_out(store, tx, gate.author, proposal, target, changes or {})
            decided = _close_proposal(tx, gate.author, proposal, "approved", "")
        written = tx.put(decided, base=proposal.version)
    if moved is not None:
        raise moved
    return written


def reject_proposal(gate: Gate, proposal_id: str, reason: str = "", *, seen: int | None = None) -> Proposal:
    """Turn a proposal down; the agent can read the reason. Raises `NotAllowed` or `Conflict`."""
    check_line(reason, "reason")
    with _decision_transaction(gate, "reject", proposal_id) as tx:
        proposal = _open_proposal(tx, proposal_id, seen)
        target = tx.get_named(proposal.target, proposal.target_id)
        waits = isinstance(target, Memory | Crystal) and target.status in ("pending", "proposed")
        if proposal.action == "create" and target is not None and waits:
            tx.put(msgspec.structs.replace(target, status="rejected"), base=target.version)
        return tx.put(_close_proposal(tx, gate.author, proposal, "rejected", reason), base=proposal.version)


def postpone_proposal(
    gate: Gate,
    proposal_id: str,
    until: datetime | None,
    *,
    seen: int | None = None,
) -> Proposal:
    """Put a proposal off until a moment, or to the end of the queue. Raises `NotAllowed` or `Conflict`."""
    with _decision_transaction(gate, "later", proposal_id) as tx:
        proposal = _open_proposal(tx, proposal_id, seen)
        return tx.put(msgspec.structs.replace(proposal, state="later", later_until=until), base=proposal.version)


def _decision_transaction(gate: Gate, action: str, proposal_id: str) -> AbstractContextManager[Transaction]:
    if not gate.is_person:
        raise NotAllowed(
            "Only a person decides about a proposal.",
            "Go on without it; the decision and its reason can be read once it is made.",
        )
    return gate.transaction(action, note=f"proposal {proposal_id}")


def _open_proposal(tx: Transaction, proposal_id: str, seen: int | None) -> Proposal:
    proposal = tx.require(Proposal, proposal_id)
    if proposal.state not in OPEN_PROPOSAL_STATES:
        raise NotAllowed(f"The proposal {proposal_id} was {proposal.state} already.", "Undo that decision first.")
    if seen is not None and proposal.version != seen:
        raise Conflict(
            f"The proposal {proposal_id} changed while you looked at it.",
            "Look at it again, then decide.",
            current=to_plain(proposal),
        )
    return proposal


def _require_as_made(store: Store, proposal: Proposal) -> None:
    """Raise `Conflict` for a proposal that anybody but the person rewrote: they may have looked at it before."""
    if proposal.version == 1:
        return
    versions = store.journal.history(Proposal, proposal.id)
    rewritten = (
        origin_of(after.entry) != "person" and _effect(after.record) != _effect(before.record)
        for after, before in pairwise(versions)
    )
    if any(rewritten):
        raise Conflict(
            f"The proposal {proposal.id} was rewritten since it was made.",
            f"Look at it again, and name the version that you see: {proposal.id}@{proposal.version}.",
            current=to_plain(proposal),
        )


_RESOLUTIONS_WITHOUT_TEXT = ("newer_supersedes", "older_stands", "not_a_contradiction")

_RISKS_IN_WORDS: Mapping[str, str] = {
    "orders": "reads like orders for a model",
    "secret": "had a secret taken out of it",
    "quarantined": "is of a quarantined session",
    "burst": "is one of many writes of one session",
}


def _require_accepted_risk(proposal: Proposal, changes: Mapping[str, Any], despite: str) -> None:
    """Raise `RiskNotAccepted` unless the person said yes to the risk that a proposal has now.

    To let a side of a contradiction hold, or neither, takes no text of the answer that was suggested.
    """
    risk = risk_of(proposal)
    is_choice = proposal.target == "contradiction" and changes.get("resolution") in _RESOLUTIONS_WITHOUT_TEXT
    if risk and risk != despite and not is_choice:
        raise RiskNotAccepted(proposal.id, risk, _RISKS_IN_WORDS[risk])


_SHOWN_FIELDS = ("title", "content", "kind", "namespace", "validity_context")
"""The fields of a memory that decide on its text in a context block, and on where and when it is shown."""


def require_as_written(store: Store, memory: Memory, after: Memory) -> None:
    """Raise `Conflict` where a person who names no version trusts a text that somebody else rewrote meanwhile.

    That is since the person wrote it last, or since it was made: they may have looked at it before. What they write
    anew with the same change was rewritten by nobody.
    """
    if _gains_trust(memory, after):
        _require_unwritten(
            store, memory, after, _SHOWN_FIELDS, f"name the version that you see: --base-version {memory.version}."
        )


_SHOWN_ENTRY_FIELDS = ("title", "content", "next_action", "category", "item", "reason", "namespace")
"""The fields of a skip or a working item that decide on its text in a context block, and on where it is shown."""


def require_entry_as_written(store: Store, entry: Skip | WorkingItem, after: Skip | WorkingItem) -> None:
    """Raise `Conflict` where a person who names no version approves a text that somebody else rewrote meanwhile.

    Who changes one text of a skip or a working item makes it theirs as a whole, and it is told without a label.
    """
    if is_unverified(entry):
        names = [name for name in _SHOWN_ENTRY_FIELDS if hasattr(entry, name)]
        advice = f"name the version that you see ({entry.version}), or write anew what holds."
        _require_unwritten(store, entry, after, names, advice)


def _require_unwritten(
    store: Store,
    before: Memory | Skip | WorkingItem,
    after: Memory | Skip | WorkingItem,
    names: Sequence[str],
    advice: str,
) -> None:
    """Raise `Conflict` where another rewrote a field that a change keeps, since the person wrote the record last."""
    kept = [name for name in names if getattr(after, name) == getattr(before, name)]
    for newer, older in pairwise(store.journal.history(type(before), before.id)):
        origin = origin_of(newer.entry)
        if origin == "person" and newer.entry.action not in _DECIDED_UNREAD:
            return
        if newer.record is None or older.record is None or origin == "maintenance":
            continue
        if any(getattr(newer.record, name) != getattr(older.record, name) for name in kept):
            raise Conflict(
                f"The {record_name(before)} {before.id} was rewritten by another than you since it was made or you"
                " wrote it.",
                f"Look at it again, and {advice}",
                current=to_plain(before),
            )


_DECIDED_UNREAD = ("quarantine", "release")
"""The actions of a person on everything that a session wrote: they are no sign that it was read."""


def _gains_trust(memory: Memory, after: Memory) -> bool:
    is_surer = after.stability not in (memory.stability, "draft") or after.certainty > max(memory.certainty, 3)
    return is_surer or after.pinned > memory.pinned or (after.tier == "shared" and memory.tier != "shared")


def _effect(proposal: Proposal | None) -> tuple[int, Any, Any] | None:
    """Return the effect of a proposal: its base version, its changes, and the memories that it replaces."""
    return None if proposal is None else (proposal.base_version, proposal.payload, proposal.evidence.get("replaces"))


def has_moved(store: Store, proposal: Proposal, target: Any) -> bool:  # noqa: ANN401 - any record
    """Tell whether a target says something else than it did when the proposal was made.

    Another version alone does not: a change and its undo leave what it says as it was.
    """
    if target.version == proposal.base_version:
        return False
    before = (
        store.journal.image_named(proposal.target, target.id, proposal.base_version) if proposal.base_version else None
    )
    return before is None or says_otherwise(before, target)


def _target_conflict(
    store: Store,
    tx: Transaction,
    proposal: Proposal,
    target: Any,  # noqa: ANN401 - any record
) -> Conflict | None:
    if target is None and proposal.action == "create" and proposal.target != "memory":
        return None
    if target is None:
        return Conflict(f"The {proposal.target} {proposal.target_id} is gone.", "Reject the proposal, or restore it.")
    if (other := _other_conflict(store, proposal, target)) is not None:
        return other
    if isinstance(target, Contradiction) and (side := side_conflict(store, tx, target, proposal)) is not None:
        return side
    if has_moved(store, proposal, target):
        return Conflict(
            f"The {proposal.target} {proposal.target_id} changed since this was proposed"
            f" (version {proposal.base_version} then, {target.version} now).",
            "Look at it as it stands now, then decide again.",
            current=to_plain(target),
            attempted=dict(proposal.payload),
        )
    return None


def _other_conflict(store: Store, proposal: Proposal, target: Any) -> Conflict | None:  # noqa: ANN401 - any record
    """Return the conflict, other than a change of its target, that prevents a proposal, or ``None``."""
    status = getattr(target, "status", "")
    lost = (
        status == "deleted"
        if proposal.action == "edit"
        else proposal.action == "merge" and status not in RECALLED_STATUSES
    )
    if lost:
        return Conflict(
            f"The {proposal.target} {proposal.target_id} is {status}.", "Restore it, or reject the proposal."
        )
    if proposal.action == "merge":
        return _merge_conflict(store, proposal)
    if gone := _changed_sources(store, proposal):
        return Conflict(
            f"Of what this was made of, {', '.join(gone)} says something else now.",
            "Read it again: approving it once more leaves those as they are.",
        )
    return _newer_crystal_conflict(store, proposal, target) if proposal.target == "crystal" else None


def _changed_sources(store: Store, proposal: Proposal) -> list[str]:
    """Return the ids of the sources of a draft that say something else than when it was drafted."""
    seen: Mapping[str, int] = proposal.evidence.get("sources", {})
    now = store.memories.get_many(list(seen)) if seen else {}
    gone = []
    for name, version in seen.items():
        before = store.journal.image(Memory, name, version)
        if name not in now or before is None or before.content != now[name].content:
            gone.append(name)
    return gone


def _newer_crystal_conflict(store: Store, proposal: Proposal, crystal: Crystal) -> Conflict | None:
    """Return a conflict if another identity was written since this one was proposed, or ``None``."""
    current = store.lists.current_crystal()
    if current is None or current.id == proposal.evidence.get("parent", crystal.parent):
        return None
    return Conflict(
        "Another identity was written since this was proposed.",
        "Compare the two, then decide again: approving this one puts it in that one's place.",
        current=to_plain(current),
        attempted=to_plain(crystal),
    )


def _merge_conflict(store: Store, proposal: Proposal) -> Conflict | None:
    """Return the conflict with the memory that a merge would supersede, or ``None``."""
    other_id = str(proposal.evidence["other"])
    other = store.find(Memory, other_id)
    if other is None or other.status not in RECALLED_STATUSES:
        state = "gone" if other is None else other.status
        return Conflict(f"The memory {other_id}, the other of the two, is {state}.", "Reject the proposal.")
    before = store.journal.image(Memory, other_id, int(proposal.evidence.get("other_version", other.version)))
    if before is None or before.content != other.content:
        return Conflict(
            f"The memory {other_id}, the other of the two, says something else now.",
            "Reject this one; the two are compared again.",
        )
    return None


def _carry_out(
    store: Store,
    tx: Transaction,
    author: Author,
    proposal: Proposal,
    target: Any,  # noqa: ANN401 - any record
    changes: Mapping[str, Any],
) -> None:
    if proposal.target == "crystal":
        _make_current(tx, _edited_crystal(target, changes))
    elif proposal.target == "contradiction":
        answer = changes if "resolution" in changes else {**proposal.payload, **changes}
        apply_resolution(tx, author, target, parse_answer(answer))
        close_suggestions(store, tx, target.id, but=proposal.id)
    elif proposal.target in _LIST_RECORD_MAKERS:
        _carry_out_list(tx, proposal, target, {**proposal.payload, **changes})
    elif proposal.target == "memory" and proposal.action == "delete":
        tx.put(msgspec.structs.replace(target, status="deleted", updated_at=tx.now), base=target.version)
    elif proposal.target == "memory":
        withdraw_contradictions(tx, store, target, _carry_out_memory(tx, author, proposal, target, changes))
        if proposal.action == "create":
            _consolidate_sources(store, tx, proposal)


def _carry_out_memory(
    tx: Transaction, author: Author, proposal: Proposal, target: Memory, changes: Mapping[str, Any]
) -> Memory:
    values = dict(changes) if proposal.action == "create" else {**proposal.payload, **changes}
    accepted = as_verified(with_changes(target, values, tx.now), author, tx.now)
    if text_of(accepted) != text_of(target):
        accepted = msgspec.structs.replace(accepted, injection_score=suspicion_of(text_of(accepted)).score)
    if proposal.action == "merge":
        other = tx.require(Memory, str(proposal.evidence["other"]))
        inherited = {n: v for n, v in inherited_fields([accepted, target, other]).items() if n not in changes}
        accepted = msgspec.structs.replace(accepted, **inherited)
    let_in = proposal.action == "create" and target.status in ("pending", "rejected", "deleted")
    status = "active" if let_in else accepted.status
    written = tx.put(msgspec.structs.replace(accepted, status=status), base=target.version)
    if proposal.action == "merge":
        tx.put(msgspec.structs.replace(other, status="superseded"), base=other.version)
        tx.put(make_relation({"src": target.id, "dst": other.id, "type": "supersedes"}, now=tx.now), base=0)
    return written


def _consolidate_sources(store: Store, tx: Transaction, proposal: Proposal) -> None:
    """Mark the sources that the person saw as consolidated; a source whose text changed since stays as it is.

    Arrows that the proposal does not name were drawn by somebody else, and are not what was decided about.
    """
    seen: Mapping[str, int] = proposal.evidence.get("sources", {})
    for relation in tx.relations_from(proposal.target_id, "consolidated_from"):
        source = tx.get(Memory, relation.dst)
        before = store.journal.image(Memory, relation.dst, seen[relation.dst]) if relation.dst in seen else None
        if source is None or before is None or source.content != before.content:
            tx.remove(relation, base=relation.version)
        elif source.status == "active":
            tx.put(msgspec.structs.replace(source, status="consolidated"), base=source.version)


def _carry_out_list(tx: Transaction, proposal: Proposal, target: Any, fields: Mapping[str, Any]) -> None:  # noqa: ANN401 - a skip or working item
    if proposal.action == "delete":
        tx.remove(target, base=target.version)
        return
    before = {} if target is None else {name: getattr(target, name) for name in target.__struct_fields__}
    made = _LIST_RECORD_MAKERS[proposal.target](
        {**before, **fields, "id": proposal.target_id, "updated_at": tx.now}, now=tx.now
    )
    tx.put(made, base=0 if target is None else target.version)


def _edited_crystal(crystal: Crystal, changes: Mapping[str, Any]) -> Crystal:
    for name in changes:
        if name != "content":
            raise InvalidField(name, "cannot be changed")
    before = {name: getattr(crystal, name) for name in Crystal.__struct_fields__}
    return make_crystal({**before, **changes})


def _make_current(tx: Transaction, crystal: Any) -> None:  # noqa: ANN401 - a crystal
    for current in tx.with_status(Crystal, "current"):
        tx.put(msgspec.structs.replace(current, status="past"), base=current.version)
    tx.put(msgspec.structs.replace(crystal, status="current"), base=crystal.version)


def _close_proposal(tx: Transaction, author: Author, proposal: Proposal, state: str, note: str) -> Proposal:
    return msgspec.structs.replace(proposal, state=state, decided_by=author.name, decided_at=tx.now, note=note)


_DRAFTING_METHODS = {
    "extractive": "whole sentences of the sources, taken as they are",
    "model": "written by the language model, every number and name checked against the sources",
}


_VERBS_OF_REASONS = {
    "near_duplicate": "merge",
    "consolidation": "consolidate",
    "distilled": "learned",
    "earned_trust": "trust",
    "promotion": "promote",
    "resolution": "resolve",
    "expiring_skip": "extend",
    "code_changed": "check",
    "branch_merged": "move",
    "branch_gone": "move",
}


def proposal_verb(proposal: Proposal) -> str:
    """Return one word for a proposal's change: the job that made it where there was one, else its action."""
    verbs = (_VERBS_OF_REASONS[reason] for reason in proposal.reasons if reason in _VERBS_OF_REASONS)
    return next(verbs, "new" if proposal.action == "create" else proposal.action)


def evidence_lines(proposal: Proposal) -> list[tuple[str, str]]:
    """Return a name and a text for each piece of evidence. The texts may hold text of an agent."""
    return [*_evidence_lines(proposal.evidence), *_code_lines(proposal)]


def _evidence_lines(evidence: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from _screening_lines(evidence)
    yield from _set_lines(evidence)
    yield from _comparison_lines(evidence)
    yield from _origin_lines(evidence)


def _code_lines(proposal: Proposal) -> Iterator[tuple[str, str]]:
    """Yield a memory's outdated citations of code, and the meaning of each answer for the memory."""
    evidence = proposal.evidence
    if "code" not in evidence:
        return
    for sentence in evidence["code"]:
        yield "in the code", str(sentence)
    yield "the repository", f"{evidence.get('repository', '')}, at {str(evidence.get('commit', ''))[:10]}"
    if proposal.action == "delete":
        yield "if you approve", "it is deleted, which undo takes back"
    elif "stability" in proposal.payload:
        yield "if you approve", "it still holds, and counts as verified by you today"
    else:
        yield "if you approve", "the new places are written into it, and it counts as verified by you today"
    yield "if you reject", "it stays as it is and is told as before; edit it where it is wrong"


def suggestion_lines(proposal: Proposal, store: Store) -> list[tuple[str, str]]:
    """Return lines on both sides of the contradiction that a proposal would resolve, and on their fate."""
    found = store.find(Contradiction, proposal.target_id)
    if proposal.target != "contradiction" or found is None:
        return []
    sides = store.memories.get_many([found.older, found.newer])
    lines = [("the contradiction", found.why)]
    for name, memory_id in (("older", found.older), ("newer", found.newer)):
        memory = sides.get(memory_id)
        text = "it is gone" if memory is None else f"{memory.created_at:%Y-%m-%d}, {memory.stability}: {memory.content}"
        lines.append((name, f"{memory_id}, {text}"))
    answer = str(proposal.payload.get("resolution", ""))
    return [*lines, ("if you approve", _RESOLUTIONS_IN_WORDS.get(answer, answer))]


_RESOLUTIONS_IN_WORDS = {
    "newer_supersedes": "the newer one is verified and takes the older one's place",
    "older_stands": "the older one is verified, and the newer one gives way to it",
    "both_valid": "both are verified, each for its own case",
    "merged": "the newer one gets the text below, and the older one gives way to it",
    "not_a_contradiction": "both stay as they are, and the pair is never raised again",
}


def _screening_lines(evidence: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for removed in evidence.get("removed", ()):
        yield "removed", f"{removed['kind']}, from {removed['field']}, line {removed['line']}"
    for sign in evidence.get("suspicion", ()):
        yield "reads like orders", f"{sign['rule'].replace('_', ' ')}: {sign['quote']}"
    if "opinion" in evidence:
        yield "second opinion", f"{evidence['opinion']['says']}, says the language model: {evidence['opinion']['why']}"


def _set_lines(evidence: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "session" in evidence:
        yield "its session", str(evidence["session"])
    if "burst" in evidence:
        burst = evidence["burst"]
        writer = f"the folder {burst['folder']}" if "folder" in burst else f"the session {burst['session']}"
        yield "written within an hour", f"{burst['writes']:,} by {writer}"
    if "joined" in evidence:
        joined = evidence["joined"]
        yield "joins with", f"the {joined['other']['record']} {joined['other']['id']}"
        yield "first half", str(joined["first"])
        yield "second half", str(joined["second"])
    if "like_rejected" in evidence:
        yield "you turned down", f"{evidence['like_rejected']['id']}: {evidence['like_rejected']['text']}"
    for passage in evidence.get("passages", ()):
        yield "returned by", f"{passage['tool'] or 'a tool'}: {passage['where']} (lines {passage['lines']})"
        yield "the passage", str(passage["quote"])


def _comparison_lines(evidence: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "other" in evidence:
        yield "the other memory", f"{evidence['other']}, {_percent(evidence.get('likeness'))} alike"
    elif evidence.get("about"):
        yield "about", ", ".join(evidence["about"])
    if "like" in evidence:
        yield "much like", f"{evidence['like']['id']}, {_percent(evidence['like']['likeness'])} alike"
    if "sessions" in evidence:
        yield "of use in", f"{evidence['sessions']} sessions"


def _origin_lines(evidence: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "hub" in evidence:
        yield "written on", f"{evidence['hub'].get('member', 'another machine')}, a member of your hub"
    if "why" in evidence:
        yield "found because", str(evidence["why"])
    if "draft" in evidence:
        yield "the draft is", _DRAFTING_METHODS.get(evidence["draft"], str(evidence["draft"]))
    if evidence.get("refused"):
        yield "the model's text was refused", str(evidence["refused"])
    if "hits" in evidence and "ends" in evidence:
        times = "once" if evidence["hits"] == 1 else f"{evidence['hits']:,} times"
        last = f", last on {_day(evidence['last_hit'])}" if "last_hit" in evidence else ""
        yield "it ends on", _day(evidence["ends"])
        yield "it was hit", f"{times}{last}"
    if "transcript" in evidence:
        yield "transcript", f"{evidence['transcript']}, lines {evidence.get('lines', '?')}"
        yield "it rests on", str(evidence.get("quote", ""))


def _day(moment: object) -> str:
    return str(moment)[:10]


def _percent(share: object) -> str:
    return f"{share:.0%}" if isinstance(share, (int, float)) else "nearly"
