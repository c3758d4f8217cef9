"""Find the blocks of Markdown: paragraphs, headings, table rows, code and HTML, and which characters they are.

The block rules are those of CommonMark with tables, read by markdown-it, but for three. Front matter is no part of any
block. Indented lines are text: notes indent what belongs together far more often than they indent code. And fenced code
ends at the next fence of its kind: in a list, where its lines are often not indented, CommonMark ends it with the item
and takes the closing fence for the beginning of more code.

Extract headings, links and tags from Markdown text, ignoring code.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import unquote

import msgspec

__all__ = [
    "Block",
    "NoteLink",
    "Span",
    "blocks",
    "code_spans",
    "find_links",
    "find_tags",
    "find_wikilinks",
    "first_heading",
    "parse_heading",
    "without_code",
    "without_fences",
]

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


Span = tuple[int, int]
"""Start and end in a text, in characters."""

_LONGEST_FRONT_MATTER = 200
"""Lines among which the end of the front matter is searched."""

_TICKS = re.compile(r"`+")
_FENCE = re.compile(r"[ \t]*(?>(?:>[ \t]*|[-*+][ \t]+|\d{1,9}[.)][ \t]+)*)(`{3,}+(?![^`\n]*`)|~{3,})")
_CLOSING_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})\s*")
_LINE_BREAKS = dict.fromkeys(map(ord, "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"), "\n")
"""Every character at which `str.splitlines` ends a line."""


class Block(NamedTuple):
    """One block of a Markdown text."""

    kind: Literal["paragraph", "heading", "row", "code", "html"]
    """``row`` is one row of a table's body; the head of a table is a heading."""
    lines: tuple[Span, ...]
    """Start and end of each line, without the marks of lists, quotations and headings and the white space around."""
    first_line: int
    """The number of its first line in the text, from 0."""
    last_line: int
    """The number of the line behind its last one."""
    level: int = 0
    """Of a heading, from 1; 0 for a table's head."""
    underlined: bool = False
    """Whether it is a heading only by the rule below it."""


def blocks(text: str) -> list[Block]:
    """Return the blocks of a Markdown text, in order. Takes time in proportion to the length of the text."""
    source = _with_plain_breaks(text)
    if "\n" not in source and source[:1].isalpha():
        # One line that begins with a letter is a paragraph; most memories need no parser.
        return [Block("paragraph", ((0, len(source.rstrip())),), 0, 1)]
    lines = source.split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    skipped = _front_matter_length(lines)
    code = list(_fenced_code(lines, skipped))
    prose = lines[skipped:]
    for first, last in code:
        # White space of the same length, so that every place stays the same.
        prose[first - skipped : last - skipped] = [" " * len(line) for line in lines[first:last]]
    tokens: list[Token] = []
    parser = _parser()
    parser.block.parse("\n".join(prose), parser, {}, tokens)
    found = list(_blocks_of_tokens(tokens, lines, starts, skipped, code))
    found += [Block("code", _spans(lines, starts, first, lines[first:last]), first, last) for first, last in code]
    return sorted(found, key=lambda block: block.first_line) if code else found


def fenced_spans(text: str) -> list[Span]:
    """Return the fenced code of a text, in order, each from the start of its first line to the end of its last one."""
    lines = _with_plain_breaks(text).split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    return [(starts[first], starts[last] - 1) for first, last in _fenced_code(lines, _front_matter_length(lines))]


def _with_plain_breaks(text: str) -> str:
    """Return a text whose lines all end with a line feed; every place in it is the same place in the one given."""
    return text.replace("\r\n", " \n").translate(_LINE_BREAKS)


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


@cache
def _parser() -> MarkdownIt:
    # Its import takes 40 ms, which a command that shows a list of short notes need not pay.
    from markdown_it import MarkdownIt  # noqa: PLC0415

    return MarkdownIt("commonmark").enable("table").disable(["code", "fence"])


def _front_matter_length(lines: Sequence[str]) -> int:
    """Return the number of lines that the front matter takes, its marks among them; 0 where there is none."""
    if lines[0].strip() != "---":
        return 0
    marks = (number for number, line in enumerate(lines[1:_LONGEST_FRONT_MATTER], 1) if line.strip() in ("---", "..."))
    close = next(marks, 0)
    is_closed = close == 1 or any(":" in line for line in lines[1:3])
    return close + 1 if close and is_closed else 0


def _fenced_code(lines: Sequence[str], start: int) -> Iterator[tuple[int, int]]:
    """Yield the first line of each fenced code, and the line behind its last one."""
    opened, fence = -1, ""
    for number in range(start, len(lines)):
        if opened < 0:
            if match := _FENCE.match(lines[number]):
                opened, fence = number, match[1]
        elif (match := _CLOSING_FENCE.fullmatch(lines[number])) and match[1].startswith(fence):
            yield opened, number + 1
            opened = -1
    if opened >= 0:
        yield opened, len(lines)


