"""Working items as issues of beads, and memories as its memories: one file as ``bd export`` writes, or a backup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from memento_tui.errors import InvalidInput
from memento_tui.interchange.beads import (
    ISSUES,
    KEPT,
    LEAST_URGENT,
    MEMORY_PREFIX,
    SETTINGS,
    TABLES,
    TEXTS,
    category_in,
    content_of,
    labels_in,
    priority_in,
    status_in,
    texts_of,
    title_of_memory,
)
from memento_tui.interchange.go_json import go_json
from memento_tui.interchange.names import one_line, usable_tags
from memento_tui.interchange.outgoing import Outgoing, Written, cannot_write, put_in_place
from memento_tui.interchange.restoring import goes_out, kept_of, moment_as
from memento_tui.records import Memory, WorkingItem
from memento_tui.records.rules import MAX_LINE_LENGTH

__all__ = ["write"]

_SUFFIX = ".jsonl"
_STATUSES = {"active": "open", "paused": "deferred", "completed": "closed", "archived": "closed"}
_COUNTS = ("dependency_count", "dependent_count", "comment_count")
"""What only an export has besides the issue and the rows that belong to it."""

_Tables = dict[str, list[dict[str, Any]]]


def write(records: Iterable[Outgoing], root: Path) -> Written:
    """Write working items and memories: to one file if ``root`` ends with ``.jsonl``, else to a folder of tables.

    What came from beads and was not changed is written as it was. The one file has no place for events, as beads' own
    export has none, and an issue of beads has none for a next action. Session notes are nothing to work on; they are
    left out.

    Raises:
        InvalidInput: ``root`` is there already, or cannot be written.

    """
    in_one_file = root.suffix == _SUFFIX
    if root.exists() and (in_one_file or not root.is_dir() or any(root.iterdir())):
        raise InvalidInput(f"{root} is there already.", "Choose another name, or an empty folder.")
    tables: _Tables = {name: [] for name in (ISSUES, *TABLES, SETTINGS)}
    taken: set[str] = set()
    written = left_out = 0
    for record in records:
        if isinstance(record, WorkingItem) and (record.category != "session_note" or kept_of(record, KEPT)):
            _put_issue(record, tables, embedded=in_one_file)
        elif isinstance(record, Memory) and goes_out(record, KEPT):
            tables[SETTINGS].append(_memory(record, taken, in_table=not in_one_file))
        else:
            left_out += 1
            continue
        written += 1
    files = {root: tables[ISSUES] + tables[SETTINGS]} if in_one_file else _files(root, tables)
    for path, lines in files.items():
        try:
            put_in_place(path, (go_json(line) + b"\n" for line in lines))
        except OSError as error:
            raise cannot_write(path, error) from error
    return Written(records=written, files=len(files), left_out=left_out)


def _files(root: Path, tables: _Tables) -> dict[Path, list[dict[str, Any]]]:
    for rows in tables.values():
        if all(isinstance(row.get("id"), int) for row in rows):
            rows.sort(key=lambda row: int(row["id"]))
    return {root / f"{name}{_SUFFIX}": rows for name, rows in tables.items() if rows or name == ISSUES}


def _put_issue(item: WorkingItem, tables: _Tables, *, embedded: bool) -> None:
    """Put an issue into its table, and what belongs to it into it or into tables of their own."""
    kept = kept_of(item, KEPT)
    if isinstance(kept.get("issue"), dict) and isinstance(kept["issue"].get("id"), str):
        issue = _restored(item, kept["issue"])
    else:
        issue = _made(item, embedded=embedded)
        kept = {"issue": issue}
    labels = _labels(item, kept)
    if embedded:
        tables[ISSUES].append(_with_rows(issue, kept, labels))
        return
    rows: dict[str, Any] = {name: issue.pop(name, None) for name in ("labels", "dependencies", "comments")}
    for name in ("_type", *_COUNTS):
        issue.pop(name, None)
    tables[ISSUES].append(issue)
    tables["labels"] += [{"issue_id": issue["id"], "label": label} for label in labels]
    for name in ("dependencies", "comments", "events"):
        tables[name] += _objects(kept.get(name, rows.get(name)))


def _objects(given: object) -> list[dict[str, Any]]:
    return [row for row in given if isinstance(row, dict)] if isinstance(given, list) else []


def _labels(item: WorkingItem, kept: Mapping[str, Any]) -> list[str]:
    given = labels_in(kept)
    return given if usable_tags(given) == item.tags else list(item.tags)


def _with_rows(issue: dict[str, Any], kept: Mapping[str, Any], labels: list[str]) -> dict[str, Any]:
    """Return an issue that holds what belongs to it, as an export has it."""
    if labels or issue.get("labels"):
        issue["labels"] = labels
    for name in ("dependencies", "comments"):
        if rows := _objects(kept.get(name)):
            issue[name] = rows
    return issue


def _made(item: WorkingItem, *, embedded: bool) -> dict[str, Any]:
    """Return an issue for a working item that came from elsewhere."""
    texts = texts_of(item.content)
    if item.next_action:
        texts["notes"] = "\n\n".join(part for part in (texts["notes"], f"Next: {item.next_action}") if part)
    issue = {
        **({"_type": "issue"} if embedded else {}),
        "id": item.id,
        "title": item.title,
        **{name: text for name, text in texts.items() if text},
        "status": "open",
        "priority": _urgency(item),
        "issue_type": "gate" if item.category == "waiting_for" else "task",
        "created_at": moment_as(item.created_at, None),
        "updated_at": moment_as(item.updated_at, None),
    }
    _move(issue, item)
    return issue


def _urgency(item: WorkingItem) -> int:
    return min(max(LEAST_URGENT - item.priority, 0), LEAST_URGENT)


def _restored(item: WorkingItem, kept: Mapping[str, Any]) -> dict[str, Any]:
    """Return the issue as it was, but for what the working item now says otherwise."""
    issue = dict(kept)
    if item.title != one_line(str(kept.get("title", "")), MAX_LINE_LENGTH):
        issue["title"] = item.title
    if item.content != content_of(kept):
        texts = texts_of(item.content)
        issue |= {name: texts[name] for name in TEXTS if texts[name] or kept.get(name)}
    if item.priority != priority_in(kept):
        issue["priority"] = _urgency(item)
    for field, moment in (("created_at", item.created_at), ("updated_at", item.updated_at)):
        if kept.get(field) is not None:
            issue[field] = moment_as(moment, kept[field])
    if (item.status, item.category) != (status_in(kept), category_in(kept)):
        _move(issue, item)
    return issue


def _move(issue: dict[str, Any], item: WorkingItem) -> None:
    """Give an issue another status; beads takes one as closed only with the time of it, and no other with one."""
    pinned = item.category == "standing_decision" and item.status == "active"
    issue["status"] = "pinned" if pinned else _STATUSES[item.status]
    if issue["status"] == "closed":
        issue["closed_at"] = issue.get("closed_at") or moment_as(item.updated_at, issue.get("updated_at"))
    elif "closed_at" in issue:
        issue["closed_at"] = None


def _memory(memory: Memory, taken: set[str], *, in_table: bool) -> dict[str, Any]:
    """Return a memory under a key that no other has: its old one, its title, or its id."""
    kept = kept_of(memory, KEPT).get("memory")
    line = dict(kept) if isinstance(kept, dict) else {}
    old = line.get("key")
    bare = old.removeprefix(MEMORY_PREFIX) if isinstance(old, str) and title_of_memory(old) == memory.title else ""
    key = next((name for name in (bare, memory.title) if name and name not in taken), memory.id)
    taken.add(key)
    if in_table:
        line.pop("_type", None)
        return {**line, "key": f"{MEMORY_PREFIX}{key}", "value": memory.content}
    return {"_type": "memory", **line, "key": key, "value": memory.content}
