"""Match a repeated import with the one before: changed fields, records known only by position, relations."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any, NamedTuple

import msgspec

from memento_tui.api.types import ImportedRecord
from memento_tui.errors import MementoError
from memento_tui.formats.base import CONTENT_DIGEST_PART, ImportRecord, Refused
from memento_tui.formats.note import LinkTargets
from memento_tui.model import AnyRecord, Relation, make_relation
from memento_tui.model.validation import check_extra

__all__ = [
    "DrawnLink",
    "RelationCollector",
    "differing_fields",
    "is_extra_name",
    "is_named_by_source",
    "match_positional_records",
    "with_values_from",
]

_BOOKKEEPING = frozenset(
    {"version", "created_at", "updated_at", "shown_count", "used_count", "last_used_at", "hits", "last_hit_at"}
    | {"surprise"}
)
"""Fields of bookkeeping and measurement, which are not content."""
_NOT_COMPARED = _BOOKKEEPING | {"extra"}
"""These, and ``extra``, whose parts are compared one by one."""

_EXTRA_PREFIX = "extra."
_ABSENT = object()


def differing_fields(record: AnyRecord, other: AnyRecord) -> list[str]:
    """Return the names of the fields that differ between two records; a part of ``extra`` is named ``extra.<name>``."""
    names = record.__struct_fields__
    if type(record) is type(other) and all(
        getattr(record, name) == getattr(other, name) for name in names if name not in _BOOKKEEPING
    ):
        return []
    own, others = _comparable_values(record), _comparable_values(other)
    return [name for name in {**own, **others} if own.get(name, _ABSENT) != others.get(name, _ABSENT)]


def _comparable_values(record: AnyRecord) -> dict[str, Any]:
    values = {name: getattr(record, name) for name in record.__struct_fields__ if name not in _NOT_COMPARED}
    return values | {_EXTRA_PREFIX + name: value for name, value in getattr(record, "extra", {}).items()}


def is_extra_name(name: str) -> bool:
    """Return whether a name of `differing_fields` is that of a part of ``extra``."""
    return name.startswith(_EXTRA_PREFIX)


def is_named_by_source(name: str, fields: dict[str, Any]) -> bool:
    """Return whether a source gives the field that `differing_fields` calls by this name."""
    if is_extra_name(name):
        return name.removeprefix(_EXTRA_PREFIX) in fields.get("extra", {})
    return name in fields


def with_values_from(record: AnyRecord, names: Collection[str], source: AnyRecord) -> AnyRecord:
    """Return a record with the values of another one under these names of `differing_fields`.

    Raises:
        InvalidField: the ``extra`` of both together is too much for one record.

    """
    given = _comparable_values(source)
    values = {name: given[name] for name in names if not is_extra_name(name)}
    inner = [name.removeprefix(_EXTRA_PREFIX) for name in names if is_extra_name(name)]
    if inner:
        extra = {name: value for name, value in getattr(record, "extra", {}).items() if name not in inner}
        values["extra"] = extra | {name: given[_EXTRA_PREFIX + name] for name in inner if _EXTRA_PREFIX + name in given}
        check_extra(values["extra"])
    return msgspec.structs.replace(record, **values)


_MIN_SIMILARITY = 0.6
"""The share of two texts that is the same where one was made of the other."""
_MAX_COMPARED = 100
"""Texts of one list that are compared with each other; of a longer one only those that are the same are known again."""
_MAX_COMPARED_LENGTH = 4_000


def match_positional_records(
    records: Iterable[ImportRecord | Refused],
    ledger: Mapping[str, ImportedRecord],
    text_of: Callable[[ImportedRecord], str],
) -> Iterator[ImportRecord | Refused]:
    """Yield what a reader yields, the records of each list under the keys that they had at the import before.

    ``text_of`` returns the text that a line of the ledger stands for, or nothing where that was purged.
    """
    listed: list[ImportRecord] = []
    for record in records:
        if isinstance(record, Refused):
            yield record
            continue
        if listed and listed[0].among != record.among:
            yield from _match_list(listed, ledger, text_of)
            listed = []
        if record.among:
            listed.append(record)
        else:
            yield record
    yield from _match_list(listed, ledger, text_of)


def _match_list(
    listed: list[ImportRecord], ledger: Mapping[str, ImportedRecord], text_of: Callable[[ImportedRecord], str]
) -> Iterator[ImportRecord]:
    before = _earlier_rows(listed[0].record, listed[0].among, ledger) if listed else {}
    for record, key in zip(listed, _matched_keys(listed, before, text_of), strict=True):
        yield msgspec.structs.replace(record, key=key)


def _earlier_rows(record: str, among: str, ledger: Mapping[str, ImportedRecord]) -> dict[str, ImportedRecord]:
    """Return the lines of the ledger for the records of a list, by their keys."""
    start = f"{record}:"
    rows = {key.removeprefix(start): row for key, row in ledger.items() if key.startswith(f"{start}{among}.")}
    return {key: row for key, row in rows.items() if key[len(among) + 1 :].isdecimal()}


def _matched_keys(
    listed: list[ImportRecord], before: dict[str, ImportedRecord], text_of: Callable[[ImportedRecord], str]
) -> list[str]:
    left = dict(before)
    keys: dict[int, str] = {}
    for at, record in enumerate(listed):
        same = [
            key for key, row in left.items() if row.digest[CONTENT_DIGEST_PART] == record.digest[CONTENT_DIGEST_PART]
        ]
        if same:
            keys[at] = record.key if record.key in same else same[0]
            del left[keys[at]]
    others = [at for at in range(len(listed)) if at not in keys]
    texts = {key: text_of(row) for key, row in left.items()} if max(len(others), len(left)) <= _MAX_COMPARED else {}
    for at in others:
        own = listed[at].key
        text = listed[at].fields["content"]
        like = {key: _similarity(text, other) for key, other in texts.items()}
        best = max(like, key=lambda key: (like[key], key == own), default="")
        if best and like[best] >= _MIN_SIMILARITY:
            keys[at] = best
            del texts[best]
    used = {*before, *keys.values()}
    for at in others:
        if at not in keys:
            keys[at] = _free_key(listed[at], used)
            used.add(keys[at])
    return [keys[at] for at in range(len(listed))]


def _similarity(text: str, other: str) -> float:
    matcher = SequenceMatcher(None, text[:_MAX_COMPARED_LENGTH], other[:_MAX_COMPARED_LENGTH], autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= _MIN_SIMILARITY else 0.0


def _free_key(record: ImportRecord, used: set[str]) -> str:
    numbers = itertools.count(len(used) + 1)
    return (
        record.key if record.key not in used else next(k for n in numbers if (k := f"{record.among}.{n}") not in used)
    )


_LINK_PREFIX = "link:"
_LITERAL_TARGETS = ("file", "item")
"""The types of relations whose end is written as it is: a path, or a working item's id."""


