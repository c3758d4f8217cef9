"""What a restart of the machine costs an encrypted workspace: ``python -m tests.benchmarks.encrypted_restart``.

Its indexes lie in memory and are gone then. The first search makes the keyword index anew, and the engine the vectors,
in the background; ``--vectors N`` names the largest workspace for which that is measured too.
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import tempfile
from itertools import islice
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from time import monotonic, process_time
from typing import NamedTuple

import memento_tui
from memento_tui.api.encryption import encrypt, lock, unlock
from memento_tui.paths import DataPaths
from tests.benchmarks.corpus import memories
from tests.benchmarks.table import write_section
from tests.made import without_engine

_SIZES = (2_000, 50_000)
_WAIT_SECONDS = 3_600.0

_HEAD = """Made by `python -m tests.benchmarks.encrypted_restart`: what is made anew after memory was emptied, as by a
restart. The keyword index is waited for by the first search, its processor time is that of the searching process; the
vectors are made by the engine in the background, with its start and end.

| memories | first search, s | processor s of it | next search, s | index in memory | vectors, processor s |
|---|---|---|---|---|---|"""


class Cost(NamedTuple):
    """What one size cost."""

    memories: int
    first: float
    processor: float
    following: float
    index_bytes: int
    vectors: float | None


def _measure(root: Path, count: int, *, vectors: bool) -> Cost:
    """Fill a workspace, encrypt it, take all out of memory, and measure what comes after."""
    paths, passphrase = DataPaths(root), secrets.token_hex(8)
    with memento_tui.open(root) as workspace:
        made = iter(memories(count))
        while batch := list(islice(made, 1_000)):
            workspace.remember_many(batch)
    encrypt(paths, passphrase)
    lock(paths)
    unlock(paths, passphrase)
    with memento_tui.open(root) as workspace:
        began, worked = monotonic(), process_time()
        workspace.search("database port", mode="keyword")
        first, processor = monotonic() - began, process_time() - worked
        began = monotonic()
        workspace.search("deploy branch", mode="keyword")
        following = monotonic() - began
    files = [file for file in paths.keyword_index.rglob("*") if file.is_file()]
    size = sum(file.stat().st_size for file in files)
    spent = _vectors(root) if vectors else None
    lock(paths)
    return Cost(count, first, processor, following, size, spent)


def _vectors(root: Path) -> float:
    """Return the processor seconds of an engine that makes all vectors, from its start to its end."""
    (root / "config.toml").unlink()  # which switches it off
    before = getrusage(RUSAGE_CHILDREN)
    with memento_tui.open(root) as workspace:
        semantic = workspace.search_engine.semantic
        semantic.ensure()
        semantic.wait(workspace._store.journal.head(), _WAIT_SECONDS)
        semantic.stop()
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--vectors", type=int, default=_SIZES[0])
    most = parser.parse_args().vectors
    rows = []
    for count in _SIZES:
        with tempfile.TemporaryDirectory() as made:
            cost = _measure(without_engine(Path(made) / "data"), count, vectors=count <= most)
        spent = "not measured" if cost.vectors is None else f"{cost.vectors:,.0f}"
        rows.append(
            f"| {cost.memories:,} | {cost.first:.2f} | {cost.processor:.2f} | {cost.following:.3f} |"
            f" {cost.index_bytes / 1e6:.1f} MB | {spent} |"
        )
    text = "\n".join([_HEAD, *rows, f"\nThe machine's load was {os.getloadavg()[0]:.0f}."])
    print(text)
    write_section(Path(__file__).with_name("RESULTS.md"), "Encryption after a restart", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
