"""Statements: a subject, a verb that gives it an attribute, and what fills the attribute's slot."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import msgspec

from memento_tui.upkeep.claim_align import Clause, is_scene
from memento_tui.upkeep.claim_words import (
    CHANGE_CUES,
    CONDITIONS,
    FRAME_GROUPS,
    FRAME_VERBS,
    GONE,
    INDEFINITE,
    SEVERAL,
    TO_BE,
)
from memento_tui.upkeep.claims import Token

__all__ = ["Statement", "statement"]

_LEAST = 0.5
_MOST_SUBJECT, _MOST_FILLER, _MOST_TOKENS = 5, 5, 30
_TO_BE_GROUP = 0
_VERBS = FRAME_VERBS | CHANGE_CUES
_ADVERBS = frozenset(
    {"now", "also", "actually", "just", "still", "already", "currently", "always", "usually", "anymore"}
)
_NOW = frozenset({"now", "anymore", "currently"})
_DETERMINERS = frozenset({"the", "our", "my", "your", "this", "that", "each", "every", "all", "no"}) | INDEFINITE
_LINKS = frozenset({"to", "in", "at", "on", "through", "with", "as", "by", "into", "via", "under", "onto", "over"})
_UNDER = frozenset({"on", "in", "under", "for", "with", "during", "using"})
_PURPOSE = frozenset({"for", "of"})
_STOPS = frozenset(
    {"and", "or", "when", "because", "so", "if", "after", "before", "while", "until", "since", "than", "that"}
)
_NEGATED_CHANGE = "longer"


class Statement(msgspec.Struct, frozen=True, gc=False):
    """What a clause says of a subject."""

    subject: dict[str, float]
    """The stems that name the subject and the purpose, with their weights."""
    named: tuple[Token, ...]
    """The words before the verb that name the subject."""
    frames: frozenset[int]
    """The groups of the verb; empty where it only tells of a change."""
    change: bool
    """Whether it tells of a change, or of a state as a new one."""
    filler: tuple[Token, ...]
    """What fills the slot."""
    gone: tuple[Token, ...]
    """What filled it before."""


@cache
def _groups() -> dict[str, frozenset[int]]:
    return {word: frozenset(at for at, group in enumerate(FRAME_GROUPS) if word in group) for word in FRAME_VERBS}


def statement(clause: Clause) -> Statement | None:
    """Return the statement that a clause makes, or None where it makes none that could be compared."""
    if len(clause) > _MOST_TOKENS or is_scene(clause):
        return None
    verbs = _verbs(clause)
    if not verbs or any(clause[at].low in SEVERAL for at in verbs):
        return None
    first, last = verbs[0], verbs[-1]
    if last + 1 < len(clause) and _is_participle(clause, last):
        return None
    words = [clause[at].low for at in verbs]
    subject = [token for token in clause[:first] if token.weight and token.low not in _ADVERBS]
    filler, gone, purpose = _complement(clause, last + 1, replaced=words[-1] in ("replaced", "replaces"))
    before = {token.low for token in clause[max(first - 3, 0) : last + 1]}
    if _NEGATED_CHANGE in before or _used_to(clause, verbs):
        filler, gone = [], filler
    named = subject + purpose
    sound = len(named) <= _MOST_SUBJECT and len(filler) <= _MOST_FILLER and len(gone) <= _MOST_FILLER
    if not sound or not (filler or gone) or any(clause[at].denies for at in range(last + 1) if clause[at].low != "no"):
        return None
    frames: frozenset[int] = frozenset().union(*(_groups().get(word, frozenset()) for word in words))
    if len(frames) > 1:
        frames -= {_TO_BE_GROUP}
    change = any(word in CHANGE_CUES for word in words) or any(token.low in _NOW for token in clause) or bool(gone)
    # Where it holds is no part of what it is about: *on Windows the config* is the config.
    weights = {token.stem: max(token.weight, _LEAST) for token in named if not _is_condition(clause, token)}
    return Statement(weights, tuple(subject), frames, change, tuple(filler), tuple(gone))


def _verbs(clause: Clause) -> list[int]:
    """Return the places of the first verb and of what belongs to it: *is now stored*, *was switched*."""
    start = next((at for at, token in enumerate(clause) if _is_verb(clause, at) or token.low in SEVERAL), -1)
    if start < 0:
        return []
    found = [start]
    for at in range(start + 1, len(clause)):
        if clause[at].low in _ADVERBS or clause[at].low in ("to", "been", "be", "longer"):
            continue
        if not (_is_verb(clause, at) and (clause[start].low in TO_BE or clause[start].low == "used")):
            break
        found.append(at)
    return found


def _is_verb(clause: Clause, at: int) -> bool:
    token = clause[at]
    if token.low not in _VERBS or token.low in _LINKS:
        return False
    # "Deploys go through Jenkins", "the build uses Vite": a noun that looks like a verb has a verb behind it.
    is_subject = all(not before.weight for before in clause[:at]) and (
        token.low.endswith("s") or (at > 0 and clause[at - 1].low in _DETERMINERS)
    )
    return token.low in TO_BE or not (is_subject and any(after.low in _VERBS for after in clause[at + 1 : at + 4]))


def _used_to(clause: Clause, verbs: Sequence[int]) -> bool:
    first = verbs[0]
    return (
        clause[first].low == "used"
        and first + 1 < len(clause)
        and clause[first + 1].low == "to"
        and not (first and clause[first - 1].low in (TO_BE | {"and"}))
    )


def _is_participle(clause: Clause, last: int) -> bool:
    """Tell whether *to be* is followed by a participle of no known verb: its attribute is unknown."""
    return clause[last].low in TO_BE and clause[last + 1].low.endswith("ed") and clause[last + 1].weight > 0


def _complement(clause: Clause, begin: int, *, replaced: bool) -> tuple[list[Token], list[Token], list[Token]]:
    """Return what fills the slot, what filled it before, and what the statement is for."""
    parts: dict[str, list[Token]] = {"filler": [], "gone": [], "purpose": []}
    into = "gone" if replaced else "filler"
    for at in range(begin, len(clause)):
        low = clause[at].low
        if low in _STOPS:
            break
        if low in GONE and low != _NEGATED_CHANGE and (low != "instead" or _low(clause, at + 1) == "of"):
            into = "gone"
        elif low in _PURPOSE and not (low == "of" and at and clause[at - 1].low == "instead"):
            into = "purpose"
        elif low in ("to", "with", "by") and into == "gone":
            into = "filler"
        elif (clause[at].weight or clause[at].number) and low not in _ADVERBS:
            parts[into].append(clause[at])
        if clause[at].ends and parts["filler"]:
            break
    return parts["filler"], parts["gone"], parts["purpose"]


def _is_condition(clause: Clause, token: Token) -> bool:
    at = clause.index(token)
    return token.low in CONDITIONS and at > 0 and clause[at - 1].low in _UNDER


def _low(clause: Clause, at: int) -> str:
    return clause[at].low if at < len(clause) else ""
