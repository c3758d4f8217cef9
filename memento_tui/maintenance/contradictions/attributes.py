"""Differences in an attribute: *deploys go through Jenkins* against *deploys moved to GitHub Actions*.

A statement is a subject, a verb that gives it an attribute, and what fills the attribute's slot. A report of how a
matter stands now (*is using the app now*) counts as a weaker difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import msgspec

from memento_tui.maintenance.contradictions.alignment import (
    Clause,
    Difference,
    SentenceInContext,
    SentencePair,
    describes_a_moment,
    shared_weight,
    token_spans,
)
from memento_tui.text.lexicon import (
    ATTRIBUTE_VERB_GROUPS,
    ATTRIBUTE_VERBS,
    CHANGE_CUES,
    CONDITION_WORDS,
    DONE_WORK,
    ENVIRONMENTS,
    INDEFINITE_DETERMINERS,
    MULTI_VALUED_VERBS,
    OPEN_WORK,
    REPLACED_MARKERS,
    SINGLE_VALUED_ATTRIBUTES,
    TO_BE,
    UPDATE_CUES,
)
from memento_tui.text.quantities import UNITS
from memento_tui.text.tokens import Token, stem

__all__ = ["changed_attributes", "is_told_outright", "reported_updates"]

_LEAST_WORD_WEIGHT = 0.5
_MOST_SUBJECT, _MOST_FILLER, _MOST_TOKENS = 5, 5, 30
_TO_BE_GROUP = 0
_VERBS = ATTRIBUTE_VERBS | CHANGE_CUES
_ADVERBS = frozenset(
    {"now", "also", "actually", "just", "still", "already", "currently", "always", "usually", "anymore"}
)
_PRESENT_WORDS = frozenset({"now", "anymore", "currently"})
_PAST_STAYS = frozenset({"lived", "worked", "went", "came", "sat"})
"""Past forms that do not contradict the present: *lived in Ohio*, *lives in New York*."""
_DETERMINERS = (
    frozenset({"the", "our", "my", "your", "this", "that", "each", "every", "all", "no"}) | INDEFINITE_DETERMINERS
)
_PREPOSITIONS = frozenset(
    {"to", "in", "at", "on", "through", "with", "as", "by", "into", "via", "under", "onto", "over"}
)
_CONDITION_PREPOSITIONS = frozenset({"on", "in", "under", "for", "with", "during", "using"})
_PURPOSE = frozenset({"for", "of"})
_STATEMENT_ENDS = frozenset(
    {"and", "or", "when", "because", "so", "if", "after", "before", "while", "until", "since", "than", "that"}
)
_NEGATED_CHANGE = "longer"


class Statement(msgspec.Struct, frozen=True, gc=False):
    """A clause as a statement: a subject, an attribute and its filler."""

    subject: dict[str, float]
    """The stems that name the subject and the purpose, with their weights."""
    named: tuple[Token, ...]
    """The words before the verb that name the subject."""
    frames: frozenset[int]
    """The groups of the verb; empty where it only reports a change."""
    change: bool
    """Whether it reports a change or a new state."""
    filler: tuple[Token, ...]
    """The present filler of the slot."""
    former: tuple[Token, ...]
    """The former filler of the slot."""


@cache
def _verb_groups() -> dict[str, frozenset[int]]:
    return {
        word: frozenset(at for at, group in enumerate(ATTRIBUTE_VERB_GROUPS) if word in group)
        for word in ATTRIBUTE_VERBS
    }


def parse_statement(clause: Clause) -> Statement | None:
    """Return the statement of a clause, or None where it makes none that can be compared."""
    if len(clause) > _MOST_TOKENS or describes_a_moment(clause):
        return None
    verbs = _verbs(clause)
    if not verbs or any(clause[at].low in MULTI_VALUED_VERBS for at in verbs):
        return None
    first, last = verbs[0], verbs[-1]
    if clause[last].low in _PAST_STAYS or (last + 1 < len(clause) and _is_participle(clause, last)):
        return None
    words = [clause[at].low for at in verbs]
    subject = [token for token in clause[:first] if token.weight and token.low not in _ADVERBS]
    filler, former, purpose = _complement(clause, last + 1, replaced=words[-1] in ("replaced", "replaces"))
    before = {token.low for token in clause[max(first - 3, 0) : last + 1]}
    if _NEGATED_CHANGE in before or _used_to(clause, verbs):
        filler, former = [], filler
    named = subject + purpose
    sound = len(named) <= _MOST_SUBJECT and len(filler) <= _MOST_FILLER and len(former) <= _MOST_FILLER
    if (
        not sound
        or not (filler or former)
        or any(clause[at].denies for at in range(last + 1) if clause[at].low != "no")
    ):
        return None
    frames: frozenset[int] = frozenset().union(*(_verb_groups().get(word, frozenset()) for word in words))
    if len(frames) > 1:
        frames -= {_TO_BE_GROUP}
    change = (
        any(word in CHANGE_CUES for word in words)
        or any(token.low in _PRESENT_WORDS for token in clause)
        or bool(former)
    )
    # A condition is no part of the subject: *on Windows the config* is the config.
    weights = {token.stem: max(token.weight, _LEAST_WORD_WEIGHT) for token in named if not _is_condition(clause, token)}
    return Statement(weights, tuple(subject), frames, change, tuple(filler), tuple(former))


def _verbs(clause: Clause) -> list[int]:
    """Return the indexes of the first verb and the verbs that belong to it: *is now stored*, *was switched*."""
    start = next((at for at, token in enumerate(clause) if _is_verb(clause, at) or token.low in MULTI_VALUED_VERBS), -1)
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
    if token.low not in _VERBS or token.low in _PREPOSITIONS:
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
    """Return the present filler of the slot, the former filler, and the words of the purpose."""
    parts: dict[str, list[Token]] = {"filler": [], "former": [], "purpose": []}
    into = "former" if replaced else "filler"
    for at in range(begin, len(clause)):
        low = clause[at].low
        if low in _STATEMENT_ENDS:
            break
        if (
            low in REPLACED_MARKERS
            and low != _NEGATED_CHANGE
            and (low != "instead" or _lowercase_at(clause, at + 1) == "of")
        ):
            into = "former"
        elif low in _PURPOSE and not (low == "of" and at and clause[at - 1].low == "instead"):
            into = "purpose"
        elif low in ("to", "with", "by") and into == "former":
            into = "filler"
        elif (clause[at].weight or clause[at].number) and low not in _ADVERBS:
            parts[into].append(clause[at])
        if clause[at].ends and parts["filler"]:
            break
    return parts["filler"], parts["former"], parts["purpose"]


def _is_condition(clause: Clause, token: Token) -> bool:
    at = clause.index(token)
    return token.low in ENVIRONMENTS and at > 0 and clause[at - 1].low in _CONDITION_PREPOSITIONS


def _lowercase_at(clause: Clause, at: int) -> str:
    return clause[at].low if at < len(clause) else ""


ATTRIBUTE_FEATURES = (
    "subject",  # share of the words that name the subjects which both have
    "shared",  # weight of these, 1 from 2 up
    "frame",  # whether the verbs give the same attribute; half for *to be*, and for a verb of change
    "functional",  # whether a thing can have only one such attribute
    "names",  # whether names, identifiers or numbers fill the slot on both sides
    "change",  # whether exactly one side reports a change
    "former",  # whether one side says that the other side's statement is over
    "similarity",  # cosine of the two texts
)

_SUBJECT_WEIGHT_SCALE = 2.0
_LEAST_SUBJECT = 0.5
_SHORT_NAME = 3
_TO_BE_GROUPS = frozenset({0})
_SHORT_REST = 2
_OWNERSHIP_GROUPS = frozenset(at for at, group in enumerate(ATTRIBUTE_VERB_GROUPS) if "owns" in group)
_SINGLE_VALUED_STEMS = frozenset(stem(word) for word in SINGLE_VALUED_ATTRIBUTES)


def changed_attributes(pair: SentencePair) -> Iterator[Difference]:
    """Yield a difference for every two statements on one subject with different fillers, or with one that ended."""
    if pair.first.sentence.asks or pair.second.sentence.asks:
        return
    theirs = [statement for clause in pair.second.clauses() if (statement := parse_statement(clause)) is not None]
    if not theirs:
        return
    ours = [statement for clause in pair.first.clauses() if (statement := parse_statement(clause)) is not None]
    for one in ours:
        for other in theirs:
            difference = _compare_statements(pair, one, other)
            if difference is not None:
                yield difference


def _compare_statements(pair: SentencePair, one: Statement, other: Statement) -> Difference | None:
    if (swapped := _other_holder(pair, one, other)) is not None:
        return swapped
    over = _is_over(one, other) or _is_over(other, one)
    one, other = _without_common(one, other)
    shared = shared_weight(one.subject, other.subject)
    least = max(sum(one.subject.values()), sum(other.subject.values()))
    subject = shared / least if least else 0.0
    if subject < _LEAST_SUBJECT and not (over and not (one.subject and other.subject)):
        return None
    if not over and (
        not _fill_differently(one, other) or _is_stated(one, pair.second) or _is_stated(other, pair.first)
    ):
        return None
    frames = one.frames & other.frames
    # What a statement names as former is no change of anything else.
    if not frames and not over and not any(side.change and not side.former for side in (one, other)):
        return None
    fillers = (_differing_words(one, other), _differing_words(other, one))
    features = (
        subject,
        min(shared / _SUBJECT_WEIGHT_SCALE, 1.0),
        1.0 if frames - _TO_BE_GROUPS else 0.5,
        float(bool(one.subject.keys() & other.subject.keys() & _SINGLE_VALUED_STEMS)),
        float(all(any(token.name or token.number for token in filler) for filler in fillers)),
        float(one.change != other.change),
        float(over),
        pair.similarity,
    )
    quoted = [(filler[0].start, filler[-1].end) for filler in fillers]
    return Difference(
        "slot",
        features,
        token_spans(fillers[0]),
        token_spans(fillers[1]),
        (quoted[0], quoted[1]),
        change=one.change or other.change,
    )


def _is_over(one: Statement, other: Statement) -> bool:
    """Tell whether ``one`` says that the statement of ``other`` no longer holds."""
    former, filler = {token.stem for token in one.former}, {token.stem for token in other.filler}
    return (
        bool(former) and former <= filler and not former & {token.stem for token in other.former} and not other.former
    )


def _without_common(one: Statement, other: Statement) -> tuple[Statement, Statement]:
    """Return the statements with the fillers' common words moved to the subject: *tokens signed with* HS256."""
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


