"""Find the sentences of memories that a session's tools returned from outside before the agent wrote them.

Texts are compared by triples of neighbouring words without stop words, so that white space, case, punctuation,
quotation marks, markup and a changed word do not hide that a sentence was taken over. Linear in the transcript.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from memento_tui.maintenance.transcripts.reader import Turn
from memento_tui.maintenance.transcripts.tool_origins import ToolOrigins
from memento_tui.text.fence import without_invisible
from memento_tui.text.sentences import sentences
from memento_tui.text.terms import STOP_WORDS
from memento_tui.text.unspaced import UNSPACED_CHARACTERS

__all__ = ["OutsidePassage", "WrittenText", "outside_passages"]

_WORDS_A_SHINGLE = 3
"""Words, without stop words, in a row that are compared at once."""

_FEWEST_WORDS = 5
"""Words of a sentence, without stop words, below which it is too common to come from anywhere."""

_LEAST_SHARE = 0.6
"""The share of a sentence's shingles that must stand close together in an output.

With these limits 29 of 4,438 paragraphs of real notes (27 times the first line that a host writes into every
``CLAUDE.md``) are found in the documents of seven other projects, and none of 775 memories of agents.
"""

_WORDS_TO_DIFFER = 8
"""Words of a sentence below which all its shingles must: commands of a few words are everybody's."""

_FEWEST_IN_A_ROW = 8
"""Shingles in a row, ten words, that are enough whatever the rest of the sentence says."""

_SLACK = 8
"""Words that a passage may have more than twice those of the sentence."""

_CHARACTERS_COMPARED = 20_000
"""Characters of a memory, from its beginning, that are compared."""

_MAX_SENTENCES = 50
"""Sentences with the same shingle that are followed."""

_MAX_QUOTE = 400
"""Characters of a passage that is quoted."""

_NAME = r"[a-z]{2,10}://[^\s\"'<>)\]]++|[^\W_]++(?>(?:/[\w.@~-]++)+)"
"""A web address or path, which is one word: that two texts name the same page or file says nothing."""

_ASCII_WORD = re.compile(rf"{_NAME}|[a-z0-9]+", re.ASCII)
_WORD = re.compile(rf"{_NAME}|[{UNSPACED_CHARACTERS}]|[^\W_]+")
_MARKUP = re.compile(r"</?[A-Za-z][^<>]{0,300}>|\\[nrt]|^[ \t]{0,8}\d{1,6}(?:\t|\u2192)", re.MULTILINE)
"""Tags, line breaks written as two characters within JSON, and the line numbers that a host puts before a file."""


class WrittenText(NamedTuple):
    """The title and content of a memory that a session wrote."""

    id: str
    text: str


class OutsidePassage(msgspec.Struct, frozen=True):
    """A sentence of a memory, and where a tool returned it."""

    sentence: str
    quote: str
    """The passage as the tool returned it."""
    tool: str
    where: str
    """The address, query, command or path that the tool was asked for."""
    first_line: int
    """The line of the call in the transcript; `last_line` is that of its result."""
    last_line: int
    share: float
    """The share of the sentence's shingles that the passage holds."""


class _Sentence:
    """One sentence of a memory, with its shingles and who said it first."""

    __slots__ = ("memory", "own_line", "passage", "shingles", "text", "users")

    def __init__(self, memory: str, text: str, words: Sequence[str]) -> None:
        self.memory, self.text = memory, text
        self.shingles: dict[tuple[str, ...], int] = {}
        for place, shingle in enumerate(_shingles(words)):
            self.shingles.setdefault(shingle, place)
        self.passage: OutsidePassage | None = None
        self.own_line: int | None = None
        """The first line in which the agent, the project or memento said it."""
        self.users = False
        """Whether the person said it."""

    @property
    def is_from_outside(self) -> bool:
        passage = self.passage
        return passage is not None and not self.users and (self.own_line is None or passage.last_line < self.own_line)


class _Match(NamedTuple):
    sentence: _Sentence
    start: int
    """The first word of the passage; `end` is the one after the last."""
    end: int
    share: float


def outside_passages(
    texts: Iterable[WrittenText], turns: Iterable[Turn], project: str = ""
) -> dict[str, list[OutsidePassage]]:
    """Return the sentences of each memory, by id, that came from outside; ``project`` is the folder of the project.

    A sentence that the person said is the person's. One that the agent, a file of the project or a memory said before
    the tool did is not the tool's.
    """
    found = [sentence for text in texts for sentence in _sentences_of(text)]
    if not found:
        return {}
    index: dict[tuple[str, ...], list[_Sentence]] = defaultdict(list)
    for sentence in found:
        for shingle in sentence.shingles:
            if len(index[shingle]) < _MAX_SENTENCES:
                index[shingle].append(sentence)
    _follow(dict(index), turns, project)
    passages: dict[str, list[OutsidePassage]] = defaultdict(list)
    for sentence in found:
        if sentence.is_from_outside and sentence.passage is not None:
            passages[sentence.memory].append(sentence.passage)
    return dict(passages)


