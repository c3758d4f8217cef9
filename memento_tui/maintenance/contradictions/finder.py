"""Find contradictions: score pairs of memories near in meaning and different in claim, and write them down.

The score is a chance from 0 to 1; the kind is temporal, scoped or genuine.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

import msgspec

from memento_tui import clock
from memento_tui.branches import branch_of
from memento_tui.maintenance.contradictions.alignment import (
    Difference,
    SentenceInContext,
    SentencePair,
    Span,
    align_sentences,
    analyze_text,
    is_event,
    logistic,
    speak_of_one_subject,
)
from memento_tui.maintenance.contradictions.attributes import changed_attributes, is_told_outright, reported_updates
from memento_tui.maintenance.contradictions.changed_lines import are_versions, changed_lines, note_of
from memento_tui.maintenance.contradictions.differing_values import differing_values
from memento_tui.maintenance.contradictions.negation import negated_claims
from memento_tui.model import Contradiction, Memory, make_contradiction
from memento_tui.model.validation import account_of, is_under
from memento_tui.policy.gate import Gate
from memento_tui.storage.store import Store
from memento_tui.text.lexicon import ENVIRONMENT_GROUPS, ENVIRONMENTS

__all__ = [
    "NEIGHBOURS",
    "SCORE_TO_RAISE",
    "SIMILARITY_TO_COMPARE",
    "WEIGHTS",
    "ContradictionFinder",
    "FamilyWeights",
    "ScoredContradiction",
    "compare_claims",
    "compare_memories",
    "differences",
    "weigh_with_entailment",
]

_SENTENCES_OF_SHORT_TEXTS = 8
"""Sentences of two short texts together: about the number on which the weights were fitted. With 12 the development
pairs give the same figures, and 400 real notes with eight neighbours each raise 130 instead of 112."""


_SAME_STATEMENT = 0.5
"""The sameness from which two sentences of long texts are one statement; elsewhere a difference means little there."""

_OTHER_STATEMENT_FACTOR = 0.5


class FamilyWeights(NamedTuple):
    """The weight of each feature of a family, in the order of its module, and the bias."""

    features: tuple[float, ...]
    bias: float


# "value" and "denial" are what `python -m tests.benchmarks.conflicts_fit` finds on the development pairs; its text says
# how. "slot" and "update" are set by hand, so that a slot needs one subject and one attribute and an update alone
# is seldom enough; the same program's pairs and real memories were only looked at for false alarms.
WEIGHTS: Mapping[str, FamilyWeights] = {
    "value": FamilyWeights((2.66, 1.49, 1.96, -0.89, 1.12, -1.65, -1.18, 0.86, 1.01, 1.0), -5.03),
    "denial": FamilyWeights((2.53, 0.58, -2.05, -0.91, 2.41, 1.68, -1.34, 3.5, -2.34, -0.4, 4.16), -6.38),
    "slot": FamilyWeights((1.5, 1.0, 1.5, 1.5, 0.7, 1.0, 1.5, 1.5), -4.7),
    "update": FamilyWeights((2.0, 1.0, 1.0, -1.0, 1.0, 1.0, 1.5, 2.5), -5.0),
}


def contradiction_chance(difference: Difference, sentences: int = 0) -> float:
    """Return the chance, from 0 to 1, that a difference is a contradiction.

    ``sentences`` is the number of sentences of both texts. The more there are, the more likely are two of them alike by
    accident, so above eight the odds fall with the square root of their number.
    """
    weights = WEIGHTS[difference.family]
    if sentences <= _SENTENCES_OF_SHORT_TEXTS:
        return logistic(difference.features, weights.features, weights.bias)
    crowd = math.log(sentences / _SENTENCES_OF_SHORT_TEXTS) / 2
    chance = logistic(difference.features, weights.features, weights.bias - crowd)
    return chance if difference.sameness >= _SAME_STATEMENT else chance * _OTHER_STATEMENT_FACTOR


ContradictionKind = Literal["temporal", "scoped", "genuine"]
_SECONDS_PER_DAY = 86_400


def contradiction_kind(difference: Difference, older: Memory, newer: Memory, *, is_scoped: bool) -> ContradictionKind:
    """Return the kind: scoped where the conditions differ, temporal where time may have changed the matter.

    ``is_scoped``: the sentences themselves name different environments.
    """
    if is_scoped or _contexts_differ(older, newer):
        return "scoped"
    if difference.change:
        return "temporal"
    days = abs((newer.created_at - older.created_at).total_seconds()) / _SECONDS_PER_DAY
    return "temporal" if difference.counts and days >= 1 else "genuine"


def name_different_environments(older: Memory, newer: Memory, spans: Sequence[tuple[Span, ...]]) -> bool:
    """Tell whether the sentences that hold the spans name different environments, such as Windows and Linux.

    An environment inside a span is the difference itself and no condition.
    """
    ours, theirs = (_named_environments(memory, side) for memory, side in zip((older, newer), spans, strict=True))
    return any((ours & group) and (theirs & group) and not ours & theirs & group for group in ENVIRONMENT_GROUPS)


def _named_environments(memory: Memory, spans: tuple[Span, ...]) -> frozenset[str]:
    differing = set(spans)
    return frozenset(
        token.low
        for sentence in analyze_text(memory.content, memory.title).sentences
        if any(sentence.start <= start < sentence.end for start, _ in spans)
        for token in sentence.tokens
        if token.low in ENVIRONMENTS and (token.start, token.end) not in differing
    )


def _contexts_differ(older: Memory, newer: Memory) -> bool:
    contexts = [" ".join(memory.validity_context.casefold().split()) for memory in (older, newer)]
    if all(contexts) and contexts[0] != contexts[1]:
        return True
    one, other = older.namespace, newer.namespace
    return "global" not in (one, other) and not (is_under(one, other) or is_under(other, one))


def _periods_apart(older: Memory, newer: Memory) -> bool:
    """Tell whether one memory had ceased to be valid when the other began to be, by default when that was made."""
    return any(
        one.valid_to is not None and one.valid_to <= (other.valid_from or other.created_at)
        for one, other in ((older, newer), (newer, older))
    )


SCORE_TO_RAISE = 0.45
"""The score from which a contradiction is raised. With it precision and recall meet their goals on the development
pairs; ``python -m tests.benchmarks.conflicts`` shows the figures."""

SIMILARITY_TO_COMPARE = 0.2
"""The cosine below which pairs are not compared."""

_SCORE_OF_CHANGED_LINES = 0.9
"""The share of questions about changed lines that a person would want to be asked, by reading them, rounded down."""

_LONGEST_QUOTE = 80
_SECONDS_PER_DAY_AS_FLOAT = 86_400.0
_OTHER_ENVIRONMENT_FACTOR = 0.6
"""The factor on a score where the two sentences name different environments: Windows in one, Linux in the other."""

_ENTAILMENT_SHARE = 0.8
"""The weight of a cross-encoder's log odds: it decides. The rest is that of the comparison of claims."""


