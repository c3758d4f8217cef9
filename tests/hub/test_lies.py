"""A hub that lies, hangs or is none: a sentence, nothing taken in, and what was written here is sent once it can be."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable
from itertools import count
from typing import Any

import psycopg
import pytest

from memento_tui.errors import MementoError
from memento_tui.hub import server
from memento_tui.hub.entries import HubEntry
from memento_tui.hub.server import HubMalformed, HubServer, HubUnreachable
from tests.hub.conftest import MakeMachine
from tests.hub.liar import Liar, error, message
from tests.hub.machines import SITE, Machine, in_step


def change(address: str, *statements: str) -> None:
    """Change rows as whoever administers the database may; the triggers that hinder others are off."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(b"SET session_replication_role = replica")
        for statement in statements:
            connection.execute(statement.encode())


LIES = {
    "an entry comes twice": (
        "CREATE TEMP TABLE twice AS SELECT * FROM memento.entry",
        "UPDATE twice SET seq = seq + (SELECT seq FROM memento.head), id = id || 'x'",
        "INSERT INTO memento.entry SELECT * FROM twice",
        "UPDATE memento.head SET seq = (SELECT max(seq) FROM memento.entry)",
    ),
    "the digest of the signed content is another": ("UPDATE memento.entry SET content = sha256('x')",),
    "the chain is another": (
        "UPDATE memento.entry SET hash = sha256('x')",
        "UPDATE memento.head SET hash = sha256('x')",
    ),
    "the journal is said to be longer than it is": ("UPDATE memento.head SET seq = 9223372036854775807",),
    "the journal is said to end before its beginning": ("UPDATE memento.head SET seq = -5",),
    "it is in the name of another member": (
        "UPDATE memento.entry SET member = (SELECT id FROM memento.member WHERE name = 'desktop')",
    ),
    "a text of 100 MB": ("UPDATE memento.change SET image = repeat('x', 100000000)",),
    "a note of 100 MB": ("UPDATE memento.entry SET note = repeat('x', 100000000)",),
    "an agent's name of 100 MB": ("UPDATE memento.entry SET agent = repeat('x', 100000000)",),
    "a record's id of 100 MB": (
        "ALTER TABLE memento.change DROP CONSTRAINT change_workspace_record_record_id_version_key",
        "UPDATE memento.change SET record_id = repeat('x', 100000000)",
    ),
    "a number of another type": ("ALTER TABLE memento.head ALTER COLUMN seq TYPE text USING 'abc'",),
    "a digest of another type": (
        "ALTER TABLE memento.entry DROP CONSTRAINT entry_content_check",
        "ALTER TABLE memento.entry ALTER COLUMN content TYPE text USING 'abc'",
    ),
    "the form of a schema to come": ("INSERT INTO memento.migration VALUES (999999)",),
    "the form of an entry to come": ("UPDATE memento.entry SET format = 99",),
    "no schema": ("DROP SCHEMA memento CASCADE",),
}
"""What whoever administers the database changes, after the first machine wrote and before the second one pulls."""


_NOT_SIGNED = r"Entry 1 of the hub, in the name of {name}, was not signed by its member as it stands. It was left out\."
_NO_HUB = r"What answers at the hub's address does not answer as a hub does: {why}"
SAID = {
    "an entry comes twice": r"Entry 3 of the hub does not follow from entry 2: its journal was altered\.",
    "the digest of the signed content is another": (
        r"Entry 1 of the hub does not follow from entry 0: its journal was altered\."
    ),
    "the chain is another": r"Entry 1 of the hub does not follow from entry 0: its journal was altered\.",
    "the journal is said to be longer than it is": (
        r"The hub's journal ends at entry 9223372036854775807, and has none after entry 2\."
    ),
    "the journal is said to end before its beginning": _NO_HUB.format(why="Expected `int` >= 0"),
    "it is in the name of another member": _NOT_SIGNED.format(name="desktop"),
    "a text of 100 MB": (
        r"Entry 1 of the hub, in the name of laptop, holds another text of memory \w+ than its member signed\."
    ),
    "a note of 100 MB": "$",
    "an agent's name of 100 MB": _NOT_SIGNED.format(name="laptop"),
    "a record's id of 100 MB": _NOT_SIGNED.format(name="laptop"),
    "a number of another type": _NO_HUB.format(why="Expected `int`, got `str`"),
    "a digest of another type": _NO_HUB.format(why="Invalid base64 encoded string"),
    "the form of a schema to come": "$",
    "the form of an entry to come": r"Entry 1 of the hub was written by a newer memento\.",
    "no schema": r"There is no hub in this database\.",
}
"""How what is told begins; nothing is told of what could be left empty, or does not concern the reading."""

