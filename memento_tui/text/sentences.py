# ruff: noqa: RUF001 - the marks of many scripts look like those of this one
"""Find where whole sentences begin and end, in Markdown notes and in any script.

Where a full stop may as well end an abbreviation, two sentences stay together: that costs a longer sentence, and the
other mistake would cut one. The libraries that were tried know prose, not notes: they cut names such as ``.NET``, leave
the second half of a Markdown mark behind, and take seconds for a hundred thousand backticks.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

__all__ = ["ABBREVIATIONS", "code_spans", "ends_like_a_sentence", "first_sentence", "is_introduction", "sentences"]

ABBREVIATIONS = frozenset(
    """
    a.k.a a.m abs allg approx bsp bspw bzw ca capt cf d.h dr e.g ed eds env est et evtl ex fig ggf gr hr i.e incl inkl
    jr lt max mdm min mio mlle mme mr mrd mrs ms mt p.ex p.m pág prof resp rev sog sr sra st tel u.a v.a vgl viz vs
    w.r.t z.b z.t zzgl г др напр рис см стр т.д т.е т.к т.п ул
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
"""Words that are written with a full stop which ends no sentence, lower-cased and without their last stop."""

_BEFORE_A_NUMBER = frozenset(
    """
    apr art aug ch dec eq feb jan jul jun mar no nos nov nr núm oct p pp sec sep sept vol №
    """.split()  # noqa: SIM905 - as above
)
_BEFORE_AN_ORDINAL = frozenset(
    ["ab", "am", "beim", "bis", "dem", "den", "der", "des", "die", "im", "seit", "vom", "zum"]
)
"""German: ``am 3. Oktober``."""

_LONGEST_ABBREVIATION = 24
_WRAPPED_WIDTH = 60
"""Columns. A line that ends before was not wrapped to a width; it was ended."""

_CLOSERS = r"""["'”’»›)\]}*_~`」』）】》〉］｝]"""
# The second group needs no white space behind it; a full-width stop between digits is a decimal point.
_SENTENCE_END = re.compile(rf"(?:([.!?…‥؟۔।॥።။។։]++)|((?:[。！？｡]|．(?!\d))++)){_CLOSERS}*+")
_OPENING_MARKS = re.compile(r"""\s*+["'“‘«‹(\[{*_~「『（【¿¡]*+""")
_QUOTED = re.compile(
    r"""
      (?<![^\s(\[]) "[^"\n]{1,300}" (?!\w)
    | “[^“”]{1,300}” | «[^«»]{1,300}» | 「[^「」]{1,300}」 | 『[^『』]{1,300}』
    | \([^()]{1,300}\) | \[[^\[\]]{1,300}\] | （[^（）]{1,300}）
    """,
    re.VERBOSE,
)
_TICKS = re.compile(r"`+")
_BULLET = re.compile(r"[-*+•‣◦▪–—][ \t]+")
_ORDERED_ITEM = re.compile(r"\(?\d{1,3}[.)][ \t]+|[A-Za-z]\)[ \t]+")
_QUOTE = re.compile(r"(?:>[ \t]?)+")
_HEADING = re.compile(r"#{1,6}(?:\s|$)")
_FENCE = re.compile(r"(?:>[ \t]?|[-*+][ \t]+|\d{1,3}[.)][ \t]+)*+(`{3,}+(?![^`\n]*`)|~{3,})")
_TAG_OR_LINK_DEFINITION = re.compile(r"</?[A-Za-z][^<>]{0,300}>|\[[^\[\]]{1,300}\]:[ \t]+\S+(?:[ \t]+['\"(].*)?")
"""A line that is one HTML tag, and one that says where a link leads."""

_LABEL = re.compile(r"[*_`]{0,3}[^\W\d_a-z][^:\n]{0,40}:(?:\s|$|[*_`])")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_LETTER = re.compile(r"[^\W\d_]")
_UNCASED_END = re.compile(rf"(?:[.!?؟۔।॥།။።។։。！？｡．]|[\u0e00-\u0eff]){_CLOSERS}*\Z")

Span = tuple[int, int]


def sentences(text: str) -> list[Span]:
    """Return start and end of every whole sentence, list item and line, in order.

    Headings, front matter, fenced code, comments and rules are left out; so are the marks of lists and quotations,
    but for a task's box, which says whether it is done. Takes time in proportion to the length of the text.
    """
    return list(_sentences(text))


