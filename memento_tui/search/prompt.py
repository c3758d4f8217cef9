"""What a prompt is about: its salient words, and what the keyword index knows of them.

Imports nothing but Tantivy, as `keyword_layout` does: this runs before every prompt that a person sends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import NamedTuple

import tantivy

from memento_tui.search.bm25 import idf, saturated
from memento_tui.search.keyword_layout import SCHEMA_VERSION, IndexState, read_state, register_analyzers
from memento_tui.search.text import STOP_WORDS, identifiers, is_compound, terms
from memento_tui.search.word_query import WordQueries

__all__ = ["Candidate", "PromptIndex", "content_words", "parts_of", "stems_of"]

_FILLER = frozenset(
    """
    actually add already alright also anything approve approved back best better bit change changes check code come
    continue cool correct could done fine first fix following get give go going good great hello help hey hi file files
    happen here instead issue keep know last let lets like look looks looking make makes making maybe mean minute
    moment much need needs new next nice nope now nothing ok okay one ones perfect please point possible problem proceed
    question quick read ready really redo rerun retry right run running say see show something start still stop sure
    take tell test tests thank thanks that's thing things think time today tomorrow try trying two undo understand use
    used using wait want wanted way well whats wonder work working works would write wrong yeah yep yes yesterday
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
"""What people say to an agent whatever the subject is. It is not looked for, however rare it is in the memories."""

_EDGES = ".,;:!?\"'`()[]{}<>*_~|=…“”‘’«»。、，"  # noqa: RUF001 - signs that stand around words
_READ_AHEAD, _READ_BEHIND = 6_000, 2_000
"""Characters of a long prompt that are read: its beginning and its end; what is between was mostly pasted."""
_MOST_WORDS = 400
_SALIENT = 8
"""Words that are looked for: more say less of what the prompt is about than its rarest do."""
_NAME_WEIGHT = 1.5
"""How much more an identifier, a path or a name of several parts says than a plain word of the same rarity."""
_LONGEST_WORD = 80
_CANDIDATES = 24
_SPACES = re.compile(r"\s+")


_SHORT = 12
"""Content words up to which a prompt may be about one thing; a longer one is about several, a sentence for each."""
_MOST_PARTS = 12
_FEWEST_WORDS = 2
"""Content words of a sentence that can be about something; so many of them, too, must a memory hold."""
_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|\n+")

_KNOWN_PART = 0.5
"""How much of a score hangs on the share of a part's words that any memory holds: what is about other things holds few.

This, and the weight of a sentence, were chosen on memories of the engram set with their titles as prompts, against
what people said in LongMemEval, which is about none of them.
"""
_SENTENCE_WEIGHT = 0.9
"""A long prompt has many sentences, each of which may fit something by chance."""


class Candidate(NamedTuple):
    """A memory that holds salient words of a part of a prompt."""

    id: str
    keyword: float
    """Its score from 0 to 1: as in `memento_tui.search.fusion`, less for a part with words that no memory holds."""
    words: tuple[str, ...]
    """The salient words of that part."""

    def is_about(self, stems: AbstractSet[str]) -> list[str]:
        """Return those of the words that a text with these stems holds; none where they are too few to mean it.

        One plain word, however rare, is shared by chance; a name is not.
        """
        held = [word for word in self.words if stems_of([word]) & stems]
        return held if len(held) >= _FEWEST_WORDS or any(map(is_compound, held)) else []


def content_words(prompt: str) -> list[str]:
    """Return the words of a prompt that could name a subject, each once; none for a trivial prompt or a command."""
    text = _readable(prompt)
    if text.startswith(("/", "!", "#")) and "\n" not in text and " " not in text.split("/", 1)[-1].strip():
        return []
    return _content_words(text)


def parts_of(prompt: str) -> list[list[str]]:
    """Return the content words of each part of a prompt that could be about something of its own."""
    words = content_words(prompt)
    parts = [_content_words(sentence) for sentence in _SENTENCE.split(_readable(prompt))] if words else []
    parts = [part for part in parts if len(part) >= _FEWEST_WORDS and len(part) < len(words)]
    return [*parts, words] if words and (len(words) <= _SHORT or not parts) else parts


def _readable(prompt: str) -> str:
    text = prompt.strip()
    if len(text) <= _READ_AHEAD + _READ_BEHIND:
        return text
    return f"{text[:_READ_AHEAD]}\n{text[-_READ_BEHIND:]}"


def _content_words(text: str) -> list[str]:
    found: dict[str, None] = {}
    for raw in _SPACES.split(text):
        word = raw.strip(_EDGES)
        plain = word.lower().removesuffix("'s")
        if word and len(word) <= _LONGEST_WORD and _says_something(plain):
            found.setdefault(word.removesuffix("'s"))
    return list(found)[:_MOST_WORDS]


