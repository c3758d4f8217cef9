"""Summarize a workspace: its inbox, the activity of agents, counts, health, and records that end soon."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from memento_tui.agreements import Destination, refusal
from memento_tui.api.activity import MAX_COUNTED_ENTRIES, ActivityQuery
from memento_tui.api.hub_session import membership_of
from memento_tui.api.inbox import KIND_NAMES, InboxItem
from memento_tui.api.maintenance_schedule import describe_maintenance, maintenance_state
from memento_tui.api.types import ActivityRow, ExposureRow
from memento_tui.errors import MementoError
from memento_tui.maintenance.schedule import last_run
from memento_tui.meaning import INSTALL_HINT, installation, is_installed
from memento_tui.model import WorkingItem
from memento_tui.regular_files import bytes_of
from memento_tui.storage.activity import AgentTotals, DayCount
from memento_tui.storage.statistics import FacetCounts
from memento_tui.storage.use_report import PeriodUse
from memento_tui.text.quantities import count_of, format_bytes

__all__ = [
    "ACTIVITY_DAYS",
    "MAX_TAGS",
    "ExpiringSoon",
    "HealthFinding",
    "InboxCount",
    "Overview",
    "RecentExposures",
    "RecordCounts",
    "agent_changes",
    "agent_totals_since",
    "daily_counts",
    "examine_meaning",
    "expiring_soon",
    "health_signs",
    "hub_signs",
    "in_work",
    "inbox_counts",
    "last_seen",
    "mark_seen",
    "next_decisions",
    "overview",
    "recent_exposures",
    "record_counts",
]

if TYPE_CHECKING:
    from memento_tui.api import Workspace


ACTIVITY_DAYS = 30
"""Days of activity that are counted."""

MAX_TAGS = 40

_MEMORY_HORIZON = timedelta(days=7)
_SKIP_HORIZON = timedelta(days=3)
_MAX_NAMED = 4
"""Memories that are named of those which expire soon."""

_OLD_BACKUP = timedelta(days=7)
"""The greatest age of the last backup where something changed since; maintenance makes one a day."""
_LATE_MAINTENANCE = timedelta(days=7)
"""How long after it is due a run of maintenance is missed: somebody was there a week ago at the latest."""

_MAX_LISTED = 24
"""Records that each list of the overview holds."""

_EXPOSURE_SPAN = timedelta(days=1)


class InboxCount(msgspec.Struct, frozen=True, kw_only=True):
    """The number of inbox entries of one kind."""

    kind: str
    name: str
    """The name of the kind, in the singular or plural that fits the count."""
    count: int
    since: datetime
    """The moment since which the oldest waits."""


class RecordCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How many records of each sort are of use now."""

    memories: int
    """The number of memories that a search may return."""
    working_items: int
    skips: int
    has_identity: bool

    @property
    def is_empty(self) -> bool:
        """Whether nothing is remembered at all."""
        return not (self.memories or self.working_items or self.skips or self.has_identity)


class ExpiringRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One memory or skip that ends soon."""

    record: str
    id: str
    headline: str
    """As it was written: not safe to show."""
    ends_at: datetime


class ExpiringSoon(msgspec.Struct, frozen=True, kw_only=True):
    """The records that end soon: memories within a week, skips within three days."""

    memories: int
    skips: int
    first: Sequence[ExpiringRecord]
    """The skips, and the first of the memories, the first to end first."""


class RecentExposures(msgspec.Struct, frozen=True, kw_only=True):
    """The exposures of the last 24 hours."""

    total: PeriodUse
    latest: Sequence[ExposureRow]
    """The last of it, the latest first."""


class HealthFinding(msgspec.Struct, frozen=True):
    """One fact about a workspace's state; ``hint`` is the remedy where it is not ``ok``."""

    name: str
    ok: bool
    detail: str
    hint: str = ""


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """The whole summary of a workspace."""

    amounts: RecordCounts
    waiting: Sequence[InboxCount]
    next: Sequence[InboxItem]
    """The first of the inbox, the riskiest first."""
    in_work: Sequence[WorkingItem]
    told: RecentExposures
    since_looked: AgentTotals
    days: Sequence[DayCount]
    statuses: dict[str, int]
    facets: FacetCounts
    tags: Sequence[tuple[str, int]]
    health: Sequence[HealthFinding]
    ending: ExpiringSoon


