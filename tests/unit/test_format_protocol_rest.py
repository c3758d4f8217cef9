from __future__ import annotations

import gzip
import json
import socket
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from memento_tui.api import Workspace
from memento_tui.errors import InvalidInput
from memento_tui.formats.import_export import run_import
from memento_tui.formats.protocol import client, rest
from memento_tui.model import Relation, WorkingItem
from tests.unit.cli_program import Program, without_engine
from tests.unit.format_reading import Reading, reading
from tests.unit.protocol_sources import KEY, Account, database, serving

NAME = "protocol-rest"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMENTO_API_KEY", KEY)
    monkeypatch.delenv("MEMENTO_WORKSPACE", raising=False)


def memory(identity: str = "a1b2c3d4", **fields: object) -> dict[str, Any]:
    usual = {
        "id": identity,
        "content": f"The text of {identity}.",
        "type": "fact",
        "tags": ["api"],
        "created_at": "2026-02-14 10:00:00",
        "expires_at": None,
        "relevance": 1.0,
        "access_count": 0,
        "last_accessed_at": None,
        "consolidated": 0,
        "consolidated_into": None,
        "linkages": [],
        "images": [],
    }
    return {**usual, **fields}


def skip(identity: str = "5c1b0001", **fields: object) -> dict[str, Any]:
    return {"id": identity, "item": "aurora", "reason": "Kp is low", "expires_at": "2027-02-20", **fields}


def whole() -> Account:
    return Account(
        memories=[
            memory(linkages=[{"type": "file", "path": "a.py"}]),
            memory("a1b2c3d5", consolidated=1, consolidated_into="a1b2c3d4"),
        ],
        skips=[skip(), skip("5c1b0002", expires_at="never")],
        items=[{"id": "1e000001", "category": "active_work", "title": "Search", "tags": ["x"], "priority": 2}],
        sections={"active_work": "## Active Work\n\nHalf done.", "skip_list": "## Skip List\n\n(empty)"},
        identity={"id": "1d000001", "crystal": "I am.", "source_count": 3, "created_at": "2026-01-01 00:00:00"},
        workspaces=("default", "empty"),
    )


def read(address: str) -> Reading:
    return reading(rest.read(address))


def test_an_account_is_moved_here_once(workspace: Workspace) -> None:
    with serving(whole()) as address:
        report = run_import(workspace, NAME, address)
        assert (report.imported, report.waiting, report.refused) == (6, 1, [])
        again = run_import(workspace, NAME, address + "/")
    assert (again.imported, again.updated, again.unchanged) == (0, 0, 7)
    assert workspace.get("a1b2c3d4").namespace == "global"
    joined = {(one.src, one.type, one.dst) for one in workspace._store.all_of(Relation)}
    assert joined == {("a1b2c3d4", "file", "a.py"), ("a1b2c3d4", "consolidated_from", "a1b2c3d5")}
    assert {one.title for one in workspace._store.all_of(WorkingItem)} == {"Search", "Skip: aurora", "Active Work"}
    (identity,) = workspace.review.list()[0]
    workspace.review.approve(identity.proposal.id)
    crystal = workspace._store.lists.current_crystal()
    assert crystal is not None
    assert crystal.content == "I am."


def test_every_page_is_read_and_only_to_the_end(workspace: Workspace) -> None:
    account = Account(memories=[memory(f"{n:08x}") for n in range(250)])
    with serving(account) as address:
        assert run_import(workspace, NAME, address).imported == 250
    assert sum(asked.startswith("/v1/memories?") for asked in account.asked) == 3


def test_its_rows_are_those_of_the_database(workspace: Workspace, tmp_path: Path) -> None:
    source = database(
        tmp_path / "dev.db",
        memories=[{"id": "a1b2c3d4", "content": "x", "tags": '["api"]', "access_count": 5, "created_at": "2026-02-14"}],
    )
    run_import(workspace, "protocol-sqlite", source)
    row = memory(content="x", access_count=5, created_at="2026-02-14", type="observation")
    with serving(Account(memories=[row])) as address:
        report = run_import(workspace, NAME, address)
    assert (report.unchanged, report.refused) == (1, [])


