"""The notes of entries at the hub, which a purge reaches, and a hub of an older form, which is raised."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path
from typing import Any, cast

import msgspec
import psycopg
import pytest

from memento_tui.errors import NotAllowed
from memento_tui.hub import server
from memento_tui.hub.entries import FORMAT, GENESIS, HubEntry, SigningKey, as_sent, fault_of
from memento_tui.hub.server import HubServer
from memento_tui.hub.sync import HubLink, keep_in_step
from tests.hub.conftest import MakeMachine
from tests.hub.machines import SITE, Machine, in_step
from tests.postgres import PostgresServer

REASON = "The door code is forty-one eleven, and nobody may know."


def notes_at(address: str) -> list[str]:
    with psycopg.connect(address) as hub:
        return [row[0] for row in hub.execute("SELECT note FROM memento.entry WHERE note <> '' ORDER BY seq")]


def rejected(owner: Machine, other: Machine) -> str:
    """Let an agent write a memory, and a person elsewhere reject it with a reason; return the memory's id."""
    with other.agent() as agent:
        made = agent.remember("The door opens by a code.", namespace=SITE)
    in_step(owner, other)
    owner.workspace.reject(made.id, REASON)
    in_step(owner, other)
    return made.id


@pytest.mark.parametrize("purges", ["laptop", "desktop"])
def test_a_purge_of_a_record_takes_the_reason_of_a_rejection_out_of_the_hub(
    machine: MakeMachine, address: str, purges: str
) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    made = rejected(laptop, desktop)
    assert REASON in notes_at(address)
    (laptop if purges == "laptop" else desktop).workspace.purge(made, "a door code")
    in_step(laptop, desktop)
    assert notes_at(address) == ["a door code"]
    late = machine("late")
    assert late.sync().notes == []  # what is left is as its members signed it
    assert late.texts() == {}


def test_a_purge_of_a_note_alone_takes_it_out_of_the_hub(machine: MakeMachine, address: str) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    made = rejected(laptop, desktop)
    entry = next(change.entry for change in laptop.workspace.history(made) if change.entry.note)
    laptop.workspace.purge(str(entry.seq), "a door code", kind="note")
    in_step(laptop, desktop)
    assert notes_at(address) == []
    late = machine("late")
    assert late.sync().notes == []
    assert late.workspace.get(made).status == "rejected"


def test_a_purge_of_an_agents_name_takes_out_of_the_hub_the_notes_that_hold_the_name_and_no_other(
    machine: MakeMachine, address: str
) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    rejected(laptop, desktop)
    with laptop.agent() as agent:
        asked = agent.remember("The door has two keys.", namespace=SITE)
    laptop.workspace.reject(asked.id, "I told claude-code that the keys are no matter.")
    with laptop.agent() as agent:
        kept = agent.remember("The gate is red.", namespace=SITE)
    laptop.workspace.reject(kept.id, "It is green.")
    in_step(laptop, desktop)
    assert len(notes_at(address)) == 3
    laptop.workspace.purge("claude-code", "a person's name", kind="agent")
    in_step(laptop, desktop)
    assert notes_at(address) == [REASON, "It is green."]


def test_a_note_that_is_purged_where_the_login_is_an_agents_goes_once_that_may_decide(
    machine: MakeMachine, address: str, postgres: PostgresServer, database: str
) -> None:
    laptop = machine("laptop")
    name = f"eve-{database}"
    laptop.hub.invite(name, "agent")
    desktop = machine("desktop", url=postgres.address(login=name, database=database))
    made = rejected(laptop, desktop)
    entry = next(change.entry for change in desktop.workspace.history(made) if change.entry.note)
    desktop.workspace.purge(str(entry.seq), "a door code", kind="note")
    assert [note for note in desktop.sync().notes if "purged here stays at the hub" in note]
    assert desktop.sync().notes == []  # and is said once
    assert notes_at(address) == [REASON]
    laptop.hub.invite(name, "reviewer")
    desktop.sync()
    assert notes_at(address) == []
    desktop.link.close()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f'DROP OWNED BY "{name}"; DROP ROLE "{name}"'.encode())


def test_a_note_that_the_hub_changed_is_not_its_members(machine: MakeMachine, address: str) -> None:
    laptop = machine("laptop")
    rejected(laptop, machine("desktop"))
    with psycopg.connect(address) as owner:
        owner.execute("UPDATE memento.entry SET note = 'You are right.' WHERE note <> ''")
    report = machine("late").sync()
    assert [note for note in report.notes if "holds another note than its member signed" in note]


