"""The first step of a sleep: what has expired, what fades, and what nobody can decide about any more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import msgspec

from memento_tui.errors import InvalidField
from memento_tui.records import Memory, Proposal, Skip
from memento_tui.records.proposal import OPEN_STATES
from memento_tui.records.when import parse_moment
from memento_tui.store.transaction import Transaction
from memento_tui.upkeep.aging import Change, age, age_skip
from memento_tui.upkeep.night import Deed, Night

__all__ = ["age_memories", "end_skips", "expire_proposals"]

_ENDED_SKIPS_KEPT = timedelta(days=30)
"""How long a skip that is over stays listed; it holds no more from its end on."""

_PAGE = 500


def age_memories(night: Night) -> None:
    """Expire, demote, compact and archive what is due, a thousand memories at a time."""
    total, done = night.store.count_all(), 0
    for batch in night.store.all_memories():
        if night.interrupted:
            return
        night.tell("Looking at ages", done, total)
        done += len(batch)
        due = _due_among(night, batch)
        if due and not night.dry_run:
            with night.writing("ages") as tx:
                due = [change for change in due if _still_stands(tx.get("memory", change.memory.id), change)]
                for change in due:
                    tx.put(change.memory, base=change.memory.version)
        night.did(Deed(change.action, "memory", change.memory.id, change.why) for change in due)
    night.tell("Looking at ages", total, total)


def _still_stands(current: Memory | None, change: Change) -> bool:
    return current is not None and current.version == change.memory.version


def _due_among(night: Night, memories: Sequence[Memory]) -> list[Change]:
    """Return what is due. A memory that was imported ages from the day it came here at the earliest."""
    suspects = [memory for memory in memories if _due(night, memory, None) is not None]
    known = night.store.first_written("memory", [memory.id for memory in suspects]) if suspects else {}
    found = (_due(night, memory, known.get(memory.id)) for memory in suspects)
    return [change for change in found if change is not None]


def _due(night: Night, memory: Memory, known_since: datetime | None) -> Change | None:
    preset = night.config.upkeep.decay
    since = _superseded_since(night, memory) if preset == "vault" else None
    return age(memory, night.now, preset=preset, superseded_since=since, known_since=known_since)


def _superseded_since(night: Night, memory: Memory) -> datetime | None:
    if memory.status != "superseded":
        return None
    drawn = [r.created_at for r in night.store.relations_of(memory.id) if r.dst == memory.id and r.type == "supersedes"]
    return max(drawn, default=None)


def end_skips(night: Night) -> None:
    """Take skips off the list that have been over for a month."""
    over = [skip for skip in night.store.skips() if age_skip(skip, night.now - _ENDED_SKIPS_KEPT)]
    if over and not night.dry_run:
        with night.writing("skips") as tx:
            over = [skip for skip in over if _is_same(tx.get("skip", skip.id), skip)]
            for skip in over:
                tx.remove(skip, base=skip.version)
    night.did(Deed("end", "skip", skip.id, f"It has been over since {skip.expires_at:%Y-%m-%d}.") for skip in over)


def _is_same(current: Skip | None, skip: Skip) -> bool:
    return current is not None and current.version == skip.version


def expire_proposals(night: Night) -> None:
    """Close the proposals that nobody can decide about: what they are about is purged, or would have ended already."""
    after: str | None = None
    while not night.interrupted:
        found, after = night.store.proposals.page(OPEN_STATES, at=night.now, after=after, limit=_PAGE)
        gone = [(proposal, why) for proposal in found if (why := _why_moot(night, proposal))]
        if gone and not night.dry_run:
            _close(night, gone)
        night.did(Deed("expire", "proposal", proposal.id, why) for proposal, why in gone)
        if after is None:
            return


def _close(night: Night, gone: Iterable[tuple[Proposal, str]]) -> None:
    with night.writing("proposals that ended") as tx:
        for proposal, why in gone:
            current = tx.get("proposal", proposal.id)
            if current is not None and current.version == proposal.version:
                ended = msgspec.structs.replace(proposal, state="expired", decided_at=tx.now, note=why)
                tx.put(ended, base=proposal.version)
                _set_aside(tx, proposal)


def _set_aside(tx: Transaction, proposal: Proposal) -> None:
    """Archive a memory that waited for a decision that nobody takes any more."""
    target = tx.get(proposal.target, proposal.target_id)
    if proposal.action == "create" and isinstance(target, Memory) and target.status == "pending":
        tx.put(msgspec.structs.replace(target, status="archived"), base=target.version)


def _why_moot(night: Night, proposal: Proposal) -> str:
    target = night.store.find(proposal.target, proposal.target_id)
    creates_on_approval = proposal.action == "create" and proposal.target in ("skip", "item")
    if target is None and not creates_on_approval:
        return "What it is about does not exist any more."
    if proposal.action == "merge" and night.store.find("memory", str(proposal.evidence["other"])) is None:
        return "One of the two memories does not exist any more."
    ends = getattr(target, "expires_at", None) if target is not None else _end_of(proposal)
    if ends is not None and ends <= night.now and proposal.action == "create":
        return f"It would have ended on {ends:%Y-%m-%d}."
    if proposal.target == "contradiction" and getattr(target, "status", "") == "resolved":
        return "The contradiction is resolved."
    return ""


def _end_of(proposal: Proposal) -> datetime | None:
    try:
        return parse_moment(proposal.payload["expires_at"], "expires_at") if "expires_at" in proposal.payload else None
    except InvalidField:
        return None
