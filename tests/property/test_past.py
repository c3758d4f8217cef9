"""Whatever was done to a workspace, it is read as it was after each entry of its journal."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

import memento_tui
from memento_tui.api import Workspace
from memento_tui.api.past import Past
from memento_tui.errors import MementoError
from memento_tui.model import AnyRecord
from tests.made import edit, without_engine

_WORDS = st.sampled_from(["the port is 8080", "deploys run at night", "otters eat fish", "the port is 9090"])
_PLACE = st.integers(0, 3)


def _nth(workspace: Workspace, place: int) -> str:
    """Return the id of one of the memories, deleted ones too; of an unknown one where there are fewer."""
    ids = [memory.id for batch in workspace._store.memories.batches() for memory in batch]
    return ids[place] if place < len(ids) else "none"


_Step = Callable[[Workspace], object]
_STEPS: st.SearchStrategy[_Step] = st.one_of(
    st.builds(lambda text, tag: lambda w: w.remember(text, tags=[tag], namespace=tag), _WORDS, st.sampled_from("abc")),
    st.builds(lambda place, text: lambda w: edit(w, _nth(w, place), content=text), _PLACE, _WORDS),
    st.builds(lambda place, tag: lambda w: edit(w, _nth(w, place), tags=[tag]), _PLACE, st.sampled_from("xyz")),
    st.builds(lambda place: lambda w: w.forget(_nth(w, place)), _PLACE),
    st.builds(lambda place: lambda w: w.restore(_nth(w, place)), _PLACE),
    st.builds(lambda place: lambda w: w.verify(_nth(w, place)), _PLACE),
    st.builds(lambda one, other: lambda w: w.relate(_nth(w, one), _nth(w, other)), _PLACE, _PLACE),
    st.builds(lambda text: lambda w: w.skips.add(text, "it is known", "7d"), _WORDS),
    st.builds(lambda text: lambda w: w.crystals.write(text), _WORDS),
    st.builds(lambda place: lambda w: w.used([_nth(w, place)]), _PLACE),
    st.just(lambda w: w.undo()),
    st.just(lambda w: w.redo()),
)


def _records(source: Workspace | Past) -> dict[tuple[str, str], AnyRecord]:
    """Return every record by its kind and id, without the counters of use, which are no history."""
    found = {}
    for record in source.export_records():
        counters = {name: 0 for name in ("shown_count", "used_count", "hits") if hasattr(record, name)}
        moments = {name: None for name in ("last_used_at", "last_hit_at") if hasattr(record, name)}
        found[type(record).__name__, record.id] = msgspec.structs.replace(record, **counters, **moments)
    return found


@given(st.lists(_STEPS, max_size=20))
def test_the_memory_is_read_as_it_was_after_each_entry(steps: list[_Step]) -> None:
    with tempfile.TemporaryDirectory() as folder, memento_tui.open(without_engine(Path(folder) / "data")) as workspace:
        was: dict[int, dict[tuple[str, str], AnyRecord]] = {}
        for step in steps:
            try:
                step(workspace)
            except MementoError:
                continue  # there is nothing to undo, or no such memory: it is what a person is told
            was[workspace.activity.head()] = _records(workspace)
        for seq, records in was.items():
            if seq == 0:
                continue
            with workspace.at(f"entry {seq}") as past:
                assert _records(past) == records
                held = [one for (kind, _), one in records.items() if kind == "Memory"]
                assert past.count == len(held)
                recalled = {one.id for one in held if getattr(one, "status", "") == "active"}
                assert {one.id for one in past.list("status:active", limit=100).items} == recalled
