"""The memory audit: kinds of decay and risk, their meaning, and what a person can do about each."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Literal

import msgspec

from memento_tui.config import DecayPreset
from memento_tui.model import Memory
from memento_tui.model.memory import RECALLED_STATUSES, STATUSES
from memento_tui.policy.secrets import redact_record
from memento_tui.policy.suspicion import SUSPICIOUS_SCORE, suspicion_of
from memento_tui.search.fair_share import is_held_back
from memento_tui.search.query_language import written_field
from memento_tui.search.ranking import BANK_USES
from memento_tui.storage.audit import AuditRules
from memento_tui.storage.backup import Progress
from memento_tui.storage.long_work import raise_if_stopped
from memento_tui.storage.store import Store

__all__ = [
    "AUDIT_KINDS",
    "FADED",
    "AuditKind",
    "TextFindings",
    "audit_query",
    "audit_rules",
    "audit_texts",
    "has_hidden_text",
]

UNUSED_DAYS = 30
FEEDBACK_LOOP_EXPOSURES = 10
"""The exposures without confirmed use from which a memory is reported."""
VERIFIED_DAYS = 180
UNTOUCHED_DAYS = 180
SOON_DAYS = 7
WAITING_DAYS = 7
FADED = 0.5
"""The share of its original weight at which an untouched memory counts as stale."""

_FADING: dict[DecayPreset, tuple[int, int]] = {
    "balanced": (4, 1 << 30),
    "vault": (4, 1 << 30),
    "protocol": (6, 1 << 30),
    "bank": (6, BANK_USES),
}
"""For each preset the certainty, and the number of uses, below which a draft has faded in `UNTOUCHED_DAYS`."""

_MEMORIES_PER_BATCH = 200
"""Memories that are checked between two reports of progress: about a twentieth of a second."""

_CHANGES_PER_BATCH = 2000
_QUERY_IDS = 60
"""The most ids in one query; more would not fit the filter box."""


class AuditKind(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of problem that the audit reports."""

    code: str
    group: Literal["Safety", "To decide", "Age", "Use", "Order"]
    title: str
    means: str
    todo: str
    place: Literal["memories", "review"] = "memories"
    """The section that lists the findings."""
    query: str = ""
    """The query that selects them there; empty where no query can, and the ids are listed instead."""
    urgent: bool = False
    """Whether it does harm until it is dealt with."""
    in_texts: bool = False
    """Whether it requires reading every text."""


AUDIT_KINDS: tuple[AuditKind, ...] = (
    AuditKind(
        code="secrets",
        group="Safety",
        title="Secrets in stored text",
        means="They hold a secret that the gate would take out today: they came in before it did, or past it.",
        todo="Change the secret where it is used. Then purge the memory: memento purge ID --reason WHY.",
        urgent=True,
        in_texts=True,
    ),
    AuditKind(
        code="suspicious",
        group="Safety",
        title="Orders to a model",
        means="They read like orders smuggled in for a model, and nobody has verified them.",
        todo="Read each. Verify what is harmless, such as a note about such an attack; delete the rest.",
        urgent=True,
        in_texts=True,
    ),
    AuditKind(
        code="hidden",
        group="Safety",
        title="Hidden characters",
        means="They hold characters that a model reads and a person does not see.",
        todo="Open each: placeholders show what is hidden. Edit it out, or delete the memory.",
        urgent=True,
        in_texts=True,
    ),
    AuditKind(
        code="contradictions",
        group="To decide",
        title="Contradictions left open",
        means="Pairs of memories that cannot both hold. Agents are shown both sides until you decide.",
        todo="Decide each in the review: newer, older, both, merge, or no contradiction.",
        place="review",
        query="contradiction",
        urgent=True,
    ),
    AuditKind(
        code="waiting",
        group="To decide",
        title="Waiting for over a week",
        means=f"Proposals that you have not decided about for {WAITING_DAYS} days. Until then they are not recalled.",
        todo="Decide about them in the review, or put them off with a date.",
        place="review",
        urgent=True,
    ),
    AuditKind(
        code="merges",
        group="To decide",
        title="Near duplicates",
        means="Pairs that say the same in other words. A maintenance run found them and proposes one text for both.",
        todo="Look at the merges in the review; memento maintain finds more.",
        place="review",
        query="merge",
    ),
    AuditKind(
        code="copies",
        group="Order",
        title="The same text twice",
        means="Memories with the very same text, in several namespaces or in one.",
        todo="Keep the one in the widest namespace that it holds for, and delete the others.",
    ),
    AuditKind(
        code="logs",
        group="Order",
        title="Logs",
        means="They report what was done or read once, and not what follows. Agents are not told them unasked.",
        todo="Say what the next session should do because of it, and delete what says nothing.",
        in_texts=True,
    ),
    AuditKind(
        code="untagged",
        group="Order",
        title="Without tags",
        means="They are found by their words only, and are grouped with nothing.",
        todo="Mark them in the list and press t to tag them together.",
        query="is:untagged",
    ),
    AuditKind(
        code="expired",
        group="Age",
        title="Expired",
        means="Their date has passed. No search returns them unless asked, and the next maintenance run archives them.",
        todo="Give a new date to what still holds; leave the rest.",
        query="is:expired",
    ),
    AuditKind(
        code="expiring",
        group="Age",
        title="Expires soon",
        means=f"They end within {SOON_DAYS} days.",
        todo="Give a new date to what is to hold longer; leave the rest.",
        query=f"expires:<{SOON_DAYS}d",
    ),
    AuditKind(
        code="old_verification",
        group="Age",
        title="Verified long ago",
        means=f"A person said that they hold, but more than {VERIFIED_DAYS} days ago.",
        todo="Verify again what still holds, and correct what has changed.",
    ),
    AuditKind(
        code="untouched",
        group="Age",
        title="Stale drafts",
        means=f"Nobody changed, used or verified them for {UNTOUCHED_DAYS} days: they have lost most of their weight.",
        todo="Verify what holds. What is left alone is shortened and archived by maintenance in time.",
    ),
    AuditKind(
        code="recall_loop",
        group="Use",
        title="Recall loops",
        means=f"Shown to agents {FEEDBACK_LOOP_EXPOSURES} times or more, and never once of use: "
        "they cost tokens each time.",
        todo="Make them more exact, lower their certainty, or delete them.",
    ),
    AuditKind(
        code="never_used",
        group="Use",
        title="Never used",
        means=f"Older than {UNUSED_DAYS} days and of use in no session. Pinned ones and instructions are left out.",
        todo="Delete what nobody will need. What you keep ages by itself.",
    ),
)
"""Every kind of problem, the most harmful first."""


