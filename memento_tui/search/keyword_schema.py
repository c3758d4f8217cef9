"""What the keyword index holds of a memory, and how a query becomes a Tantivy query over it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import tantivy

from memento_tui.records import Memory
from memento_tui.records.rules import fold_tag
from memento_tui.search.keyword_layout import STATE_ID
from memento_tui.search.lance_filter import microseconds
from memento_tui.search.language import Phrase, Query, Word
from memento_tui.search.text import STOP_WORDS, identifiers, terms
from memento_tui.search.word_query import WordQueries
from memento_tui.store.filters import AllOf, AnyOf, Between, Filter, HasTag, NotThat, OneOf, Under

__all__ = ["Compiler", "document"]

_COMPARED, _RAREST = 4_000, 10
"""Characters of a text, and words of it, by which memories that are much like it are looked for."""

_FACETS = ("kind", "stability", "source_type", "sensitivity", "tier", "status")
_Must, _Should, _MustNot = tantivy.Occur.Must, tantivy.Occur.Should, tantivy.Occur.MustNot


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
        self._words = WordQueries(schema, searcher)

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
        if isinstance(part, Phrase):
            return self._words.phrase(part.text)
        return self._words.word(part.text, typing=part.typing)

    def condition(self, tree: Filter) -> tantivy.Query:  # noqa: PLR0911 - one for each kind of condition
        """Return the query for a filter."""
        match tree:
            case OneOf("id", values):
                return tantivy.Query.term_set_query(self._schema, "id", list(values))
            case OneOf(field, values):
                return self._words.facts(f"{field}:{value}" for value in values)
            case HasTag(tag):
                return self._words.facts([f"tag:{fold_tag(tag)}"])
            case Under(namespace):
                return self._words.facts([f"ns:{namespace}"])
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

        The sum over the words of BM25's limit. It makes scores comparable from query to query.
        """
        return self._words.ceiling(part.text for part in self.content_words(query))
