"""Secrets: found in any text of any record, and replaced by a marker before anything is stored.

What is found: tokens by their providers' shapes (`secret_rules`), private keys as whole blocks (`secret_blocks`), and
what the words before it give away (`secret_assignments`). What stays: hashes, ids, placeholders and examples
(`secret_values`).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Literal, TypeVar, get_origin, get_type_hints

import msgspec

from memento_tui.review.secret_assignments import assignment_spans, secret_of
from memento_tui.review.secret_blocks import block_spans
from memento_tui.review.secret_rules import Found, token_spans

__all__ = ["Removal", "marker", "redact_text", "redacted"]

Record = TypeVar("Record", bound=msgspec.Struct)

_MARKER = re.compile(r"\[secret removed: [^\[\]\n]{1,60}\]")
_KEPT = frozenset(
    {
        "id",
        "target_id",
        "parent",
        "src",
        "older",
        "newer",
        "memory_id",
        "kind",
        "fingerprint",
        "action",
        "target",
        "status",
    }
    | {"stability", "source_type", "sensitivity", "tier", "category", "state", "type", "resolution"}
)
"""Fields that name another record or come from a closed vocabulary, in a record and in a proposal's payload."""
_PASSES = 4
"""A marker may make a new beginning for what stands after it; each pass reads what the one before it left."""


_SHORTEST = 7
"""Characters of the shortest text that can hold a secret: ``pw=abcd``."""


class Removal(msgspec.Struct, frozen=True):
    """One secret that was taken out; it says where it stood and never what it was."""

    field: str
    """The field's path in the record: ``content``, ``extra.note.token``, ``source.url``."""
    kind: str
    """What it was, in words: ``AWS access key``."""
    line: int
    """The line within the field, from 1."""


def marker(kind: str) -> str:
    """Return what stands in a text where a secret of this kind stood."""
    return f"[secret removed: {kind}]"


def redact_text(text: str) -> tuple[str, list[tuple[str, int]]]:
    """Return the text with a marker in place of every secret, and the kind and line of each, in their order."""
    removed: list[tuple[str, int]] = []
    for _ in range(_PASSES):
        spans = _joined(_spans(text), text)
        if not spans:
            break
        breaks = [match.start() for match in re.finditer("\n", text)]
        removed += [(kind, bisect_right(breaks, start) + 1) for start, _end, kind in spans]
        text = _marked(text, spans)
    return text, removed


def redacted(record: Record) -> tuple[Record, tuple[Removal, ...]]:
    """Return the record without its secrets, and what was removed; the very same object where there are none.

    Every text of every field is read, nested ones too; a text under a name such as ``password`` is judged by that name.
    Ids, dates, numbers and closed vocabularies are left as they are.
    """
    removals: list[Removal] = []
    cleaned = _clean_record(record, "", removals)
    return cleaned, tuple(removals)


def _clean_record(record: Record, path: str, removals: list[Removal]) -> Record:
    changes: dict[str, Any] = {}
    for name in _open_fields(type(record)):
        value = getattr(record, name)
        if value and not (name == "dst" and getattr(record, "type", "") != "file"):
            cleaned = _clean(value, f"{path}{name}", removals, ids=name == "payload")
            if cleaned is not value:
                changes[name] = cleaned
    return msgspec.structs.replace(record, **changes) if changes else record


@cache
def _open_fields(record: type[msgspec.Struct]) -> tuple[str, ...]:
    """Return the fields that may hold any text: those of a closed vocabulary, numbers, dates and ids are none."""
    hints = get_type_hints(record)
    holders = (str, tuple, dict)
    names = (name for name in record.__struct_fields__ if name not in _KEPT)
    return tuple(
        name
        for name in names
        if get_origin(hints[name]) is not Literal
        and ((get_origin(hints[name]) or hints[name]) in holders or _is_record(hints[name]))
    )


def _is_record(hint: object) -> bool:
    return isinstance(hint, type) and issubclass(hint, msgspec.Struct)


def _clean(value: Any, path: str, removals: list[Removal], *, ids: bool = False) -> Any:  # noqa: ANN401 - JSON
    """Return a value without secrets, the same object if it has none. ``ids`` keeps the fields that name records."""
    if isinstance(value, str):
        return _clean_text(value, path, removals)
    if isinstance(value, msgspec.Struct):
        return _clean_record(value, f"{path}.", removals)
    if isinstance(value, Mapping):
        return _clean_mapping(value, path, removals, ids=ids)
    if isinstance(value, list | tuple):
        items = [_clean(item, path, removals) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return type(value)(items)
    return value


def _clean_text(text: str, path: str, removals: list[Removal]) -> str:
    if len(text) < _SHORTEST:
        return text
    cleaned, found = redact_text(text)
    removals.extend(Removal(path, kind, line) for kind, line in found)
    return cleaned if found else text


def _clean_mapping(values: Mapping[Any, Any], path: str, removals: list[Removal], *, ids: bool) -> Mapping[Any, Any]:
    cleaned: dict[Any, Any] = {}
    changed = False
    for key, value in values.items():
        if ids and key in _KEPT:
            cleaned[key] = value
            continue
        name = _unused(_clean(key, path, removals), cleaned)
        field = f"{path}.{name}"
        kind = secret_of(key, value) if isinstance(key, str) and isinstance(value, str) else None
        if kind is not None and not _MARKER.search(value):
            cleaned[name] = marker(kind)
            removals.append(Removal(field, kind, 1))
        else:
            cleaned[name] = _clean(value, field, removals)
        changed = changed or name is not key or cleaned[name] is not value
    return cleaned if changed else values


def _unused(name: Any, taken: Mapping[Any, Any]) -> Any:  # noqa: ANN401 - a key of JSON
    """Return a key's name, numbered where two keys held a secret of the same kind."""
    number, free = 2, name
    while free in taken:
        free, number = f"{name} {number}", number + 1
    return free


def _spans(text: str, *, gated: bool = True) -> Iterator[Found]:
    yield from block_spans(text)
    yield from token_spans(text, gated=gated)
    yield from assignment_spans(text, gated=gated)


def _joined(found: Iterator[Found], text: str) -> list[Found]:
    """Return the spans in order with those that overlap as one, leaving out what is part of a marker already."""
    joined: list[Found] = []
    for start, end, kind in sorted(found, key=lambda span: (span[0], -span[1])):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]), joined[-1][2])
        else:
            joined.append((start, end, kind))
    if not joined or "[secret removed: " not in text:
        return joined
    markers = [match.span() for match in _MARKER.finditer(text)]
    starts = [start for start, _end in markers]
    kept = []
    for span in joined:
        before = bisect_left(starts, span[1]) - 1
        if before < 0 or markers[before][1] <= span[0]:
            kept.append(span)
    return kept


def _marked(text: str, spans: list[Found]) -> str:
    parts, last = [], 0
    for start, end, kind in spans:
        parts += [text[last:start], marker(kind)]
        last = end
    return "".join([*parts, text[last:]])
