"""The engine's process, ``python -m memento_tui.engine --data-dir D``: embeddings, maintenance, and hooks' answers.

`memento_tui.search.engine_client` and memento-hook start it.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import threading
from pathlib import Path
from time import sleep

from memento_tui.errors import EngineUnavailable, MementoError
from memento_tui.meaning import check_installed
from memento_tui.paths import DataPaths


def _prepare_environment() -> None:
    """Set the variables that the libraries read when they are imported."""
    # One core stays with the person.
    threads = str(max(1, _usable_cores() - 1))
    settings = {
        # Asking the model hub would hang for tens of seconds without a network, and disclose the use with one.
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "LANCEDB_LOG": "error",
        "OMP_NUM_THREADS": threads,
        "RAYON_NUM_THREADS": threads,
        "LANCE_CPU_THREADS": threads,
    }
    os.environ.update(settings)


def _usable_cores() -> int:
    # A container may be allowed fewer cores than the machine has; not every system can say.
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1


_HUB_CHECK_SECONDS = 30.0
"""Seconds between two looks at whether somebody keeps the workspace and its hub together."""


def _keep_hub_worker(paths: DataPaths) -> None:
    """Let a process of its own keep the workspace and its hub together, where it is in one, while the engine lives."""
    from memento_tui.api import Workspace  # noqa: PLC0415 - not before its packages are known to be here
    from memento_tui.api.hub_session import start_hub_worker  # noqa: PLC0415 - as above

    while True:
        sleep(_HUB_CHECK_SECONDS)
        try:
            with Workspace(paths.root, create=False) as workspace:
                start_hub_worker(workspace)
        except MementoError as error:
            logging.getLogger(__name__).warning("the hub's worker could not be started: %s", error)


def main() -> None:
    """Run the engine, then leave without waiting for threads that are still loading a model."""
    parser = argparse.ArgumentParser(prog="python -m memento_tui.engine")
    parser.add_argument("--data-dir", required=True, type=Path)
    parser.add_argument("--asked-at", type=float, help="the moment on the monotonic clock; now, if not given")
    arguments = parser.parse_args()
    paths = DataPaths(arguments.data_dir.expanduser().absolute())
    try:
        check_installed()
    except EngineUnavailable as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(error.exit_code)
    _prepare_environment()
    from memento_tui.embedding.server import run_engine  # noqa: PLC0415 - not before its packages are known to be here
    from memento_tui.hooks.engine_answers import HookAnswers  # noqa: PLC0415 - as above

    threading.Thread(target=_keep_hub_worker, args=(paths,), daemon=True).start()
    status = run_engine(paths, HookAnswers, asked_at=arguments.asked_at)
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