def _other_holder(pair: SentencePair, one: Statement, other: Statement) -> Difference | None:
    """Return the difference of two statements by which one thing has two owners, or None."""
    if not one.frames & other.frames & _OWNERSHIP_GROUPS or one.subject.keys() & other.subject.keys():
        return None
    if (
        not one.named
        or not other.named
        or {token.stem for token in one.filler} != {token.stem for token in other.filler}
    ):
        return None
    shared = sum(token.weight for token in one.filler)
    change = float(one.change != other.change)
    features = (1.0, min(shared / _SUBJECT_WEIGHT_SCALE, 1.0), 1.0, 0.0, 0.0, change, 0.0, pair.similarity)
    quoted = [(side.named[0].start, side.named[-1].end) for side in (one, other)]
    spans = (token_spans(one.named), token_spans(other.named))
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


def _is_stated(statement: Statement, other: SentenceInContext) -> bool:
    """Tell whether another sentence holds all that fills a slot, and neither denies it nor calls it former.

    *Deploy with make ship* and *run make generate before make ship* differ in nothing.
    """
    tokens = other.sentence.tokens
    if any(token.denies or token.low in REPLACED_MARKERS or token.low in CHANGE_CUES for token in tokens):
        return False
    return {token.stem for token in statement.filler} <= {token.stem for token in tokens}


