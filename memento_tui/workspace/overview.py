"""The workspace at a glance: what waits, what agents did, what there is, whether all is well, what ends soon.

Each part is asked for on its own, because they cost very different times: a screen shows the cheap ones at once and the
others as they come. `overview` asks for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from memento_tui.errors import MementoError
from memento_tui.store.activity import DayCount, Tally
from memento_tui.store.statistics import Facets
from memento_tui.workspace.waiting import KIND_NAMES

if TYPE_CHECKING:
    from memento_tui.workspace import Workspace

__all__ = [
    "DAYS",
    "MOST_TAGS",
    "Amounts",
    "Ending",
    "EndingSoon",
    "Overview",
    "Sign",
    "WaitingKind",
    "amounts",
    "days",
    "ending",
    "health",
    "looked",
    "mark_looked",
    "overview",
    "since",
    "waiting",
]

DAYS = 30
"""How many days of activity are told."""

MOST_TAGS = 40

_MEMORIES_END = timedelta(days=7)
_SKIPS_END = timedelta(days=3)
_NAMED = 4
"""Memories that are named of those which expire soon."""

_MOST_TALLIED = 5_000
"""Entries of agents that are told apart."""

_OLD_BACKUP = timedelta(days=30)


class WaitingKind(msgspec.Struct, frozen=True, kw_only=True):
    """How much of one kind waits for a person."""

    kind: str
    name: str
    """What that many of the kind are called."""
    count: int
    since: datetime
    """Since when the oldest waits."""


class Amounts(msgspec.Struct, frozen=True, kw_only=True):
    """How many records of each sort are of use now."""

    memories: int
    """Those that a search may return."""
    working_items: int
    skips: int
    has_identity: bool

    @property
    def is_empty(self) -> bool:
        """Whether nothing is remembered at all."""
        return not (self.memories or self.working_items or self.skips or self.has_identity)


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """One memory or skip that ends soon."""

    record: str
    id: str
    headline: str
    """As it was written: not safe to show."""
    ends_at: datetime


class EndingSoon(msgspec.Struct, frozen=True, kw_only=True):
    """What ends soon: memories within a week, skips within three days."""

    memories: int
    skips: int
    first: Sequence[Ending]
    """The skips, and the first of the memories, the first to end first."""


class Sign(msgspec.Struct, frozen=True):
    """One thing about the state of things. ``hint`` says what to do where it is not ``ok``."""

    name: str
    ok: bool
    detail: str
    hint: str = ""


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """All of it."""

    amounts: Amounts
    waiting: Sequence[WaitingKind]
    since_looked: Tally
    days: Sequence[DayCount]
    statuses: dict[str, int]
    facets: Facets
    tags: Sequence[tuple[str, int]]
    health: Sequence[Sign]
    ending: EndingSoon


def overview(workspace: Workspace, now: datetime) -> Overview:
    """Return everything: about two seconds at a million memories."""
    statistics = workspace.store.statistics
    return Overview(
        amounts=amounts(workspace),
        waiting=waiting(workspace),
        since_looked=workspace.activity.since_last_look(),
        days=days(workspace, now),
        statuses=statistics.statuses(),
        facets=statistics.facets(),
        tags=statistics.tags(MOST_TAGS),
        health=health(workspace, now),
        ending=ending(workspace, now),
    )


def waiting(workspace: Workspace) -> list[WaitingKind]:
    """Return what waits for a person, by kind, the most telling kind first."""
    found = []
    for kind, count in workspace.waiting.counts().items():
        oldest = workspace.waiting.view(kind).page(0, 1)
        # Somebody else may have decided it between the two questions.
        for one in oldest:
            name = KIND_NAMES[kind][count != 1]
            found.append(WaitingKind(kind=kind, name=name, count=count, since=one.row.since))
    return found


def amounts(workspace: Workspace) -> Amounts:
    """Return how many records of each sort there are: 20 ms at a million memories."""
    return Amounts(
        memories=workspace.store.statistics.recalled(),
        working_items=len(workspace.items.list(status="active")),
        skips=len(workspace.skips.list()),
        has_identity=workspace.crystals.current() is not None,
    )


def days(workspace: Workspace, now: datetime) -> list[DayCount]:
    """Return how much was done on each of the last `DAYS` days (UTC), by actor, today last."""
    return workspace.activity.days(DAYS, now=now)


def looked(workspace: Workspace) -> tuple[int, datetime | None]:
    """Return the newest journal entry that the person has seen, and when it was written; 0 before they ever looked."""
    seq = workspace.activity.looked()
    entries = workspace.store.entries(before=seq + 1, limit=1) if seq else []
    return seq, datetime.fromisoformat(entries[0].at) if entries else None


def since(workspace: Workspace, seq: int) -> Tally:
    """Return in numbers what agents did after a journal entry."""
    return workspace.store.activity.tally(seq, _MOST_TALLIED)


def mark_looked(workspace: Workspace) -> None:
    """Note that the person has seen what agents did until now: what comes later is new. Never fails.

    For the moment at which the app is left, or after the overview was shown for a while.
    """
    try:
        workspace.activity.mark_looked()
    except MementoError:
        # On a read-only medium everything stays new, which is no reason to fail while leaving.
        return


def ending(workspace: Workspace, now: datetime) -> EndingSoon:
    """Return which memories expire within a week and which skips end within three days."""
    statistics = workspace.store.statistics
    count, glances = statistics.expiring(now, now + _MEMORIES_END, _NAMED)
    skips = statistics.skips_ending(now, now + _SKIPS_END)
    first = [
        Ending(record="memory", id=glance.id, headline=glance.headline, ends_at=glance.expires_at)
        for glance in glances
        if glance.expires_at is not None
    ]
    first += [Ending(record="skip", id=skip[0], headline=skip[1], ends_at=skip[2]) for skip in skips[:_NAMED]]
    return EndingSoon(memories=count, skips=len(skips), first=sorted(first, key=lambda one: one.ends_at))


def health(workspace: Workspace, now: datetime) -> list[Sign]:
    """Return what can be told of the state of things in a few milliseconds; nothing is started or built."""
    return [_database(workspace), _keyword(workspace), _meaning(workspace), _backup(workspace, now)]


def _database(workspace: Workspace) -> Sign:
    path = workspace.paths.database
    # What was written last lies in a log beside the database until it is copied over.
    files = [path, path.with_name(f"{path.name}-wal")]
    size = sum(file.stat().st_size for file in files if file.is_file())
    return Sign("database", ok=True, detail=f"{_bytes(size)}, {workspace.store.head():,} journal entries")


def _keyword(workspace: Workspace) -> Sign:
    index = workspace.searching.keyword
    if index.notice:
        return Sign("word search", ok=True, detail=index.notice)
    if index.reflects < 0:
        there = workspace.paths.keyword_index.is_dir()
        told = "catches up at the next search" if there else "the first search builds its index"
        return Sign("word search", ok=True, detail=told)
    behind = workspace.store.head() - index.reflects
    told = f"the next search adds {behind:,} changes" if behind > 0 else "up to date"
    return Sign("word search", ok=True, detail=told)


def _meaning(workspace: Workspace) -> Sign:
    name = "search by meaning"
    if not workspace.config.engine.enabled:
        return Sign(name, ok=True, detail="switched off in config.toml")
    state = workspace.searching.semantic.state()
    status = workspace.searching.semantic.status() if state == "ready" else None
    if status is not None and status.problem:
        return Sign(name, ok=False, detail=status.problem, hint="`memento engine logs` says more.")
    if status is not None:
        told = f"{status.pending:,} memories still to embed" if status.pending else "up to date"
        return Sign(name, ok=True, detail=told)
    words = {"warming": "the engine is loading its model", "off": "a search starts the engine"}
    return Sign(name, ok=True, detail=words.get(state, state))


def _backup(workspace: Workspace, now: datetime) -> Sign:
    made = [one for one in workspace.backups.list() if not one.problem and not one.why]
    hint = "`memento backup make`, or b in the Health section, makes one."
    if not made:
        # A workspace that nothing was written to has nothing to lose.
        return Sign("backup", ok=workspace.store.head() == 0, detail="there is none yet", hint=hint)
    age = now - made[0].at
    days_old = max(0, age.days)
    told = "today" if days_old == 0 else "yesterday" if days_old == 1 else f"{days_old} days ago"
    return Sign("backup", ok=age < _OLD_BACKUP, detail=f"the last one {told}", hint="" if age < _OLD_BACKUP else hint)


def _bytes(count: int) -> str:
    size = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1_000:  # noqa: PLR2004 - the next unit
            return f"{size:.0f} {unit}" if unit in ("bytes", "kB") else f"{size:.1f} {unit}"
        size /= 1_000
    return f"{size:.1f} TB"
