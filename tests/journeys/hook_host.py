"""A host for the journeys: it calls the real program `memento-hook` as Claude Code does, and reads its answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import memento_tui
from memento_tui.hooks import main
from memento_tui.hooks.fallback import answer_by_words
from tests.made import without_engine

__all__ = [
    "DEPLOY",
    "HOOK",
    "QUESTION",
    "UNHURRIED",
    "UNHURRIED_PATH",
    "DirectHost",
    "HookHost",
    "Said",
    "host_that_deploys",
]

_START = "import sys; from memento_tui.hooks import main; "
HOOK = [sys.executable, "-c", f"{_START}sys.exit(main.main())"]
UNHURRIED_PATH = str(Path(__file__).parent / "unhurried")
# The program as it is ends a call that takes seconds, as any may on a busy machine; only tests of that want it so.
UNHURRIED = [
    sys.executable,
    "-c",
    f"{_START}sys.path.append({UNHURRIED_PATH!r}); import unhurried_hooks; sys.exit(main.main())",
]


DEPLOY = "Deploys go out through fly.io with scripts/deploy.sh; never push to main on a Friday."
QUESTION = "how do we deploy to fly.io?"


class Said(NamedTuple):
    status: int
    raw: bytes
    errors: bytes

    @property
    def context(self) -> str:
        """What reaches the model; empty where the hook was silent."""
        if not self.raw:
            return ""
        answer = json.loads(self.raw)
        assert list(answer) == ["hookSpecificOutput"]
        assert set(answer["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
        return str(answer["hookSpecificOutput"]["additionalContext"])


class HookHost:
    def __init__(self, data_dir: Path, cwd: Path, session: str = "session-1") -> None:
        self.data_dir, self.cwd, self.session = data_dir, cwd, session
        self.program = UNHURRIED

    def raw(self, event: str, stdin: bytes, *options: str) -> Said:
        ended = subprocess.run(  # noqa: S603 - the program under test
            [*self.program, event, "--data-dir", str(self.data_dir), *options],
            input=stdin,
            capture_output=True,
            timeout=120,
            check=False,
            env={name: value for name, value in os.environ.items() if name != "MEMENTO_HOME"},
        )
        return Said(ended.returncode, ended.stdout, ended.stderr)

    def call(self, event: str, **fields: Any) -> Said:  # noqa: ANN401 - whatever a host sends
        sent = {"session_id": self.session, "cwd": str(self.cwd), "hook_event_name": event, **fields}
        said = self.raw(event, json.dumps(sent).encode())
        assert said.status == 0
        assert said.errors == b""
        return said

    def start(self, source: str = "startup") -> str:
        return self.call("SessionStart", source=source).context

    def prompt(self, text: str) -> str:
        return self.call("UserPromptSubmit", prompt=text, permission_mode="default").context

    def read(self, path: str | Path) -> str:
        return self.call("PreToolUse", tool_name="Read", tool_input={"file_path": str(path)}).context

    def end(self, event: str, transcript: Path) -> str:
        return self.call(event, transcript_path=str(transcript), reason="other").context

    def log(self) -> str:
        path = self.data_dir / "hook.log"
        return path.read_text(encoding="utf-8") if path.exists() else ""


def host_that_deploys(folder: Path) -> HookHost:
    """Make a data directory with one memory, indexed and without an engine, and a project; return a host there."""
    data_dir, project = without_engine(folder / "memory"), folder / "site"
    project.mkdir()
    with memento_tui.open(data_dir) as person:
        person.remember(DEPLOY)
        person.search("deploy", mode="keyword")
    return HookHost(data_dir, project)


class DirectHost(HookHost):
    """A host that is answered in this process, by the function that answers in the program's.

    For journeys about what is told: the program itself takes a quarter of a second for each call.
    """

    def raw(self, event: str, stdin: bytes, *options: str) -> Said:
        arguments = main.Arguments([event, "--data-dir", str(self.data_dir), *options])
        is_silent = arguments.moment == "prompt" and main._is_trivial(stdin)
        return Said(0, b"" if is_silent else answer_by_words(arguments, stdin).encode(), b"")
