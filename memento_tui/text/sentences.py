# ruff: noqa: RUF001 - the marks of many scripts look like those of this one
"""Find the sentences of texts, in Markdown notes and in any script, and the statements that another text lacks.

Where a full stop may as well end an abbreviation, two sentences stay together: that costs a longer sentence, and the
other mistake would cut one. Sentence splitters for prose cut names such as ``.NET``, leave the second half of a
Markdown mark behind, and take seconds for a hundred thousand backticks.

A statement is a sentence, or a line outside of prose, by its words, numbers, names and negations.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import msgspec

from memento_tui.text.lexicon import ABBREVIATIONS, ABBREVIATIONS_BEFORE_A_NUMBER, WORDS_BEFORE_A_DAY, count_negations
from memento_tui.text.markdown import Block, Span, blocks, code_spans
from memento_tui.text.terms import STOP_WORDS, compared_terms

__all__ = [
    "TextStatement",
    "ends_like_a_sentence",
    "first_sentence",
    "is_introduction",
    "missing_statements",
    "sentences",
    "split_paragraph",
    "statements",
]


_READ_FIRST = 20_000
"""Characters that are read first of a long text; a first sentence within their first half is taken."""

_LONGEST_ABBREVIATION = 24
_WRAPPED_WIDTH = 60
"""Columns. A shorter line was ended by its writer, not wrapped to a width."""

_CLOSERS = r"""["'”’»›)\]}*_~`」』）】》〉］｝]"""
# The second group needs no white space behind it; a full-width stop between digits is a decimal point.
_SENTENCE_END = re.compile(rf"(?:([.!?…‥؟۔।॥።။។։]++)|((?>(?:[。！？｡]|．(?!\d))+))){_CLOSERS}*+")
_OPENING_MARKS = re.compile(r"""\s*+["'“‘«‹(\[{*_~「『（【¿¡]*+""")
_QUOTED = re.compile(
    r"""
      (?<![^\s(\[]) "[^"\n]{1,300}" (?!\w)
    | “[^“”]{1,300}” | «[^«»]{1,300}» | 「[^「」]{1,300}」 | 『[^『』]{1,300}』
    | \([^()]{1,300}\) | \[[^\[\]]{1,300}\] | （[^（）]{1,300}）
    """,
    re.VERBOSE,
)
_ITEM_MARK = re.compile(r"[-*+•‣◦▪–—][ \t]+|(\(?\d{1,3}[.)]|[A-Za-z]\))[ \t]+")
"""The marks of list items, those among them that people type and Markdown does not know."""

_TAG_OR_LINK_DEFINITION = re.compile(r"</?[A-Za-z][^<>]{0,300}>|\[[^\[\]]{1,300}\]:[ \t]+\S+(?:[ \t]+['\"(].*)?")
"""A line that is one HTML tag or one link definition."""

_LABEL = re.compile(r"[*_`]{0,3}[^\W\d_a-z][^:\n]{0,40}:(?:\s|$|[*_`])")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_LETTER = re.compile(r"[^\W\d_]")
_UNCASED_END = re.compile(rf"(?:[.!?؟۔।॥།။።។։。！？｡．]|[\u0e00-\u0eff]){_CLOSERS}*\Z")


def sentences(text: str) -> list[Span]:
    """Return start and end of every sentence, list item and line of prose, in order.

    Headings, front matter, fenced code, comments and rules are left out, and so are the marks of lists and quotations.
    The box of a task stays, since it says whether the task is done. Takes time in proportion to the length of the text.
    """
    return list(_sentences(text))


def first_sentence(text: str) -> str:
    """Return the first sentence with a letter that is no introduction, or the whole text where there is none."""
    lead = ""
    # Its blocks are told apart by reading all of a text, and the beginning of a long one nearly always suffices.
    for length in (_READ_FIRST, len(text)) if len(text) > _READ_FIRST else (len(text),):
        for start, end in _sentences(text[:length]):
            found = text[start:end]
            if length < len(text) and 2 * end > length:
                break
            if _LETTER.search(found) is None:
                continue
            if not is_introduction(found):
                return found
            lead = lead or found
    return lead or text.strip()


def is_introduction(sentence: str) -> bool:
    """Tell whether a sentence only introduces the next one, as ``Steps:`` does."""
    return sentence.rstrip("*_`\"'”’)").endswith((":", "："))


def ends_like_a_sentence(text: str) -> bool:
    """Tell whether a text ends with the end of a sentence, which in Thai and Lao any word may be."""
    last = text.rstrip()[-_LONGEST_ABBREVIATION:]
    return _UNCASED_END.search(last) is not None and not last.endswith("..")


def split_paragraph(text: str, start: int, end: int, *, is_typed: bool = False) -> Iterator[Span]:
    """Yield the sentences of one paragraph.

    ``is_typed``: the text was typed in haste, so a lower-case letter may begin a sentence.
    """
    code = code_spans(text, start, end)
    quoted = [found.span() for found in _QUOTED.finditer(text, start, end)]
    yield from _split(text, start, end, code, quoted, is_typed=is_typed)


def _sentences(text: str) -> Iterator[Span]:
    for block in blocks(text):
        for lines in _paragraphs(text, block):
            code = code_spans(text, lines[0][0], lines[-1][1])
            quoted = [found.span() for found in _QUOTED.finditer(text, lines[0][0], lines[-1][1])]
            for start, end in _unwrapped(text, lines):
                for span in _split(text, start, end, code, quoted):
                    if _LETTER_OR_DIGIT.search(text, *span):
                        yield span


def _paragraphs(text: str, block: Block) -> Iterator[list[Span]]:
    """Yield the lines of prose of a block, apart for each list item that Markdown does not know."""
    if not _is_prose(text, block):
        return
    found: list[Span] = []
    is_list = False
    for start, end in block.lines:
        is_row = text.startswith("|", start)
        no_prose = _TAG_OR_LINK_DEFINITION.fullmatch(text, start, end) or not text[start:end].strip("-=_*+|: \t")
        mark = None if no_prose else _ITEM_MARK.match(text, start, end)
        # Within a paragraph, "15." may be the end of a sentence that was wrapped.
        is_item = mark is not None and (not mark[1] or not found or is_list or mark[1].strip("(.)") == "1")
        if found and (no_prose or is_item or is_row or block.kind == "html"):
            yield found
            found = []
        if not no_prose:
            found.append((mark.end() if mark and is_item else start, end))
            is_list = is_item or (is_list and len(found) > 1)
        if found and is_row:
            yield found
            found = []
    if found:
        yield found


def _is_prose(text: str, block: Block) -> bool:
    if block.kind == "heading":
        # A rule below a whole sentence is a rule.
        return block.underlined and (len(block.lines) > 1 or ends_like_a_sentence(text[slice(*block.lines[0])]))
    if block.kind == "html":
        return not text.startswith("<!--", block.lines[0][0])
    return block.kind != "code"


def _unwrapped(text: str, block: list[Span]) -> Iterator[Span]:
    """Yield start and end of each line of a block; lines that were wrapped to a width are joined."""
    start, end = block[0]
    for line, following in pairwise(block):
        if not _continues(text, line, following):
            yield start, end
            start = following[0]
        end = following[1]
    yield start, end


def _continues(text: str, line: Span, following: Span) -> bool:
    first, last = text[following[0]], text[line[1] - 1]
    if first.islower() or last in ",;，、":
        return True
    written = text[slice(*line)]
    width = len(written) if written.isascii() else len(written) + sum(letter > "\u2e7f" for letter in written)
    return width >= _WRAPPED_WIDTH and last not in ":：" and not _LABEL.match(text, *following)


def _split(
    text: str, start: int, end: int, code: list[Span], quoted: list[Span], *, is_typed: bool = False
) -> Iterator[Span]:
    for found in _SENTENCE_END.finditer(text, start, end):
        here = found.end()
        if here <= start or (here < end and not _ends_sentence(text, start, end, found, is_typed=is_typed)):
            continue
        if here < end and (_inside(code, here) or _inside(quoted, here)):
            continue
        yield start, here
        start = here if here == end else _skip_spaces(text, here)
    if start < end:
        yield start, end


def _skip_spaces(text: str, start: int) -> int:
    while start < len(text) and text[start].isspace():
        start += 1
    return start


def _inside(spans: list[Span], place: int) -> bool:
    index = bisect_right(spans, (place, 0)) - 1
    return index >= 0 and spans[index][0] < place < spans[index][1]


def _ends_sentence(text: str, start: int, end: int, found: re.Match[str], *, is_typed: bool) -> bool:
    following = text[found.end()]
    if found[2]:
        return found.end() == found.end(2) or following.isspace()
    if not following.isspace():
        return False
    opening = _OPENING_MARKS.match(text, found.end(), end)
    after = text[opening.end()] if opening and opening.end() < end else ""
    if after.islower() and not is_typed:
        return False
    return found[1] != "." or not _is_abbreviation(text, start, found.start(1), after, is_typed=is_typed)


def _is_abbreviation(text: str, start: int, stop: int, after: str, *, is_typed: bool) -> bool:
    """Tell whether the full stop at ``stop`` belongs to the word before it."""
    before = text[max(start, stop - 2 * _LONGEST_ABBREVIATION) : stop].split()
    word = before[-1].lstrip("(\"'“‘[*_") if before else ""
    if not word or len(word) > _LONGEST_ABBREVIATION:
        return False
    if word.isdecimal():
        # The number of an item begins it; after some words a day follows.
        return len(word) <= 2 and (len(before) == 1 or before[-2].lower() in WORDS_BEFORE_A_DAY)  # noqa: PLR2004 - a day
    if word.lower() in ABBREVIATIONS or (word.lower() in ABBREVIATIONS_BEFORE_A_NUMBER and after.isdecimal()):
        return True
    parts = word.split(".")
    if len(parts) > 1:  # U.S., a.b.
        return all(part.isalpha() and len(part) <= 2 for part in parts)  # noqa: PLR2004 - letters of an abbreviation
    return len(word) == 1 and (word.isupper() or (is_typed and word.isalpha()))  # J. Smith


_MOST_CHARACTERS = 20_000
"""Characters of a text that are read; a longer one is read up to there."""

_MARKED_WORD = re.compile(r"[\w./:-]+")
_EXACT = re.compile(r"\d|\w[._/]\w")
"""Match in a word that is exact: a number, version, path or name with a mark in it. `terms` parts them, and a part of a
path is another path."""

_WORDS = re.compile(r"\w")
_UNMARKED = re.compile(r"[^\s`]+")
_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})")
_BEFORE_A_COMMAND = re.compile(r"^[^\w$./~-]+")
"""The signs before the words of a line of code: spaces, and the lines that draw a tree."""


