"""Writing: remembering one by one, and importing many at once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from time import perf_counter

import tantivy

from memento_tui.api import Workspace
from memento_tui.formats.import_export import run_import
from memento_tui.storage.connection import Connection, open_for_writing
from memento_tui.storage.database import PRAGMAS
from tests.benchmarks.corpus import memories
from tests.benchmarks.table import Row

__all__ = ["bulk_import", "remember_rate"]

_SINGLE = 3000
_BARE_TABLE = "CREATE TABLE memory (id TEXT PRIMARY KEY, content TEXT, kind TEXT, tags TEXT, namespace TEXT) STRICT"


def _bare_database(path: Path) -> Connection:
    path.unlink(missing_ok=True)
    connection = open_for_writing(path, busy_seconds=0, create=True)
    for pragma in PRAGMAS:
        connection.execute(pragma)
    connection.execute(_BARE_TABLE)
    return connection


def _bare_row(number: int, fields: dict[str, object]) -> tuple[object, ...]:
    return (f"m{number}", fields["content"], fields["kind"], json.dumps(fields["tags"]), fields["namespace"])


def remember_rate(scratch: Path) -> Row:
    """Compare durable remembers, one transaction each, with bare inserts under the same pragmas, by turns."""
    bare = _bare_database(scratch / "bare.db")
    taken = {"ours": 0.0, "bare": 0.0}
    with Workspace(scratch / "remember") as workspace:
        items = list(memories(_SINGLE))
        for start in range(0, _SINGLE, 100):
            begun = perf_counter()
            for fields in items[start : start + 100]:
                rest = {name: value for name, value in fields.items() if name != "content"}
                workspace.remember(fields["content"], **rest)
            middle = perf_counter()
            for number, fields in enumerate(items[start : start + 100], start):
                bare.execute("BEGIN IMMEDIATE")
                bare.execute("INSERT INTO memory VALUES (?, ?, ?, ?, ?)", _bare_row(number, fields))
                bare.execute("COMMIT")
            taken["ours"] += middle - begun
            taken["bare"] += perf_counter() - middle
    rates = {side: _SINGLE / seconds for side, seconds in taken.items()}
    what = "durable remembers per second through the store / bare SQLite inserts, same pragmas"
    ratio = rates["ours"] / rates["bare"]
    return Row(what, f"{rates['ours']:,.0f}/s", f"{rates['bare']:,.0f}/s", ratio, 0.5, higher_is_better=True)


def bulk_import(scratch: Path, count: int) -> Row:
    """Compare an import, until all of it can be found by keyword, with bare inserts and bare Tantivy adds."""
    source = scratch / "import.jsonl"
    with source.open("w") as stream:
        for number, fields in enumerate(memories(count)):
            stream.write(json.dumps({"record": "memory", "id": f"m{number}", **fields}) + "\n")
    with Workspace(scratch / "bulk") as workspace:
        begun = perf_counter()
        report = run_import(workspace, "memento", source)
        workspace.search_engine.keyword.catch_up()
        ours = perf_counter() - begun
        if report.imported != count:
            raise RuntimeError(report)
    bare = _bare_bulk(scratch, source)
    what = f"bulk import of {count:,}, keyword-searchable / (bare SQLite inserts + bare Tantivy adds)"
    return Row(what, f"{ours:.1f} s", f"{bare:.1f} s", ours / bare, 2.5)


def _bare_bulk(scratch: Path, source: Path) -> float:
    """Return the seconds that the bare parts take for the same file: parsed, inserted, indexed."""
    begun = perf_counter()
    with source.open() as stream:
        items = [json.loads(line) for line in stream]
    connection = _bare_database(scratch / "bare-bulk.db")
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany("INSERT INTO memory VALUES (?, ?, ?, ?, ?)", (_bare_row(n, f) for n, f in enumerate(items)))
    connection.execute("COMMIT")
    folder = scratch / "bare-index"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    builder.add_text_field("content", tokenizer_name="en_stem")
    index = tantivy.Index(builder.build(), str(folder))
    writer = index.writer(150_000_000, 2)
    for number, fields in enumerate(items):
        writer.add_document(tantivy.Document(id=f"m{number}", content=fields["content"]))
    writer.commit()
    return perf_counter() - begun
