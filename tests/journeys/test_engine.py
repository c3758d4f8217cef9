"""What the engine does for those who ask it: one process, shared by the tests here."""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.errors import EngineUnavailable
from memento_tui.model.filters import AllOf, HasTag, Not, OneOf, Under
from memento_tui.search.engine_protocol import LONGEST_LINE, EngineStatus
from memento_tui.storage.journal import Author
from tests.journeys.engine_house import PATIENCE, EngineHouse, is_alive, until

pytestmark = pytest.mark.engine

ENTRIES = (
    "Deployments happen on Friday evenings only.",
    "The customer's preferred colour for the dashboard is dark blue.",
    "PostgreSQL needs a vacuum after the nightly bulk deletion.",
)


class Started(EngineHouse):
    """An engine that two clients asked for at the same moment."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.memories = self.add(*ENTRIES)
        assert self.client.search("anything", AllOf(), 5).state == "warming"
        second = self.new_client()
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda client: client.ensure(), [self.client, second]))
        self.first_status: EngineStatus = until(self.client.status, "the engine answers")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    with Started(tmp_path_factory.mktemp("engine")) as started:
        yield started


def converse(house: EngineHouse, data: bytes) -> list[Any]:
    """Send raw bytes, and return every line of the answer."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PATIENCE)
        connection.connect(str(house.paths.engine_socket))
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        received = b""
        while part := connection.recv(65536):
            received += part
    return [json.loads(line) for line in received.splitlines()]


def test_two_clients_at_once_get_one_engine(house: Started) -> None:
    house.settle()
    processes = [client._launcher._process for client in house.clients]
    until(lambda: sum(p is not None and p.poll() is None for p in processes) <= 1, "the second engine leaves")
    assert house.status().pid == house.first_status.pid
    assert house.client.logs(1000).count("at work in") == 1


def test_a_paraphrase_finds_the_memory(house: Started) -> None:
    status = house.settle()
    assert status.state == "ready"
    assert status.total >= 3
    assert status.pending == 0
    assert status.rss > 50_000_000
    assert house.search("When do we release new versions to production?")[0] == house.memories[0].id
    assert house.search("What shade does the client like?")[0] == house.memories[1].id


def test_a_memory_that_is_found_by_its_meaning_alone_is_not_found_after_its_expiry(house: Started) -> None:
    query = "how do outsiders get inside the office"
    with memento_tui.open(house.paths.root) as workspace:

        def found(hours: float) -> set[str]:
            now = clock.now() + timedelta(hours=hours)
            answer = workspace.search(query, mode="semantic", wait=True, now=now)
            assert answer.semantic == "ready"
            return {hit.id for hit in answer.results}

        ending = workspace.remember(
            "Visitors enter the building by the side door.", expires_at=clock.now() + timedelta(hours=2)
        )
        lasting = workspace.remember("Guests are met at the entrance by whoever invited them.")
        assert workspace.search(query, mode="keyword").results == []
        assert {ending.id, lasting.id} <= found(hours=1)
        assert found(hours=3) & {ending.id, lasting.id} == {lasting.id}


def test_an_answer_says_which_entry_it_reflects(house: Started) -> None:
    house.settle()
    answer = house.client.search("deployments", AllOf(), 2)
    assert answer.state == "ready"
    assert answer.seq == house.store.journal.head()
    assert len(answer.hits) == 2
    assert 1 >= answer.hits[0][1] >= answer.hits[1][1] >= 0


def test_an_edit_is_embedded_anew_and_a_change_of_facts_is_not(house: Started) -> None:
    (memory,) = house.add("The printer on the third floor is out of toner.")
    before = house.settle().embedded_total
    house.change(memory, certainty=5, tags=("Hardware",), status="superseded")
    assert house.settle().embedded_total == before
    assert house.search("printer", HasTag("hardware")) == [memory.id]
    house.change(memory, content="Giraffes sleep for half an hour a day.")
    assert house.settle().embedded_total == before + 1
    assert house.search("long-necked animals and their rest")[0] == memory.id


