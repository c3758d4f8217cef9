"""The keyword index while others write: it is brought up to date, never thrown away for it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

import memento_tui
from memento_tui.api import Workspace
from memento_tui.hooks import worker_launcher
from memento_tui.hooks.retrieval import up_to_date_index
from memento_tui.paths import DataPaths
from memento_tui.processes import is_lock_held
from memento_tui.storage.hook_store import HookStore
from tests.journeys.mcp_agent import NO_ENGINE


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Workspace]:
    (tmp_path / "config.toml").write_text(NO_ENGINE)
    with memento_tui.open(tmp_path) as workspace:
        workspace.remember("Deploys go to fly.io.")
        workspace.search_engine.keyword.catch_up()
        yield workspace


def test_what_is_written_while_the_index_catches_up_is_indexed_too_and_the_index_is_kept(
    person: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = person._store.journal.changed_memories
    interruptions = iter(("The lamp burns.", "The door creaks."))

    def interrupted(after: int, most: int) -> tuple[list[str], int]:
        found = changed(after, most)
        with memento_tui.open(person.paths.root) as other:
            for text in interruptions:
                other.remember(text)
                break
        return found

    monkeypatch.setattr(person._store.journal, "changed_memories", interrupted)
    before = {path.name for path in person.paths.keyword_index.glob("*.store")}
    person.remember("The window is open.")
    person.search_engine.keyword.catch_up()
    assert person.search_engine.keyword.indexed_seq == person._store.journal.head()
    assert person.search_engine.keyword.notice == ""
    assert before <= {path.name for path in person.paths.keyword_index.glob("*.store")}


def test_a_hook_starts_nobody_where_somebody_indexes_already(
    person: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    person.remember_many({"content": f"The lamp in room {number} burns."} for number in range(150))
    started: list[tuple[object, ...]] = []
    monkeypatch.setattr(worker_launcher, "start_index_worker", lambda *arguments: started.append(arguments))
    store = HookStore(person.paths.database)
    with FileLock(person.paths.keyword_lock):
        assert up_to_date_index(person.paths, store) is not None, "what was indexed before still serves"
        assert started == []
    up_to_date_index(person.paths, store)
    assert started == [(person.paths,)]
    store.close()


def test_while_a_worker_that_a_hook_started_lives_no_hook_starts_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe, starts = tmp_path / "end", tmp_path / "starts"
    os.mkfifo(pipe)
    script = f"open({str(starts)!r}, 'a').write('x'); open({str(pipe)!r}).read()"
    monkeypatch.setattr(worker_launcher, "module_command", lambda *_: [sys.executable, "-c", script])
    paths = DataPaths(tmp_path)
    worker_launcher.start_index_worker(paths)
    worker_launcher.start_index_worker(paths)
    with pipe.open("w"):  # once the worker is there to read it
        worker_launcher.start_index_worker(paths)
    with FileLock(paths.index_worker_lock, timeout=60):
        assert starts.read_text() == "x"
    worker_launcher.start_index_worker(paths)
    pipe.open("w").close()
    with FileLock(paths.index_worker_lock, timeout=60):
        assert starts.read_text() == "xx"


def test_where_no_worker_can_be_started_what_was_indexed_before_still_serves_and_the_log_says_why(
    person: Workspace,
) -> None:
    person.remember_many({"content": f"The lamp in room {number} burns."} for number in range(150))
    person.paths.index_worker_lock.mkdir()
    store = HookStore(person.paths.database)
    assert up_to_date_index(person.paths, store) is not None
    store.close()
    assert "index: " in person.paths.hook_log.read_text()


def test_the_lock_is_the_worker_s_where_its_host_closed_the_standard_streams(tmp_path: Path) -> None:
    script = (
        "import os, sys\nos.close(0)\nfrom pathlib import Path\n"
        "from memento_tui.hooks import worker_launcher\nfrom memento_tui.paths import DataPaths\n"
        "worker_launcher.module_command = lambda *_: [sys.executable, '-c', 'open(sys.argv[1]).read()'.replace("
        "'sys.argv[1]', repr(sys.argv[1]))]\n"
        "worker_launcher.start_index_worker(DataPaths(Path(sys.argv[2])))\n"
    )
    pipe, paths = tmp_path / "end", DataPaths(tmp_path)
    os.mkfifo(pipe)
    subprocess.run([sys.executable, "-c", script, str(pipe), str(tmp_path)], check=True, timeout=60)  # noqa: S603 - this test's own
    with pipe.open("w"):  # once the worker is there to read it
        assert is_lock_held(paths.index_worker_lock)
