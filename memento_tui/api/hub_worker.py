"""Start the process that keeps a workspace and its hub together, for whoever lives long: the app and the engine."""

from __future__ import annotations

import logging
import os
from importlib.util import find_spec

from filelock import FileLock, Timeout

from memento_tui.api.hub_session import membership_of
from memento_tui.api.workspace import Workspace
from memento_tui.errors import MementoError
from memento_tui.private_files import PRIVATE_FILE_MODE
from memento_tui.processes import forget_ended, module_command, start_detached

__all__ = ["start_hub_worker"]

_log = logging.getLogger(__name__)


def start_hub_worker(workspace: Workspace) -> bool:
    """Start the worker of a workspace that is in a hub, unless one is at work; tell whether. Nobody waits for it.

    It ends with the process that calls this. Never fails: the hub is no condition of anything else.
    """
    root = os.fspath(workspace.paths.root)
    try:
        if workspace.is_read_only or membership_of(workspace.settings) is None or find_spec("psycopg") is None:
            return False
        forget_ended()
        with FileLock(workspace.paths.hub_worker_lock, timeout=0, mode=PRIVATE_FILE_MODE):
            pass
        command = module_command("memento_tui.hub.worker", "--data-dir", root)
        start_detached(command, log=os.fspath(workspace.paths.hub_log))
    except Timeout:
        return False
    except (OSError, MementoError) as error:
        _log.warning("the hub's worker could not be started: %s", error)
        return False
    return True