def test_what_is_deleted_rejected_or_purged_is_not_found(house: Started) -> None:
    made = house.add("Saturn has rings of ice.", "Jupiter has a red spot.", "Mars has two moons.", "Venus is hot.")
    house.settle()
    assert {memory.id for memory in made} <= set(house.search("planets of the solar system", limit=8))
    house.change(made[0], status="deleted")
    house.change(made[1], status="rejected")
    house.store.purge(Author(), "memory", made[2].id, "a test")
    total = house.settle().total
    assert set(house.search("planets of the solar system", limit=100)) & {m.id for m in made} == {made[3].id}
    house.change(made[0], status="active")
    assert house.settle().total == total + 1
    assert made[0].id in house.search("rings of ice")


def test_a_purge_has_the_engine_take_the_vector_out_of_the_files_and_embed_nothing(house: Started) -> None:
    secret, kept = house.add("The horse is called hunter2.", "The stable is painted red.")
    before = house.settle()
    index = house.paths.semantic_index
    files = {path for path in index.rglob("data/*") if path.is_file()}
    with Workspace(house.paths.root) as workspace:
        workspace.purge(secret.id, "leaked")
    assert files.isdisjoint(index.rglob("data/*"))
    after = house.settle()
    assert (after.pid, after.embedded_total, after.total) == (before.pid, before.embedded_total, before.total - 1)
    assert kept.id in house.search("the colour of the stable", limit=100)
    assert secret.id not in house.search("the name of the horse", limit=100)


def test_filters_apply_before_the_nearest_are_taken(house: Started) -> None:
    (wanted,) = house.add("Espresso takes nine bars.", namespace="kitchen/it's", kind="instruction")
    house.add(*(f"Coffee brewing note number {number}: grind finely." for number in range(20)), namespace="kitchens")
    house.settle()
    assert house.search("coffee", Under("kitchen"), limit=3) == [wanted.id]
    assert house.search("coffee", OneOf("kind", ("instruction",)), limit=3) == [wanted.id]
    assert wanted.id not in house.search("espresso", Not(OneOf("id", (wanted.id,))), limit=100)
    assert house.search("coffee", HasTag("x' OR '1'='1")) == []


def test_several_clients_are_answered_at_once(house: Started) -> None:
    house.settle()
    questions = [f"{text} {number}" for number in range(5) for text in ("deployments", "colours", "databases")]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda text: house.new_client().search(text, AllOf(), 3), questions))
    assert [answer.state for answer in answers] == ["ready"] * 15
    assert all(len(answer.hits) == 3 for answer in answers)


def test_waiting_for_what_is_not_written_yet_ends_with_the_time_given(house: Started) -> None:
    house.settle()
    (reply,) = converse(house, json.dumps({"op": "wait", "seq": 10**9, "timeout": 0.1, "id": 7}).encode() + b"\n")
    assert reply["id"] == 7
    assert reply["state"] == "ready"
    assert reply["seq"] == house.store.journal.head()


@pytest.mark.parametrize(
    "garbage",
    [
        b"\n",
        b"no json\n",
        b"\xff\xfe\x00\n",
        b"[]\n",
        b"null\n",
        b"{}\n",
        b'{"op": 1}\n',
        b'{"op": "fly"}\n',
        b'{"op": "search", "limit": "many"}\n',
        b'{"op": "search", "text": "\\ud800"}\n',
        b"[" * 200_000 + b"\n",
        b'{"op": "search", "text": "x", "where": "no such condition"}\n',
        b'{"op": "search", "text": "x", "where": "' + b"(" * 5000 + b'"}\n',
        b"x" * (LONGEST_LINE + 10) + b"\n",
    ],
    ids=lambda garbage: repr(garbage[:40]),
)
def test_garbage_gets_an_error_and_the_engine_goes_on(house: Started, garbage: bytes) -> None:
    house.settle()
    (reply,) = converse(house, garbage)
    assert reply["error"]
    assert house.status().pid == house.first_status.pid


def test_a_client_that_leaves_in_the_middle_disturbs_nobody(house: Started) -> None:
    for data in (b"", b'{"op": "sta', b'{"op": "search", "text": "x"}\n' * 50):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(house.paths.engine_socket))
            connection.sendall(data)
    assert house.status().pid == house.first_status.pid
    assert "Traceback" not in house.client.logs(50)


