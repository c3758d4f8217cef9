"""Read and write Memento Protocol's local files below .memento/."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

import msgspec

from memento_tui.errors import InvalidInput
from memento_tui.formats.base import (
    ExportRecord,
    ExportReport,
    Format,
    ImportRecord,
    RecordName,
    Refused,
    check_absent,
    source_digest,
    write_file,
)
from memento_tui.formats.base import (
    namespace_from_parts as namespace_of_parts,
)
from memento_tui.formats.columns import lost_origin, write_row
from memento_tui.formats.protocol.columns import (
    DOCUMENT_HEAD,
    EXTRA_KEY,
    FILE_FORM,
    ITEM_COLUMNS,
    LINK_FIELDS,
    MEMORY_COLUMNS,
    NO_EXPIRY,
    SKIP_COLUMNS,
    DocumentBlock,
    as_list,
    decode_json,
    encode_json,
    is_in_order,
    kept_text,
    parse_blocks,
    render_document,
)
from memento_tui.formats.protocol.rows import (
    ProtocolMemoryRow,
    ProtocolRow,
    ProtocolWorkspace,
    RowContext,
    RowLinks,
    RowLocation,
    build_item,
    build_memory,
    build_section,
    build_skip,
    group_by_workspace,
    tell_ids_apart,
)
from memento_tui.formats.protocol.vocabulary import (
    SECTION_EXTRA,
    SECTIONS,
    linkages_for_memory,
    links_from_linkages,
    merge_ids,
    section_key,
)
from memento_tui.formats.source_files import SourceFile, decode_text, load_file, walk_files

__all__ = ["DOCUMENT", "FOLDER", "FORMAT", "count", "is_workspace", "read", "write"]

FOLDER = ".memento"
DOCUMENT = "working-memory.md"
SKIP_FILE = "skip-index.json"
_SUFFIX = ".json"

_MAX_FILE_BYTES = 16 * 1024 * 1024
"""Bytes of one file."""
_MAX_FOLDERS = 100_000
"""Folders looked into for workspaces, so that a wrong path such as ``/`` comes to an end."""


def is_workspace(folder: Path) -> bool:
    """Return whether a folder has the files of a workspace."""
    if (folder / DOCUMENT).is_file() or (folder / SKIP_FILE).is_file():
        return True
    return any(next(_json_files(folder / name), None) is not None for name in ("memories", "items"))


def _find_home(root: Path) -> Path:
    """Return the folder of a workspace that is named, or that is in the project that is named; else the path itself."""
    return root / FOLDER if is_workspace(root / FOLDER) and not is_workspace(root) else root


def _json_files(folder: Path) -> Iterator[Path]:
    try:
        yield from (path for path in folder.glob(f"*{_SUFFIX}") if path.is_file())
    except OSError:
        return  # reading it reports the reason


def find_workspaces(root: Path) -> Iterator[tuple[Path, PurePosixPath]]:
    """Yield the folders of workspaces with their names, which are empty for the one that is ``root`` itself.

    Raises:
        InvalidInput: there is no folder at ``root``.

    """
    if not root.is_dir():
        raise InvalidInput(f"{root} is no folder.", f"Name the folder {FOLDER}, or one that holds such folders.")
    if is_workspace(home := _find_home(root)):
        yield home, PurePosixPath()
        return
    waiting = deque([PurePosixPath()])
    looked = 0
    while waiting and looked < _MAX_FOLDERS:
        name = waiting.popleft()
        looked += 1
        try:
            with os.scandir(root / name) as listing:
                below = sorted(entry.name for entry in listing if entry.is_dir(follow_symlinks=False))
        except OSError:
            continue  # it cannot be read; the folders beside it can
        if FOLDER in below and is_workspace(root / name / FOLDER):
            yield root / name / FOLDER, name
        waiting.extend(name / folder_name for folder_name in below if folder_name != FOLDER)


def count(root: Path) -> int:
    """Return the number of files."""
    return sum(1 for folder, _ in find_workspaces(root) for _ in _source_files(folder))


def read(root: Path) -> Iterator[ImportRecord | Refused]:
    """Yield the records of the workspaces. Every file is read twice, so that ids and not texts are held in memory.

    Raises:
        InvalidInput: there is no folder at ``root``, or no workspace in it.

    """
    workspaces = list(find_workspaces(root))
    if not workspaces:
        raise InvalidInput(f"{root} holds no files of Memento Protocol.", f"Name the folder {FOLDER}.")
    return tell_ids_apart(_read(workspaces))


def _read(workspaces: list[tuple[Path, PurePosixPath]]) -> Iterator[ImportRecord | Refused]:
    used: Counter[tuple[RecordName, str]] = Counter()
    sources_by_target: dict[Path, dict[str, list[str]]] = {}
    for folder, _ in workspaces:
        ids, sources_by_target[folder] = _index_workspace(folder)
        used.update(ids)
    ambiguous_ids = frozenset(one for one, times in used.items() if times > 1)
    for folder, name in workspaces:
        own = str(name) in (".", "default")
        context = RowContext(
            namespace="global" if own else namespace_of_parts(name.parts),
            prefix="" if len(workspaces) == 1 and str(name) == "." else f"{name}/",
            ambiguous_ids=ambiguous_ids,
            sources_by_target=sources_by_target[folder],
            form=FILE_FORM,
        )
        shown = "" if str(name) == "." else f"{name}/{FOLDER}/"
        for one in _source_files(folder):
            yield from _records_of_file(context, one, shown) if isinstance(one, SourceFile) else [one]


def _source_files(folder: Path) -> Iterator[SourceFile | Refused]:
    """Yield the files of a workspace, named from its folder on."""
    for name in ("memories", "items"):
        if (folder / name).is_dir():
            for file in walk_files(folder / name, _SUFFIX, hidden=True):
                if isinstance(file, Refused):
                    yield Refused(f"{name}/{file.file}", file.line, file.reason)
                else:
                    yield SourceFile(file.path, f"{name}/{file.name}")
    for name in (SKIP_FILE, DOCUMENT):
        if (folder / name).is_file():
            yield SourceFile(str(folder / name), name)


def _index_workspace(folder: Path) -> tuple[set[tuple[RecordName, str]], dict[str, list[str]]]:
    """Return the ids that a workspace uses, and which memories were consolidated into which."""
    ids: set[tuple[RecordName, str]] = set()
    sources_by_target: dict[str, list[str]] = {}
    for file in _source_files(folder):
        if isinstance(file, Refused) or file.name == DOCUMENT:
            continue
        for value in _objects(file):
            identity, into = value.get("id"), value.get("consolidated_into")
            if isinstance(identity, str):
                ids.add((_record(file.name), identity))
                if isinstance(into, str):
                    sources_by_target.setdefault(into, []).append(identity)
    return ids, sources_by_target


def _objects(file: SourceFile) -> list[dict[str, Any]]:
    """Return the objects of a JSON file; none where it cannot be read, which `_records_of_file` reports."""
    read = _value(file, file.name)
    value = [] if isinstance(read, Refused) else read[0]
    return [element for element in (value if isinstance(value, list) else [value]) if isinstance(element, dict)]


def _record(name: str) -> RecordName:
    return "skip" if name == SKIP_FILE else "memory" if name.startswith("memories/") else "item"


def _value(file: SourceFile, shown: str) -> tuple[Any, str] | Refused:
    """Return the value of a JSON file, and its text."""
    text = _text(file, shown)
    if isinstance(text, Refused):
        return text
    try:
        return decode_json(text), text
    except ValueError as error:
        return Refused(shown, 0, f"is not whole JSON: {error}")


def _text(file: SourceFile, shown: str) -> str | Refused:
    loaded = load_file(file, _MAX_FILE_BYTES)
    if isinstance(loaded, Refused):
        return Refused(shown, loaded.line, loaded.reason)
    return decode_text(loaded.data, shown)


def _records_of_file(context: RowContext, file: SourceFile, above: str) -> Iterator[ImportRecord | Refused]:
    shown = above + file.name
    if file.name == DOCUMENT:
        text = _text(file, shown)
        yield from [text] if isinstance(text, Refused) else _sections(context, text, shown)
        return
    read = _value(file, shown)
    if isinstance(read, Refused):
        yield read
        return
    value, text = read
    if file.name == SKIP_FILE:
        yield from _skips(context, value, text, shown)
    elif not isinstance(value, dict):
        yield Refused(shown, 1, "is not an object with fields")
    else:
        location = RowLocation(shown, 1, source_digest(text.encode()))
        columns, make = (
            (MEMORY_COLUMNS, _memory_from_file)
            if file.name.startswith("memories/")
            else (ITEM_COLUMNS, _item_from_file)
        )
        beside: dict[str, Any] = kept_text(columns, value, text)
        if file.name.partition("/")[2] != f"{value.get('id')}{_SUFFIX}":
            beside["name"] = file.name.partition("/")[2]
        yield _with_kept(make(context, value, location), beside)


def _memory_from_file(context: RowContext, value: dict[str, Any], location: RowLocation) -> ImportRecord | Refused:
    own = {name: given for name, given in value.items() if name not in LINK_FIELDS}
    sources = [one for one in as_list(value.get("consolidated_from")) if isinstance(one, str)]
    kept = {name: value[name] for name in LINK_FIELDS if name in value}
    return build_memory(
        context,
        MEMORY_COLUMNS,
        own,
        location,
        RowLinks(linkages=as_list(value.get("linkages")), sources=sources, kept=kept),
    )


def _item_from_file(context: RowContext, value: dict[str, Any], location: RowLocation) -> ImportRecord | Refused:
    return build_item(context, ITEM_COLUMNS, value, location)


def _skips(context: RowContext, value: object, text: str, shown: str) -> Iterator[ImportRecord | Refused]:
    if not isinstance(value, list):
        yield Refused(shown, 1, "is not a list of skips")
        return
    nth = 0
    for entry, line in zip(value, _lines_of(text), strict=False):
        if not isinstance(entry, dict):
            yield Refused(shown, line, "is not an object with fields")
            continue
        location = RowLocation(shown, line, source_digest(msgspec.json.encode(entry, order="sorted")))
        beside = {"nth": nth} if is_in_order(SKIP_COLUMNS, entry) else {"nth": nth, "order": list(entry)}
        record = _with_kept(build_skip(context, SKIP_COLUMNS, entry, location, "expires"), beside)
        nth += isinstance(record, ImportRecord)
        yield record


def _lines_of(text: str) -> Iterator[int]:
    """Yield the line on which each element of a JSON list begins, then the last of them for ever."""
    decode: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().raw_decode
    position, line, counted = text.index("[") + 1, 1, 0
    try:
        while True:
            while text[position] in " \t\r\n,":
                position += 1
            _, end = decode(text, position)
            line += text.count("\n", counted, position)
            yield line
            counted, position = position, end
    except (ValueError, RecursionError):  # the end of the list, or what only the other decoder reads
        yield from itertools.repeat(line)


def _sections(context: RowContext, text: str, shown: str) -> Iterator[ImportRecord | Refused]:
    used: Counter[str] = Counter()
    for nth, block in enumerate(parse_blocks(text)):
        if block.text in (DOCUMENT_HEAD, f"{DOCUMENT_HEAD}\n"):
            continue
        kept = {"heading": block.heading, "lead": block.lead, "tail": block.tail, "nth": nth}
        key = section_key(block.title) if block.heading else ""
        used[key] += 1
        key += f"~{used[key]}" if used[key] > 1 else ""
        location = RowLocation(shown, block.line, source_digest(block.text.encode()))
        title = block.title if block.heading else "Working Memory"
        yield build_section(context, key, title, block.content, context.kept(kept), location, name=key or DOCUMENT)


def _with_kept(record: ImportRecord | Refused, values: dict[str, Any]) -> ImportRecord | Refused:
    """Return a record with further kept data of its file."""
    if isinstance(record, ImportRecord) and values:
        extra = record.fields.setdefault("extra", {})
        extra.setdefault(EXTRA_KEY, {}).setdefault(FILE_FORM, {}).update(values)
    return record


_CONSOLIDATED_FROM = "consolidated_from"
_MAX_NAME_LENGTH = 200
"""Bytes of a file's name, with room for suffixes that an operating system or a synchronization adds."""

