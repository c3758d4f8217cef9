"""Judge an agent's write together with earlier ones: halves of orders, bursts, quarantines, rejections.

One text may be harmless by itself. `SetRules.findings` is asked about a write of an agent before it is judged alone,
and `with_findings` joins the answer to the policy's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from memento_tui.model import AnyRecord, Crystal, Memory, Skip, WorkingItem
from memento_tui.model.validation import account_of
from memento_tui.policy.policy import Verdict
from memento_tui.policy.suspicion import SUSPICIOUS_SCORE, Suspicion, suspicion_across, suspicion_of
from memento_tui.storage.journal import Author
from memento_tui.storage.store import Store
from memento_tui.storage.tables import record_name
from memento_tui.text.rewording import is_reworded

__all__ = ["BURST_SPAN", "SET_REASONS", "SetFindings", "SetRules", "quarantined_writer", "with_findings"]

SET_REASONS = frozenset(("joined_orders", "quarantined", "burst", "like_rejected"))
"""The reason codes of these rules."""

BURST_SPAN = timedelta(hours=1)
"""The time in which the writes of one session, and the new notes of mirrored folders, are counted."""

_TIMES_WITHOUT_SESSION = 10
"""How many times as much callers without a session may write: over HTTP many programs share one name."""

_RECENT_SPAN, _MAX_RECENT = timedelta(days=1), 10
"""How far back, and how many, writes of the same session or agent are joined with a new one.

