"""Find the memories that a prompt is about, by its words in the keyword index.

Imports nothing but the standard library and Tantivy: memento-hook runs it before every prompt.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from pathlib import Path

import tantivy

from memento_tui.named_tuple import NamedTuple
from memento_tui.search.keyword_fields import (
    TEXT_VERSION,
    KeywordIndexState,
    TermQueryBuilder,
    read_state,
    register_analyzers,
)
from memento_tui.search.ranking import (
    BIGRAM_WEIGHT,
    CANDIDATE_CHARACTERS_READ,
    LEAST_SHARE_OF_FEW_WORDS,
    MOST_SALIENT_WORDS,
    MOST_SENTENCES,
    NAME_WEIGHT,
    PROMPT_CANDIDATES,
    SENTENCE_WEIGHT,
    SMALLEST_COUNTED_STORE,
)
from memento_tui.search.scoring import density, idf, perfect_score, saturated
from memento_tui.text.keywords import FEWEST_WORDS, PromptParts, is_filler, is_name
from memento_tui.text.terms import camel_case_parts, character_bigrams, has_identifiers, identifiers, is_compound, terms

__all__ = ["PromptIndex", "WeightedPart", "WordWeights", "stem_counts", "stems_of"]

_VERSION = re.compile(r"[vV]?\d+(?:\.\d+)+")


class WeightedPart(NamedTuple):
    """The words of a part of a prompt, by which a text is scored."""

    words: tuple[str, ...]
    weights: tuple[float, ...]
    """The weight of each word, whether a memory holds it or none."""
    scale: float = 1.0
    """The factor of the score: less than 1 for a sentence out of its context."""

    def score_without_index(self, counts: Mapping[str, int], length: int) -> float:
        """Return the score that does not depend on the length of other memories.

        ``counts`` has how often the memory holds each stem, and ``length`` is its number of words.
        """
        held = [
            weight * density(_count(counts, word), length)
            for word, weight in zip(self.words, self.weights, strict=True)
        ]
        return saturated(sum(held), sum(map(perfect_score, self.weights))) * self.scale

    def share_held(self, stems: AbstractSet[str]) -> float:
        """Return the share of the weight of the words that a text with these stems holds, 0 to 1."""
        held = sum(weight for word, weight in zip(self.words, self.weights, strict=True) if _holds(stems, word))
        return held / sum(self.weights) if self.weights else 0.0

    def words_in(self, stems: AbstractSet[str], subject: AbstractSet[str] = frozenset()) -> list[str]:
        """Return the words that a text with these stems holds; none where they are too few to be about it.

        One plain word, however rare, is shared by chance; a name is not, nor is a word of the ``subject``, the stems of
        the title and the tags, where the prompt has hardly any other. Such a word, and two, are shared by chance all
        the same where they carry little of the weight of what is asked.
        """
        content = [word for word in self.words if not is_filler(word)]
        held = [word for word in content if _holds(stems, word)]
        is_subject = FEWEST_WORDS * len(held) > len(content) and any(_holds(subject, word) for word in held)
        count = len({tuple(terms(word)) for word in held})
        is_few = count <= FEWEST_WORDS and self.share_held(stems) < LEAST_SHARE_OF_FEW_WORDS
        is_enough = (count >= FEWEST_WORDS or is_subject) and not is_few
        return held if is_enough or any(map(is_name, held)) else []


def stem_counts(text: str) -> Counter[str]:
    """Return how often a text holds each stem, and each part of its names."""
    text = text[:CANDIDATE_CHARACTERS_READ]
    found = Counter(terms(text))
    if not has_identifiers(text):
        return found
    names = Counter(word for word in text.split() if not (word.isascii() and word.isalpha()))
    for word, count in names.items():
        for piece in identifiers(word).split():
            found[piece] = max(found[piece], count)
    return found


def stems_of(words: Iterable[str]) -> set[str]:
    """Return the stems of the words, and compound names with their parts, by which texts are compared."""
    found: set[str] = set()
    for word in words:
        found.update(terms(word))
        found.update(identifiers(word).split())
    return found


@lru_cache(maxsize=1_000)
def _forms(word: str) -> list[list[str]]:
    """Return the forms in which a text may hold a word, each as the stems that it then holds all of."""
    if pairs := character_bigrams(word):
        return [pairs]
    stems = terms(word)
    if not is_compound(word):
        return [stems]
    forms = [[word.lower().strip("/")], camel_case_parts(word)]
    # Version 1.4 is not held by a text with a 1 and a 4.
    return forms if any(stem.isdigit() for stem in stems) else [*forms, stems]


def _count(counts: Mapping[str, int], word: str) -> int:
    """Return how often a text holds a word; of one that is several stems, the rarest of them."""
    return max((min(counts.get(stem, 0) for stem in form) for form in _forms(word) if form), default=0)


def _holds(stems: AbstractSet[str], word: str) -> bool:
    return any(form and stems >= set(form) for form in _forms(word))


class WordWeights:
    """The weights of words by how many memories hold them, read from one state of the keyword index."""

    def __init__(self, searcher: tantivy.Searcher) -> None:
        self._searcher = searcher

    def _weighted(self, word: str) -> tuple[str, float]:
        """Return a word and its weight; of a path, its longest end that a memory holds."""
        ends = [word.split("/", cut)[-1] for cut in range(1, word.count("/") + 1)] if "/" in word else []
        versions = [word[1:] if word[0] in "vV" else f"v{word}"] if _VERSION.fullmatch(word) else []
        found = next((form for form in (word, *ends, *versions) if form and self._held(form)), word)
        held = self._held(found)
        weight = idf(max(self._searcher.num_docs, SMALLEST_COUNTED_STORE), held)
        if character_bigrams(found):
            return found, weight if held else BIGRAM_WEIGHT * weight
        is_named = is_name(found) or any(letter.isdigit() for letter in found)
        return found, weight * (NAME_WEIGHT if is_named else 1.0)

    def _held(self, word: str) -> int:
        """Return about how many memories hold a word."""
        if pairs := character_bigrams(word):
            return min(self._searcher.doc_freq("parts", pair) for pair in pairs)
        held = min((self._stem_count(stem) for stem in terms(word)), default=0)
        if not held and is_compound(word):
            held = self._searcher.doc_freq("parts", word.lower().strip("/"))
        return held

    def _stem_count(self, stem: str) -> int:
        """Return about how many memories hold a stem, in the text, or in the title or the tags alone."""
        return max(self._searcher.doc_freq(field, stem) for field in ("body", "title", "tags"))

    def weighted(self, parts: PromptParts) -> list[WeightedPart]:
        """Return the parts of a prompt that are looked for, with the weights of their words."""
        whole = [self._weighted_part(words) for words in parts.whole]
        names = [self._weighted_part([name]) for name in parts.names[:MOST_SENTENCES]]
        sentences = [self._weighted_part(words, SENTENCE_WEIGHT) for words in parts.sentences]
        sentences.sort(key=lambda part: -sum(sorted(part.weights, reverse=True)[:MOST_SALIENT_WORDS]))
        return [*whole, *names, *sentences[:MOST_SENTENCES]]

    def _weighted_part(self, words: Iterable[str], scale: float = 1.0) -> WeightedPart:
        weighted = [self._weighted(word) for word in words]
        return WeightedPart(tuple(word for word, _ in weighted), tuple(weight for _, weight in weighted), scale)


class PromptIndex(WordWeights):
    """The keyword index, opened to be read once.

    Raises:
        ValueError: there is no index, it cannot be read, or it is of another version.

    """

    def __init__(self, directory: Path) -> None:
        if not (directory / "meta.json").is_file():
            raise ValueError("there is no keyword index yet")
        index = tantivy.Index.open(str(directory))
        register_analyzers(index)
        super().__init__(index.searcher())
        self._schema = index.schema
        state = read_state(self._searcher, self._schema)
        if state is None or state.text_version != TEXT_VERSION:
            raise ValueError("the keyword index is of another version")
        self.state: KeywordIndexState = state
        self._queries = TermQueryBuilder(self._schema, self._searcher)

    def candidates(self, parts: Iterable[WeightedPart], own: Iterable[str], others: Iterable[str]) -> dict[str, float]:
        """Return the ids of memories that hold words of a prompt's parts, best first, with their best scores, 0 to 1.

        Memories in one of the namespaces ``others`` are left out, unless they lie in one of ``own``.
        """
        conditions = self._conditions(own, others)
        best: dict[str, float] = {}
        for part in parts:
            for name, score in self._search(part, conditions):
                best[name] = max(best.get(name, 0.0), score)
        return dict(sorted(best.items(), key=lambda found: (-found[1], found[0])))

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
        self, part: WeightedPart, conditions: Sequence[tuple[tantivy.Occur, tantivy.Query]]
    ) -> Iterator[tuple[str, float]]:
        """Yield the ids of memories that hold some of the words of a part, with their scores, 0 to 1."""
        pairs = zip(part.words, part.weights, strict=True)
        queries = [
            # Pairs of characters lie among the compound names, whose field is most often short: its length does not
            # measure a text in such a script. So each word counts as a plain one does in a text of average length.
            tantivy.Query.const_score_query(self._queries.word(word), weight)
            if character_bigrams(word)
            else self._queries.word(word)
            for word, weight in pairs
            if self._held(word)
        ]
        if not queries:
            return
        held = tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])
        query = tantivy.Query.boolean_query([(tantivy.Occur.Must, held), *conditions])
        ceiling = sum(map(perfect_score, part.weights))
        for score, address in self._searcher.search(query, limit=PROMPT_CANDIDATES, count=False).hits:
            yield str(self._searcher.doc(address)["id"][0]), saturated(float(score), ceiling) * part.scale

    def count_holding(self, words: Iterable[str], most: int) -> int:
        """Return how many memories hold every one of some plain words; ``most`` where there are more."""
        alive = self._queries.facts(["status:active", "status:compacted"])
        clauses = [(tantivy.Occur.Must, query) for query in (alive, *map(self._queries.word, words))]
        return len(self._searcher.search(tantivy.Query.boolean_query(clauses), limit=most, count=False).hits)

    def naming(self, paths: Iterable[str]) -> list[str]:
        """Return the ids of memories whose text names a file, a folder or a module by one of these, newest first."""
        # Of a path with a space or a bracket in it only a piece is indexed as a name, and that is another file's.
        names = [
            name for path in paths for name in identifiers(path).split()[:1] if len(name) >= len(path.strip("./_"))
        ]
        if not names:
            return []
        clauses = [
            self._queries.any_of("parts", names),
            self._queries.facts(["status:active", "status:compacted"]),
        ]
        query = tantivy.Query.boolean_query([(tantivy.Occur.Must, clause) for clause in clauses])
        found = self._searcher.search(
            query, limit=PROMPT_CANDIDATES, count=False, order_by_field="updated_at", order=tantivy.Order.Desc
        )
        return [str(self._searcher.doc(address)["id"][0]) for _, address in found.hits]
