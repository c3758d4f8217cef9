"""The engine's threads: what they share is changed under a lock, and nothing is closed under whoever uses it."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import numpy as np
import pytest

from memento_tui.config import Config
from memento_tui.embedding.engine_state import EngineState
from memento_tui.embedding.index_worker import IndexWorker
from memento_tui.errors import InvalidInput
from memento_tui.model import make_memory
from memento_tui.model.filters import AllOf
from memento_tui.paths import DataPaths
from memento_tui.search.engine_client import EngineLauncher, SemanticClient

WAIT = 60.0


def ready_state() -> EngineState:
    state = EngineState()
    state.update_status(state="ready")
    return state


def run_together(count: int, work: Callable[[], None]) -> None:
    """Run a function in several threads that begin at the same moment."""
    barrier = threading.Barrier(count)

    def begin() -> None:
        barrier.wait(WAIT)
        work()

    threads = [threading.Thread(target=begin) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
        assert not thread.is_alive()


# The state


def test_no_maintenance_begins_in_an_engine_that_is_leaving() -> None:
    state = ready_state()
    assert state.close_if_idle(-1)
    assert not state.begin_maintenance(0)


def test_an_engine_does_not_leave_while_maintenance_runs() -> None:
    state = ready_state()
    assert state.begin_maintenance(0)
    assert not state.close_if_idle(-1)
    state.end_maintenance()
    assert state.close_if_idle(-1)


def test_of_many_threads_one_begins_maintenance() -> None:
    state = ready_state()
    begun: list[bool] = []
    run_together(8, lambda: begun.append(state.begin_maintenance(0)))
    assert sorted(begun) == [False] * 7 + [True]


def test_of_leaving_and_maintenance_one_happens() -> None:
    for _ in range(50):
        state = ready_state()
        decide: list[Callable[[], bool]] = [
            functools.partial(state.begin_maintenance, 0),
            functools.partial(state.close_if_idle, -1),
        ]
        outcomes: list[bool] = []
        run_together(2, lambda: outcomes.append(decide.pop()()))  # noqa: B023 - used here
        assert sorted(outcomes) == [False, True]


@pytest.mark.parametrize("busy", [{"state": "loading"}, {"pending": 3}])
def test_work_under_way_is_activity(busy: dict[str, Any]) -> None:
    state = ready_state()
    state.update_status(**busy)
    assert not state.close_if_idle(0.5)
    assert not state.begin_maintenance(0.5)


def test_memories_that_cannot_be_embedded_do_not_keep_the_engine() -> None:
    state = ready_state()
    state.update_status(pending=3, problem="there is no space left")
    assert state.close_if_idle(0)


def test_a_request_is_activity_until_it_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("memento_tui.embedding.engine_state.time.monotonic", lambda: now[0])
    state = ready_state()
    with state.request():
        now[0] += 1_000
        assert not state.is_quiet(1)
    assert not state.close_if_idle(5)
    now[0] += 6
    assert state.is_quiet(5)
    assert state.close_if_idle(5)


def test_counts_of_several_threads_add_up() -> None:
    state = ready_state()

    def count() -> None:
        for _ in range(500):
            state.count_embedded(1)

    run_together(4, count)
    assert state.status.embedded_total == 2_000


def test_a_listener_is_never_called_after_it_was_replaced() -> None:
    state = ready_state()
    entered, leave, replaced = threading.Event(), threading.Event(), threading.Event()

    def listen() -> None:
        assert not replaced.is_set()
        entered.set()
        leave.wait(WAIT)

    state.set_listener(listen)
    writer = threading.Thread(target=state.update_status, kwargs={"seq": 1})
    writer.start()
    assert entered.wait(WAIT)

    def replace() -> None:
        state.set_listener(None)
        replaced.set()

    replacer = threading.Thread(target=replace)
    replacer.start()
    # It waits for the call that is under way, and the status can be read meanwhile.
    assert not replaced.wait(0.05)
    assert state.status.seq == 1
    leave.set()
    for thread in (writer, replacer):
        thread.join(WAIT)
    assert replaced.is_set()
    state.update_status(seq=2)


# The worker


class FakeSnapshot:
    """An index of one memory; ``on_search`` runs while it is searched."""

    def __init__(self, seq: int, on_search: Callable[[], None]) -> None:
        self.state = SimpleNamespace(seq=seq)
        self._on_search = on_search

    def search(
        self, _vector: object, _where: str, _limit: int, *, for_query: bool, most_meet: bool
    ) -> list[tuple[str, float]]:
        assert for_query
        assert not most_meet
        self._on_search()
        return [("a", 1.0)]


class FakeIndex:
    """An index whose snapshot and soundness a test decides."""

    def __init__(self) -> None:
        self.current = FakeSnapshot(7, lambda: None)
        self.on_check: Callable[[], object] = lambda: None
        self.checks = 0

    def snapshot(self) -> FakeSnapshot:
        return self.current

    def is_present(self) -> bool:
        return True

    def is_sound(self) -> bool:
        self.checks += 1
        self.on_check()
        return True


class FakeUpdater:
    """An updater that has nothing to carry over."""

    def step(self) -> bool:
        return False

    def has_commits(self) -> bool:
        return False

    def take_newly_embedded(self) -> list[str]:
        return []

    def restart_index(self, reason: str) -> None:
        raise AssertionError(reason)


def worker_of(tmp_path: Path, index: FakeIndex, scheduler: object = None, store: object = None) -> IndexWorker:
    worker = IndexWorker(DataPaths(tmp_path), Config(), ready_state())
    embedder = SimpleNamespace(query=lambda _text: np.ones(2, dtype=np.float32))
    components = SimpleNamespace(
        store=store, embedder=embedder, index=index, updater=FakeUpdater(), scheduler=scheduler
    )
    worker._components = cast("Any", components)
    return worker


def test_a_search_names_an_entry_that_its_hits_reflect(tmp_path: Path) -> None:
    index = FakeIndex()

    def advance() -> None:
        index.current = FakeSnapshot(8, lambda: None)

    index.current = FakeSnapshot(7, advance)
    found = worker_of(tmp_path, index).search("text", "", 5)
    assert found is not None
    assert found.seq == 7
    assert index.current.state.seq == 8


def test_damage_that_is_found_during_a_check_is_checked_again(tmp_path: Path) -> None:
    index = FakeIndex()
    worker = worker_of(tmp_path, index)

    def fail() -> None:
        raise RuntimeError("a file is gone")

    index.current = FakeSnapshot(7, fail)
    assert worker.search("text", "", 5) is None
    # While the index is checked, another search finds damage.
    index.on_check = lambda: worker.search("text", "", 5)
    components = cast("Any", worker._components)
    worker._check_index(components)
    index.on_check = lambda: None
    worker._check_index(components)
    worker._check_index(components)
    assert index.checks == 2


def test_the_store_is_closed_after_the_maintenance_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    running, end, closed = threading.Event(), threading.Event(), threading.Event()
    maintenance = threading.Thread(target=end.wait, args=(WAIT,))

    def start_if_due() -> None:
        if not running.is_set():
            maintenance.start()
            running.set()

    scheduler = SimpleNamespace(start_if_due=start_if_due, join=maintenance.join)
    worker = worker_of(tmp_path, FakeIndex(), scheduler, SimpleNamespace(close=closed.set))
    monkeypatch.setattr(worker, "_load", lambda: worker._components)
    monkeypatch.setattr(worker, "_check_data", lambda _: None)
    worker.start()
    assert running.wait(WAIT)
    worker.stop(0.1)
    assert worker.is_alive()
    assert not closed.is_set()
    end.set()
    worker.join(WAIT)
    assert closed.is_set()


def test_an_engine_that_cannot_load_is_reported_as_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = EngineState()
    worker = IndexWorker(DataPaths(tmp_path), Config(), state)

    def fail() -> None:
        raise InvalidInput("The model folder is missing.")

    monkeypatch.setattr(worker, "_load", fail)
    worker.run()
    assert state.status.state == "failed"
    assert state.status.problem == "The model folder is missing."


# The scheduler and the index, which need LanceDB and Arrow


@pytest.mark.engine
def test_a_run_that_cannot_be_started_does_not_keep_the_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from memento_tui.embedding.maintenance_scheduler import MaintenanceScheduler  # noqa: PLC0415 - takes a second

    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("memento_tui.embedding.maintenance_scheduler.threading.Thread.start", refuse)
    monkeypatch.setattr(EngineState, "is_quiet", lambda _state, _seconds: True)
    monkeypatch.setattr(EngineState, "_idle_seconds", lambda _state: 1e6)
    state, store = ready_state(), SimpleNamespace(settings=SimpleNamespace(get=lambda _name: None))
    scheduler = MaintenanceScheduler(
        DataPaths(tmp_path), Config(), cast("Any", store), cast("Any", None), state, stopping=threading.Event()
    )
    with pytest.raises(RuntimeError, match="new thread"):
        scheduler.start_if_due()
    assert state.close_if_idle(0)


@pytest.mark.engine
def test_two_threads_load_the_entailment_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from memento_tui.embedding.maintenance_scheduler import _EntailmentLoader  # noqa: PLC0415 - takes a second

    loader, loads = _EntailmentLoader("/models/nli"), []

    def load() -> Callable[[object], list[float]]:
        loads.append(threading.get_ident())
        return lambda _pairs: []

    monkeypatch.setattr(loader, "_load", load)
    scorers: list[object] = []
    run_together(4, lambda: scorers.append(loader.scorer()))
    assert len(loads) == 1
    assert len(set(map(id, scorers))) == 1


@pytest.mark.engine
def test_a_reader_keeps_the_state_of_the_table_that_it_reads(tmp_path: Path) -> None:
    from memento_tui.embedding.vector_index import VectorIndex, indexed_facts  # noqa: PLC0415 - as above

    index = VectorIndex(tmp_path / "semantic", 2, "store", "model")
    row = indexed_facts(make_memory({"id": "a", "content": "text"}))
    vector = np.asarray([[0.0, 1.0]], dtype=np.float32)
    index.write([row], list(vector), state=msgspec.structs.replace(index.state, seq=7, entry="hash"))
    before = index.snapshot()
    index.rebuild("a test wants it")
    after = index.snapshot()
    assert (before.state.seq, after.state.seq) == (7, 0)
    assert before.table is not after.table
    assert after.count() == 0


# The client


def test_what_a_ready_engine_answers_holds_though_another_threads_request_ran_out_of_time_meanwhile(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = SemanticClient(DataPaths(data_dir), enabled=True)
    client._known_ready = True
    answers: dict[str, dict[str, Any]] = {"status": {"state": "ready", "seq": 7}}

    def send(request: dict[str, Any], *, seconds: float) -> dict[str, Any]:  # noqa: ARG001 - as the client calls it
        if request["op"] not in answers:
            raise TimeoutError
        return answers[request["op"]]

    def search_beside() -> None:
        thread = threading.Thread(target=lambda: client.search("a question", AllOf(), 3))
        thread.start()
        thread.join(WAIT)

    monkeypatch.setattr(client, "_send", send)
    monkeypatch.setattr(client._launcher, "note_ready", search_beside)
    assert client.seq() == 7


def test_an_engine_that_was_collected_a_moment_ago_is_not_taken_for_alive(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = EngineLauncher(DataPaths(data_dir))
    launcher._process = engine = subprocess.Popen([sys.executable, "-c", ""])
    is_collected, is_waited_for = threading.Event(), threading.Event()
    really = engine.wait

    def collect() -> None:
        """Stay between the system's answer that the process has ended and the note of it until that is waited for."""
        with engine._waitpid_lock:  # type: ignore[attr-defined]
            os.waitpid(engine.pid, 0)
            is_collected.set()
            is_waited_for.wait(WAIT)
            engine.returncode = 0

    def wait() -> int:
        is_waited_for.set()
        return really()

    monkeypatch.setattr(engine, "wait", wait)
    collecting = threading.Thread(target=collect)
    collecting.start()
    assert is_collected.wait(WAIT)
    try:
        assert launcher.is_starting
        launcher.note_gone(engine.pid)
        assert not launcher.is_starting
    finally:
        is_waited_for.set()
        collecting.join(WAIT)