_RenderedFile = tuple[PurePosixPath, str]
"""A file's path from the workspace's folder on, and its text."""


def write(records: Iterable[ExportRecord], root: Path) -> ExportReport:
    """Write ``root/<workspace>/.memento/`` for every workspace that there is.

    The format has no place for trust, titles, identity crystals and memories that nobody has approved. What is
    superseded or archived here is not recalled there either.

    Raises:
        InvalidInput: one of the folders is there already, or cannot be written.

    """
    workspaces = group_by_workspace(records, FILE_FORM)
    folders = {root / name / FOLDER: workspace for name, workspace in workspaces.by_name.items()}
    for folder in folders:
        check_absent(folder, "Choose an empty folder.")
    files = left_out = written = 0
    for folder, workspace in folders.items():
        keepers = [item for item in workspace.items if "rows" in item.kept]
        left_out += len(workspace.crystals) + len(keepers)
        written += len(workspace.memories) + len(workspace.skips) + len(workspace.items) - len(keepers)
        for name, text in _render_files(workspace):
            write_file(folder / name, [text.encode("utf-8", "backslashreplace")])
            files += 1
    return ExportReport(records=written + workspaces.relations, files=files, left_out=workspaces.left_out + left_out)


def _render_files(workspace: ProtocolWorkspace) -> Iterator[_RenderedFile]:
    used: set[PurePosixPath] = set()
    for memory in workspace.memories.values():
        yield _path("memories", memory, used), _object_text(_memory_object(memory, workspace), memory.kept)
    skips = list(workspace.skips)
    sections: list[ProtocolRow] = []
    for item in workspace.items:
        if "rows" in item.kept:
            continue
        if item.kept.get("table") == "skip_list":
            skips += [_is_skip_entry(item)] if item.fields["status"] == "active" else []
        elif item.kept.get("heading") is not None or item.fields["extra"].get(SECTION_EXTRA):
            sections.append(item)
        else:
            yield _path("items", item, used), _object_text(write_row(ITEM_COLUMNS, item.fields, item.kept), item.kept)
    yield PurePosixPath(SKIP_FILE), encode_json([_skip_entry(skip) for skip in sorted(skips, key=_file_of_record)])
    sections.sort(key=_file_of_record)
    # The first block that was read has the number 0: it is the head, or a section of a document without one.
    has_own_start = bool(sections) and _file_of_record(sections[0]) == 0
    yield PurePosixPath(DOCUMENT), render_document(map(_block, sections), "" if has_own_start else DOCUMENT_HEAD)


