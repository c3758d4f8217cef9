"""Memories in the format of memento-core: one JSONL file for each namespace."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from memento_tui.errors import InvalidInput
from memento_tui.interchange.memento_core import KEPT
from memento_tui.interchange.names import usable_tags
from memento_tui.interchange.outgoing import Outgoing, Written, cannot_write, put_in_place
from memento_tui.records import Memory, Relation
from memento_tui.records.when import parse_moment

__all__ = ["write"]


def write(records: Iterable[Outgoing], root: Path) -> Written:
    """Write memories, and the relations between them, as ``root/memories/<namespace>.jsonl``, one line for each memory.

    The format keeps a memory's text, namespace, tags, times, source, relations and end; trust, kind and title have no
    place in it. A deleted memory becomes a tombstone.

    Raises:
        InvalidInput: ``root`` holds memories already, or cannot be written.

    """
    folder = root / "memories"
    if folder.exists():
        raise InvalidInput(f"{folder} is there already.", "Choose an empty folder.")
    memories: list[Memory] = []
    targets: dict[str, list[str]] = {}
    left_out = 0
    for record in records:
        if isinstance(record, Memory):
            memories.append(record)
        elif isinstance(record, Relation) and record.type not in ("file", "item"):
            targets.setdefault(record.src, []).append(record.dst)
        else:
            left_out += 1
    foreign = {memory.id: _foreign_id(memory) for memory in memories}
    present = frozenset(foreign.values())
    lines: dict[str, list[bytes]] = {}
    for memory in memories:
        relations = [foreign.get(target, target) for target in targets.get(memory.id, ())]
        line = msgspec.json.encode(_line(memory, foreign[memory.id], relations, present))
        lines.setdefault(memory.namespace, []).append(line + b"\n")
    for namespace, encoded in lines.items():
        path = folder / f"{namespace}.jsonl"
        try:
            put_in_place(path, encoded)
        except OSError as error:
            raise cannot_write(path, error) from error
    related = sum(len(targets.get(memory.id, ())) for memory in memories)
    return Written(records=len(memories) + related, files=len(lines), left_out=left_out)


def _kept(memory: Memory) -> Mapping[str, Any]:
    """Return what the import kept aside; nothing where another hand has put something else in that place."""
    kept = memory.extra.get(KEPT)
    return kept if isinstance(kept, dict) else {}


def _foreign_id(memory: Memory) -> str:
    given = _kept(memory).get("id")
    return given if isinstance(given, str) else memory.id


def _line(memory: Memory, identity: str, relations: list[str], present: Container[str]) -> dict[str, Any]:
    kept = _kept(memory)
    line: dict[str, Any] = {
        "id": identity,
        "namespace": memory.namespace,
        "content": memory.content,
        "tags": _tags(memory, kept),
        "created": _moment(memory.created_at, kept.get("created")),
        "updated": _moment(memory.updated_at, kept.get("updated")),
        "source": memory.source.agent or kept.get("source"),
        "relations": _relations(identity, relations, kept.get("relations"), present),
        "ttl": _moment(memory.expires_at, kept.get("ttl")) if memory.expires_at else kept.get("ttl"),
    }
    if memory.status == "deleted":
        line["deleted"] = True
    return {**line, **{name: value for name, value in kept.items() if name not in line}}


def _tags(memory: Memory, kept: Mapping[str, Any]) -> Any:  # noqa: ANN401 - whatever the source had
    given = kept.get("tags")
    words = [word for word in given if isinstance(word, str)] if isinstance(given, list) else []
    return given if given is not None and usable_tags(words) == memory.tags else list(memory.tags)


def _moment(moment: datetime, given: object) -> str:
    """Return the source's own text where it still means the moment, else the form that JavaScript writes."""
    if isinstance(given, str):
        try:
            if parse_moment(given, "moment") == moment:
                return given
        except InvalidInput:
            pass  # an export never fails over a text that the import could not read either
    precision = "microseconds" if moment.microsecond % 1000 else "milliseconds"
    return moment.astimezone(UTC).isoformat(timespec=precision).replace("+00:00", "Z")


def _relations(identity: str, current: list[str], given: Any, present: Container[str]) -> Any:  # noqa: ANN401 - as above
    """Return the relations in the source's order, then the new ones.

    Those of the source that memento has no relation for stay: to memories that are not here, and to the memory itself.
    """
    if given is not None and not isinstance(given, list) and not current:
        return given
    before = given if isinstance(given, list) else []
    stays = (identity, *current)
    still = [target for target in before if not isinstance(target, str) or target in stays or target not in present]
    return still + [target for target in dict.fromkeys(current) if target not in still]
