"""Align the sentences of two texts that speak of the same thing, and describe a difference between them.

Only aligned sentences are compared, however long the texts are, and only claims, which hold until they change: a record
of an event stays true for ever.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import msgspec

from memento_tui.model import Memory
from memento_tui.text.lexicon import (
    CHANGE_CUES,
    CONJUNCTIONS,
    INDEFINITE_DETERMINERS,
    IRREGULAR_FORMS,
    NOUNS_BEFORE_A_NUMBER,
    TO_BE,
    word_set,
)
from memento_tui.text.quantities import UNITS
from memento_tui.text.sentences import first_sentence
from memento_tui.text.tokens import Sentence, Token, read_sentences

__all__ = [
    "Clause",
    "Difference",
    "SentenceInContext",
    "SentencePair",
    "Span",
    "align_sentences",
    "analyze_text",
    "clauses",
    "describes_a_moment",
    "is_event",
    "is_session_note",
    "logistic",
    "shared_weight",
    "speak_of_one_subject",
    "tells_an_act",
    "token_spans",
]


_BEST_PAIRS = 6
"""The most sentence pairs that are compared."""

_MOST_SENTENCES_OF_A_WORD = 24
"""The most sentences that may share a word for it to align them; a word in more of them is no evidence."""

_CONTEXT_WEIGHT = 0.4
"""The weight of a word of the title or of the sentence before, relative to one of the sentence itself."""

_THE = frozenset({"the", "this", "that", "our", "my"})

_CACHED_CHARACTERS = 8_000
_SHORTEST_CLAUSE = 3
_FEWEST_WORDS_OF_A_LABEL, _LONGEST_LABEL = 2, 4
_SAID_BEHIND_A_LABEL = 0.5
"""The share of a sentence's weight that shows that the words behind a label are about the same thing."""

_LONGEST_WHOLE_SENTENCE = 25
"""The most tokens of a sentence that is also compared as one clause."""


class AnalyzedText(msgspec.Struct, frozen=True, gc=False):
    """A text's sentences, each with the weights of its context: its own words, the title's, the sentence before's."""

    sentences: tuple[Sentence, ...]
    contexts: tuple[Mapping[str, float], ...]
    stems: frozenset[str]
    """Every stem of the text that has a weight."""
    wordings: frozenset[tuple[tuple[str, bool], ...]]
    """The words of each sentence, as `_wording` returns them."""


Clause = tuple[Token, ...]


def _analyze(text: str, title: str) -> AnalyzedText:
    sentences = read_sentences(text)
    headed: dict[str, float] = {}
    for sentence in read_sentences(title):
        headed.update(sentence.weights)
    contexts = []
    before: Mapping[str, float] = {}
    for sentence in sentences:
        context = dict(sentence.weights)
        for weights in (headed, before):
            for word, weight in weights.items():
                if word not in context:
                    context[word] = _CONTEXT_WEIGHT * weight
        contexts.append(context)
        before = sentence.weights
    stems = frozenset(word for sentence in sentences for word in sentence.weights)
    return AnalyzedText(sentences, tuple(contexts), stems | headed.keys(), frozenset(map(_wording, sentences)))


def _wording(sentence: Sentence) -> tuple[tuple[str, bool], ...]:
    """Return the words of a sentence, each with whether it denies: *isn't* is read as *is*."""
    return tuple((token.low, token.denies) for token in sentence.tokens)


_analyze_cached = lru_cache(maxsize=512)(_analyze)
_analyze_long_cached = lru_cache(maxsize=4)(_analyze)


def analyze_text(text: str, title: str = "") -> AnalyzedText:
    """Return the analysis of a text, from a cache that holds few long texts."""
    return (_analyze_cached if len(text) <= _CACHED_CHARACTERS else _analyze_long_cached)(text, title)