def _outside_code(first: int, last: int, code: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the runs of lines that are in no fenced code: HTML that nothing closes goes on over it."""
    for code_first, code_last in code[bisect_right(code, first, key=itemgetter(1)) :]:
        if first < code_first and first < last:
            yield first, min(code_first, last)
        first = max(first, code_last)
        if first >= last:
            return
    if first < last:
        yield first, last


def _spans(lines: Sequence[str], starts: Sequence[int], first: int, contents: Sequence[str]) -> tuple[Span, ...]:
    """Return the start and end of each line's content, from line ``first`` on; a content is the end of its line."""
    ends = [starts[number] + len(lines[number].rstrip()) for number in range(first, first + len(contents))]
    return tuple((end - len(part.strip()), end) for end, part in zip(ends, contents, strict=True))


def _blocks_of_tokens(
    tokens: Sequence[Token],
    lines: Sequence[str],
    starts: Sequence[int],
    skipped: int,
    code: Sequence[tuple[int, int]],
) -> Iterator[Block]:
    in_head = underlined = False
    level = 0
    parent = ""
    for token in tokens:
        first, last = (number + skipped for number in token.map or (0, 0))
        if token.type == "inline" and parent == "paragraph_open":
            yield Block("paragraph", _spans(lines, starts, first, token.content.split("\n")), first, last)
        elif token.type == "heading_open":
            underlined, level = token.markup in ("-", "="), int(token.tag[1:])
        elif token.type == "inline" and parent == "heading_open":
            if underlined:
                spans = _spans(lines, starts, first, token.content.split("\n"))
                yield Block("heading", spans, first, last + 1, level, underlined)
            else:
                start = starts[first] + lines[first].rfind(token.content)
                yield Block("heading", ((start, start + len(token.content)),), first, last, level)
        elif token.type in ("thead_open", "thead_close"):
            in_head = token.type == "thead_open"
        elif token.type == "tr_open":
            row = _spans(lines, starts, first, [lines[first].lstrip("> \t")])
            yield Block("heading" if in_head else "row", row, first, last)
        elif token.type == "html_block":
            for start, end in _outside_code(first, min(last, len(lines)), code):
                yield Block("html", _spans(lines, starts, start, lines[start:end]), start, end)
        parent = token.type


_PARAGRAPH_END = re.compile(r"(\n[ \t\r]*\n)")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_WIKILINK = re.compile(r"\[\[([^\[\]\n|#^]*)(?:[#^][^\[\]\n|]*)?(?:\|([^\[\]\n]*))?\]\]")
_MARKDOWN_LINK = re.compile(r"\[([^\[\]\n]*)\]\(<?([^()<>\n]*)>?\)")
_TAG = re.compile(r"(?<![^\s(,;])(?<!\]\()#([\w/-]+)")
_ATTACHMENT = re.compile(
    r"\.(avif|bmp|gif|jpe?g|png|svg|webp|pdf|flac|m4a|mp3|ogg|wav|3gp|webm|mkv|mov|mp4|ogv|canvas|base)$", re.IGNORECASE
)


class NoteLink(msgspec.Struct, frozen=True):
    """A link to another note: its target as it is written, and the words that are shown for it."""

    target: str
    label: str


def without_fences(text: str) -> str:
    """Return the text with the lines of fenced code emptied; the number of lines stays."""
    if "```" not in text and "~~~" not in text:
        return text
    lines = text.split("\n")
    number = position = 0
    for start, end in fenced_spans(text):
        first = number + text.count("\n", position, start)
        number, position = first + text.count("\n", start, end), end
        lines[first : number + 1] = [""] * (number + 1 - first)
    return "\n".join(lines)


def without_code(text: str) -> str:
    """Return the text without fenced code and without code in a line."""
    open_text = without_fences(text)
    if "`" not in open_text:
        return open_text
    return "".join(_without_spans(part) for part in _PARAGRAPH_END.split(open_text))


def _without_spans(paragraph: str) -> str:
    kept, position = [], 0
    for start, end in code_spans(paragraph, 0, len(paragraph)):
        kept.append(paragraph[position:start])
        position = end
    return "` `".join([*kept, paragraph[position:]])


def parse_heading(line: str) -> tuple[int, str] | None:
    """Return the level and the words of a line that is a heading."""
    match = _HEADING.match(line)
    if match is None:
        return None
    words = match[2].strip()
    closed = words.rstrip("#")
    return len(match[1]), (closed.strip() if closed != words and closed[-1:] in ("", " ", "\t") else words)


def first_heading(text: str) -> str:
    """Return the words of the first heading of level 1, or nothing."""
    if "#" not in text:
        return ""
    for line in without_fences(text).split("\n"):
        found = parse_heading(line)
        if found and found[0] == 1 and found[1]:
            return found[1]
    return ""


def find_wikilinks(text: str) -> list[NoteLink]:
    """Return the ``[[links]]`` of a text that holds no code: the note's name without the place in it."""
    found = []
    for match in _WIKILINK.finditer(text):
        target = match[1].strip().rstrip("\\").strip()
        if target and not _ATTACHMENT.search(target):
            found.append(NoteLink(target, (match[2] or "").strip()))
    return found


def find_links(text: str) -> list[NoteLink]:
    """Return the links to notes in a text that holds no code, ``[[so]]`` and ``[so](other.md)``, in their order."""
    found = [(match.start(), link) for match in _MARKDOWN_LINK.finditer(text) if (link := _to_note(match))]
    wiki = [(match.start(), link) for match in _WIKILINK.finditer(text) for link in find_wikilinks(match[0])]
    return [link for _, link in sorted(found + wiki, key=lambda pair: pair[0])]


def _to_note(match: re.Match[str]) -> NoteLink | None:
    words = match[2].split('"', 1)[0].strip()
    target = unquote(words.split("#", 1)[0])
    if not target.lower().endswith(".md") or "://" in target or "\n" in target or "\x00" in target:
        return None
    return NoteLink(target, match[1].strip())


def find_tags(text: str) -> list[str]:
    """Return the ``#tags`` of a text that holds no code; a number alone is none."""
    found = (match[1].strip("/") for match in _TAG.finditer(text))
    return [tag for tag in found if any(letter.isalpha() for letter in tag)]
