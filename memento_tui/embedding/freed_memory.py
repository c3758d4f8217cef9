"""Give memory that is free back to the system: an engine waits most of its time, and others need it meanwhile."""

from __future__ import annotations

import ctypes
import sys
from functools import cache

import pyarrow as pa

__all__ = ["release"]


@cache
def _c_library() -> ctypes.CDLL | None:
    """Return the C library, where it has a call that gives memory back: that of most Linux systems."""
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "malloc_trim") else None


def release() -> None:
    """Give back what Arrow and the C library keep for later; some ten milliseconds after work of seconds."""
    pa.default_memory_pool().release_unused()
    if (library := _c_library()) is not None:
        library.malloc_trim(0)
