"""A hub's password in the system's keyring: asked where libpq has none, by the name of the login and the host."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from memento_tui.errors import NotAllowed
from memento_tui.hub.address import keyring_name
from memento_tui.hub.server import HubServer
from tests.journeys.engine_house import until
from tests.keyring_backend import use_keyring
from tests.postgres import PostgresServer


@pytest.fixture
def login(postgres: PostgresServer, database: str) -> Iterator[str]:
    """Return the address of a login that the server lets in with the password "right" alone."""
    rules = postgres.data / "pg_hba.conf"
    before = rules.read_text()
    with psycopg.connect(postgres.address(database=database), autocommit=True) as owner:
        owner.execute("CREATE ROLE guarded LOGIN PASSWORD 'right'")
        rules.write_text(f"local all guarded scram-sha-256\n{before}")
        owner.execute("SELECT pg_reload_conf()")
        address = postgres.address(login="guarded", database=database)
        until(lambda: _needs_password(address), "the server asks for a password")
        yield address
        rules.write_text(before)
        owner.execute("SELECT pg_reload_conf()")
        owner.execute("DROP ROLE guarded")


def _needs_password(address: str) -> bool:
    try:
        psycopg.connect(address, passfile="/dev/null").close()
    except psycopg.OperationalError:
        return True
    return False


def _reaches(address: str) -> bool:
    with HubServer(address, typed_by_person=True) as server:
        return bool(server._connection.info.user == "guarded")


def test_a_password_that_no_file_has_comes_from_the_keyring(
    login: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "none"))
    monkeypatch.delenv("PGPASSWORD", raising=False)
    kept = use_keyring(tmp_path / "keyring.json", monkeypatch)
    with pytest.raises(NotAllowed, match="keyring set memento-hub LOGIN@HOST"):
        HubServer(login, typed_by_person=True)
    kept.write_text(json.dumps({"memento-hub guarded@localhost": "right"}))
    assert _reaches(login)
    kept.write_text(json.dumps({"memento-hub guarded@localhost": "wrong"}))
    with pytest.raises(NotAllowed, match="password authentication failed"):
        HubServer(login, typed_by_person=True)


def test_a_file_of_passwords_is_asked_before_the_keyring(
    login: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = use_keyring(tmp_path / "keyring.json", monkeypatch)
    kept.write_text(json.dumps({"memento-hub guarded@localhost": "wrong"}))
    passwords = tmp_path / "pgpass"
    passwords.write_text("*:*:*:guarded:right\n")
    passwords.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(passwords))
    assert _reaches(login)


def test_the_keyring_names_a_password_by_login_and_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGUSER", "eve")
    assert keyring_name({"user": "ana", "host": "db.example.org"}) == "ana@db.example.org"
    assert keyring_name({"host": "/run/postgresql"}) == "eve@localhost"
