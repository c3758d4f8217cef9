"""Garbage is collected while nobody waits."""

from __future__ import annotations

import ctypes
import gc
import os
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from memento_tui import processes
from memento_tui.tui import garbage


class Knot:
    """An object that keeps itself alive."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def collecting() -> Iterator[None]:
    """Leave collecting as it was."""
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()
    gc.enable()


@pytest.mark.usefixtures("collecting")
def test_collecting_that_was_put_off_is_taken_up_and_an_old_knot_is_untied_when_there_is_time() -> None:
    garbage.disable_collection()
    assert garbage.enable_collection()
    assert gc.isenabled()
    knot = weakref.ref(Knot())
    gc.collect(1)
    gc.collect(1)
    gc.collect(1)
    garbage.collect_old_generation()
    assert knot() is None


@pytest.mark.usefixtures("collecting")
def test_memory_goes_back_to_the_system_once_old_knots_are_untied_and_not_where_there_are_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts: list[int] = []
    monkeypatch.setattr(processes, "release_memory", lambda: counts.append(gc.get_count()[2]))
    gc.collect(1)
    garbage.collect_old_generation()
    garbage.collect_old_generation()
    assert counts == [0]


def test_a_block_of_the_c_library_that_was_freed_is_no_longer_resident_after_a_release() -> None:
    library = ctypes.CDLL(None)
    library.malloc.restype, library.free.argtypes = ctypes.c_void_p, (ctypes.c_void_p,)
    if not hasattr(library, "malloc_trim"):
        pytest.skip("this C library gives memory back in its own way")
    pieces = [library.malloc(64 * 1024) for _ in range(1000)]
    for piece in pieces:
        ctypes.memset(piece, 1, 64 * 1024)
    held = _resident_pages()
    for piece in pieces[:-1]:  # the last keeps the heap from shrinking by itself
        library.free(piece)
    processes.release_memory()
    freed_bytes = (held - _resident_pages()) * os.sysconf("SC_PAGE_SIZE")
    assert freed_bytes > 800 * 64 * 1024
    library.free(pieces[-1])


def _resident_pages() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])


@pytest.mark.usefixtures("collecting")
def test_an_app_in_a_program_that_never_put_it_off_changes_nothing() -> None:
    before = gc.get_threshold()
    assert not garbage.enable_collection()
    assert gc.get_threshold() == before