class ScoredContradiction(msgspec.Struct, frozen=True):
    """A scored difference between two memories."""

    kind: Literal["temporal", "scoped", "genuine"]
    """temporal: each may hold for its time; scoped: they hold under different conditions; genuine: neither."""
    older_spans: tuple[tuple[int, int], ...]
    """Start and end, in the older memory's content, of the words that differ."""
    newer_spans: tuple[tuple[int, int], ...]
    score: float
    """The chance of a contradiction, from 0 to 1, comparable between pairs."""
    why: str
    """One plain sentence for a person."""


def compare_memories(
    older: Memory, newer: Memory, similarity: float, *, weak_evidence: bool = True
) -> ScoredContradiction | None:
    """Return the strongest difference between the claims of two memories, or None where they make none that differ.

    Records of events, memories about two things, and what ceased to hold before the other began to, are not compared.
    See `compare_claims` for the rest.
    """
    if is_event(older) or is_event(newer):
        return None
    return _compare_of_one_time(older, newer, similarity, weak_evidence=weak_evidence)


def _compare_of_one_time(
    older: Memory, newer: Memory, similarity: float, *, weak_evidence: bool
) -> ScoredContradiction | None:
    """Return the strongest difference of two memories that are no events, if they speak of one subject and time.

    Of two versions of one note all lines in which a value changed are one difference.
    """
    if _periods_apart(older, newer) or not speak_of_one_subject(older, newer):
        return None
    return _compare_versions(older, newer) or compare_claims(older, newer, similarity, weak_evidence=weak_evidence)


