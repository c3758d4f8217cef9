"""Define Memento Protocol's columns, which its tables, files and HTTP share, and the objects in its local files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from memento_tui.errors import InvalidInput
from memento_tui.formats import columns
from memento_tui.formats.base import MAX_KIND_LENGTH, format_iso_moment, one_line, usable_tags
from memento_tui.formats.columns import NEVER_EMPTY, Column, Fields, id_column, read_row, text_column, write_row
from memento_tui.formats.protocol.vocabulary import DEFAULT_TYPE, ITEM_CATEGORIES, kind_fields, tag_fields
from memento_tui.model.lists import ITEM_STATUSES, MAX_ITEM_PRIORITY
from memento_tui.model.validation import MAX_LINE_LENGTH
from memento_tui.moments import parse_moment, parse_span

__all__ = [
    "DOCUMENT_HEAD",
    "EXTRA_KEY",
    "FILE_FORM",
    "INACTIVE_STATUSES",
    "ITEM_COLUMNS",
    "LINK_FIELDS",
    "MEMORY_COLUMNS",
    "NO_EXPIRY",
    "SKIP_COLUMNS",
    "DocumentBlock",
    "as_list",
    "category_column",
    "compact_json",
    "consolidated_column",
    "decode_json",
    "encode_json",
    "format_sql_moment",
    "is_in_order",
    "item_columns",
    "kept_text",
    "kind_column",
    "line_column",
    "memory_columns",
    "moment_column",
    "parse_blocks",
    "parse_row_moment",
    "plain_tags_column",
    "priority_column",
    "render_document",
    "skip_columns",
    "status_column",
    "tags_column",
]


EXTRA_KEY = "memento-protocol"
"""The key of ``extra`` for the data that only this format has a place for."""

NO_EXPIRY = "never"
"""The text that is written as the end of a skip that has none."""

INACTIVE_STATUSES = ("consolidated", "superseded", "archived")
"""The statuses that Memento Protocol has one word for: ``consolidated``, not recalled any more."""

_MAX_TITLE_LENGTH = MAX_LINE_LENGTH - 20
"""Characters. Some titles are given a word in front."""
_DATE_START = re.compile(r"\d{4}-\d\d-\d\d")


def memory_columns(
    created: str, expires: str, moment: Callable[[datetime], str], tags: Callable[[Sequence[Any]], Any]
) -> tuple[Column, ...]:
    """Return the columns of a memory that every form has.

    ``created`` and ``expires`` name the columns of these moments; ``moment`` and ``tags`` write a moment of creation
    and a list as the form does.
    """
    return (
        id_column("id"),
        text_column("content", "content"),
        kind_column("type"),
        tags_column("tags", tags),
        moment_column(created, "created_at", moment),
        moment_column(expires, "expires_at", format_iso_moment, is_optional=True),
    )


def skip_columns(added: str, expires: str, moment: Callable[[datetime], str]) -> tuple[Column, ...]:
    """Return the columns of a skip; the parameters are as those of `memory_columns`."""
    return (
        id_column("id"),
        line_column("item", "item"),
        line_column("reason", "reason"),
        moment_column(expires, "expires_at", format_iso_moment, is_optional=True),
        moment_column(added, "created_at", moment),
    )


def item_columns(
    moment: Callable[[datetime], str], tags: Callable[[Sequence[Any]], Any], *others: Column
) -> tuple[Column, ...]:
    """Return the columns of a working item, with ``others`` before its moments."""
    return (
        id_column("id"),
        category_column("category"),
        line_column("title", "title"),
        text_column("content", "content"),
        status_column("status"),
        priority_column("priority"),
        plain_tags_column("tags", tags),
        line_column("next_action", "next_action", empty=None),
        *others,
        moment_column("created_at", "created_at", moment),
        moment_column("updated_at", "updated_at", moment),
    )


def line_column(name: str, field: str, *, empty: str | None = "") -> Column:
    """Return a column whose field holds one line; ``empty`` is how the format writes that there is none."""
    return columns.line_column(name, field, _MAX_TITLE_LENGTH, empty=empty)


def kind_column(name: str) -> Column:
    """Return the column of a memory's type."""
    return Column(name, _read_kind, lambda fields, _: fields.get("kind_raw") or fields.get("kind", DEFAULT_TYPE))


