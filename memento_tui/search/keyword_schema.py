"""What the keyword index holds of a memory, and how a query becomes a Tantivy query over it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import tantivy

from memento_tui.records import Memory
from memento_tui.records.rules import fold_tag
from memento_tui.search.lance_filter import microseconds
from memento_tui.search.language import Phrase, Query, Word
from memento_tui.search.text import (
    ANALYZERS,
    STOP_WORDS,
    analyzer,
    humps,
    identifiers,
    is_compound,
    terms,
    unspaced_pairs,
)
from memento_tui.store.filters import AllOf, AnyOf, Between, Filter, HasTag, NotThat, OneOf, Under

__all__ = ["SCHEMA_VERSION", "STATE_ID", "Compiler", "document", "make_schema", "register_analyzers"]

SCHEMA_VERSION = "3"
"""Raised with every change of the fields or analyzers; an index of another version is rebuilt."""

STATE_ID = "\x01state"
"""The id of the document that says which journal entry the index reflects; no record can have it."""

TITLE_BOOST = 1.6
IDENTIFIER_BOOST = 1.5
_MOST_COMPLETIONS, _FEW_COMPLETIONS, _SHORT_PREFIX = 64, 16, 2
"""How many words a beginning is completed to; few where it is so short that they tell nothing yet."""

_COMPARED, _RAREST = 4_000, 10
"""Characters of a text, and words of it, by which memories that are much like it are looked for."""

_BM25_K1 = 1.2
_FACETS = ("kind", "stability", "source_type", "sensitivity", "tier", "status")
_Must, _Should, _MustNot = tantivy.Occur.Must, tantivy.Occur.Should, tantivy.Occur.MustNot


def make_schema() -> tantivy.Schema:
    """Return the schema: text in three readings, facts as prefixed terms, numbers as columns."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("note", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("title", tokenizer_name="stemmed")
    builder.add_text_field("body", tokenizer_name="stemmed")
    builder.add_text_field("words", tokenizer_name="exact", index_option="basic")
    builder.add_text_field("parts", tokenizer_name="whole", index_option="freq")
    builder.add_text_field("fact", tokenizer_name="raw", index_option="basic")
    for column in ("certainty", "created_at", "updated_at", "expires_at"):
        builder.add_integer_field(column, fast=True)
    return builder.build()


def register_analyzers(index: tantivy.Index) -> None:
    """Give the index the analyzers that the schema names."""
    for name in ANALYZERS:
        index.register_tokenizer(name, analyzer(name))


def _levels(namespace: str) -> list[str]:
    names = namespace.split("/")
    return ["/".join(names[: depth + 1]) for depth in range(len(names))]


def document(memory: Memory) -> tantivy.Document:
    """Return the index's document for a memory."""
    facts = [f"{field}:{getattr(memory, field)}" for field in _FACETS]
    facts += [f"ns:{level}" for level in _levels(memory.namespace)]
    facts += [f"tag:{fold_tag(tag)}" for tag in memory.tags]
    if memory.tags:
        facts.append("tagged:1")
    if memory.pinned:
        facts.append("pinned:1")
    if memory.source.agent:
        facts.append(f"agent:{memory.source.agent}")
    if memory.source.session:
        facts.append(f"session:{memory.source.session}")
    text = f"{memory.title}\n{memory.content}" if memory.title else memory.content
    fields: dict[str, Any] = {
        "id": memory.id,
        "body": memory.content,
        "words": text,
        "fact": facts,
        "certainty": memory.certainty,
        "created_at": microseconds(memory.created_at),
        "updated_at": microseconds(memory.updated_at),
    }
    if memory.title:
        fields["title"] = memory.title
    if parts := identifiers(text):
        fields["parts"] = parts
    if memory.expires_at is not None:
        fields["expires_at"] = microseconds(memory.expires_at)
    return tantivy.Document(**fields)