def shared_weight(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Return the total weight of the words that two contexts share, each at the smaller of its two weights."""
    if len(one) > len(other):
        one, other = other, one
    return sum(min(weight, other[word]) for word, weight in one.items() if word in other)


def align_sentences(older: AnalyzedText, newer: AnalyzedText) -> list[tuple[int, int]]:
    """Return the indexes of the sentence pairs that share most weight, best first."""
    places: dict[str, list[int]] = {}
    for at, context in enumerate(older.contexts):
        for word in context:
            places.setdefault(word, []).append(at)
    common: Counter[tuple[int, int]] = Counter()
    best: dict[tuple[int, int], float] = {}
    for at, context in enumerate(newer.contexts):
        common.clear()
        for word, weight in context.items():
            found = places.get(word, ())
            if len(found) <= _MOST_SENTENCES_OF_A_WORD:
                for place in found:
                    common[place, at] += min(weight, older.contexts[place][word])  # type: ignore[assignment]
        if common:
            best.update(sorted(common.items(), key=lambda item: (-item[1], item[0]))[:_BEST_PAIRS])
    ranked = sorted(best.items(), key=lambda item: (-item[1], abs(item[0][0] - item[0][1]), min(item[0])))
    return [pair for pair, _ in ranked[:_BEST_PAIRS]]


def clauses(sentence: Sentence) -> list[Clause]:
    """Return a sentence's clauses, and the sentence itself where it is short enough to be one."""
    found: list[Clause] = []
    begun = 0
    tokens = sentence.tokens
    for at, token in enumerate(tokens):
        if at - begun >= _SHORTEST_CLAUSE and (tokens[at - 1].ends or token.low in CONJUNCTIONS):
            found.append(tokens[begun:at])
            begun = at
    found.append(tokens[begun:])
    if len(found) > 1 and len(tokens) <= _LONGEST_WHOLE_SENTENCE:
        found.append(tokens)
    return found


def describes_a_moment(clause: Clause) -> bool:
    """Tell whether a clause describes a moment instead of a lasting state: *a man is playing*, *two dogs run*."""
    if clause[0].low in INDEFINITE_DETERMINERS or clause[0].number:
        return True
    return any(
        token.low in TO_BE and any(after.low.endswith("ing") for after in clause[at + 1 : at + 3])
        for at, token in enumerate(clause)
    )


Span = tuple[int, int]


class Difference(msgspec.Struct, frozen=True, gc=False):
    """One difference between a sentence of each text, with its features."""

    family: str
    """The family of its features and weights: value, denial, slot or update."""
    features: tuple[float, ...]
    first: tuple[Span, ...]
    second: tuple[Span, ...]
    quoted: tuple[Span, Span]
    """Start and end of the words in each text that show the difference to a person."""
    change: bool = False
    """Whether one side says that something changed."""
    counts: bool = False
    """Whether the difference is in a quantity, which may grow with time."""
    sameness: float = 0.0
    """From 0 to 1: how far the two sentences say the same apart from the difference. See `SentencePair.sameness`."""


class SentenceInContext(msgspec.Struct, frozen=True, gc=False):
    """One sentence in its text."""

    reading: AnalyzedText
    sentence: Sentence
    context: Mapping[str, float]
    """The weights of its words, those of the title, and those of the sentence before."""

    def clauses(self) -> list[Clause]:
        """Return the clauses of the sentence."""
        return clauses(self.sentence)


class SentencePair(msgspec.Struct, frozen=True, gc=False):
    """Two aligned sentences, with the similarity of their texts and the time between them."""

    first: SentenceInContext
    second: SentenceInContext
    similarity: float
    days: float
    """Days between the creation of the two memories."""

    @property
    def elapsed(self) -> float:
        """From 0 (written together) to 1 (a month apart or more): how likely a state is to have changed."""
        return min(math.log1p(self.days) / math.log1p(30.0), 1.0)

    @property
    def is_upheld(self) -> bool:
        """Whether one of the sentences is in both texts, which therefore agree on it."""
        sides = (self.first, self.second), (self.second, self.first)
        return any(_wording(one.sentence) in other.reading.wordings for one, other in sides)

    @property
    def has_two_labels(self) -> bool:
        """Whether the sentences begin with different labels: two rows of a table, two fields of a form.

        A label with a number, as of *Level 1 (head): 100 rows*, names a thing that the other sentence has to name too,
        unless what stands behind it names the other one's matter: *Since v2.4: the timeout is 60 seconds*.
        """
        labels = [[token.stem for token in _label(side.sentence.tokens)] for side in (self.first, self.second)]
        if all(labels):
            return labels[0] != labels[1]
        return not (_names_label(self.second, self.first) and _names_label(self.first, self.second))

    @property
    def has_two_subjects(self) -> bool:
        """Whether the sentences are about two numbered things: *Shard 3 is full* and *Shard 4 is full*.

        A port or a version may change its number, so it is another thing only where something else differs too.
        """
        numbered = [_numbered_subject(side.sentence.tokens) for side in (self.first, self.second)]
        (one, first), (other, second) = numbered
        if not one or one != other or first == second:
            return False
        if one not in NOUNS_BEFORE_A_NUMBER:
            return True
        rests = [
            [token.stem for token in side.sentence.tokens if token.low != number]
            for side, (_, number) in zip((self.first, self.second), numbered, strict=True)
        ]
        return rests[0] != rests[1]

    def differs_elsewhere(self, difference: Difference) -> bool:
        """Tell whether the sentences say different things beside a difference, in words that have a weight."""
        rests = [
            {token.stem for token in side.sentence.tokens if token.weight and (token.start, token.end) not in spans}
            for side, spans in ((self.first, difference.first), (self.second, difference.second))
        ]
        return rests[0] != rests[1]

    @property
    def values_begin(self) -> tuple[int, int] | None:
        """The places at which the values begin in both sentences, where they share a label of several words.

        *Current version: 1.4, with search* and *Current version: 1.5, which is faster* state one value each.
        """
        one, other = self.first.sentence.tokens, self.second.sentence.tokens
        labels = (_label(one), _label(other))
        if len(labels[0]) < _FEWEST_WORDS_OF_A_LABEL or not labels[1] or self.has_two_labels:
            return None
        return one[len(labels[0])].start, other[len(labels[1])].start

    @property
    def sameness(self) -> float:
        """The share of their words that the two sentences have in common."""
        one, other = self.first.sentence.weights, self.second.sentence.weights
        total = max(sum(one.values()), sum(other.values()))
        return shared_weight(one, other) / total if total else 0.0


def _names_label(side: SentenceInContext, other: SentenceInContext) -> bool:
    """Tell whether a sentence names the other one's label, up to its number, or the numbered subject."""
    label = _label(other.sentence.tokens)
    end = next((at + 1 for at, token in enumerate(label) if token.number), 0)
    if {token.stem for token in label[:end]} <= {token.stem for token in side.sentence.tokens}:
        return True
    noun, _ = _numbered_subject(side.sentence.tokens)
    if noun and noun not in NOUNS_BEFORE_A_NUMBER and noun in {token.low for token in label}:
        return False  # "Tier 2 loads the body" is no other value of "Tier 1: loads the body"
    behind = {token.stem for token in other.sentence.tokens[len(label) :]}
    weights = side.sentence.weights
    said = sum(weight for word, weight in weights.items() if word in behind)
    return said >= _SAID_BEHIND_A_LABEL * sum(weights.values()) > 0


def _numbered_subject(tokens: Clause) -> tuple[str, str]:
    """Return the noun and the number with which a sentence begins, or two empty texts: *shard* and *3*.

    *Shard number 3* is *shard 3*.
    """
    at = 2 if tokens[0].low in _THE else 1
    named = at
    if at < len(tokens) and tokens[at].low == "number":
        at += 1
    if at + 1 >= len(tokens) or tokens[at + 1].low in UNITS:
        return "", ""
    noun, number = tokens[named - 1], tokens[at]
    is_name = number.number and number.low.isalnum() and noun.weight > 0 and not (number.ends or noun.ends)
    return (noun.low, number.low) if is_name else ("", "")


def _label(tokens: Clause) -> Clause:
    """Return the words before the colon or the border of a cell near the beginning of a sentence, if there is one."""
    end = next((at + 1 for at, token in enumerate(tokens[:_LONGEST_LABEL]) if token.heads), 0)
    return tokens[:end] if end < len(tokens) else ()


def logistic(features: Sequence[float], weights: Sequence[float], bias: float) -> float:
    """Return the logistic function of the weighted features: from 0 to 1."""
    total = bias + sum(value * weight for value, weight in zip(features, weights, strict=True))
    return 1.0 / (1.0 + math.exp(-max(min(total, 30.0), -30.0)))


def token_spans(tokens: Iterable[Token]) -> tuple[Span, ...]:
    """Return start and end of each token."""
    return tuple((token.start, token.end) for token in tokens)


_SESSION_KINDS = frozenset({"session", "session_note", "session_summary", "conversation_summary", "fleeting"})
_EVENT_TITLE = re.compile(
    r"\d{4}-\d{2}-\d{2} | (?<![\w.])v?\d+\.\d+\.\d+ | (?<![\w.])v\d+\.\d+ | (?<!\w)\#\d+ | (?<!\w)(?:PR|MR)\s?\d+",
    re.VERBOSE,
)
"""A date, a release or a numbered change in a title: what the memory tells happened once."""

_TASK_BOX = re.compile(r"^[ \t]*[-*+][ \t]+\[[ xX]\][ \t]", re.MULTILINE)
_MARK = re.compile(r"^[\s*_#>-]*(?:\[[^\]\n]{1,30}\](?!\()[\s:]*|[^\w\s`'\"(\[]+\s+)")
"""A category in brackets or a sign before a text: *[FIX]*, a check mark."""
_LABEL = re.compile(r"^[\s*_#>-]*[A-Za-z ]{1,20}[*_]*:[\s*_]*")
_MANNERS = word_set("successfully recently finally fully partially also just")
"""Words before the verb of a report."""
_PAST = re.compile(r"[a-z]{2,}ed")
_BEGINNING_CHARS = 300
"""Characters of a sentence in which its verb is looked for; the time for it grows with their square."""

_OWN_WORD_WEIGHT = 1.0


def is_session_note(memory: Memory) -> bool:
    """Tell whether a memory is the diary of a day or a session."""
    raw = re.sub(r"[^a-z]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", memory.kind_raw.strip()).lower())
    return memory.kind == "daily" or raw in _SESSION_KINDS