def _compare_versions(older: Memory, newer: Memory) -> ScoredContradiction | None:
    """Return the contradiction in otherwise equal lines of two versions of one note, or ``None``."""
    lines = changed_lines(older.content, newer.content) if are_versions(older, newer) else []
    if not lines:
        return None
    quotes = [
        _quote(memory.content, span).replace("**", "").replace("`", "")
        for memory, span in zip((older, newer), lines[0].quoted, strict=True)
    ]
    more = {1: "", 2: " Another line differs too."}.get(len(lines), f" {len(lines) - 1} more lines differ too.")
    return ScoredContradiction(
        kind="temporal",
        older_spans=tuple(span for line in lines for span in line.older),
        newer_spans=tuple(span for line in lines for span in line.newer),
        score=_SCORE_OF_CHANGED_LINES,
        why=f"The older says “{quotes[0]}”, the newer “{quotes[1]}”.{more}",
    )


def compare_claims(
    older: Memory, newer: Memory, similarity: float, *, weak_evidence: bool = True
) -> ScoredContradiction | None:
    """Return the strongest difference of two memories, whatever they are, or None where their texts do not differ.

    ``similarity`` is the cosine of the two texts' embeddings, from 0 to 1, or an estimate of it from their words.
    Without ``weak_evidence`` a denial and another attribute count only where each memory is one sentence, and an update
    only where it says outright what was left or done: elsewhere most are of something else that the text speaks of.
    The result depends on the arguments alone; swapping the sides swaps only the sides of the spans.
    Only the sentences that share most are compared, so a long text costs little more than reading it.
    """
    # In a fixed order, so that the answer does not depend on which side is called the older one.
    swapped = _canonical_key(newer) < _canonical_key(older)
    first, second = (newer, older) if swapped else (older, newer)
    if first.content.split() == second.content.split():
        return None
    best: Difference | None = None
    score = -1.0
    lengths = [len(analyze_text(memory.content, memory.title).sentences) for memory in (first, second)]
    sentences = sum(lengths)
    for difference in differences(first, second, similarity):
        if not weak_evidence and _is_weak(difference, max(lengths)):
            continue
        if (chance := contradiction_chance(difference, sentences)) > score:
            best, score = difference, chance
    if best is None:
        return None
    spans = (best.second, best.first) if swapped else (best.first, best.second)
    quoted = best.quoted[::-1] if swapped else best.quoted
    quotes = [_quote(memory.content, span) for memory, span in zip((older, newer), quoted, strict=True)]
    is_scoped = name_different_environments(older, newer, spans)
    if is_scoped:
        score *= _OTHER_ENVIRONMENT_FACTOR
    return ScoredContradiction(
        kind=contradiction_kind(best, older, newer, is_scoped=is_scoped),
        older_spans=spans[0],
        newer_spans=spans[1],
        score=round(score, 4),
        why=f"The older says “{quotes[0]}”, the newer “{quotes[1]}”.",
    )


def _is_weak(difference: Difference, longest: int) -> bool:
    """Tell whether a difference is of a family that is mostly wrong in texts of that many sentences."""
    if difference.family == "update":
        return not is_told_outright(difference)
    return difference.family in ("denial", "slot") and longest > 1


