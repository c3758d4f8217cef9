"""An index of memories in one Markdown file, such as MEMORY.md, parted into statements that stand by themselves.

The rule, which looks at the text's shape only:

- A heading of level 1 to 3 begins a section, and so does the start of the text. What follows a deeper heading belongs
  to the section around it. A section without text below its heading, or with a table that has no row yet, is no
  statement.
- A section whose text is a list of two or more top-level bullets, each of four words or more, gives one statement for
  each bullet. Shorter bullets (``**Site:** example.org``) say something only together, so such a section, like every
  other one, is one statement.
- A bullet that begins with a link to a file beside the index is the entry of that file, not a statement.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Container, Iterable, Iterator
from typing import NamedTuple

import msgspec

from memento_tui.interchange.markdown import heading, without_fences
from memento_tui.interchange.names import one_line
from memento_tui.records.rules import MAX_LINE_LENGTH

__all__ = ["DEEPEST_SECTION", "Entry", "Statement", "statements"]

_BULLET = re.compile(r"[-*+][ \t]+")
_ENTRY = re.compile(r"[-*+][ \t]+\[[^\[\]\n]*\]\(([^()\s]+)\)")
DEEPEST_SECTION = 3
_FEWEST_BULLETS = 2
_FEWEST_WORDS = 4
_LONGEST_LEAD = 80
_TABLE_HEAD = 2
"""Lines: the names of the columns, and the rule below them."""
_NOT_IN_AN_ANCHOR = re.compile(r"[^\w]+")


class Statement(msgspec.Struct, frozen=True):
    """One statement: where it is (unique within its file), what it is about, and its text."""

    anchor: str
    title: str
    section: str
    content: str
    line: int


class Entry(msgspec.Struct, frozen=True):
    """A line of the index that speaks of another file."""

    target: str
    text: str
    line: int


class _Line(NamedTuple):
    number: int
    text: str
    is_open: bool
    """Whether it is text, and not code."""


class _Section(msgspec.Struct):
    names: tuple[str, ...]
    line: int
    heading: str
    lines: list[_Line]

    @property
    def title(self) -> str:
        return one_line(" / ".join(self.names), MAX_LINE_LENGTH - 2 * _LONGEST_LEAD)


_Block = list[_Line]
"""A line that begins at the margin, with the indented and the empty ones after it."""


def statements(text: str, files: Container[str]) -> Iterator[Statement | Entry]:
    """Yield the statements of an index, and its entries for those of ``files`` that it names, section by section."""
    used: dict[str, int] = {}
    for section in _sections(text.replace("\r\n", "\n")):
        blocks: list[_Block] = []
        for block in _blocks(section.lines):
            target = _entry_target(block)
            if target in files:
                yield Entry(target, _text(block), block[0].number)
            else:
                blocks.append(block)
        if _says_something(blocks):
            anchor = _NOT_IN_AN_ANCHOR.sub("-", section.title.lower()).strip("-") or "start"
            used[anchor] = times = used.get(anchor, 0) + 1
            yield from _of_section(section, blocks, anchor if times == 1 else f"{anchor}~{times}")


def _sections(text: str) -> Iterator[_Section]:
    current = _Section((), 1, "", [])
    names: list[tuple[int, str]] = []
    for number, (line, bare) in enumerate(zip(text.split("\n"), without_fences(text).split("\n"), strict=True), 1):
        found = heading(bare)
        if found is None or found[0] > DEEPEST_SECTION:
            current.lines.append(_Line(number, line, bare == line))
            continue
        yield current
        level, words = found
        names = [(above, name) for above, name in names if above < level] + [(level, words)]
        # The heading of level 1 is the file's title: it names its own section and is left out of the others.
        shown = tuple(name for above, name in names if above > 1 or level == 1)
        current = _Section(shown, number, line, [])
    yield current


def _blocks(lines: Iterable[_Line]) -> Iterator[_Block]:
    block: _Block = []
    for line in lines:
        if block and line.is_open and line.text[:1].strip():
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _says_something(blocks: Iterable[_Block]) -> bool:
    lines = [line.text for block in blocks for line in block if line.text.strip()]
    is_empty_table = len(lines) == _TABLE_HEAD and all(line.startswith("|") for line in lines)
    return bool(lines) and not is_empty_table


def _text(block: _Block) -> str:
    return "\n".join(line.text for line in block).strip()


def _entry_target(block: _Block) -> str:
    match = _ENTRY.match(block[0].text) if block[0].is_open else None
    return match[1].removeprefix("./") if match else ""


def _of_section(section: _Section, blocks: list[_Block], anchor: str) -> Iterator[Statement]:
    title = section.title
    bullets = [(block[0].number, content) for block in blocks if _text(block) and (content := _bullet(block))]
    if len(bullets) == sum(bool(_text(block)) for block in blocks) >= _FEWEST_BULLETS:
        for nth, (line, content) in enumerate(bullets, 1):
            lead = one_line(content.split("\n", 1)[0], _LONGEST_LEAD)
            yield Statement(f"{anchor}.{nth}", f"{title}: {lead}" if title else lead, title, content, line)
        return
    content = "\n".join([section.heading, *(line.text for block in blocks for line in block)]).strip("\n")
    yield Statement(anchor, title, title, content, section.line)


def _bullet(block: _Block) -> str:
    """Return the text of a bullet that says enough to stand by itself, else nothing."""
    first, _, rest = _text(block).partition("\n")
    match = _BULLET.match(first)
    if match is None or len(first[match.end() :].split()) < _FEWEST_WORDS:
        return ""
    return f"{first[match.end() :]}\n{textwrap.dedent(rest)}".strip()
