r"""Standard input as a stream of requests, each of which can be read.

Hosts written in JavaScript cut texts between the halves of a surrogate pair, and send the half that is left as an
escape such as ``\ud83d``. No UTF-8 text can hold it: the SDK drops such a request, and its sender waits in vain.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["readable_line", "request_lines"]


@contextmanager
def request_lines() -> Iterator[io.TextIOWrapper]:
    """Read the process's standard input, and point it at the null device meanwhile so that nothing else does."""
    wire = os.dup(0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    try:
        # A thread may still wait in a read when the server ends, so the descriptor is left to the process's end.
        yield _Requests(os.fdopen(wire, "rb", closefd=False), encoding="utf-8", errors="replace")
    finally:
        os.dup2(wire, 0)


class _Requests(io.TextIOWrapper):
    """Text whose lines are made readable one by one."""

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]  # the stub leaves the default out
        return readable_line(super().readline(size))


def readable_line(line: str) -> str:
    """Return a line of JSON with each half of a surrogate pair replaced by a question mark; any other as it is."""
    if "\\ud" not in line and "\\uD" not in line:
        return line
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return line
    return json.dumps(message, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8") + "\n"
