"""A person's home directory with a repository and a memory in it, for programs that are hosts of an agent."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import memento_tui
from tests.journeys.cli_shell import Console
from tests.journeys.engine_house import until
from tests.journeys.mcp_agent import NO_ENGINE

__all__ = ["HostHome"]

_MOVERS = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME")
"""Variables that move a host's settings out of the home directory."""


class HostHome:
    """The home, the data directory (its path holds a space), and the person's shell."""

    def __init__(self, root: Path, project: str = "billing") -> None:
        self.home, self.data_dir, self.project = root / "home", root / "my memory", root / "src" / project
        for folder in (self.home, self.data_dir, self.project):
            folder.mkdir(parents=True, mode=0o700)
        (self.data_dir / "config.toml").write_text(NO_ENGINE)
        self.shell = Console(self.data_dir)
        self.shell.environment["HOME"] = str(self.home)
        # `install` looks for memento's programs beside the interpreter first, and on PATH after that.
        self.shell.environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        for name in _MOVERS:
            self.shell.environment.pop(name, None)
        self.git("init", "-q")
        self.git("commit", "-q", "--allow-empty", "-m", "Begin")

    def git(self, *arguments: str) -> None:
        """Run git in the project, as somebody with a name."""
        names = ["-c", "user.name=Dana", "-c", "user.email=dana@example.org"]
        subprocess.run(["git", "-C", str(self.project), *names, *arguments], check=True)  # noqa: S603, S607 - git

    def worktree(self, name: str) -> Path:
        """Add a worktree of the project on a branch of its own."""
        folder = self.project.parent.parent / "worktrees" / name
        self.git("worktree", "add", "-q", "-b", name, str(folder))
        return folder

    def add(self, text: str, *options: str) -> str:
        """Remember a text as the person; return its id."""
        return str(self.shell.json("add", text, *options)["id"])

    def injections(self, session: str) -> list[dict[str, Any]]:
        """Return what a session was shown, in the order in which it was."""
        found: list[dict[str, Any]] = self.shell.json("exposures", f"session:{session}")["items"]
        return found[::-1]

    def waiting(self, *lessons: str) -> list[dict[str, Any]]:
        """Return what waits for the person, once each of the lessons that detached work proposes is among it."""
        with memento_tui.open(self.data_dir) as person:

            def are_proposed() -> bool:
                waiting = str(person.review.list())
                return all(lesson in waiting for lesson in lessons)

            until(are_proposed, f"{lessons} are proposed")
        found: list[dict[str, Any]] = self.shell.json("review", "list")["items"]
        return found

    @property
    def hook_log(self) -> str:
        """What went wrong in hooks; empty if nothing did."""
        path = self.data_dir / "hook.log"
        return path.read_text(encoding="utf-8") if path.exists() else ""
