"""Find values that changed in otherwise equal lines of two versions of one note: *port 8080*, *port 8081*.

A value is what holds a digit, a name or code. What is told in other words, listed further or left out is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice

import msgspec

from memento_tui.maintenance.contradictions.alignment import Span, tells_an_act
from memento_tui.model import Memory
from memento_tui.text.lexicon import RUN_OUTCOMES, word_set

__all__ = ["ChangedLine", "are_versions", "changed_lines", "note_of"]

_MOST_CHARACTERS = 20_000
_MOST_CHANGED = 40
"""Characters of a text that are read, and lines of it that may be its own: above, it was written anew."""
_MOST_WORDS = 60
_LEAST_EQUAL_OF_NUMBERS, _LEAST_EQUAL_OF_NAMES = 0.5, 0.6
"""The share of two lines, in letters, that is equal where a number differs, and where a name does."""
_LEAST_EQUAL_OF_WORDS = 0.25
"""The same share of their different words, below which two lines are not compared further."""
_LONGEST_VALUE = 3
"""Words of a value."""
_LONG_WORD = 8
_LONGEST_LABEL = 3
"""Words of a label that may be the name of one of many, such as *Phase 3*."""
_LONGEST_QUOTE = 80
_QUOTED_BEFORE = 2
"""Letters of lines that are quoted as a whole, and words before a value that is quoted of longer ones."""

_FENCE = re.compile(r"\s*(?:```|~~~)")
_HEADING = re.compile(r" {0,3}#{1,6}\s")
_MARK = re.compile(r"(?:[\s*+>#│├└─|-]|\[[ xX]\]|\d{1,3}(?:\.\d{1,3})*[.)](?=\s))*")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+(?=[A-Z`*\"(])")
_WORD = re.compile(r"[^\s`*|(),;\"“”\[\]{}<>]++")
_LETTER = re.compile(r"[^\W_]")
_DASH = re.compile(r"[\u2010-\u2015]")
_CODE = re.compile(r"`[^`\n]*`")
_COMMENT = re.compile(r"\s(?:#|//)\s")
_IDENTIFIER = re.compile(r".*?(?:[^\W\d_][_/@.#:\\]|[_/@.#\\][^\W_]|[a-z][A-Z]|[A-Z]{2})")
_LABEL_END = re.compile(r"[`*)\]\s]*(?::(?=[\s*])|\||\u2014|\u2013|->|→|#|-\s|\s\s)")
_MOMENT = re.compile(
    r"[0-9a-f]{7,40}|\d{4}-\d{1,2}(?:-\d{1,2})?|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}:\d{2}|(?:19|20)\d\d"
)
_ISSUE = re.compile(r"(?:[\w/-]*#|PR|MR)\d+")
_STAMPS = word_set(
    "updated modified generated reviewed verified synced created checked changed edited last since commit"
)
"""Words for the moment at which a text was written, which do not belong to its statements."""
_EXAMPLES = word_set("example examples e.g eg sample instance")
_RUN_WORDS = RUN_OUTCOMES | word_set("test tests spec specs check checks case cases assertion assertions")


class ChangedLine(msgspec.Struct, frozen=True):
    """A line in two versions, with the places of its changes and of the words to quote."""

    older: tuple[Span, ...]
    newer: tuple[Span, ...]
    quoted: tuple[Span, Span]


class _Word(msgspec.Struct, frozen=True, gc=False):
    text: str
    low: str
    """The word as it is compared: in lower case, with one kind of dash."""
    start: int
    end: int
    is_code: bool
    is_command: bool
    """Whether it stands in a block of code, outside its comments."""
    is_label: bool
    """Whether it is the last word before a colon or the border of a cell, and so ends the line's label."""


_Line = tuple[_Word, ...]
_Change = tuple[_Line, _Line]


def note_of(memory: Memory) -> tuple[str, str, str]:
    """Return a key that is equal for the versions of a note: its namespace, its title and the file of its import."""
    kept = (value for value in memory.extra.values() if isinstance(value, dict))
    path = next((str(value["path"]) for value in kept if "path" in value), "")
    return memory.namespace, memory.title.casefold(), path


def are_versions(older: Memory, newer: Memory) -> bool:
    """Tell whether one memory is the state of the other's note on a later day."""
    if not older.title or older.created_at.date() >= newer.created_at.date():
        return False
    return note_of(older) == note_of(newer)


