"""The commands of the hub, as a person calls them on two machines."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from memento_tui.errors import ReadOnlyMode
from memento_tui.paths import DataPaths
from tests.journeys.cli_shell import Console
from tests.made import without_engine


@pytest.fixture
def laptop(tmp_path: Path) -> Console:
    return Console(without_engine(tmp_path / "laptop"))


@pytest.fixture
def desktop(tmp_path: Path) -> Console:
    return Console(without_engine(tmp_path / "desktop"))


def test_two_machines_share_a_namespace_by_commands_alone(laptop: Console, desktop: Console, address: str) -> None:
    begun = laptop.json("hub", "init", address, "--name", "laptop", "--share", "projects/site")
    assert (begun["role"], begun["namespaces"], begun["url"]) == ("owner", ["projects/site"], address)
    desktop.json("hub", "join", address, "--name", "desktop")
    desktop.json("hub", "share", "projects/site")
    laptop.json("add", "The staging host is stage2.", "--namespace", "projects/site")
    assert laptop.json("hub", "sync")["pushed"] == 1
    assert desktop.json("hub", "sync")["pulled"] == 1
    assert [one["content"] for one in desktop.json("list")["items"]] == ["The staging host is stage2."]
    told = desktop.run("hub").stdout.decode()
    assert "in step" in told
    assert "laptop takes part in the hub as owner." in told
    assert desktop.json("hub", "status")["notes"] == []
    desktop.json("add", "The other one is stage3.", "--namespace", "projects/site")
    by = {line.split()[-1]: line.split()[5] for line in desktop.run("list").stdout.decode().splitlines()[1:]}
    assert by == {"stage2.": "laptop", "stage3.": "you"}
    members = desktop.json("hub", "members")["items"]
    assert [(one["name"], one["role"], one["revoked_at"]) for one in members] == [
        ("laptop", "owner", None),
        ("desktop", "owner", None),
    ]
    assert desktop.json("hub", "leave", "--yes")["status"] == "left"
    assert desktop.json("hub") == {"joined": False}
    assert len(desktop.json("list")["items"]) == 2


def test_what_is_wrong_is_said_with_what_to_do_next(laptop: Console, desktop: Console, address: str) -> None:
    for arguments, said in (
        (("hub", "sync"), "This workspace is in no hub. Join one: memento hub join URL."),
        (("hub", "join", address), "There is no hub in this database. Begin one: memento hub init URL."),
        (("hub", "init", "postgresql://x@/y?host=/nowhere"), "The hub does not answer"),
        (("hub", "init", "postgresql://x@/y?host=/nowhere"), "This machine is in no hub yet. Check the address"),
        (("hub", "join", "postgresql://x@/y?host=/nowhere"), "This machine is in no hub yet. Check the address"),
        (("hub", "init", address, "--name", "a b"), "The name 'a b' cannot be used."),
    ):
        laptop.json("add", "Something.")
        ended = laptop.run(*arguments)
        assert ended.returncode != 0
        assert said in " ".join(ended.stderr.decode().split()), arguments
    laptop.json("hub", "init", address, "--name", "laptop")
    ended = desktop.run("hub", "join", address, "--name", "laptop")
    assert "A member of the hub has or had this name. Take another: --name NAME." in " ".join(
        ended.stderr.decode().split()
    )
    assert desktop.json("hub") == {"joined": False}


def test_an_invitation_shows_a_password_once_that_the_server_does_not_keep(laptop: Console, address: str) -> None:
    laptop.json("hub", "init", address, "--name", "laptop")
    login = f"eve-{address.partition('/t')[2][:8]}"
    try:
        made = laptop.json("hub", "invite", login, "--role", "agent")
        assert (made["login"], made["role"], len(made["password"])) == (login, "agent", 32)
        assert made["url"] == address.replace("//owner@", f"//{login}@")
        assert laptop.json("hub", "invite", login, "--role", "reviewer")["password"] is None
        with psycopg.connect(address) as owner:
            kept = owner.execute("SELECT rolpassword FROM pg_authid WHERE rolname = %s", (login,)).fetchone()
        assert kept is not None
        assert str(kept[0]).startswith("SCRAM-SHA-256$")
        assert made["password"] not in (laptop.data_dir / "memento.db").read_bytes().decode(errors="replace")
    finally:
        with psycopg.connect(address, autocommit=True) as owner:
            owner.execute(f'DROP OWNED BY "{login}"; DROP ROLE "{login}"'.encode())


def test_a_revocation_says_whose_login_still_reads_and_a_hub_that_cannot_be_told_is_left(
    laptop: Console, desktop: Console, address: str
) -> None:
    laptop.json("hub", "init", address, "--name", "laptop")
    desktop.json("hub", "join", address, "--name", "desktop")
    told = laptop.run("hub", "revoke", "desktop").stdout.decode()
    assert told == (
        "desktop takes no part any more.\n"
        "Its login owner is also that of laptop: whoever has its password still reads the hub and can join again.\n"
        "To end that: change the password of owner in PostgreSQL, and give each machine a login of its own.\n"
    )
    with psycopg.connect(address, autocommit=True) as administrator:
        administrator.execute("DROP SCHEMA memento CASCADE")
    left = desktop.json("hub", "leave", "--yes")
    assert (left["status"], left["untold"]) == ("left", "There is no hub in this database.")
    assert desktop.json("hub") == {"joined": False}
    told = laptop.run("hub", "leave", "--yes").stdout.decode()
    assert "The hub was not told: There is no hub in this database." in told


def test_read_only_the_hub_is_looked_at_and_neither_it_nor_the_machine_is_changed(
    laptop: Console, desktop: Console, address: str
) -> None:
    laptop.json("hub", "init", address, "--name", "laptop", "--share", "projects/site")
    desktop.json("add", "Something.")
    joining: list[tuple[str, ...]] = [
        ("init", address),
        ("join", address, "--name", "desktop", "--share", "projects/site"),
    ]
    for arguments in joining:
        assert_refused_read_only(desktop, *arguments)
    assert not [file for file in desktop.data_dir.iterdir() if "hub" in file.name]
    desktop.json("hub", "join", address, "--name", "desktop", "--share", "projects/site")
    laptop.json("add", "The staging host is stage2.", "--namespace", "projects/site")
    laptop.json("hub", "sync")
    desktop.json("hub", "sync")
    key = DataPaths(laptop.data_dir).hub_key.read_bytes()
    changing: list[tuple[str, ...]] = [
        ("share", "projects/api"),
        ("share", "--stop", "projects/site"),
        ("invite", "eve"),
        ("revoke", "desktop"),
        ("leave", "--yes"),
        ("sync",),
        ("resume",),
        ("run",),
    ]
    for arguments in changing:
        assert_refused_read_only(laptop, *arguments)
    assert DataPaths(laptop.data_dir).hub_key.read_bytes() == key
    members = laptop.json("--read-only", "hub", "members")["items"]
    assert [(one["name"], one["revoked_at"]) for one in members] == [("laptop", None), ("desktop", None)]
    told = desktop.json("hub", "status")
    assert told["notes"] == ["laptop takes part in the hub as owner."]
    assert told["notes"][0] in desktop.run("--read-only", "hub").stdout.decode()
    assert desktop.json("--read-only", "hub", "status") == told


def assert_refused_read_only(machine: Console, *arguments: str) -> None:
    """Fail unless a command of the hub is refused because nothing is to be written."""
    ended = machine.run("--read-only", "hub", *arguments)
    assert ended.returncode == ReadOnlyMode.exit_code, (arguments, ended)
    assert "memento was started read-only" in ended.stderr.decode()
