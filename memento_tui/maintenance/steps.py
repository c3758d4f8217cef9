"""Steps of a maintenance run: aging, expiring skips and proposals, comparison in pairs, trust from use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from memento_tui.errors import EngineUnavailable, InvalidField
from memento_tui.maintenance.aging import AgingChange, due_change, is_skip_over
from memento_tui.maintenance.context import MaintenanceAction, MaintenanceContext, is_current
from memento_tui.maintenance.contradictions.finder import NEIGHBOURS, ContradictionFinder, Neighbours
from memento_tui.maintenance.duplicates import (
    NEAR_DUPLICATE_LIKENESS,
    is_near_duplicate,
    likeness,
    memory_likeness,
    merge_fingerprint,
    propose_merge,
)
from memento_tui.maintenance.trust import SESSIONS_A_GRADE, ConfirmedUse, certainty_after_use, earned_stability
from memento_tui.model import Memory, Proposal, Skip
from memento_tui.model.review import OPEN_PROPOSAL_STATES
from memento_tui.moments import format_moment, parse_moment
from memento_tui.policy.gate import ProposalDraft, fingerprint_of
from memento_tui.policy.policy import Verdict, WriteIntent
from memento_tui.storage.store import Store
from memento_tui.storage.transaction import Transaction

__all__ = ["age_memories", "apply_confirmed_use", "ask_about_skips", "compare_pairs", "end_skips", "expire_proposals"]

_ENDED_SKIPS_KEPT = timedelta(days=30)
"""How long a skip that is over stays listed; it holds no more from its end on."""

_AGING_PAGE = 500


def age_memories(night: MaintenanceContext) -> None:
    """Expire, demote, compact and archive what is due, a thousand memories at a time."""
    total, done = night.store.count_all(), 0
    for batch in night.store.all_memories():
        if night.interrupted:
            return
        night.tell("Looking at ages", done, total)
        done += len(batch)
        due = _due_changes(night, batch)
        if due and not night.dry_run:
            with night.writing("ages") as tx:
                due = [change for change in due if _is_unchanged_memory(tx.get(Memory, change.memory.id), change)]
                for change in due:
                    tx.put(change.memory, base=change.memory.version)
        night.did(MaintenanceAction(change.action, "memory", change.memory.id, change.why) for change in due)
    night.tell("Looking at ages", total, total)


def _is_unchanged_memory(current: Memory | None, change: AgingChange) -> bool:
    return current is not None and current.version == change.memory.version


def _due_changes(night: MaintenanceContext, memories: Sequence[Memory]) -> list[AgingChange]:
    """Return what is due. A memory that was imported ages from the day it came here at the earliest."""
    suspects = [memory for memory in memories if _due_change_of(night, memory, None) is not None]
    known = night.store.first_written("memory", [memory.id for memory in suspects]) if suspects else {}
    found = (_due_change_of(night, memory, known.get(memory.id)) for memory in suspects)
    return [change for change in found if change is not None]


def _due_change_of(night: MaintenanceContext, memory: Memory, known_since: datetime | None) -> AgingChange | None:
    preset = night.config.maintenance.decay
    since = _superseded_since(night, memory) if preset == "vault" else None
    return due_change(memory, night.now, preset=preset, superseded_since=since, known_since=known_since)


def _superseded_since(night: MaintenanceContext, memory: Memory) -> datetime | None:
    if memory.status != "superseded":
        return None
    drawn = [r.created_at for r in night.store.relations_of(memory.id) if r.dst == memory.id and r.type == "supersedes"]
    return max(drawn, default=None)


def end_skips(night: MaintenanceContext) -> None:
    """Take skips off the list that have been over for a month."""
    over = [skip for skip in night.store.skips() if is_skip_over(skip, night.now - _ENDED_SKIPS_KEPT)]
    if over and not night.dry_run:
        with night.writing("skips") as tx:
            over = [skip for skip in over if _is_unchanged_skip(tx.get(Skip, skip.id), skip)]
            for skip in over:
                tx.remove(skip, base=skip.version)
    night.did(
        MaintenanceAction("end", "skip", skip.id, f"It has been over since {skip.expires_at:%Y-%m-%d}.")
        for skip in over
    )


def _is_unchanged_skip(current: Skip | None, skip: Skip) -> bool:
    return current is not None and current.version == skip.version


def expire_proposals(night: MaintenanceContext) -> None:
    """Close the proposals that nobody can decide about: what they are about is purged, or would have ended already."""
    after: str | None = None
    while not night.interrupted:
        found, after = night.store.proposals.page(OPEN_PROPOSAL_STATES, at=night.now, after=after, limit=_AGING_PAGE)
        gone = [(proposal, why) for proposal in found if (why := _why_proposal_is_moot(night, proposal))]
        if gone and not night.dry_run:
            _close_proposals(night, gone)
        night.did(MaintenanceAction("expire", "proposal", proposal.id, why) for proposal, why in gone)
        if after is None:
            return


def _close_proposals(night: MaintenanceContext, gone: Iterable[tuple[Proposal, str]]) -> None:
    with night.writing("proposals that ended") as tx:
        for proposal, why in gone:
            current = tx.get(Proposal, proposal.id)
            if current is not None and current.version == proposal.version:
                ended = msgspec.structs.replace(proposal, state="expired", decided_at=tx.now, note=why)
                tx.put(ended, base=proposal.version)
                _archive_pending_memory(tx, proposal)


def _archive_pending_memory(tx: Transaction, proposal: Proposal) -> None:
    """Archive a memory that waited for a decision that nobody takes any more."""
    target = tx.get_named(proposal.target, proposal.target_id)
    if proposal.action == "create" and isinstance(target, Memory) and target.status == "pending":
        tx.put(msgspec.structs.replace(target, status="archived"), base=target.version)


def _why_proposal_is_moot(night: MaintenanceContext, proposal: Proposal) -> str:
    target = night.store.find_named(proposal.target, proposal.target_id)
    creates_on_approval = proposal.action == "create" and proposal.target in ("skip", "item")
    if target is None and not creates_on_approval:
        return "What it is about does not exist any more."
    if proposal.action == "merge" and night.store.find(Memory, str(proposal.evidence["other"])) is None:
        return "One of the two memories does not exist any more."
    ends = getattr(target, "expires_at", None) if target is not None else _proposed_end(proposal)
    if ends is not None and ends <= night.now and proposal.action == "create":
        return f"It would have ended on {ends:%Y-%m-%d}."
    if proposal.target == "contradiction" and getattr(target, "status", "") == "resolved":
        return "The contradiction is resolved."
    return ""


def _proposed_end(proposal: Proposal) -> datetime | None:
    try:
        return parse_moment(proposal.payload["expires_at"], "expires_at") if "expires_at" in proposal.payload else None
    except InvalidField:
        return None


SKIP_EXPIRY_REASON = "expiring_skip"
"""The reason code of the question."""

_SKIP_NOTICE = timedelta(days=3)
_SHORTEST_SKIP = timedelta(days=1)
_LAST_MOMENT = datetime(9999, 1, 1, tzinfo=UTC)


def ask_about_skips(night: MaintenanceContext) -> None:
    """Propose to extend each skip that ends soon and was hit; take back questions that nobody can answer any more.

    A rejection lets it end. The same is never asked twice: the new end is counted from the old one, so the question
    is the same one as long as the skip is.
    """
    _close_moot_skip_proposals(night)
    for skip in night.watched("Looking at skips that end soon", night.store.skips(at=night.now)):
        if skip.hits and skip.expires_at - night.now <= _SKIP_NOTICE:
            _propose_skip_extension(night, skip)


def _propose_skip_extension(night: MaintenanceContext, skip: Skip) -> None:
    length = _length_of_skip(night.store, skip)
    if skip.expires_at + length >= _LAST_MOMENT:
        return
    payload = {"expires_at": format_moment(skip.expires_at + length)}
    if night.store.proposals.same(fingerprint_of("edit", "skip", skip.id, payload)) is not None:
        return
    times = "once" if skip.hits == 1 else f"{skip.hits:,} times"
    why = f"It ends on {skip.expires_at:%Y-%m-%d} and has been hit {times}."
    night.did([MaintenanceAction("extend", "skip", skip.id, why, waits=True)])
    if night.dry_run:
        return
    evidence = {"ends": format_moment(skip.expires_at), "hits": skip.hits}
    if skip.last_hit_at is not None:
        evidence["last_hit"] = format_moment(skip.last_hit_at)
    with night.writing(why) as tx:
        current = tx.get(Skip, skip.id)
        if current is not None and current.version == skip.version:
            verdict = Verdict("propose", (SKIP_EXPIRY_REASON,))
            night.gate.propose(tx, ProposalDraft("edit", skip, payload, evidence), verdict)


def _length_of_skip(store: Store, skip: Skip) -> timedelta:
    """Return for how long the skip was last made to hold: from its making, or from the end that it had before."""
    began = skip.created_at
    for revision in store.history(Skip, skip.id):
        before = revision.record
        if before is not None and before.expires_at != skip.expires_at:
            # One that was shortened is measured from when that was done.
            began = before.expires_at if before.expires_at < skip.expires_at else skip.updated_at
            break
    return max(skip.expires_at - began, _SHORTEST_SKIP)


def _close_moot_skip_proposals(night: MaintenanceContext) -> None:
    """Close the questions about skips that are over, or that somebody has changed since."""
    for proposal in night.store.proposals.waiting_for(SKIP_EXPIRY_REASON):
        why = _why_skip_proposal_is_moot(night, proposal)
        if not why:
            continue
        night.did([MaintenanceAction("expire", "proposal", proposal.id, why)])
        if night.dry_run:
            continue
        with night.writing("questions about skips that ended") as tx:
            current = tx.get(Proposal, proposal.id)
            if current is not None and current.version == proposal.version:
                closed = msgspec.structs.replace(proposal, state="expired", decided_at=tx.now, note=why)
                tx.put(closed, base=proposal.version)


def _why_skip_proposal_is_moot(night: MaintenanceContext, proposal: Proposal) -> str:
    skip: Skip | None = night.store.find(Skip, proposal.target_id)
    if skip is None or skip.expires_at <= night.now:
        return "The skip is over."
    # Another version with the same end and words, as an undo leaves it, is the skip that was asked about.
    asked = night.store.image(Skip, skip.id, proposal.base_version)
    unchanged = asked is not None and (asked.item, asked.reason, asked.expires_at) == (
        skip.item,
        skip.reason,
        skip.expires_at,
    )
    return "" if unchanged else "The skip was changed since."


_COMPARED_BY_WORDS_SETTING, _COMPARED_BY_MEANING_SETTING = "sleep compared words up to", "sleep compared meaning up to"

_COMPARISON_PAGE = 200
_DUPLICATE_SIMILARITY = 0.95
"""The similarity in meaning from which half of the words in common are enough."""
_LEAST_WORD_LIKENESS = 0.5
_LEAST_SIMILARITY = 0.4
"""The similarity below which nothing is compared."""


def compare_pairs(night: MaintenanceContext) -> None:
    """Compare what was written since the last sleep with what is near it.

    Where meaning cannot be asked, memories that share their rarer words are compared instead.
    """
    night.merging |= night.store.proposals.merging()
    night.keyword.catch_up()
    finder = ContradictionFinder(night.store, night.gate.author, night.entailment, batch=night.batch)
    marker, head = _comparison_setting(night), night.store.head()
    began = reached = _comparison_start(night, marker, head)
    while reached < head and not night.interrupted:
        night.tell("Comparing what is new", reached - began, head - began)
        ids, reached = night.store.changed_memories(reached, _COMPARISON_PAGE)
        memories = {n: m for n, m in night.store.memories(ids).items() if m.status in ("active", "compacted")}
        if memories:
            neighbours = _comparison_neighbours(night, list(memories.values()))
            if _comparison_setting(night) != marker:
                return  # meaning was lost on the way; the next sleep begins where this one stopped
            _propose_merges(night, memories, neighbours)
            _record_contradictions(night, finder, neighbours)
        if not night.dry_run:
            night.store.keep_setting(marker, str(reached))


def _comparison_setting(night: MaintenanceContext) -> str:
    """Return the setting that names the journal entry up to which memories have been compared in this way."""
    return _COMPARED_BY_WORDS_SETTING if night.meaning is None else _COMPARED_BY_MEANING_SETTING


def _comparison_start(night: MaintenanceContext, marker: str, head: int) -> int:
    start = int(night.store.setting(marker) or 0)
    return start if start <= head else 0  # an older database was put in this one's place


def _comparison_neighbours(night: MaintenanceContext, memories: Sequence[Memory]) -> Neighbours:
    if night.meaning is not None:
        try:
            return night.meaning.neighbours([m.id for m in memories], limit=NEIGHBOURS, minimum=_LEAST_SIMILARITY)
        except EngineUnavailable as error:
            night.problems.append(f"Meaning could not be asked, so only words were compared: {error}")
            night.meaning = None
    return {memory.id: _neighbours_by_words(night, memory) for memory in memories}


def _neighbours_by_words(night: MaintenanceContext, memory: Memory) -> list[tuple[str, float]]:
    nearby = night.keyword.alike(memory.content, NEIGHBOURS)
    if nearby is None:
        return []
    others = night.store.memories([*nearby.found, *nearby.lagging])
    # Words in common say less than meaning does: a half counts as near.
    scored = [(o.id, min(1.0, 0.4 + likeness(memory.content, o.content))) for o in others.values() if o.id != memory.id]
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:NEIGHBOURS]


def _propose_merges(night: MaintenanceContext, memories: dict[str, Memory], neighbours: Neighbours) -> None:
    others = night.store.memories(sorted({name for near in neighbours.values() for name, _ in near}))
    for name, near in neighbours.items():
        for other_id, similarity in near:
            one, other = memories.get(name), others.get(other_id)
            if one is None or other is None or other.status not in ("active", "compacted"):
                continue
            older, newer = sorted((one, other), key=lambda memory: (memory.created_at, memory.id))
            found = memory_likeness(older, newer)
            if night.meaning is not None and similarity >= _DUPLICATE_SIMILARITY and found >= _LEAST_WORD_LIKENESS:
                found = max(found, NEAR_DUPLICATE_LIKENESS)
            if is_near_duplicate(older, newer, found):
                _propose_merge_of(night, older, newer, found)


def _propose_merge_of(night: MaintenanceContext, older: Memory, newer: Memory, found: float) -> None:
    # Of ten that are alike, each waits in one merge at most: the next is proposed once that is decided.
    if night.merging & {older.id, newer.id} or night.store.proposals.same(merge_fingerprint(older, newer)) is not None:
        return
    successors = night.store.successors([older.id, newer.id])
    if older.id in successors or newer.id in successors:
        return
    deed = MaintenanceAction("merge", "memory", older.id, f"It says nearly what {newer.id} says.", waits=True)
    night.merging |= {older.id, newer.id}
    night.did([deed])
    if not night.dry_run:
        with night.writing("near duplicates") as tx:
            if is_current(tx, older) and is_current(tx, newer):
                propose_merge(tx, night.gate, older, newer, found)


def _record_contradictions(night: MaintenanceContext, finder: ContradictionFinder, neighbours: Neighbours) -> None:
    found = finder.find(neighbours)
    if not night.dry_run:
        finder.write(found)
    for one in found:
        deed = MaintenanceAction(
            "contradiction", "memory", one.newer.id, f"It contradicts {one.older.id}: {one.clash.why}", waits=True
        )
        if deed not in night.deeds:
            night.did([deed])


_TRUST_PAGE = 500
_LASTING_SESSIONS = 2
"""Sessions of confirmed use after which a verified memory is kept for long."""


def apply_confirmed_use(night: MaintenanceContext) -> None:
    """Look at every memory that was of use in some session."""
    ids = night.store.usage.confirmed()
    pages = [ids[start : start + _TRUST_PAGE] for start in range(0, len(ids), _TRUST_PAGE)]
    for page in night.watched("Weighing what was of use", pages):
        sessions = night.store.usage.sessions(page)
        for memory in night.store.memories(page).values():
            found, counted = sessions[memory.id]
            use = ConfirmedUse(sessions=found, used_count=memory.used_count, last_used_at=memory.last_used_at)
            _apply_use(night, memory, use, counted)


def _apply_use(night: MaintenanceContext, memory: Memory, use: ConfirmedUse, counted: int) -> None:
    certainty = certainty_after_use(memory, use, counted)
    if certainty != memory.certainty:
        why = f"It was of use in {use.sessions} sessions: certainty {memory.certainty} becomes {certainty}."
        night.did([MaintenanceAction("certainty", "memory", memory.id, why)])
        if not night.dry_run:
            with night.writing(why) as tx:
                if not is_current(tx, memory):
                    return
                memory = tx.put(msgspec.structs.replace(memory, certainty=certainty), base=memory.version)
                night.store.usage.mark_counted(tx, memory.id, use.sessions)
    elif use.sessions - counted >= SESSIONS_A_GRADE and not night.dry_run:
        # They counted, though the certainty was as high as use takes it; what lowers it later is not undone by them.
        with night.writing("use") as tx:
            night.store.usage.mark_counted(tx, memory.id, use.sessions)
    _propose_promotion(night, memory, use)
    _promote_tier(night, memory, use)


def _propose_promotion(night: MaintenanceContext, memory: Memory, use: ConfirmedUse) -> None:
    stability = earned_stability(memory, use)
    if stability is None:
        return
    verdict = night.gate.judge(WriteIntent("edit", origin="trust", target_verified=memory.stability != "draft"))
    why = f"It was of use in {use.sessions} sessions: {memory.stability} would become {stability}."
    night.propose(
        _promotion_action(memory, why), memory, "edit", {"stability": stability}, verdict, {"sessions": use.sessions}
    )


def _promotion_action(memory: Memory, why: str) -> MaintenanceAction:
    return MaintenanceAction("promote", "memory", memory.id, why, waits=True)


def _promote_tier(night: MaintenanceContext, memory: Memory, use: ConfirmedUse) -> None:
    lasting = memory.stability != "draft" and memory.status == "active" and memory.tier in ("working", "short_term")
    if not lasting or use.sessions < _LASTING_SESSIONS:
        return
    verdict = night.gate.judge(WriteIntent("edit", origin="promotion", target_verified=True))
    why = f"A {memory.stability} memory that was of use in {use.sessions} sessions is kept for long."
    if verdict.answer == "propose":
        evidence = {"sessions": use.sessions}
        night.propose(_promotion_action(memory, why), memory, "edit", {"tier": "long_term"}, verdict, evidence)
        return
    night.did([MaintenanceAction("lengthen", "memory", memory.id, why)])
    if not night.dry_run:
        with night.writing(why) as tx:
            if is_current(tx, memory):
                tx.put(msgspec.structs.replace(memory, tier="long_term"), base=memory.version)