def is_event(memory: Memory) -> bool:
    """Tell whether a memory records an event: a session, a release, a run, a list of tasks.

    *Fixed the login* is an event. *Switched to Redis* is none: it says how things stand from then on.
    """
    if is_session_note(memory) or _EVENT_TITLE.search(memory.title) or _TASK_BOX.search(memory.content):
        return True
    beginnings = (text[:_BEGINNING_CHARS] for text in (memory.title, first_sentence(memory.content)))
    return any(tells_an_act(text) for text in beginnings if text)


@lru_cache(maxsize=2_048)
def tells_an_act(text: str) -> bool:
    """Tell whether a text begins with a verb in the past and nobody before it: *Successfully released the fix*."""
    sentences = read_sentences(_LABEL.sub("", _MARK.sub("", text)))
    if not sentences:
        return False
    first = next((token.low for token in sentences[0].tokens if token.low not in _MANNERS), "")
    past = _PAST.fullmatch(first) is not None or (first in IRREGULAR_FORMS and IRREGULAR_FORMS[first] != "be")
    return past and first not in CHANGE_CUES


def speak_of_one_subject(one: Memory, other: Memory) -> bool:
    """Tell whether the titles allow two memories to be about one thing.

    They do not where each title has a word of its own that the other memory does not know: *Login form* and *Search
    form* are two things, whatever their texts have in common.
    """
    return not (_own_title_words(one, other) and _own_title_words(other, one))


def _own_title_words(one: Memory, other: Memory) -> frozenset[str]:
    if not one.title:
        return frozenset()
    known = analyze_text(other.content, other.title).stems
    return frozenset(
        token.stem
        for sentence in read_sentences(one.title)
        for token in sentence.tokens
        if token.weight >= _OWN_WORD_WEIGHT and token.stem not in known
    )
