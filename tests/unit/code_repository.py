"""A Git repository that a test writes commit by commit, at moments of its own."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

__all__ = ["FIRST", "CodeRepository"]

FIRST = datetime(2026, 3, 1, 9, tzinfo=UTC)
"""The moment of the first commit; each further one is a day later."""


class CodeRepository:
    """A repository with one commit a day."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.commits: list[str] = []
        root.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        """Run git in the repository; return what it printed."""
        moment = (FIRST + timedelta(days=len(self.commits))).isoformat()
        names = {f"GIT_{who}_{what}": "test" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        times = {"GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment, "GIT_CONFIG_GLOBAL": os.devnull}
        ended = subprocess.run(  # noqa: S603 - the test's own words
            ["git", *arguments],  # noqa: S607 - the machine's git
            cwd=self.root,
            env={**os.environ, **names, **times},
            capture_output=True,
            check=True,
        )
        return ended.stdout.decode().strip()

    def commit(self, files: dict[str, str | None], subject: str = "a change") -> datetime:
        """Write files (``None`` removes one) and commit them; return the moment an hour later."""
        for name, text in files.items():
            path = self.root / name
            if text is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", subject)
        self.commits.append(self.git("rev-parse", "HEAD"))
        return FIRST + timedelta(days=len(self.commits) - 1, hours=1)

    def move(self, old: str, new: str) -> None:
        """Rename a file in a commit of its own."""
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        self.git("mv", old, new)
        self.commit({}, f"move {old}")
