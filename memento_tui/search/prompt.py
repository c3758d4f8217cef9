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
from memento_tui.search.text import STOP_WORDS, identifiers, is_compound, terms, unspaced_pairs
from memento_tui.search.word_query import WordQueries

__all__ = ["FILLER", "Candidate", "PromptIndex", "content_words", "parts_of", "readable", "stems_of"]

FILLER = frozenset(
    """
    actually add already alright although always another anybody anyone anything anyway approve approved back best
    better bit cannot change changes check code come continue cool correct could done either else enough error errors
    even ever every everybody everyone everything except explain fail failed failing fails file files fine first fix
    fixed following get give go going good great happen happened happening happens hello help hey hi however instead
    issue keep know last let lets like line lines long look looks looking lot lots make makes making many may maybe mean
    meant might minute moment much must need needs neither never new next nice none nope nothing ok okay one ones others
    ours per perfect perhaps please point possible probably problem proceed question quick quickly quite rather read
    ready really redo rerun retry right run running say see several shall show since somebody someone something still
    stop sure take tell test tests thank thanks that's theirs thing things think though time today together tomorrow
    toward try trying two understand unless upon us use used using via wait want wanted way well whats whether within
    without wonder wonder work working works would write wrong yeah yep yes yesterday yet yourself
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
"""What people say to an agent whatever the subject is. It is not looked for, however rare it is in the memories."""

_FOREIGN = frozenset(
    """
    aber als alle auch auf aus bei bis bitte da damit dann das dass dein deine dem den denn der des die dies diese
    diesen dieser dieses doch dort du durch ein eine einem einen einer eines er es etwas für gibt habe haben hast hat
    hier ich ihr im immer ist ja jetzt kann kannst kein keine können mach mache machen man mehr mein meine mich mir mit
    muss müssen nach nein nicht nichts noch nochmal nur ob oder ohne schon sehr sein sich sie sind so soll sollen sollte
    über um und uns unter vom von vor wann war waren warum was weil weiter welche welcher welches wenn wer werden wie
    wieso will wir wird wo wurde zu zum zur danke
    ai alors au aussi aux avec avez bien ce ces cet cette comme comment dans de des donc du elle en encore est et être
    fait faire faut il ils je la le les leur lui ma mais merci mes moi mon ne nous ont où par pas peut plus pour
    pourquoi qu quand que quel quelle qui sa sans ses son sont suis sur ta tes toi ton tout toute tu une vous
    al algo como con cómo cuando cuándo de del donde dónde el ella ellos en eres es esa ese eso esta este esto está
    estoy favor gracias hace hacer hay la las lo los más mi mis muy nada no para pero por porque puede puedes qué que
    quiero se ser si sí sin sobre son su sus también tengo tiene todo tu un una uno y ya yo
    """.split()  # noqa: SIM905 - as above
)
"""The same for German, French and Spanish: mostly what grammar needs."""

_CONTRACTED = re.compile(r"(?:n't|'(?:s|re|ve|ll|d|m))$")
_CUT_OFF = frozenset("ca wo sha ain".split())  # noqa: SIM905 - can't, won't, shan't, ain't
_NO_NAME = re.compile(r"[a-z]+(?:-[a-z]+)*+(?:/[a-z]+)?")
"""Plain words that are joined: ``step-by-step``, ``and/or``. They say no more than any other plain word."""
_IDEOGRAPHS = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\u3005]{2,}|[\u30a1-\u30ff]{2,}|[\uac00-\ud7af]{2,}")
_KANA = re.compile(r"[\u3041-\u30ff]")
_LONGEST_RUN = 4
"""Ideographs that are taken for one Japanese word; a longer run, and one of Chinese, is several."""

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
        held = [word for word in self.words if _holds(stems, word)]
        return held if len(held) >= _FEWEST_WORDS or any(map(_is_name, held)) else []


def content_words(prompt: str) -> list[str]:
    """Return the words of a prompt that could name a subject, each once; none for a trivial prompt or a command."""
    text = readable(prompt)
    if text.startswith(("/", "!", "#")) and "\n" not in text and " " not in text.split("/", 1)[-1].strip():
        return []
    return _content_words(text)


def parts_of(prompt: str) -> list[list[str]]:
    """Return the content words of each part of a prompt that could be about something of its own."""
    words = content_words(prompt)
    parts = [_content_words(sentence) for sentence in _SENTENCE.split(readable(prompt))] if words else []
    parts = [part for part in parts if _is_enough(part) and len(part) < len(words)]
    return [*parts, words] if words and (len(words) <= _SHORT or not parts) else parts


def _is_enough(part: Sequence[str]) -> bool:
    return len(part) >= _FEWEST_WORDS or any(map(_is_name, part))


def readable(prompt: str) -> str:
    """Return what is read of a prompt: all of it, or the beginning and the end of a very long one."""
    text = prompt.strip()
    if len(text) <= _READ_AHEAD + _READ_BEHIND:
        return text
    return f"{text[:_READ_AHEAD]}\n{text[-_READ_BEHIND:]}"


def _content_words(text: str) -> list[str]:
    found: dict[str, None] = {}
    for raw in _SPACES.split(text.replace("’", "'")):  # noqa: RUF001 - what telephones write for an apostrophe
        if unspaced_pairs(raw):
            found.update(dict.fromkeys(_unspaced_words(raw)))
        word = _CONTRACTED.sub("", raw.strip(_EDGES))
        if word and len(word) <= _LONGEST_WORD and _says_something(word.lower()):
            found.setdefault(word)
    return list(found)[:_MOST_WORDS]


def _unspaced_words(text: str) -> Iterator[str]:
    """Yield what could be words in a script that is written without spaces: no hiragana, which is mostly grammar."""
    is_japanese = _KANA.search(text) is not None
    for run in _IDEOGRAPHS.findall(text):
        if _KANA.match(run) or (is_japanese and len(run) <= _LONGEST_RUN):
            yield run
        else:
            yield from unspaced_pairs(run)


def _says_something(word: str) -> bool:
    if not any(character.isalpha() for character in word) or (word.isascii() and len(word) == 1):
        return False
    return not (word in STOP_WORDS or word in FILLER or word in _FOREIGN or word in _CUT_OFF or unspaced_pairs(word))


def _is_name(word: str) -> bool:
    """Tell whether a word is a name that nobody says by chance: an identifier, a path, a joined proper name."""
    return is_compound(word) and _NO_NAME.fullmatch(word) is None


def stems_of(words: Iterable[str]) -> set[str]:
    """Return what a passage's words are compared with: the stems of the words, and their names' parts."""
    found: set[str] = set()
    for word in words:
        found.update(terms(word))
        found.update(piece for piece in identifiers(word).split() if piece.isalnum())
    return found


def _holds(stems: AbstractSet[str], word: str) -> bool:
    pairs = unspaced_pairs(word)
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
        if state is None or state.version != SCHEMA_VERSION:
            raise ValueError("the keyword index is of another version")
        self.state: IndexState = state
        self._queries = WordQueries(self._schema, self._searcher)

    def _weighed(self, word: str) -> tuple[str, float]:
        """Return a word and what it says; of a path that no memory names, the end of it that one does."""
        weight = self._weight(word)
        ends = [] if weight or "/" not in word else [word.split("/", cut)[-1] for cut in range(1, word.count("/") + 1)]
        return next(((end, found) for end in ends if (found := self._weight(end))), (word, weight))

    def _weight(self, word: str) -> float:
        if pairs := unspaced_pairs(word):
            held = min(self._searcher.doc_freq("parts", pair) for pair in pairs)
        else:
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
        weighed = [[self._weighed(word) for word in part] for part in parts]
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
