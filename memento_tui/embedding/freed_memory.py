"""Give back to the system what searches by meaning and new vectors have left: an engine waits most of its time."""

from __future__ import annotations

import pyarrow as pa

from memento_tui import free_memory

__all__ = ["release"]


def release() -> None:
    """Give back what Arrow and the C library keep for later; some ten milliseconds after work of seconds."""
    pa.default_memory_pool().release_unused()
    free_memory.release()
