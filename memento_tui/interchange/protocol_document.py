"""The working memory of Memento Protocol as one Markdown document: a head, then sections that begin with ``##``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from memento_tui.interchange.names import one_line
from memento_tui.records.rules import MAX_LINE_LENGTH

__all__ = ["HEAD", "Block", "blocks", "document"]

_SIGN = "## "
_RULE = "---"
HEAD = f"# Working Memory\n\n{_RULE}\n"
"""What comes before the first section, usually with an empty line more."""


class Block(NamedTuple):
    """A section, or what comes before the first one: the text of its parts, one after the other, is the document."""

    heading: str
    """The line with its end; empty for what comes before the first section."""
    lead: str
    content: str
    """Without the white space and the rule around it."""
    tail: str
    line: int = 1
    """Where it begins, counted from 1."""

    @property
    def title(self) -> str:
        """The heading's words; a heading may have none."""
        return one_line(self.heading.removeprefix(_SIGN), MAX_LINE_LENGTH) or "untitled"

    @property
    def text(self) -> str:
        """The block as it stands in the document."""
        return "".join(self[:4])


def blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of a document. A section without a text is a part of the block before it."""
    held: Block | None = None
    for block in _all_blocks(text):
        if held is not None and not block.content:
            held = held._replace(tail=held.tail + block.text)
            continue
        if held is not None and held.text:
            yield held
        held = block
    if held is not None and held.text:
        yield held


def _all_blocks(text: str) -> Iterator[Block]:
    heading, first, body = "", 1, [""]
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith(_SIGN):
            yield _block(heading, "".join(body), first)
            heading, first, body = f"{line}\n", number, []
        else:
            body.append(f"{line}\n")
    # The last line has no end of its own.
    if body:
        body[-1] = body[-1][:-1]
    else:
        heading = heading[:-1]
    yield _block(heading, "".join(body), first)


def _block(heading: str, body: str, line: int) -> Block:
    text = body.lstrip()
    content = text.rstrip()
    if content == _RULE or content.endswith(f"\n{_RULE}"):
        content = content[: -len(_RULE)].rstrip()
    return Block(heading, body[: len(body) - len(text)], content, text[len(content) :], line)


def document(parts: Iterable[Block | tuple[str, str]], head: str = HEAD) -> str:
    """Return the document of blocks as they were read, and of new sections: heading and content."""
    text = head
    for part in parts:
        if isinstance(part, Block):
            text += "\n" if text == HEAD or (text and not text.endswith("\n")) else ""
            text += part.text
            continue
        before = text.rstrip()
        before = before if before.endswith(_RULE) or not before else f"{before}\n\n{_RULE}"
        text = f"{before}\n\n".lstrip() + f"{_SIGN}{part[0]}\n\n{part[1]}\n"
    return text
