"""Validate the fields that records share (ids, text, tags, namespaces); convert plain values to a typed record.

Every text that a record holds, read from the record's own declaration, so that no field is ever forgotten.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from functools import cache
from operator import attrgetter
from typing import Any, Literal, TypeVar, get_args, get_origin

import msgspec

from memento_tui.errors import InvalidField
from memento_tui.moments import parse_moment, parse_span
from memento_tui.text.near_names import folded

__all__ = [
    "ACCOUNTS_NAMESPACE",
    "CONTROL_CHARACTERS",
    "MAX_CONTENT_BYTES",
    "account_of",
    "check_choice",
    "check_encodable",
    "check_extra",
    "check_id",
    "check_json",
    "check_line",
    "check_namespace",
    "check_tags",
    "check_text",
    "check_unreserved_id",
    "convert_fields",
    "fold_tag",
    "is_proposal_id",
    "is_reserved_id",
    "is_short_id",
    "is_under",
    "new_id",
    "new_proposal_id",
    "text_fields",
    "text_of",
    "texts_image",
    "to_plain",
]


MAX_ID_LENGTH = 300
"""Characters. Foreign ids are kept as they are, and the longest seen are paths."""

_ID_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_ID_LETTER_PAIRS = [first + second for first in _ID_ALPHABET for second in _ID_ALPHABET]
_ID_LETTERS = frozenset(_ID_ALPHABET)
_ID_LENGTH = 12


def new_id() -> str:
    """Return a random id of 12 characters (60 bits) without letters that are easily confused."""
    bits = int.from_bytes(os.urandom(8), "big")
    return "".join([_ID_LETTER_PAIRS[(bits >> shift) & 1023] for shift in range(0, 5 * _ID_LENGTH, 10)])


PROPOSAL_ID_PREFIX = "p-"
"""The beginning of every proposal's id and of no other record's, so that nothing takes a decision meant for one."""


def new_proposal_id() -> str:
    """Return a random id that only a proposal can have."""
    return PROPOSAL_ID_PREFIX + new_id()


def is_reserved_id(value: str) -> bool:
    """Tell whether an id is kept for proposals."""
    return value.startswith(PROPOSAL_ID_PREFIX)


def is_made_id(value: str) -> bool:
    """Tell whether an id is one as `new_id` gives them."""
    return len(value) == _ID_LENGTH and _ID_LETTERS.issuperset(value)


def is_proposal_id(value: str) -> bool:
    """Tell whether an id is one as `new_proposal_id` gives them."""
    return is_reserved_id(value) and is_made_id(value.removeprefix(PROPOSAL_ID_PREFIX))


def is_short_id(value: str) -> bool:
    """Tell whether an id is a beginning that one of `new_id` may have, now or later."""
    return len(value) < _ID_LENGTH and _ID_LETTERS.issuperset(value)


def check_unreserved_id(value: str, field: str = "id") -> str:
    """Return the id of a new record that is no proposal. Raises `InvalidField` for one that is kept for proposals."""
    if is_reserved_id(value):
        raise InvalidField(
            field, f"begins with {PROPOSAL_ID_PREFIX}, as only proposals do: {value!r:.60}", "Choose another beginning."
        )
    return value


def check_id(value: str, field: str = "id") -> str:
    """Return ``value`` if it can be an id: any printable text without line breaks.

    Raises:
        InvalidField: it is empty, too long, or holds a character that is invisible or breaks a line.

    """
    if not value.strip():
        raise InvalidField(field, "is empty", "Leave it out to get a new one.")
    if len(value) > MAX_ID_LENGTH:
        raise InvalidField(field, f"has {len(value)} characters; the limit is {MAX_ID_LENGTH}")
    if not value.isprintable():
        raise InvalidField(field, "holds a character that cannot be printed", "Use letters, digits and - _ . / :")
    return value


MAX_CONTENT_BYTES = 262_144
"""UTF-8 bytes. A memory is read by a model: a quarter of a megabyte is about 60,000 tokens."""

MAX_EXTRA_BYTES = 2_097_152
"""Bytes of JSON. The fields that an importer keeps may hold a whole text a second time, escaped."""

MAX_LINE_LENGTH = 1_000
MAX_TAG_LENGTH = 100
MAX_TAGS = 200
MAX_NAMESPACE_LENGTH = 300
MAX_NESTING = 100

CONTROL_CHARACTERS = re.compile(r"[\x00-\x1f\x7f]")
_ERROR_PATH = re.compile(r"\$\.(\w+)")

Record = TypeVar("Record", bound=msgspec.Struct)


def check_encodable(value: str, field: str) -> str:
    """Return ``value`` if UTF-8 can hold it; text read from bytes that were not UTF-8 cannot be written."""
    if value.isascii() and "\x00" not in value:
        return value
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidField(
            field,
            f"holds bytes that are not UTF-8 (at character {error.start})",
            "Convert the text to UTF-8 first.",
        ) from None
    if "\x00" in value:
        raise InvalidField(field, "holds a NUL character", "Remove it; text cannot contain one.")
    return value


def check_text(value: str, field: str, *, required: bool = True) -> str:
    """Return prose of any number of lines, within the size that a record may have."""
    check_encodable(value, field)
    if required and not value.strip():
        raise InvalidField(field, "is empty", "Write at least a word.")
    if len(value) * 4 > MAX_CONTENT_BYTES and (size := len(value.encode())) > MAX_CONTENT_BYTES:
        raise InvalidField(
            field,
            f"is {size:,} bytes long; the limit is {MAX_CONTENT_BYTES:,}",
            "Split it into several memories, one idea each.",
        )
    return value


def check_line(value: str, field: str, *, required: bool = False, limit: int = MAX_LINE_LENGTH) -> str:
    """Return text of one line."""
    check_encodable(value, field)
    if required and not value.strip():
        raise InvalidField(field, "is empty", "Write at least a word.")
    if len(value) > limit:
        raise InvalidField(field, f"has {len(value):,} characters; the limit is {limit:,}")
    if "\n" in value or "\r" in value:
        raise InvalidField(field, "must be one line")
    return value


def check_choice(value: str, field: str, choices: Iterable[str]) -> str:
    """Return ``value`` if it is one of the words that the field knows."""
    known = list(choices)
    if value not in known:
        raise InvalidField(field, f"must be one of {', '.join(known)}; not {value!r:.60}")
    return value


def check_tags(tags: Iterable[str], field: str = "tags") -> tuple[str, ...]:
    """Return the tags in their order, trimmed and without repeats."""
    kept: dict[str, None] = {}
    for raw in tags:
        tag = check_encodable(raw, field).strip()
        if not tag:
            raise InvalidField(field, "holds an empty tag")
        if len(tag) > MAX_TAG_LENGTH:
            raise InvalidField(field, f"holds a tag of {len(tag)} characters; the limit is {MAX_TAG_LENGTH}")
        if CONTROL_CHARACTERS.search(tag):
            raise InvalidField(field, f"holds a tag with a control character: {tag!r:.60}")
        kept[tag] = None
    if len(kept) > MAX_TAGS:
        raise InvalidField(field, f"holds {len(kept)} tags; the limit is {MAX_TAGS}")
    return tuple(kept)


def fold_tag(tag: str) -> str:
    """Return the form in which tags are compared: neither their case matters nor how their accents are written."""
    return folded(tag)


def check_namespace(value: str, field: str = "namespace") -> str:
    """Return a path of names such as ``projects/my-app``, without empty names, ``.`` or ``..``."""
    check_encodable(value, field)
    if len(value) > MAX_NAMESPACE_LENGTH:
        raise InvalidField(field, f"has {len(value)} characters; the limit is {MAX_NAMESPACE_LENGTH}")
    for name in value.split("/"):
        if name in ("", ".", "..") or name != name.strip() or CONTROL_CHARACTERS.search(name) or "\\" in name:
            raise InvalidField(
                field,
                f"must be names joined by '/', such as projects/my-app; not {value!r:.60}",
            )
    return value


def is_under(namespace: str, place: str) -> bool:
    """Tell whether a namespace is another or lies below it, as ``projects/site/api`` does below ``projects/site``."""
    return namespace == place or namespace.startswith(f"{place}/")


def check_extra(value: Mapping[str, Any], field: str = "extra") -> None:
    """Refuse an object that the journal's JSON cannot hold, or that is larger or deeper than any record has need of."""
    if not value:
        return
    written = check_json(value, field)
    if len(written) > MAX_EXTRA_BYTES:
        raise InvalidField(field, f"is {len(written):,} bytes long; the limit is {MAX_EXTRA_BYTES:,}")
    if written.count(b"[") + written.count(b"{") > MAX_NESTING and _is_deeper(value, MAX_NESTING):
        raise InvalidField(field, f"is nested more than {MAX_NESTING} deep")