def _differing_words(one: Statement, other: Statement) -> Sequence[Token]:
    """Return the words in which a side differs: its filler, or the former filler."""
    return one.filler or one.former or other.filler


def _are_spellings(ours: Sequence[Token], theirs: Sequence[Token]) -> bool:
    """Tell whether two fillers are one name in two spellings: *Visual Basic* and *VisualBasic*."""
    one, other = (
        "".join(letter for token in side for letter in token.low if letter.isalnum()) for side in (ours, theirs)
    )
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) > _SHORT_NAME and longer.startswith(shorter)


UPDATE_FEATURES = (
    "context",  # share of the words of the two sentences that both hold
    "shared",  # weight of that, 1 from 5 up
    "change",  # whether one says outright that something changed
    "names apart",  # names on either side that the other text does not know
    "similarity",  # cosine of the two texts
    "elapsed",  # time between the two texts
    "left",  # whether one says that what the other states was left for something else
    "done",  # whether one says that the work is done, and the other that it is not
)

_UPDATE_WEIGHT_SCALE = 5.0
_LEAST_SHARED = 1.0
_SPANNED = 3
_BEFORE_A_STAGE = frozenset({"in", "now", "fully", "partially", "already", "still"})
_BEFORE_WHAT_IS_LEFT = frozenset({"from", "replaced", "replaces", "supersedes"})
_BEFORE_WHAT_CAME = frozenset({"to", "with", "by"})
_TAKEN_BACK = frozenset(
    {"back", "again", "restored", "reinstated", "returned", "reverted", "undone", "but", "however", "later"}
)
"""Words by which one of two reports of the same change goes on to say that it did not last."""


