"""Starting the work that no host waits for, in a process of its own that outlives the host."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["start_detached"]

_PROGRAM = "memento_tui.agent.hook.after"


def start_detached(data_dir: Path, *arguments: str) -> None:
    """Start `memento_tui.agent.hook.after` in a session of its own, with no file of the host's in its hands."""
    if os.fork():
        return
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        # -P: the folder that the agent works in, somebody's repository, has no say in what is imported.
        command = [sys.executable, "-P", "-m", _PROGRAM, str(data_dir), *arguments]
        os.execv(sys.executable, command)  # noqa: S606 - ourselves
    finally:
        os._exit(1)
