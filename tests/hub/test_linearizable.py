"""Versions at the hub are one order of writes: what several machines read and wrote at once is held against that."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count
from threading import Thread
from typing import Any

import psycopg
import pytest

from memento_tui.hub.entries import SentChange, SigningKey, as_sent
from memento_tui.hub.server import HubBusy, HubServer
from memento_tui.model import make_memory
from memento_tui.model.validation import new_id
from memento_tui.storage.tables import record_image
from tests.hub.conftest import MakeMachine
from tests.hub.linearizable import Operation, faults
from tests.hub.machines import SITE, Machine


def write(version: int, begun: int, ended: int) -> Operation:
    return Operation("write", "m", version, f"text {version}", begun, ended)


def read(version: int, begun: int, ended: int, text: str = "") -> Operation:
    return Operation("read", "m", version, text or (f"text {version}" if version else ""), begun, ended)


def refusal(version: int, begun: int, ended: int) -> Operation:
    return Operation("refusal", "m", version, "", begun, ended)


@pytest.mark.parametrize(
    "history",
    [
        [read(0, 1, 2), write(1, 3, 4), read(1, 5, 6), write(2, 7, 8)],
        [write(2, 1, 9), write(1, 2, 8), read(1, 3, 7), read(2, 4, 6)],  # all at once
        [write(1, 1, 2), write(2, 3, 6), refusal(1, 4, 5)],
        [write(1, 1, 2), refusal(0, 3, 4)],
    ],
)
def test_a_history_that_one_order_explains_has_no_fault(history: list[Operation]) -> None:
    assert faults(history) == []


@pytest.mark.parametrize(
    ("history", "fault"),
    [
        ([write(1, 1, 2), write(1, 3, 4)], "m: the writes made the versions [1, 1]"),
        ([write(1, 1, 2), write(3, 3, 4)], "m: the writes made the versions [1, 3]"),
        ([write(1, 1, 2), write(2, 3, 4), read(1, 5, 6)], "m: a read of version 1 began after version 2 was there"),
        ([write(2, 1, 2), write(1, 3, 4)], "m: a write of version 1 began after version 2 was there"),
        ([write(1, 1, 2), read(1, 3, 4, "other")], "m: version 1 was read as 'other'"),
        ([read(1, 1, 2), write(1, 3, 4)], "m: a write of version 1 began after version 1 was there"),
        (
            [write(1, 1, 2), refusal(1, 3, 4), write(2, 5, 6)],
            "m: a write from version 1 was refused, and that was the newest",
        ),
    ],
)
def test_a_history_that_no_order_explains_has_a_fault(history: list[Operation], fault: str) -> None:
    assert fault in faults(history)


class Client:
    """A member that writes and reads a few records at the hub directly, and loses some answers."""

    def __init__(self, one: Machine, address: str, clock: Iterator[int], seed: int) -> None:
        membership = one.hub.membership
        assert membership is not None
        self._workspace, self._member = membership.workspace, membership.member
        self._key = SigningKey.read(one.workspace.paths.hub_key)
        self._address = address
        self._clock = clock
        self._random = random.Random(seed)  # noqa: S311 - which operations come, not a secret
        self.history: list[Operation] = []

    def run(self, operations: int) -> None:
        with HubServer(self._address) as server, psycopg.connect(self._address, autocommit=True) as reading:
            for _ in range(operations):
                record = f"m{self._random.randrange(2)}"
                version, _ = self._read(reading, record)
                # Half of the writes are made from what was read, the others from what may be old by now.
                self._write(server, record, version if self._random.random() < 0.5 else max(0, version - 1))

    def _read(self, reading: psycopg.Connection[Any], record: str) -> tuple[int, str]:
        begun = next(self._clock)
        found = reading.execute(
            "SELECT r.version, c.image::jsonb ->> 'content' FROM memento.record AS r"
            " JOIN memento.change AS c USING (workspace, seq, record, record_id) WHERE r.record_id = %s",
            (record,),
        ).fetchone()
        version, text = found or (0, "")
        self.history.append(Operation("read", record, version, text, begun, next(self._clock)))
        return version, text

    def _write(self, server: HubServer, record: str, base: int) -> None:
        entry_id = new_id()
        memory = make_memory({"id": record, "content": f"by {self._member} in {entry_id}", "namespace": SITE})
        facts = dict.fromkeys(("origin", "agent", "session", "note"), "") | {
            "id": entry_id,
            "at": "2026-01-01T00:00:00Z",
            "actor": "person",
            "channel": "cli",
            "action": "update",
        }
        change = SentChange("memory", record, base, memory, record_image(memory))
        entries = [as_sent(self._workspace, self._member, self._key, facts, [change])]
        begun = next(self._clock)
        try:
            server.append(self._workspace, self._member, entries)
            while self._random.random() < 0.3:  # the answer was lost: the same is sent again
                server.append(self._workspace, self._member, entries)
        except HubBusy:
            self.history.append(Operation("refusal", record, base, "", begun, next(self._clock)))
        else:
            self.history.append(Operation("write", record, base + 1, memory.content, begun, next(self._clock)))


def test_what_machines_write_and_read_at_once_has_one_order_for_each_record(machine: MakeMachine, address: str) -> None:
    clock = count()
    clients = [Client(machine(f"one{number}"), address, clock, number) for number in range(4)]
    threads = [Thread(target=client.run, args=(25,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    history = [one for client in clients for one in client.history]
    assert len(history) == 2 * 4 * 25
    assert {one.kind for one in history} == {"read", "write", "refusal"}
    assert faults(history) == []