def reported_updates(pair: SentencePair) -> Iterator[Difference]:
    """Yield a difference where a sentence reports the present state of the other one's subject, which reports another.

    Where both say in the same words that something was removed, neither tells of a change since the other, unless one
    says that it is back.
    """
    cues = [_cue_tokens(side) for side in (pair.first, pair.second)]
    said = [[token.low for token in side] for side in cues]
    is_done = _is_done_since(pair)
    words = [{token.low for token in side.sentence.tokens} for side in (pair.first, pair.second)]
    if said[0] == said[1] and not is_done and not (said[0] and (words[0] ^ words[1]) & _TAKEN_BACK):
        return
    if pair.first.sentence.weights.keys() == pair.second.sentence.weights.keys():
        return
    shared = shared_weight(pair.first.context, pair.second.context)
    if shared < _LEAST_SHARED:
        return
    sides = (pair.first, pair.second)
    least = min(sum(side.context.values()) for side in sides)
    features = (
        shared / least,
        min(shared / _UPDATE_WEIGHT_SCALE, 1.0),
        float(any(token.low in CHANGE_CUES for side in cues for token in side)),
        0.0 if is_done else min(_unshared_names(*sides) / 2, 1.0) * min(_unshared_names(*reversed(sides)) / 2, 1.0),
        pair.similarity,
        pair.elapsed,
        float(_leaves(pair.first, pair.second) or _leaves(pair.second, pair.first)),
        float(is_done),
    )
    telling = [
        _update_tokens(side, other, found) for side, other, found in zip(sides, reversed(sides), cues, strict=True)
    ]
    spans = [token_spans(tokens) for tokens in telling]
    quoted = [(tokens[0].start, tokens[-1].end) for tokens in telling]
    yield Difference("update", features, spans[0], spans[1], (quoted[0], quoted[1]), change=True)


def is_told_outright(update: Difference) -> bool:
    """Tell whether an update says what was left for something else, or that work is done, and not just what is now."""
    told = dict(zip(UPDATE_FEATURES, update.features, strict=True))
    return bool(told["left"] or told["done"])


def _cue_tokens(side: SentenceInContext) -> list[Token]:
    return [token for token in side.sentence.tokens if token.low in UPDATE_CUES]


def _is_done_since(pair: SentencePair) -> bool:
    """Tell whether one sentence says that a piece of work is done, and the other that the same piece is not."""
    first, second = pair.first.sentence.tokens, pair.second.sentence.tokens
    if _completes(first, second) or _completes(second, first):
        return True
    (one, work), (other, same) = _work_stage(first), _work_stage(second)
    if {one, other} != {"open", "done"}:
        return False
    numbers, other_numbers = ({token.low for token in tokens if token.number} for tokens in (work, same))
    return numbers == other_numbers and _name_one_piece(work, same)


