"""Near duplicates: how much of their words two texts share, the merged text, and the proposal to merge."""

from __future__ import annotations

import hashlib
import re

import msgspec

from memento_tui.maintenance.contradictions.finder import SCORE_TO_RAISE, compare_claims
from memento_tui.model import Memory, Proposal
from memento_tui.model.lineage import inherited_fields
from memento_tui.model.memory import content_digest
from memento_tui.policy.gate import Gate, ProposalDraft
from memento_tui.policy.policy import WriteIntent
from memento_tui.storage.transaction import Transaction
from memento_tui.text.sentences import sentences
from memento_tui.text.terms import STOP_WORDS, terms

__all__ = [
    "NEAR_DUPLICATE_LIKENESS",
    "is_near_duplicate",
    "likeness",
    "memory_likeness",
    "merge_fingerprint",
    "merged_content",
    "propose_merge",
]

NEAR_DUPLICATE_LIKENESS = 0.8
"""The likeness from which two memories are near duplicates, unless their claims differ."""

_WORD = re.compile(r"[\w./:-]*\w")
_FEWEST_WORDS = 4
"""Stems. Texts of fewer words are alike by chance."""

_CHARACTERS_COMPARED = 20_000
"""Characters of each text, from its beginning, that are compared."""


def memory_likeness(one: Memory, other: Memory) -> float:
    """Return the share, from 0 to 1, of the words that two memories have in common, titles included."""
    return likeness(f"{one.title}\n{one.content}", f"{other.title}\n{other.content}")


def likeness(one: str, other: str) -> float:
    """Return the Jaccard index, from 0 to 1, of the stems of two texts."""
    left, right = _stems(one), _stems(other)
    if not left or not right:
        return 1.0 if one.split() == other.split() else 0.0
    return len(left & right) / len(left | right)


def _numbers(memory: Memory) -> set[str]:
    text = f"{memory.title}\n{memory.content}"[:_CHARACTERS_COMPARED]
    return {word for word in _WORD.findall(text) if any(character.isdigit() for character in word)}


def _stems(text: str) -> set[str]:
    return {stem for stem in terms(text[:_CHARACTERS_COMPARED]) if stem not in STOP_WORDS}


def is_near_duplicate(older: Memory, newer: Memory, found: float) -> bool:
    """Tell whether two memories say the same: alike in words, and not different in claim."""
    if (
        found < NEAR_DUPLICATE_LIKENESS
        or older.namespace != newer.namespace
        or len(_stems(newer.content)) < _FEWEST_WORDS
    ):
        return False
    ours, theirs = _numbers(older), _numbers(newer)
    if ours - theirs and theirs - ours:
        return False  # line 3 and line 4 are two things
    contradiction = compare_claims(older, newer, found)
    return contradiction is None or contradiction.score < SCORE_TO_RAISE


def merged_content(older: str, newer: str) -> str:
    """Return the newer text, followed by the sentences of the older one that have no near duplicate in it."""
    kept = [newer[start:end] for start, end in sentences(newer)]
    missing = []
    for start, end in sentences(older):
        sentence = older[start:end]
        if max((likeness(sentence, one) for one in [*kept, newer]), default=0.0) < NEAR_DUPLICATE_LIKENESS and not (
            _stems(sentence) <= _stems(newer)
        ):
            missing.append(sentence)
            kept.append(sentence)
    return "\n".join([newer.rstrip(), *missing]) if missing else newer


_INHERITED = ("source_type", "sensitivity")
"""The fields that the merged memory takes from the worse of the two, shown to the person who decides."""


def merge_fields(older: Memory, newer: Memory) -> dict[str, object]:
    """Return the fields of the merged memory that differ from the older one, origin and sensitivity among them."""
    fields: dict[str, object] = {"content": merged_content(older.content, newer.content)}
    tags = tuple(dict.fromkeys([*older.tags, *newer.tags]))
    if tags != older.tags:
        fields["tags"] = list(tags)
    if newer.title and newer.title != older.title:
        fields["title"] = newer.title
    inherited = inherited_fields([older, newer])
    return fields | {name: inherited[name] for name in _INHERITED if inherited[name] != getattr(older, name)}


def merge_fingerprint(one: Memory, other: Memory) -> str:
    """Return the fingerprint of a merge: of the ids and contents of the pair, in any order."""
    sides = sorted((memory.id, content_digest(memory.content).hex()) for memory in (one, other))
    return hashlib.blake2b(msgspec.json.encode(["merge", sides]), digest_size=16).hexdigest()


def propose_merge(tx: Transaction, gate: Gate, older: Memory, newer: Memory, likeness: float) -> Proposal:
    """Propose that the older memory takes the merged content and supersedes the newer; both stay until then."""
    verdict = gate.judge(WriteIntent("edit", origin="merge", target_verified=older.stability != "draft"))
    evidence = {
        "other": newer.id,
        "other_version": newer.version,
        "likeness": round(likeness, 3),
        "about": [newer.id],
    }
    draft = ProposalDraft("merge", older, merge_fields(older, newer), evidence, merge_fingerprint(older, newer))
    return gate.propose(tx, draft, verdict)
