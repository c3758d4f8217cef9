"""Where in the app a record is shown: its section, and what its section is asked for."""

from __future__ import annotations

from typing import Any

from memento_tui.store.store import Store

__all__ = ["place_of"]

_SECTIONS = {"skip": "skips", "item": "working", "crystal": "identity", "proposal": "review", "contradiction": "review"}


def place_of(store: Store, kind: str, record_id: str) -> tuple[str, str] | None:
    """Return the section that shows a record, and the query for it; ``None`` where the record is gone."""
    record = store.find(kind, record_id)
    if record is None:
        return None
    if kind == "relation":
        return place_of(store, "memory", record.src)
    if kind == "memory":
        # Lists leave out what is not active unless it is asked for.
        hidden = "" if record.status == "active" else f" is:{record.status}"
        return "memories", f"id:{_quoted(record_id)}{hidden}"
    return _SECTIONS[kind], _query_for(kind, record)


def _quoted(text: str) -> str:
    return f'"{text}"' if " " in text else text


def _query_for(kind: str, record: Any) -> str:  # noqa: ANN401 - any record
    """Return what finds a record in its own section: the short lists are filtered by words, the others by its id."""
    if kind in ("skip", "item"):
        said = str(record.item if kind == "skip" else record.title)
        # Each on its own, and nothing that would read as a filter.
        return " ".join(said.replace('"', " ").replace(":", " ").split())
    return str(record.id)
