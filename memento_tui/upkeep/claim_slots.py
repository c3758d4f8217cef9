"""One subject, another filler: *deploys go through Jenkins* against *deploys moved to GitHub Actions*."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from memento_tui.upkeep.claim_align import shared_weight
from memento_tui.upkeep.claim_difference import Difference, Pair, words_span
from memento_tui.upkeep.claim_statements import Statement, statement
from memento_tui.upkeep.claim_units import UNITS
from memento_tui.upkeep.claim_words import FRAME_GROUPS, FUNCTIONAL
from memento_tui.upkeep.claims import Token, stem

__all__ = ["SLOT_FEATURES", "changed_slots"]

SLOT_FEATURES = (
    "subject",  # share of the words that name the subjects which both have
    "shared",  # weight of these, 1 from 2 up
    "frame",  # whether the verbs give the same attribute; half for *to be*, and for a verb of change
    "functional",  # whether the attribute is one of which a thing has one
    "names",  # whether names, identifiers or numbers fill the slot on both sides
    "change",  # whether just one side tells of a change
    "gone",  # whether what one side says is over is what the other side states
    "similarity",  # cosine of the two texts
)

_MUCH = 2.0
_LEAST_SUBJECT = 0.5
_SHORT_NAME = 3
_TO_BE_GROUP = frozenset({0})
_SHORT_REST = 2
_HOLDING = frozenset(at for at, group in enumerate(FRAME_GROUPS) if "owns" in group)
_FUNCTIONAL = frozenset(stem(word) for word in FUNCTIONAL)


def changed_slots(pair: Pair) -> Iterator[Difference]:
    """Yield a difference for every two statements that give one subject another filler, or tell that one is over."""
    if pair.first.sentence.asks or pair.second.sentence.asks:
        return
    theirs = [said for clause in pair.second.clauses() if (said := statement(clause)) is not None]
    if not theirs:
        return
    ours = [said for clause in pair.first.clauses() if (said := statement(clause)) is not None]
    for one in ours:
        for other in theirs:
            difference = _compared(pair, one, other)
            if difference is not None:
                yield difference


def _compared(pair: Pair, one: Statement, other: Statement) -> Difference | None:
    if (swapped := _other_holder(pair, one, other)) is not None:
        return swapped
    over = _is_over(one, other) or _is_over(other, one)
    one, other = _without_common(one, other)
    shared = shared_weight(one.subject, other.subject)
    least = max(sum(one.subject.values()), sum(other.subject.values()))
    subject = shared / least if least else 0.0
    if subject < _LEAST_SUBJECT and not (over and not (one.subject and other.subject)):
        return None
    if not over and not _fill_differently(one, other):
        return None
    frames = one.frames & other.frames
    if not frames and not one.change and not other.change:
        return None
    fillers = (_shown(one, other), _shown(other, one))
    features = (
        subject,
        min(shared / _MUCH, 1.0),
        1.0 if frames - _TO_BE_GROUP else 0.5,
        float(bool(one.subject.keys() & other.subject.keys() & _FUNCTIONAL)),
        float(all(any(token.name or token.number for token in filler) for filler in fillers)),
        float(one.change != other.change),
        float(over),
        pair.similarity,
    )
    quoted = [(filler[0].start, filler[-1].end) for filler in fillers]
    return Difference(
        "slot",
        features,
        words_span(fillers[0]),
        words_span(fillers[1]),
        (quoted[0], quoted[1]),
        change=one.change or other.change,
    )


def _is_over(one: Statement, other: Statement) -> bool:
    """Tell whether ``one`` says that just what ``other`` states no longer holds."""
    gone, filler = {token.stem for token in one.gone}, {token.stem for token in other.filler}
    return bool(gone) and gone <= filler and not gone & {token.stem for token in other.gone} and not other.gone


def _without_common(one: Statement, other: Statement) -> tuple[Statement, Statement]:
    """Return the statements with the words that both fillers share moved to the subject: *tokens signed with* HS256."""
    common = {token.stem for token in one.filler} & {token.stem for token in other.filler}
    if not common:
        return one, other
    kept = [tuple(token for token in side.filler if token.stem not in common) for side in (one, other)]
    if not all(
        0 < len(rest) <= _SHORT_REST and rest[-1] is side.filler[-1]
        for rest, side in zip(kept, (one, other), strict=True)
    ):
        return one, other
    shared = {token.stem: token.weight for token in one.filler if token.stem in common}
    return (
        msgspec.structs.replace(one, subject=one.subject | shared, filler=kept[0]),
        msgspec.structs.replace(other, subject=other.subject | shared, filler=kept[1]),
    )


def _other_holder(pair: Pair, one: Statement, other: Statement) -> Difference | None:
    """Return the difference of two statements by which one thing has two owners, or None."""
    if not one.frames & other.frames & _HOLDING or one.subject.keys() & other.subject.keys():
        return None
    if (
        not one.named
        or not other.named
        or {token.stem for token in one.filler} != {token.stem for token in other.filler}
    ):
        return None
    shared = sum(token.weight for token in one.filler)
    change = float(one.change != other.change)
    features = (1.0, min(shared / _MUCH, 1.0), 1.0, 0.0, 0.0, change, 0.0, pair.similarity)
    quoted = [(side.named[0].start, side.named[-1].end) for side in (one, other)]
    spans = (words_span(one.named), words_span(other.named))
    return Difference("slot", features, spans[0], spans[1], (quoted[0], quoted[1]), change=bool(change))


def _fill_differently(one: Statement, other: Statement) -> bool:
    ours, theirs = one.filler, other.filler
    if not ours or not theirs or {token.stem for token in ours} & {token.stem for token in theirs}:
        return False
    if {token.stem for token in ours} & other.subject.keys() or {token.stem for token in theirs} & one.subject.keys():
        return False
    # Numbers alone are compared as values.
    words = all(any(not token.number and token.low not in UNITS for token in side) for side in (ours, theirs))
    return words and not _are_spellings(ours, theirs)


def _shown(one: Statement, other: Statement) -> Sequence[Token]:
    """Return what a side differs in: its filler, or what it says is over."""
    return one.filler or one.gone or other.filler


def _are_spellings(ours: Sequence[Token], theirs: Sequence[Token]) -> bool:
    """Tell whether two fillers are one name in two spellings: *Visual Basic* and *VisualBasic*."""
    one, other = (
        "".join(letter for token in side for letter in token.low if letter.isalnum()) for side in (ours, theirs)
    )
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) > _SHORT_NAME and longer.startswith(shorter)