def _file_of_record(record: ProtocolRow) -> float:
    nth = record.kept.get("nth")
    return nth if isinstance(nth, int) else float("inf")


def _is_skip_entry(item: ProtocolRow) -> ProtocolRow:
    fields = {**item.fields, "item": item.fields["title"], "reason": item.fields["content"], "expires_at": None}
    return ProtocolRow(fields=fields, kept=item.kept)


def _skip_entry(skip: ProtocolRow) -> dict[str, Any]:
    """Return the entry of a skip; one without an end that came from elsewhere is written as this format has them."""
    kept = skip.kept
    row = write_row(SKIP_COLUMNS, skip.fields, kept)
    order = kept.get("order")
    if isinstance(order, list):
        return {**{name: row[name] for name in order if isinstance(name, str) and name in row}, **row}
    return row if "nth" in kept or row["expires"] is not None else {**row, "expires": NO_EXPIRY}


def _memory_object(memory: ProtocolMemoryRow, workspace: ProtocolWorkspace) -> dict[str, Any]:
    """Return the object of a memory; it has no field for links that there are none of, unless it came with it."""
    fields, kept, present = memory.fields, memory.kept, workspace.others_of(memory.fields["id"])
    given, linkages = as_list(kept.get("consolidated_from")), as_list(kept.get("linkages"))
    naming = {
        *workspace.members_naming(fields["id"]),
        *(end for kind, end, _ in links_from_linkages(linkages, (), "") if kind == _CONSOLIDATED_FROM),
    }
    sources = [source for source in memory.source_ids if source in given or source not in naming]
    links = {
        "consolidated_into": _consolidated_into(memory, workspace),
        "consolidated_from": merge_ids(given, sources, present),
        "linkages": linkages_for_memory(linkages, memory.edges, present, memory.source_ids),
    }
    row = write_row(MEMORY_COLUMNS, fields, kept)
    for name, value in links.items():
        if name in kept and (kept[name] == value or as_list(kept[name]) == value):
            row[name] = kept[name]
        elif value:
            row[name] = value
    return row