def differences(first: Memory, second: Memory, similarity: float) -> Iterator[Difference]:
    """Yield every difference between the sentences of two memories that share most."""
    one, other = analyze_text(first.content, first.title), analyze_text(second.content, second.title)
    days = abs((second.created_at - first.created_at).total_seconds()) / _SECONDS_PER_DAY_AS_FLOAT
    for here, there in align_sentences(one, other):
        pair = SentencePair(
            SentenceInContext(one, one.sentences[here], one.contexts[here]),
            SentenceInContext(other, other.sentences[there], other.contexts[there]),
            min(max(similarity, 0.0), 1.0),
            days,
        )
        if pair.has_two_labels or pair.has_two_subjects or pair.is_upheld:
            continue
        sameness, values_begin = pair.sameness, pair.values_begin
        for family in (differing_values, negated_claims, changed_attributes, reported_updates):
            for difference in family(pair):
                if _is_of_paths(pair, difference) and pair.differs_elsewhere(difference):
                    continue  # the same command for something else
                follows = (difference.first[0][0], difference.second[0][0]) == values_begin
                yield msgspec.structs.replace(difference, sameness=1.0 if follows else sameness)


def _is_of_paths(pair: SentencePair, difference: Difference) -> bool:
    """Tell whether two paths make the difference."""
    return all(
        any("/" in token.low for token in side.sentence.tokens if (token.start, token.end) in spans)
        for side, spans in ((pair.first, difference.first), (pair.second, difference.second))
    )


def weigh_with_entailment(contradiction: ScoredContradiction, contradiction_probability: float) -> ScoredContradiction:
    """Return the contradiction with its score combined with a cross-encoder's probability for the two texts.

    The two odds are combined by their weighted geometric mean. The cross-encoder, which the person configured, decides
    unless it is undecided itself.
    """
    ours, theirs = _clamp_probability(contradiction.score), _clamp_probability(contradiction_probability)
    odds = (ours / (1 - ours)) ** (1 - _ENTAILMENT_SHARE) * (theirs / (1 - theirs)) ** _ENTAILMENT_SHARE
    return msgspec.structs.replace(contradiction, score=round(odds / (1 + odds), 4))


def _clamp_probability(probability: float) -> float:
    return min(max(probability, 0.001), 0.999)


def _canonical_key(memory: Memory) -> tuple[str, str, str]:
    return memory.content, memory.title, memory.id


def _quote(text: str, span: tuple[int, int]) -> str:
    """Return the words of a span on one line, without unprintable characters, at most `_LONGEST_QUOTE` long."""
    words = text[span[0] : min(span[1], span[0] + 2 * _LONGEST_QUOTE)]
    plain = "".join(letter if letter.isprintable() else " " for letter in words)
    plain = " ".join(plain.replace("“", '"').replace("”", '"').split())
    return plain if len(plain) <= _LONGEST_QUOTE else f"{plain[: _LONGEST_QUOTE - 1]}…"


NEIGHBOURS = 8
"""The nearest memories with which each memory is compared."""

_MOST_CONTRADICTIONS_PER_MEMORY = 3
"""The most open contradictions of one memory; the next is raised when one of them is resolved."""

_SIMILARITY_OF_VERSIONS = 0.85

_CONTRADICTIONS_OF_A_LIST = 6
"""Contradictions from which a memory counts as a line of a list or a filled-in form, and is left out."""

_COMPARED = ("active", "compacted")

Neighbours = Mapping[str, Sequence[tuple[str, float]]]
EntailmentScorer = Callable[[Sequence[tuple[str, str]]], list[float]]
"""A function that returns, for each pair of texts, the probability that the second contradicts the first."""


class FoundContradiction(msgspec.Struct, frozen=True):
    """A contradiction with its two memories, not yet written."""

    older: Memory
    newer: Memory
    contradiction: ScoredContradiction
    similarity: float


