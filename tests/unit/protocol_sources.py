"""What Memento Protocol leaves behind, for tests: its tables, its folder, and a server that answers from rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

__all__ = ["KEY", "TABLES", "Account", "as_file", "database", "rows", "serving"]

KEY = "mp_live_0123456789abcdef0123456789abcdef"

TABLES: Mapping[str, str] = {
    "memories": (
        "id TEXT PRIMARY KEY, content TEXT NOT NULL, type TEXT DEFAULT 'observation', tags TEXT DEFAULT '[]',"
        " created_at TEXT DEFAULT '2026-02-01 09:00:00', expires_at TEXT, relevance REAL DEFAULT 1.0,"
        " access_count INTEGER DEFAULT 0, last_accessed_at TEXT, consolidated INTEGER DEFAULT 0,"
        " consolidated_into TEXT, linkages TEXT DEFAULT '[]', embedded_at TEXT, images TEXT DEFAULT '[]'"
    ),
    "skip_list": (
        "id TEXT PRIMARY KEY, item TEXT NOT NULL, reason TEXT NOT NULL, expires_at TEXT NOT NULL,"
        " added_at TEXT DEFAULT '2026-02-01 09:00:00'"
    ),
    "working_memory_items": (
        "id TEXT PRIMARY KEY, category TEXT NOT NULL, title TEXT NOT NULL, content TEXT NOT NULL DEFAULT '',"
        " status TEXT NOT NULL DEFAULT 'active', priority INTEGER DEFAULT 0, tags TEXT DEFAULT '[]', next_action TEXT,"
        " last_touched TEXT DEFAULT '2026-02-01 09:00:00', created_at TEXT DEFAULT '2026-02-01 09:00:00',"
        " updated_at TEXT DEFAULT '2026-02-01 09:00:00'"
    ),
    "working_memory_sections": (
        "section_key TEXT PRIMARY KEY, heading TEXT NOT NULL, content TEXT DEFAULT '',"
        " updated_at TEXT DEFAULT '2026-02-01 09:00:00'"
    ),
    "identity_snapshots": (
        "id TEXT PRIMARY KEY, crystal TEXT NOT NULL, source_count INTEGER DEFAULT 0,"
        " created_at TEXT DEFAULT '2026-02-01 09:00:00'"
    ),
    "consolidations": (
        "id TEXT PRIMARY KEY, summary TEXT NOT NULL, source_ids TEXT DEFAULT '[]', tags TEXT DEFAULT '[]',"
        " type TEXT DEFAULT 'auto', created_at TEXT DEFAULT '2026-02-01 09:00:00', method TEXT DEFAULT 'template',"
        " template_summary TEXT"
    ),
    "access_log": (
        "id INTEGER PRIMARY KEY AUTOINCREMENT, memory_id TEXT NOT NULL, accessed_at TEXT DEFAULT '2026-02-01 09:00:00',"
        " query TEXT"
    ),
    "activity_log": (
        "id INTEGER PRIMARY KEY AUTOINCREMENT, action TEXT NOT NULL, memory_id TEXT, detail TEXT,"
        " created_at TEXT DEFAULT '2026-02-01 09:00:00'"
    ),
    "workspace_settings": "key TEXT PRIMARY KEY, value TEXT NOT NULL, updated_at TEXT DEFAULT '2026-02-01 09:00:00'",
}


def database(path: Path, **tables: Sequence[Mapping[str, Any]]) -> Path:
    """Make a database with these rows; a column that its table does not have is added to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        for name, columns in TABLES.items():
            connection.execute(f"CREATE TABLE {name} ({columns})")
        for name, found in tables.items():
            for row in found:
                known = {one[1] for one in connection.execute(f"PRAGMA table_info({name})")}
                for column in (one for one in row if one not in known):
                    connection.execute(f'ALTER TABLE {name} ADD COLUMN "{column}"')
                names = ", ".join(f'"{column}"' for column in row)
                places = ", ".join("?" * len(row))
                connection.execute(f"INSERT INTO {name} ({names}) VALUES ({places})", list(row.values()))  # noqa: S608 - a test's own words
    return path


