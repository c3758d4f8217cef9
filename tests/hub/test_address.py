"""To which machine an address of a hub leads, whatever names it: nothing leaves this machine unencrypted."""

from __future__ import annotations

from pathlib import Path

import pytest

from memento_tui.errors import InvalidInput, NotAllowed
from memento_tui.hub.address import check_connection, connection_options

LIBPQ_SETTINGS = ("PGHOST", "PGHOSTADDR", "PGSERVICE", "PGSERVICEFILE", "PGSSLMODE")


@pytest.fixture(autouse=True)
def _nothing_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in LIBPQ_SETTINGS:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql:///memento",
        "postgresql://localhost/memento",
        "postgresql://127.0.0.1,[::1]/memento",
        "postgresql:///memento?hostaddr=127.0.0.1",
        "postgresql://ana@/memento?host=/run/postgresql",
    ],
)
def test_an_address_on_this_machine_needs_no_encryption(address: str) -> None:
    assert "sslmode" not in connection_options(address)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://db.example.org/memento",
        "postgresql://localhost,db.example.org/memento",
        "postgresql://localhost/memento?hostaddr=203.0.113.5",
        "postgresql://db.example.org/memento?hostaddr=127.0.0.1",
        "postgresql:///memento?host=/run/postgresql&hostaddr=203.0.113.5",
        "postgresql://db.example.org/memento?gssencmode=require",
    ],
)
def test_an_address_that_leads_elsewhere_by_host_or_number_is_encrypted_and_its_name_checked(address: str) -> None:
    options = connection_options(address)
    assert (options["sslmode"], options["sslrootcert"], options["gssencmode"]) == ("verify-full", "system", "disable")


@pytest.mark.parametrize(
    ("name", "value", "address"),
    [
        ("PGHOST", "db.example.org", "postgresql:///memento"),
        ("PGHOSTADDR", "203.0.113.5", "postgresql://localhost/memento"),
        ("PGSERVICE", "elsewhere", "postgresql:///memento"),
    ],
)
def test_a_machine_that_the_environment_names_counts_as_if_the_address_did(
    name: str, value: str, address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    services = tmp_path / "services.conf"
    services.write_text("[elsewhere]\nhost=db.example.org\nsslmode=disable\n")
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    monkeypatch.setenv("PGSSLMODE", "disable")
    monkeypatch.setenv(name, value)
    assert connection_options(address)["sslmode"] == "verify-full"
    with pytest.raises(InvalidInput, match="sslmode=prefer would send"):
        connection_options(f"{address}?sslmode=prefer")


def test_an_address_that_names_a_host_is_judged_by_that_and_not_by_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PGHOST", "db.example.org")
    assert "sslmode" not in connection_options("postgresql://localhost/memento")


def test_an_address_with_a_service_is_refused() -> None:
    with pytest.raises(InvalidInput, match="names a service"):
        connection_options("postgresql:///memento?service=elsewhere")


@pytest.mark.parametrize(("host", "hostaddr"), [("localhost", "203.0.113.5"), ("db.example.org", ""), ("", "10.0.0.1")])
def test_an_open_connection_to_another_machine_is_given_up_unless_it_is_encrypted(host: str, hostaddr: str) -> None:
    check_connection(host, hostaddr, encrypted=True)
    with pytest.raises(NotAllowed, match="is not encrypted"):
        check_connection(host, hostaddr, encrypted=False)


@pytest.mark.parametrize(
    ("host", "hostaddr"), [("/run/postgresql", ""), ("localhost", "::1"), ("127.0.0.1", "127.0.0.1")]
)
def test_an_open_connection_on_this_machine_needs_no_encryption(host: str, hostaddr: str) -> None:
    check_connection(host, hostaddr, encrypted=False)