def test_another_workspace_is_a_namespace_and_one_may_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    account = Account(memories=[memory()], workspaces=("team/web", "other"))
    with serving(account) as address:
        assert read(address).only.fields["namespace"] == "team/web"
        monkeypatch.setenv("MEMENTO_WORKSPACE", "other")
        assert read(address) == Reading()
        monkeypatch.setenv("MEMENTO_WORKSPACE", "none")
        with pytest.raises(InvalidInput, match="no workspace 'none'"):
            read(address)


def test_an_identity_that_is_told_in_every_workspace_is_one() -> None:
    answer = b'{"content": [{"type": "text", "text": "I am."}], "meta": {"id": "1d000001"}}'
    account = Account(workspaces=("apps", "default"), answers={"/v1/identity": (200, answer)})
    with serving(account) as address:
        found = read(address)
    assert found.keys == ["default/1d000001"]
    assert found.refused == []


def test_the_words_of_caution_above_an_identity_are_none_of_its_words() -> None:
    meta = '"meta": {"id": "1d000001", "labels": ["unverified"]}'
    answer = f'{{"content": [{{"type": "text", "text": "[unverified]\\nI am."}}], {meta}}}'.encode()
    with serving(Account(answers={"/v1/identity": (200, answer)})) as address:
        (identity,) = read(address).taken
    assert identity.fields["content"] == "I am."
    assert "labels" not in str(identity.fields)


def test_a_broken_row_costs_only_itself() -> None:
    account = Account(memories=[memory(), 5, memory("b", content=None), memory("c")], skips=[skip(item="")])
    with serving(account) as address:
        found = read(address)
    assert found.keys == ["default/a1b2c3d4", "default/c"]
    assert [(one.file, one.line) for one in found.refused] == [
        ("default/memories", 2),
        ("default/memories", 3),
        ("default/skip-list", 1),
    ]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((200, b"<html>"), "does not answer as Memento Protocol does"),
        ((200, b'{"memories": 5}'), "does not answer as Memento Protocol does"),
        ((200, b"[" * 100_000), "does not answer as Memento Protocol does"),
        ((500, b"{}"), "HTTP 500"),
        ((302, b""), "HTTP 302"),
        ((429, b"{}"), "asked too often"),
    ],
)
def test_an_answer_that_cannot_be_used_is_a_sentence(answer: tuple[int, bytes], reason: str) -> None:
    with serving(Account(answers={"/v1/memories": answer})) as address, pytest.raises(InvalidInput, match=reason):
        read(address)


def _page_of(rows: str) -> bytes:
    return b'{"memories": [' + rows.encode() + b"]}"


@pytest.mark.parametrize(
    ("limit", "answer", "reason"),
    [
        ("_MAX_ROWS", (200, _page_of(",".join(["{}"] * 100))), "goes on after 1,000 rows"),
        ("_MAX_ROWS", (200, _page_of(",".join([json.dumps(memory())] * 100))), "goes on after 1,000 rows"),
        ("_MAX_RESPONSE_VALUES", (200, _page_of(",".join(["0"] * 1_002))), "over 1,000 values"),
        ("_MAX_RESPONSE_BYTES", (200, _page_of('"' + "x" * 1_000 + '"')), "answers with over 1,000 bytes"),
        ("_MAX_TOTAL_BYTES", (200, _page_of(",".join(["{}"] * 100))), "has sent over 1,000 bytes"),
    ],
)
def test_a_server_that_never_ends_or_gives_too_much_is_left_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, limit: str, answer: tuple[int, bytes], reason: str
) -> None:
    monkeypatch.setattr(f"memento_tui.formats.protocol.client.{limit}", 1_000)
    with serving(Account(answers={"/v1/memories": answer})) as address, pytest.raises(InvalidInput, match=reason):
        read(address)