def first_sentence(text: str) -> str:
    """Return the first whole sentence that says something, or the whole text where none is to be found."""
    lead = ""
    for start, end in _sentences(text):
        found = text[start:end]
        if _LETTER.search(found) is None:
            continue
        if not is_introduction(found):
            return found
        lead = lead or found
    return lead or text.strip()


def is_introduction(sentence: str) -> bool:
    """Tell whether a sentence only announces what follows, as ``Steps:`` does; alone it says little."""
    return sentence.rstrip("*_`\"'”’)").endswith((":", "："))


def ends_like_a_sentence(text: str) -> bool:
    """Tell whether a text ends where a sentence does; Thai and Lao have no mark for that, so any of their words may."""
    last = text.rstrip()[-_LONGEST_ABBREVIATION:]
    return _UNCASED_END.search(last) is not None and not last.endswith("..")


def _sentences(text: str) -> Iterator[Span]:
    for block in _blocks(text):
        code = code_spans(text, block[0][0], block[-1][1])
        quoted = [found.span() for found in _QUOTED.finditer(text, block[0][0], block[-1][1])]
        for start, end in _unwrapped(text, block):
            for span in _split(text, start, end, code, quoted):
                if _LETTER_OR_DIGIT.search(text, *span):
                    yield span


def _lines(text: str) -> Iterator[Span]:
    """Yield start and end of every line, without the white space around it."""
    start = 0
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        begin = start + (len(line) - len(line.lstrip())) if bare else start
        yield begin, begin + len(bare)
        start += len(line)


class _Line(NamedTuple):
    """A line of prose without its marks. ``start`` equals ``end`` where a line holds no prose and ends a block."""

    start: int
    end: int
    item: bool = False
    quoted: bool = False
    row: bool = False


def _blocks(text: str) -> Iterator[list[Span]]:
    """Yield the lines of every paragraph, list item and table row that holds prose."""
    block: list[_Line] = []
    for start, end in _lines_outside_code(text):
        line = _parse_line(text, start, end, inside=bool(block) and not block[0].item)
        if line.start == line.end:
            if _is_heading_underline(text, block, start, end):
                block = []
            if block:
                yield [(part.start, part.end) for part in block]
            block = []
            continue
        if block and (line.item or line.quoted != block[0].quoted or line.row or block[0].row):
            yield [(part.start, part.end) for part in block]
            block = []
        block.append(line)
    if block:
        yield [(part.start, part.end) for part in block]


def _parse_line(text: str, start: int, end: int, *, inside: bool) -> _Line:
    quote = _QUOTE.match(text, start, end)
    begin = _past_spaces(text, quote.end() if quote else start, end)
    if _is_block_boundary(text, begin, end):
        return _Line(end, end)
    item = _item_start(text, begin, end, inside=inside)
    return _Line(item or begin, end, bool(item), bool(quote), text[begin] == "|")


def _lines_outside_code(text: str) -> Iterator[Span]:
    """Yield the lines outside fenced code and comments, and an empty one in the place of each of those."""
    fence, comment, last_comment = "", False, text.rfind("-->")
    for start, end in _lines_after_front_matter(text):
        line = text[start:end]
        if fence:
            fence = "" if line.startswith(fence) and not line.strip(fence[0]) else fence
        elif comment:
            comment = "-->" not in line
        elif opening := _FENCE.match(text, start, end):
            fence = opening[1]
            yield end, end
        elif line.startswith("<!--"):
            comment = "-->" not in line and last_comment > start
            yield end, end
        else:
            yield start, end


def _lines_after_front_matter(text: str) -> Iterator[Span]:
    """Yield the lines after the front matter."""
    lines = list(_lines(text))
    if lines and text[slice(*lines[0])] == "---":
        close = next((i for i, span in enumerate(lines[1:200], 1) if text[slice(*span)] in ("---", "...")), 0)
        if close and (close == 1 or any(":" in text[slice(*span)] for span in lines[1:3])):
            lines = lines[close + 1 :]
    yield from lines


def _past_spaces(text: str, start: int, end: int) -> int:
    return end - len(text[start:end].lstrip())


