"""Find secrets in any text of any record, and replace each by a marker before anything is stored."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_origin, get_type_hints

import msgspec

if TYPE_CHECKING:
    from memento_tui.policy.secret_patterns import SecretSpan

__all__ = ["RemovedSecret", "redact_record", "redact_text"]

Record = TypeVar("Record", bound=msgspec.Struct)

_ID_FIELDS = frozenset({"id", "target_id", "parent", "src", "older", "newer", "memory_id", "fingerprint"})
"""Fields that name another record, in a record and in a proposal's payload."""
_UNSCREENED_FIELDS = _ID_FIELDS | {
    *("kind", "action", "target", "status", "stability", "source_type", "sensitivity", "tier", "category", "state"),
    *("type", "resolution"),
}
"""Fields of a record that name another one or come from a closed vocabulary."""
_MAX_PASSES = 4
"""Passes over one text: a marker may let the text after it match anew, so each pass reads the result of the last."""


_MAX_KNOWN_CLEAN = 32_768
"""Texts that are remembered to hold no secret: a write is screened when it is judged, and when it is put."""
_known_clean: set[bytes] = set()
"""The digests of such texts. A record's tags and namespace come again with the next one."""
_MIN_SECRET_CHARACTERS = 7
"""Characters of the shortest text that can hold a secret: ``pw=abcd``."""


class RemovedSecret(msgspec.Struct, frozen=True):
    """One removed secret: its place and kind, never its text."""

    field: str
    """The field's path in the record: ``content``, ``extra.note.token``, ``source.url``."""
    kind: str
    """The kind of secret, in words: ``AWS access key``."""
    line: int
    """The line within the field, from 1."""


def secret_marker(kind: str) -> str:
    """Return the marker that replaces a secret of this kind."""
    return f"[secret removed: {kind}]"


def redact_text(text: str, *, by_rules_alone: bool = False) -> tuple[str, list[tuple[str, int]]]:
    """Return the text with a marker in place of every secret, and the kind and line of each, in their order.

    ``by_rules_alone`` leaves out what learned weights find: for those who learn them, and for words of memento's own.
    """
    # The rules and weights take longer to load than all else that a program needs which only reads.
    from memento_tui.policy.secret_search import find_secrets  # noqa: PLC0415 - as above

    removed: list[tuple[str, int]] = []
    for number in range(_MAX_PASSES):
        # Weights read a text once: what stands beside a marker would be judged anew, and another word after it.
        spans = find_secrets(text, by_weights=number == 0 and not by_rules_alone)
        if not spans:
            break
        breaks = [match.start() for match in re.finditer("\n", text)]
        removed += [(kind, bisect_right(breaks, start) + 1) for start, _end, kind in spans]
        text = _replace_spans(text, spans)
    return text, removed


def redact_record(record: Record) -> tuple[Record, tuple[RemovedSecret, ...]]:
    """Return the record without its secrets, and the removals; the very same object where there are none.

    Every text of every field is read, nested ones too; a text under a name such as ``password`` is judged by that name.
    Ids, dates, numbers and closed vocabularies are left as they are.
    """
    removals: list[RemovedSecret] = []
    cleaned = _clean_record(record, "", removals)
    return cleaned, tuple(removals)


def _clean_record(record: Record, path: str, removals: list[RemovedSecret]) -> Record:
    changes: dict[str, Any] = {}
    for name in _free_text_fields(type(record)):
        value = getattr(record, name)
        if value and not (name == "dst" and getattr(record, "type", "") != "file"):
            cleaned = _clean_value(value, f"{path}{name}", removals, ids=name == "payload")
            if cleaned is not value:
                changes[name] = cleaned
    return msgspec.structs.replace(record, **changes) if changes else record


@cache
def _free_text_fields(record: type[msgspec.Struct]) -> tuple[str, ...]:
    """Return the fields that may hold any text: those of a closed vocabulary, numbers, dates and ids are none."""
    hints = get_type_hints(record)
    holders = (str, tuple, dict)
    names = (name for name in record.__struct_fields__ if name not in _UNSCREENED_FIELDS)
    return tuple(
        name
        for name in names
        if get_origin(hints[name]) is not Literal
        and ((get_origin(hints[name]) or hints[name]) in holders or _is_record(hints[name]))
    )


def _is_record(hint: object) -> bool:
    return isinstance(hint, type) and issubclass(hint, msgspec.Struct)


def _clean_value(value: Any, path: str, removals: list[RemovedSecret], *, ids: bool = False) -> Any:  # noqa: ANN401 - JSON
    """Return a value without secrets, the same object if it has none. ``ids`` keeps the fields that name records."""
    if isinstance(value, str):
        return _clean_text(value, path, removals)
    if isinstance(value, msgspec.Struct):
        return _clean_record(value, f"{path}.", removals)
    if isinstance(value, Mapping):
        return _clean_mapping(value, path, removals, ids=ids)
    if isinstance(value, list | tuple):
        items = [_clean_value(item, path, removals) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return type(value)(items)
    return value


def _clean_text(text: str, path: str, removals: list[RemovedSecret]) -> str:
    if len(text) < _MIN_SECRET_CHARACTERS:
        return text
    key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    if key in _known_clean:
        return text
    cleaned, found = redact_text(text)
    if found:
        removals.extend(RemovedSecret(path, kind, line) for kind, line in found)
        return cleaned
    if len(_known_clean) >= _MAX_KNOWN_CLEAN:
        _known_clean.clear()
    _known_clean.add(key)
    return text


def _clean_mapping(
    values: Mapping[Any, Any], path: str, removals: list[RemovedSecret], *, ids: bool
) -> Mapping[Any, Any]:
    from memento_tui.policy.secret_search import kind_by_name  # noqa: PLC0415 - as above

    cleaned: dict[Any, Any] = {}
    changed = False
    for key, value in values.items():
        if ids and key in _ID_FIELDS:
            cleaned[key] = value
            continue
        name = _unique_key(_clean_value(key, path, removals), cleaned)
        field = f"{path}.{name}"
        kind = kind_by_name(values, key, value) if isinstance(key, str) and isinstance(value, str) else None
        if kind is not None:
            cleaned[name] = secret_marker(kind)
            removals.append(RemovedSecret(field, kind, 1))
        else:
            cleaned[name] = _clean_value(value, field, removals)
        changed = changed or name is not key or cleaned[name] is not value
    return cleaned if changed else values


def _unique_key(name: Any, taken: Mapping[Any, Any]) -> Any:  # noqa: ANN401 - a key of JSON
    """Return a key's name, numbered where two keys held a secret of the same kind."""
    number, free = 2, name
    while free in taken:
        free, number = f"{name} {number}", number + 1
    return free


def _replace_spans(text: str, spans: list[SecretSpan]) -> str:
    parts, last = [], 0
    for start, end, kind in spans:
        parts += [text[last:start], secret_marker(kind)]
        last = end
    return "".join([*parts, text[last:]])
