"""The fields of the keyword index, and the document that says what it reflects. Imports nothing but Tantivy.

Whoever reads the index needs this much; a hook that must answer within milliseconds can afford no more.
"""

from __future__ import annotations

from typing import NamedTuple

import tantivy

from memento_tui.search.text import ANALYZERS, analyzer

__all__ = ["SCHEMA_VERSION", "STATE_ID", "IndexState", "make_schema", "read_state", "register_analyzers"]

SCHEMA_VERSION = "3"
"""Raised with every change of the fields or analyzers; an index of another version is rebuilt."""

STATE_ID = "\x01state"
"""The id of the document that says which journal entry the index reflects; no record can have it."""


class IndexState(NamedTuple):
    """Whose entries the index reflects, and up to which; ``mark`` tells that entry from one of another past."""

    identity: str
    version: str
    seq: int
    mark: str


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


def read_state(searcher: tantivy.Searcher, schema: tantivy.Schema) -> IndexState | None:
    """Return what the index says that it reflects; ``None`` where it says nothing."""
    found = searcher.search(tantivy.Query.term_query(schema, "id", STATE_ID, "basic"), limit=1).hits
    if not found:
        return None
    identity, version, seq, mark, *_ = [*str(searcher.doc(found[0][1])["note"][0]).split(" "), ""]
    return IndexState(identity, version, int(seq), mark)