def _follow(index: dict[tuple[str, ...], list[_Sentence]], turns: Iterable[Turn], project: str) -> None:
    origins: ToolOrigins | None = None
    for turn in turns:
        if turn.role != "tool":
            for match in _matches(index, _words(_plain(turn.text))):
                _note_said(match.sentence, turn.first_line, by_user=turn.role == "user")
            continue
        origins = origins or ToolOrigins(project or turn.cwd)
        if turn.call is not None and turn.call.given is not None:
            said = "\n".join(_strings(turn.call.given))
            for match in _matches(index, _words(_plain(said))):
                _note_said(match.sentence, turn.first_line)
        origin = origins.of(turn.call, turn.text, turn.cwd)
        text = _plain(turn.text)
        for match in _matches(index, _words(text)):
            if origin.place != "outside":
                _note_said(match.sentence, turn.last_line)
            elif match.sentence.passage is None:
                tool = "" if turn.call is None else turn.call.tool
                match.sentence.passage = OutsidePassage(
                    match.sentence.text,
                    _quote(text, match),
                    tool,
                    origin.where,
                    turn.first_line,
                    turn.last_line,
                    round(match.share, 2),
                )


def _note_said(sentence: _Sentence, line: int, *, by_user: bool = False) -> None:
    sentence.users |= by_user
    sentence.own_line = line if sentence.own_line is None else min(line, sentence.own_line)


def _sentences_of(text: WrittenText) -> Iterator[_Sentence]:
    plain = _plain(text.text[:_CHARACTERS_COMPARED])
    for start, end in _units(plain):
        words = _words(plain[start:end])
        if len(words) >= _FEWEST_WORDS:
            yield _Sentence(text.id, " ".join(plain[start:end].split())[:_MAX_QUOTE], words)


def _units(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each sentence, and of each line of code or heading between them."""
    place = 0
    for start, end in [*sentences(text), (len(text), len(text))]:
        for line in re.finditer(r"[^\n]+", text[place:start]):
            yield place + line.start(), place + line.end()
        if start < end:
            yield start, end
        place = max(place, end)


def _matches(index: dict[tuple[str, ...], list[_Sentence]], words: Sequence[str]) -> list[_Match]:
    """Return the sentences that a text holds, each once, where most of its shingles stand closest together."""
    hits: dict[_Sentence, list[tuple[int, int]]] = defaultdict(list)
    for place, shingle in enumerate(_shingles(words)):
        if shingle in index:
            for sentence in index[shingle]:
                hits[sentence].append((place, sentence.shingles[shingle]))
    found = (_best_match(sentence, places) for sentence, places in hits.items())
    return [match for match in found if match is not None]


def _best_match(sentence: _Sentence, hits: Sequence[tuple[int, int]]) -> _Match | None:
    total = len(sentence.shingles)
    width = 2 * (total + _WORDS_A_SHINGLE - 1) + _SLACK
    counts: dict[int, int] = defaultdict(int)
    first, best, run, best_run = 0, _Match(sentence, 0, 0, 0.0), 0, _Match(sentence, 0, 0, 0.0)
    longest = 0
    for last, (place, shingle) in enumerate(hits):
        counts[shingle] += 1
        while hits[first][0] < place - width:
            counts[hits[first][1]] -= 1
            if not counts[hits[first][1]]:
                del counts[hits[first][1]]
            first += 1
        if (share := len(counts) / total) > best.share:
            best = _Match(sentence, hits[first][0], place + _WORDS_A_SHINGLE, share)
        follows = last and hits[last - 1] == (place - 1, shingle - 1)
        run = run + 1 if follows else 1
        if run > longest:
            longest = run
            best_run = _Match(sentence, place - run + 1, place + _WORDS_A_SHINGLE, run / total)
    least = _LEAST_SHARE if total + _WORDS_A_SHINGLE - 1 >= _WORDS_TO_DIFFER else 1.0
    if best.share >= least:
        return best
    return best_run if longest >= _FEWEST_IN_A_ROW else None


def _shingles(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return zip(words, words[1:], words[2:], strict=False)


def _plain(text: str) -> str:
    """Return a text without markup and invisible characters, in the Unicode form that compares."""
    if "&" in text:
        text = html.unescape(text)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", without_invisible(text))
    return _MARKUP.sub(" ", text) if "<" in text or "\\" in text or "\t" in text or "\u2192" in text else text


def _words(text: str) -> list[str]:
    """Return the words of a text in lower case, without stop words."""
    found = _ASCII_WORD.findall(text.lower()) if text.isascii() else _WORD.findall(text.casefold())
    return [word for word in found if word not in STOP_WORDS]


def _quote(text: str, match: _Match) -> str:
    """Return the passage of a match as it stands in the text, on one line."""
    spans = [word.span() for word in _WORD.finditer(text.casefold()) if _words(word[0])]
    if len(text) != len(text.casefold()) or match.end > len(spans):
        return match.sentence.text  # the places in lower case are others: what the memory says shows the passage too
    start, end = spans[match.start][0], spans[match.end - 1][1]
    while end < len(text) and text[end] in ".!?\"')":
        end += 1
    return " ".join(text[start:end].split())[:_MAX_QUOTE]


def _strings(value: object) -> Iterator[str]:
    """Yield the texts in the arguments of a call; arguments as JSON in a text are read like any text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
