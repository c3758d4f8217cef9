"""Near duplicates: how much of their words two texts share, the merged text, and the proposal to merge."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import lru_cache

import msgspec

from memento_tui.maintenance.contradictions.alignment import speak_of_one_subject
from memento_tui.maintenance.contradictions.finder import SCORE_TO_RAISE, compare_claims
from memento_tui.model import Memory, Proposal
from memento_tui.model.memory import content_digest, inherited_fields
from memento_tui.policy.gate import Gate, ProposalDraft
from memento_tui.policy.policy import WriteIntent
from memento_tui.storage.transaction import Transaction
from memento_tui.text.sentences import missing_statements, statements
from memento_tui.text.terms import STOP_WORDS, compared_terms
from memento_tui.text.words import prose_word

__all__ = [
    "NEAR_DUPLICATE_LIKENESS",
    "is_near_duplicate",
    "likeness",
    "likeness_to",
    "memory_likeness",
    "merge_fingerprint",
    "merged_content",
    "propose_merge",
    "says_the_same",
]

NEAR_DUPLICATE_LIKENESS = 0.8
"""The likeness from which two memories are near duplicates, unless their claims differ."""

_WORD = re.compile(r"[\w./:-]*\w")
"""A word with the marks inside it, such as ``v1.2`` and ``/srv/a-1``: those with a digit are compared whole."""
_FEWEST_WORDS = 4
"""Words of prose. Texts of fewer are alike by chance, unless they are the same but for case, spaces and the mark at
their end; forms have none."""

_CHARACTERS_COMPARED = 20_000
"""Characters of each text, from its beginning, that are compared."""


def memory_likeness(one: Memory, other: Memory) -> float:
    """Return the share, from 0 to 1, of the words that two memories have in common, titles included."""
    return likeness_to(one)(other)


def likeness_to(one: Memory) -> Callable[[Memory], float]:
    """Return the function that gives the likeness of others to one memory, whose words are read once."""
    text = _whole_text(one)
    stems = _stems(text)
    return lambda other: _likeness(text, stems, _whole_text(other))


def likeness(one: str, other: str) -> float:
    """Return the Jaccard index, from 0 to 1, of the stems of two texts."""
    return _likeness(one, _stems(one), other)


def _whole_text(memory: Memory) -> str:
    return f"{memory.title}\n{memory.content}"


def _likeness(one: str, left: frozenset[str], other: str) -> float:
    right = _stems(other)
    if not left or not right:
        return 1.0 if one.split() == other.split() else 0.0
    common = len(left & right)
    return common / (len(left) + len(right) - common)


def _numbers(text: str) -> set[str]:
    return {word for word in _WORD.findall(text) if any(character.isdigit() for character in word)}


@lru_cache(maxsize=128)
def _stems(text: str) -> frozenset[str]:
    """Return the stems of a text; one that was compared a moment ago mostly is compared again."""
    return frozenset(stem for stem in compared_terms(text[:_CHARACTERS_COMPARED]) if stem not in STOP_WORDS)


def is_near_duplicate(older: Memory, newer: Memory, found: float) -> bool:
    """Tell whether one of two memories says all that the other says, and they are about one thing.

    The newer must say it all, unless it is one statement: a longer text that lacks something was most likely revised.
    """
    return older.namespace == newer.namespace and says_the_same(older, newer, found)


def says_the_same(older: Memory, newer: Memory, found: float) -> bool:
    """Tell as `is_near_duplicate` does of two memories of any namespaces; ``found`` is their likeness."""
    if (
        found < NEAR_DUPLICATE_LIKENESS
        or not (_have_prose(older, newer) or _plain(older.content) == _plain(newer.content))
        or not speak_of_one_subject(older, newer)
        or _numbers(older.title) != _numbers(newer.title)
    ):
        return False
    if missing_statements(older.content, newer.content) and (
        len(statements(newer.content)) > 1 or missing_statements(newer.content, older.content)
    ):
        return False
    contradiction = compare_claims(older, newer, found)
    return contradiction is None or contradiction.score < SCORE_TO_RAISE


def _have_prose(*memories: Memory) -> bool:
    return all(len(prose_word().findall(memory.content)) >= _FEWEST_WORDS for memory in memories)


def _plain(text: str) -> str:
    return " ".join(text.split()).rstrip(".!;, ").casefold()


def merged_content(older: str, newer: str) -> str:
    """Return the newer text, followed by the statements of the older one that it does not make.

    Where the older text makes every statement of the newer one, it is returned as it is.
    """
    missing = missing_statements(older, newer)
    if not missing:
        return newer
    if not missing_statements(newer, older):
        return older
    return "\n".join([newer.rstrip(), *dict.fromkeys(one.text for one in missing)])


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