def changed_lines(older: str, newer: str) -> list[ChangedLine]:
    """Return the lines of two texts that are equal but for values, in their order."""
    sides = [_lines(text[:_MOST_CHARACTERS]) for text in (older, newer)]
    known = [{_wording(line) for line in side} for side in sides]
    ours, theirs = ([line for line in side if _wording(line) not in known[1 - at]] for at, side in enumerate(sides))
    if max(len(ours), len(theirs)) > _MOST_CHANGED:
        return []
    likeness = [[_likeness(line, other) for other in theirs] for line in ours]
    found = []
    for at, line in enumerate(ours):
        there = max(range(len(theirs)), key=lambda place: likeness[at][place], default=None)
        if there is None or likeness[at][there] < max(row[there] for row in likeness):
            continue  # each is to be the other one's nearest
        other = theirs[there]
        changes = _changed_values(line, other, likeness[at][there])
        if changes and not any(
            tells_an_act(text[side[0].start : side[-1].end]) for text, side in ((older, line), (newer, other))
        ):
            found.append(_changed_line(line, other, changes))
    return found


def _lines(text: str) -> list[_Line]:
    """Return the words of each line, and of each sentence where a line has several, but for what is an example."""
    found: list[_Line] = []
    start, is_fenced, is_example, has_begun = 0, False, False, False
    for line in text.split("\n"):
        end = start + len(line)
        if _FENCE.match(line):
            is_fenced = not is_fenced
        elif line.strip():
            parts = [_words(text, part, is_fenced=is_fenced) for part in _parts(text, start, end)]
            if _introduces_examples(line, parts):
                is_example, has_begun = True, False
            elif is_example:
                has_begun = True
            elif is_fenced or not _HEADING.match(line):  # a heading says what follows, and nothing itself
                found += [words for words in parts if words]
        elif has_begun and not is_fenced:
            is_example = False
        start = end + 1
    return found


def _introduces_examples(line: str, parts: Sequence[_Line]) -> bool:
    """Tell whether a line is the head of a table with a column of examples, or says that some follow."""
    heads = line.lstrip().startswith("|") or line.rstrip("*_ ").endswith(":")
    return heads and any(word.text.casefold() in _EXAMPLES for words in parts for word in words)


def _parts(text: str, start: int, end: int) -> Iterator[Span]:
    mark = _MARK.match(text, start, end)
    start = mark.end() if mark else start
    for found in _SENTENCE_END.finditer(text, start, end):
        yield start, found.start()
        start = found.end()
    yield start, end


def _words(text: str, part: Span, *, is_fenced: bool) -> _Line:
    start, end = part
    comment = _COMMENT.search(text, start, end) if is_fenced else None
    command_end = comment.start() if comment else end if is_fenced else start
    code = [found.span() for found in _CODE.finditer(text, start, end)]
    words = []
    named = (found for found in _WORD.finditer(text, start, end) if _LETTER.search(found[0]))
    for found in islice(named, _MOST_WORDS + 1):
        plain = found[0].rstrip(".:!?'")
        stop = found.start() + len(plain)
        is_command = found.start() < command_end
        is_code = is_command or any(begin <= found.start() < close for begin, close in code)
        is_label = _LABEL_END.match(text, stop, end) is not None
        low = _DASH.sub("-", plain).casefold()
        words.append(_Word(plain, low, found.start(), stop, is_code, is_command, is_label))
    return tuple(words)


def _wording(line: _Line) -> tuple[str, ...]:
    return tuple(word.low for word in line)


def _likeness(line: _Line, other: _Line) -> float:
    """Return the share of the longer line, in letters, that stands in the other one in the same order."""
    ours, theirs = _wording(line), _wording(other)
    total = max(sum(map(_length, ours)), sum(map(_length, theirs)))
    if max(len(ours), len(theirs)) > _MOST_WORDS:
        return 0.0
    if sum(map(_length, set(ours) & set(theirs))) < _LEAST_EQUAL_OF_WORDS * total:
        return 0.0  # without looking at their order, which takes longer
    blocks = SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks()
    return sum(_length(word) for at, _, size in blocks for word in ours[at : at + size]) / total


def _length(word: str) -> int:
    """Return the letters of a word, of a long path as many as of a long word."""
    return min(len(word), _LONG_WORD)


