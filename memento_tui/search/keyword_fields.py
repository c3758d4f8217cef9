"""The fields of the keyword index, its state document, and the Tantivy query for one word, phrase or fact.

Imports nothing of memento but the text kernel and the scoring: memento-hook reads the index without the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import tantivy

from memento_tui.named_tuple import NamedTuple
from memento_tui.search.ranking import (
    COMPLETION_SCORE,
    COMPLETIONS,
    COMPLETIONS_OF_SHORT_PREFIX,
    IDENTIFIER_BOOST,
    SHORT_PREFIX,
    TIE_BREAKER,
    TITLE_BOOST,
)
from memento_tui.search.scoring import highest_score
from memento_tui.text.terms import (
    ANALYZERS,
    analyzer,
    camel_case_parts,
    character_bigrams,
    identifiers,
    is_compound,
    spaced_pieces,
    terms,
)

__all__ = [
    "STATE_ID",
    "TEXT_VERSION",
    "KeywordIndexState",
    "TermQueryBuilder",
    "context_fact",
    "make_schema",
    "read_state",
    "register_analyzers",
]

TEXT_VERSION = "9"
"""Raised with every change of the text fields or analyzers; an index of another version is rebuilt.

A hook reads no other fields of the index. The whole version, `KeywordIndexState.version`, begins with it and goes on
with a digest of the fields that memories are filtered by.
"""

STATE_ID = "\x01state"
"""The id of the document that holds the state of the index; no record can have it."""


def context_fact(memory_id: str) -> str:
    """Return the fact of a document whose context has words of a memory, so that a purge finds it."""
    return f"after:{memory_id}"


class KeywordIndexState(NamedTuple):
    """The store and the journal entry that the index reflects; ``mark`` tells apart entries of different histories."""

    identity: str
    version: str
    seq: int
    mark: str

    @property
    def text_version(self) -> str:
        """The version of the text fields and analyzers."""
        return self.version.partition("-")[0]


def make_schema(number_fields: Iterable[str]) -> tantivy.Schema:
    """Return the schema: text in three forms, tags, heading, context, facts as prefixed terms, numbers as columns."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("note", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("title", tokenizer_name="stemmed")
    builder.add_text_field("body", tokenizer_name="stemmed")
    builder.add_text_field("tags", tokenizer_name="stemmed")
    builder.add_text_field("head", tokenizer_name="stemmed", index_option="basic")
    builder.add_text_field("context", tokenizer_name="stemmed", index_option="basic")
    builder.add_text_field("words", tokenizer_name="exact", index_option="basic")
    builder.add_text_field("parts", tokenizer_name="whole", index_option="freq")
    builder.add_text_field("fact", tokenizer_name="raw", index_option="basic")
    for column in number_fields:
        builder.add_integer_field(column, fast=True)
    return builder.build()


def register_analyzers(index: tantivy.Index) -> None:
    """Register the analyzers that the schema names."""
    for name in ANALYZERS:
        index.register_tokenizer(name, analyzer(name))


def read_state(searcher: tantivy.Searcher, schema: tantivy.Schema) -> KeywordIndexState | None:
    """Return the state of the index; ``None`` where it was never committed."""
    found = searcher.search(tantivy.Query.term_query(schema, "id", STATE_ID, "basic"), limit=1).hits
    if not found:
        return None
    identity, version, seq, mark, *_ = [*str(searcher.doc(found[0][1])["note"][0]).split(" "), ""]
    return KeywordIndexState(identity, version, int(seq), mark)


_INDEX_OPTIONS = {"words": "basic", "head": "basic", "context": "basic", "fact": "basic"}
"""The fields that record no more of a term than which memories hold it."""

_Must, _Should = tantivy.Occur.Must, tantivy.Occur.Should


