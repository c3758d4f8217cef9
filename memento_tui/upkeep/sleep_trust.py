"""What confirmed use moves: certainty by itself, a longer-lived tier by the rules, and trust by a person only."""

from __future__ import annotations

import msgspec

from memento_tui.records import Memory
from memento_tui.review.policy import Intent
from memento_tui.upkeep.night import Deed, Night, is_current
from memento_tui.upkeep.trust import SESSIONS_A_GRADE, Use, certainty_after_use, earned

__all__ = ["weigh_use"]

_PAGE = 500
_LASTING_SESSIONS = 2
"""Sessions of confirmed use after which a verified memory is kept for long."""


def weigh_use(night: Night) -> None:
    """Look at every memory that was of use in some session."""
    ids = night.store.usage.confirmed()
    pages = [ids[start : start + _PAGE] for start in range(0, len(ids), _PAGE)]
    for page in night.watched("Weighing what was of use", pages):
        sessions = night.store.usage.sessions(page)
        for memory in night.store.memories(page).values():
            found, counted = sessions[memory.id]
            use = Use(sessions=found, used_count=memory.used_count, last_used_at=memory.last_used_at)
            _weigh(night, memory, use, counted)


def _weigh(night: Night, memory: Memory, use: Use, counted: int) -> None:
    certainty = certainty_after_use(memory, use, counted)
    if certainty != memory.certainty:
        why = f"It was of use in {use.sessions} sessions: certainty {memory.certainty} becomes {certainty}."
        night.did([Deed("certainty", "memory", memory.id, why)])
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
    _ask_for_trust(night, memory, use)
    _lengthen(night, memory, use)


def _ask_for_trust(night: Night, memory: Memory, use: Use) -> None:
    stability = earned(memory, use)
    if stability is None:
        return
    verdict = night.gate.judge(Intent("edit", origin="trust", target_verified=memory.stability != "draft"))
    why = f"It was of use in {use.sessions} sessions: {memory.stability} would become {stability}."
    night.propose(_asking(memory, why), memory, "edit", {"stability": stability}, verdict, {"sessions": use.sessions})


def _asking(memory: Memory, why: str) -> Deed:
    return Deed("promote", "memory", memory.id, why, waits=True)


def _lengthen(night: Night, memory: Memory, use: Use) -> None:
    lasting = memory.stability != "draft" and memory.status == "active" and memory.tier in ("working", "short_term")
    if not lasting or use.sessions < _LASTING_SESSIONS:
        return
    verdict = night.gate.judge(Intent("edit", origin="promotion", target_verified=True))
    why = f"A {memory.stability} memory that was of use in {use.sessions} sessions is kept for long."
    if verdict.answer == "propose":
        evidence = {"sessions": use.sessions}
        night.propose(_asking(memory, why), memory, "edit", {"tier": "long_term"}, verdict, evidence)
        return
    night.did([Deed("lengthen", "memory", memory.id, why)])
    if not night.dry_run:
        with night.writing(why) as tx:
            if is_current(tx, memory):
                tx.put(msgspec.structs.replace(memory, tier="long_term"), base=memory.version)