def overview(workspace: Workspace, now: datetime) -> Overview:
    """Return the whole summary: about two seconds at a million memories."""
    statistics = workspace._store.statistics
    return Overview(
        amounts=record_counts(workspace),
        waiting=inbox_counts(workspace),
        next=next_decisions(workspace),
        in_work=in_work(workspace),
        told=recent_exposures(workspace, now),
        since_looked=workspace.activity.totals_since_last_seen(),
        days=daily_counts(workspace, now),
        statuses=statistics.statuses(),
        facets=statistics.facets(),
        tags=statistics.tags(MAX_TAGS),
        health=health_signs(workspace, now),
        ending=expiring_soon(workspace, now),
    )


def inbox_counts(workspace: Workspace) -> list[InboxCount]:
    """Return the inbox counts by kind, the most important kind first."""
    found = []
    for kind, count in workspace.inbox.counts().items():
        oldest = workspace.inbox.view(kind).page(0, 1)
        # Somebody else may have decided it between the two questions.
        for one in oldest:
            name = KIND_NAMES[kind][count != 1]
            found.append(InboxCount(kind=kind, name=name, count=count, since=one.row.since))
    return found


def next_decisions(workspace: Workspace) -> Sequence[InboxItem]:
    """Return the first of the inbox, the riskiest first."""
    return workspace.inbox.list(limit=_MAX_LISTED)[0]


def in_work(workspace: Workspace) -> Sequence[WorkingItem]:
    """Return the first working items that are active, the highest priority first."""
    return workspace.items.list(status="active")[:_MAX_LISTED]


def recent_exposures(workspace: Workspace, now: datetime) -> RecentExposures:
    """Return the exposures of the last 24 hours: their number, and the latest of them."""
    since = now - _EXPOSURE_SPAN
    return RecentExposures(
        total=workspace._store.use.total(since),
        latest=workspace.activity.exposures(ActivityQuery(since=since), limit=_MAX_LISTED)[0],
    )


def agent_changes(workspace: Workspace) -> Sequence[ActivityRow]:
    """Return the last changes of agents, the latest first."""
    return workspace.activity.page(ActivityQuery(actor=("agent",)), limit=_MAX_LISTED)


def record_counts(workspace: Workspace) -> RecordCounts:
    """Return how many records of each sort there are: 20 ms at a million memories."""
    return RecordCounts(
        memories=workspace._store.statistics.recalled(),
        working_items=len(workspace.items.list(status="active")),
        skips=len(workspace.skips.list()),
        has_identity=workspace.crystals.current() is not None,
    )


def daily_counts(workspace: Workspace, now: datetime) -> list[DayCount]:
    """Return how much was done on each of the last `DAYS` days (UTC), by actor, today last."""
    return workspace.activity.days(ACTIVITY_DAYS, now=now)


def last_seen(workspace: Workspace) -> tuple[int, datetime | None]:
    """Return the newest journal entry that the person has seen (0 if none), and when it was written."""
    seq = workspace.activity.last_seen()
    entries = workspace._store.journal.entries(before=seq + 1, limit=1) if seq else []
    return seq, datetime.fromisoformat(entries[0].at) if entries else None


def agent_totals_since(workspace: Workspace, seq: int) -> AgentTotals:
    """Return the totals of the agents' changes after a journal entry."""
    return workspace._store.activity.tally(seq, MAX_COUNTED_ENTRIES)


def mark_seen(workspace: Workspace) -> None:
    """Record that the person has seen the activity of agents until now. Never fails.

    For the moment at which the app is left, or after the overview was shown for a while.
    """
    try:
        workspace.activity.mark_seen()
    except MementoError:
        # On a read-only medium everything stays new, which is no reason to fail while leaving.
        return


def expiring_soon(workspace: Workspace, now: datetime) -> ExpiringSoon:
    """Return which memories expire within a week and which skips end within three days."""
    statistics = workspace._store.statistics
    count, summaries = statistics.expiring(now, now + _MEMORY_HORIZON, _MAX_NAMED)
    skips = statistics.skips_ending(now, now + _SKIP_HORIZON)
    first = [
        ExpiringRecord(record="memory", id=summary.id, headline=summary.headline, ends_at=summary.expires_at)
        for summary in summaries
        if summary.expires_at is not None
    ]
    first += [
        ExpiringRecord(record="skip", id=skip[0], headline=skip[1], ends_at=skip[2]) for skip in skips[:_MAX_NAMED]
    ]
    return ExpiringSoon(memories=count, skips=len(skips), first=sorted(first, key=lambda one: one.ends_at))


def health_signs(workspace: Workspace, now: datetime) -> list[HealthFinding]:
    """Return the health findings that take a few milliseconds; nothing is started or built."""
    return [
        _database(workspace),
        _keyword(workspace),
        _semantic(workspace),
        _backup(workspace, now),
        _maintenance(workspace, now),
        *hub_signs(workspace),
    ]