def rows(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of every table of Memento Protocol, by id or key, without the columns that say nothing."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        found = {name: [dict(row) for row in connection.execute(f"SELECT * FROM {name}")] for name in TABLES}  # noqa: S608 - as above
    return {
        name: sorted(
            ({column: value for column, value in row.items() if value is not None} for row in several), key=repr
        )
        for name, several in found.items()
    }


def as_file(path: Path, value: object) -> Path:
    """Write JSON as Memento Protocol's own program does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2), encoding="utf-8")
    return path


@dataclass
class Account:
    """What a server answers from."""

    memories: list[Any] = field(default_factory=list)
    skips: list[Any] = field(default_factory=list)
    items: list[Any] = field(default_factory=list)
    sections: dict[str, str] = field(default_factory=dict)
    identity: dict[str, Any] | None = None
    workspaces: tuple[str, ...] = ("default",)
    answers: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    """Answers that are given to a path whatever the rows are; ``POST `` or ``PUT `` stands before that of a write."""
    asked: list[str] = field(default_factory=list)
    unwanted: tuple[str, ...] = ()
    """Texts of memories at which taking in many breaks off, with those before it stored."""
    written: list[tuple[str, str, str]] = field(default_factory=list)
    """The method, path and workspace of each write."""


def _text(text: str, **others: Any) -> Any:  # noqa: ANN401 - JSON
    return {"content": [{"type": "text", "text": text}], **others}


def _page(found: list[Any], name: str, query: Mapping[str, list[str]]) -> Any:  # noqa: ANN401 - JSON
    limit, offset = (int(query.get(key, [str(usual)])[0]) for key, usual in (("limit", 50), ("offset", 0)))
    return {name: found[offset : offset + min(limit, 100)], "total": len(found), "offset": offset, "limit": limit}


def _answer(account: Account, workspace: str, address: str) -> tuple[int, Any]:
    parts = urlsplit(address)
    path, query = parts.path.removeprefix("/v1"), parse_qs(parts.query)
    if path == "/workspaces":
        return 200, _text(json.dumps([{"id": str(n), "name": name} for n, name in enumerate(account.workspaces)]))
    own = account if workspace == account.workspaces[0] else Account()
    if path == "/memories":
        return 200, _page(own.memories if query.get("status") == ["all"] else [], "memories", query)
    if path == "/skip-list":
        return 200, {"entries": own.skips, "total": len(own.skips)}
    if path == "/working-memory/items":
        return 200, _page(own.items, "items", query)
    if path == "/identity":
        return 200, _text("None yet.") if own.identity is None else _text(own.identity["crystal"], meta=own.identity)
    heading = own.sections.get(path.removeprefix("/working-memory/"))
    return (404, _text("not found")) if heading is None else (200, _text(heading))


def _taken(account: Account, path: str, body: Any) -> tuple[int, Any]:  # noqa: ANN401 - JSON
    """Write what a request gives as the server does, which gives ids of its own and keeps no two texts apart."""
    made: dict[str, Any] = {"id": f"{len(account.written):08x}", **body}
    if path == "/memories/ingest":
        ids: list[str] = []
        for one in body["memories"]:
            if one["content"] in account.unwanted:
                return 400, {"error": f"Not this one. {len(ids)} are stored."}
            ids.append(f"{len(account.memories) + 1:08x}")
            account.memories.append({"linkages": [], "expires_at": one.pop("expires", None), **one, "id": ids[-1]})
        return 201, {"ingested": len(ids), "ids": ids, "source": body["source"]}
    if path == "/skip-list":
        account.skips.append({"id": made["id"], **body, "expires_at": body["expires"]})
    elif path == "/working-memory/items":
        account.items.append(made)
    elif path == "/identity":
        account.identity = {"id": made["id"], "crystal": body["crystal"]}
    elif path.startswith("/memories/"):
        next(row for row in account.memories if row["id"] == path.removeprefix("/memories/")).update(body)
    else:
        key = path.removeprefix("/working-memory/")
        account.sections[key] = f"## {key}\n\n{body['content']}"
    return 200, made


@contextmanager
def serving(account: Account) -> Iterator[str]:
    """Serve an account on a free port of this machine; yield the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            account.asked.append(self.path)
            self.reply("", lambda: _answer(account, self.headers["X-Memento-Workspace"], self.path))

        def do_POST(self) -> None:
            given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            account.written.append((self.command, self.path, self.headers["X-Memento-Workspace"]))
            self.reply(f"{self.command} ", lambda: _taken(account, self.path.removeprefix("/v1"), given))

        do_PUT = do_POST  # noqa: N815 - as http.server calls it

        def reply(self, prefix: str, answer: Callable[[], tuple[int, Any]]) -> None:
            if self.headers["Authorization"] != f"Bearer {KEY}":
                status, body = 401, b'{"error": "Invalid API key."}'
            elif (given := account.answers.get(prefix + urlsplit(self.path).path)) is not None:
                status, body = given
            else:
                status, value = answer()
                body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing on the test's standard error."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