def check_json(value: Mapping[str, Any], field: str) -> bytes:
    """Return an object as JSON. Raises `InvalidField` where the journal's JSON cannot hold it."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        raise InvalidField(field, "holds text that is not UTF-8", "Convert the text to UTF-8 first.") from None
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidField(field, f"holds a value that JSON cannot: {error}") from None


def _is_deeper(value: object, limit: int) -> bool:
    if isinstance(value, Mapping):
        return limit == 0 or any(_is_deeper(inner, limit - 1) for inner in value.values())
    if isinstance(value, list | tuple):
        return limit == 0 or any(_is_deeper(inner, limit - 1) for inner in value)
    return False


def convert_fields(
    fields: Mapping[str, Any],
    record: type[Record],
    *,
    expected: Mapping[str, str],
    moments: Iterable[str] = (),
) -> Record:
    """Make a record of plain values: numbers may come as text, moments in every way that `parse_moment` reads.

    ``expected`` says of each field, in words, what it takes; ``moments`` names those that are points in time.
    """
    known = record.__struct_fields__
    for name in fields:
        if name not in known:
            raise InvalidField(str(name)[:60], "is not a field that this record has", f"It has {', '.join(known)}.")
    values = dict(fields)
    for name in moments:
        if (value := values.get(name)) is not None:
            if name == "expires_at" and isinstance(value, str) and parse_span(value) == timedelta(0):
                raise InvalidField(
                    name, f"is not in the future: {value!r:.60} is over at once", "Give a span such as 7d."
                )
            values[name] = parse_moment(value, name)
    try:
        return msgspec.convert(values, record, strict=False)
    except msgspec.ValidationError as error:
        match = _ERROR_PATH.search(str(error))
        name = match[1] if match else "record"
        if name in values:
            reason = f"must be {expected.get(name, 'of another type')}; not {values[name]!r:.60}"
        else:
            reason = str(error).split(" - at")[0]
        raise InvalidField(name, reason) from None


ACCOUNTS_NAMESPACE = "accounts"
"""The namespace below which each name is an account."""


def account_of(namespace: str) -> str:
    """Return the account that a namespace belongs to; empty for the person's own."""
    first, _, rest = namespace.partition("/")
    return rest.partition("/")[0] if first == ACCOUNTS_NAMESPACE else ""