def _changed_values(line: _Line, other: _Line, likeness: float) -> list[_Change]:
    """Return the values that differ between two lines; none where anything else differs too."""
    if likeness < _LEAST_EQUAL_OF_NUMBERS or any(word.text.casefold() in _EXAMPLES for word in line):
        return []
    if _is_dated(line):
        return []
    changes = []
    matcher = SequenceMatcher(None, _wording(line), _wording(other), autojunk=False)
    for name, begin, end, start, stop in matcher.get_opcodes():
        if name == "equal":
            continue
        change = line[begin:end], other[start:stop]
        if (
            not _is_of_values(change, likeness, begins=begin == 0)
            or _is_elsewhere(change, line, other)
            or _is_told_more_fully(change)
        ):
            return []
        if _names_the_line(line, begin, end) or _is_of_a_run(line, begin, end) or _is_stamp(line, change):
            return []
        changes.append(change)
    return changes


def _is_of_values(change: _Change, likeness: float, *, begins: bool) -> bool:
    """Tell whether a number stands for a number or a name for a name, in a command only for its first word."""
    words = [word for side in change for word in side]
    if not all(0 < len(side) <= _LONGEST_VALUE for side in change) or any(_ISSUE.match(word.text) for word in words):
        return False
    if all(any(letter.isdigit() for word in side for letter in word.text) for side in change):
        return True
    names = all(word.is_code or _IDENTIFIER.match(word.text) for word in words)
    return names and likeness >= _LEAST_EQUAL_OF_NAMES and (begins or not any(word.is_command for word in words))


def _is_elsewhere(change: _Change, line: _Line, other: _Line) -> bool:
    """Tell whether a value stands in the other line as well, at another place: the order changed."""
    old, new = ({word.low for word in side} for side in change)
    return old <= set(_wording(other)) or new <= set(_wording(line))


def _is_told_more_fully(change: _Change) -> bool:
    """Tell whether each word only says more of the same: *src/app* for *app*, *red/green/blue* for *red/blue*."""
    return len(change[0]) == len(change[1]) and all(
        _says_more(*sorted((one, other), key=lambda word: len(word.text)))
        for one, other in zip(*change, strict=True)
        if one.low != other.low
    )


def _says_more(one: _Word, other: _Word) -> bool:
    short, long = one.low.strip("./"), other.low.strip("./")
    if one.is_code or other.is_code or "." in long:
        return long.endswith(f"/{short}") or long.startswith(f"{short}.")  # a folder before it, or an ending behind it
    return "/" in long and set(short.split("/")) <= set(long.split("/"))


def _names_the_line(line: _Line, begin: int, end: int) -> bool:
    """Tell whether a change is in what a line is about, its first label: another line of a list, *Phase 3: build*."""
    label = next((at for at, word in enumerate(line[:-1]) if word.is_label), -1)
    if label < end - 1 or (begin > 0 and label >= _LONGEST_LABEL):
        return False
    return label == end - 1 or not line[begin].is_code


def _is_of_a_run(line: _Line, begin: int, end: int) -> bool:
    """Tell whether a plain number counts tests or what came of them, which the next run counts anew."""
    around = (*line[max(begin - 1, 0) : begin], *line[end : end + 2])
    plain = all(word.text.strip("~+").replace(",", "").isdecimal() for word in line[begin:end])
    return plain and any(word.text.casefold() in _RUN_WORDS for word in around)


def _is_stamp(line: _Line, change: _Change) -> bool:
    """Tell whether two days of writing differ: *Last updated: 2026-03-01*."""
    moments = all(_MOMENT.fullmatch(word.text) for side in change for word in side)
    return moments and any(word.text.casefold() in _STAMPS for word in line)


def _is_dated(line: _Line) -> bool:
    """Tell whether a line speaks of its day of writing: *Last updated: May 4 | Version: 6.3*, *As of 2026-03-18*."""
    label = next((at for at, word in enumerate(line) if word.is_label), -1)
    return _wording(line[:2]) == ("as", "of") or (label >= 0 and all(word.low in _STAMPS for word in line[: label + 1]))


def _changed_line(line: _Line, other: _Line, changes: Sequence[_Change]) -> ChangedLine:
    spans = [tuple((change[at][0].start, change[at][-1].end) for change in changes) for at in (0, 1)]
    sides = list(zip((line, other), changes[0], strict=True))
    is_short = all(side[-1].end - side[0].start <= _LONGEST_QUOTE for side in (line, other))
    quoted = [
        (side[0].start, side[-1].end)
        if is_short
        else (side[max(side.index(value[0]) - _QUOTED_BEFORE, 0)].start, value[-1].end)
        for side, value in sides
    ]
    return ChangedLine(spans[0], spans[1], (quoted[0], quoted[1]))