def _consolidated_into(memory: ProtocolMemoryRow, workspace: ProtocolWorkspace) -> Any:  # noqa: ANN401 - whatever a file held
    """Return the value of ``consolidated_into``, or ``None`` where it goes without saying.

    A file that came without it goes on without it while the list that came with the other file names the memory.
    """
    into = workspace.consolidated_into(memory)
    if "consolidated_into" in memory.kept or into is None:
        return into
    return None if memory.fields["id"] in as_list(workspace.memories[into].kept.get("consolidated_from")) else into


def _object_text(value: dict[str, Any], kept: Mapping[str, Any]) -> str:
    """Return the text of an object: the one it was read from, if that still has the same value."""
    text = kept.get("text")
    try:
        return text if isinstance(text, str) and decode_json(text) == value else encode_json(value)
    except ValueError:
        return encode_json(value)


def _path(folder: str, record: ProtocolRow, used: set[PurePosixPath]) -> PurePosixPath:
    """Return the file of a record: the one that it came from, or one by its id."""
    identity = str(record.fields["id"])
    written = record.kept.get("name")
    name = PurePosixPath(written if isinstance(written, str) else quote(identity, safe=" @+=,~") + _SUFFIX)
    is_inside = not name.is_absolute() and ".." not in name.parts and "\x00" not in str(name)
    is_usable = is_inside and name.suffix == _SUFFIX and len(name.name.encode()) <= _MAX_NAME_LENGTH
    digest = hashlib.blake2b(identity.encode(), digest_size=8).hexdigest()
    others = (PurePosixPath(f"{digest}{'~' * again}{_SUFFIX}") for again in itertools.count())
    candidates = itertools.chain([name] if is_usable else [], others)
    name = next(candidate for candidate in candidates if folder / candidate not in used)
    used.add(folder / name)
    return folder / name


def _block(item: ProtocolRow) -> DocumentBlock | tuple[str, str]:
    parts = [item.kept.get(name) for name in ("heading", "lead", "tail")]
    title, content = item.fields["title"], item.fields["content"]
    if not all(isinstance(part, str) for part in parts):
        key = item.fields["extra"].get(SECTION_EXTRA)
        return SECTIONS.get(str(key), title) if title == key else title, content
    heading, lead, tail = (str(part) for part in parts)
    block = DocumentBlock(heading, lead, content, tail)
    return block if not heading or block.title == title else block._replace(heading=f"## {title}\n")


FORMAT = Format(
    name="protocol-local",
    title="Files of Memento Protocol",
    description="the folder .memento of Memento Protocol, or a folder below which there are some",
    read=read,
    count=count,
    write=write,
    loses=lost_origin,
    is_place=lambda path: is_workspace(_find_home(path)),
    home=_find_home,
)
