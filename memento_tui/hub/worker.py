"""Keep a workspace and its hub together for as long as the process lives that started this one.

``python -m memento_tui.hub.worker --data-dir D``; `memento_tui.api.hub_session` starts it.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import subprocess
import threading
from pathlib import Path

from filelock import FileLock, Timeout

from memento_tui.api.workspace import Workspace
from memento_tui.errors import LockedWorkspace
from memento_tui.hub import require_extra
from memento_tui.hub.sync import HubLink, keep_in_step
from memento_tui.paths import DataPaths
from memento_tui.private_files import PRIVATE_FILE_MODE, use_private_umask
from memento_tui.processes import module_command

_COMPACT_SECONDS = 3 * 3600.0
"""Seconds between two compactions of the vectors that machines share."""

_WATCH_SECONDS = 1.0
"""Seconds between two looks whether the process that started this one still lives."""


def main() -> None:
    """Run until the parent has ended, the hub is left, the workspace is locked, or another worker is at work."""
    parser = argparse.ArgumentParser(prog="python -m memento_tui.hub.worker")
    parser.add_argument("--data-dir", required=True, type=Path)
    paths = DataPaths(parser.parse_args().data_dir.expanduser().absolute())
    logging.basicConfig(format="%(asctime)s %(message)s")
    use_private_umask()
    require_extra()
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    threading.Thread(target=_watch, args=(os.getppid(), stopping), daemon=True).start()
    try:
        with (
            FileLock(paths.hub_worker_lock, timeout=0, mode=PRIVATE_FILE_MODE),
            Workspace(paths.root, channel="hub", create=False) as workspace,
        ):
            if workspace.config.engine.shared_vectors:
                threading.Thread(target=_compact_now_and_then, args=(paths.root, stopping), daemon=True).start()
            link = HubLink(workspace)
            keep_in_step(link, stopping, failed=lambda error: logging.getLogger("hub").warning("%s", error))
            link.close()
    except Timeout:
        return
    except LockedWorkspace as error:
        logging.getLogger("hub").warning("the worker ends: %s", error)
    finally:
        stopping.set()


def _compact_now_and_then(root: Path, stopping: threading.Event) -> None:
    """Let a process of its own compact the shared vectors every few hours; most often another machine is at it."""
    while not stopping.wait(_COMPACT_SECONDS):
        subprocess.run(module_command("memento_tui.hub.vectors", "--data-dir", os.fspath(root)), check=False)  # noqa: S603 - memento's own


def _watch(parent: int, stopping: threading.Event) -> None:
    """Set ``stopping`` once the process that started this one has ended."""
    while os.getppid() == parent and not stopping.wait(_WATCH_SECONDS):
        pass
    stopping.set()


if __name__ == "__main__":
    main()
