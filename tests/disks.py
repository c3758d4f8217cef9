"""A small disk in memory, which can be filled and made read-only; a test is skipped where none may be mounted."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["SmallDisk", "small_disk"]

_READ_ONLY, _REMOUNT, _DETACH = 1, 32, 2
"""Flags of mount(2) and umount2(2)."""

_BLOCKS = (1 << 20, 4096)
"""Bytes that are written at a time: first much, then what is left."""


class SmallDisk:
    """A mounted disk of some megabytes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._filling = path / "filling"

    def fill(self) -> None:
        """Leave no room at all."""
        with self._filling.open("wb", buffering=0) as file:
            for size in _BLOCKS:
                with contextlib.suppress(OSError):
                    while file.write(bytes(size)) == size:
                        pass

    def free(self) -> None:
        """Make room again."""
        self._filling.unlink()

    def make_read_only(self) -> None:
        """Let nothing be written any more."""
        _mount(self.path, _REMOUNT | _READ_ONLY)


@contextmanager
def small_disk(path: Path, megabytes: int = 6) -> Iterator[SmallDisk]:
    """Mount a disk at a path for the length of a block, or skip the test."""
    path.mkdir()
    try:
        _mount(path, 0, f"size={megabytes}m")
    except OSError as error:
        pytest.skip(f"no disk can be mounted here: {error.strerror}")
    try:
        yield SmallDisk(path)
    finally:
        _libc().umount2(os.fsencode(path), _DETACH)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _mount(path: Path, flags: int, options: str = "") -> None:
    if _libc().mount(b"tmpfs", os.fsencode(path), b"tmpfs", ctypes.c_ulong(flags), options.encode() or None):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