On 5,200 real notes and 99,650 pairs of them no join was suspicious; one write costs 5 ms at most.
"""

_MOST_REJECTED, _REJECTED_SHOWN = 200, 300
"""How many of the last memories that a person turned down are compared, and the characters of one that are shown."""

_ANSWER_HOLDS, _MAX_ASKED = timedelta(seconds=5), 1_000
"""How long an answer about a write holds, and how many are kept."""

_SEAM_CHARACTERS = 300
"""Characters on each side of the seam of two texts that are read: an order that was cut in two stands at the cut."""


class SetFindings(msgspec.Struct, frozen=True):
    """Why a write waits because of others, as reason codes, with the evidence for a person."""

    reasons: tuple[str, ...] = ()
    evidence: Mapping[str, Any] = {}


def with_findings(verdict: Verdict, findings: SetFindings) -> Verdict:
    """Return a verdict that also asks a person where there are findings."""
    if not findings.reasons:
        return verdict
    known = verdict.reasons if verdict.answer == "propose" else ()
    return Verdict("propose", tuple(dict.fromkeys([*known, *findings.reasons])))


def quarantined_writer(store: Store, memory: Memory) -> str:
    """Return a session that wrote a memory and is out of recall; empty where a person accepted the memory."""
    is_accepted = memory.stability != "draft" or memory.pinned
    return "" if is_accepted else store.writes.quarantined_writer(record_name(memory), memory.id)


class SetRules:
    """The rules about sets of writes, for one author. They hold for agents only."""

    def __init__(self, store: Store, author: Author, burst: int) -> None:
        self._store = store
        self._author = author
        self._burst = burst
        self._asked: dict[tuple[str, ...] | None, tuple[datetime, SetFindings]] = {}

    def findings(self, record: AnyRecord | None, now: datetime, also: Sequence[AnyRecord] = ()) -> SetFindings:
        """Return why a write waits; ``record`` is the record with its new text, ``None`` where it brings no text.

        ``also`` were written in the same transaction. A record that is suspicious by itself is the policy's, and is not
        compared. Asked again about a write within seconds, the answer is the same: the transaction asks once more.
        """
        if self._author.actor != "agent":
            return SetFindings()
        key = None if record is None else (record_name(record), record.id, *_parts_of(record))
        asked = self._asked.get(key)
        if key is not None and asked is not None and now - asked[0] < _ANSWER_HOLDS:
            return asked[1]
        found = self._find(record, now, also)
        if len(self._asked) >= _MAX_ASKED:
            self._asked.clear()
        self._asked[key] = (now, found)
        return found

    def is_quarantined(self) -> bool:
        """Tell whether the author's session was taken out of recall."""
        author = self._author
        return author.actor == "agent" and bool(author.session) and self._store.writes.is_quarantined(author.session)

    def evidence(self, record: AnyRecord) -> Mapping[str, Any]:
        """Return the evidence of the last findings about a record, whatever became of its text meanwhile."""
        about = (record_name(record), record.id)
        known = [found for key, (_, found) in self._asked.items() if key is None or key[:2] == about]
        return known[-1].evidence if known else {}

    def _find(self, record: AnyRecord | None, now: datetime, also: Sequence[AnyRecord]) -> SetFindings:
        reasons, evidence = [], dict[str, Any]()
        if self.is_quarantined():
            reasons.append("quarantined")
            evidence["session"] = self._author.session
        limit = self._burst if self._author.session else _TIMES_WITHOUT_SESSION * self._burst
        if limit and (count := self._writes(now) + len(also)) >= limit:
            reasons.append("burst")
            evidence["burst"] = {"session": self._author.session, "writes": count + 1}
        # What waits anyway is read by a person, and a long batch is not compared one by one.
        if not reasons and record is not None and (joined := self._joined(record, now, also)):
            reasons.append("joined_orders")
            evidence["joined"] = joined
        if not reasons and isinstance(record, Memory) and (rejected := self._rejected_like(record)):
            reasons.append("like_rejected")
            evidence["like_rejected"] = rejected
        return SetFindings(tuple(reasons), evidence)

    def _writes(self, now: datetime) -> int:
        return self._store.writes.count_since(self._author, now - BURST_SPAN)

    def _rejected_like(self, memory: Memory) -> dict[str, str] | None:
        """Return the id and text of a rejected memory that a new one repeats in nearly the same words."""
        account = account_of(memory.namespace)
        for name, namespace, text in self._store.memories.last_rejected(_MOST_REJECTED):
            if account_of(namespace) == account and is_reworded(memory.content, text):
                return {"id": name, "text": text[:_REJECTED_SHOWN]}
        return None

    def _joined(self, record: AnyRecord, now: datetime, also: Sequence[AnyRecord]) -> dict[str, Any] | None:
        if suspicion_of("\n".join(_parts_of(record))).score >= SUSPICIOUS_SCORE:
            return None
        recent = self._store.writes.recent(self._author, now - _RECENT_SPAN, _MAX_RECENT)
        for other in [*reversed(also[-_MAX_RECENT:]), *recent]:
            if (record_name(other), other.id) == (record_name(record), record.id):
                continue
            for first, second, found in _joins(_parts_of(record), _parts_of(other)):
                if suspicion_of("\n".join(_parts_of(other))).score < SUSPICIOUS_SCORE:
                    return {
                        "other": {"record": record_name(other), "id": other.id},
                        "first": first,
                        "second": second,
                        "rules": [sign.rule for sign in found.signs],
                    }
        return None


def _joins(one: Sequence[str], other: Sequence[str]) -> Iterator[tuple[str, str, Suspicion]]:
    """Yield the joins of two texts, in either order, that are suspicious, with or without the title of the second."""
    for before, after in ((one, other), (other, one)):
        first = "\n".join(before).rstrip()[-_SEAM_CHARACTERS:]
        for start in range(len(after)):
            second = "\n".join(after[start:]).lstrip()[:_SEAM_CHARACTERS]
            found = suspicion_across(first, second)
            if found.score >= SUSPICIOUS_SCORE:
                yield first, second, found


def _parts_of(record: AnyRecord) -> list[str]:
    """Return the texts of a record in the order in which agents are shown them, without empty ones."""
    match record:
        case Memory():
            parts = [record.title, record.content]
        case Skip():
            parts = [record.item, record.reason]
        case WorkingItem():
            parts = [record.title, record.content, record.next_action]
        case Crystal():
            parts = [record.content]
        case _:
            return []
    return [part for part in parts if part]