def to_plain(record: msgspec.Struct) -> dict[str, Any]:
    """Return every field of a record, defaults too, as values that JSON can hold."""
    return {field: msgspec.to_builtins(getattr(record, field)) for field in record.__struct_fields__}


_IDENTIFIERS = frozenset({"id", "target_id", "parent", "src", "older", "newer", "fingerprint"})
"""Fields that name a record. Nobody but memento and a person chooses them."""

_LEADING = ("title", "item", "content", "reason")
"""The fields that are read first; the others follow in their declared order."""


@cache
def text_fields(record: type[msgspec.Struct]) -> tuple[str, ...]:
    """Return the fields of a record type that may hold any text: no identifiers, closed vocabularies or numbers."""
    found = [
        field.name
        for field in msgspec.structs.fields(record)
        if field.name not in _IDENTIFIERS and _may_hold_text(field.type)
    ]
    return tuple(sorted(found, key=lambda name: _LEADING.index(name) if name in _LEADING else len(_LEADING)))


def _may_hold_text(hint: Any) -> bool:  # noqa: ANN401 - a type
    if hint is str or hint is Any:
        return True
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return bool(text_fields(hint))
    return get_origin(hint) is not Literal and any(map(_may_hold_text, get_args(hint)))


@cache
def _values_getter(record: type[msgspec.Struct]) -> Callable[[Any], tuple[Any, ...]]:
    names = text_fields(record)
    if len(names) == 1:
        only = attrgetter(names[0])
        return lambda value: (only(value),)
    return attrgetter(*names)


def texts_image(record: msgspec.Struct) -> bytes:
    """Return the JSON of the fields that hold text: equal where two records of one type hold the same texts."""
    return msgspec.json.encode(_values_getter(type(record))(record))


def text_of(record: msgspec.Struct) -> str:
    """Return all texts of a record, one after the other: nested ones, and the names in its objects, among them."""
    parts: list[str] = []
    _collect(_values_getter(type(record))(record), parts)
    return "\n".join(parts)


def _collect(values: Iterable[Any], parts: list[str]) -> None:
    for value in values:
        if not value:
            continue
        if isinstance(value, str):
            parts.append(value)
        elif isinstance(value, Mapping):
            _collect(value, parts)
            _collect(value.values(), parts)
        elif isinstance(value, list | tuple):
            _collect(value, parts)
        elif isinstance(value, msgspec.Struct) and text_fields(type(value)):
            _collect(_values_getter(type(value))(value), parts)
