"""Read and write the issues and memories of beads: one exported file, or a backup with one file a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from memento_tui.errors import InvalidInput
from memento_tui.formats.base import (
    ExportRecord,
    ExportReport,
    Format,
    ImportRecord,
    Refused,
    one_line,
    source_digest,
    text_in,
    usable_tags,
    write_file,
)
from memento_tui.formats.columns import (
    Column,
    ColumnGroup,
    Fields,
    encode_go_json,
    foreign_moment_column,
    format_foreign_moment,
    is_exported,
    kept_fields,
    line_column,
    lost_by_columns,
    lost_origin,
    new_row_column,
    read_fields,
    record_fields,
    restore_row,
    without_keys,
    write_row,
)
from memento_tui.formats.source_files import JsonLine, SourceFile, count_lines, read_objects, walk_files
from memento_tui.model import Memory, WorkingItem
from memento_tui.model.validation import MAX_LINE_LENGTH

__all__ = ["FOLDER", "FORMAT", "ISSUES", "count", "read", "write"]

FOLDER = ".beads"
"""The folder that beads keeps in a project."""

EXTRA_KEY = "beads"
"""The key of ``extra`` for the data that only this format has a place for."""

ISSUES = "issues"
TABLES = ("labels", "dependencies", "comments", "events")
"""The tables of a backup whose rows belong to an issue."""

SETTINGS = "config"
"""The table of a backup in which settings stand, and memories among them."""

_MEMORY_PREFIX = "kv.memory."
"""The prefix of the names of memories in the table ``config`` of a backup."""

_HEADING_OF_TEXT = {"design": "## Design", "acceptance_criteria": "## Acceptance criteria", "notes": "## Notes"}
"""The texts of an issue besides its description, and the headings under which they stand in a content."""

_TEXT_FIELDS = ("description", *_HEADING_OF_TEXT)
_HEADING = re.compile(rf"(?:^|\n\n)({'|'.join(_HEADING_OF_TEXT.values())})\n\n")

_LINES_SUFFIX = ".jsonl"
_LOWEST_PRIORITY = 4
_ITEM_STATUS_OF_ISSUE = {
    "open": "active",
    "in_progress": "active",
    "hooked": "active",
    "pinned": "active",
    "blocked": "paused",
    "deferred": "paused",
    "closed": "completed",
    "tombstone": "archived",
}
"""A working item's status by the issue's; one that a project made up for itself is work that goes on."""
_ISSUE_STATUS_OF_ITEM = {"active": "open", "paused": "deferred", "completed": "closed", "archived": "closed"}

_Rows = dict[str, dict[str, list[JsonLine]]]
"""The rows of a backup by issue and table."""


def count(root: Path) -> int:
    """Return the number of lines."""
    return count_lines(_source(root), _LINES_SUFFIX)


def read(root: Path) -> Iterator[ImportRecord | Refused]:
    """Yield the issues and memories of a file, a backup, or a ``.beads`` folder (or the folder above it).

    Raises:
        InvalidInput: there is nothing at ``root``.

    """
    files: list[SourceFile] = []
    rows: _Rows = {}
    for source in walk_files(_source(root), _LINES_SUFFIX, hidden=True):
        if isinstance(source, Refused):
            yield source
        elif Path(source.name).stem in TABLES:
            yield from _collect_rows(source, rows)
        else:
            files.append(source)
    keys: set[str] = set()
    for file in files:
        yield from _read_file(file, rows, keys)
    for issue, tables in rows.items():
        for table, lines in tables.items():
            for line in lines:
                yield Refused(
                    f"{table}{_LINES_SUFFIX}", line.number, f"is about the issue {issue!r:.60}, which is not there"
                )


def is_home(path: Path) -> bool:
    """Return whether a folder is, or holds, the folder that beads keeps in a project."""
    return path.name == FOLDER or (path / FOLDER).is_dir()


def _find_home(root: Path) -> Path:
    """Return the ``.beads`` folder that is named, or that is in the project that is named; else the path itself."""
    return root / FOLDER if (root / FOLDER).is_dir() else root


def _source(root: Path) -> Path:
    """Return the path to read of a ``.beads`` folder: the export if there is one, else the backup, else all."""
    home = _find_home(root)
    places = (home / f"{ISSUES}{_LINES_SUFFIX}", home / "backup") if home.name == FOLDER else ()
    return next((place for place in places if place.exists()), home)


def _collect_rows(file: SourceFile, rows: _Rows) -> Iterator[Refused]:
    """Add the rows of a table to the issues that they belong to."""
    table = Path(file.name).stem
    for line in read_objects(file, "issue_id"):
        if isinstance(line, Refused):
            yield line
        elif isinstance(issue := line.value.get("issue_id"), str):
            rows.setdefault(issue, {}).setdefault(table, []).append(line)
        else:
            yield Refused(file.name, line.number, "names no issue that it belongs to")


def _is_line(value: Mapping[str, Any]) -> bool:
    """Return whether an object is a line of this format."""
    return _is_issue(value) or _is_memory(value) or "issue_id" in value


def _is_issue(value: Mapping[str, Any]) -> bool:
    """Return whether an object is an issue."""
    has_names = isinstance(value.get("id"), str) and isinstance(value.get("title"), str)
    return has_names and (value.get("_type") == "issue" or "issue_type" in value or "priority" in value)


def _is_memory(value: Mapping[str, Any]) -> bool:
    """Return whether an object is a memory, as it is exported or as it stands in the table of a backup."""
    key, text = value.get("key"), value.get("value")
    if not isinstance(key, str) or not isinstance(text, str):
        return False
    return value.get("_type") == "memory" or key.startswith(_MEMORY_PREFIX)


def _read_file(file: SourceFile, rows: _Rows, keys: set[str]) -> Iterator[ImportRecord | Refused]:
    settings = Path(file.name).stem == SETTINGS
    for line in read_objects(file, "id"):
        if isinstance(line, Refused):
            yield line
            continue
        if _is_issue(line.value):
            record = _item_from_issue(line, file.name, rows.pop(line.value["id"], {}))
        elif _is_memory(line.value):
            record = _memory_from_line(line, file.name)
        else:
            if not settings:
                yield Refused(file.name, line.number, "is neither an issue nor a memory of beads")
            continue
        if record.key in keys:
            yield Refused(file.name, line.number, "has the id of one before it; give it another")
        else:
            keys.add(record.key)
            yield record


def _item_from_issue(line: JsonLine, file: str, rows: Mapping[str, list[JsonLine]]) -> ImportRecord:
    value = line.value
    content = _content_of_issue(value)
    # A text that itself holds one of these headings cannot be separated again; then the whole issue is kept.
    parted = _texts_of_content(content) == {name: text_in(value, name) for name in _TEXT_FIELDS}
    kept: dict[str, Any] = {"issue": without_keys(value, *_TEXT_FIELDS) if parted else value}
    for table, lines in rows.items():
        kept[table] = [row.value for row in lines]
    return ImportRecord(
        key=f"issue {value['id']}",
        record="item",
        fields={
            "id": value["id"],
            **read_fields(_ISSUE_COLUMNS, value),
            "tags": usable_tags(_labels_of_issue(kept)),
            "extra": {EXTRA_KEY: kept},
        },
        digest=source_digest(b"\n".join([line.source, *(row.source for lines in rows.values() for row in lines)])),
        file=file,
        line=line.number,
    )


def _memory_from_line(line: JsonLine, file: str) -> ImportRecord:
    key = line.value["key"]
    return ImportRecord(
        key=f"memory {key.removeprefix(_MEMORY_PREFIX)}",
        record="memory",
        fields={
            "title": _title_of_memory(key),
            "content": line.value["value"],
            "source_type": "derived",
            "source": {"agent": "beads"},
            "extra": {EXTRA_KEY: {"memory": without_keys(line.value, "value")}},
        },
        digest=source_digest(line.source),
        file=file,
        line=line.number,
    )


def _title_of_memory(key: str) -> str:
    """Return the title of a memory that beads knows by a key."""
    return one_line(key.removeprefix(_MEMORY_PREFIX), MAX_LINE_LENGTH)


def _content_of_issue(issue: Mapping[str, Any]) -> str:
    """Return the texts of an issue as one: the description, then each other under its heading."""
    parts = [text_in(issue, "description")]
    parts += [f"{heading}\n\n{text}" for name, heading in _HEADING_OF_TEXT.items() if (text := text_in(issue, name))]
    return "\n\n".join(part for part in parts if part)


def _texts_of_content(content: str) -> dict[str, str]:
    """Return the texts of an issue that make up a content, empty where there is none."""
    names = {heading: name for name, heading in _HEADING_OF_TEXT.items()}
    texts = dict.fromkeys(_TEXT_FIELDS, "")
    first, *rest = _HEADING.split(content)
    texts["description"] = first
    for heading, text in zip(rest[::2], rest[1::2], strict=True):
        texts[names[heading]] = text
    return texts


def _labels_of_issue(kept: Mapping[str, Any]) -> list[str]:
    """Return the labels of an issue, which stand in it or are rows of a table."""
    given = kept["issue"].get("labels")
    rows = kept.get("labels")
    if not isinstance(given, list):
        given = [row.get("label") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return [word for word in given if isinstance(word, str)]


def _write_texts(fields: Fields, issue: Fields) -> Fields:
    """Return the texts of an issue that a changed content sets; in a new issue a next action becomes a note."""
    if issue and fields["content"] == _content_of_issue(issue):
        return {}
    texts = _texts_of_content(fields["content"])
    if not issue and fields["next_action"]:
        texts["notes"] = "\n\n".join(part for part in (texts["notes"], f"Next: {fields['next_action']}") if part)
    return {name: text for name, text in texts.items() if text or issue.get(name)}


def _read_priority(value: object) -> Fields:
    return {"priority": _LOWEST_PRIORITY - value if isinstance(value, int) and abs(value) <= _LOWEST_PRIORITY else 0}


def _write_priority(fields: Fields, _: object) -> int:
    priority: int = fields["priority"]
    return min(max(_LOWEST_PRIORITY - priority, 0), _LOWEST_PRIORITY)


def _read_status(issue: Fields) -> Fields:
    """Return the status and the category: a gate is waited for, and a pinned issue is a standing decision."""
    category = "active_work"
    if issue.get("await_type") or issue.get("issue_type") == "gate":
        category = "waiting_for"
    elif issue.get("status") == "pinned" or issue.get("pinned"):
        category = "standing_decision"
    return {"status": _ITEM_STATUS_OF_ISSUE.get(text_in(issue, "status"), "active"), "category": category}


def _write_status(fields: Fields, issue: Fields) -> Fields:
    """Return the status of an issue; beads accepts a closed one only with its time, and any other only without."""
    if issue and all(fields[name] == value for name, value in _read_status(issue).items()):
        return {}
    is_pinned = fields["category"] == "standing_decision" and fields["status"] == "active"
    changed: dict[str, Any] = {"status": "pinned" if is_pinned else _ISSUE_STATUS_OF_ITEM[fields["status"]]}
    if not issue:
        changed["issue_type"] = "gate" if fields["category"] == "waiting_for" else "task"
    if changed["status"] == "closed":
        moment = format_foreign_moment(fields["updated_at"], issue.get("updated_at"))
        changed["closed_at"] = issue.get("closed_at") or moment
    elif "closed_at" in issue:
        changed["closed_at"] = None
    return changed


_ISSUE_COLUMNS: tuple[Column | ColumnGroup, ...] = (
    new_row_column("id", lambda fields: fields["id"]),
    line_column("title", "title", MAX_LINE_LENGTH),
    ColumnGroup(lambda issue: {"content": _content_of_issue(issue)}, _write_texts),
    ColumnGroup(_read_status, _write_status),
    Column("priority", _read_priority, _write_priority),
    foreign_moment_column("created_at", "created_at"),
    foreign_moment_column("updated_at", "updated_at"),
)
"""All but the labels, which stand in the issue or in rows of their own."""

_COUNT_FIELDS = ("dependency_count", "dependent_count", "comment_count")
"""The fields that only an export has, besides the issue and the rows that belong to it."""

_Tables = dict[str, list[dict[str, Any]]]


def write(records: Iterable[ExportRecord], root: Path) -> ExportReport:
    """Write working items and memories: to one file if ``root`` ends with ``.jsonl``, else to a folder of tables.

    A record that came from beads and was not changed is written as it was. The one file has no place for events, as
    beads' own export has none, and an issue of beads has none for a next action. Session notes are nothing to work on;
    they are left out.

    Raises:
        InvalidInput: ``root`` is there already, or cannot be written.

    """
    in_one_file = root.suffix == _LINES_SUFFIX
    if root.exists() and (in_one_file or not root.is_dir() or any(root.iterdir())):
        raise InvalidInput(f"{root} is there already.", "Choose another name, or an empty folder.")
    tables: _Tables = {name: [] for name in (ISSUES, *TABLES, SETTINGS)}
    taken: set[str] = set()
    written = left_out = 0
    for record in records:
        if isinstance(record, WorkingItem) and (record.category != "session_note" or kept_fields(record, EXTRA_KEY)):
            _add_issue(record, tables, embedded=in_one_file)
        elif isinstance(record, Memory) and is_exported(record, EXTRA_KEY):
            tables[SETTINGS].append(_line_from_memory(record, taken, in_table=not in_one_file))
        else:
            left_out += 1
            continue
        written += 1
    files = {root: tables[ISSUES] + tables[SETTINGS]} if in_one_file else _files(root, tables)
    for path, lines in files.items():
        write_file(path, (encode_go_json(line) + b"\n" for line in lines))
    return ExportReport(records=written, files=len(files), left_out=left_out)


def _files(root: Path, tables: _Tables) -> dict[Path, list[dict[str, Any]]]:
    for rows in tables.values():
        if all(isinstance(row.get("id"), int) for row in rows):
            rows.sort(key=lambda row: int(row["id"]))
    return {root / f"{name}{_LINES_SUFFIX}": rows for name, rows in tables.items() if rows or name == ISSUES}


def _add_issue(item: WorkingItem, tables: _Tables, *, embedded: bool) -> None:
    """Add an issue to its table, and the rows that belong to it to the issue or to tables of their own."""
    kept = kept_fields(item, EXTRA_KEY)
    if isinstance(kept.get("issue"), dict) and isinstance(kept["issue"].get("id"), str):
        issue = restore_row(_ISSUE_COLUMNS, record_fields(item), kept["issue"])
    else:
        issue = ({"_type": "issue"} if embedded else {}) | write_row(_ISSUE_COLUMNS, record_fields(item), {})
        kept = {"issue": issue}
    labels = _labels(item, kept)
    if embedded:
        tables[ISSUES].append(_with_related_rows(issue, kept, labels))
        return
    rows: dict[str, Any] = {name: issue.pop(name, None) for name in ("labels", "dependencies", "comments")}
    for name in ("_type", *_COUNT_FIELDS):
        issue.pop(name, None)
    tables[ISSUES].append(issue)
    tables["labels"] += [{"issue_id": issue["id"], "label": label} for label in labels]
    for name in ("dependencies", "comments", "events"):
        tables[name] += _objects(kept.get(name, rows.get(name)))


def _objects(given: object) -> list[dict[str, Any]]:
    return [row for row in given if isinstance(row, dict)] if isinstance(given, list) else []


def _labels(item: WorkingItem, kept: Mapping[str, Any]) -> list[str]:
    given = _labels_of_issue(kept)
    return given if usable_tags(given) == item.tags else list(item.tags)


def _with_related_rows(issue: dict[str, Any], kept: Mapping[str, Any], labels: list[str]) -> dict[str, Any]:
    """Return an issue with its labels, dependencies and comments in it, as an export has it."""
    if labels or issue.get("labels"):
        issue["labels"] = labels
    for name in ("dependencies", "comments"):
        if rows := _objects(kept.get(name)):
            issue[name] = rows
    return issue


def _line_from_memory(memory: Memory, taken: set[str], *, in_table: bool) -> dict[str, Any]:
    """Return a memory under a key that no other has: its old one, its title, or its id."""
    kept = kept_fields(memory, EXTRA_KEY).get("memory")
    line = dict(kept) if isinstance(kept, dict) else {}
    old = line.get("key")
    bare = old.removeprefix(_MEMORY_PREFIX) if isinstance(old, str) and _title_of_memory(old) == memory.title else ""
    key = next((name for name in (bare, memory.title) if name and name not in taken), memory.id)
    taken.add(key)
    if in_table:
        line.pop("_type", None)
        return {**line, "key": f"{_MEMORY_PREFIX}{key}", "value": memory.content}
    return {"_type": "memory", **line, "key": key, "value": memory.content}


def _lost_fields(written: ExportRecord, read: ExportRecord) -> set[str]:
    if not isinstance(written, WorkingItem):
        return set()
    return lost_origin(written, read) | lost_by_columns(_ISSUE_COLUMNS, record_fields(written), read)


FORMAT = Format(
    name="beads",
    title="beads",
    description="the issues and memories of beads: what bd export writes, or a backup in .beads",
    read=read,
    count=count,
    write=write,
    loses=_lost_fields,
    is_place=is_home,
    home=_find_home,
    is_line=_is_line,
)
