"""Memories as a graph that the MCP reference server reads: entities first, then the relations between them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from memento_tui.errors import InvalidInput
from memento_tui.interchange.mcp_reference import KEPT, content_of, is_label, kind_fields, title_of, triple
from memento_tui.interchange.outgoing import Outgoing, Written, cannot_write, put_in_place
from memento_tui.interchange.restoring import goes_out, kept_of, moment_as
from memento_tui.records import Memory, Relation

__all__ = ["write"]

_Arrow = tuple[str, str]
"""Where a relation of memento ends, and its label."""


def write(records: Iterable[Outgoing], root: Path) -> Written:
    """Write memories and the relations between them to the file ``root``.

    The format keeps a memory's title, text and kind. What came from such a file and was not changed is written as it
    was; other memories become one observation each.

    Raises:
        InvalidInput: the file is there already, or cannot be written.

    """
    if root.exists():
        raise InvalidInput(f"{root} is there already.", "Choose another name, or move it away.")
    memories: list[Memory] = []
    gone: set[str] = set()
    arrows: dict[str, dict[_Arrow, None]] = {}
    left_out = 0
    for record in records:
        if isinstance(record, Memory) and goes_out(record, KEPT):
            memories.append(record)
        elif isinstance(record, Memory):
            gone.add(_entity_of(kept_of(record, KEPT)).get("name", ""))
            left_out += 1
        elif isinstance(record, Relation) and record.type not in ("file", "item"):
            arrows.setdefault(record.src, {})[record.dst, record.label or record.type] = None
        else:
            left_out += 1
    graph = _Graph(memories, gone, arrows)
    lines = [*graph.entities(), *graph.relations()]
    try:
        put_in_place(root, (msgspec.json.encode(line) + b"\n" for line in lines))
    except OSError as error:
        raise cannot_write(root, error) from error
    return Written(records=len(lines), files=1, left_out=left_out)


class _Graph:
    """The memories of an export by the names that they have as entities."""

    def __init__(
        self, memories: list[Memory], gone: Container[str], arrows: Mapping[str, Mapping[_Arrow, None]]
    ) -> None:
        self._gone = gone
        self._arrows = arrows
        loose = {memory.id for memory in memories if _is_loose(memory)}
        self._loose = [memory for memory in memories if memory.id in loose]
        self._memories = [memory for memory in memories if memory.id not in loose]
        self._kept = {memory.id: kept_of(memory, KEPT) for memory in self._memories}
        self._names: dict[str, str] = {}
        self._by_old_name: dict[str, str] = {}
        taken: set[str] = set()
        for memory in self._memories:
            old = _entity_of(self._kept[memory.id]).get("name")
            if isinstance(old, str):
                self._by_old_name.setdefault(old, memory.id)
            if isinstance(old, str) and title_of(old) == memory.title:
                name = old
            else:
                name = memory.headline if memory.headline not in taken else f"{memory.headline} ({memory.id})"
            taken.add(name)
            self._names[memory.id] = name

    def entities(self) -> Iterator[dict[str, Any]]:
        """Yield the lines of the entities."""
        for memory in self._memories:
            entity = _entity_of(self._kept[memory.id])
            yield _restored(memory, entity, self._names[memory.id]) if entity else _made(memory, self._names[memory.id])

    def relations(self) -> list[dict[str, Any]]:
        """Return the lines of the relations: those of a file in its order, then those that were drawn here."""
        old: list[tuple[int, dict[str, Any]]] = []
        new: list[dict[str, Any]] = []
        for memory in self._memories:
            drawn = self._arrows.get(memory.id, {})
            said: set[_Arrow] = set()
            for line, relation in _relations_of(self._kept[memory.id]):
                if self._still_holds(memory, relation, drawn, said):
                    target = self._names.get(self._by_old_name.get(relation["to"], ""), relation["to"])
                    old.append((line, {**relation, "from": self._names[memory.id], "to": target}))
            new += [
                {"type": "relation", "from": self._names[memory.id], "to": self._names[dst], "relationType": label}
                for dst, label in drawn
                if dst in self._names and (dst, label) not in said
            ]
        for memory in self._loose:
            old += _relations_of(kept_of(memory, KEPT))
        return [relation for _, relation in sorted(old, key=lambda pair: pair[0])] + new

    def _still_holds(
        self, memory: Memory, relation: Mapping[str, Any], drawn: Container[_Arrow], said: set[_Arrow]
    ) -> bool:
        """Tell whether a relation of the source stands; note in ``said`` the relation of memento that it became.

        One that memento could not draw (to a name that is no memory, or to itself) cannot have been taken away here.
        """
        target = self._by_old_name.get(relation["to"])
        if target is None:
            return relation["to"] not in self._gone
        if target == memory.id or not is_label(relation["relationType"]):
            return True
        arrow = (target, relation["relationType"] or "related")
        said.add(arrow)
        return arrow in drawn


def _is_loose(memory: Memory) -> bool:
    """Tell whether a memory stands for a relation that begins at no entity, and still says so."""
    kept = kept_of(memory, KEPT)
    relations = _relations_of(kept)
    return "entity" not in kept and len(relations) == 1 and triple(relations[0][1]) == memory.content


def _entity_of(kept: Mapping[str, Any]) -> dict[str, Any]:
    entity = kept.get("entity")
    return entity if isinstance(entity, dict) and isinstance(entity.get("name"), str) else {}


def _relations_of(kept: Mapping[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    given = kept.get("relations")
    whole = given if isinstance(given, list) else []
    pairs = [(one.get("line"), one.get("relation")) for one in whole if isinstance(one, dict)]
    return [
        (line, relation)
        for line, relation in pairs
        if isinstance(line, int)
        and isinstance(relation, dict)
        and all(isinstance(relation.get(name), str) for name in ("from", "to", "relationType"))
    ]


def _made(memory: Memory, name: str) -> dict[str, Any]:
    kind = memory.kind_raw or memory.kind
    return {"type": "entity", "name": name, "entityType": kind, "observations": [memory.content]}


def _restored(memory: Memory, entity: dict[str, Any], name: str) -> dict[str, Any]:
    changed: dict[str, Any] = {"name": name, "observations": _observations(memory.content, entity)}
    if kind_fields(entity.get("entityType")) != (memory.kind, memory.kind_raw):
        changed["entityType"] = memory.kind_raw or memory.kind
    for field, moment in (("createdAt", memory.created_at), ("updatedAt", memory.updated_at)):
        if entity.get(field) is not None:
            changed[field] = moment_as(moment, entity[field])
    return {**entity, **changed}


def _observations(content: str, entity: Mapping[str, Any]) -> list[Any]:
    """Return the observations of a content: those of the source that it still holds, and otherwise one a line."""
    given = entity.get("observations")
    if not isinstance(given, list):
        return content.split("\n")
    if content == content_of(given, entity["name"]):
        return given
    longer = [one for one in given if isinstance(one, str) and "\n" in one]
    found: list[str] = []
    rest: str | None = content
    while rest is not None:
        whole = next((one for one in longer if rest == one or rest.startswith(f"{one}\n")), rest.split("\n", 1)[0])
        found.append(whole)
        rest = rest[len(whole) + 1 :] if len(rest) > len(whole) else None
    return found
