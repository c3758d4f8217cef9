"""What must hold of a store at every moment, whatever was done to it."""

from __future__ import annotations

from typing import Any

import msgspec

from memento_tui.model.validation import fold_tag
from memento_tui.storage.journal import REWRITTEN_ENTRY
from memento_tui.storage.store import Store
from memento_tui.storage.tables import TABLES

__all__ = ["check_store", "contents"]

_KEPT = {"version", "shown_count", "used_count", "last_used_at", "hits", "last_hit_at"}


def contents(store: Store) -> dict[tuple[str, str], dict[str, Any]]:
    """Return what every current record says."""
    found = {}
    for name, table in TABLES.items():
        for row in store.database.connection.execute(table.select).fetchall():
            record = msgspec.structs.asdict(table.record_of(row))
            found[name, record["id"]] = {field: value for field, value in record.items() if field not in _KEPT}
    return found


def check_store(store: Store) -> None:
    """Compare the rows with the journal, and the journal with itself."""
    assert store.journal.verify() is None
    replayed: dict[tuple[str, str], str | None] = {}
    versions: dict[tuple[str, str], int] = {}
    query = "SELECT record, record_id, version, removed, image, nonce FROM change ORDER BY seq, ordinal"
    for name, identity, version, removed, image, _ in store.database.connection.execute(query):
        key = (name, identity)
        assert version == versions.get(key, 0) + 1, f"{key} skips a version"
        versions[key] = version
        if name != REWRITTEN_ENTRY:  # of which a purge says what it rewrote; it is no record
            replayed[key] = None if removed else image
    current = {}
    for name, table in TABLES.items():
        for row in store.database.connection.execute(table.select).fetchall():
            record = table.record_of(row)
            current[name, record.id] = table.image.decode(table.image_of(record))
    assert current == {key: TABLES[key[0]].image.decode(image) for key, image in replayed.items() if image is not None}
    _check_tags(store)


def _check_tags(store: Store) -> None:
    rows = store.database.connection.execute(
        "SELECT memory.id, memory_tag.tag FROM memory_tag JOIN memory ON memory.number = memory_tag.number"
    ).fetchall()
    all_rows = store.database.connection.execute("SELECT count(*) FROM memory_tag").fetchone()[0]
    assert len(rows) == all_rows, "a tag belongs to no memory"
    memories = [memory for batch in store.memories.batches() for memory in batch]
    assert {(row[0], row[1]) for row in rows} == {(m.id, fold_tag(tag)) for m in memories for tag in m.tags}
