"""Skips that end soon: a person is asked whether one that has kept the agent from something is to hold on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec

from memento_tui.records import Proposal, Skip
from memento_tui.records.when import to_text
from memento_tui.review.gate import fingerprint_of
from memento_tui.review.policy import Verdict
from memento_tui.store.store import Store
from memento_tui.upkeep.night import Deed, Night

__all__ = ["EXPIRING", "ask_about_skips"]

EXPIRING = "expiring_skip"
"""The reason code of the question."""

_SOON = timedelta(days=3)
_SHORTEST = timedelta(days=1)
_LAST_MOMENT = datetime(9999, 1, 1, tzinfo=UTC)


def ask_about_skips(night: Night) -> None:
    """Propose to extend each skip that ends soon and was hit; take back questions that nobody can answer any more.

    A rejection lets it end. The same is never asked twice: the new end is counted from the old one, so the question
    is the same one as long as the skip is.
    """
    _close_moot(night)
    for skip in night.watched("Looking at skips that end soon", night.store.skips(at=night.now)):
        if skip.hits and skip.expires_at - night.now <= _SOON:
            _ask(night, skip)


def _ask(night: Night, skip: Skip) -> None:
    length = _last_length(night.store, skip)
    if skip.expires_at + length >= _LAST_MOMENT:
        return
    payload = {"expires_at": to_text(skip.expires_at + length)}
    if night.store.proposals.same(fingerprint_of("edit", "skip", skip.id, payload)) is not None:
        return
    times = "once" if skip.hits == 1 else f"{skip.hits:,} times"
    why = f"It ends on {skip.expires_at:%Y-%m-%d} and has been hit {times}."
    night.did([Deed("extend", "skip", skip.id, why, waits=True)])
    if night.dry_run:
        return
    evidence = {"ends": to_text(skip.expires_at), "hits": skip.hits}
    if skip.last_hit_at is not None:
        evidence["last_hit"] = to_text(skip.last_hit_at)
    with night.writing(why) as tx:
        current = tx.get("skip", skip.id)
        if current is not None and current.version == skip.version:
            verdict = Verdict("propose", (EXPIRING,))
            night.gate.propose(tx, "edit", "skip", skip.id, skip.version, verdict, payload=payload, evidence=evidence)


def _last_length(store: Store, skip: Skip) -> timedelta:
    """Return for how long the skip was last made to hold: from its making, or from the end that it had before."""
    began = skip.created_at
    for revision in store.history("skip", skip.id):
        before = revision.record
        if before is not None and before.expires_at != skip.expires_at:
            # One that was shortened is measured from when that was done.
            began = before.expires_at if before.expires_at < skip.expires_at else skip.updated_at
            break
    return max(skip.expires_at - began, _SHORTEST)


def _close_moot(night: Night) -> None:
    """Close the questions about skips that are over, or that somebody has changed since."""
    for proposal in night.store.proposals.waiting_for(EXPIRING):
        why = _why_moot(night, proposal)
        if not why:
            continue
        night.did([Deed("expire", "proposal", proposal.id, why)])
        if night.dry_run:
            continue
        with night.writing("questions about skips that ended") as tx:
            current = tx.get("proposal", proposal.id)
            if current is not None and current.version == proposal.version:
                closed = msgspec.structs.replace(proposal, state="expired", decided_at=tx.now, note=why)
                tx.put(closed, base=proposal.version)


def _why_moot(night: Night, proposal: Proposal) -> str:
    skip: Skip | None = night.store.find("skip", proposal.target_id)
    if skip is None or skip.expires_at <= night.now:
        return "The skip is over."
    # Another version with the same end and words, as an undo leaves it, is the skip that was asked about.
    asked = night.store.image("skip", skip.id, proposal.base_version)
    unchanged = asked is not None and (asked.item, asked.reason, asked.expires_at) == (
        skip.item,
        skip.reason,
        skip.expires_at,
    )
    return "" if unchanged else "The skip was changed since."
