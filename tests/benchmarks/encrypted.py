"""What encryption costs: ``python -m tests.benchmarks.encrypted``.

The same is done by turns in a workspace in clear and in an encrypted one, of 2,000 memories each. The figures are
processor time, which other work on the machine disturbs least; the key and the indexes lie in memory, the database on
the disk of temporary files.
"""

from __future__ import annotations

import json
import os
import secrets
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from time import process_time
from typing import NamedTuple

import memento_tui
from memento_tui.api import Workspace
from memento_tui.api.encryption import encrypt, lock
from memento_tui.formats.import_export import run_import
from memento_tui.paths import DataPaths
from tests.benchmarks.corpus import memories
from tests.benchmarks.table import write_section
from tests.made import without_engine

_MEMORIES = 2_000
_IMPORTED = 10_000
_TURNS = 5

_HEAD = """Made by `python -m tests.benchmarks.encrypted`: processor time of the same in a workspace in clear and in an
encrypted one, the median of five turns, at 2,000 memories. Encrypting reads and writes the whole file once, and
compares the rows.

| what | in clear, ms | encrypted, ms | ratio |
|---|---|---|---|"""


class Pair(NamedTuple):
    """The processor times of one thing in milliseconds, in clear and encrypted."""

    what: str
    clear: float
    encrypted: float


def _cost(act: Callable[[], object], times: int = 1) -> float:
    began = process_time()
    for _ in range(times):
        act()
    return (process_time() - began) * 1000 / times


def _by_turns(what: str, measure: Callable[[Path], float], roots: tuple[Path, Path], turns: int = _TURNS) -> Pair:
    found: tuple[list[float], list[float]] = ([], [])
    for turn in range(turns):
        for place in (0, 1) if turn % 2 else (1, 0):  # whoever goes first pays for what both need
            found[place].append(measure(roots[place]))
    return Pair(what, *map(statistics.median, found))


def _open(root: Path) -> float:
    return _cost(lambda: memento_tui.open(root).close(), 20)


def _remember(root: Path) -> float:
    with memento_tui.open(root) as workspace:
        return _cost(lambda: workspace.remember(f"The door of room {secrets.token_hex(4)} is painted blue."), 50)


def _search(root: Path) -> float:
    words = iter(["database port", "deploy branch", "cache timeout", "test fixture", "token"] * 20)
    with memento_tui.open(root) as workspace:
        workspace.search("warm", mode="keyword")
        return _cost(lambda: workspace.search(next(words), mode="keyword"), 100)


def _list(root: Path) -> float:
    with memento_tui.open(root) as workspace:
        return _cost(lambda: workspace.list(limit=100), 20)


def _hook(root: Path) -> float:
    """Return the processor time of a hook for a prompt, a process without an engine."""
    program = Path(sys.executable).with_name("memento-hook")
    text = json.dumps({"session_id": secrets.token_hex(4), "cwd": "/", "prompt": "how is the database port set?"})
    began = getrusage(RUSAGE_CHILDREN)
    subprocess.run(  # noqa: S603 - the program measured
        [sys.executable, program, "UserPromptSubmit", "--data-dir", root],
        input=text.encode(),
        stdout=subprocess.DEVNULL,
        check=True,
    )
    ended = getrusage(RUSAGE_CHILDREN)
    return (ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime) * 1000


def _import(source: Path, folder: Path) -> Pair:
    """Import a file into new workspaces, by turns."""
    found: dict[str, list[float]] = {"clear": [], "encrypted": []}
    for turn, name in enumerate(("encrypted", "clear", "clear", "encrypted", "encrypted", "clear")):
        root = without_engine(folder / f"import-{turn}")
        with memento_tui.open(root) as workspace:
            workspace.remember("The first.")
        if name == "encrypted":
            encrypt(DataPaths(root), secrets.token_hex(8))
        with memento_tui.open(root) as workspace:
            found[name].append(_cost(partial(run_import, workspace, "memento", source)))
        lock(DataPaths(root))
    return Pair(f"import of {_IMPORTED:,}, three turns", *map(statistics.median, found.values()))


def _fill(workspace: Workspace) -> None:
    workspace.remember_many(islice(memories(_MEMORIES), _MEMORIES))
    workspace.search("warm", mode="keyword")


def main() -> int:
    """Print the table."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        roots = (without_engine(folder / "clear"), without_engine(folder / "encrypted"))
        for root in roots:
            with memento_tui.open(root) as workspace:
                _fill(workspace)
        paths = DataPaths(roots[1])
        seconds = _cost(lambda: encrypt(paths, secrets.token_hex(8))) / 1000
        size = paths.database.stat().st_size / 1e6
        rows = [
            _by_turns("opening", _open, roots),
            _by_turns("remember", _remember, roots),
            _by_turns("keyword search", _search, roots),
            _by_turns("a page of the list, 100 memories", _list, roots),
            _by_turns("a hook for a prompt, as a process without an engine", _hook, roots, 3 * _TURNS),
        ]
        source = folder / "import.jsonl"
        source.write_text(
            "".join(
                json.dumps({"record": "memory", "id": f"m{n}", **one}) + "\n"
                for n, one in enumerate(memories(_IMPORTED))
            )
        )
        rows.append(_import(source, folder))
        lock(paths)
    table = [
        f"| {row.what} | {row.clear:,.2f} | {row.encrypted:,.2f} | {row.encrypted / row.clear:.2f} |" for row in rows
    ]
    load = os.getloadavg()[0]
    told = (
        f"\nTo encrypt {_MEMORIES:,} memories ({size:.1f} MB) took {seconds:.1f} s. The machine's load was {load:.0f}."
    )
    text = "\n".join([_HEAD, *table, told])
    print(text)
    write_section(Path(__file__).with_name("RESULTS.md"), "Encryption", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