class TermQueryBuilder:
    """Makes the queries for one searcher."""

    def __init__(self, schema: tantivy.Schema, searcher: tantivy.Searcher) -> None:
        self._schema = schema
        self._searcher = searcher

    def word(self, text: str, *, typing: bool = False, apart: bool = False) -> tantivy.Query:
        """Return the query for one word in each form in which text is indexed; a ``typing`` one may be longer.

        With ``apart`` the words of a compound name count also where they do not stand side by side.
        """
        choices = self._apart(text) if apart else self._choices(terms(text))
        if is_compound(text) or not text.isascii():
            choices.append(self._boosted(self._identifier(text), IDENTIFIER_BOOST))
            choices.append(self._all("parts", camel_case_parts(text)))
        elif text.isalnum():
            choices.append(self._term("parts", text.lower()))
        if typing:
            choices.append(self._completions(text))
        return tantivy.Query.disjunction_max_query(choices, TIE_BREAKER)

    def phrase(self, text: str) -> tantivy.Query:
        """Return the query for words side by side."""
        return self._unspaced(text) or self._side_by_side(terms(text))

    def stem(self, field: str, stem: str) -> tantivy.Query:
        """Return the query for a stemmed word in one field."""
        return self._term(field, stem)

    def near(self, stems: Sequence[str], distance: int) -> tantivy.Query:
        """Return the query for stems that stand in this order, none of them further than ``distance`` words apart."""
        places = [
            tantivy.Query.phrase_query(self._schema, field, list(stems), slop=distance - 1)
            for field in ("body", "title")
        ]
        return tantivy.Query.boolean_query([(_Should, place) for place in places])

    def facts(self, values: Iterable[str]) -> tantivy.Query:
        """Return the query for memories with one of these facts, such as ``kind:decision``."""
        return self.any_of("fact", values)

    def any_of(self, field: str, values: Iterable[str]) -> tantivy.Query:
        """Return the query for memories that hold one of these terms in a field."""
        # A set of terms would be looked for along the whole dictionary of the field: .3 ms, where a term takes .01.
        found = [self._term(field, value) for value in dict.fromkeys(values)]
        return found[0] if len(found) == 1 else tantivy.Query.boolean_query([(_Should, query) for query in found])

    def ceiling(self, texts: Iterable[str], *, apart: bool = False) -> float:
        """Return the score of a memory that holds every word as densely as can be; ``apart`` is as in `word`."""
        total = self._searcher.num_docs
        score = 0.0
        for text in texts:
            stems = terms(text) or [text.lower()]
            held = (max(self._searcher.doc_freq(field, stem) for field in ("body", "tags")) for stem in stems)
            each = [highest_score(total, holding) for holding in held]
            score += sum(each) if apart else max(each)
        return score

    def _apart(self, text: str) -> list[tantivy.Query]:
        stems = terms(text)
        if len(stems) < 2:  # noqa: PLR2004 - a plain word
            return self._choices(stems)
        plain = [tantivy.Query.disjunction_max_query(self._choices([stem]), TIE_BREAKER) for stem in stems]
        return [tantivy.Query.boolean_query([(_Should, part) for part in plain])]

    def _choices(self, stems: Sequence[str]) -> list[tantivy.Query]:
        title = self._boosted(self._text("title", stems), TITLE_BOOST)
        return [self._text("body", stems), title, self._text("tags", stems)]

    def _text(self, field: str, stems: Sequence[str]) -> tantivy.Query:
        if not stems:
            return tantivy.Query.empty_query()
        if len(stems) == 1:
            return tantivy.Query.term_query(self._schema, field, stems[0])
        return tantivy.Query.phrase_query(self._schema, field, list(stems))

    def _side_by_side(self, stems: Sequence[str]) -> tantivy.Query:
        return tantivy.Query.disjunction_max_query(self._choices(stems), TIE_BREAKER)

    def _identifier(self, text: str) -> tantivy.Query:
        return self._unspaced(text) or self._all("parts", identifiers(text).split()[:1])

    def _unspaced(self, text: str) -> tantivy.Query | None:
        """Return the query for a text with a script without spaces; ``None`` for any other.

        Where the words begin is not known: what holds all pairs of characters holds the text.
        """
        pairs = character_bigrams(text)
        if not pairs:
            return None
        pieces = (stems for piece in spaced_pieces(text) if (stems := terms(piece)))
        held = (self._all("parts", pairs), *map(self._side_by_side, pieces))
        return tantivy.Query.boolean_query([(_Must, part) for part in held])

    def _all(self, field: str, values: Sequence[str]) -> tantivy.Query:
        if not values:
            return tantivy.Query.empty_query()
        return tantivy.Query.boolean_query([(_Must, self._term(field, value)) for value in dict.fromkeys(values)])

    def _term(self, field: str, value: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, field, value, _INDEX_OPTIONS.get(field, "freq"))

    @staticmethod
    def _boosted(query: tantivy.Query, boost: float) -> tantivy.Query:
        return tantivy.Query.boost_query(query, boost)

    def _completions(self, text: str) -> tantivy.Query:
        """Return the query for a word being typed: the commonest words that begin so, and identifiers that do."""
        exact = terms(text, "exact")
        if not exact:
            return tantivy.Query.empty_query()
        sets = []
        before = [(_Must, self._term("words", word)) for word in exact[:-1]]
        for field, prefix in (("words", exact[-1]), ("parts", text.lower().strip("/"))):
            most = COMPLETIONS if len(prefix) > SHORT_PREFIX else COMPLETIONS_OF_SHORT_PREFIX
            found = [term for term, _ in self._searcher.terms_with_prefix(field, prefix, limit=most)]
            if found:
                begun = self.any_of(field, found)
                ahead = before if field == "words" else []
                sets.append(tantivy.Query.boolean_query([*ahead, (_Must, begun)]) if ahead else begun)
        if not sets:
            return tantivy.Query.empty_query()
        matched = tantivy.Query.boolean_query([(_Should, part) for part in sets])
        # A completion counts for less than a word that was typed whole.
        return tantivy.Query.const_score_query(matched, COMPLETION_SCORE)
