"""Foreign files as documents: every text in them can be found, and replaced, whatever their format.

A document is what a file says in lists, objects and texts: JSON as it is, a file of lines as a list, a note as its
properties and the parts of its body, a database as its rows.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, cast

from ruamel.yaml import YAML

from tests.poison.attacks import Attack
from tests.poison.fields import Path as Place
from tests.poison.fields import at, put

__all__ = ["DONOR", "Files", "attacked", "read_files", "renamed", "write_files"]

DONOR = "donor"
"""The word in the ids and texts of a sample that is another one in each copy."""

Files = Mapping[str, Any]
"""Documents by the names of their files."""

_HEADING = re.compile(r"(#+ |[-*] )(.*)")
_HEAD = re.compile(r"\A---\n(.*?\n)?---\n", re.DOTALL)


def _read_note(data: bytes) -> Any:
    text = data.decode()
    head = _HEAD.match(text)
    properties = YAML(typ="safe").load(head[1] or "") or {} if head else {}
    body = [
        {"before": match[1], "line": match[2]} if (match := _HEADING.match(line)) else {"before": "", "text": line}
        for line in text[head.end() if head else 0 :].splitlines()
    ]
    return {"properties": json.loads(json.dumps(properties, default=str)), "body": body}


def _write_note(document: Any, path: Path) -> None:
    lines = [part["before"] + part.get("line", part.get("text", "")) for part in document["body"]]
    head = io.StringIO()
    if document["properties"]:
        yaml = YAML()
        yaml.default_flow_style = False
        yaml.width = 10_000
        yaml.dump(document["properties"], head)
    path.write_text((f"---\n{head.getvalue()}---\n" if document["properties"] else "") + "\n".join(lines) + "\n")


def _read_database(path: Path) -> Any:
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {
            name: [dict(row) for row in connection.execute(f'SELECT * FROM "{name}"')]  # noqa: S608 - its own tables
            for name in names
            if not name.startswith("sqlite_") and "fts" not in name
        }


def _write_database(document: Any, path: Path, sample: Path) -> None:
    """Write the rows into a copy of the sample, whose tables they are."""
    path.write_bytes(sample.read_bytes())
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        for name, rows in document.items():
            connection.execute(f'DELETE FROM "{name}"')  # noqa: S608 - its own tables
            columns = {row[1] for row in connection.execute(f'PRAGMA table_info("{name}")')}
            for row in rows:
                known = {column: value for column, value in row.items() if column in columns}
                places = ", ".join("?" * len(known))
                named = ", ".join(f'"{column}"' for column in known)
                connection.execute(f'INSERT INTO "{name}" ({named}) VALUES ({places})', list(known.values()))  # noqa: S608 - its own tables


def _lines(data: bytes) -> Any:
    return [json.loads(line) for line in data.decode().splitlines() if line.strip()]


def _written_lines(document: Any) -> bytes:
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in document).encode()


def read_files(folder: Path) -> dict[str, Any]:
    """Return the documents of the files in a folder and below it; files of other kinds have none."""
    readers: dict[str, Callable[[Path], Any]] = {
        ".json": lambda path: json.loads(path.read_bytes()),
        ".jsonl": lambda path: _lines(path.read_bytes()),
        ".gz": lambda path: _lines(gzip.decompress(path.read_bytes())),
        ".md": lambda path: _read_note(path.read_bytes()),
        ".db": _read_database,
    }
    return {
        path.relative_to(folder).as_posix(): readers[path.suffix](path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix in readers
    }


def write_files(files: Files, folder: Path, sample: Path) -> None:
    """Write documents below a folder; ``sample`` is the folder that the first of them were read from."""
    originals = [path.relative_to(sample).as_posix() for path in sorted(sample.rglob("*.db"))]
    databases = iter(originals)
    for name, document in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        match path.suffix:
            case ".jsonl":
                path.write_bytes(_written_lines(document))
            case ".gz":
                path.write_bytes(gzip.compress(_written_lines(document)))
            case ".md":
                _write_note(document, path)
            case ".db":
                _write_database(document, path, sample / next(databases))
            case _:
                path.write_text(json.dumps(document, ensure_ascii=False, indent=1))


def renamed(value: Any, word: str) -> Any:
    """Return a copy in which another word stands for the donor's, in names, ids and texts."""
    if isinstance(value, str):
        return value.replace(DONOR, word).replace(DONOR.title(), word.title())
    if isinstance(value, Mapping):
        return {renamed(name, word): renamed(inner, word) for name, inner in value.items()}
    return [renamed(inner, word) for inner in value] if isinstance(value, list) else value


def attacked(document: Any, place: Place, attack: Attack, text: str) -> None:
    """Put an attack where a place is, and beside it what it claims to be, as an object has room for it."""
    put(document, place, text)
    if not attack.claims:
        return
    around = next(
        (inner for depth in range(len(place) - 1, -1, -1) if isinstance(inner := at(document, place[:depth]), dict)),
        None,
    )
    if around is not None and "before" in around:
        around = document["properties"]
    if around is not None:
        claims = cast("dict[str, Any]", dict(attack.claims))
        around |= {name: value for name, value in claims.items() if name != place[-1]}
