"""Convert rows of Memento Protocol's hosted tables to records, and group exported records as it sees them.

Its files and HTTP interface share this.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from memento_tui.formats.base import (
    ExportRecord,
    ImportRecord,
    RecordName,
    Refused,
    one_line,
    source_digest,
    with_id_of_workspace,
)
from memento_tui.formats.columns import Column, id_column, read_row, text_column, unmapped_column, write_row
from memento_tui.formats.protocol.columns import (
    EXTRA_KEY,
    INACTIVE_STATUSES,
    as_list,
    compact_json,
    consolidated_column,
    format_sql_moment,
    item_columns,
    line_column,
    memory_columns,
    moment_column,
    parse_row_moment,
    skip_columns,
    tags_column,
)
from memento_tui.formats.protocol.vocabulary import (
    SECTION_EXTRA,
    ProtocolEdge,
    category_of,
    item_fields,
    item_title,
    links_from_linkages,
    workspace_of_namespace,
)
from memento_tui.model import Crystal, Memory, Relation, Skip, WorkingItem
from memento_tui.model.memory import FOREIGN_ID
from memento_tui.model.validation import MAX_LINE_LENGTH

__all__ = [
    "CONSOLIDATION_COLUMNS",
    "CRYSTAL_COLUMNS",
    "ITEM_COLUMNS",
    "MEMORY_COLUMNS",
    "SECTION_COLUMNS",
    "SKIP_COLUMNS",
    "ProtocolMemoryRow",
    "ProtocolRow",
    "ProtocolWorkspace",
    "RowContext",
    "RowLinks",
    "RowLocation",
    "build_item",
    "build_memory",
    "build_section",
    "build_skip",
    "consolidation_from_row",
    "crystal_from_row",
    "group_by_workspace",
    "item_from_row",
    "keep_raw_rows",
    "memory_from_row",
    "row_digest",
    "section_from_row",
    "skip_from_row",
    "tell_ids_apart",
]


_MAX_KEPT_BYTES = 400_000
"""Bytes of rows that one working item keeps: below what ``extra`` may hold, and little to write again when some more
rows come."""


class RowContext(msgspec.Struct, frozen=True, kw_only=True):
    """The workspace that rows belong to."""

    namespace: str = "global"
    prefix: str = ""
    """The prefix of the keys of its records, where a source has several workspaces."""
    ambiguous_ids: Container[tuple[RecordName, str]] = ()
    """Ids that several workspaces of the source use."""
    sources_by_target: Mapping[str, list[str]] = {}
    """The memories whose rows name the memory that they were consolidated into, by its id."""
    form: str = ""
    """The name under which data of rows is kept: the columns of files are not those of tables."""

    def kept(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the kept data of a row under the name of this form."""
        return {self.form: values} if self.form and values else dict(values)


class RowLocation(msgspec.Struct, frozen=True):
    """The place of a row, and the digest of its content."""

    file: str
    line: int
    digest: bytes


class RowLinks(msgspec.Struct, frozen=True, kw_only=True):
    """The links in a row of a memory, and the data to keep so that they can be written again."""

    linkages: list[Any] = []
    sources: list[str] = []
    kept: Mapping[str, Any] = {}


def build_memory(
    context: RowContext, columns: Iterable[Column], row: Mapping[str, Any], location: RowLocation, links: RowLinks
) -> ImportRecord | Refused:
    """Return the memory of a row; one without a text is refused."""
    fields, left = read_row(columns, row)
    kept = context.kept({**left, **links.kept})
    if not fields["content"].strip():
        return Refused(location.file, location.line, "has no content")
    written = str(row.get("id") or "")
    sources = [*links.sources, *context.sources_by_target.get(written, ())]
    fields |= {"namespace": context.namespace, "source_type": "derived"}
    found_links = links_from_linkages(links.linkages, sources, context.prefix)
    return _import_record(
        context, "memory", fields, kept, location, key=_record_key(fields, location), links=found_links
    )


