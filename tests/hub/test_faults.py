"""Machines and the hub are ended in mid-work: every acknowledged write is on every machine once."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
from filelock import FileLock

from memento_tui.api.hub_session import start_hub_worker
from memento_tui.errors import MementoError
from memento_tui.hub.server import HubServer, HubUnreachable
from memento_tui.hub.sync import HubAltered, HubLink
from tests.hub.conftest import MakeMachine
from tests.hub.machines import Machine, in_step
from tests.journeys.engine_house import until
from tests.postgres import PostgresServer


class Writer:
    """A machine that runs as a process of its own, and what it acknowledged."""

    def __init__(self, machine: Machine, *, writes: int, life: int = 1) -> None:
        name = f"{machine.name} in life {life}"
        command = [sys.executable, "-m", "tests.hub.writer", str(machine.folder), name, str(writes)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # noqa: S603
        self.written: dict[str, str] = {}

    def read(self, lines: int) -> None:
        """Wait for so many acknowledged writes."""
        assert self.process.stdout is not None
        for _ in range(lines):
            self._note(self.process.stdout.readline())

    def _note(self, line: str) -> None:
        name, _, text = line.rstrip("\n").partition("\t")
        if text:
            self.written[name] = text

    def kill(self) -> None:
        self.process.kill()
        self.finish()

    def finish(self) -> None:
        """Wait for its end, and note the rest of what it acknowledged."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._note(line)
        self.process.wait()
        self.process.stdout.close()


def check_histories(address: str) -> None:
    """Check that each record's versions at the hub follow each other without a gap, and the chain of entries too."""
    with psycopg.connect(address) as hub:
        rows = hub.execute("SELECT record_id, version, seq FROM memento.change ORDER BY record_id, version").fetchall()
        heads: dict[str, int] = dict(hub.execute("SELECT record_id, version FROM memento.record").fetchall())
        seqs = [row[0] for row in hub.execute("SELECT seq FROM memento.entry ORDER BY seq")]
    by_record: dict[str, list[tuple[int, int]]] = {}
    for record_id, version, seq in rows:
        by_record.setdefault(record_id, []).append((version, seq))
    for record_id, versions in by_record.items():
        assert [version for version, _ in versions] == list(range(1, len(versions) + 1)), record_id
        assert [seq for _, seq in versions] == sorted(seq for _, seq in versions), record_id
        assert heads[record_id] == len(versions)
    assert seqs == list(range(1, len(seqs) + 1))


def check_everywhere(machines: Sequence[Machine], written: Mapping[str, str]) -> None:
    """Check that every machine has every acknowledged write once, all the same, with a journal in order."""
    states = [one.texts() for one in machines]
    for one, state in zip(machines, states, strict=True):
        assert {name: state.get(name) for name in written} == dict(written), one.name
        twice = {text: times for text, times in Counter(state.values()).items() if times > 1}
        assert twice == {}, one.name
        assert one.workspace._store.journal.verify() is None
        assert one.cards() == []
    assert all(state == states[0] for state in states)


@pytest.mark.deep
def test_machines_and_hub_are_killed_in_mid_work_and_nothing_is_lost_or_doubled(
    machine: MakeMachine, postgres: PostgresServer, address: str
) -> None:
    machines = [machine(name) for name in ("one", "two", "three")]
    in_step(*machines)
    for one in machines:
        one.link.close()
    writers = [Writer(one, writes=14) for one in machines]
    writers[0].read(4)
    writers[0].kill()
    again = Writer(machines[0], writes=6, life=2)
    writers[1].read(5)
    postgres.kill()
    writers[1].read(2)
    writers[2].read(3)
    postgres.start()
    writers[1].read(3)
    writers[1].kill()
    writers[2].finish()
    again.finish()
    in_step(*machines)
    written = {name: text for one in (*writers, again) for name, text in one.written.items()}
    # Whatever was written last before an end may have been acknowledged by the database and not yet said.
    assert len(written) >= 15
    check_everywhere(machines, {n: t for n, t in written.items() if n not in _last_of(writers[0], writers[1])})
    check_histories(address)


def _last_of(*writers: Writer) -> set[str]:
    """Return the memories that a killed writer may have changed once more without saying so."""
    return {name for one in writers for name in list(one.written)[-1:]}


def test_an_answer_that_is_lost_after_the_commit_appends_nothing_twice(machine: MakeMachine, address: str) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    in_step(laptop, desktop)

    class LosesAnswers(HubServer):
        def append(self, *arguments: Any) -> dict[str, int]:  # noqa: ANN401 - as they are
            super().append(*arguments)
            raise HubUnreachable("The line went dead.")

    made = laptop.remember("Once.")
    laptop.workspace.update(made.id, content="Once, changed.")
    cut = HubLink(laptop.workspace, connect=LosesAnswers)
    with pytest.raises(HubUnreachable):
        cut.synchronize()
    cut.close()
    laptop.workspace.update(made.id, content="Once, changed again.")
    in_step(laptop, desktop)
    check_everywhere([laptop, desktop], {made.id: "Once, changed again."})
    check_histories(address)


