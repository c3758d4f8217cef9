"""Starting the engine: a process of its own, with nothing on anyone's terminal, and not in a loop when it fails."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

from memento_tui.paths import DataPaths

__all__ = ["Starter"]

_AGAIN_AFTER_EXIT = 0.5
"""Seconds until the next start after an engine left in order, such as one that found another at work."""

_AGAIN_AFTER_FAILURE = 5.0
"""Seconds until the next start after an engine failed; doubled with each failure."""

_LONGEST_PAUSE = 300.0


class Starter:
    """Starts engines for one data directory, one at a time. Safe to use from several threads."""

    def __init__(self, paths: DataPaths) -> None:
        self._paths = paths
        self._guard = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._worked = False
        self._failures = 0
        self._not_before = 0.0
        self.problem = ""
        """Why the last start failed, in one sentence."""

    @property
    def is_starting(self) -> bool:
        """Whether an engine that this started is alive; it may not listen yet."""
        with self._guard:
            return self._is_alive()

    def start(self) -> bool:
        """Start an engine unless one was just started or has just failed; tell whether one is alive."""
        with self._guard:
            if self._is_alive():
                return True
            if time.monotonic() < self._not_before:
                return False
            return self._spawn()

    def answered(self) -> None:
        """Note that the engine is ready: its death, whenever it comes, is no failure to start."""
        with self._guard:
            self._worked = True
            self._failures = 0
            self._not_before = 0.0
            self.problem = ""

    def _is_alive(self) -> bool:
        if self._process is None:
            return False
        code = self._process.poll()
        if code is None:
            return True
        self._process = None
        self._note_end(code)
        return False

    def _note_end(self, code: int) -> None:
        if self._worked:
            return
        if code == 0:
            self._not_before = time.monotonic() + _AGAIN_AFTER_EXIT
            return
        pause = min(_AGAIN_AFTER_FAILURE * 2**self._failures, _LONGEST_PAUSE)
        self._failures += 1
        self._not_before = time.monotonic() + pause
        ended = f"with status {code}" if code > 0 else f"by signal {-code}"
        self.problem = f"The engine ended {ended}"

    def _spawn(self) -> bool:
        # -P: a module is never taken from the folder that the engine happens to be started in.
        command = [sys.executable, "-P", "-m", "memento_tui.engine", "--data-dir", os.fspath(self._paths.root)]
        try:
            log = os.open(self._paths.engine_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                self._process = subprocess.Popen(  # noqa: S603 - this interpreter and this package
                    command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", start_new_session=True
                )
            finally:
                os.close(log)
        except OSError as error:
            self._not_before = time.monotonic() + _AGAIN_AFTER_FAILURE
            self.problem = f"The engine cannot be started: {error}"
            return False
        self._worked = False
        # A long-lived parent must collect the process when it ends, or it stays in the process table.
        threading.Thread(target=self._process.wait, name="engine-reaper", daemon=True).start()
        return True