class TextStatement(msgspec.Struct, frozen=True):
    """A sentence of a text, or a line outside its prose: a heading, a command, a row of a table."""

    text: str
    words: frozenset[str]
    """The stems of its words, without the words of grammar."""
    exact: frozenset[str]
    """Its numbers, versions, paths and names with marks in them, as they are written."""
    negations: int
    commands: frozenset[str] = frozenset()
    """Its pieces of code of several words. *just test* and *make test* differ in a word of grammar alone."""
    is_code: bool = False
    """Whether it is a line of fenced code, which with more words is another command."""

    def is_made_by(self, other: TextStatement) -> bool:
        """Tell whether another statement says all that this one, which has words, says."""
        return (
            self.words <= other.words
            and self.exact <= other.exact
            and self.negations == other.negations
            and self._commands_stand_in(other)
        )

    def _commands_stand_in(self, other: TextStatement) -> bool:
        if self.is_code:
            return self.commands <= other.commands
        return not self.commands or all(f" {command} " in other.plain for command in self.commands)

    @property
    def plain(self) -> str:
        """The words and the marks in them, between single spaces, without the marks of code."""
        return f" {' '.join(_UNMARKED.findall(self.text))} "


@lru_cache(maxsize=512)
def statements(text: str) -> tuple[TextStatement, ...]:
    """Return the statements of a text in their order."""
    return tuple(_statement(part, is_code=is_code) for part, is_code in _parts(text[:_MOST_CHARACTERS]))


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each part of a text, and whether it is a line of fenced code."""
    reached, fenced = 0, False
    for start, end in [*sentences(text), (len(text), len(text))]:
        for line in text[reached:start].splitlines():
            if _FENCE.match(line):
                fenced = not fenced
            # What stands between two sentences is mostly the marks of a list.
            if len(_WORDS.findall(line)) > 1:
                yield line.strip(), fenced and not line.lstrip().startswith("#")
        if text[start:end].strip():
            yield text[start:end], False
        reached = max(reached, end)


def _statement(text: str, *, is_code: bool = False) -> TextStatement:
    words = frozenset(stem for stem in compared_terms(text) if stem not in STOP_WORDS)
    marked = _MARKED_WORD.findall(text.casefold())
    exact = frozenset(word.strip("./:-") for word in marked if _EXACT.search(word))
    return TextStatement(
        text, words, exact, count_negations(text), frozenset(_commands(text, is_code=is_code)), is_code
    )


def _commands(text: str, *, is_code: bool) -> Iterator[str]:
    if is_code:
        yield " ".join(_BEFORE_A_COMMAND.sub("", text).split())
        return
    for start, end in code_spans(text, 0, len(text)) if "`" in text else ():
        command = " ".join(_UNMARKED.findall(text[start:end]))
        if " " in command:
            yield command


class _StatementIndex:
    """The statements of a text, found by their words, numbers and names."""

    def __init__(self, text: str) -> None:
        self._plain: set[str] = set()
        self._by_part: dict[str, list[TextStatement]] = {}
        for one in statements(text):
            self._plain.add(one.plain)
            for part in one.words | one.exact:
                self._by_part.setdefault(part, []).append(one)

    def holds(self, statement: TextStatement) -> bool:
        """Tell whether one of them says all of a statement; only those with its rarest word are looked at."""
        parts = [self._by_part.get(part, []) for part in statement.words | statement.exact]
        if not parts:  # words of grammar alone
            return statement.plain in self._plain
        return any(statement.is_made_by(one) for one in min(parts, key=len))


def missing_statements(text: str, other: str) -> Sequence[TextStatement]:
    """Return the statements of a text that another text does not make, and the lines of its unread end not in there."""
    index = _StatementIndex(other)
    missing = [one for one in statements(text) if not index.holds(one)]
    if len(text) > _MOST_CHARACTERS:
        lines = {line.strip() for line in other.splitlines()}
        end = text[text.rfind("\n", 0, _MOST_CHARACTERS) + 1 :].splitlines()
        missing += [_statement(line.strip()) for line in end if _WORDS.search(line) and line.strip() not in lines]
    return missing
