"""Run the benchmarks, each beside the bare parts it is made of, and write what they found into RESULTS.md.

``python -m tests.benchmarks`` runs all of them, an hour of use among them; ``--only NAME ...`` some; ``--quick`` those
that need neither a million memories nor that hour, and prints what it finds instead of writing it. Each row is written
when it is known, in the place of the one of the same name, with its day, the commit and the machine's load.
"""

from __future__ import annotations

import argparse
import compileall
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from memento_tui import clock
from memento_tui.api import Workspace
from tests.benchmarks import conflicts, guarding, skips
from tests.benchmarks.agents import first_tools, remember_round_trip, tool_tokens
from tests.benchmarks.app import first_frame, keystrokes, memory_use
from tests.benchmarks.corpus import memories, words
from tests.benchmarks.hour import growth
from tests.benchmarks.meaning import hybrid_query
from tests.benchmarks.sessions import replayed_sessions
from tests.benchmarks.storing import bulk_import, remember_rate
from tests.benchmarks.table import Figure, Row, put_row
from tests.benchmarks.workbench import at_work

_RESULTS = Path(__file__).with_name("RESULTS.md")
_KEYWORDS_ONLY = "[engine]\nenabled = false\n[review]\nburst = 0\n"


@dataclass(frozen=True)
class _Stores:
    """A scratch folder, and the stores in it that several benchmarks share, each filled when it is first used."""

    scratch: Path

    @cached_property
    def thousand(self) -> Path:
        return self._filled("thousand", 1_000)

    @cached_property
    def hundred_thousand(self) -> Path:
        return self._filled("hundred-thousand", 100_000)

    @cached_property
    def million(self) -> Path:
        return self._filled("million", 1_000_000)

    def _filled(self, name: str, count: int) -> Path:
        folder = self.empty(name)
        with Workspace(folder) as workspace:
            workspace.remember_many(memories(count))
            workspace.search_engine.keyword.catch_up()
        return folder

    def empty(self, name: str) -> Path:
        """Return a new data directory in which nothing but words is searched, and nobody's burst of writes waits."""
        folder = self.scratch / name
        folder.mkdir()
        (folder / "config.toml").write_text(_KEYWORDS_ONLY)
        return folder


def _typed() -> list[str]:
    vocabulary = words()
    return [
        f"{vocabulary[300]} {vocabulary[1500]}",
        f"{vocabulary[40]} {vocabulary[5000]}",
        f"kind:decision {vocabulary[900]}",
        vocabulary[12000],
        f"{vocabulary[2]} {vocabulary[3]} {vocabulary[4]}",
    ]


def _remember(stores: _Stores) -> Iterator[Row]:
    yield remember_rate(stores.scratch)


def _import(stores: _Stores) -> Iterator[Row]:
    yield bulk_import(stores.empty("bulk").parent, 100_000)


def _hybrid(stores: _Stores) -> Iterator[Row]:
    yield hybrid_query(stores.scratch, 2_000)


def _mcp(stores: _Stores) -> Iterator[Row]:
    yield remember_round_trip(stores.scratch)
    yield first_tools(stores.scratch)


def _first_frames(stores: _Stores) -> Iterator[Row]:
    yield from first_frame(stores.hundred_thousand, stores.scratch)


def _app_1_000(stores: _Stores) -> Iterator[Row]:
    yield from at_work(stores.thousand, "1,000")


def _app_100_000(stores: _Stores) -> Iterator[Row]:
    yield keystrokes(stores.hundred_thousand, "100,000", _typed())
    yield from at_work(stores.hundred_thousand, "100,000")


def _app_1_000_000(stores: _Stores) -> Iterator[Row]:
    yield keystrokes(stores.million, "1,000,000", _typed())
    yield memory_use(stores.million, stores.scratch, "1,000,000")
    yield from at_work(stores.million, "1,000,000")


def _hour(stores: _Stores) -> Iterator[Row]:
    yield growth(stores.hundred_thousand, "100,000")


def _sessions(stores: _Stores) -> Iterator[Row | Figure]:
    rows, figures = replayed_sessions(stores.scratch)
    yield from rows
    yield from figures


def _tools(stores: _Stores) -> Iterator[Figure]:
    yield from tool_tokens(stores.scratch)


def _conflicts(_stores: _Stores) -> Iterator[Figure]:
    yield from conflicts.results()


def _gate(_stores: _Stores) -> Iterator[Figure]:
    yield from guarding.results()


def _skips(_stores: _Stores) -> Iterator[Figure]:
    yield from skips.results()


_BENCHMARKS: dict[str, Callable[[_Stores], Iterator[Row | Figure]]] = {
    "remember": _remember,
    "mcp": _mcp,
    "hybrid": _hybrid,
    "first-frames": _first_frames,
    "app-1000": _app_1_000,
    "app-100000": _app_100_000,
    "tools": _tools,
    "skips": _skips,
    "conflicts": _conflicts,
    "gate": _gate,
    "sessions": _sessions,
    "import": _import,
    "app-1000000": _app_1_000_000,
    "hour": _hour,
}
_SLOW = ("import", "app-1000000", "hour")


def _state() -> str:
    """Return the day and the commit ("+" if the program has changed since), "no commit" where there is no Git."""
    commit = _git("rev-parse", "--short", "HEAD") or "no commit"
    changed = "+" if _git("status", "--porcelain", "--", "memento_tui") else ""
    return f"{clock.now():%Y-%m-%d}, {commit}{changed}"


def _git(*words: str) -> str:
    command = ["git", "-C", str(_RESULTS.parents[2]), *words]
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603 - our own
    except (OSError, subprocess.CalledProcessError):
        return ""


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=_BENCHMARKS, metavar="NAME", help=", ".join(_BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help=f"leave out {', '.join(_SLOW)}, and write nothing")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what was asked for, tell each row when it is known, and put it into the results."""
    options = _options(arguments)
    names = options.only or [name for name in _BENCHMARKS if not (options.quick and name in _SLOW)]
    # An installed program starts from bytecode; a checkout may not have any yet.
    compileall.compile_dir(_RESULTS.parents[2] / "memento_tui", quiet=1)
    state = _state()
    with tempfile.TemporaryDirectory(prefix="memento-bench-") as scratch:
        os.environ["XDG_STATE_HOME"] = scratch  # the app notes there what it opens
        stores = _Stores(Path(scratch))
        for name in names:
            for found in _BENCHMARKS[name](stores):
                cells = [*found.cells, f"{state}, load {os.getloadavg()[0]:.0f}"]
                print(" | ".join(cells), flush=True)
                if not options.quick:
                    put_row(_RESULTS, found.head, cells)


if __name__ == "__main__":
    main()