class DrawnLink(NamedTuple):
    """A relation to draw, with the record at which its link begins."""

    relation: Relation
    incoming: ImportRecord


class RelationCollector:
    """The links of one import, from which the relations to draw and to remove follow at its end."""

    def __init__(self, ledger: Mapping[str, ImportedRecord]) -> None:
        self._ledger = ledger
        self._notes: list[tuple[str, str, dict[str, Any]]] = []
        self._ids: dict[str, str] = {}
        self._links: list[tuple[ImportRecord, str]] = []

    def add(self, incoming: ImportRecord, record_id: str) -> None:
        """Remember a record as the end of links, and the links that begin at it."""
        if incoming.record != "memory":
            return
        self._ids[incoming.key] = record_id
        self._notes.append(
            (incoming.key, incoming.fields.get("title", ""), incoming.fields.get("extra", {}).get("frontmatter", {}))
        )
        if incoming.links:
            self._links.append((incoming, record_id))

    def gone(self, alive: Mapping[str, int]) -> Iterator[str]:
        """Yield the relations that an earlier import drew and whose links are gone.

        ``alive`` has the versions of the relations of earlier imports that still exist.
        """
        present = {_link_key(incoming, *link) for incoming, _ in self._links for link in incoming.links}
        for key, row in self._ledger.items():
            if row.record_id not in alive or row.record != "relation" or key in present:
                continue
            if key.startswith(_LINK_PREFIX) and self._is_of_a_note(key.removeprefix(_LINK_PREFIX)):
                yield row.record_id

    def missing(self, alive: Mapping[str, int]) -> Iterator[tuple[str, DrawnLink]]:
        """Yield the links whose relations do not exist yet, each with its key in the ledger.

        A link whose target was not imported is left; the text of the record still holds it.
        """
        targets = LinkTargets()
        for note in self._notes if self._links else ():
            targets.add_note(*note)
        for incoming, src in self._links:
            for kind, written, label in incoming.links:
                key = _link_key(incoming, kind, written, label)
                end = self._end(targets, incoming, kind, written)
                drawn = self._ledger.get(key)
                if (drawn and drawn.record_id in alive) or end is None or end == src:
                    continue
                try:
                    fields = {"src": src, "dst": end, "type": kind, "label": label}
                    yield key, DrawnLink(make_relation(fields), incoming)
                except MementoError:
                    # A label that is no single line is the note's own business; the link stays in its text.
                    continue

    def _end(self, targets: LinkTargets, incoming: ImportRecord, kind: str, written: str) -> str | None:
        """Return the id or path that a link leads to; ``None`` for a memory that is not among the imported."""
        if kind in _LITERAL_TARGETS:
            return written
        target = targets.resolve(written, incoming.key)
        return None if target is None else self._ids[target]

    def _is_of_a_note(self, rest: str) -> bool:
        """Return whether a link begins at one of the notes of this import; a note's key may hold the mark itself."""
        ends = [place for place, character in enumerate(rest) if character == ">"]
        return any(rest[:end] in self._ids for end in ends)


def _link_key(incoming: ImportRecord, kind: str, written: str, label: str) -> str:
    """Return the key of a link in the ledger; one record may be related to another in several ways."""
    return f"{_LINK_PREFIX}{incoming.key}>{kind}>{written}" + (f">{label}" if label else "")