def test_one_connection_may_ask_several_times(house: Started) -> None:
    replies = converse(house, b'{"op": "status", "id": 1}\n{"op": "nothing", "id": "two"}\n{"op": "status"}\n')
    assert [reply["id"] for reply in replies] == [1, "two", None]
    assert ["error" in reply for reply in replies] == [False, True, False]


def test_strange_questions_are_answered(house: Started) -> None:
    house.settle()
    for text in ("", " ", "\x00", "\ud800 half a pair", "word " * 20_000, "😀" * 500, "a" * 20_000):
        assert house.client.search(text, AllOf(), 2).state == "ready"


def test_only_the_user_may_use_the_socket_and_read_the_log_and_the_vectors(house: Started) -> None:
    house.settle()
    index = [house.paths.semantic_index, *house.paths.semantic_index.rglob("*")]
    assert len(index) > 3
    assert [path for path in index if path.stat().st_mode & 0o077] == []
    for path in (house.paths.engine_socket, house.paths.engine_log, house.paths.engine_lock):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_index_may_be_deleted_while_the_engine_runs(house: Started) -> None:
    before = house.settle()
    shutil.rmtree(house.paths.semantic_index)
    until(lambda: house.status().embedded_total > before.embedded_total, "the index is built anew")
    after = house.settle()
    assert after.total == before.total
    assert house.search("When do we release new versions to production?")[0] == house.memories[0].id
    assert "its files were deleted" in house.client.logs(200)


def test_a_damaged_index_is_mended_when_a_question_meets_it(house: Started) -> None:
    before = house.settle()
    damaged = list(house.paths.semantic_index.rglob("*.lance/data/*"))
    assert damaged
    for path in damaged:
        os.truncate(path, 40)
    house.client.search("anything", AllOf(), 5)
    until(lambda: house.status().embedded_total > before.embedded_total, "the index is built anew")
    assert house.settle().total == before.total
    assert house.search("When do we release new versions to production?")[0] == house.memories[0].id


def test_an_index_that_cannot_be_written_is_explained_and_made_up_for(house: Started) -> None:
    before = house.settle()
    index = house.paths.semantic_index
    in_the_way = index.with_name("in the way")
    in_the_way.touch()
    index.rename(index.with_name("aside"))
    in_the_way.rename(index)
    house.add("Written while the index is in the way of itself.")
    with pytest.raises(EngineUnavailable, match="does not advance"):
        house.client.wait(house.store.journal.head(), PATIENCE)
    index.unlink()
    until(lambda: house.status().problem == "" or None, "the engine tries again")
    assert house.settle().total == before.total + 1


def test_a_program_that_starts_and_asks_the_engine_prints_nothing(house: Started, tmp_path: Path) -> None:
    house.settle()
    program = (
        "import sys; from pathlib import Path; from memento_tui.paths import DataPaths;"
        "from memento_tui.search.engine_client import SemanticClient; from memento_tui.model.filters import AllOf;"
        "from memento_tui.storage.store import Store;"
        "client = SemanticClient(DataPaths(Path(sys.argv[1])), True); Store(DataPaths(Path(sys.argv[1])).database);"
        "answer = client.search('deployments', AllOf(), 3); assert answer.state == sys.argv[2], answer;"
        "assert not {'torch', 'lancedb', 'numpy', 'sentence_transformers', 'asyncio'} & set(sys.modules)"
    )
    with EngineHouse(tmp_path / "new") as fresh:
        for root, state in ((house.paths.root, "ready"), (fresh.paths.root, "warming")):
            # Reading to the end of both pipes also shows that the engine holds neither.
            command = [sys.executable, "-W", "error", "-c", program, str(root), state]
            ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)  # noqa: S603 - ours
            assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
        pid = until(fresh.client.status, "the engine outlives the program").pid
        assert os.getsid(pid) == pid
        assert Path(f"/proc/{pid}/cwd").resolve() == Path("/") or sys.platform != "linux"


def test_it_stops_when_asked_and_leaves_neither_socket_nor_process(house: Started) -> None:
    pid = house.settle().pid
    assert house.client.stop()
    assert not is_alive(pid)
    assert not house.paths.engine_socket.exists()
    assert not house.client.stop()
    assert "asked to stop" in house.client.logs(1)
