"""Working items and skips for pictures and for tests of their sections, with a clock that stands."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import memento_tui
from memento_tui.model import Skip, WorkingItem, make_item, make_skip
from memento_tui.storage.journal import Author
from memento_tui.storage.store import Store
from tests.made import unguarded

__all__ = ["HOSTILE", "NOW", "put_items", "put_skips", "store_items", "store_skips"]

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
HOSTILE = "日本語 🙂 \x1b[31mred\u202e \u05e9\u05dc\u05d5\u05dd [/nope]"
_AGENT = Author("agent", "mcp", "claude", "s1")

_ITEMS: list[dict[str, Any]] = [
    {
        "id": "migrate",
        "title": "Move the users to /v3",
        "priority": 5,
        "next_action": "write the migration and try it on the copy",
        "content": "The old table keeps the names in two columns.\n\nThe new one has one, and an index on it.",
        "tags": ["db", "api"],
    },
    {"id": "flaky", "title": "Find out why the upload test is flaky", "priority": 3, "next_action": "run it 200 times"},
    {"id": "docs", "title": "Rewrite the page about backups", "priority": 1, "status": "paused"},
    {"id": "hostile", "title": HOSTILE, "next_action": HOSTILE, "content": HOSTILE, "tags": ["[/nope]"]},
    {
        "id": "llm",
        "title": "No language model on any path that reads",
        "category": "standing_decision",
        "priority": 4,
        "content": "Costs and latency; a person decided it.",
    },
    {"id": "spaces", "title": "Four spaces, lines of 120", "category": "standing_decision"},
    {
        "id": "legal",
        "title": "Answer from legal about the licence of the fonts",
        "category": "waiting_for",
        "priority": 2,
        "next_action": "ask Ana on Monday",
    },
    {"id": "note", "title": "Where the last session stopped", "category": "session_note", "content": "At the parser."},
    {"id": "parser", "title": "Write the parser", "priority": 9, "status": "completed"},
]

_SKIPS: list[dict[str, Any]] = [
    {"id": "vendor", "item": "reading vendor/", "reason": "third-party code, never ours", "days": 26, "hits": 41},
    {"id": "flaky", "item": "the test of the upload", "reason": "flaky until it is mended", "days": 2, "hits": 7},
    {"id": "legal", "item": "issue 4711", "reason": "waits for upstream", "days": 0.2, "hits": 0},
    {"id": "hostile", "item": HOSTILE, "reason": HOSTILE, "days": 5, "hits": 1},
    {"id": "frozen", "item": "deploying on a Friday", "reason": "a person said so", "days": 300, "hits": 3},
    {"id": "over", "item": "the old build", "reason": "it was switched off", "days": -4, "hits": 12},
]


def store_items() -> list[WorkingItem]:
    """Return the working items, each a little older than the one before."""
    return [
        make_item(
            {**fields, "created_at": NOW - timedelta(days=3 * number), "updated_at": NOW - timedelta(hours=number)}
        )
        for number, fields in enumerate(_ITEMS, 1)
    ]


def store_skips() -> list[Skip]:
    """Return the skips; one of them is over."""
    return [
        make_skip(
            {
                "id": fields["id"],
                "item": fields["item"],
                "reason": fields["reason"],
                "expires_at": NOW + timedelta(days=fields["days"]),
                "created_at": NOW - timedelta(days=9),
                "created_by": "claude",
            },
            now=NOW,
            stored=True,
        )
        for fields in _SKIPS
    ]


def _put(store: Store, entries: Iterable[Skip | WorkingItem]) -> None:
    # The times of the journal are those of the tests' clock too, so that a picture tells the same every day.
    with unguarded(store, _AGENT, "list add", now=NOW - timedelta(days=3)) as tx:
        for entry in entries:
            tx.put(entry, base=0)


def put_items(data_dir: Path) -> Path:
    """Store the working items in a data directory; return it."""
    with memento_tui.open(data_dir) as workspace:
        _put(workspace._store, store_items())
    return data_dir


def put_skips(data_dir: Path) -> Path:
    """Store the skips and their hits in a data directory; return it."""
    with memento_tui.open(data_dir) as workspace:
        _put(workspace._store, store_skips())
        for fields in _SKIPS:
            if fields["hits"]:
                workspace._store.usage.count("skip", [fields["id"]], used=fields["hits"])
    return data_dir
