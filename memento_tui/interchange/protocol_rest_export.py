"""Records sent to a server of Memento Protocol, each into the workspace of its namespace.

The wire adds and does not replace: what the server holds already is not sent again, and where it holds another text in
the same place, that text stays and the record is refused. What the wire has no word for is left out, above all that a
memory is not to be recalled any more: there it would be recalled like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any
from urllib.parse import quote

import msgspec

from memento_tui import clock
from memento_tui.interchange.incoming import Refused
from memento_tui.interchange.outgoing import Outgoing, Written
from memento_tui.interchange.protocol_columns import moment_written_iso
from memento_tui.interchange.protocol_held import held_by, item_key, linkage_key
from memento_tui.interchange.protocol_linkages import Arrow
from memento_tui.interchange.protocol_model import SECTION, linkage_of
from memento_tui.interchange.protocol_outgoing import Departing, DepartingMemory, Workspace, parted
from memento_tui.interchange.protocol_rest import read_section
from memento_tui.interchange.protocol_server import Answer, Server, connected, wanted_workspace
from memento_tui.records.memory import content_digest

__all__ = ["write"]

_SOURCE = "memento"
"""Servers tag what comes in numbers with where it comes from."""
_MOST_AT_ONCE = 100
_LARGEST_BATCH = 1024 * 1024
"""Bytes of the memories in one request."""
_NO_SECTIONS = ("items", ".", "..")
"""Keys whose addresses lead elsewhere."""


class _Tally(msgspec.Struct, kw_only=True):
    sent: int = 0
    known: int = 0
    waiting: int = 0
    restricted: int = 0
    left_out: int = 0
    refused: list[Refused] = []


def write(records: Iterable[Outgoing], address: str) -> Written:
    """Send records to the server at an address: to every workspace, or the one that ``MEMENTO_WORKSPACE`` names.

    Memories that are restricted stay here, because the wire cannot say that they are.

    Raises:
        InvalidInput: the address or the key cannot be used, or the server does not answer as it should. What was sent
            before is there, and an export that is run again sends the rest.

    """
    with connected(address) as server:
        workspaces = parted(records)
        wanted, now = wanted_workspace(), clock.now()
        tally = _Tally(left_out=workspaces.left_out)
        for name, workspace in workspaces.by_name.items():
            if wanted not in ("", name):
                tally.left_out += _size(workspace)
            elif not name.isascii():
                tally.left_out += _size(workspace)
                tally.refused.append(Refused(name, 0, "is no name that a request can carry: it is not ASCII"))
            else:
                _Delivery(server, name, workspace, tally, now).send()
    return Written(
        records=tally.sent, files=0, left_out=tally.left_out, refused=tuple(tally.refused), told=tuple(_told(tally))
    )


def _size(workspace: Workspace) -> int:
    memories = workspace.memories.values()
    others = len(workspace.skips) + len(workspace.items) + len(workspace.crystals)
    return len(memories) + sum(len(memory.arrows) for memory in memories) + others


def _told(tally: _Tally) -> Iterator[str]:
    if tally.known:
        yield f"{tally.known:,} there already"
    if tally.waiting:
        yield f"{tally.waiting:,} of what was sent waits there for a person's decision"
    if tally.restricted:
        yield f"{tally.restricted:,} restricted, which stay here: any agent could recall them there"


class _Delivery:
    """Sends one workspace; ``now`` decides what has ended."""

    def __init__(self, server: Server, name: str, workspace: Workspace, tally: _Tally, now: datetime) -> None:
        self._server = server
        self._name = name
        self._workspace = workspace
        self._tally = tally
        self._now = now
        self._held = held_by(server, name)
        self._item_ids: dict[str, str] = {}
        """The server's ids of items by the ids that they have here."""

    def send(self) -> None:
        """Send everything, first what others are linked to."""
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

    def _send_skip(self, skip: Departing) -> None:
        fields = skip.fields
        if fields["expires_at"] <= self._now:
            self._tally.left_out += 1
        elif (fields["item"], fields["reason"]) in self._held.skips:
            self._tally.known += 1
        else:
            value = {"item": fields["item"], "reason": fields["reason"]}
            self._post("POST", "/skip-list", {**value, "expires": moment_written_iso(fields["expires_at"])}, fields)

    def _send_item(self, item: Departing, sections: set[str]) -> None:
        """Send a working item, or the section that it is. A second section of a name goes as an item."""
        if "rows" in item.kept:
            self._tally.left_out += 1
            return
        key = item.fields["extra"].get(SECTION)
        if isinstance(key, str) and key not in ("", *_NO_SECTIONS, *sections) and "/" not in key:
            sections.add(key)
            self._send_section(item, key)
            return
        fields = item.fields
        known = self._held.items.get(item_key(fields["category"], fields["title"]))
        if known is not None:
            self._item_ids[fields["id"]] = known.id
            self._compare("/working-memory/items", fields, known.content)
            return
        names = ("category", "title", "content", "status", "priority", "tags", "next_action")
        value = {name: fields[name] for name in names if fields[name] or name == "priority"}
        answer = self._post("POST", "/working-memory/items", value, fields)
        if answer is not None and not answer.waits:
            self._item_ids[fields["id"]] = str(answer.fields.get("id", ""))

    def _send_section(self, item: Departing, key: str) -> None:
        fields = item.fields
        if fields["status"] != "active" or not fields["content"].strip():
            self._tally.left_out += 1
            return
        known = read_section(self._server, self._name, key)
        if known is not None:
            self._compare("/working-memory", fields, known["content"])
            return
        self._post("PUT", f"/working-memory/{quote(key, safe='')}", {"content": fields["content"]}, fields)

    def _compare(self, path: str, fields: dict[str, Any], content: str) -> None:
        """Count what is there already; another text in its place stays."""
        if content_digest(content) == content_digest(fields["content"]):
            self._tally.known += 1
        else:
            self._refuse(path, fields, "it has another text under that title, which stays")

    def _send_crystal(self, crystal: Departing) -> None:
        fields = crystal.fields
        if fields["status"] != "current":
            self._tally.left_out += 1
        elif content_digest(fields["content"]) == content_digest(self._held.identity):
            self._tally.known += 1
        else:
            # The server keeps the one before.
            self._post("PUT", "/identity", {"crystal": fields["content"]}, fields)

    # Memories

    def _new_memories(self) -> list[DepartingMemory]:
        """Return the memories to send, each text once."""
        new: dict[bytes, DepartingMemory] = {}
        for memory in self._workspace.memories.values():
            digest = content_digest(memory.fields["content"])
            if memory.fields["sensitivity"] == "restricted":
                self._tally.restricted += 1
            elif digest in self._held.memories or digest in new:
                self._tally.known += 1
            elif memory.is_inactive or _is_over(memory, self._now):
                self._tally.left_out += 1
            else:
                new[digest] = memory
        return list(new.values())

    def _ingest(self, batch: list[DepartingMemory]) -> None:
        """Send memories. Where the server does not take all of them, each is sent alone, so that it is told which."""
        value = {"memories": [_memory_value(memory) for memory in batch], "source": _SOURCE}
        answer = self._server.send("POST", "/memories/ingest", self._name, value)
        ids, proposed = answer.fields.get("ids", []), answer.fields.get("proposed", [])
        if not isinstance(ids, list) or not isinstance(proposed, list):
            raise self._server.strange("/memories/ingest")
        if len(ids) == len(batch):
            self._tally.sent += len(batch)
            self._tally.waiting += len(proposed)
            for memory, identity in zip(batch, ids, strict=True):
                if identity not in proposed:
                    self._held.memories[content_digest(memory.fields["content"])] = str(identity)
            return
        if len(batch) == 1:
            self._refuse("/memories", batch[0].fields, answer.refusal or "it was turned down there before")
            return
        # Some of them may be stored: a server without the gate would store them twice.
        self._held.memories = held_by(self._server, self._name).memories
        for memory in batch:
            if content_digest(memory.fields["content"]) in self._held.memories:
                self._tally.sent += 1
            else:
                self._ingest([memory])

    def _link(self, memory: DepartingMemory) -> None:
        """Send the linkages that a memory does not have there, whether it was sent now or is there already."""
        own = self._id_of(memory)
        wanted = [linkage for arrow in memory.arrows if (linkage := self._linkage(arrow)) is not None] if own else []
        self._tally.left_out += len(memory.arrows) - len(wanted)
        # Some servers put the linkages that they are given in the place of those that there are.
        present = self._held.linkages.get(own, [])
        keys = {linkage_key(linkage) for linkage in present}
        missing = [linkage for linkage in wanted if linkage_key(linkage) not in keys]
        self._tally.known += len(wanted) - len(missing)
        if missing:
            path = f"/memories/{quote(own, safe='')}"
            self._post("PUT", path, {"linkages": [*present, *missing]}, memory.fields, count=len(missing))

    def _linkage(self, arrow: Arrow) -> dict[str, str] | None:
        """Return a relation as a linkage there; ``None`` where its other end is not there."""
        target = arrow.target
        if arrow.type == "item":
            target = self._item_ids.get(target, "")
        elif arrow.type != "file":
            other = self._workspace.memories.get(target)
            target = self._id_of(other) if other is not None else ""
        return linkage_of(arrow.type, target, arrow.label) if target else None

    def _id_of(self, memory: DepartingMemory) -> str:
        """Return the server's id of a memory; empty where it is not there, or stays here."""
        if memory.fields["sensitivity"] == "restricted":
            return ""
        return self._held.memories.get(content_digest(memory.fields["content"]), "")

    # Writing

    def _post(
        self, method: str, path: str, value: dict[str, Any], fields: dict[str, Any], *, count: int = 1
    ) -> Answer | None:
        """Write something that is ``count`` records; ``None`` where it is refused."""
        answer = self._server.send(method, path, self._name, value)
        if answer.refusal:
            self._refuse(path, fields, answer.refusal)
            return None
        self._tally.sent += count
        self._tally.waiting += count if answer.waits else 0
        return answer

    def _refuse(self, path: str, fields: dict[str, Any], reason: str) -> None:
        self._tally.refused.append(Refused(self._name + path, 0, f"does not take {fields['id']!r:.60}: {reason}"))


def _is_over(memory: DepartingMemory, now: datetime) -> bool:
    ends = memory.fields["expires_at"]
    return ends is not None and ends <= now


def _memory_value(memory: DepartingMemory) -> dict[str, Any]:
    fields = memory.fields
    value = {"content": fields["content"], "type": fields["kind_raw"] or fields["kind"]}
    value["tags"] = [*fields["tags"], *fields["system_tags"]]
    ends = fields["expires_at"]
    return value if ends is None else {**value, "expires": moment_written_iso(ends)}


def _batches(memories: Iterable[DepartingMemory]) -> Iterator[list[DepartingMemory]]:
    batch: list[DepartingMemory] = []
    size = 0
    for memory in memories:
        length = len(msgspec.json.encode(_memory_value(memory)))
        if batch and (len(batch) == _MOST_AT_ONCE or size + length > _LARGEST_BATCH):
            yield batch
            batch, size = [], 0
        batch.append(memory)
        size += length
    if batch:
        yield batch
