"""The commands of the hub, as a person calls them on two machines."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

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
    members = desktop.json("hub", "members")["items"]
    assert [(one["name"], one["role"], one["revoked_at"]) for one in members] == [
        ("laptop", "owner", None),
        ("desktop", "owner", None),
    ]
    assert desktop.json("hub", "leave", "--yes")["status"] == "left"
    assert desktop.json("hub") == {"joined": False}
    assert len(desktop.json("list")["items"]) == 1


def test_what_is_wrong_is_said_with_what_to_do_next(laptop: Console, desktop: Console, address: str) -> None:
    for arguments, said in (
        (("hub", "sync"), "This workspace is in no hub. Join one: memento hub join URL."),
        (("hub", "join", address), "There is no hub in this database. Begin one: memento hub init URL."),
        (("hub", "init", "postgresql://x@/y?host=/nowhere"), "The hub does not answer"),
        (("hub", "init", address, "--name", "a b"), "The name 'a b' cannot be used."),
    ):
        laptop.json("add", "Something.")
        ended = laptop.run(*arguments)
        assert ended.returncode != 0
        assert said in " ".join(ended.stderr.decode().split()), arguments
    laptop.json("hub", "init", address, "--name", "laptop")
    ended = desktop.run("hub", "join", address, "--name", "laptop")
    assert "A member of the hub has this name already. Take another: --name NAME." in " ".join(
        ended.stderr.decode().split()
    )
    assert desktop.json("hub") == {"joined": False}


def test_an_invitation_shows_a_password_once_that_the_server_does_not_keep(laptop: Console, address: str) -> None:
    laptop.json("hub", "init", address, "--name", "laptop")
    login = f"eve-{address.partition('/t')[2][:8]}"
    try:
        made = laptop.json("hub", "invite", login, "--role", "agent")
        assert (made["login"], made["role"], len(made["password"])) == (login, "agent", 32)
        assert laptop.json("hub", "invite", login, "--role", "reviewer")["password"] is None
        with psycopg.connect(address) as owner:
            kept = owner.execute("SELECT rolpassword FROM pg_authid WHERE rolname = %s", (login,)).fetchone()
        assert kept is not None
        assert str(kept[0]).startswith("SCRAM-SHA-256$")
        assert made["password"] not in (laptop.data_dir / "memento.db").read_bytes().decode(errors="replace")
    finally:
        with psycopg.connect(address, autocommit=True) as owner:
            owner.execute(f'DROP OWNED BY "{login}"; DROP ROLE "{login}"'.encode())
