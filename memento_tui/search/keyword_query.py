"""The keyword index's documents, made of memories, and its queries, compiled from parsed ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

import tantivy

from memento_tui.model import Memory
from memento_tui.model.filters import AllOf, AnyOf, Between, Filter, HasStem, HasTag, Not, OneOf, Under
from memento_tui.model.memory import STATUSES
from memento_tui.model.memory_fields import INDEXED_KINDS, declaration_digest, filter_fields, values_getter
from memento_tui.model.validation import fold_tag
from memento_tui.search.keyword_fields import STATE_ID, TEXT_VERSION, TermQueryBuilder, context_fact
from memento_tui.search.lance_filter import column_number, microseconds
from memento_tui.search.query_language import Phrase, Query, Word
from memento_tui.search.ranking import (
    HEADING_CHARACTERS,
    MOST_WORDS_AS_EVIDENCE,
    NEARBY_WORDS,
    SIMILAR_TEXT_CHARACTERS,
    SIMILAR_TEXT_WORDS,
)
from memento_tui.search.scoring import idf
from memento_tui.storage.memory_queries import SessionContext
from memento_tui.text.terms import (
    STOP_WORDS,
    character_bigrams,
    different_stems,
    identifiers,
    is_compound,
    searchable,
    terms,
    unspaced_characters,
)

__all__ = ["NUMBERS", "SCHEMA_VERSION", "TEXTS", "WORDS", "QueryCompiler", "make_document", "read_evidence"]


WORDS = {name: field for name, field in filter_fields("word", indexed=True).items() if name != "id"}
FLAGS = filter_fields("flag", indexed=True)
TEXTS = filter_fields("words", indexed=True)
NUMBERS = filter_fields("number", "share", "moment", indexed=True)
"""The fields that memories are filtered by, as the index holds them: facts, flags, facts of words, and columns."""

_Must, _Should, _MustNot = tantivy.Occur.Must, tantivy.Occur.Should, tantivy.Occur.MustNot


_LEVELS = 255
"""Steps from 0 to 1 of a share: the three of them fit into the 24 bits of a score that are exact."""


def read_evidence(score: float) -> tuple[float, float, float]:
    """Return the three shares in a score of `QueryCompiler.evidence`: coverage, heading and nearby, each 0 to 1."""
    packed = int(score)
    return packed % 256 / _LEVELS, packed // 256 % 256 / _LEVELS, packed // 65_536 / _LEVELS


class QueryCompiler:
    """Turns a query's syntax tree into a Tantivy query for one searcher."""

    def __init__(self, schema: tantivy.Schema, searcher: tantivy.Searcher) -> None:
        self._schema = schema
        self._searcher = searcher
        self._words = TermQueryBuilder(schema, searcher)

    def compile(self, query: Query, tree: Filter) -> tantivy.Query:
        """Return the Tantivy query for a whole query; ``tree`` is its filter as it applies."""
        state = tantivy.Query.term_query(self._schema, "id", STATE_ID, "basic")
        clauses: list[tuple[tantivy.Occur, tantivy.Query]] = [
            *self._conditions(tree),
            (_MustNot, state),
        ]
        words = self._content_words(query)
        if words:
            clauses.append((_Must, self.words(query)))
        if any(not isinstance(part, Phrase) and is_compound(part.text) for part in words):
            # A part of a compound name adds to the score of what holds another word or the whole name, and is no match.
            whole = _any_of([self._word_query(part) for part in words])
            clauses.append((_Must, tantivy.Query.const_score_query(whole, 0.0)))
        clauses += [(_Must, self._word_query(phrase)) for phrase in query.phrases]
        clauses += [(_MustNot, self._word_query(part)) for part in query.excluded]
        if all(occur == _MustNot for occur, _ in clauses):
            clauses.append((_Must, tantivy.Query.const_score_query(tantivy.Query.all_query(), 0.0)))
        return tantivy.Query.boolean_query(clauses)

    def _conditions(self, tree: Filter) -> Iterator[tuple[tantivy.Occur, tantivy.Query]]:
        """Yield the clauses of a filter that do not change a score.

        Most filters keep out a few memories of many: what is rejected, has expired, holds no longer. Said so, Tantivy
        reads the few; as what has to be there it would walk along all memories for each condition.
        """
        match tree:
            case AllOf(parts):
                for part in parts:
                    yield from self._conditions(part)
            case Not(part):
                yield _MustNot, self._filter_query(part)
            case OneOf("status", values) if self._is_common(values):
                yield _MustNot, self._words.facts(f"status:{status}" for status in STATUSES if status not in values)
            case AnyOf(parts) if any(isinstance(part, Not) for part in parts):
                yield _MustNot, tantivy.Query.boolean_query([self._opposite(part) for part in parts])
            case _:
                yield _Must, tantivy.Query.const_score_query(self._filter_query(tree), 0.0)

    def _is_common(self, statuses: Sequence[str]) -> bool:
        """Return whether more memories have one of these statuses than have another."""
        held = {status: self._searcher.doc_freq("fact", f"status:{status}") for status in STATUSES}
        return sum(held[status] for status in statuses if status in held) * 2 > sum(held.values())

    def _opposite(self, tree: Filter) -> tuple[tantivy.Occur, tantivy.Query]:
        """Return the clause that excludes a filter's memories."""
        if isinstance(tree, Not):
            return _Must, self._filter_query(tree.part)
        return _MustNot, self._filter_query(tree)

    @staticmethod
    def _content_words(query: Query) -> list[Word | Phrase]:
        """Return the words that carry meaning; all of them where only stop words were given."""
        kept = [part for part in query.words if isinstance(part, Phrase) or part.text.lower() not in STOP_WORDS]
        return kept or list(query.words)

    def similar(self, text: str) -> tantivy.Query:
        """Return the query for memories that share the rarest words of a text; an unknown word can match nothing."""
        stems = dict.fromkeys(stem for stem in terms(text[:SIMILAR_TEXT_CHARACTERS]) if stem not in STOP_WORDS)
        by_frequency = sorted((count, stem) for stem in stems if (count := self._searcher.doc_freq("body", stem)))
        rarest = [stem for _, stem in by_frequency[:SIMILAR_TEXT_WORDS]]
        parts = [(_Should, tantivy.Query.term_query(self._schema, "body", stem)) for stem in rarest]
        return tantivy.Query.boolean_query(parts) if parts else tantivy.Query.empty_query()

    def _word_query(self, part: Word | Phrase, *, apart: bool = False) -> tantivy.Query:
        """Return the query for one word or phrase, in each of the forms in which text is indexed."""
        if isinstance(part, Phrase):
            return self._words.phrase(part.text)
        return self._words.word(part.text, typing=part.typing, apart=apart)

    def words(self, query: Query) -> tantivy.Query:
        """Return the query that scores memories by the words alone, whatever the filter."""
        return _any_of([self._word_query(part, apart=True) for part in self._content_words(query)])

    def evidence(self, query: Query) -> tantivy.Query:
        """Return the query whose score tells how a memory holds the words; `read_evidence` reads it.

        One pass over the candidates gives three shares of the words, weighed by their rarity: of those that are in
        the memory or in what its session wrote just before, in its title, heading or tags, and near the next one.
        """
        weighed = list(self._weighed(query))
        heading = [(weight, self._words.stem("head", stem)) for stem, weight, _ in weighed if stem]
        nearby = [
            (weight + next_weight, self._words.near((stem, next_stem), NEARBY_WORDS))
            for (stem, weight, _), (next_stem, next_weight, _) in pairwise(weighed)
            if stem and next_stem
        ]
        coverage = [(weight, places) for _, weight, places in weighed]
        parts = [*_shares(coverage, 1), *_shares(heading, 256), *_shares(nearby, 65_536)]
        return _any_of(parts)

    def _weighed(self, query: Query) -> Iterator[tuple[str, float, tantivy.Query]]:
        """Yield the stems of the query, each with its rarity and the query for where it counts as covered.

        The stem is empty for a word of a script without spaces, which has none.
        """
        found: dict[str, tuple[float, tantivy.Query]] = {}
        for part in self._content_words(query):
            if character_bigrams(part.text):
                found[part.text] = (self._rarity(part.text), self._word_query(part))
                continue
            for stem in terms(part.text):
                places = [self._words.stem(field, stem) for field in ("body", "title", "tags", "context")]
                found[stem] = (self._rarity(stem), _any_of(places))
        rarest = set(sorted(found, key=lambda name: -found[name][0])[:MOST_WORDS_AS_EVIDENCE])
        for name, (rarity, covered) in found.items():
            if name in rarest:
                yield "" if character_bigrams(name) else name, rarity, covered

    def _rarity(self, stem: str) -> float:
        # Documents that were replaced are counted with their terms until their segment is merged.
        total = self._searcher.num_docs
        return idf(total, min(total, max(self._searcher.doc_freq(field, stem) for field in ("body", "title", "tags"))))

    def _filter_query(self, tree: Filter) -> tantivy.Query:  # noqa: PLR0911 - one for each kind of condition
        """Return the query for a filter."""
        match tree:
            case OneOf("id", values):
                return tantivy.Query.term_set_query(self._schema, "id", list(values))
            case OneOf(field, values):
                return self._one_of(field, values)
            case HasTag() | HasStem():
                return self._words.facts([_fact_of(tree)])
            case Under(namespace):
                return self._words.facts([f"ns:{namespace}"])
            case Between(field, low, high):
                return self._between(field, low, high)
            case Not(part):
                return tantivy.Query.boolean_query(
                    [(_Must, tantivy.Query.all_query()), (_MustNot, self._filter_query(part))]
                )
            case AllOf(parts):
                compiled = [(_Must, self._filter_query(part)) for part in parts]
                return tantivy.Query.boolean_query([*compiled, (_Must, tantivy.Query.all_query())])
            case AnyOf(parts):
                return tantivy.Query.boolean_query([(_Should, self._filter_query(part)) for part in parts])

    def _one_of(self, field: str, values: Sequence[str]) -> tantivy.Query:
        if field in WORDS:
            return self._words.facts(f"{field}:{value}" for value in values)
        if field not in FLAGS:
            raise ValueError(field)
        is_set, chosen = self._words.facts([f"{field}:1"]), {bool(int(value)) for value in values}
        parts = [is_set] if True in chosen else []
        if False in chosen:
            parts.append(tantivy.Query.boolean_query([(_Must, tantivy.Query.all_query()), (_MustNot, is_set)]))
        return tantivy.Query.boolean_query([(_Should, part) for part in parts])

    def _between(self, field: str, low: datetime | int | None, high: datetime | int | None) -> tantivy.Query:
        if field not in NUMBERS:
            raise ValueError(field)
        first = microseconds(low) if isinstance(low, datetime) else low
        last = microseconds(high) if isinstance(high, datetime) else high
        if first is None and last is None:
            return tantivy.Query.exists_query(field)
        return tantivy.Query.range_query(
            self._schema, field, tantivy.FieldType.Integer, first, last, include_lower=True, include_upper=last is None
        )

    def ceiling(self, query: Query) -> float:
        """Return the score of a perfect match: a memory that holds every word of the query as densely as can be.

        It is the sum over the words of BM25's limit, and makes scores comparable from query to query.
        """
        return sum(
            self._words.ceiling([part.text], apart=not isinstance(part, Phrase)) for part in self._content_words(query)
        )