def test_an_account_of_endless_workspaces_is_read_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    account = Account(memories=[memory()], workspaces=tuple(f"w{number}" for number in range(1_001)))
    with serving(account) as address:
        with pytest.raises(InvalidInput, match=r"over 1,000 workspaces.*MEMENTO_WORKSPACE"):
            read(address)
        monkeypatch.setenv("MEMENTO_WORKSPACE", "w0")
        assert read(address).only.fields["namespace"] == "w0"


def _answering(connection: socket.socket, parts: Iterable[bytes], is_over: threading.Event) -> None:
    """Answer one request with some parts, and then with nothing until it is over."""
    connection.recv(65_536)
    for part in parts:
        connection.sendall(part)
    is_over.wait(60)
    connection.close()


@contextmanager
def _raw_server(*parts: bytes) -> Iterator[str]:
    is_over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            _answering(connection, parts, is_over)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        is_over.set()
        thread.join()


@pytest.mark.parametrize(
    "parts", [(), (b"HTTP/1.1 200 OK\r\nX-Slow: a",), (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", b"[")]
)
def test_a_server_that_comes_to_no_end_of_its_answer_is_left_after_ten_minutes(
    monkeypatch: pytest.MonkeyPatch, parts: tuple[bytes, ...]
) -> None:
    assert client._ANSWER_SECONDS == 600
    monkeypatch.setattr(client, "_ANSWER_SECONDS", 0.05)
    with _raw_server(*parts) as address, pytest.raises(InvalidInput, match=r"did not answer within 0\.05 seconds"):
        read(address)


def test_a_compressed_answer_is_not_unfolded() -> None:
    packed = gzip.compress(b" " * 10_000_000)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(packed)}\r\n\r\n".encode()
    with _raw_server(head, packed) as address, pytest.raises(InvalidInput, match="compressed, which was not asked for"):
        read(address)


@pytest.mark.parametrize("answer", [b"{}", b'{"content": []}', b'{"content": [{"text": "no list"}]}', b"5"])
def test_a_list_of_workspaces_that_is_none_is_a_sentence(answer: bytes) -> None:
    account = Account(answers={"/v1/workspaces": (200, answer)})
    with serving(account) as address, pytest.raises(InvalidInput, match="does not answer as Memento Protocol does"):
        read(address)


def test_a_wrong_key_is_a_sentence_that_does_not_repeat_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMENTO_API_KEY", "mp_live_wrong")
    with serving(Account()) as address, pytest.raises(InvalidInput, match="refuses the key") as raised:
        read(address)
    assert "mp_live_wrong" not in str(raised.value)


@pytest.mark.parametrize("given", ["", "  ", "two words", "schlüssel", "a\nb"])
def test_a_key_that_cannot_be_one_is_never_sent(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("MEMENTO_API_KEY", given)
    account = Account()
    with serving(account) as address, pytest.raises(InvalidInput, match="MEMENTO_API_KEY"):
        read(address)
    assert account.asked == []


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("http://memento.example.org", "unencrypted"),
        ("https://user@memento.example.org", "no address"),
        ("https://memento.example.org?x=1", "no address"),
        ("https://:99999", "no address"),
        ("https://[", "no address"),
        ("ftp://memento.example.org", "no address"),
        ("http://127.0.0.1:1", "cannot be read"),
    ],
)
def test_an_address_that_cannot_be_used_is_a_sentence(address: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        read(address)


def test_the_command_takes_an_address_and_guesses_the_format(tmp_path: Path) -> None:
    memento = Program(without_engine(tmp_path / "data"))
    with serving(whole()) as address:
        assert memento.json("import", "auto", address)["format"] == NAME
        assert memento.json("import", NAME, address, "--dry-run")["unchanged"] == 7
        assert memento.run("import", "vault", address, "--json").error["code"] == "invalid_input"
    assert memento.run("import", NAME, str(tmp_path), "--json").error["code"] == "invalid_input"