def hub_signs(workspace: Workspace) -> list[HealthFinding]:
    """Return whether this machine and the hub are together; nothing where the workspace is in none."""
    membership = membership_of(workspace.settings)
    if membership is None:
        return []
    if refused := refusal(Destination.of_hub(membership.url)):
        return [HealthFinding("hub", ok=False, detail="not connected: you have not agreed to it", hint=refused.hint)]
    if membership.problem:
        return [HealthFinding("hub", ok=False, detail=membership.problem, hint="`memento hub status` says more.")]
    if not membership.namespaces:
        return [HealthFinding("hub", ok=True, detail="nothing is shared; `memento hub share NS`")]
    detail = "in step" if membership.synced_at else "not together yet"
    if membership.notes:
        detail += f", {len(membership.notes)} to read: memento hub status"
    return [HealthFinding("hub", ok=True, detail=detail)]


def _database(workspace: Workspace) -> HealthFinding:
    path = workspace.paths.database
    # What was written last lies in a log beside the database until it is copied over.
    size = bytes_of(path, path.with_name(f"{path.name}-wal"))
    return HealthFinding(
        "database", ok=True, detail=f"{format_bytes(size)}, {workspace._store.journal.head():,} journal entries"
    )


def _keyword(workspace: Workspace) -> HealthFinding:
    index = workspace.search_engine.keyword
    if index.notice:
        return HealthFinding("word search", ok=True, detail=index.notice)
    if index.indexed_seq < 0:
        there = workspace.paths.keyword_index.is_dir()
        detail = "catches up at the next search" if there else "the first search builds its index"
        return HealthFinding("word search", ok=True, detail=detail)
    behind = workspace._store.journal.head() - index.indexed_seq
    detail = f"the next search adds {behind:,} changes" if behind > 0 else "up to date"
    return HealthFinding("word search", ok=True, detail=detail)


def examine_meaning(name: str) -> HealthFinding | None:
    """Return that the packages of searching by meaning are missing, and why; ``None`` if they are here.

    To do without is a choice, so only an installation that failed is no good.
    """
    if is_installed():
        return None
    found = installation()
    if found is None:
        return HealthFinding(name, ok=True, detail="not installed: words only", hint=INSTALL_HINT)
    if found.step:
        return HealthFinding(name, ok=True, detail=f"being installed: {found.step}")
    return HealthFinding(name, ok=False, detail=f"not installed. {found.problem}", hint=INSTALL_HINT)


def _semantic(workspace: Workspace) -> HealthFinding:
    name = "search by meaning"
    if not workspace.config.engine.enabled:
        return HealthFinding(name, ok=True, detail="switched off in config.toml")
    state = workspace.search_engine.semantic.state()
    status = workspace.search_engine.semantic.status() if state == "ready" else None
    if status is not None and status.problem:
        return HealthFinding(name, ok=False, detail=status.problem, hint="`memento engine logs` says more.")
    if status is not None:
        detail = f"{count_of(status.pending, 'memory', 'memories')} still to embed" if status.pending else "up to date"
        return HealthFinding(name, ok=True, detail=detail)
    if state == "off" and (lack := examine_meaning(name)):
        return lack
    words = {"warming": "the engine is loading its model", "off": "a search starts the engine"}
    return HealthFinding(name, ok=True, detail=words.get(state, state))


def _backup(workspace: Workspace, now: datetime) -> HealthFinding:
    made = [one for one in workspace.backups.list() if one.is_in_order]
    hint = "`memento backup make`, or b in the Health section, makes one."
    last = last_run(workspace._store)
    if last is not None and last.backup_problem and (not made or made[0].at < last.at):
        return HealthFinding("backup", ok=False, detail=f"none could be made. {last.backup_problem}", hint=hint)
    if not made:
        # A workspace that nothing was written to has nothing to lose.
        return HealthFinding("backup", ok=workspace._store.journal.head() == 0, detail="there is none yet", hint=hint)
    days_old = max(0, (now - made[0].at).days)
    detail = "today" if days_old == 0 else "yesterday" if days_old == 1 else f"{days_old} days ago"
    is_old = now - made[0].at >= _OLD_BACKUP and workspace.backups.is_behind()
    return HealthFinding("backup", ok=not is_old, detail=f"the last one {detail}", hint=hint if is_old else "")


def _maintenance(workspace: Workspace, now: datetime) -> HealthFinding:
    state = maintenance_state(workspace)
    by_itself = workspace.config.maintenance.run_when_idle
    late = state.due_at is not None and now - state.due_at > _LATE_MAINTENANCE
    hint = "" if by_itself and not late else "`memento maintain` runs it now; --install lets a timer do it."
    return HealthFinding("maintenance", ok=not late, detail=describe_maintenance(state, now), hint=hint)