def _fact_of(tree: HasTag | HasStem) -> str:
    """Return the fact of the memories that have a tag, or a word of a stem in one of their texts."""
    if isinstance(tree, HasTag):
        return f"tag:{fold_tag(tree.tag)}"
    if tree.field not in TEXTS:
        raise ValueError(tree.field)
    return f"{tree.field}:{tree.stem}"


def _any_of(parts: Sequence[tantivy.Query]) -> tantivy.Query:
    return tantivy.Query.boolean_query([(_Should, part) for part in parts]) if parts else tantivy.Query.empty_query()


def _shares(weighed: Sequence[tuple[float, tantivy.Query]], unit: int) -> Iterator[tantivy.Query]:
    """Yield each query with its share of the weights as its score, in whole steps that add up to `_LEVELS` units."""
    total = sum(weight for weight, _ in weighed) or 1.0
    before, sum_of_weights = 0, 0.0
    for weight, query in weighed:
        sum_of_weights += weight
        reached = round(_LEVELS * sum_of_weights / total)
        yield tantivy.Query.const_score_query(query, float((reached - before) * unit))
        before = reached


_word_values, _flag_values, _number_values = (values_getter(part.values()) for part in (WORDS, FLAGS, NUMBERS))

SCHEMA_VERSION = "-".join((TEXT_VERSION, declaration_digest(filter_fields(*INDEXED_KINDS, indexed=True).values())))
"""The version of an index's fields and analyzers; an index of another version is rebuilt."""


