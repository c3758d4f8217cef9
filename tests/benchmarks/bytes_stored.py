"""What a memory and a change of one take on the disk: ``python -m tests.benchmarks.bytes_stored``.

Each figure is the difference of the database's size before and after, written anew both times. Beside it stands the
same with every version stored whole, as it was before versions were packed.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import memento_tui
from memento_tui.api import Workspace
from memento_tui.api.compaction import compact
from tests.benchmarks.corpus import memories
from tests.benchmarks.table import write_section
from tests.made import without_engine

_MEMORIES = 2_000
_LONG_CHARACTERS = 200_000
_LONG_CHANGES = 50

_STORE_WHOLE = (
    "UPDATE stored_change SET base = NULL, packed = NULL, image = (SELECT image FROM change WHERE"
    " change.seq = stored_change.seq AND change.ordinal = stored_change.ordinal) WHERE packed IS NOT NULL"
)

_HEAD = """Made by `python -m tests.benchmarks.bytes_stored`: what each write adds to the database's file, written anew
before and after, at 2,000 memories or 50 changes of one text. `memento compact` packs what earlier versions of memento
stored whole.

| what | bytes | with every version whole |
|---|---|---|"""

Change = Callable[[Workspace, str, int], object]


def _size(workspace: Workspace) -> int:
    connection = workspace._store.database.connection
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return workspace.paths.database.stat().st_size


def _measure(ids: list[str], workspace: Workspace, change: Change, times: int) -> tuple[float, float]:
    """Return the bytes that a change takes, and those that it would take with every version whole."""
    before = _both_sizes(workspace)
    for number in range(times):
        change(workspace, ids[number % len(ids)], number)
    packed, whole = (after - size for after, size in zip(_both_sizes(workspace), before, strict=True))
    return packed / times, whole / times


def _both_sizes(workspace: Workspace) -> tuple[int, int]:
    """Return the size as it is, and with every version whole."""
    packed = _size(workspace)
    with workspace._store.database.writing() as connection:
        connection.execute(_STORE_WHOLE)
    whole = _size(workspace)
    compact(workspace)
    return packed, whole


def _edit(workspace: Workspace, memory_id: str, number: int) -> None:
    """Put a sentence into the middle of a text."""
    memory = workspace.get(memory_id)
    first, space, rest = memory.content.partition(" ") if number % 2 else memory.content.rpartition(" ")
    content = f"{first} It is number {number} of the day.{space}{rest}"
    workspace.update(memory_id, content=content, base_version=memory.version)


def _pin(workspace: Workspace, memory_id: str, _number: int) -> None:
    memory = workspace.get(memory_id)
    workspace.update(memory_id, pinned=not memory.pinned, base_version=memory.version)


def main() -> int:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        with memento_tui.open(without_engine(Path(folder) / "short")) as workspace:
            empty = _size(workspace)
            items = list(islice(memories(_MEMORIES), _MEMORIES))
            ids = [workspace.remember(one.pop("content"), **one).id for one in map(dict, items)]
            rows: list[tuple[str, float, float | None]] = [
                ("a memory, remembered by itself", (_size(workspace) - empty) / len(ids), None)
            ]
            rows += [
                ("one field of a memory", *_measure(ids, workspace, _pin, len(ids))),
                ("a sentence in the text of a memory", *_measure(ids, workspace, _edit, len(ids))),
            ]
        with memento_tui.open(without_engine(Path(folder) / "long")) as workspace:
            text = "".join(f"Sentence {number} is about port {number * 7919 % 9973}. " for number in range(9_999))
            long = [workspace.remember(text[:_LONG_CHARACTERS]).id]
            rows += [
                ("one field of a text of 200 kB", *_measure(long, workspace, _pin, _LONG_CHANGES)),
                ("a sentence in a text of 200 kB", *_measure(long, workspace, _edit, _LONG_CHANGES)),
            ]
    table = [f"| {what} | {packed:,.0f} | {'' if whole is None else f'{whole:,.0f}'} |" for what, packed, whole in rows]
    text = "\n".join([_HEAD, *table])
    print(text)
    write_section(Path(__file__).with_name("RESULTS.md"), "Bytes stored", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