class ContradictionFinder:
    """Compares memories with their neighbours; ``entailment`` is a model that weighs the result, if there is one.

    Where there is none, ``weak_evidence`` is taken only on request; see `compare_claims`.
    """

    def __init__(
        self,
        store: Store,
        gate: Gate,
        entailment: EntailmentScorer | None = None,
        *,
        batch: str = "",
        weak_evidence: bool = False,
    ) -> None:
        self._store = store
        self._gate = gate
        self._entailment = entailment
        self._batch = batch
        self._weak_evidence = weak_evidence or entailment is not None

    def find(self, neighbours: Neighbours, most: int | None = None) -> list[FoundContradiction]:
        """Return the contradictions between memories and their neighbours that were not raised before, surest first.

        No memory is in two of them: whether the second holds depends on what is decided on the first. ``most`` limits
        their number.
        """
        ids = {*neighbours, *(name for near in neighbours.values() for name, _ in near)}
        current = self._store.memories.get_many(sorted(ids))
        # Asked once a memory and not once a pair: it reads the beginning of the text.
        now = clock.now()
        memories = {name: m for name, m in current.items() if _is_recalled(m, now) and not is_event(m)}
        found = [
            FoundContradiction(older, newer, contradiction, similarity)
            for older, newer, similarity in _pairs(neighbours, memories)
            if (contradiction := self._compare(older, newer, similarity)) is not None
        ]
        raised = [one for one in self._weighed(found) if one.contradiction.score >= SCORE_TO_RAISE]
        versions: dict[tuple[str, str, str], list[Memory]] = {}
        for memory in memories.values():
            versions.setdefault(note_of(memory), []).append(memory)
        raised = [one for one in raised if not self._leaps(one, versions[note_of(one.older)])]
        new = [one for one in _without_lists(raised) if self._is_new(one)]
        return _disjoint(sorted(new, key=_surest_first))[:most]

    def _compare(self, older: Memory, newer: Memory, similarity: float) -> ScoredContradiction | None:
        return _compare_of_one_time(older, newer, similarity, weak_evidence=self._weak_evidence)

    def _leaps(self, found: FoundContradiction, versions: Sequence[Memory]) -> bool:
        """Tell whether a version between two of a note differs from one of them as well: one change is one question."""
        if not _replaces(found):
            return False
        older, newer = found.older, found.newer
        between = [one for one in versions if older.created_at < one.created_at < newer.created_at]
        steps = [step for one in between for step in ((older, one), (one, newer))]
        compared = (self._compare(before, after, found.similarity) for before, after in steps)
        return any(one is not None and one.score >= SCORE_TO_RAISE for one in compared)

    def _weighed(self, found: list[FoundContradiction]) -> list[FoundContradiction]:
        if self._entailment is None or not found:
            return found
        texts = [(one.older.content, one.newer.content) for one in found]
        return [
            msgspec.structs.replace(one, contradiction=weigh_with_entailment(one.contradiction, probability))
            for one, probability in zip(found, self._entailment(texts), strict=True)
        ]

    def _is_new(self, found: FoundContradiction) -> bool:
        older, newer = found.older, found.newer
        for known in self._store.contradictions.between(older.id, newer.id):
            if known.status != "resolved" or known.resolution == "not_a_contradiction":
                return False
            if known.resolution == "both_valid" and known.why == found.contradiction.why:
                return False  # of these very words the person said that each holds; a new tag changes none
            if known.resolved_at is not None and known.resolved_at >= max(older.updated_at, newer.updated_at):
                return False
        most = 1 if _are_versions(found) else _MOST_CONTRADICTIONS_PER_MEMORY
        if any(len(self._store.contradictions.of(side.id)) >= most for side in (older, newer)):
            return False
        replaced = self._store.memories.successors([older.id, newer.id])
        return newer.id not in replaced.get(older.id, ()) and older.id not in replaced.get(newer.id, ())

    def write(self, found: Sequence[FoundContradiction]) -> list[Contradiction]:
        """Write contradictions, one transaction each. Their memories stay as they are until a person has decided."""
        return [written for one in found if (written := self._write(one)) is not None]

    def _write(self, found: FoundContradiction) -> Contradiction | None:
        # The entry's note stays for good, so it quotes nothing that a purge would have to take out.
        with self._gate.transaction("contradiction", batch=self._batch) as tx:
            current = {side.id: tx.get(Memory, side.id) for side in (found.older, found.newer)}
            sides = [side for side in current.values() if side is not None and _is_recalled(side, tx.now)]
            if [side.content for side in sides] != [found.older.content, found.newer.content]:
                return None  # one was changed, deleted or purged while they were compared
            if not self._is_new(found):
                return None  # another process was faster
            contradiction = found.contradiction
            fields = {
                "older": found.older.id,
                "newer": found.newer.id,
                "kind": contradiction.kind,
                "older_spans": contradiction.older_spans,
                "newer_spans": contradiction.newer_spans,
                "why": contradiction.why,
                "score": contradiction.score,
            }
            return tx.put(make_contradiction(fields, now=tx.now), base=0)