def _namespace_levels(namespace: str) -> list[str]:
    """Return a namespace and those that it lies in, outermost first."""
    names = namespace.split("/")
    return ["/".join(names[: depth + 1]) for depth in range(len(names))]


def make_document(memory: Memory, context: SessionContext | None = None) -> tantivy.Document:
    """Return the index's document for a memory, with the text that its session wrote before it."""
    facts = [f"{name}:{value}" for name, value in zip(WORDS, _word_values(memory), strict=True) if value]
    facts += [f"{name}:1" for name, value in zip(FLAGS, _flag_values(memory), strict=True) if value]
    facts += [f"ns:{level}" for level in _namespace_levels(memory.namespace)]
    facts += [f"tag:{fold_tag(tag)}" for tag in memory.tags]
    facts += [f"{name}:{stem}" for name in TEXTS for stem in different_stems(getattr(memory, name))]
    body = f"{memory.content}\n{memory.validity_context}" if memory.validity_context else memory.content
    title, body, tags = searchable(memory.title), searchable(body), [searchable(tag) for tag in memory.tags]
    text = "\n".join(part for part in (title, body, *tags) if part)
    fields: dict[str, Any] = {
        "id": memory.id,
        "body": body,
        "words": text,
        "fact": facts,
    }
    for name, value in zip(NUMBERS, _number_values(memory), strict=True):
        if value is not None:
            fields[name] = column_number(value)
    if title:
        fields["title"] = title
    if tags:
        fields["tags"] = tags
    if heading := [part for part in (searchable(_heading_of(memory)), *tags) if part]:
        fields["head"] = heading
    if parts := [part for part in (identifiers(text), *unspaced_characters(text)) if part]:
        fields["parts"] = " ".join(parts)
    if context is not None:
        fields["context"] = searchable(context.text)
        facts += [context_fact(name) for name in context.ids]
    return tantivy.Document(**fields)


def _heading_of(memory: Memory) -> str:
    """Return the title of a memory, or the first line of a text of several; empty for a plain sentence."""
    if memory.title.strip():
        return memory.title
    first, _, rest = memory.content.strip().partition("\n")
    return first[:HEADING_CHARACTERS] if rest.strip() else ""
