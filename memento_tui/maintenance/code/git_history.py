"""Read the present and earlier files of a Git repository. Nothing is written, and no network is used."""

from __future__ import annotations

import os
import re
import subprocess
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from memento_tui.errors import InvalidInput

__all__ = ["GitHistory", "PathEvent", "run_git"]

_SECONDS = 60.0
"""How long one call of git may take: enough for the whole history of a large repository."""

_MAX_FILE_BYTES = 1_000_000
"""Bytes of a file above which it is not read: such a one is data, or made by a program."""

_SAFE_OPTIONS = (
    "log.showSignature=false",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
)
"""Settings that keep a repository, which may be anybody's, from starting programs."""

_SAFE_VARIABLES = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_TERMINAL_PROMPT": "0",
}
"""Environment variables that keep git from writing, and from fetching missing objects through a configured program.

The settings of a repository can allow a protocol again that a setting here forbids, and git before 2.39.4 fetches
whatever the second variable says: the list of protocols, which is empty, holds against both.
"""


class PathEvent(NamedTuple):
    """One disappearance of a path: deleted, or renamed to ``new``. ``order`` counts commits from the oldest."""

    order: int
    commit: str
    at: datetime
    subject: str
    old: str
    new: str


class GitHistory:
    """The commits that lead to the present one, each seen as a step from the one before.

    Raises:
        InvalidInput: the directory is in no repository with a commit, or git is missing or too slow.

    """

    def __init__(self, root: Path, present: str = "HEAD") -> None:
        """Read the commits that lead to ``present``."""
        self.root = root
        rows = self._run("rev-list", "--first-parent", "--reverse", "--format=%ct", present).splitlines()
        self._commits = [line.removeprefix("commit ") for line in rows[::2]]
        self._times = _ascending(int(line) for line in rows[1::2])
        self._events: tuple[int, list[PathEvent]] | None = None

    @property
    def head(self) -> str:
        """The id of the present commit."""
        return self._commits[-1]

    def order_at(self, moment: datetime) -> int | None:
        """Return the number of the last commit made until a moment, counted from the oldest; ``None`` before all."""
        found = bisect_right(self._times, int(moment.timestamp())) - 1
        return found if found >= 0 else None

    def commit(self, order: int) -> str:
        """Return the id of a commit by its number."""
        return self._commits[order]

    @cached_property
    def files(self) -> Mapping[str, str]:
        """The files of the present commit by path, each with the id of its content."""
        return self.tree(self.head)

    def tree(self, commit: str) -> dict[str, str]:
        """Return the files of a commit by path, each with the id of its content."""
        rows = self._run("ls-tree", "-r", "-z", "--full-tree", commit).split("\0")
        return {path: facts.split()[2] for facts, _, path in (row.partition("\t") for row in rows if row)}

    def disappearances(self, since: int) -> Sequence[PathEvent]:
        """Return the deletions and renames after a commit, oldest first."""
        if self._events is None or self._events[0] > since:
            self._events = since, self._read_disappearances(since)
        return [event for event in self._events[1] if event.order > since]

    def _read_disappearances(self, since: int) -> list[PathEvent]:
        numbers = {commit: order for order, commit in enumerate(self._commits)}
        text = self._run(
            "log", "--first-parent", "--diff-merges=first-parent", "--reverse", "--diff-filter=DR",
            "--find-renames=40%", "--name-status", "--no-ext-diff", "-z", "--format=%x01%H%x02%ct%x02%s%x02",
            f"{self._commits[since]}..{self.head}",
        )  # fmt: skip
        found = []
        for block in text.split("\x01")[1:]:
            commit, seconds, subject, names = block.split("\x02", 3)
            words = iter(names.lstrip("\0\n").split("\0"))
            at = datetime.fromtimestamp(int(seconds), UTC)
            for status in words:
                if status := status.strip():
                    old = next(words)
                    new = next(words) if status.startswith("R") else ""
                    found.append(PathEvent(numbers[commit], commit, at, subject, old, new))
        return found

    def blobs(self, wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """Return the id of the content of each (commit, path) that existed; that of a folder is its tree's."""
        pairs = [pair for pair in dict.fromkeys(wanted) if "\n" not in pair[1]]
        if not pairs:
            return {}
        request = "".join(f"{commit}:{path.rstrip('/')}\n" for commit, path in pairs)
        rows = self._run("cat-file", "--batch-check=%(objectname) %(objecttype)", given=request).splitlines()
        kinds = dict(zip(pairs, rows, strict=True))
        return {pair: row.split()[0] for pair, row in kinds.items() if row.endswith((" blob", " tree"))}

    def texts(self, blobs: Iterable[str]) -> dict[str, str]:
        """Return the texts of these contents, without those that are long or no text."""
        wanted = list(dict.fromkeys(blobs))
        if not wanted:
            return {}
        sizes = self._run(
            "cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)", given="\n".join(wanted)
        )
        rows = [row.split() for row in sizes.splitlines()]
        small = [row[0] for row in rows if row[1:2] == ["blob"] and int(row[2]) <= _MAX_FILE_BYTES]
        data = run_git(self.root, "cat-file", "--batch", given="".join(f"{blob}\n" for blob in small).encode())
        found, start = {}, 0
        for blob in small:
            line = data.index(b"\n", start)
            size = int(data[start:line].split()[2])
            content = data[line + 1 : line + 1 + size]
            start = line + size + 2
            if b"\0" not in content:
                found[blob] = content.decode(errors="replace")
        return found

    def commits_known(self, names: Iterable[str]) -> dict[str, str]:
        """Return the full id of each abbreviated one that the repository holds a commit of."""
        wanted = list(dict.fromkeys(names))
        if not wanted:
            return {}
        rows = self._run("cat-file", "--batch-check=%(objectname) %(objecttype)", given="\n".join(wanted)).splitlines()
        return {name: row.split()[0] for name, row in zip(wanted, rows, strict=True) if row.endswith(" commit")}

    @cached_property
    def reverted(self) -> Mapping[str, str]:
        """The ids of the commits that a later one took back, each with that one's."""
        text = self._run("log", "--grep=^This reverts commit [0-9a-f]", "--format=%x01%H%x02%b", self.head)
        found: dict[str, str] = {}
        for block in text.split("\x01")[1:]:
            commit, _, body = block.partition("\x02")
            for name in re.findall(r"This reverts commit ([0-9a-f]{40})", body):
                found.setdefault(name, commit)
        # A revert that was itself reverted took nothing back in the end.
        return {name: commit for name, commit in found.items() if commit not in found}

    def _run(self, *arguments: str, given: str = "") -> str:
        return run_git(self.root, *arguments, given=given.encode()).decode(errors="surrogateescape")


def run_git(root: Path, *arguments: str, given: bytes = b"") -> bytes:
    """Run git in a folder and return its output. Raises `InvalidInput`."""
    options = [word for setting in _SAFE_OPTIONS for word in ("-c", setting)]
    # Variables of a hook of git's own would point it at another repository.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {**_SAFE_VARIABLES, "LC_ALL": "C"}
    try:
        ended = subprocess.run(  # noqa: S603 - fixed options; no text of a memory is an option
            ["git", *options, "--no-pager", *arguments],  # noqa: S607 - the person's own git
            cwd=root, input=given, capture_output=True, timeout=_SECONDS, env=environment, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InvalidInput(f"git could not read {root}: {error}.", "Install git, or try again.") from error
    if ended.returncode:
        said = ended.stderr.decode(errors="replace").strip().splitlines()
        raise InvalidInput(
            f"git could not read {root}: {said[-1] if said else ended.returncode}.",
            "Run it in a Git repository that has a commit.",
        )
    return ended.stdout


def _ascending(times: Iterable[int]) -> list[int]:
    """Return the times of commits so that none is before that of the commit it follows, as wrong clocks make some."""
    found: list[int] = []
    for time in times:
        found.append(max(time, found[-1]) if found else time)
    return found
