"""The record that a writer keeps of what memento acknowledged: one line of JSON for each write, in its own file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

__all__ = ["Acknowledged", "Acknowledgements", "read_acknowledged"]


class Acknowledged(msgspec.Struct, frozen=True):
    """One write that was acknowledged."""

    id: str
    """The memory's; empty where only its text is known."""
    version: int
    text: str


class Acknowledgements:
    """A file to which lines are appended; a writer that is killed leaves whole lines, and perhaps half of the last."""

    def __init__(self, file: Path) -> None:
        self._descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def add(self, memory_id: str, version: int, text: str) -> None:
        """Note a write, after its acknowledgement."""
        os.write(self._descriptor, msgspec.json.encode(Acknowledged(memory_id, version, text)) + b"\n")


def read_acknowledged(folder: Path) -> Iterator[Acknowledged]:
    """Yield what all writers noted."""
    for file in sorted(folder.glob("*.acks")):
        for line in file.read_bytes().split(b"\n")[:-1]:
            yield msgspec.json.decode(line, type=Acknowledged)
