"""Several processes on one store, and processes that are killed while they write."""

from __future__ import annotations

import signal
import subprocess
import sys
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.model.filters import AllOf
from memento_tui.storage.database import Database
from tests.made import without_engine

ROOT = Path(__file__).parents[2]


class Writer:
    """A process that writes once it is let go."""

    def __init__(self, job: str, data_dir: Path, name: str, count: int) -> None:
        command = [sys.executable, "-m", "tests.journeys.store_writer", job, str(data_dir), name, str(count)]
        self.process = subprocess.Popen(  # noqa: S603 - this project's own
            command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def lines(self, count: int) -> list[str]:
        """Wait for lines."""
        assert self.process.stdout is not None
        return [self.process.stdout.readline().strip() for _ in range(count)]

    def finish(self) -> list[str]:
        """Wait for the end, which must be a good one, and return what was told."""
        out = self._rest()
        _, err = self.process.communicate(timeout=60)
        assert (self.process.returncode, err) == (0, "")
        return out.split()

    def kill(self) -> list[str]:
        """Kill the process at once; return what it had told and was not read yet."""
        self.process.send_signal(signal.SIGKILL)
        out = self._rest()
        self.process.communicate(timeout=60)
        assert self.process.returncode == -signal.SIGKILL
        return [line for line in out.splitlines(keepends=True) if line.endswith("\n")]

    def _rest(self) -> str:
        """Return what was told and not read yet; `communicate` forgets what `readline` has read ahead."""
        assert self.process.stdout is not None
        return self.process.stdout.read()


def stored(workspace: Workspace) -> set[str]:
    return {memory.id for batch in workspace._store.memories.batches() for memory in batch}


def check(workspace: Workspace) -> None:
    """The chain holds, and the index has exactly what the store has."""
    assert workspace._store.journal.verify() is None
    workspace.search_engine.keyword.catch_up()
    assert workspace.search_engine.keyword.indexed_seq == workspace._store.journal.head()
    indexed = workspace.search_engine.keyword
    found = workspace.search("flood", limit=100_000, mode="keyword")
    assert {hit.id for hit in found.results} == stored(workspace)
    assert found.total == workspace._store.memories.count_all()
    assert found.notice == indexed.notice == ""


def test_four_processes_write_at_once_and_nothing_acknowledged_is_missing(tmp_path: Path) -> None:
    data_dir = without_engine(tmp_path / "data")
    writers = [Writer("remember", data_dir, name, 50) for name in ("agent1", "agent2", "person1", "person2")]
    for writer in writers:
        writer.go()
    told = [identity for writer in writers for identity in writer.finish()]
    assert len(set(told)) == 200
    with memento_tui.open(data_dir, create=False) as workspace:
        assert stored(workspace) == set(told)
        assert workspace._store.journal.head() == 200
        assert [workspace._store.memories.count(AllOf()), len(workspace.list("tag:agent1", limit=99).items)] == [
            200,
            50,
        ]
        check(workspace)


def test_no_update_is_lost_between_processes_that_change_one_memory(tmp_path: Path) -> None:
    data_dir = without_engine(tmp_path / "data")
    with memento_tui.open(data_dir) as workspace:
        workspace.remember("0", id="shared")
        writers = [Writer("increase", data_dir, f"agent{number}", 25) for number in range(3)]
        for writer in writers:
            writer.go()
        told = sorted(int(number) for writer in writers for number in writer.finish())
        assert told == list(range(1, 76))
        assert (workspace.get("shared").content, workspace.get("shared").version) == ("75", 76)
        assert workspace._store.journal.verify() is None


def test_processes_that_write_and_search_at_once_find_what_they_wrote(tmp_path: Path) -> None:
    data_dir = without_engine(tmp_path / "data")
    writers = [Writer("search", data_dir, name, 8) for name in ("one", "two", "three")]
    for writer in writers:
        writer.go()
    told = {identity for writer in writers for identity in writer.finish()}
    with memento_tui.open(data_dir) as workspace:
        assert stored(workspace) == told
        check(workspace)


def test_processes_that_begin_one_store_at_the_same_moment_all_find_it(tmp_path: Path) -> None:
    for turn in range(2):
        data_dir = tmp_path / str(turn) / "data"
        writers = [Writer("remember", data_dir, f"writer{number}", 1) for number in range(4)]
        for writer in writers:
            writer.go()
        told = {identity for writer in writers for identity in writer.finish()}
        with memento_tui.open(data_dir, create=False) as workspace:
            assert stored(workspace) == told
            assert workspace._store.journal.verify() is None


@pytest.mark.parametrize("job", ["remember", "search"])
def test_a_writer_killed_at_any_moment_has_lost_nothing_that_it_was_told_is_stored(tmp_path: Path, job: str) -> None:
    data_dir = without_engine(tmp_path / "data")
    told: set[str] = set()
    for turn, lines in enumerate((1, 9, 25)):
        writer = Writer(job, data_dir, f"turn{turn}", 100_000)
        writer.go()
        told.update(writer.lines(lines))
        told.update(line.strip() for line in writer.kill())
        with memento_tui.open(data_dir, create=False) as workspace:
            # One more may have been stored whose acknowledgement was never read.
            assert told <= stored(workspace)
            assert len(stored(workspace) - told) <= turn + 1
            check(workspace)
            workspace.remember(f"flood after the kill {turn}", id=f"after{turn}")
            told.add(f"after{turn}")


def test_a_bulk_write_that_is_killed_leaves_whole_batches(tmp_path: Path) -> None:
    data_dir = without_engine(tmp_path / "data")
    writer = Writer("bulk", data_dir, "one", 1_000_000)
    writer.go()
    assert writer.lines(10)[-1] == "4500"
    writer.kill()
    with memento_tui.open(data_dir, create=False) as workspace:
        count = workspace._store.memories.count_all()
        assert count >= 4000
        assert count % 2000 == 0
        assert workspace._store.journal.head() == count // 2000
        assert workspace._store.journal.verify() is None
        assert workspace.search("bulk", mode="keyword").total == count
        workspace.undo()
        assert workspace._store.memories.count_all() == 0


def _make_databases(ready: Barrier, root: Path, count: int) -> None:
    for number in range(count):
        ready.wait(timeout=60)
        Database(root / str(number) / "memento.db").close()


def test_processes_that_make_the_same_database_at_once_do_not_stand_in_each_others_way(tmp_path: Path) -> None:
    # One in some hundred collided while the write-ahead log was being turned on.
    several = get_context("spawn")
    ready = several.Barrier(4)
    makers = [several.Process(target=_make_databases, args=(ready, tmp_path, 120)) for _ in range(4)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join(timeout=120)
    assert [maker.exitcode for maker in makers] == [0, 0, 0, 0]
