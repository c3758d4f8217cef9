"""What an export to Memento Protocol writes, parted into workspaces, each record as the format sees it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from memento_tui.interchange.outgoing import Outgoing
from memento_tui.interchange.protocol_columns import INACTIVE, KEPT
from memento_tui.interchange.protocol_linkages import Arrow
from memento_tui.interchange.protocol_model import category_of, item_title, workspace_of
from memento_tui.records import Crystal, Memory, Relation, Skip, WorkingItem

__all__ = ["Departing", "DepartingMemory", "Others", "Workspace", "Workspaces", "parted"]

_NOT_WRITTEN = ("pending", "rejected", "deleted")
"""Statuses that the format has no word for: there, such a memory would be as good as any other."""
_COMMON = ("id", "table", "rows", "namespace")
"""What is kept of a record whatever form it came in."""


class Departing(msgspec.Struct, kw_only=True):
    """A record: its fields as the columns take them, and what an import kept of it."""

    fields: dict[str, Any]
    kept: Mapping[str, Any]


class DepartingMemory(Departing, kw_only=True):
    """A memory with its relations to others, which are named as the format names them."""

    arrows: list[Arrow] = []
    into: list[str] = []
    """The memories that were consolidated from this one."""

    @property
    def made_from(self) -> list[str]:
        """The memories that this one was consolidated from."""
        return [arrow.target for arrow in self.arrows if arrow.type == "consolidated_from"]

    @property
    def is_inactive(self) -> bool:
        """Whether the format counts it as consolidated."""
        return self.fields["status"] in INACTIVE


class Others(msgspec.Struct, frozen=True):
    """The memories of a workspace but one: what that one can be joined to."""

    memories: Mapping[str, DepartingMemory]
    own: str

    def __contains__(self, memory_id: object) -> bool:
        return memory_id != self.own and memory_id in self.memories


class Workspace(msgspec.Struct, kw_only=True):
    """What one workspace holds, each list in the order in which the records came here."""

    memories: dict[str, DepartingMemory] = {}
    """By the id that the format knows them by."""
    skips: list[Departing] = []
    items: list[Departing] = []
    crystals: list[Departing] = []

    def others(self, memory_id: str) -> Others:
        """Return the memories that one can be joined to."""
        return Others(self.memories, memory_id)

    def told_to(self, memory_id: str) -> set[str]:
        """Return the memories that say themselves that they were consolidated into this one."""
        made_from = self.memories[memory_id].made_from
        return {one for one in made_from if one in self.memories and self.into(self.memories[one]) == memory_id}

    def into(self, memory: DepartingMemory) -> Any:  # noqa: ANN401 - whatever a row held
        """Return what a row of a memory says it was consolidated into: what it said, if that holds or leads away."""
        given = memory.kept.get("consolidated_into")
        others = self.others(memory.fields["id"])
        leads_away = given is not None and not (isinstance(given, str) and given in others)
        if leads_away or (given is not None and given in memory.into):
            return given
        return memory.into[0] if memory.into and memory.is_inactive else None


class Workspaces(msgspec.Struct, kw_only=True):
    """The workspaces by name, and how many records have no place in any."""

    by_name: dict[str, Workspace] = {}
    relations: int = 0
    left_out: int = 0


def parted(records: Iterable[Outgoing], form: str = "") -> Workspaces:
    """Return what is to be written of the records. ``form`` is the name under which an import kept what is of use."""
    found = Workspaces()
    names: dict[str, tuple[str, str]] = {}
    relations: list[Relation] = []
    for record in records:
        if isinstance(record, Relation):
            relations.append(record)
        elif isinstance(record, Memory):
            _take_memory(found, record, names, form)
        else:
            _take_other(found, record, form)
    for relation in relations:
        _draw(found, relation, names)
    return found


def _workspace(found: Workspaces, namespace: str) -> Workspace:
    return found.by_name.setdefault(workspace_of(namespace), Workspace())


def _take_memory(found: Workspaces, memory: Memory, names: dict[str, tuple[str, str]], form: str) -> None:
    fields, kept = _parts(memory, form)
    workspace = _workspace(found, memory.namespace)
    if memory.status in _NOT_WRITTEN or fields["id"] in workspace.memories:
        found.left_out += 1
        return
    workspace.memories[fields["id"]] = DepartingMemory(fields=fields, kept=kept)
    names[memory.id] = (workspace_of(memory.namespace), fields["id"])


def _take_other(found: Workspaces, record: Skip | WorkingItem | Crystal, form: str) -> None:
    fields, kept = _parts(record, form)
    if isinstance(record, Skip):
        _workspace(found, record.namespace).skips.append(Departing(fields=fields, kept=kept))
    elif isinstance(record, WorkingItem):
        fields |= {"category": category_of(record), "title": item_title(record)}
        _workspace(found, record.namespace).items.append(Departing(fields=fields, kept=kept))
    elif record.status in ("current", "past"):
        namespace = kept.get("namespace")
        _workspace(found, namespace if isinstance(namespace, str) else "global").crystals.append(
            Departing(fields=fields, kept=kept)
        )
    else:
        found.left_out += 1


def _parts(record: Memory | Skip | WorkingItem | Crystal, form: str) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """Return the fields of a record, its id as the format knows it, and what an import kept of it."""
    fields = msgspec.structs.asdict(record)
    kept = record.extra.get(KEPT)
    kept = kept if isinstance(kept, dict) else {}
    if form:
        own = kept.get(form)
        common = {name: kept[name] for name in _COMMON if name in kept}
        kept = {**common, **(own if isinstance(own, dict) else {})}
    named = kept.get("id")
    if isinstance(named, str) and named:
        fields["id"] = named
    return fields, kept


def _draw(found: Workspaces, relation: Relation, names: Mapping[str, tuple[str, str]]) -> None:
    if relation.src not in names:
        found.left_out += 1
        return
    workspace, src = names[relation.src]
    target = relation.dst if relation.type in ("file", "item") else names.get(relation.dst, ("", relation.dst))[1]
    memories = found.by_name[workspace].memories
    memories[src].arrows.append(Arrow(relation.type, target, relation.label))
    if relation.type == "consolidated_from" and target in memories:
        memories[target].into.append(src)
    found.relations += 1
