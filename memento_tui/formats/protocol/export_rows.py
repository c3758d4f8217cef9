"""Group exported records by workspace, each as Memento Protocol sees it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from memento_tui.formats.base import ExportRecord
from memento_tui.formats.protocol.columns import EXTRA_KEY, INACTIVE_STATUSES
from memento_tui.formats.protocol.vocabulary import ProtocolEdge, category_of, item_title, workspace_of_namespace
from memento_tui.model import Crystal, Memory, Relation, Skip, WorkingItem
from memento_tui.model.memory import FOREIGN_ID

__all__ = [
    "ProtocolMemoryRow",
    "ProtocolRow",
    "ProtocolWorkspace",
    "group_by_workspace",
]

_UNEXPORTED_STATUSES = ("pending", "rejected", "deleted")
"""Statuses that the format has no word for: there, such a memory would be as good as any other."""
_SHARED_KEPT_NAMES = ("id", "table", "rows", "namespace")
"""The kept data of a record that every form of the format shares."""


class ProtocolRow(msgspec.Struct, kw_only=True):
    """A record: its fields as the columns take them, and the data that an import kept."""

    fields: dict[str, Any]
    kept: Mapping[str, Any]


class ProtocolMemoryRow(ProtocolRow, kw_only=True):
    """A memory with its relations to others, which are named as the format names them."""

    edges: list[ProtocolEdge] = []
    consolidated_into: list[str] = []
    """The memories that were consolidated from this one."""

    @property
    def source_ids(self) -> list[str]:
        """The memories that this one was consolidated from."""
        return [edge.target for edge in self.edges if edge.type == "consolidated_from"]

    @property
    def is_inactive(self) -> bool:
        """Whether the format counts it as consolidated."""
        return self.fields["status"] in INACTIVE_STATUSES


class _OtherMemories(msgspec.Struct, frozen=True):
    """The memories of a workspace except one: the targets of that one's relations."""

    memories: Mapping[str, ProtocolMemoryRow]
    own: str

    def __contains__(self, memory_id: object) -> bool:
        return memory_id != self.own and memory_id in self.memories


class ProtocolWorkspace(msgspec.Struct, kw_only=True):
    """The records of one workspace, each list in the order in which they came here."""

    memories: dict[str, ProtocolMemoryRow] = {}
    """By the id that the format knows them by."""
    skips: list[ProtocolRow] = []
    items: list[ProtocolRow] = []
    crystals: list[ProtocolRow] = []

    def others_of(self, memory_id: str) -> _OtherMemories:
        """Return the memories that one can be joined to."""
        return _OtherMemories(self.memories, memory_id)

    def members_naming(self, memory_id: str) -> set[str]:
        """Return the memories that say themselves that they were consolidated into this one."""
        source_ids = self.memories[memory_id].source_ids
        return {
            source
            for source in source_ids
            if source in self.memories and self.consolidated_into(self.memories[source]) == memory_id
        }

    def consolidated_into(self, memory: ProtocolMemoryRow) -> Any:  # noqa: ANN401 - whatever a row held
        """Return the value of ``consolidated_into``: the one that came with the row if it holds or leads away."""
        given = memory.kept.get("consolidated_into")
        others = self.others_of(memory.fields["id"])
        leads_away = given is not None and not (isinstance(given, str) and given in others)
        if leads_away or (given is not None and given in memory.consolidated_into):
            return given
        return memory.consolidated_into[0] if memory.consolidated_into and memory.is_inactive else None


class _ProtocolWorkspaces(msgspec.Struct, kw_only=True):
    """The workspaces by name, and how many records have no place in any."""

    by_name: dict[str, ProtocolWorkspace] = {}
    relations: int = 0
    left_out: int = 0


def group_by_workspace(records: Iterable[ExportRecord], form: str = "") -> _ProtocolWorkspaces:
    """Return the records by workspace. ``form`` is the name under which an import kept the data of this form."""
    workspaces = _ProtocolWorkspaces()
    names: dict[str, tuple[str, str]] = {}
    relations: list[Relation] = []
    for record in records:
        if isinstance(record, Relation):
            relations.append(record)
        elif isinstance(record, Memory):
            _add_memory(workspaces, record, names, form)
        else:
            _add_other(workspaces, record, form)
    for relation in relations:
        _add_relation(workspaces, relation, names)
    return workspaces


def _workspace(workspaces: _ProtocolWorkspaces, namespace: str) -> ProtocolWorkspace:
    return workspaces.by_name.setdefault(workspace_of_namespace(namespace), ProtocolWorkspace())


def _add_memory(workspaces: _ProtocolWorkspaces, memory: Memory, names: dict[str, tuple[str, str]], form: str) -> None:
    fields, kept = _fields_and_kept(memory, form)
    workspace = _workspace(workspaces, memory.namespace)
    if memory.status in _UNEXPORTED_STATUSES or fields["id"] in workspace.memories:
        workspaces.left_out += 1
        return
    workspace.memories[fields["id"]] = ProtocolMemoryRow(fields=fields, kept=kept)
    names[memory.id] = (workspace_of_namespace(memory.namespace), fields["id"])


def _add_other(workspaces: _ProtocolWorkspaces, record: Skip | WorkingItem | Crystal, form: str) -> None:
    fields, kept = _fields_and_kept(record, form)
    if isinstance(record, Skip):
        _workspace(workspaces, record.namespace).skips.append(ProtocolRow(fields=fields, kept=kept))
    elif isinstance(record, WorkingItem):
        fields |= {"category": category_of(record), "title": item_title(record)}
        _workspace(workspaces, record.namespace).items.append(ProtocolRow(fields=fields, kept=kept))
    elif record.status in ("current", "past"):
        namespace = kept.get("namespace")
        _workspace(workspaces, namespace if isinstance(namespace, str) else "global").crystals.append(
            ProtocolRow(fields=fields, kept=kept)
        )
    else:
        workspaces.left_out += 1


def _fields_and_kept(
    record: Memory | Skip | WorkingItem | Crystal, form: str
) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """Return the fields of a record, with its id in the format, and the data that an import kept."""
    fields = msgspec.structs.asdict(record)
    kept = record.extra.get(EXTRA_KEY)
    kept = kept if isinstance(kept, dict) else {}
    if form:
        own = kept.get(form)
        common = {name: kept[name] for name in _SHARED_KEPT_NAMES if name in kept}
        kept = {**common, **(own if isinstance(own, dict) else {})}
    foreign_id = kept.get("id") or record.extra.get(FOREIGN_ID)
    # A memory may have the id that a client wished for as well; that is none of the format's.
    if isinstance(foreign_id, str) and foreign_id and ("id" in kept or record.id.startswith(f"{foreign_id}@")):
        fields["id"] = foreign_id
    return fields, kept


def _add_relation(workspaces: _ProtocolWorkspaces, relation: Relation, names: Mapping[str, tuple[str, str]]) -> None:
    if relation.src not in names:
        workspaces.left_out += 1
        return
    workspace, src = names[relation.src]
    target = relation.dst if relation.type in ("file", "item") else names.get(relation.dst, ("", relation.dst))[1]
    memories = workspaces.by_name[workspace].memories
    memories[src].edges.append(ProtocolEdge(relation.type, target, relation.label))
    if relation.type == "consolidated_from" and target in memories:
        memories[target].consolidated_into.append(src)
    workspaces.relations += 1
