"""What ``memento web`` refuses before it serves anything, and what its guard keeps apart."""

from __future__ import annotations

import socket
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from aiohttp.test_utils import make_mocked_request
from multidict import CIMultiDict

from memento_tui.tui.web.access_guard import AccessGuard
from memento_tui.tui.web.server import HOST, WebServer
from tests.unit.cli_program import Program, without_engine


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "example.org"])  # noqa: S104 - it has to be refused
def test_only_this_machine_is_served(tmp_path: Path, host: str) -> None:
    ended = Program(without_engine(tmp_path / "data")).run("web", "--host", host, "--json")
    assert (ended.code, ended.error["code"]) == (2, "invalid_input")
    assert f"127.0.0.1 only, not {host}" in ended.error["message"]
    assert "ssh -L" in ended.error["hint"]


def test_a_port_that_is_taken_is_an_error_with_a_way_out(tmp_path: Path) -> None:
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
        ended = Program(without_engine(tmp_path / "data")).run("web", "--port", str(port), "--json")
    assert ended.code == 2
    assert ended.error["message"].startswith(f"Port {port} of 127.0.0.1 cannot be used")
    assert "--port" in ended.error["hint"]


def test_a_data_directory_that_cannot_be_used_is_told_before_anything_is_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memento_tui.cli.author.has_terminal", lambda: True)
    (tmp_path / "data").write_text("a file")
    ended = Program(tmp_path / "data").run("web", "--json")
    assert (ended.code, list(ended.data)) == (6, ["error"])


def test_a_server_that_does_not_listen_has_no_door(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        _ = WebServer(tmp_path, report_failure=print).guard


def test_every_run_has_secrets_of_its_own() -> None:
    one, other = AccessGuard(HOST, 8123), AccessGuard(HOST, 8123)
    assert one.address != other.address
    assert one.path != other.path
    assert not other.admits(_token(one.address))


def test_an_address_for_once_opens_the_door_once() -> None:
    guard = AccessGuard(HOST, 8123)
    ticket = _token(guard.address_for_once())
    assert [guard.admits(ticket), guard.admits(ticket)] == [True, False]
    assert [guard.admits(_token(guard.address)), guard.admits(_token(guard.address))] == [True, True]


@pytest.mark.parametrize("token", ["", "é", "\udcff", "x" * 43])
def test_a_wrong_token_opens_nothing(token: str) -> None:
    assert not AccessGuard(HOST, 8123).admits(token)


def test_two_host_headers_are_one_too_many() -> None:
    guard = AccessGuard(HOST, 8123)
    hosts = CIMultiDict([("Host", "127.0.0.1:8123"), ("Host", "evil.example")])
    asked = make_mocked_request("GET", "/?" + urlsplit(guard.address).query, headers=hosts)
    assert "answers to" in guard.problem(asked)


def _token(address: str) -> str:
    (token,) = parse_qs(urlsplit(address).query)["token"]
    return token
