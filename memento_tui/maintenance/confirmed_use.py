"""Raise the certainty of memories that sessions used, and propose to promote them."""

from __future__ import annotations

import msgspec

from memento_tui.maintenance.context import MaintenanceAction, MaintenanceContext, is_current
from memento_tui.maintenance.trust import SESSIONS_A_GRADE, ConfirmedUse, certainty_after_use, earned_stability
from memento_tui.model import Memory
from memento_tui.model.claims import HIGHEST_CERTAINTY, HIGHEST_CLAIMED_CERTAINTY
from memento_tui.policy.policy import WriteIntent

__all__ = ["apply_confirmed_use"]

_TRUST_PAGE = 500
_LASTING_SESSIONS = 2
"""Sessions of confirmed use after which a verified memory moves to the long-term tier."""


def apply_confirmed_use(context: MaintenanceContext) -> None:
    """Raise the certainty of the memories that sessions used, and propose to promote them."""
    ids = context.store.usage.confirmed()
    pages = [ids[start : start + _TRUST_PAGE] for start in range(0, len(ids), _TRUST_PAGE)]
    for page in context.with_progress("Weighing confirmed use", pages):
        sessions = context.store.usage.sessions(page)
        for memory in context.store.memories.get_many(page).values():
            found, counted = sessions[memory.id]
            use = ConfirmedUse(sessions=found, used_count=memory.used_count, last_used_at=memory.last_used_at)
            _apply_use(context, memory, use, counted)


def _apply_use(context: MaintenanceContext, memory: Memory, use: ConfirmedUse, counted: int) -> None:
    certainty = certainty_after_use(memory, use, counted)
    if certainty != memory.certainty:
        why = f"It was of use in {use.sessions} sessions: certainty {memory.certainty} becomes {certainty}."
        context.record([MaintenanceAction("certainty", "memory", memory.id, why)])
        if not context.dry_run:
            with context.transaction(why) as tx:
                if not is_current(tx, memory):
                    return
                memory = tx.put(msgspec.structs.replace(memory, certainty=certainty), base=memory.version)
                context.store.usage.mark_counted(tx, memory.id, use.sessions)
    elif use.sessions - counted >= SESSIONS_A_GRADE and not context.dry_run:
        # They count, though use raises certainty no further; a later fall is not undone by them.
        with context.transaction("use") as tx:
            context.store.usage.mark_counted(tx, memory.id, use.sessions)
    _propose_promotion(context, memory, use)
    _promote_tier(context, memory, use)


def _propose_promotion(context: MaintenanceContext, memory: Memory, use: ConfirmedUse) -> None:
    stability = earned_stability(memory, use)
    if stability is None:
        return
    verdict = context.gate.judge(WriteIntent("edit", origin="trust", target_verified=memory.stability != "draft"))
    why = f"It was of use in {use.sessions} sessions: {memory.stability} would become {stability}."
    payload: dict[str, object] = {"stability": stability}
    if HIGHEST_CLAIMED_CERTAINTY <= memory.certainty < HIGHEST_CERTAINTY:
        # Use alone raises certainty no further; the person who confirms the memory does.
        payload["certainty"] = memory.certainty + 1
        why = f"{why[:-1]}, certainty {memory.certainty} {memory.certainty + 1}."
    context.propose(_promotion_action(memory, why), memory, "edit", payload, verdict, {"sessions": use.sessions})


def _promotion_action(memory: Memory, why: str) -> MaintenanceAction:
    return MaintenanceAction("promote", "memory", memory.id, why, waits=True)


def _promote_tier(context: MaintenanceContext, memory: Memory, use: ConfirmedUse) -> None:
    lasting = memory.stability != "draft" and memory.status == "active" and memory.tier in ("working", "short_term")
    if not lasting or use.sessions < _LASTING_SESSIONS:
        return
    verdict = context.gate.judge(WriteIntent("edit", origin="promotion", target_verified=True))
    why = f"A {memory.stability} memory that was of use in {use.sessions} sessions is kept for long."
    if verdict.answer == "propose":
        evidence = {"sessions": use.sessions}
        context.propose(_promotion_action(memory, why), memory, "edit", {"tier": "long_term"}, verdict, evidence)
        return
    context.record([MaintenanceAction("lengthen", "memory", memory.id, why)])
    if not context.dry_run:
        with context.transaction(why) as tx:
            if is_current(tx, memory):
                tx.put(msgspec.structs.replace(memory, tier="long_term"), base=memory.version)