def _is_recalled(memory: Memory, now: datetime) -> bool:
    """Tell whether a memory is told to anybody: not one that was deleted, or whose time is over."""
    return memory.status in _COMPARED and (memory.expires_at is None or memory.expires_at > now)


def _pairs(neighbours: Neighbours, memories: Mapping[str, Memory]) -> Iterator[tuple[Memory, Memory, float]]:
    """Yield each pair that can be compared once, the older first."""
    seen: set[frozenset[str]] = set()
    for name, near in neighbours.items():
        for other, similarity in near:
            pair = frozenset((name, other))
            if similarity < SIMILARITY_TO_COMPARE or len(pair) == 1 or pair in seen:
                continue
            seen.add(pair)
            one, two = memories.get(name), memories.get(other)
            if one is not None and two is not None and _share_a_namespace(one.namespace, two.namespace):
                older, newer = sorted((one, two), key=lambda memory: (memory.created_at, memory.id))
                yield older, newer, similarity


def _replaces(found: FoundContradiction) -> bool:
    """Tell whether the newer memory is a version of the older one's note by its text too, not just by its title."""
    return are_versions(found.older, found.newer) and (
        found.similarity >= _SIMILARITY_OF_VERSIONS or found.contradiction.score == _SCORE_OF_CHANGED_LINES
    )


def _without_lists(found: Sequence[FoundContradiction]) -> list[FoundContradiction]:
    """Leave out the memories that differ from many others: the lines of a list, the notes of a form.

    Many versions of one note are kept: they have one title and most of their text in common.
    """
    counts = Counter(side.id for one in found for side in (one.older, one.newer))
    return [
        one
        for one in found
        if _are_versions(one)
        or counts[one.older.id] < _CONTRADICTIONS_OF_A_LIST
        or counts[one.newer.id] < _CONTRADICTIONS_OF_A_LIST
    ]


def _are_versions(found: FoundContradiction) -> bool:
    """Tell whether two memories are versions of one note, of which each replaces all before it."""
    title = found.older.title.casefold()
    return bool(title) and title == found.newer.title.casefold() and found.similarity >= _SIMILARITY_OF_VERSIONS


def _surest_first(found: FoundContradiction) -> tuple[float, str, str]:
    return -found.contradiction.score, found.older.id, found.newer.id


def _disjoint(found: Sequence[FoundContradiction]) -> list[FoundContradiction]:
    kept, taken = [], set[str]()
    for one in found:
        if taken.isdisjoint((one.older.id, one.newer.id)):
            taken |= {one.older.id, one.newer.id}
            kept.append(one)
    return kept


def _share_a_namespace(one: str, other: str) -> bool:
    """Tell whether a claim in one namespace could be meant to hold in the other."""
    if account_of(one) != account_of(other):
        return False  # or anybody's account could cast doubt on what the person keeps
    if branch_of(one) != branch_of(other):
        return False  # a branch is there to be another way than the rest
    return "global" in (one, other) or is_under(one, other) or is_under(other, one)