class Compiler:
    """Turns a query's syntax tree into a Tantivy query for one searcher."""

    def __init__(self, schema: tantivy.Schema, searcher: tantivy.Searcher) -> None:
        self._schema = schema
        self._searcher = searcher

    def compile(self, query: Query, tree: Filter) -> tantivy.Query:
        """Return the query for everything that a query asks; ``tree`` is its filter as it applies."""
        state = tantivy.Query.term_query(self._schema, "id", STATE_ID, "basic")
        wanted: list[tuple[tantivy.Occur, tantivy.Query]] = [
            (_Must, tantivy.Query.const_score_query(self.condition(tree), 0.0)),
            (_MustNot, state),
        ]
        scored = [self.part(part) for part in self.content_words(query)]
        if scored:
            wanted.append((_Must, tantivy.Query.boolean_query([(_Should, part) for part in scored])))
        wanted += [(_Must, self.part(phrase)) for phrase in query.phrases]
        wanted += [(_MustNot, self.part(part)) for part in query.unwanted]
        return tantivy.Query.boolean_query(wanted)

    @staticmethod
    def content_words(query: Query) -> list[Word | Phrase]:
        """Return the words that carry meaning; all of them where none but stop words were given."""
        kept = [part for part in query.words if isinstance(part, Phrase) or part.text.lower() not in STOP_WORDS]
        return kept or list(query.words)

    def alike(self, text: str) -> tantivy.Query:
        """Return the query for what shares the rarest words of a text; an unknown word can match nothing."""
        stems = dict.fromkeys(stem for stem in terms(text[:_COMPARED]) if stem not in STOP_WORDS)
        counted = sorted((found, stem) for stem in stems if (found := self._searcher.doc_freq("body", stem)))
        rarest = [stem for _, stem in counted[:_RAREST]]
        parts = [(_Should, tantivy.Query.term_query(self._schema, "body", stem)) for stem in rarest]
        return tantivy.Query.boolean_query(parts) if parts else tantivy.Query.empty_query()

    def part(self, part: Word | Phrase) -> tantivy.Query:
        """Return the query for one word or phrase, in whatever reading it is found."""
        stems = terms(part.text)
        choices = [self._text("body", stems), self._boosted(self._text("title", stems), TITLE_BOOST)]
        if isinstance(part, Word):
            if is_compound(part.text) or not part.text.isascii():
                choices.append(self._boosted(self._identifier(part.text), IDENTIFIER_BOOST))
                choices.append(self._all("parts", humps(part.text)))
            elif part.text.isalnum():
                choices.append(self._term("parts", part.text.lower()))
            if part.typing:
                choices.append(self._beginning(part.text))
        return tantivy.Query.disjunction_max_query(choices, 0.3)

    def _text(self, field: str, stems: Sequence[str]) -> tantivy.Query:
        if not stems:
            return tantivy.Query.empty_query()
        if len(stems) == 1:
            return tantivy.Query.term_query(self._schema, field, stems[0])
        return tantivy.Query.phrase_query(self._schema, field, list(stems))

    def _identifier(self, text: str) -> tantivy.Query:
        return self._all("parts", unspaced_pairs(text) or identifiers(text).split()[:1])

    def _all(self, field: str, values: Sequence[str]) -> tantivy.Query:
        if not values:
            return tantivy.Query.empty_query()
        return tantivy.Query.boolean_query([(_Must, self._term(field, value)) for value in dict.fromkeys(values)])

    def _term(self, field: str, value: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, field, value, "basic" if field == "words" else "freq")

    @staticmethod
    def _boosted(query: tantivy.Query, boost: float) -> tantivy.Query:
        return tantivy.Query.boost_query(query, boost)

    def _beginning(self, text: str) -> tantivy.Query:
        """Return the query for a word being typed: the commonest words that begin so, and identifiers that do."""
        exact = terms(text, "exact")
        if not exact:
            return tantivy.Query.empty_query()
        sets = []
        before = [(_Must, self._term("words", word)) for word in exact[:-1]]
        for field, prefix in (("words", exact[-1]), ("parts", text.lower().strip("/"))):
            most = _MOST_COMPLETIONS if len(prefix) > _SHORT_PREFIX else _FEW_COMPLETIONS
            found = [term for term, _ in self._searcher.terms_with_prefix(field, prefix, limit=most)]
            if found:
                begun = tantivy.Query.term_set_query(self._schema, field, found)
                ahead = before if field == "words" else []
                sets.append(tantivy.Query.boolean_query([*ahead, (_Must, begun)]) if ahead else begun)
        if not sets:
            return tantivy.Query.empty_query()
        matched = tantivy.Query.boolean_query([(_Should, part) for part in sets])
        # A completion counts for less than a word that was typed whole.
        return tantivy.Query.const_score_query(matched, 0.5)

    def condition(self, tree: Filter) -> tantivy.Query:  # noqa: PLR0911 - one for each kind of condition
        """Return the query for a filter."""
        match tree:
            case OneOf("id", values):
                return tantivy.Query.term_set_query(self._schema, "id", list(values))
            case OneOf(field, values):
                return self._facts(f"{field}:{value}" for value in values)
            case HasTag(tag):
                return self._facts([f"tag:{fold_tag(tag)}"])
            case Under(namespace):
                return self._facts([f"ns:{namespace}"])
            case Between(field, low, high):
                return self._between(field, low, high)
            case NotThat(part):
                return tantivy.Query.boolean_query(
                    [(_Must, tantivy.Query.all_query()), (_MustNot, self.condition(part))]
                )
            case AllOf(parts):
                compiled = [(_Must, self.condition(part)) for part in parts]
                return tantivy.Query.boolean_query([*compiled, (_Must, tantivy.Query.all_query())])
            case AnyOf(parts):
                return tantivy.Query.boolean_query([(_Should, self.condition(part)) for part in parts])

    def _facts(self, values: Iterable[str]) -> tantivy.Query:
        return tantivy.Query.term_set_query(self._schema, "fact", list(values))

    def _between(self, field: str, low: datetime | int | None, high: datetime | int | None) -> tantivy.Query:
        first = microseconds(low) if isinstance(low, datetime) else low
        last = microseconds(high) if isinstance(high, datetime) else high
        if first is None and last is None:
            return tantivy.Query.exists_query(field)
        return tantivy.Query.range_query(
            self._schema, field, tantivy.FieldType.Integer, first, last, include_lower=True, include_upper=last is None
        )

    def ceiling(self, query: Query) -> float:
        """Return the score that a memory would have that holds every word of the query as densely as can be.

        The sum over the words of BM25's limit, idf * (k1 + 1). It makes scores comparable from query to query.
        """
        total = self._searcher.num_docs
        found = 0.0
        for part in self.content_words(query):
            stems = terms(part.text) or [part.text.lower()]
            found += max(_idf(total, self._searcher.doc_freq("body", stem)) for stem in stems) * (_BM25_K1 + 1)
        return found


def _idf(total: int, holding: int) -> float:
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5))