def _completes(report: Clause, to_do: Clause) -> bool:
    """Tell whether a report says that the work of a to-do was done: *X was migrated* after *TODO: migrate X*."""
    if len(to_do) < _SPANNED or to_do[0].low != "todo":
        return False
    act = to_do[1].stem
    done = [at for at, token in enumerate(report[1:], 1) if token.stem == act and report[at - 1].low in TO_BE]
    return bool(done) and _name_one_piece((*report[: done[0]], *report[done[0] + 1 :]), to_do[2:])


def _name_one_piece(work: Clause, same: Clause) -> bool:
    """Tell whether two names of work are of one piece, which one may name more closely: *the new login page*.

    What a name ends with, or says of what, makes another piece: *the login page tests*, *the design of the login page*.
    """
    shorter, longer = sorted((_content_places(work), _content_places(same)), key=len)
    if len({stem for _, stem in shorter}) <= 1:
        return False
    if {stem for _, stem in shorter} == {stem for _, stem in longer}:
        return True
    front = len(longer) - len(shorter)
    return [stem for _, stem in longer[front:]] == [stem for _, stem in shorter] and (
        longer[front][0] == longer[front - 1][0] + 1
    )


def _content_places(tokens: Clause) -> list[tuple[int, str]]:
    """Return the place and the stem of each word that names work."""
    return [(at, word.stem) for at, word in enumerate(tokens) if word.weight and word.low not in _BEFORE_A_STAGE]


def _work_stage(tokens: Clause) -> tuple[str, Clause]:
    """Return whether a sentence says that work is open or done, and the words before that; empty if it says neither.

    A state that is spoken of, or that a condition leads to, is none: *the state done is shown in green*.
    """
    for at, token in enumerate(tokens[1:], 1):
        before, behind = tokens[at - 1], tokens[at + 1 : at + 2]
        is_open = token.low in OPEN_WORK and (token.low != "progress" or before.low == "in")
        if not is_open and token.low not in DONE_WORK:
            continue
        if not token.ends and any(word.low in CONDITION_WORDS or word.low in TO_BE for word in behind):
            return "", ()
        return ("open" if is_open or before.denies else "done"), tokens[:at]
    return "", ()


def _leaves(side: SentenceInContext, other: SentenceInContext) -> bool:
    """Tell whether a sentence says that something was left that the other states: *switched from Redis to Valkey*."""
    tokens = side.sentence.tokens
    change = next((at for at, token in enumerate(tokens) if token.low in CHANGE_CUES), len(tokens))
    begin = next((at for at in range(change, len(tokens)) if tokens[at].low in _BEFORE_WHAT_IS_LEFT), len(tokens))
    end = next((at for at in range(begin + 1, len(tokens)) if tokens[at].low in _BEFORE_WHAT_CAME), len(tokens))
    left = [token for token in tokens[begin + 1 : end] if token.weight >= 1]
    named = {token.stem for token in left if token.name}
    came = {token.stem for token in tokens[end + 1 : end + 1 + _SPANNED] if token.weight >= 1}
    if not left or not came or not came.isdisjoint(other.reading.stems):
        return False
    # Of *PlanetScale MySQL* either name is enough; *wrapper components* are not any components.
    stated = other.sentence.weights.keys()
    return not named.isdisjoint(stated) if named else stated >= {token.stem for token in left}


def _unshared_names(side: SentenceInContext, other: SentenceInContext) -> float:
    names = {token.stem for token in side.sentence.tokens if token.name and token.weight}
    return float(len(names - other.reading.stems))


def _update_tokens(side: SentenceInContext, other: SentenceInContext, cues: list[Token]) -> list[Token]:
    """Return the differing words: the cue and the words after it, or the words that only this side has."""
    tokens = side.sentence.tokens
    if cues:
        at = tokens.index(cues[0])
        behind = [token for token in tokens[at + 1 :] if token.weight and token.stem not in other.context]
        return [cues[0], *behind[: _SPANNED - 1]]
    own = [token for token in tokens if token.weight and token.stem not in other.context]
    return own[:_SPANNED] or list(tokens[-1:])