_LEAVE_WHAT_IS_TRUE = (
    "an entry comes twice",
    "the journal is said to be longer than it is",
    "a note of 100 MB",
    "the form of a schema to come",
)
"""Lies behind or beside which an entry stands as its member signed it: that one is taken in."""


@pytest.mark.parametrize("lie", LIES)
def test_a_hub_that_was_changed_by_sql_is_believed_in_nothing(lie: str, machine: MakeMachine, address: str) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    in_step(laptop, desktop)
    theirs = laptop.remember("The staging host is stage2.")
    laptop.workspace.verify(theirs.id)
    laptop.sync()
    own = desktop.remember("Written here.")
    change(address, *LIES[lie])
    try:
        told = " ".join(desktop.sync().notes)
    except MementoError as refused:
        told = refused.message
    held = desktop.texts()
    assert held.pop(own.id) == "Written here."
    assert held == ({theirs.id: theirs.content} if lie in _LEAVE_WHAT_IS_TRUE else {})
    assert re.match(SAID[lie], told), told
    assert len(told) < 2_000


ANSWERS: dict[str, tuple[Callable[[socket.socket], object], type[MementoError]]] = {
    "noise": (lambda line: line.sendall(os.urandom(4_096)), MementoError),
    "an error with orders for the terminal": (
        lambda line: line.sendall(error(b"\x1b]0;owned\x07\x1b[2J" + b"x" * 5_000)),
        MementoError,
    ),
    "a good end without an answer": (
        lambda line: line.sendall(message(b"C", b"SELECT 1\0") + message(b"Z", b"I")),
        MementoError,
    ),
    "the end of the line": (lambda line: line.shutdown(socket.SHUT_RDWR), HubUnreachable),
    "a message that is said to have 2 GB": (
        lambda line: line.sendall(b"D\x7f\xff\xff\xff" + b"x" * 64),
        MementoError,
    ),
    "nothing at all": (lambda _line: None, HubUnreachable),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_what_is_no_hub_is_left_with_a_sentence_and_in_time(answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_ANSWER_SECONDS", 0.5)
    said, expected = ANSWERS[answer]
    with Liar(said) as liar, HubServer(liar.address, typed_by_person=True) as hub:
        with pytest.raises(expected) as refused:
            hub.head("home")
        assert refused.value.hint
        assert len(refused.value.message) < 400


def test_a_hub_that_hangs_keeps_nothing_that_was_written_here(
    machine: MakeMachine, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    in_step(laptop, desktop)
    made = laptop.remember("Written while it hung.")
    monkeypatch.setattr(server, "_ANSWER_SECONDS", 0.5)
    with psycopg.connect(address) as holding:
        holding.execute(b"LOCK TABLE memento.head IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(HubUnreachable, match=r"no answer came in 0\.5 seconds"):
            laptop.sync()
    monkeypatch.setattr(server, "_ANSWER_SECONDS", 60.0)
    in_step(laptop, desktop)
    assert desktop.texts() == {made.id: "Written while it hung."}


def test_a_value_of_another_type_is_named_and_taken_for_none(machine: MakeMachine, address: str) -> None:
    laptop: Machine = machine("laptop")
    laptop.sync()
    change(address, *LIES["a number of another type"])
    with pytest.raises(HubMalformed, match=r"does not answer as a hub does.*Expected `int`, got `str`"):
        laptop.sync()


def test_more_than_one_reading_may_bring_is_read_in_several_and_nothing_is_left_out(
    machine: MakeMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    in_step(laptop, desktop)
    made = [laptop.remember(f"Note {number}: {'word ' * 300}") for number in range(6)]
    laptop.sync()
    monkeypatch.setattr(server, "_MAX_READING_BYTES", 5_000)
    assert not desktop.sync().notes
    assert desktop.texts() == {one.id: one.content for one in made}


def test_an_entry_that_alone_brings_more_is_left_out_and_what_follows_is_not(
    machine: MakeMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    in_step(laptop, desktop)
    laptop.workspace.remember_many({"content": f"Note {n}: {'word ' * 300}", "namespace": SITE} for n in range(6))
    after = laptop.remember("Written after all that.")
    laptop.sync()
    monkeypatch.setattr(server, "_MAX_READING_BYTES", 5_000)
    (told,) = desktop.sync().notes
    assert "brings more than 256 MiB, which no machine reads of one entry. It was left out." in told
    assert after.id in desktop.texts()


def test_changes_without_a_text_count_among_what_one_reading_may_bring(
    machine: MakeMachine, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    in_step(laptop, desktop)
    laptop.remember("The staging host is stage2.")
    laptop.sync()
    change(
        address,
        "INSERT INTO memento.change (workspace, seq, ordinal, record, record_id, version, removed, digest)"
        " SELECT workspace, seq, ordinal + n, record, record_id || n, 1, true, digest"
        " FROM memento.change, generate_series(1, 1000) AS n WHERE seq = (SELECT max(seq) FROM memento.change)",
    )
    after = laptop.remember("Written after all that.")
    laptop.sync()
    monkeypatch.setattr(server, "_MAX_READING_BYTES", 5_000)
    read, brought = HubServer.entries_after, list[int]()

    def counted(hub: HubServer, workspace: str, seq: int, limit: int) -> list[HubEntry]:
        entries = read(hub, workspace, seq, limit)
        brought.append(sum(len(entry.changes) for entry in entries))
        return entries

    monkeypatch.setattr(HubServer, "entries_after", counted)
    desktop.sync()
    assert max(brought) < 10
    assert after.id in desktop.texts()


def test_a_whole_hub_is_read_by_pages_of_a_bounded_size(
    machine: MakeMachine, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    laptop = machine("laptop")
    made = [laptop.remember(f"Note {number}: {'word ' * 300}") for number in range(6)]
    laptop.workspace.update(made[0].id, content="Changed since.")
    laptop.sync()
    monkeypatch.setattr(server, "_MAX_PAGE_BYTES", 5_000)
    read, pages = HubServer._rows, list[int]()

    def counted(hub: HubServer, *asked: Any, **more: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401 - as the method
        rows = read(hub, *asked, **more)
        pages.append(sum(len(str(row)) for row in rows))
        return rows

    membership = laptop.hub.membership
    assert membership is not None
    with HubServer(address, typed_by_person=True) as hub:
        seq = hub.head(membership.workspace)[0]
        monkeypatch.setattr(HubServer, "_rows", counted)
        found = list(hub.changes_until(membership.workspace, seq))
    assert [one.record_id for one in found] == sorted(one.id for one in made)
    assert {one.version for one in found if one.record_id == made[0].id} == {2}
    assert len(pages) > 2
    assert max(pages) < 10_000


def test_a_hub_that_has_records_without_end_is_left_in_time(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    times = count()
    monkeypatch.setattr(server, "monotonic", lambda: next(times) * 60.0)
    row = ("memory", "again", 1, False, None, None, b"")
    monkeypatch.setattr(HubServer, "_rows", lambda *_asked, **_more: [row])
    with HubServer(address, typed_by_person=True) as hub, pytest.raises(HubUnreachable, match="came to no end"):
        list(hub.changes_until("any", 1))
