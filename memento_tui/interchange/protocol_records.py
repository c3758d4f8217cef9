"""Rows of Memento Protocol as records: what its files, its database and its HTTP interface have in common.

A workspace is a namespace. What has no place in a record is kept in ``extra["memento-protocol"]``, and what no record
can be made of (logs, settings, encrypted rows) in working items that are archived from the start, so that an export
gives it back. A skip without an end that can be read is no skip here, where every skip ends: it becomes a standing
decision, which holds until a person ends it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from memento_tui.interchange.incoming import Incoming, RecordName, Refused, source_digest
from memento_tui.interchange.names import one_line
from memento_tui.interchange.protocol_columns import KEPT, Column, moment_of, taken
from memento_tui.interchange.protocol_linkages import links_of
from memento_tui.interchange.protocol_model import SECTION, item_fields
from memento_tui.records.rules import MAX_LINE_LENGTH

__all__ = ["At", "Links", "Place", "crystal", "each_once", "item", "kept_rows", "memory", "section", "skip"]

_MOST_KEPT = 400_000
"""Bytes of rows that one working item keeps: below what ``extra`` may hold, and little to write again when some more
rows come."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """The workspace that rows belong to."""

    namespace: str = "global"
    prefix: str = ""
    """What the keys of its records begin with, where a source has several workspaces."""
    shared: Container[tuple[RecordName, str]] = ()
    """Ids that several workspaces of the source use: no record gets one of them as its own."""
    made_from: Mapping[str, list[str]] = {}
    """The memories that say of themselves that they were consolidated, by the id of what stands for them."""
    form: str = ""
    """What is kept of rows is put under this name: the columns of files are not those of tables."""

    def kept(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is to be kept of a row in the place of this form."""
        return {self.form: values} if self.form and values else dict(values)


class At(msgspec.Struct, frozen=True):
    """Where a row stands, and the digest of what it says."""

    file: str
    line: int
    digest: bytes


class Links(msgspec.Struct, frozen=True, kw_only=True):
    """What a row says of its memory's links, and what is to be kept beside it to say it again."""

    linkages: list[Any] = []
    sources: list[str] = []
    kept: Mapping[str, Any] = {}


def memory(place: Place, columns: Iterable[Column], row: Mapping[str, Any], at: At, links: Links) -> Incoming | Refused:
    """Return the memory of a row; one without a text is refused."""
    fields, left = taken(columns, row)
    kept = place.kept({**left, **links.kept})
    if not fields["content"].strip():
        return Refused(at.file, at.line, "has no content")
    written = str(row.get("id") or "")
    sources = [*links.sources, *place.made_from.get(written, ())]
    fields |= {"namespace": place.namespace, "source_type": "derived"}
    found = links_of(links.linkages, sources, place.prefix)
    return _incoming(place, "memory", fields, kept, at, key=_name(fields, at), links=found)


def skip(place: Place, columns: Iterable[Column], row: Mapping[str, Any], at: At, expires: str) -> Incoming | Refused:
    """Return the skip of a row, or the standing decision that it is if the column ``expires`` holds no date."""
    fields, left = taken(columns, row)
    kept = place.kept(left)
    for name in ("item", "reason"):
        if not fields[name]:
            return Refused(at.file, at.line, f"has no {name}")
    fields["namespace"] = place.namespace
    if moment_of(row.get(expires)) is not None:
        return _incoming(place, "skip", fields, kept, at, key=_name(fields, at))
    decision = {**item_fields("skip_list", fields["item"]), "content": fields["reason"], "namespace": place.namespace}
    decision |= {name: fields[name] for name in ("id", "created_at") if name in fields}
    return _incoming(place, "item", decision, {**kept, "table": "skip_list"}, at, key=f"skip:{_name(fields, at)}")