def _says_something(word: str) -> bool:
    has_letters = any(character.isalpha() for character in word)
    return has_letters and (len(word) > 1 or not word.isascii()) and word not in STOP_WORDS and word not in _FILLER


def stems_of(words: Iterable[str]) -> set[str]:
    """Return what a passage's words are compared with: the stems of the words, and their names' parts."""
    found: set[str] = set()
    for word in words:
        found.update(terms(word))
        found.update(piece for piece in identifiers(word).split() if piece.isalnum())
    return found


class PromptIndex:
    """The keyword index, opened to be read once.

    Raises:
        ValueError: there is no index, it cannot be read, or it is of another version.

    """

    def __init__(self, directory: Path) -> None:
        if not (directory / "meta.json").is_file():
            raise ValueError("there is no keyword index yet")
        index = tantivy.Index.open(str(directory))
        register_analyzers(index)
        self._schema = index.schema
        self._searcher = index.searcher()
        state = read_state(self._searcher, self._schema)
        if state is None or state.version != SCHEMA_VERSION:
            raise ValueError("the keyword index is of another version")
        self.state: IndexState = state
        self._queries = WordQueries(self._schema, self._searcher)

    def _weight(self, word: str) -> float:
        held = min((self._searcher.doc_freq("body", stem) for stem in terms(word)), default=0)
        if not held and is_compound(word):
            held = self._searcher.doc_freq("parts", word.lower().strip("/"))
        if not held:
            return 0.0
        return idf(self._searcher.num_docs, held) * (_NAME_WEIGHT if is_compound(word) else 1.0)

    def candidates(
        self, parts: Sequence[Sequence[str]], places: Iterable[str], others: Iterable[str]
    ) -> list[Candidate]:
        """Return the memories that hold salient words of a prompt's parts, each once, for the part that it fits best.

        What lies in one of the namespaces ``others`` is left out, unless it lies in one of ``places``.
        """
        weighed = [[(word, self._weight(word)) for word in part] for part in parts]
        weighed.sort(key=lambda part: -sum(sorted((weight for _, weight in part), reverse=True)[:_SALIENT]))
        conditions = self._conditions(places, others)
        best: dict[str, Candidate] = {}
        for part in weighed[:_MOST_PARTS]:
            known = sorted(((word, weight) for word, weight in part if weight), key=lambda pair: (-pair[1], pair[0]))
            scale = 1 - _KNOWN_PART * (1 - len(known) / len(part))
            scale *= 1.0 if len(parts) == 1 else _SENTENCE_WEIGHT
            words = tuple(word for word, _ in known[:_SALIENT])
            for name, score in self._holding(words, conditions):
                if name not in best or best[name].keyword < score * scale:
                    best[name] = Candidate(name, score * scale, words)
        return sorted(best.values(), key=lambda one: (-one.keyword, one.id))

    def _conditions(self, places: Iterable[str], others: Iterable[str]) -> list[tuple[tantivy.Occur, tantivy.Query]]:
        must, must_not = tantivy.Occur.Must, tantivy.Occur.MustNot
        alive = self._queries.facts(["status:active", "status:compacted"])
        elsewhere = tantivy.Query.boolean_query(
            [
                (must, self._queries.facts(f"ns:{name}" for name in others)),
                (must_not, self._queries.facts(f"ns:{name}" for name in places)),
            ]
        )
        return [(must, tantivy.Query.const_score_query(alive, 0.0)), (must_not, elsewhere)]

    def _holding(
        self, words: Sequence[str], conditions: Sequence[tuple[tantivy.Occur, tantivy.Query]]
    ) -> Iterator[tuple[str, float]]:
        """Yield the ids of memories that hold some of the words, each with its score from 0 to 1."""
        if not words:
            return
        held = tantivy.Query.boolean_query([(tantivy.Occur.Should, self._queries.word(word)) for word in words])
        query = tantivy.Query.boolean_query([(tantivy.Occur.Must, held), *conditions])
        ceiling = self._queries.ceiling(words)
        for score, address in self._searcher.search(query, limit=_CANDIDATES, count=False).hits:
            yield str(self._searcher.doc(address)["id"][0]), saturated(float(score), ceiling)

    def naming(self, paths: Iterable[str], kinds: Iterable[str]) -> list[str]:
        """Return the ids of memories of some kinds whose text names a file by one of these paths, newest first."""
        names = [name for path in paths for name in identifiers(path).split()[:1]]
        if not names:
            return []
        wanted = [
            tantivy.Query.term_set_query(self._schema, "parts", names),
            self._queries.facts(["status:active", "status:compacted"]),
            self._queries.facts(f"kind:{kind}" for kind in kinds),
        ]
        query = tantivy.Query.boolean_query([(tantivy.Occur.Must, part) for part in wanted])
        found = self._searcher.search(
            query, limit=_CANDIDATES, count=False, order_by_field="updated_at", order=tantivy.Order.Desc
        )
        return [str(self._searcher.doc(address)["id"][0]) for _, address in found.hits]