def _read_kind(value: object) -> Fields:
    word = one_line(value, MAX_KIND_LENGTH) if isinstance(value, str) else ""
    return {"kind_raw": "", **kind_fields(word)}


def tags_column(name: str, write: Callable[[Sequence[Any]], Any]) -> Column:
    """Return the column of a memory's tags; ``write`` turns a list into the form's own value."""
    return Column(
        name, _read_tags, lambda fields, _: write([*(fields.get("tags") or ()), *(fields.get("system_tags") or ())])
    )


def _read_tags(value: object) -> Fields:
    parted = tag_fields(usable_tags(word for word in as_list(value) if isinstance(word, str)))
    return {name: tuple(words) for name, words in parted.items()}


def plain_tags_column(name: str, write: Callable[[Sequence[Any]], Any]) -> Column:
    """Return the column of the tags of a record that does not separate provenance from subject."""
    return Column(
        name,
        lambda value: {"tags": usable_tags(word for word in as_list(value) if isinstance(word, str))},
        lambda fields, _: write(list(fields.get("tags") or ())),
    )


def as_list(value: object) -> list[Any]:
    """Return a value that is a list, or the JSON of one, as a list; an empty list for anything else."""
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return []
    return value if isinstance(value, list) else []


def compact_json(values: Any) -> str:  # noqa: ANN401 - a list or an object
    """Return a value as JavaScript writes it: JSON without spaces."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def moment_column(name: str, field: str, write: Callable[[datetime], str], *, is_optional: bool = False) -> Column:
    """Return a column that holds a moment. An optional one that cannot be read means that there is none."""
    return Column(
        name,
        lambda value: _read_moment(value, field, is_optional=is_optional),
        lambda fields, _: (None if is_optional else NEVER_EMPTY) if fields.get(field) is None else write(fields[field]),
    )


def _read_moment(value: object, field: str, *, is_optional: bool) -> Fields:
    moment = parse_row_moment(value)
    return {} if moment is None and not is_optional else {field: moment}


def parse_row_moment(value: object) -> datetime | None:
    """Return the moment that a text names; ``None`` for any other value, a span such as ``7d`` among them."""
    if not isinstance(value, str) or not _DATE_START.match(value.strip()) or parse_span(value) is not None:
        return None
    try:
        return parse_moment(value, "moment")
    except InvalidInput:
        return None


def format_sql_moment(moment: datetime) -> str:
    """Return a moment as SQLite's ``datetime('now')`` writes it, with a fraction where there is one."""
    precision = "microseconds" if moment.microsecond else "seconds"
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(" ", timespec=precision)


def consolidated_column(name: str, on: object, off: object) -> Column:
    """Return the column of whether a memory was consolidated; ``on`` and ``off`` are the values the format writes."""
    return Column(
        name,
        lambda value: {"status": "consolidated" if value in (1, "1", "true") else "active"},
        lambda fields, _: on if fields.get("status") in INACTIVE_STATUSES else off,
        is_optional=off is None,
    )


def category_column(name: str) -> Column:
    """Return the column of a working item's category, which becomes one of `ITEM_CATEGORIES`."""
    return Column(name, _read_category, lambda fields, _: fields.get("category"))


def _read_category(value: object) -> Fields:
    if value in ITEM_CATEGORIES:
        return {"category": value}
    return {"category": "skip_list" if value == "skip" else "session_note"}


def status_column(name: str) -> Column:
    """Return the column of a working item's status."""
    return Column(
        name,
        lambda value: {"status": value if value in ITEM_STATUSES else "active"},
        lambda fields, _: fields.get("status"),
    )


def priority_column(name: str) -> Column:
    """Return the column of a working item's priority."""
    return Column(name, _read_priority, lambda fields, _: fields.get("priority", 0))


def _read_priority(value: object) -> Fields:
    return {"priority": value if type(value) is int and abs(value) <= MAX_ITEM_PRIORITY else 0}


FILE_FORM = "file"
"""The name under which the kept data holds the values that only the files have."""

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
