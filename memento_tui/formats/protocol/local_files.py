"""Define the JSON objects and the working-memory document in Memento Protocol's local files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from memento_tui.formats.base import format_iso_moment, one_line
from memento_tui.formats.columns import Column, Fields, read_row, write_row
from memento_tui.formats.protocol.columns import (
    consolidated_column,
    item_columns,
    memory_columns,
    parse_row_moment,
    skip_columns,
)
from memento_tui.model.validation import MAX_LINE_LENGTH

__all__ = [
    "DOCUMENT_HEAD",
    "FILE_FORM",
    "ITEM_COLUMNS",
    "LINK_FIELDS",
    "MEMORY_COLUMNS",
    "SKIP_COLUMNS",
    "DocumentBlock",
    "decode_json",
    "encode_json",
    "is_in_order",
    "kept_text",
    "parse_blocks",
    "render_document",
]

FILE_FORM = "file"
"""The name under which the kept data holds what only the files have."""

MEMORY_COLUMNS: tuple[Column, ...] = (
    *memory_columns("created", "expires", format_iso_moment, list),
    consolidated_column("consolidated", on=True, off=None),
)
"""All but `LINK_FIELDS`."""
LINK_FIELDS = ("consolidated_into", "consolidated_from", "linkages")
"""The fields that lead to other memories."""
SKIP_COLUMNS = skip_columns("added", "expires", format_iso_moment)


def _moment_or_other_column(name: str, field: str) -> Column:
    """Return the column of a moment that some files name otherwise; it is written only where it was read."""

    def read(value: object) -> Fields:
        moment: datetime | None = parse_row_moment(value)
        return {} if moment is None else {field: moment}

    return Column(name, read, lambda *_: None, is_optional=True)


ITEM_COLUMNS = item_columns(
    format_iso_moment,
    list,
    _moment_or_other_column("created", "created_at"),
    _moment_or_other_column("updated", "updated_at"),
)

_MAX_TEXT_LENGTH = 500_000
"""Characters of an unusual spelling that are kept."""


def decode_json(text: str) -> Any:  # noqa: ANN401 - JSON
    """Return the value of a JSON text, a mark of its encoding before it or not.

    Raises:
        ValueError: it is no JSON that can be kept; the message says why.

    """
    try:
        return msgspec.json.decode(text.removeprefix("\ufeff"))
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def encode_json(value: object) -> str:
    """Return the JSON of a value as the format's own program writes it."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def is_in_order(columns: tuple[Column, ...], value: Mapping[str, Any]) -> bool:
    """Return whether an object has its fields in the order in which they are written."""
    return list(write_row(columns, *read_row(columns, value))) == list(value)


def kept_text(columns: tuple[Column, ...], value: Mapping[str, Any], text: str) -> dict[str, str]:
    """Return the kept data that lets an object be written with its own text; empty if it would be anyway."""
    own = {name: given for name, given in value.items() if name not in LINK_FIELDS}
    links = {name: value[name] for name in LINK_FIELDS if name in value}
    usual = encode_json({**write_row(columns, *read_row(columns, own)), **links})
    return {} if usual == text or len(text) > _MAX_TEXT_LENGTH else {"text": text}


_HEADING_PREFIX = "## "
_RULE = "---"
DOCUMENT_HEAD = f"# Working Memory\n\n{_RULE}\n"
"""The text before the first section, usually with an empty line more."""


class DocumentBlock(NamedTuple):
    """A section, or the text before the first one: the texts of all blocks, one after the other, are the document."""

    heading: str
    """The line with its end; empty for the text before the first section."""
    lead: str
    content: str
    """Without the white space and the rule around it."""
    tail: str
    line: int = 1
    """The line at which it begins, counted from 1."""

    @property
    def title(self) -> str:
        """The heading's words; a heading may have none."""
        return one_line(self.heading.removeprefix(_HEADING_PREFIX), MAX_LINE_LENGTH) or "untitled"

    @property
    def text(self) -> str:
        """The block as it stands in the document."""
        return "".join(self[:4])


def parse_blocks(text: str) -> Iterator[DocumentBlock]:
    """Yield the blocks of a document. A section without a text is a part of the block before it."""
    held: DocumentBlock | None = None
    for block in _all_blocks(text):
        if held is not None and not block.content:
            held = held._replace(tail=held.tail + block.text)
            continue
        if held is not None and held.text:
            yield held
        held = block
    if held is not None and held.text:
        yield held


def _all_blocks(text: str) -> Iterator[DocumentBlock]:
    heading, first, body = "", 1, [""]
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith(_HEADING_PREFIX):
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


def _block(heading: str, body: str, line: int) -> DocumentBlock:
    text = body.lstrip()
    content = text.rstrip()
    if content == _RULE or content.endswith(f"\n{_RULE}"):
        content = content[: -len(_RULE)].rstrip()
    return DocumentBlock(heading, body[: len(body) - len(text)], content, text[len(content) :], line)


def render_document(parts: Iterable[DocumentBlock | tuple[str, str]], head: str = DOCUMENT_HEAD) -> str:
    """Return the document of blocks as they were read, and of new sections: heading and content."""
    text = head
    for part in parts:
        if isinstance(part, DocumentBlock):
            text += "\n" if text == DOCUMENT_HEAD or (text and not text.endswith("\n")) else ""
            text += part.text
            continue
        before = text.rstrip()
        before = before if before.endswith(_RULE) or not before else f"{before}\n\n{_RULE}"
        text = f"{before}\n\n".lstrip() + f"{_HEADING_PREFIX}{part[0]}\n\n{part[1]}\n"
    return text
