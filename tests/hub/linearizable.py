"""Check a history of reads and writes of records that have versions: whether some order of them explains every answer.

A write that was answered names the version that it made, so the order of a record's writes is known. What is left to
check is that each answer fits that order and the times: what ended before something else began comes before it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["Operation", "faults"]


@dataclass(frozen=True)
class Operation:
    """One answered operation. ``begun`` and ``ended`` are moments of one clock that all share."""

    kind: Literal["write", "read", "refusal"]
    record: str
    version: int
    """The version that a write made or a read found, 0 for none; that from which a refused write was made."""
    text: str
    """The text written or read; of a refused write nothing."""
    begun: int
    ended: int


def faults(history: Iterable[Operation]) -> list[str]:
    """Return what no order of the operations explains, as sentences."""
    by_record: dict[str, list[Operation]] = defaultdict(list)
    for one in history:
        by_record[one.record].append(one)
    return [f"{record}: {fault}" for record, found in by_record.items() for fault in _faults(found)]


def _faults(history: Sequence[Operation]) -> Iterable[str]:
    writes = {one.version: one for one in history if one.kind == "write"}
    made = sorted(one.version for one in history if one.kind == "write")
    if made != list(range(1, len(made) + 1)):
        yield f"the writes made the versions {made}"
    for one in history:
        if one.kind == "read" and one.version and one.text != getattr(writes.get(one.version), "text", None):
            yield f"version {one.version} was read as {one.text!r}"
        before = max((other.version for other in _answered(history) if other.ended < one.begun), default=0)
        after = min((_latest_before(other) for other in _answered(history) if other.begun > one.ended), default=None)
        if one.kind == "refusal":
            if before == one.version == after:
                yield f"a write from version {one.version} was refused, and that was the newest"
        elif one.version < before or (one.kind == "write" and one.version == before):
            yield f"a {one.kind} of version {one.version} began after version {before} was there"


def _answered(history: Sequence[Operation]) -> Iterable[Operation]:
    return (one for one in history if one.kind != "refusal")


def _latest_before(one: Operation) -> int:
    """Return the newest version that may have been there when an operation began."""
    return one.version - 1 if one.kind == "write" else one.version
