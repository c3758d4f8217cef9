"""The issues of beads, as ``bd export`` writes them (one file) or as its backup does (a folder with a file a table).

A bead is work and not something learned: it has a status, a priority and somebody who does it, and it ends. So it is a
working item, and a memory of beads (``bd remember``) is a memory. Design, acceptance criteria and notes stand below the
description, under headings. beads counts priorities from 0, the most urgent, to 4; here more is more urgent.

Working items have no relations: dependencies, comments and events are kept with the issue that they belong to, and so
is everything else that memento has no place for, in ``extra["beads"]``. The settings in a backup are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memento_tui.interchange.incoming import Incoming, Refused, source_digest
from memento_tui.interchange.lines import Line, count_lines, objects
from memento_tui.interchange.names import one_line, usable_tags
from memento_tui.interchange.restoring import moment_in, without
from memento_tui.interchange.tree import SourceFile, walk
from memento_tui.records.rules import MAX_LINE_LENGTH

__all__ = [
    "HOME",
    "ISSUES",
    "KEPT",
    "LEAST_URGENT",
    "MEMORY_PREFIX",
    "SETTINGS",
    "TABLES",
    "TEXTS",
    "category_in",
    "content_of",
    "count",
    "is_home",
    "is_line_of",
    "labels_in",
    "priority_in",
    "read",
    "status_in",
    "texts_of",
    "title_of_memory",
]

HOME = ".beads"
"""The folder that beads keeps in a project."""

KEPT = "beads"
"""The key of ``extra`` for what only this format knows."""

ISSUES = "issues"
TABLES = ("labels", "dependencies", "comments", "events")
"""The tables of a backup whose rows belong to an issue."""

SETTINGS = "config"
"""The table of a backup in which settings stand, and memories among them."""

MEMORY_PREFIX = "kv.memory."
"""What the names of memories begin with in the table ``config`` of a backup."""

_SECTIONS = {"design": "## Design", "acceptance_criteria": "## Acceptance criteria", "notes": "## Notes"}
"""The texts of an issue besides its description, and the headings under which they stand in a content."""

TEXTS = ("description", *_SECTIONS)
_HEADING = re.compile(rf"(?:^|\n\n)({'|'.join(_SECTIONS.values())})\n\n")

_SUFFIX = ".jsonl"
LEAST_URGENT = 4
_STATUSES = {
    "open": "active",
    "in_progress": "active",
    "hooked": "active",
    "pinned": "active",
    "blocked": "paused",
    "deferred": "paused",
    "closed": "completed",
    "tombstone": "archived",
}
"""What its statuses mean here; one that a project made up for itself is work that goes on."""

_Rows = dict[str, dict[str, list[Line]]]
"""The rows of a backup by issue and table."""


def count(root: Path) -> int:
    """Return the number of lines."""
    return count_lines(_home(root), _SUFFIX)


def read(root: Path) -> Iterator[Incoming | Refused]:
    """Yield the issues and memories of a file, a backup, or a ``.beads`` folder (or the folder above it).

    Raises:
        InvalidInput: there is nothing at ``root``.

    """
    files: list[SourceFile] = []
    rows: _Rows = {}
    for found in walk(_home(root), _SUFFIX, hidden=True):
        if isinstance(found, Refused):
            yield found
        elif Path(found.name).stem in TABLES:
            yield from _gather(found, rows)
        else:
            files.append(found)
    keys: set[str] = set()
    for file in files:
        yield from _read_file(file, rows, keys)
    for issue, tables in rows.items():
        for table, lines in tables.items():
            for line in lines:
                yield Refused(f"{table}{_SUFFIX}", line.number, f"is about the issue {issue!r:.60}, which is not there")


def is_home(path: Path) -> bool:
    """Tell whether a folder holds what beads keeps in a project."""
    return path.name == HOME or (path / HOME).is_dir()


def _home(root: Path) -> Path:
    """Return what to read of a ``.beads`` folder: what beads exports if that is there, else its backup, else all."""
    home = root / HOME if (root / HOME).is_dir() else root
    places = (home / f"{ISSUES}{_SUFFIX}", home / "backup") if home.name == HOME else ()
    return next((place for place in places if place.exists()), home)


def _gather(file: SourceFile, rows: _Rows) -> Iterator[Refused]:
    """Put the rows of a table with the issues that they belong to."""
    table = Path(file.name).stem
    for line in objects(file, "issue_id"):
        if isinstance(line, Refused):
            yield line
        elif isinstance(issue := line.value.get("issue_id"), str):
            rows.setdefault(issue, {}).setdefault(table, []).append(line)
        else:
            yield Refused(file.name, line.number, "names no issue that it belongs to")


def is_line_of(value: Mapping[str, Any]) -> bool:
    """Tell whether an object is a line of this format."""
    return _is_issue(value) or _is_memory(value) or "issue_id" in value


def _is_issue(value: Mapping[str, Any]) -> bool:
    """Tell whether an object is an issue."""
    named = isinstance(value.get("id"), str) and isinstance(value.get("title"), str)
    return named and (value.get("_type") == "issue" or "issue_type" in value or "priority" in value)


def _is_memory(value: Mapping[str, Any]) -> bool:
    """Tell whether an object is a memory, as it is exported or as it stands in the table of a backup."""
    key, text = value.get("key"), value.get("value")
    if not isinstance(key, str) or not isinstance(text, str):
        return False
    return value.get("_type") == "memory" or key.startswith(MEMORY_PREFIX)


def _read_file(file: SourceFile, rows: _Rows, keys: set[str]) -> Iterator[Incoming | Refused]:
    settings = Path(file.name).stem == SETTINGS
    for line in objects(file, "id"):
        if isinstance(line, Refused):
            yield line
            continue
        if _is_issue(line.value):
            found = _issue(line, file.name, rows.pop(line.value["id"], {}))
        elif _is_memory(line.value):
            found = _memory(line, file.name)
        else:
            if not settings:
                yield Refused(file.name, line.number, "is neither an issue nor a memory of beads")
            continue
        if found.key in keys:
            yield Refused(file.name, line.number, "has the id of one before it; give it another")
        else:
            keys.add(found.key)
            yield found


def _issue(line: Line, file: str, rows: Mapping[str, list[Line]]) -> Incoming:
    value = line.value
    content = content_of(value)
    # A text that holds a heading of ours cannot be told from what stands below it; only the whole leads back.
    parted = texts_of(content) == {name: _text(value, name) for name in TEXTS}
    kept: dict[str, Any] = {"issue": without(value, *TEXTS) if parted else value}
    for table, lines in rows.items():
        kept[table] = [row.value for row in lines]
    return Incoming(
        key=f"issue {value['id']}",
        record="item",
        fields={
            "id": value["id"],
            "title": one_line(value["title"], MAX_LINE_LENGTH),
            "content": content,
            "category": category_in(value),
            "status": status_in(value),
            "priority": priority_in(value),
            "tags": usable_tags(labels_in(kept)),
            **_moments(value),
            "extra": {KEPT: kept},
        },
        digest=source_digest(b"\n".join([line.source, *(row.source for lines in rows.values() for row in lines)])),
        file=file,
        line=line.number,
    )


def _memory(line: Line, file: str) -> Incoming:
    key = line.value["key"]
    return Incoming(
        key=f"memory {key.removeprefix(MEMORY_PREFIX)}",
        record="memory",
        fields={
            "title": title_of_memory(key),
            "content": line.value["value"],
            "source_type": "derived",
            "source": {"agent": "beads"},
            "extra": {KEPT: {"memory": without(line.value, "value")}},
        },
        digest=source_digest(line.source),
        file=file,
        line=line.number,
    )


def title_of_memory(key: str) -> str:
    """Return the title of a memory that beads knows by a key."""
    return one_line(key.removeprefix(MEMORY_PREFIX), MAX_LINE_LENGTH)


def _text(value: Mapping[str, Any], name: str) -> str:
    given = value.get(name)
    return given if isinstance(given, str) else ""


def content_of(issue: Mapping[str, Any]) -> str:
    """Return the texts of an issue as one: the description, then each other under its heading."""
    parts = [_text(issue, "description")]
    parts += [f"{heading}\n\n{text}" for name, heading in _SECTIONS.items() if (text := _text(issue, name))]
    return "\n\n".join(part for part in parts if part)


def texts_of(content: str) -> dict[str, str]:
    """Return the texts of an issue that a content was made of, empty where there is none."""
    names = {heading: name for name, heading in _SECTIONS.items()}
    texts = dict.fromkeys(TEXTS, "")
    first, *rest = _HEADING.split(content)
    texts["description"] = first
    for heading, text in zip(rest[::2], rest[1::2], strict=True):
        texts[names[heading]] = text
    return texts


def category_in(issue: Mapping[str, Any]) -> str:
    """Return the category of an issue: a gate waits for something, what is pinned holds until further notice."""
    if issue.get("await_type") or issue.get("issue_type") == "gate":
        return "waiting_for"
    return "standing_decision" if issue.get("status") == "pinned" or issue.get("pinned") else "active_work"


def status_in(issue: Mapping[str, Any]) -> str:
    """Return the status of the working item that an issue becomes."""
    return _STATUSES.get(_text(issue, "status"), "active")


def priority_in(issue: Mapping[str, Any]) -> int:
    """Return the priority of the working item that an issue becomes."""
    given = issue.get("priority")
    return LEAST_URGENT - given if isinstance(given, int) and abs(given) <= LEAST_URGENT else 0


def labels_in(kept: Mapping[str, Any]) -> list[str]:
    """Return the labels of an issue, which stand in it or are rows of a table."""
    given = kept["issue"].get("labels")
    rows = kept.get("labels")
    if not isinstance(given, list):
        given = [row.get("label") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return [word for word in given if isinstance(word, str)]


def _moments(issue: Mapping[str, Any]) -> dict[str, Any]:
    moments = {field: moment_in(issue.get(field)) for field in ("created_at", "updated_at")}
    return {field: moment for field, moment in moments.items() if moment is not None}