def _item_start(text: str, start: int, end: int, *, inside: bool) -> int:
    """Return where the words of a list item begin, 0 for a line that begins none.

    Inside a paragraph only a bullet or the number 1 does: ``15.`` may be the end of a sentence that was wrapped.
    """
    if mark := _BULLET.match(text, start, end):
        return mark.end()
    mark = _ORDERED_ITEM.match(text, start, end)
    if mark and (not inside or mark[0].strip("(.) \t") == "1"):
        return mark.end()
    return 0


def _is_block_boundary(text: str, start: int, end: int) -> bool:
    """Tell whether a line holds no prose: a blank one, a heading, a rule, a tag, or the line below a table's head."""
    if _HEADING.match(text, start, end) or _TAG_OR_LINK_DEFINITION.fullmatch(text, start, end):
        return True
    return not text[start:end].strip("-=_*+|: \t")


def _is_heading_underline(text: str, block: list[_Line], start: int, end: int) -> bool:
    """Tell whether a line makes the one line above it a heading or a table's head."""
    line = text[start:end]
    if len(block) != 1 or not line or line.strip("-=|: \t"):
        return False
    above = text[block[0].start : block[0].end]
    if "|" in line:
        return "|" in above
    return not block[0].item and not ends_like_a_sentence(above)


def code_spans(text: str, start: int, end: int) -> list[Span]:
    """Return the code spans between two places: each from a run of backticks to the next run of the same length."""
    runs = [found.span() for found in _TICKS.finditer(text, start, end)]
    closing: dict[int, int] = {}
    partner = [-1] * len(runs)
    for index in range(len(runs) - 1, -1, -1):
        length = runs[index][1] - runs[index][0]
        partner[index] = closing.get(length, -1)
        closing[length] = index
    spans, index = [], 0
    while index < len(runs):
        if partner[index] > index:
            spans.append((runs[index][0], runs[partner[index]][1]))
            index = partner[index]
        index += 1
    return spans


def _unwrapped(text: str, block: list[Span]) -> Iterator[Span]:
    """Yield a block's lines, those that were wrapped to a width as one."""
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


def _split(text: str, start: int, end: int, code: list[Span], quoted: list[Span]) -> Iterator[Span]:
    for found in _SENTENCE_END.finditer(text, start, end):
        here = found.end()
        if here <= start or (here < end and not _ends_sentence(text, start, end, found)):
            continue
        if here < end and (_inside(code, here) or _inside(quoted, here)):
            continue
        yield start, here
        start = _past_spaces(text, here, end) if here == end else _skip_spaces(text, here)
    if start < end:
        yield start, end


def _skip_spaces(text: str, start: int) -> int:
    while start < len(text) and text[start].isspace():
        start += 1
    return start


def _inside(spans: list[Span], place: int) -> bool:
    index = bisect_right(spans, (place, 0)) - 1
    return index >= 0 and spans[index][0] < place < spans[index][1]


def _ends_sentence(text: str, start: int, end: int, found: re.Match[str]) -> bool:
    following = text[found.end()]
    if found[2]:
        return found.end() == found.end(2) or following.isspace()
    if not following.isspace():
        return False
    opening = _OPENING_MARKS.match(text, found.end(), end)
    after = text[opening.end()] if opening and opening.end() < end else ""
    if after.islower():
        return False
    return found[1] != "." or not _is_abbreviation(text, start, found.start(1), after)


def _is_abbreviation(text: str, start: int, stop: int, after: str) -> bool:
    """Tell whether the full stop at ``stop`` belongs to the word before it."""
    before = text[max(start, stop - 2 * _LONGEST_ABBREVIATION) : stop].split()
    word = before[-1].lstrip("(\"'“‘[*_") if before else ""
    if not word or len(word) > _LONGEST_ABBREVIATION:
        return False
    if word.isdecimal():
        return len(word) <= 2 and len(before) > 1 and before[-2].lower() in _BEFORE_AN_ORDINAL  # noqa: PLR2004 - a day
    if word.lower() in ABBREVIATIONS or (word.lower() in _BEFORE_A_NUMBER and after.isdecimal()):
        return True
    parts = word.split(".")
    if len(parts) > 1:  # U.S., a.b.
        return all(part.isalpha() and len(part) <= 2 for part in parts)  # noqa: PLR2004 - letters of an abbreviation
    return len(word) == 1 and word.isupper()  # J. Smith