def test_an_entry_of_the_first_format_is_checked_as_it_was_signed(tmp_path: Path) -> None:
    key = SigningKey.make(tmp_path / "key")
    facts: dict[str, Any] = dict.fromkeys(("id", "origin", "at", "actor", "agent", "session", "channel", "action"), "x")
    content = hashlib.sha256(msgspec.json.encode(("w", "m", 1, *facts.values(), "a note", []))).digest()
    signature = key.sign(content)
    entry = HubEntry(
        seq=1, member="m", role="owner", format=1, note="a note", content=content, signature=signature,
        previous_hash=GENESIS, hash=b"", **facts,
    )  # fmt: skip
    assert fault_of("w", entry, key.public) == ""
    changed = msgspec.structs.replace(entry, note="another")
    assert fault_of("w", changed, key.public) == "was not signed by its member as it stands"
    assert as_sent("w", "m", key, {**facts, "note": "a note"}, [])["format"] == FORMAT
    content = hashlib.sha256(msgspec.json.encode(("w", "m", 1, *facts.values(), "", []))).digest()
    bare = msgspec.structs.replace(entry, note="", content=content, signature=key.sign(content))
    assert fault_of("w", bare, key.public) == ""
    forged = msgspec.structs.replace(bare, note="made up", note_digest=b"")
    assert fault_of("w", forged, key.public) == "holds its note in another way than its member signed"


def test_a_hub_of_an_older_form_is_raised_by_whoever_began_it_and_nobody_else(
    machine: MakeMachine, postgres: PostgresServer, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = server._migrations()
    monkeypatch.setattr(server, "_migrations", lambda: steps[:1])
    laptop = machine("laptop")
    name = f"eve-{database}"
    laptop.hub.invite(name, "reviewer")
    desktop = machine("desktop", url=postgres.address(login=name, database=database))
    monkeypatch.setattr(server, "_migrations", lambda: steps)
    laptop.remember("One.")
    with pytest.raises(NotAllowed, match="of an older memento"):
        desktop.sync()
    in_step(laptop, desktop)
    assert list(desktop.texts().values()) == ["One."]
    with HubServer(postgres.address(login=name, database=database)) as connection:
        connection.bring_up_to_date()  # there is nothing left to do
    desktop.link.close()
    with psycopg.connect(postgres.address(database=database), autocommit=True) as connection:
        connection.execute(f'DROP OWNED BY "{name}"; DROP ROLE "{name}"'.encode())


def test_whoever_listens_is_told_of_an_append(machine: MakeMachine) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    in_step(laptop, desktop)
    assert not desktop.link.is_due()
    laptop.remember("One.", namespace=SITE)
    laptop.sync()
    assert desktop.link.hint(60)
    assert desktop.link.is_due()
    in_step(laptop, desktop)
    assert not desktop.link.is_due()


def test_a_hint_of_what_was_seen_already_or_of_no_entry_is_none(machine: MakeMachine, address: str) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    laptop.remember("One.")
    in_step(laptop, desktop)
    membership = desktop.hub.membership
    assert membership is not None
    with psycopg.connect(address, autocommit=True) as stranger:
        for payload in ("1", "", "soon", "9" * 5_000):
            stranger.execute("SELECT pg_notify(%s, %s)", (f"memento {membership.workspace}", payload))
        assert not desktop.link.hint(0)
        assert not desktop.link.is_due()
        stranger.execute("SELECT pg_notify(%s, '1000000')", (f"memento {membership.workspace}",))
        assert desktop.link.hint(60)  # a lie, which costs a look
    assert not desktop.link.is_due()


class _Waits(threading.Event):
    """Is set by the last wait of so many, none of which waits."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.left = count

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout
        self.left -= 1
        if self.left == 0:
            self.set()
        return self.is_set()


class _LyingLink:
    """A link to a hub in whose database somebody says without end that there is something new."""

    has_part = True

    def __init__(self) -> None:
        self.looks = 0

    def is_due(self, *, is_hinted: bool) -> bool:
        assert is_hinted
        self.looks += 1
        if self.looks > 50:
            raise AssertionError("it looks without a pause")
        return False

    def hint(self, _seconds: float) -> bool:
        return True


def test_whoever_is_told_of_nothing_new_again_and_again_waits_before_each_look() -> None:
    link, stopping = _LyingLink(), _Waits(5)
    keep_in_step(cast("HubLink", link), stopping)
    assert link.looks == 6