def test_a_pull_that_ends_between_two_entries_goes_on_where_it_was(
    machine: MakeMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    written = [laptop.remember(f"Fact {number}.") for number in range(5)]
    laptop.sync()
    taken: list[int] = []
    state = desktop.workspace._store.hub
    take = type(state).take

    def fail_at_third(self: Any, tx: Any, entry: Any) -> None:  # noqa: ANN401 - as they are
        taken.append(entry.seq)
        if len(taken) == 3:
            raise HubUnreachable("The machine was ended here.")
        take(self, tx, entry)

    monkeypatch.setattr(type(state), "take", fail_at_third)
    with pytest.raises(HubUnreachable):
        desktop.sync()
    monkeypatch.undo()
    in_step(laptop, desktop)
    check_everywhere([laptop, desktop], {one.id: one.content for one in written})


def test_weeks_offline_on_three_machines_end_with_the_same_memories(machine: MakeMachine, address: str) -> None:
    machines = [machine(name) for name in ("one", "two", "three")]
    in_step(*machines)
    written: dict[str, str] = {}
    for one in machines:
        for number in range(8):
            made = one.remember(f"{one.name} {number}")
            one.workspace.update(made.id, tags=[one.name])
            written[made.id] = made.content
    in_step(*machines)
    for one in machines:
        for name in list(written)[machines.index(one) :: 3]:
            one.workspace.update(name, content=f"{written[name]} again")
            written[name] += " again"
    in_step(*machines)
    check_everywhere(machines, written)
    check_histories(address)


def test_a_hub_that_was_restored_from_an_older_backup_gets_back_what_it_lost(
    machine: MakeMachine, postgres: PostgresServer, database: str, address: str
) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    kept = laptop.remember("In the backup.")
    in_step(laptop, desktop)
    copy_database(postgres, database, f"{database}-backup", laptop, desktop)
    lost = laptop.remember("After the backup.")
    laptop.workspace.update(kept.id, content="In the backup, changed since.")
    in_step(laptop, desktop)
    theirs = desktop.remember("Also after it.")
    in_step(laptop, desktop)
    copy_database(postgres, f"{database}-backup", database, laptop, desktop)
    for one in (laptop, desktop):
        with pytest.raises(HubAltered, match="restored from an older backup"):
            one.sync()
    unsent = desktop.remember("While it was said.")
    for one in (laptop, desktop):
        one.link.resume()
    in_step(laptop, desktop)
    written = {
        kept.id: "In the backup, changed since.",
        lost.id: "After the backup.",
        theirs.id: "Also after it.",
        unsent.id: "While it was said.",
    }
    check_everywhere([laptop, desktop], written)
    check_histories(address)


def used_by(connection: psycopg.Connection[Any], database: str) -> int:
    """Return how many connections a database has; one that was closed ends a moment later."""
    rows = connection.execute("SELECT 1 FROM pg_stat_activity WHERE datname = %s", (database,)).fetchall()
    return len(rows)


def copy_database(postgres: PostgresServer, source: str, target: str, *machines: Machine) -> None:
    for one in machines:
        one.link.close()
    with psycopg.connect(postgres.address(), autocommit=True) as connection:
        until(lambda: used_by(connection, source) == 0 or None, "the connections have ended")
        connection.execute(f'DROP DATABASE IF EXISTS "{target}" WITH (FORCE)'.encode())
        connection.execute(f'CREATE DATABASE "{target}" TEMPLATE "{source}"'.encode())


def test_a_hub_that_does_not_answer_stops_nothing(machine: MakeMachine, tmp_path: Path) -> None:
    laptop = machine("laptop")
    membership = laptop.hub.membership
    assert membership is not None
    laptop.link.close()
    nowhere = f"postgresql://x@/x?host={tmp_path}"
    away = HubLink(laptop.workspace, connect=lambda _url: HubServer(nowhere, typed_by_person=True))
    made = laptop.remember("Written offline.")
    with pytest.raises(MementoError, match="does not answer"):
        away.synchronize()
    assert "does not answer" in getattr(laptop.hub.membership, "problem", "")
    assert laptop.texts() == {made.id: "Written offline."}
    assert laptop.sync().pushed == 1
    assert getattr(laptop.hub.membership, "problem", "unset") == ""


def test_a_worker_keeps_two_machines_together_while_its_starter_lives_and_then_ends(machine: MakeMachine) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    starters = [start_worker_of(one) for one in (laptop, desktop)]
    try:
        made = laptop.remember("Told at once.")
        until(lambda: desktop.workspace.find(made.id), "the other machine has it")
        desktop.workspace.update(made.id, content="And back.")
        until(lambda: laptop.workspace.get(made.id).content == "And back.", "the first machine has the change")
        assert not start_hub_worker(laptop.workspace)
    finally:
        for starter in starters:
            starter.kill()
            starter.wait()
    lock = FileLock(laptop.workspace.paths.hub_worker_lock)
    lock.acquire(timeout=60)
    lock.release()


def start_worker_of(one: Machine) -> subprocess.Popen[bytes]:
    """Start a process that starts the worker of a machine, and lives until it is ended."""
    script = (
        "import sys, time; from memento_tui.api import Workspace; from memento_tui.api.hub_session import *\n"
        "assert start_hub_worker(Workspace(sys.argv[1])); time.sleep(600)"
    )
    return subprocess.Popen([sys.executable, "-c", script, str(one.folder)])  # noqa: S603
