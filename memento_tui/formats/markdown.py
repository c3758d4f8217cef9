"""Extract headings, links and tags from Markdown text, ignoring code."""

from __future__ import annotations

import re
from urllib.parse import unquote

import msgspec

from memento_tui.text.markdown import code_spans, fenced_spans

__all__ = [
    "NoteLink",
    "find_links",
    "find_tags",
    "find_wikilinks",
    "first_heading",
    "parse_heading",
    "without_code",
    "without_fences",
]

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