def build_skip(
    context: RowContext, columns: Iterable[Column], row: Mapping[str, Any], location: RowLocation, expires: str
) -> ImportRecord | Refused:
    """Return the skip of a row, or the standing decision that it is if the column ``expires`` holds no date."""
    fields, left = read_row(columns, row)
    kept = context.kept(left)
    for name in ("item", "reason"):
        if not fields[name]:
            return Refused(location.file, location.line, f"has no {name}")
    fields["namespace"] = context.namespace
    if parse_row_moment(row.get(expires)) is not None:
        return _import_record(context, "skip", fields, kept, location, key=_record_key(fields, location))
    decision = {**item_fields("skip_list", fields["item"]), "content": fields["reason"], "namespace": context.namespace}
    decision |= {name: fields[name] for name in ("id", "created_at") if name in fields}
    return _import_record(
        context, "item", decision, {**kept, "table": "skip_list"}, location, key=f"skip:{_record_key(fields, location)}"
    )


def build_item(
    context: RowContext, columns: Iterable[Column], row: Mapping[str, Any], location: RowLocation
) -> ImportRecord | Refused:
    """Return the working item of a row."""
    fields, left = read_row(columns, row)
    kept = context.kept(left)
    title = fields["title"] or one_line(fields["content"], MAX_LINE_LENGTH // 10)
    if not title:
        return Refused(location.file, location.line, "has neither a title nor a content")
    fields |= {**item_fields(fields["category"], title), "namespace": context.namespace}
    return _import_record(context, "item", fields, kept, location, key=_record_key(fields, location))


def build_section(
    context: RowContext,
    key: str,
    title: str,
    content: str,
    kept: Mapping[str, Any],
    location: RowLocation,
    *,
    name: str = "",
) -> ImportRecord:
    """Return the working item that a section of the working memory is, known by its key or by ``name``.

    Text that belongs to no section has no key, and is archived from the start.
    """
    fields = {
        "title": one_line(title, MAX_LINE_LENGTH) or one_line(key, MAX_LINE_LENGTH) or "Section",
        "category": "session_note",
        "content": content,
        "status": "active" if key else "archived",
        "namespace": context.namespace,
        "extra": {SECTION_EXTRA: key} if key else {},
    }
    return _import_record(context, "item", fields, kept, location, key=f"section:{name or key}")


def _build_crystal(
    context: RowContext, columns: Iterable[Column], row: Mapping[str, Any], location: RowLocation, *, is_current: bool
) -> ImportRecord | Refused:
    """Return the crystal of a row."""
    fields, left = read_row(columns, row)
    kept = context.kept(left)
    if not fields["content"].strip():
        return Refused(location.file, location.line, "has no content")
    fields["status"] = "current" if is_current else "past"
    kept |= {"namespace": context.namespace} if context.namespace != "global" else {}
    return _import_record(context, "crystal", fields, kept, location, key=_record_key(fields, location))


def keep_raw_rows(
    context: RowContext, table: str, rows: Iterable[Mapping[str, Any]], file: str
) -> Iterator[ImportRecord]:
    """Yield as many working items as are needed to keep rows of ``table`` as they are."""
    waiting: list[Mapping[str, Any]] = []
    size = part = 0
    for row in rows:
        length = len(msgspec.json.encode(row))
        if waiting and size + length > _MAX_KEPT_BYTES:
            yield _raw_rows_item(context, table, waiting, part, file)
            waiting, size, part = [], 0, part + 1
        waiting.append(row)
        size += length
    if waiting:
        yield _raw_rows_item(context, table, waiting, part, file)


def _raw_rows_item(
    context: RowContext, table: str, rows: list[Mapping[str, Any]], part: int, file: str
) -> ImportRecord:
    fields = {
        "title": f"Memento Protocol: {table}" + (f", part {part + 1}" if part else ""),
        "category": "session_note",
        "status": "archived",
        "content": "Rows that nothing here can be made of, kept for an export in the format that they came from.",
        "namespace": context.namespace,
    }
    location = RowLocation(file, 0, source_digest(msgspec.json.encode(rows)))
    return _import_record(context, "item", fields, {"table": table, "rows": rows}, location, key=f"kept:{table}:{part}")


def _record_key(fields: Mapping[str, Any], location: RowLocation) -> str:
    """Return the key of a record: its id, or else its place in the file."""
    return str(fields.get("id") or f"{location.file}:{location.line}")


def _import_record(
    context: RowContext,
    record: RecordName,
    fields: dict[str, Any],
    kept: Mapping[str, Any],
    location: RowLocation,
    *,
    key: str,
    links: tuple[tuple[str, str, str], ...] = (),
) -> ImportRecord:
    if kept:
        fields["extra"] = {**fields.get("extra", {}), EXTRA_KEY: dict(kept)}
    return ImportRecord(
        key=context.prefix + key,
        record=record,
        fields=fields,
        digest=location.digest,
        file=location.file,
        line=location.line,
        workspace=context.namespace,
        has_shared_id=(record, fields.get("id")) in context.ambiguous_ids,
        links=links,
    )


def tell_ids_apart(records: Iterable[ImportRecord | Refused]) -> Iterator[ImportRecord | Refused]:
    """Yield a reader's records; where records of several workspaces share an id, only the first keeps it.

    A record with the key of an earlier one, or with the id of one of its own workspace, is refused.
    """
    seen: dict[tuple[str, str, str], ImportRecord] = {}
    for record in records:
        if isinstance(record, Refused):
            yield record
            continue
        named = record
        holder = seen.get((record.record, "id", str(record.fields.get("id", ""))))
        if holder is not None and holder.workspace != record.workspace:
            named = with_id_of_workspace(record)
        names = [(named.record, "key", named.key), (named.record, "id", str(named.fields.get("id", "")))]
        names = [name for name in names if name[2]]
        earlier = next((seen[name] for name in names if name in seen), None)
        if earlier is not None:
            place = f"{earlier.file}:{earlier.line}" if earlier.line else earlier.file
            yield Refused(record.file, record.line, f"has the id of {place}; give it another")
            continue
        seen.update(dict.fromkeys(names, named))
        yield named


MEMORY_COLUMNS: tuple[Column, ...] = (
    *memory_columns("created_at", "expires_at", format_sql_moment, compact_json),
    unmapped_column("relevance", 1.0),
    unmapped_column("access_count", 0),
    unmapped_column("last_accessed_at"),
    consolidated_column("consolidated", 1, 0),
    unmapped_column("embedded_at"),
    unmapped_column("images", "[]"),
)
"""All but ``consolidated_into`` and ``linkages``, which lead to other rows."""
CONSOLIDATION_COLUMNS: tuple[Column, ...] = (
    id_column("id"),
    text_column("summary", "content"),
    tags_column("tags", compact_json),
    unmapped_column("type", "auto"),
    moment_column("created_at", "created_at", format_sql_moment),
    unmapped_column("method", "template"),
    unmapped_column("template_summary"),
)
SKIP_COLUMNS = skip_columns("added_at", "expires_at", format_sql_moment)
ITEM_COLUMNS = item_columns(format_sql_moment, compact_json, unmapped_column("last_touched"))
SECTION_COLUMNS: tuple[Column, ...] = (
    text_column("section_key", "key"),
    line_column("heading", "title"),
    text_column("content", "content"),
    moment_column("updated_at", "updated_at", format_sql_moment),
)
CRYSTAL_COLUMNS: tuple[Column, ...] = (
    id_column("id"),
    text_column("crystal", "content"),
    unmapped_column("source_count", 0),
    moment_column("created_at", "created_at", format_sql_moment),
)

_USAGE_COLUMNS = frozenset(("relevance", "access_count", "last_accessed_at", "embedded_at"))
"""The columns that change by themselves, or when a memory is only read."""

_DEFAULT_ROWS = {
    name: write_row(columns, {}, {})
    for name, columns in (
        ("memory", MEMORY_COLUMNS),
        ("consolidation", CONSOLIDATION_COLUMNS),
        ("skip", SKIP_COLUMNS),
        ("item", ITEM_COLUMNS),
        ("section", SECTION_COLUMNS),
        ("crystal", CRYSTAL_COLUMNS),
    )
}
"""The values of the columns that an older table lacks."""


def row_digest(row: Mapping[str, Any]) -> bytes:
    """Return the digest of a row's content, without the columns that mere use changes."""
    content = {name: value for name, value in sorted(row.items()) if name not in _USAGE_COLUMNS}
    return source_digest(msgspec.json.encode(content))


def memory_from_row(context: RowContext, row: Mapping[str, Any], location: RowLocation) -> ImportRecord | Refused:
    """Return the memory of a row of ``memories``."""
    own = {name: value for name, value in row.items() if name not in ("linkages", "consolidated_into")}
    usual = {"linkages": "[]", "consolidated_into": None}
    kept = {name: row[name] for name, value in usual.items() if name in row and row[name] != value}
    links = RowLinks(linkages=as_list(row.get("linkages")), kept=kept)
    return build_memory(context, MEMORY_COLUMNS, {**_DEFAULT_ROWS["memory"], **own}, location, links)


def consolidation_from_row(
    context: RowContext, row: Mapping[str, Any], location: RowLocation
) -> ImportRecord | Refused:
    """Return the memory of a row of ``consolidations``: the text that stands for others which are not recalled."""
    own = {name: value for name, value in row.items() if name != "source_ids"}
    sources = [source for source in as_list(row.get("source_ids")) if isinstance(source, str)]
    links = RowLinks(sources=sources, kept={"table": "consolidations", "source_ids": row.get("source_ids")})
    memory = build_memory(context, CONSOLIDATION_COLUMNS, {**_DEFAULT_ROWS["consolidation"], **own}, location, links)
    if isinstance(memory, ImportRecord):
        memory.fields["kind"] = "observation"
    return memory


def skip_from_row(context: RowContext, row: Mapping[str, Any], location: RowLocation) -> ImportRecord | Refused:
    """Return the skip, or the standing decision, of a row of ``skip_list``."""
    return build_skip(context, SKIP_COLUMNS, {**_DEFAULT_ROWS["skip"], **row}, location, "expires_at")


def item_from_row(context: RowContext, row: Mapping[str, Any], location: RowLocation) -> ImportRecord | Refused:
    """Return the working item of a row of ``working_memory_items``."""
    return build_item(context, ITEM_COLUMNS, {**_DEFAULT_ROWS["item"], **row}, location)


def section_from_row(context: RowContext, row: Mapping[str, Any], location: RowLocation) -> ImportRecord | None:
    """Return the working item of a row of ``working_memory_sections``; ``None`` for an empty section."""
    fields, kept = read_row(SECTION_COLUMNS, {**_DEFAULT_ROWS["section"], **row})
    if not fields["key"].strip() or not fields["content"].strip():
        return None
    kept["table"] = "working_memory_sections"
    item = build_section(context, fields["key"], fields["title"], fields["content"], kept, location)
    if "updated_at" in fields:
        item.fields["created_at"] = item.fields["updated_at"] = fields["updated_at"]
    return item


def crystal_from_row(
    context: RowContext, row: Mapping[str, Any], location: RowLocation, *, is_current: bool
) -> ImportRecord | Refused:
    """Return the crystal of a row of ``identity_snapshots``."""
    return _build_crystal(
        context, CRYSTAL_COLUMNS, {**_DEFAULT_ROWS["crystal"], **row}, location, is_current=is_current
    )


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
