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
        out, err = process.communicate(stdin, timeout=60)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def json(self, *arguments: str, stdin: bytes = b"") -> Any:  # noqa: ANN401 - whatever the command prints
        ended = self.run(*arguments, "--json", stdin=stdin)
        assert (ended.returncode, ended.stderr) == (0, b""), ended
        return json.loads(ended.stdout)
