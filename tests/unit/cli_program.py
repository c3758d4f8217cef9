"""The command line as a test uses it: whole argument lists in, exit code and both outputs back, in this process."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from memento_tui.cli.main import main
from tests.tokens import token_environment

__all__ = ["Ended", "Program", "without_engine"]


@dataclass(frozen=True)
class Ended:
    """How one run ended."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:  # noqa: ANN401 - whatever the command prints
        """The one JSON value that was printed."""
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        """The error that was printed as JSON."""
        found: dict[str, Any] = self.data["error"]
        return found


def without_engine(data_dir: Path) -> Path:
    """Make a data directory whose engine is switched off, so that a search starts nothing; return it."""
    data_dir.mkdir(mode=0o700)
    (data_dir / "config.toml").write_text("[engine]\nenabled = false\n")
    return data_dir


class Program:
    """Runs commands on one data directory, through the same entry point as the console script."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir

    def _directory(self, arguments: Sequence[str]) -> Path:
        """Return the data directory that a command works on."""
        words = list(arguments)
        named = words[words.index("--data-dir") + 1 :][:1] if "--data-dir" in words else []
        return Path(named[0]) if named else self.data_dir

    def run(self, *arguments: str, stdin: bytes = b"") -> Ended:
        """Run a command that is expected to succeed or to fail."""
        runner = CliRunner()
        environment = {"MEMENTO_HOME": str(self.data_dir), **token_environment(self._directory(arguments))}
        with runner.isolation(input=stdin, env=environment) as (out, err, _):
            try:
                code = main(arguments)
            except SystemExit as error:
                code = int(error.code or 0)
            sys.stdout.flush()
            sys.stderr.flush()
            return Ended(code, out.getvalue().decode(), err.getvalue().decode())

    def json(self, *arguments: str, stdin: bytes = b"") -> Any:  # noqa: ANN401 - whatever the command prints
        """Run a command that must succeed, with ``--json``, and return what it printed."""
        ended = self.run(*arguments, "--json", stdin=stdin)
        assert ended.code == 0, ended
        return ended.data

    def add(self, text: str, *options: str) -> str:
        """Remember a text and return its id."""
        found: str = self.json("add", text, *options)["id"]
        return found
