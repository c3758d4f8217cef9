"""The program as a shell starts it: real processes on one data directory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["Shell"]

MEMENTO = [sys.executable, "-m", "memento_tui"]

_LONGEST = 100.0
"""Seconds until a run is given up; loading the model takes up to a quarter of it on a busy machine."""


class Shell:
    """Starts the program on one data directory."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.environment = {
            **{name: value for name, value in os.environ.items() if name not in ("VISUAL", "EDITOR", "NO_COLOR")},
            "MEMENTO_HOME": str(data_dir),
            "TERM": "xterm-256color",
        }

    def start(self, *arguments: str | bytes, **options: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401 - Popen's own
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        command: list[str | bytes] = [*MEMENTO, *arguments]
        return subprocess.Popen(command, env=self.environment, **{**pipes, **options})  # noqa: S603 - this program

    def run(self, *arguments: str | bytes, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        process = self.start(*arguments)
        try:
            out, err = process.communicate(stdin, timeout=_LONGEST)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def json(self, *arguments: str, stdin: bytes = b"") -> Any:  # noqa: ANN401 - whatever the command prints
        ended = self.run(*arguments, "--json", stdin=stdin)
        assert (ended.returncode, ended.stderr) == (0, b""), ended
        return json.loads(ended.stdout)
