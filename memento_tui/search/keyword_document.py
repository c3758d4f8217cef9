"""What the keyword index holds of a memory: one document, with a field for each way of searching it."""

from __future__ import annotations

from typing import Any

import tantivy

from memento_tui.model import Memory
from memento_tui.model.memory_fields import INDEXED_KINDS, declaration_digest, filter_fields, values_getter
from memento_tui.model.validation import fold_tag
from memento_tui.search.keyword_fields import TEXT_VERSION, context_fact
from memento_tui.search.keyword_query import FLAGS, NUMBERS, TEXTS, WORDS
from memento_tui.search.lance_filter import column_number
from memento_tui.search.ranking import HEADING_CHARACTERS
from memento_tui.storage.memory_queries import SessionContext
from memento_tui.text.terms import different_stems, identifiers, searchable, unspaced_characters

__all__ = ["SCHEMA_VERSION", "make_document"]

_word_values, _flag_values, _number_values = (values_getter(part.values()) for part in (WORDS, FLAGS, NUMBERS))

SCHEMA_VERSION = "-".join((TEXT_VERSION, declaration_digest(filter_fields(*INDEXED_KINDS, indexed=True).values())))
"""The version of an index's fields and analyzers; an index of another version is rebuilt."""


def _namespace_levels(namespace: str) -> list[str]:
    """Return a namespace and those that it lies in, outermost first."""
    names = namespace.split("/")
    return ["/".join(names[: depth + 1]) for depth in range(len(names))]


def make_document(memory: Memory, context: SessionContext | None = None) -> tantivy.Document:
    """Return the index's document for a memory, and for what its session wrote before it."""
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