def audit_rules(now: datetime, preset: DecayPreset) -> AuditRules:
    """Return the limits of the audit at a moment, for the given decay preset."""
    certainty, uses = _FADING[preset]
    return AuditRules(
        now=now,
        soon=now + timedelta(days=SOON_DAYS),
        unused_since=now - timedelta(days=UNUSED_DAYS),
        shown_at_least=FEEDBACK_LOOP_EXPOSURES,
        verified_since=now - timedelta(days=VERIFIED_DAYS),
        untouched_since=now - timedelta(days=UNTOUCHED_DAYS),
        fades_below_certainty=certainty,
        fades_below_uses=uses,
        waiting_since=now - timedelta(days=WAITING_DAYS),
    )


def audit_query(kind: AuditKind, ids: Iterable[str]) -> str:
    """Return the query that lists the findings: the kind's own, else one that names the first of the ids."""
    if kind.query:
        return kind.query
    named = [name for name in ids if '"' not in name][:_QUERY_IDS]
    if not named:
        return ""
    # A secret in a deleted or rejected memory is a secret too.
    beyond = f" status:{','.join(STATUSES)}" if kind.code == "secrets" else ""
    return f"{written_field('id', *named)}{beyond}"


_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_HIDING = {"turns_direction", "tag_characters", "invisible_run", "split_words"}
"""The rules of `policy.prompt_injection` on invisible text."""


class TextFindings(msgspec.Struct):
    """The findings in the texts, and the sequence number up to which they were read."""

    seq: int = -1
    mark: str = ""
    secrets: dict[str, str] = {}
    """The kind and place of the secrets of each memory, never the secrets themselves."""
    suspicious: dict[str, str] = {}
    hidden: dict[str, str] = {}
    logs: dict[str, str] = {}


def has_hidden_text(text: str) -> bool:
    """Tell whether a text holds characters that a model reads and a person does not see."""
    if _CONTROLS.search(text):
        return True
    return not text.isascii() and any(sign.rule in _HIDING for sign in suspicion_of(text).signs)


def _audit_text(memory: Memory, into: TextFindings) -> None:
    """Check one memory as it is now, in place of its earlier findings."""
    for found in (into.secrets, into.suspicious, into.hidden, into.logs):
        found.pop(memory.id, None)
    _, removals = redact_record(memory)
    if removals:
        into.secrets[memory.id] = "; ".join(f"{one.kind} in {one.field}, line {one.line}" for one in removals)
    if memory.status not in RECALLED_STATUSES:
        return
    text = f"{memory.title}\n{memory.content}"
    suspicion = suspicion_of(text)
    if suspicion.score >= SUSPICIOUS_SCORE and memory.stability == "draft":
        into.suspicious[memory.id] = f"score {suspicion.score:.2f}"
    if has_hidden_text(text):
        into.hidden[memory.id] = ""
    if memory.kind != "daily" and is_held_back(memory):
        into.logs[memory.id] = ""


def audit_texts(
    store: Store, known: TextFindings, *, progress: Progress | None = None, stop: threading.Event | None = None
) -> TextFindings:
    """Check every text, or after the first time those that changed since; return all findings.

    Raises:
        StoppedError: ``stop`` was set; earlier findings stay.

    """
    if known.seq >= 0 and store.journal.mark(known.seq) == known.mark:
        return _read_changes(store, known, progress, stop)
    found, head = TextFindings(secrets={}, suspicious={}, hidden={}, logs={}), store.journal.head()
    done, total = 0, store.memories.count_all()
    for batch in store.memories.batches(_MEMORIES_PER_BATCH):
        for memory in batch:
            _audit_text(memory, found)
        done += len(batch)
        raise_if_stopped(stop)
        if progress is not None:
            progress("Reading the texts", min(done, total), total)
    found.seq, found.mark = head, store.journal.mark(head)
    return found


def _read_changes(
    store: Store, known: TextFindings, progress: Progress | None, stop: threading.Event | None
) -> TextFindings:
    while known.seq < (head := store.journal.head()):
        raise_if_stopped(stop)
        ids, reached = store.journal.changed_memories(known.seq, _CHANGES_PER_BATCH)
        memories = store.memories.get_many(ids)
        for memory_id in ids:
            if memory_id in memories:
                _audit_text(memories[memory_id], known)
                continue
            for found in (known.secrets, known.suspicious, known.hidden, known.logs):
                found.pop(memory_id, None)
        known.seq, known.mark = reached, store.journal.mark(reached)
        if progress is not None:
            progress("Reading what changed", reached, head)
    return known