def item(place: Place, columns: Iterable[Column], row: Mapping[str, Any], at: At) -> Incoming | Refused:
    """Return the working item of a row."""
    fields, left = taken(columns, row)
    kept = place.kept(left)
    title = fields["title"] or one_line(fields["content"], MAX_LINE_LENGTH // 10)
    if not title:
        return Refused(at.file, at.line, "has neither a title nor a content")
    fields |= {**item_fields(fields["category"], title), "namespace": place.namespace}
    return _incoming(place, "item", fields, kept, at, key=_name(fields, at))


def section(
    place: Place, key: str, title: str, content: str, kept: Mapping[str, Any], at: At, *, name: str = ""
) -> Incoming:
    """Return the working item that a section of the working memory is, known by its key or by ``name``.

    Text that belongs to no section has no key, and is archived from the start.
    """
    fields = {
        "title": one_line(title, MAX_LINE_LENGTH) or one_line(key, MAX_LINE_LENGTH) or "Section",
        "category": "session_note",
        "content": content,
        "status": "active" if key else "archived",
        "namespace": place.namespace,
        "extra": {SECTION: key} if key else {},
    }
    return _incoming(place, "item", fields, kept, at, key=f"section:{name or key}")


def crystal(
    place: Place, columns: Iterable[Column], row: Mapping[str, Any], at: At, *, is_current: bool
) -> Incoming | Refused:
    """Return the crystal of a row."""
    fields, left = taken(columns, row)
    kept = place.kept(left)
    if not fields["content"].strip():
        return Refused(at.file, at.line, "has no content")
    fields["status"] = "current" if is_current else "past"
    kept |= {"namespace": place.namespace} if place.namespace != "global" else {}
    return _incoming(place, "crystal", fields, kept, at, key=_name(fields, at))


def kept_rows(place: Place, table: str, rows: Iterable[Mapping[str, Any]], file: str) -> Iterator[Incoming]:
    """Yield working items that keep rows as they are, as many as are needed. ``table`` is what the rows are of."""
    waiting: list[Mapping[str, Any]] = []
    size = part = 0
    for row in rows:
        length = len(msgspec.json.encode(row))
        if waiting and size + length > _MOST_KEPT:
            yield _keeper(place, table, waiting, part, file)
            waiting, size, part = [], 0, part + 1
        waiting.append(row)
        size += length
    if waiting:
        yield _keeper(place, table, waiting, part, file)


def _keeper(place: Place, table: str, rows: list[Mapping[str, Any]], part: int, file: str) -> Incoming:
    fields = {
        "title": f"Memento Protocol: {table}" + (f", part {part + 1}" if part else ""),
        "category": "session_note",
        "status": "archived",
        "content": "Rows that nothing here can be made of, kept for an export in the format that they came from.",
        "namespace": place.namespace,
    }
    at = At(file, 0, source_digest(msgspec.json.encode(rows)))
    return _incoming(place, "item", fields, {"table": table, "rows": rows}, at, key=f"kept:{table}:{part}")


def _name(fields: Mapping[str, Any], at: At) -> str:
    """Return what a record is known by: its id, or else the place where it stands."""
    return str(fields.get("id") or f"{at.file}:{at.line}")


def _incoming(
    place: Place,
    record: RecordName,
    fields: dict[str, Any],
    kept: Mapping[str, Any],
    at: At,
    *,
    key: str,
    links: tuple[tuple[str, str, str], ...] = (),
) -> Incoming:
    if "id" in fields and (record, fields["id"]) in place.shared:
        kept = {**kept, "id": fields.pop("id")}
    if kept:
        fields["extra"] = {**fields.get("extra", {}), KEPT: dict(kept)}
    return Incoming(
        key=place.prefix + key,
        record=record,
        fields=fields,
        digest=at.digest,
        file=at.file,
        line=at.line,
        links=links,
    )


def each_once(found: Iterable[Incoming | Refused]) -> Iterator[Incoming | Refused]:
    """Yield what a reader finds, and refuse what has the key or the id of something that it found before."""
    seen: dict[tuple[str, str, str], str] = {}
    for one in found:
        if isinstance(one, Refused):
            yield one
            continue
        names = [(one.record, "key", one.key), (one.record, "id", str(one.fields.get("id", "")))]
        names = [name for name in names if name[2]]
        earlier = next((seen[name] for name in names if name in seen), "")
        if earlier:
            yield Refused(one.file, one.line, f"has the id of {earlier}; give it another")
            continue
        seen.update(dict.fromkeys(names, f"{one.file}:{one.line}" if one.line else one.file))
        yield one
