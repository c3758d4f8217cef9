"""Find the memories that a prompt is about, by its salient words in the keyword index.

Imports nothing but the standard library and Tantivy: memento-hook runs it before every prompt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import NamedTuple

import tantivy

from memento_tui.search.keyword_fields import (
    TEXT_VERSION,
    IndexState,
    TermQueryBuilder,
    read_state,
    register_analyzers,
)
from memento_tui.search.ranking import (
    BIGRAM_WEIGHT,
    MOST_SALIENT_WORDS,
    MOST_SENTENCES,
    NAME_WEIGHT,
    PROMPT_CANDIDATES,
    SENTENCE_WEIGHT,
    UNKNOWN_WORDS_PENALTY,
)
from memento_tui.search.scoring import density, idf, perfect_score, saturated
from memento_tui.text.keywords import FEWEST_WORDS, is_name
from memento_tui.text.terms import character_bigrams, identifiers, is_compound, terms

__all__ = ["PromptHit", "PromptIndex", "stems_of"]


class PromptHit(NamedTuple):
    """A memory that holds salient words of a part of a prompt."""

    id: str
    keyword: float
    """Its score from 0 to 1: as in `memento_tui.search.scoring`, less for a part with words that no memory holds."""
    words: tuple[str, ...]
    """The salient words of the part of the prompt that it fits best."""
    weights: tuple[float, ...] = ()
    """The weight of each of them."""
    scale: float = 1.0
    """The factor of the score that depends on that part."""

    def score_without_index(self, counts: Mapping[str, int], length: int) -> float:
        """Return the score that does not depend on the length of other memories.

        ``counts`` has how often the memory holds each stem, and ``length`` is its number of words.
        """
        held = [
            weight * density(_count(counts, word), length)
            for word, weight in zip(self.words, self.weights, strict=True)
        ]
        return saturated(sum(held), sum(map(perfect_score, self.weights))) * self.scale

    def words_in(self, stems: AbstractSet[str], subject: AbstractSet[str] = frozenset()) -> list[str]:
        """Return the words that a text with these stems holds; none where they are too few to be about it.

        One plain word, however rare, is shared by chance; a name is not, nor is a word of the ``subject``: the stems of
        the title and the tags.
        """
        held = [word for word in self.words if _holds(stems, word)]
        is_enough = len(held) >= FEWEST_WORDS or any(is_name(word) or _holds(subject, word) for word in held)
        return held if is_enough else []


def stems_of(words: Iterable[str]) -> set[str]:
    """Return the stems of the words, and the parts of compound names, by which texts are compared."""
    found: set[str] = set()
    for word in words:
        found.update(terms(word))
        found.update(piece for piece in identifiers(word).split() if piece.isalnum())
    return found


def _count(counts: Mapping[str, int], word: str) -> int:
    """Return how often a text holds a word; of a word in a script without spaces, its rarest pair of characters."""
    pairs = character_bigrams(word)
    found = [counts.get(stem, 0) for stem in pairs or stems_of([word])]
    return min(found) if pairs else max(found, default=0)


def _holds(stems: AbstractSet[str], word: str) -> bool:
    pairs = character_bigrams(word)
    return stems >= set(pairs) if pairs else not stems.isdisjoint(stems_of([word]))


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
        if state is None or state.text_version != TEXT_VERSION:
            raise ValueError("the keyword index is of another version")
        self.state: IndexState = state
        self._queries = TermQueryBuilder(self._schema, self._searcher)

    def _weighted(self, word: str) -> tuple[str, float]:
        """Return a word and its weight; for a path that no memory names, its longest end that one names."""
        weight = self._weight(word)
        ends = [] if weight or "/" not in word else [word.split("/", cut)[-1] for cut in range(1, word.count("/") + 1)]
        return next(((end, found) for end in ends if (found := self._weight(end))), (word, weight))

    def _weight(self, word: str) -> float:
        if pairs := character_bigrams(word):
            held = min(self._searcher.doc_freq("parts", pair) for pair in pairs)
        else:
            held = min((self._stem_count(stem) for stem in terms(word)), default=0)
        if not held and is_compound(word):
            held = self._searcher.doc_freq("parts", word.lower().strip("/"))
        if not held:
            return 0.0
        return idf(self._searcher.num_docs, held) * (NAME_WEIGHT if is_compound(word) else 1.0)

    def _stem_count(self, stem: str) -> int:
        """Return about how many memories hold a stem, in the text or in the title alone."""
        return max(self._searcher.doc_freq(field, stem) for field in ("body", "title"))

    def candidates(self, parts: Sequence[Sequence[str]], own: Iterable[str], others: Iterable[str]) -> list[PromptHit]:
        """Return the memories that hold salient words of a prompt's parts, each once, for the part that it fits best.

        Memories in one of the namespaces ``others`` are left out, unless they lie in one of ``own``.
        """
        weighted = [[self._weighted(word) for word in part] for part in parts]
        weighted.sort(key=lambda part: -sum(sorted((weight for _, weight in part), reverse=True)[:MOST_SALIENT_WORDS]))
        conditions = self._conditions(own, others)
        best: dict[str, PromptHit] = {}
        for part in weighted[:MOST_SENTENCES]:
            known = sorted(((word, weight) for word, weight in part if weight), key=lambda pair: (-pair[1], pair[0]))
            unknown = sum(BIGRAM_WEIGHT if character_bigrams(word) else 1.0 for word, weight in part if not weight)
            scale = 1 - UNKNOWN_WORDS_PENALTY * unknown / (len(known) + unknown)
            scale *= 1.0 if len(parts) == 1 else SENTENCE_WEIGHT
            words, weights = zip(*known[:MOST_SALIENT_WORDS], strict=True) if known else ((), ())
            for name, score in self._search(words, conditions):
                if name not in best or best[name].keyword < score * scale:
                    best[name] = PromptHit(name, score * scale, words, weights, scale)
        return sorted(best.values(), key=lambda hit: (-hit.keyword, hit.id))

    def _conditions(self, own: Iterable[str], others: Iterable[str]) -> list[tuple[tantivy.Occur, tantivy.Query]]:
        must, must_not = tantivy.Occur.Must, tantivy.Occur.MustNot
        alive = self._queries.facts(["status:active", "status:compacted"])
        elsewhere = tantivy.Query.boolean_query(
            [
                (must, self._queries.facts(f"ns:{name}" for name in others)),
                (must_not, self._queries.facts(f"ns:{name}" for name in own)),
            ]
        )
        return [(must, tantivy.Query.const_score_query(alive, 0.0)), (must_not, elsewhere)]

    def _search(
        self, words: Sequence[str], conditions: Sequence[tuple[tantivy.Occur, tantivy.Query]]
    ) -> Iterator[tuple[str, float]]:
        """Yield the ids of memories that hold some of the words, with their scores, 0 to 1."""
        if not words:
            return
        unspaced = {word: self._weight(word) for word in words if character_bigrams(word)}
        queries = [self._queries.word(word) for word in words if word not in unspaced]
        # Pairs of characters lie among the compound names, whose field is most often short: its length
        # does not measure a text in such a script. So each word counts as a plain one does in a text of average length.
        queries += [
            tantivy.Query.const_score_query(self._queries.word(word), weight) for word, weight in unspaced.items()
        ]
        held = tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])
        query = tantivy.Query.boolean_query([(tantivy.Occur.Must, held), *conditions])
        ceiling = self._queries.ceiling(word for word in words if word not in unspaced)
        ceiling += sum(perfect_score(weight) for weight in unspaced.values())
        for score, address in self._searcher.search(query, limit=PROMPT_CANDIDATES, count=False).hits:
            yield str(self._searcher.doc(address)["id"][0]), saturated(float(score), ceiling)

    def naming(self, paths: Iterable[str], kinds: Iterable[str]) -> list[str]:
        """Return the ids of memories of some kinds whose text names a file by one of these paths, newest first."""
        # Of a path with a space or a bracket in it only a piece is indexed as a name, and that is another file's.
        names = [
            name for path in paths for name in identifiers(path).split()[:1] if len(name) >= len(path.strip("./_"))
        ]
        if not names:
            return []
        clauses = [
            tantivy.Query.term_set_query(self._schema, "parts", names),
            self._queries.facts(["status:active", "status:compacted"]),
            self._queries.facts(f"kind:{kind}" for kind in kinds),
        ]
        query = tantivy.Query.boolean_query([(tantivy.Occur.Must, clause) for clause in clauses])
        found = self._searcher.search(
            query, limit=PROMPT_CANDIDATES, count=False, order_by_field="updated_at", order=tantivy.Order.Desc
        )
        return [str(self._searcher.doc(address)["id"][0]) for _, address in found.hits]
