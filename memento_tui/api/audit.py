"""Audit a workspace for rot: the findings of each kind, their meaning, and the memories concerned."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import datetime

import msgspec

from memento_tui import clock
from memento_tui.config import Config
from memento_tui.errors import InvalidInput
from memento_tui.maintenance.audit import AUDIT_KINDS, AuditKind, TextFindings, audit_query, audit_rules, audit_texts
from memento_tui.model import Memory
from memento_tui.storage.audit import AuditRules
from memento_tui.storage.backup import Progress
from memento_tui.storage.memory_queries import MemorySummary
from memento_tui.storage.store import Store

__all__ = ["AuditFinding", "RotAudit", "parse_audit_kind"]

_TEXT_KINDS = frozenset(kind.code for kind in AUDIT_KINDS if kind.in_texts)


class AuditFinding(msgspec.Struct, frozen=True):
    """The number of audit findings of one kind. ``count`` is ``None`` where it was not counted."""

    kind: AuditKind
    count: int | None

    @property
    def ok(self) -> bool:
        """Whether nothing of this sort was found."""
        return self.count == 0


def parse_audit_kind(code: str) -> AuditKind:
    """Return the kind of audit finding that a code names. Raises `InvalidInput` for an unknown code."""
    for kind in AUDIT_KINDS:
        if kind.code == code.replace("-", "_"):
            return kind
    raise InvalidInput(
        f"There is no kind {code!r:.60}.", f"It is one of {', '.join(kind.code for kind in AUDIT_KINDS)}."
    )


class RotAudit:
    """The audit of one workspace, which changes nothing. Safe to use from several threads."""

    def __init__(self, store: Store, config: Config) -> None:
        self._store = store
        self._config = config
        self._judged = TextFindings()
        self._guard = threading.Lock()

    def count(
        self,
        *,
        now: datetime | None = None,
        progress: Progress | None = None,
        stop: threading.Event | None = None,
    ) -> list[AuditFinding]:
        """Return the counts that need no text: about ten seconds for a million memories.

        What is found in texts has a count where the texts were read before. Raises `StoppedError`.
        """
        moment = now or clock.now()
        found: dict[str, int] = self._store.audit.counts(self._rules(moment), progress=progress, stop=stop)
        found["contradictions"] = self._store.contradictions.count(at=moment)
        if self._judged.seq >= 0:
            found |= {code: len(getattr(self._judged, code)) for code in _TEXT_KINDS}
        return [AuditFinding(kind, found.get(kind.code)) for kind in AUDIT_KINDS]

    def read_texts(self, *, progress: Progress | None = None, stop: threading.Event | None = None) -> dict[str, int]:
        """Search every text for secrets and hidden text; after the first time only texts that changed.

        About 4,000 memories a second. Returns the counts by code. Raises `StoppedError`.
        """
        with self._guard:
            self._judged = audit_texts(self._store, self._judged, progress=progress, stop=stop)
        return {code: len(getattr(self._judged, code)) for code in _TEXT_KINDS}

    def ids(
        self,
        code: str,
        *,
        after: str | None = None,
        limit: int = 50,
        now: datetime | None = None,
        stop: threading.Event | None = None,
    ) -> tuple[Sequence[str], str | None]:
        """Return ids of memories that were found, and the next page's cursor.

        Raises:
            InvalidInput: there is no such kind, or it is about what waits in the review.
            StoppedError: ``stop`` was set.

        """
        kind = parse_audit_kind(code)
        if kind.place == "review":
            raise InvalidInput(f"{kind.title} are not memories; they wait for a decision.", "See `memento review`.")
        if not kind.in_texts:
            rules = self._rules(now or clock.now())
            return self._store.audit.page(kind.code, rules, after=after, limit=limit, stop=stop)
        if self._judged.seq < 0:
            self.read_texts(stop=stop)
        ids = sorted(getattr(self._judged, kind.code))
        rest = [name for name in ids if after is None or name > after]
        return rest[:limit], rest[limit - 1] if len(rest) > limit else None

    def why(self, code: str, memory_id: str) -> str:
        """Return a description of a finding without quoting the text; "" where the kind says it all."""
        found: dict[str, str] = getattr(self._judged, code, {}) if code in _TEXT_KINDS else {}
        return found.get(memory_id, "")

    def memories(self, ids: Sequence[str]) -> list[Memory]:
        """Return the memories of these ids in their order, without those that are gone."""
        found = self._store.memories.get_many(ids)
        return [found[name] for name in ids if name in found]

    def members(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the member of the hub whose person wrote each of some memories; others are left out."""
        return self._store.writes.members("memory", ids)

    def examples(self, code: str, limit: int = 10, *, now: datetime | None = None) -> list[MemorySummary]:
        """Return list rows of the first that were found; none where the texts were not read, or the review has them."""
        kind = parse_audit_kind(code)
        if kind.place == "review" or (kind.in_texts and self._judged.seq < 0):
            return []
        ids, _ = self.ids(code, limit=limit, now=now)
        return self._store.memories.summaries_by_id(ids)

    def query(self, code: str, *, now: datetime | None = None) -> str:
        """Return the query that lists the memories of a finding: all of them, or the first ones by their ids."""
        kind = parse_audit_kind(code)
        if kind.query or kind.place == "review":
            return kind.query
        return audit_query(kind, self.ids(code, limit=100, now=now)[0])

    def _rules(self, now: datetime) -> AuditRules:
        return audit_rules(now, self._config.maintenance.decay)
