"""Read and write an account on a Memento Protocol server, each workspace as a namespace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote

import msgspec

from memento_tui import clock
from memento_tui.errors import InvalidField
from memento_tui.formats.base import ExportRecord, ExportReport, Format, ImportRecord, Refused, format_iso_moment
from memento_tui.formats.columns import Column, Fields, text_column, write_row
from memento_tui.formats.protocol.client import ProtocolClient, WriteResponse, connect, selected_workspace
from memento_tui.formats.protocol.columns import (
    EXTRA_KEY,
    as_list,
    category_column,
    compact_json,
    kind_column,
    line_column,
    moment_column,
    plain_tags_column,
    priority_column,
    status_column,
    tags_column,
)
from memento_tui.formats.protocol.rows import (
    ProtocolMemoryRow,
    ProtocolRow,
    ProtocolWorkspace,
    RowContext,
    RowLocation,
    crystal_from_row,
    group_by_workspace,
    item_from_row,
    memory_from_row,
    row_digest,
    section_from_row,
    skip_from_row,
    tell_ids_apart,
)
from memento_tui.formats.protocol.vocabulary import (
    SECTION_EXTRA,
    SECTIONS,
    ProtocolEdge,
    item_fields,
    linkage_from_relation,
    namespace_of_workspace,
)
from memento_tui.model.memory import says_the_same, text_compared

__all__ = ["FORMAT", "count", "read", "write"]

_EMPTY_SECTION = "(empty)"

_Row = dict[str, Any]


def count(_: str) -> int:
    """Return 0: a server does not give the number of records."""
    return 0


def read(address: str) -> Iterator[ImportRecord | Refused]:
    """Yield the records of an account; ``address`` is that of the server, with or without ``/v1``.

    Raises:
        InvalidInput: the address or the key cannot be used, or the server does not answer as it should. What was
            yielded before holds, and reading again yields the same.

    """
    return tell_ids_apart(_read(address))


def _read(address: str) -> Iterator[ImportRecord | Refused]:
    identities: set[bytes] = set()
    with connect(address) as server:
        for name in sorted(server.workspaces(), key=lambda name: name != "default"):
            try:
                context = RowContext(namespace=namespace_of_workspace(name), prefix=f"{name}/")
            except InvalidField as error:
                yield Refused(name, 0, f"is a workspace whose name cannot be a namespace: {error.reason}")
                continue
            for record in _read_workspace(server, name, context):
                if isinstance(record, ImportRecord) and record.record == "crystal":
                    # A server may tell of one identity in every workspace, as memento's own does.
                    if record.digest in identities:
                        continue
                    identities.add(record.digest)
                yield record


def _read_workspace(server: ProtocolClient, workspace: str, context: RowContext) -> Iterator[ImportRecord | Refused]:
    """Yield the records of one workspace of an account. Raises `InvalidInput` as `read` does."""
    listed = list(server.pages("/memories", "memories", workspace, status="all", sort="created_at", order="asc"))
    sources_by_target: dict[str, list[str]] = {}
    for row in listed:
        if isinstance(row, dict) and isinstance(into := row.get("consolidated_into"), str) and into:
            sources_by_target.setdefault(into, []).append(str(row.get("id")))
    context = msgspec.structs.replace(context, sources_by_target=sources_by_target)
    skips = server.get("/skip-list", workspace)
    entries = skips.get("entries") if isinstance(skips, dict) else None
    yield from _fetch_rows(context, f"{workspace}/memories", iter(listed), memory_from_row)
    yield from _fetch_rows(
        context, f"{workspace}/skip-list", iter(entries if isinstance(entries, list) else []), skip_from_row
    )
    items = server.pages("/working-memory/items", "items", workspace)
    yield from _fetch_rows(context, f"{workspace}/working-memory/items", items, item_from_row)
    sections = (row for key in SECTIONS if (row := _fetch_section(server, workspace, key)) is not None)
    yield from _fetch_rows(context, f"{workspace}/working-memory", sections, section_from_row)
    if (row := _fetch_identity(server, workspace)) is not None:
        yield from _fetch_rows(context, f"{workspace}/identity", iter([row]), _current_crystal)


def _fetch_identity(server: ProtocolClient, workspace: str) -> _Row | None:
    """Return the identity that holds, without the words of caution that memento puts above one that nobody approved."""
    answer = server.text("/identity", workspace)
    if answer is None or not answer[1].get("id"):
        return None
    row = dict(answer[1])
    labels = row.pop("labels", None)
    marks = " ".join(f"[{label}]" for label in labels) if isinstance(labels, list) else ""
    return {**row, "crystal": answer[0].removeprefix(f"{marks}\n") if marks else answer[0]}


def _current_crystal(context: RowContext, row: _Row, location: RowLocation) -> ImportRecord | Refused:
    return crystal_from_row(context, row, location, is_current=True)


def _fetch_section(server: ProtocolClient, workspace: str, key: str) -> _Row | None:
    """Return a section of the working memory as a row; ``None`` if it is empty. Raises `InvalidInput`."""
    answer = server.text(f"/working-memory/{quote(key, safe='')}", workspace)
    heading, _, content = (answer[0] if answer else "").partition("\n\n")
    if not content.strip() or content == _EMPTY_SECTION:
        return None
    return {"section_key": key, "heading": heading.removeprefix("## ").strip(), "content": content}


def _fetch_rows(
    context: RowContext,
    file: str,
    rows: Iterator[Any],
    make: Callable[[RowContext, _Row, RowLocation], ImportRecord | Refused | None],
) -> Iterator[ImportRecord | Refused]:
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            yield Refused(file, number, "is not an object with fields")
            continue
        # A table holds lists as text, and so does the kept data of its rows.
        plain = {name: compact_json(value) if isinstance(value, list | dict) else value for name, value in row.items()}
        record = make(context, plain, RowLocation(file, number, row_digest(plain)))
        if record is not None:
            yield record


class _RemoteItem(msgspec.Struct, frozen=True):
    """A working item of the server."""

    id: str
    content: str


class _RemoteState(msgspec.Struct, kw_only=True):
    """The state of a workspace. Rows that no record can be made of are not in it."""

    memories: dict[str, str] = {}
    """Ids by the text as it is compared."""
    linkages: dict[str, list[dict[str, Any]]] = {}
    """Linkages by the id of the memory that they begin at."""
    items: dict[tuple[str, str], _RemoteItem] = {}
    """Items by category and title, as records have them."""
    skips: set[tuple[str, str]] = set()
    """The item and reason of each skip."""
    identity: str = ""


def _fetch_remote_state(server: ProtocolClient, workspace: str) -> _RemoteState:
    """Return the state of a workspace. Raises `InvalidInput` if the server does not answer as it should."""
    held = _RemoteState()
    for record in _read_workspace(server, workspace, RowContext()):
        if isinstance(record, ImportRecord):
            _add_remote_record(held, record)
    return held


def _add_remote_record(held: _RemoteState, record: ImportRecord) -> None:
    fields = record.fields
    match record.record:
        case "memory":
            identity = str(fields.get("id", ""))
            held.memories.setdefault(text_compared(fields["content"]), identity)
            linkages = as_list(fields.get("extra", {}).get(EXTRA_KEY, {}).get("linkages"))
            held.linkages[identity] = [linkage for linkage in linkages if isinstance(linkage, dict)]
        case "skip":
            held.skips.add((fields["item"], fields["reason"]))
        case "item":
            key = (fields["category"], fields["title"])
            held.items.setdefault(key, _RemoteItem(str(fields.get("id", "")), fields["content"]))
        case "crystal":
            held.identity = fields["content"]


def _remote_item_key(category: str, title: str) -> tuple[str, str]:
    """Return the key in `_RemoteState.items` of an item with this category and title in the format."""
    fields = item_fields(category, title)
    return fields["category"], fields["title"]


def _linkage_key(linkage: Mapping[str, Any]) -> tuple[object, object, object]:
    """Return the key of a linkage: equal for two linkages of a memory that mean the same."""
    return linkage.get("type"), linkage.get("id") or linkage.get("path"), linkage.get("label") or ""


_SOURCE = "memento"
"""Servers tag the records of a batch with its source."""
_MAX_BATCH_RECORDS = 100
_MAX_BATCH_BYTES = 1024 * 1024
"""Bytes of the memories in one request."""
_MEMORY_COLUMNS: tuple[Column, ...] = (
    text_column("content", "content"),
    kind_column("type"),
    tags_column("tags", list),
    moment_column("expires", "expires_at", format_iso_moment, is_optional=True),
)
_SKIP_COLUMNS: tuple[Column, ...] = (
    line_column("item", "item"),
    line_column("reason", "reason"),
    moment_column("expires", "expires_at", format_iso_moment),
)
_ITEM_COLUMNS: tuple[Column, ...] = (
    category_column("category"),
    line_column("title", "title"),
    text_column("content", "content"),
    status_column("status"),
    priority_column("priority"),
    plain_tags_column("tags", list),
    line_column("next_action", "next_action"),
)
_INVALID_SECTION_NAMES = ("items", ".", "..")
"""Keys whose addresses lead elsewhere."""


class _SendCounts(msgspec.Struct, kw_only=True):
    sent: int = 0
    known: int = 0
    waiting: int = 0
    restricted: int = 0
    left_out: int = 0
    refused: list[Refused] = []


def write(records: Iterable[ExportRecord], address: str) -> ExportReport:
    """Send records to the server at an address: to every workspace, or the one that ``MEMENTO_WORKSPACE`` names.

    Memories that are restricted stay here, because the format has no word for that.

    Raises:
        InvalidInput: the address or the key cannot be used, or the server does not answer as it should. What was sent
            before is there, and an export that is run again sends the rest.

    """
    with connect(address) as server:
        workspaces = group_by_workspace(records)
        selected, now = selected_workspace(), clock.now()
        tally = _SendCounts(left_out=workspaces.left_out)
        for name, workspace in workspaces.by_name.items():
            if selected not in ("", name):
                tally.left_out += _size(workspace)
            elif not name.isascii():
                tally.left_out += _size(workspace)
                tally.refused.append(Refused(name, 0, "is no name that a request can carry: it is not ASCII"))
            else:
                _WorkspaceSender(server, name, workspace, tally, now).send()
    return ExportReport(
        records=tally.sent,
        files=0,
        left_out=tally.left_out,
        refused=tuple(tally.refused),
        notices=tuple(_notices(tally)),
    )


def _size(workspace: ProtocolWorkspace) -> int:
    memories = workspace.memories.values()
    others = len(workspace.skips) + len(workspace.items) + len(workspace.crystals)
    return len(memories) + sum(len(memory.edges) for memory in memories) + others


def _notices(tally: _SendCounts) -> Iterator[str]:
    if tally.known:
        yield f"{tally.known:,} there already"
    if tally.waiting:
        yield f"{tally.waiting:,} of what was sent waits there for a person's decision"
    if tally.restricted:
        yield f"{tally.restricted:,} restricted, which stay here: any agent could recall them there"


class _WorkspaceSender:
    """The sender of one workspace; ``now`` decides which records have ended."""

    def __init__(
        self, server: ProtocolClient, name: str, workspace: ProtocolWorkspace, tally: _SendCounts, now: datetime
    ) -> None:
        self._server = server
        self._name = name
        self._workspace = workspace
        self._tally = tally
        self._now = now
        self._held = _fetch_remote_state(server, name)
        self._item_ids: dict[str, str] = {}
        """The server's ids of items by the ids that they have here."""

    def send(self) -> None:
        """Send everything, first the records that others are linked to."""
        for skip in self._workspace.skips:
            self._send_skip(skip)
        sections: set[str] = set()
        for item in self._workspace.items:
            self._send_item(item, sections)
        for batch in _batches(self._new_memories()):
            self._ingest(batch)
        for memory in self._workspace.memories.values():
            self._link(memory)
        for crystal in self._workspace.crystals:
            self._send_crystal(crystal)

    # Lists

    def _send_skip(self, skip: ProtocolRow) -> None:
        fields = skip.fields
        if fields["expires_at"] <= self._now:
            self._tally.left_out += 1
        elif (fields["item"], fields["reason"]) in self._held.skips:
            self._tally.known += 1
        else:
            self._post("POST", "/skip-list", _wire_value(_SKIP_COLUMNS, fields), fields)

    def _send_item(self, item: ProtocolRow, sections: set[str]) -> None:
        """Send a working item, or the section that it is. A second section of a name goes as an item."""
        if "rows" in item.kept:
            self._tally.left_out += 1
            return
        key = item.fields["extra"].get(SECTION_EXTRA)
        if isinstance(key, str) and key not in ("", *_INVALID_SECTION_NAMES, *sections) and "/" not in key:
            sections.add(key)
            self._send_section(item, key)
            return
        fields = item.fields
        known = self._held.items.get(_remote_item_key(fields["category"], fields["title"]))
        if known is not None:
            self._item_ids[fields["id"]] = known.id
            self._compare("/working-memory/items", fields, known.content)
            return
        answer = self._post("POST", "/working-memory/items", _wire_value(_ITEM_COLUMNS, fields), fields)
        if answer is not None and not answer.waits:
            self._item_ids[fields["id"]] = str(answer.fields.get("id", ""))

    def _send_section(self, item: ProtocolRow, key: str) -> None:
        fields = item.fields
        if fields["status"] != "active" or not fields["content"].strip():
            self._tally.left_out += 1
            return
        known = _fetch_section(self._server, self._name, key)
        if known is not None:
            self._compare("/working-memory", fields, known["content"])
            return
        self._post("PUT", f"/working-memory/{quote(key, safe='')}", {"content": fields["content"]}, fields)

    def _compare(self, path: str, fields: dict[str, Any], content: str) -> None:
        """Count a record that is there already; another text in its place stays."""
        if says_the_same(content, fields["content"]):
            self._tally.known += 1
        else:
            self._refuse(path, fields, "it has another text under that title, which stays")

    def _send_crystal(self, crystal: ProtocolRow) -> None:
        fields = crystal.fields
        if fields["status"] != "current":
            self._tally.left_out += 1
        elif says_the_same(fields["content"], self._held.identity):
            self._tally.known += 1
        else:
            # The server keeps the one before.
            self._post("PUT", "/identity", {"crystal": fields["content"]}, fields)

    # Memories

    def _new_memories(self) -> list[ProtocolMemoryRow]:
        """Return the memories to send, each text once."""
        new: dict[str, ProtocolMemoryRow] = {}
        for memory in self._workspace.memories.values():
            text = text_compared(memory.fields["content"])
            if memory.fields["sensitivity"] == "restricted":
                self._tally.restricted += 1
            elif text in self._held.memories or text in new:
                self._tally.known += 1
            elif memory.is_inactive or _is_expired(memory, self._now):
                self._tally.left_out += 1
            else:
                new[text] = memory
        return list(new.values())

    def _ingest(self, batch: list[ProtocolMemoryRow]) -> None:
        """Send memories. Where the server does not take all of them, each is sent alone, to learn which."""
        value = {"memories": [write_row(_MEMORY_COLUMNS, memory.fields, {}) for memory in batch], "source": _SOURCE}
        answer = self._server.send("POST", "/memories/ingest", self._name, value)
        ids, proposed = answer.fields.get("ids", []), answer.fields.get("proposed", [])
        if not isinstance(ids, list) or not isinstance(proposed, list):
            raise self._server.strange("/memories/ingest")
        if len(ids) == len(batch):
            self._tally.sent += len(batch)
            self._tally.waiting += len(proposed)
            for memory, identity in zip(batch, ids, strict=True):
                if identity not in proposed:
                    self._held.memories[text_compared(memory.fields["content"])] = str(identity)
            return
        if len(batch) == 1:
            self._refuse("/memories", batch[0].fields, answer.refusal or "it was turned down there before")
            return
        # Some of them may be stored: a server without the gate would store them twice.
        self._held.memories = _fetch_remote_state(self._server, self._name).memories
        for memory in batch:
            if text_compared(memory.fields["content"]) in self._held.memories:
                self._tally.sent += 1
            else:
                self._ingest([memory])

    def _link(self, memory: ProtocolMemoryRow) -> None:
        """Send the linkages that a memory does not have there, whether it was sent now or is there already."""
        own = self._id_of(memory)
        linkages = [linkage for edge in memory.edges if (linkage := self._linkage(edge)) is not None] if own else []
        self._tally.left_out += len(memory.edges) - len(linkages)
        # Some servers put the linkages that they are given in the place of those that there are.
        present = self._held.linkages.get(own, [])
        keys = {_linkage_key(linkage) for linkage in present}
        missing = [linkage for linkage in linkages if _linkage_key(linkage) not in keys]
        self._tally.known += len(linkages) - len(missing)
        if missing:
            path = f"/memories/{quote(own, safe='')}"
            self._post("PUT", path, {"linkages": [*present, *missing]}, memory.fields, count=len(missing))

    def _linkage(self, edge: ProtocolEdge) -> dict[str, str] | None:
        """Return a relation as a linkage there; ``None`` where its other end is not there."""
        target = edge.target
        if edge.type == "item":
            target = self._item_ids.get(target, "")
        elif edge.type != "file":
            other = self._workspace.memories.get(target)
            target = self._id_of(other) if other is not None else ""
        return linkage_from_relation(edge.type, target, edge.label) if target else None

    def _id_of(self, memory: ProtocolMemoryRow) -> str:
        """Return the server's id of a memory; empty where it is not there, or stays here."""
        if memory.fields["sensitivity"] == "restricted":
            return ""
        return self._held.memories.get(text_compared(memory.fields["content"]), "")

    # Writing

    def _post(
        self, method: str, path: str, value: dict[str, Any], fields: dict[str, Any], *, count: int = 1
    ) -> WriteResponse | None:
        """Send a write of ``count`` records; return ``None`` where it is refused."""
        answer = self._server.send(method, path, self._name, value)
        if answer.refusal:
            self._refuse(path, fields, answer.refusal)
            return None
        self._tally.sent += count
        self._tally.waiting += count if answer.waits else 0
        return answer

    def _refuse(self, path: str, fields: dict[str, Any], reason: str) -> None:
        self._tally.refused.append(Refused(self._name + path, 0, f"does not take {fields['id']!r:.60}: {reason}"))


def _is_expired(memory: ProtocolMemoryRow, now: datetime) -> bool:
    ends = memory.fields["expires_at"]
    return ends is not None and ends <= now


def _wire_value(columns: Iterable[Column], fields: Fields) -> dict[str, Any]:
    """Return the body of a request that creates a record, without empty texts and lists."""
    return {name: value for name, value in write_row(columns, fields, {}).items() if value not in ("", [])}


def _batches(memories: Iterable[ProtocolMemoryRow]) -> Iterator[list[ProtocolMemoryRow]]:
    batch: list[ProtocolMemoryRow] = []
    size = 0
    for memory in memories:
        length = len(msgspec.json.encode(write_row(_MEMORY_COLUMNS, memory.fields, {})))
        if batch and (len(batch) == _MAX_BATCH_RECORDS or size + length > _MAX_BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(memory)
        size += length
    if batch:
        yield batch


FORMAT = Format(
    name="protocol-rest",
    title="Account of Memento Protocol",
    description="the server of Memento Protocol at the address PATH; the key is in MEMENTO_API_KEY",
    read=read,
    count=count,
    write=write,
    is_remote=True,
)
