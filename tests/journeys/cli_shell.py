"""The program on one data directory: as a shell starts it, a process for each command, or run in this process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from memento_tui.cli.main import main
from tests.tokens import token_environment

__all__ = ["Console", "Shell"]

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
        environment = {**self.environment, **token_environment(self.data_dir)}
        return subprocess.Popen(command, env=environment, **{**pipes, **options})  # noqa: S603 - this program

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


class Console(Shell):
    """Runs commands in this process, through the console script's entry point; `start` still starts one.

    For journeys about something else than the command line: a process takes half a second to import what it needs.
    """

    def run(self, *arguments: str | bytes, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        words = [os.fsdecode(argument) for argument in arguments]
        left_out = dict.fromkeys(os.environ.keys() - self.environment.keys())
        environment = {**left_out, **self.environment, **token_environment(self.data_dir)}
        with CliRunner().isolation(input=stdin, env=environment) as (out, err, _):
            try:
                code = main(words)
            except SystemExit as error:
                code = int(error.code or 0)
            sys.stdout.flush()
            sys.stderr.flush()
            return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())
