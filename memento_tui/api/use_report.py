"""Report whether memories help: the exposures, their use, their cost in tokens, and candidates to drop."""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from memento_tui import clock
from memento_tui.api.workspace import Workspace
from memento_tui.errors import InvalidInput
from memento_tui.model import Memory
from memento_tui.storage.use_report import MemoryUse, PeriodUse

__all__ = ["MemoryUse", "PeriodUse", "ReportedMemory", "UseReport", "use_report"]

MAX_WEEKS = 520

DROP_SESSIONS = 5
"""Sessions that must have been shown a memory, as it stands, without using it, before it is suggested to drop it.

A memory that half of the sessions used would go unused in five of them once in 32 times.
"""

_HEEDED_KINDS = ("instruction", "preference")
"""Kinds that an agent heeds without repeating their words, so that a use is not seen."""


class ReportedMemory(msgspec.Struct, frozen=True):
    """A memory that was shown to agents, with its use."""

    memory: Memory
    use: MemoryUse
    advice: str = ""
    """Why it is suggested to drop it, in a sentence; empty where nothing speaks for that."""


class UseReport(msgspec.Struct, frozen=True, kw_only=True):
    """The memories that agents were shown in some weeks, with how many of them were used."""

    since: datetime
    weeks: int
    namespace: str
    """The one project that it is about; empty for all."""
    total: PeriodUse
    projects: tuple[PeriodUse, ...]
    """The sums of all weeks, the most shown first."""
    by_week: tuple[PeriodUse, ...]
    """The sums of each week and project, the newest week first."""
    drop: tuple[ReportedMemory, ...]
    """Told to many sessions that used it in none; the dearest first."""
    never_used: tuple[ReportedMemory, ...]
    """The other memories that were shown and never used, those with the most tokens first."""
    used: tuple[ReportedMemory, ...]
    """The memories that were used, the most used first."""


def use_report(workspace: Workspace, *, weeks: int = 8, namespace: str = "", now: datetime | None = None) -> UseReport:
    """Return the report of this week and those before it, ``weeks`` in all. Weeks begin on Monday, by UTC.

    Raises:
        InvalidInput: there is no such number of weeks.

    """
    if not 1 <= weeks <= MAX_WEEKS:
        raise InvalidInput(f"A report covers 1 to {MAX_WEEKS} weeks; not {weeks}.", "Give a smaller number.")
    moment = now or clock.now()
    monday = (moment - timedelta(days=moment.weekday())).replace(hour=0, minute=0, second=0, microsecond=0)
    since = monday - timedelta(weeks=weeks - 1)
    queries = workspace._store.use
    projects = tuple(one for one in queries.projects(since) if namespace in ("", one.namespace))
    total = queries.total(since) if not namespace else _sum_of(projects, namespace)
    uses = queries.memories(since, namespace)
    known = workspace._store.memories.get_many([use.memory_id for use in uses])
    told = [ReportedMemory(known[use.memory_id], use, _advice(known[use.memory_id], use)) for use in uses]
    unused = [one for one in told if not one.use.used and not one.use.ever_used]
    used = sorted((one for one in told if one.use.used), key=lambda one: (-one.use.used, one.use.tokens))
    return UseReport(
        since=since,
        weeks=weeks,
        namespace=namespace,
        total=total,
        projects=projects,
        by_week=tuple(one for one in queries.weeks(since) if namespace in ("", one.namespace)),
        drop=tuple(one for one in unused if one.advice),
        never_used=tuple(one for one in unused if not one.advice),
        used=tuple(used),
    )


def _sum_of(projects: tuple[PeriodUse, ...], namespace: str) -> PeriodUse:
    if projects:
        return projects[0]
    return PeriodUse(
        week=None, namespace=namespace, told=0, sessions=0, memories=0, tokens=0, used=0, used_tokens=0, seen=0,
    )  # fmt: skip


def _advice(memory: Memory, use: MemoryUse) -> str:
    """Return why a memory may be dropped; empty where a person made it essential, or a use would not be seen."""
    if use.used or use.ever_used or memory.pinned or memory.kind in _HEEDED_KINDS:
        return ""
    if use.seen_sessions < DROP_SESSIONS:
        return ""
    return f"{use.seen_sessions:,} sessions were told it since it was last changed, and none used it."
