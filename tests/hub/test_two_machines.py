"""Two machines that share through a real PostgreSQL: what travels, what stays, and what waits for a person."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from memento_tui.errors import InvalidInput, NotAllowed
from memento_tui.hub.address import connection_options
from memento_tui.hub.entries import SigningKey
from memento_tui.hub.server import HubServer
from memento_tui.hub.sync import HubAltered, HubLink
from memento_tui.model import Memory
from tests.hub.conftest import MakeMachine
from tests.hub.machines import SITE, Machine, in_step


def test_what_was_there_and_what_is_written_later_is_on_both_and_nothing_else(machine: MakeMachine) -> None:
    laptop = machine("laptop")
    before = laptop.workspace.remember("Deploys go out on Tuesdays.", namespace=f"{SITE}/ops")
    private = laptop.workspace.remember("My doctor is Dr Rey.", namespace="home")
    restricted = laptop.remember("The vault stands in Oslo.", sensitivity="restricted")
    desktop = machine("desktop")
    in_step(laptop, desktop)
    later = desktop.remember("The staging host is stage2.", tags=["ops"])
    desktop.workspace.relate(later.id, before.id)
    in_step(laptop, desktop)
    assert desktop.texts() == {before.id: before.content, later.id: later.content}
    assert set(laptop.texts()) == {before.id, later.id, private.id, restricted.id}
    assert [one.dst for one in laptop.workspace.relations(later.id)] == [before.id]
    assert laptop.workspace.get(later.id).tags == ("ops",)


def test_changes_of_different_fields_both_hold_and_of_the_same_field_wait_as_a_card(machine: MakeMachine) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    made = laptop.remember("The staging host is stage1.", title="Staging")
    in_step(laptop, desktop)
    laptop.workspace.update(made.id, content="The staging host is stage2.", certainty=2)
    desktop.workspace.update(made.id, content="The staging host is stage9.", tags=["ops"])
    in_step(laptop, desktop)
    mine, theirs = desktop.workspace.get(made.id), laptop.workspace.get(made.id)
    assert (mine.content, mine.certainty, mine.tags) == ("The staging host is stage9.", 2, ("ops",))
    assert (theirs.content, theirs.certainty, theirs.tags) == ("The staging host is stage2.", 2, ("ops",))
    (card,) = desktop.cards()
    assert (card.action, card.target_id, dict(card.payload)) == ("edit", made.id, {"content": theirs.content})
    assert card.reasons == ("changed_on_both",)
    assert not laptop.cards()


@pytest.mark.parametrize("text", ["one", "zero"])
def test_what_was_undone_here_does_not_undo_at_the_hub_alone_what_others_did_alike(
    machine: MakeMachine, text: str
) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    made = laptop.remember("zero")
    other = laptop.remember("first")
    in_step(laptop, desktop)
    desktop.workspace.update(made.id, content=text)
    laptop.workspace.forget(made.id)
    desktop.workspace.forget(made.id)
    laptop.workspace.update(other.id, content="second")
    desktop.workspace.update(other.id, content="second")
    desktop.sync()
    laptop.workspace.undo()
    laptop.workspace.undo()
    in_step(laptop, desktop)
    for name in (made.id, other.id):
        mine, theirs = laptop.workspace.get(name), desktop.workspace.get(name)
        assert (mine.status, mine.content) == (theirs.status, theirs.content)


@pytest.mark.parametrize(("approves", "text"), [(True, "one"), (False, "two")])
def test_the_decision_about_a_card_holds_on_both_machines(machine: MakeMachine, text: str, *, approves: bool) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    made = laptop.remember("zero")
    in_step(laptop, desktop)
    laptop.workspace.update(made.id, content="one")
    desktop.workspace.update(made.id, content="two")
    in_step(laptop, desktop)
    (card,) = desktop.cards()
    if approves:
        desktop.workspace.review.approve(card.id)
    else:
        desktop.workspace.review.reject(card.id)
    in_step(laptop, desktop)
    assert [one.workspace.get(made.id).content for one in (laptop, desktop)] == [text, text]
    assert not laptop.cards()
    assert not desktop.cards()


def test_a_card_that_the_person_edits_gives_both_machines_what_the_person_wrote(machine: MakeMachine) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    made = laptop.remember("zero")
    in_step(laptop, desktop)
    laptop.workspace.update(made.id, content="one")
    desktop.workspace.update(made.id, content="two")
    in_step(laptop, desktop)
    (card,) = desktop.cards()
    desktop.workspace.review.approve(card.id, content="three")
    in_step(laptop, desktop)
    assert [one.workspace.get(made.id).content for one in (laptop, desktop)] == ["three", "three"]


def test_undoing_what_came_from_another_machine_takes_it_back_on_both(machine: MakeMachine) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    made = laptop.remember("The cache lives for an hour.")
    in_step(laptop, desktop)
    laptop.workspace.update(made.id, content="The cache lives for a day.")
    in_step(laptop, desktop)
    own = desktop.remember("Mine, written before.")
    (newest, *_) = desktop.workspace.history(made.id)
    assert (newest.entry.channel, newest.entry.agent) == ("hub", "laptop")
    desktop.workspace.undo(newest.entry.seq)
    in_step(laptop, desktop)
    assert laptop.workspace.get(made.id).content == "The cache lives for an hour."
    desktop.workspace.undo()
    assert desktop.workspace.find(own.id) is None


def test_the_undo_key_takes_back_the_own_change_and_not_what_came_since(machine: MakeMachine) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    own = desktop.remember("Mine.")
    theirs = laptop.remember("Theirs.")
    in_step(laptop, desktop)
    desktop.workspace.undo()
    assert desktop.workspace.find(own.id) is None
    assert desktop.workspace.find(theirs.id) is not None


def test_what_an_agent_wrote_there_is_that_agents_here_and_passes_this_gate(machine: MakeMachine) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    with laptop.agent() as agent:
        plain = agent.remember("The API answers in JSON.", namespace=SITE)
    in_step(laptop, desktop)
    taken = desktop.workspace.get(plain.id)
    assert (taken.stability, taken.status) == ("draft", "active")
    entry = desktop.workspace.history(plain.id)[0].entry
    assert (entry.actor, entry.agent, entry.session) == ("agent", "claude-code@laptop", "s1")


def test_two_decisions_about_one_proposal_give_the_first_and_a_note(machine: MakeMachine) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    made = laptop.remember("Use tabs.")
    laptop.workspace.verify(made.id)
    with laptop.agent() as agent:
        agent.update(made.id, base_version=laptop.workspace.get(made.id).version, content="Use spaces.")
    in_step(laptop, desktop)
    (here,), (there,) = laptop.cards(), desktop.cards()
    assert here.id == there.id
    laptop.workspace.review.approve(here.id)
    desktop.workspace.review.reject(there.id, "No.")
    laptop.sync()
    report = desktop.sync()
    assert report.notes == [
        f"The proposal {here.id} was approved on laptop first; your decision (rejected) was taken back."
    ]
    in_step(laptop, desktop)
    for one in (laptop, desktop):
        assert one.workspace.get(made.id).content == "Use spaces."
        assert one.workspace.review.get(here.id).proposal.state == "approved"


def test_a_record_that_becomes_private_is_deleted_elsewhere_and_keeps_its_new_text_here(machine: MakeMachine) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    made = laptop.remember("The key stands under the mat.")
    in_step(laptop, desktop)
    laptop.workspace.update(made.id, sensitivity="restricted", content="The key stands behind the clock.")
    in_step(laptop, desktop)
    assert desktop.workspace.get(made.id).status == "deleted"
    assert desktop.workspace.get(made.id).content == "The key stands under the mat."
    assert laptop.workspace.get(made.id).status == "active"


def test_a_namespace_that_is_shared_later_brings_what_others_wrote_before(machine: MakeMachine) -> None:
    laptop, desktop = machine("laptop", SITE, "projects/api"), machine("desktop")
    there = laptop.remember("Version 2 is frozen.", namespace="projects/api")
    in_step(laptop, desktop)
    assert desktop.texts() == {}
    here = desktop.remember("Version 1 is gone.", namespace="projects/api")
    desktop.hub.share(["projects/api"])
    in_step(laptop, desktop)
    assert desktop.texts() == laptop.texts() == {there.id: there.content, here.id: here.content}


def test_what_the_hub_keeps_cannot_be_altered_without_being_noticed(machine: MakeMachine, address: str) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    made = laptop.remember("The build takes an hour.")
    laptop.sync()
    with psycopg.connect(address) as owner:
        owner.execute("UPDATE memento.change SET image = replace(image, 'hour', 'day')")
    report = desktop.sync()
    assert desktop.workspace.find(made.id) is None
    assert "than its member signed. It was left out." in report.notes[0]


def test_a_hub_that_lost_entries_is_noticed_and_nothing_is_sent(machine: MakeMachine, address: str) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    laptop.remember("One.")
    in_step(laptop, desktop)
    with psycopg.connect(address) as owner:
        owner.execute("DELETE FROM memento.change")
        owner.execute("DELETE FROM memento.record")
        owner.execute("DELETE FROM memento.entry")
        owner.execute("UPDATE memento.head SET seq = 0, hash = decode(repeat('00', 32), 'hex')")
    desktop.remember("Two.")
    with pytest.raises(HubAltered, match="restored from an older backup"):
        desktop.sync()
    assert desktop.hub.membership is not None
    assert "restored from an older backup" in desktop.hub.membership.problem
    with psycopg.connect(address) as owner:
        assert owner.execute("SELECT count(*) FROM memento.entry").fetchone() == (0,)


@pytest.mark.parametrize("closes_gap", [False, True])
def test_an_entry_that_is_lost_between_two_others_is_noticed(
    machine: MakeMachine, address: str, *, closes_gap: bool
) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    in_step(laptop, desktop)
    for text in ("One.", "Two.", "Three."):
        laptop.remember(text)
        laptop.sync()
    with psycopg.connect(address) as owner:
        owner.execute("SET session_replication_role = replica")
        found = owner.execute("SELECT max(seq) - 1 FROM memento.entry").fetchone()
        assert found is not None
        owner.execute("DELETE FROM memento.change WHERE seq = %s", found)
        owner.execute("DELETE FROM memento.entry WHERE seq = %s", found)
        if closes_gap:
            owner.execute("UPDATE memento.change SET seq = seq - 1 WHERE seq > %s", found)
            owner.execute("UPDATE memento.entry SET seq = seq - 1 WHERE seq > %s", found)
            owner.execute("UPDATE memento.head SET seq = seq - 1")
    with pytest.raises(HubAltered, match="does not follow from entry"):
        desktop.sync()
    assert "Three." not in desktop.texts().values()


def test_leaving_keeps_everything_and_a_revoked_machine_is_refused(machine: MakeMachine) -> None:
    laptop, desktop, server = machine("laptop"), machine("desktop"), machine("server")
    made = laptop.remember("One.")
    in_step(laptop, desktop, server)
    desktop.hub.leave()
    assert desktop.texts() == {made.id: "One."}
    with pytest.raises(NotAllowed, match="in no hub"):
        desktop.sync()
    laptop.hub.revoke("server")
    server.remember("Two.")
    with pytest.raises(NotAllowed, match="no member of the hub any more"):
        server.sync()
    assert [(one.name, bool(one.revoked_at)) for one in laptop.hub.members()] == [
        ("laptop", False),
        ("desktop", True),
        ("server", True),
    ]


def test_a_program_that_outlives_leaving_and_joining_again_sends_as_the_new_member(
    machine: MakeMachine, address: str
) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    desktop.remember("One.")
    in_step(laptop, desktop)
    desktop.hub.leave()
    desktop.hub.join(address, workspace="", name="desk", namespaces=[SITE])
    desktop.remember("Two.")
    in_step(laptop, desktop)
    assert sorted(laptop.texts().values()) == ["One.", "Two."]


def test_an_address_with_a_password_or_without_encryption_is_refused() -> None:
    with pytest.raises(InvalidInput, match="holds a password"):
        connection_options("postgresql://ana:secret@db.example.org/memento")
    with pytest.raises(InvalidInput, match="sslmode=disable would send"):
        connection_options("postgresql://ana@db.example.org/memento?sslmode=disable")
    with pytest.raises(InvalidInput, match="is not the address"):
        connection_options("mysql://ana@db.example.org/memento")
    remote = connection_options("postgresql://ana@db.example.org/memento")
    assert (remote["sslmode"], remote["sslrootcert"]) == ("verify-full", "system")
    assert "sslmode" not in connection_options("postgresql://ana@localhost/memento")


def test_an_identical_record_on_both_sides_needs_no_decision(machine: MakeMachine) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    for one in (laptop, desktop):
        one.remember("The same.", id="note-1", created_at="2026-01-01T00:00:00Z")
    in_step(laptop, desktop)
    assert not laptop.cards()
    assert not desktop.cards()
    laptop.workspace.update("note-1", content="Another.")
    in_step(laptop, desktop)
    assert isinstance(desktop.workspace.get("note-1"), Memory)
    assert desktop.workspace.get("note-1").content == "Another."


def test_a_purge_takes_the_text_out_of_the_hub_and_tells_the_others_what_to_do(
    machine: MakeMachine, address: str
) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    made = laptop.remember("The door code is forty-one eleven.")
    in_step(laptop, desktop)
    laptop.workspace.update(made.id, content="The door code is forty-one twelve.")
    in_step(laptop, desktop)
    laptop.workspace.purge(made.id, "a door code")
    laptop.sync()
    report = desktop.sync()
    assert desktop.workspace.find(made.id) is None
    assert report.notes[0].startswith(f"laptop purged the memory {made.id}: it is gone from the lists here")
    membership = desktop.hub.membership
    assert membership is not None
    assert membership.notes[-1:] == tuple(report.notes)
    with psycopg.connect(address) as hub:
        assert hub.execute("SELECT 1 FROM memento.change WHERE image LIKE '%forty-one%'").fetchall() == []
    server = machine("server")
    in_step(laptop, desktop, server)
    assert server.texts() == {}
    assert server.sync().notes == []


def test_a_text_that_is_emptied_at_the_hub_without_a_purge_stays_on_the_machines(
    machine: MakeMachine, address: str
) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    made = laptop.remember("One.")
    in_step(laptop, desktop)
    laptop.workspace.update(made.id, content="Two.")
    laptop.sync()
    with psycopg.connect(address) as owner:
        owner.execute("UPDATE memento.change SET image = NULL, nonce = NULL WHERE version = 2")
    in_step(laptop, desktop)
    assert (laptop.texts(), desktop.texts()) == ({made.id: "Two."}, {made.id: "One."})


def test_a_machine_that_goes_back_to_its_own_backup_gets_again_what_it_had_sent(machine: MakeMachine) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    kept = laptop.remember("Before the backup.")
    in_step(laptop, desktop)
    backup = laptop.workspace.backups.make()
    lost = laptop.remember("After the backup.")
    laptop.workspace.update(kept.id, content="Changed after the backup.")
    in_step(laptop, desktop)
    laptop.workspace.backups.restore(backup.name)
    own = laptop.remember("After the restoring.")
    in_step(laptop, desktop)
    expected = {kept.id: "Changed after the backup.", lost.id: "After the backup.", own.id: "After the restoring."}
    assert laptop.texts() == desktop.texts() == expected
    assert not laptop.cards()


def test_a_change_that_was_turned_down_here_and_touched_again_asks_before_it_reaches_others(
    machine: MakeMachine,
) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    made = laptop.remember("zero")
    in_step(laptop, desktop)
    desktop.workspace.verify(made.id)
    with laptop.agent() as agent:
        agent.update(made.id, base_version=1, content="one")
    in_step(laptop, desktop)
    (card,) = desktop.cards()
    assert card.reasons == ("other_member",)
    desktop.workspace.review.reject(card.id)
    desktop.workspace.update(made.id, content="two")
    in_step(laptop, desktop)
    (asked,) = desktop.cards()
    assert asked.reasons == ("changed_on_both",)
    assert laptop.workspace.get(made.id).content == "one"
    desktop.workspace.review.reject(asked.id)
    in_step(laptop, desktop)
    assert laptop.workspace.get(made.id).content == desktop.workspace.get(made.id).content == "two"


def test_a_member_whose_key_the_hub_exchanged_is_believed_no_more(machine: MakeMachine, address: str) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    laptop.remember("One.")
    in_step(laptop, desktop)
    membership, seen = laptop.hub.membership, desktop.hub.membership
    assert membership is not None
    assert seen is not None
    assert seen.notes == ("laptop takes part in the hub as owner.",)
    key = SigningKey.make(laptop.folder / "hub.key")
    with psycopg.connect(address) as owner:
        owner.execute("UPDATE memento.member SET public_key = %s WHERE id = %s", (key.public, membership.member))
    forged = Machine(laptop.folder, "laptop")
    with forged:
        forged.remember("Forged.")
        forged.sync()
    desktop.link.close()
    report = desktop.sync()
    assert "in the name of laptop, was not signed by its member" in report.notes[0]
    assert list(desktop.texts().values()) == ["One."]


class CountingServer(HubServer):
    """A connection that counts what it asks the hub."""

    asked = 0

    def _rows(self, *arguments: Any, **options: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401 - as they are
        type(self).asked += 1
        return super()._rows(*arguments, **options)


def test_a_machine_that_takes_one_entry_in_asks_the_hub_few_things_and_then_only_whether_it_moved(
    machine: MakeMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    link = HubLink(desktop.workspace, connect=CountingServer)
    in_step(laptop, desktop)
    laptop.remember("One.")
    laptop.sync()
    link.synchronize()  # who takes part is known from here on
    laptop.remember("Two.")
    laptop.sync()
    monkeypatch.setattr(CountingServer, "asked", 0)
    assert link.is_due()
    assert link.synchronize().pulled == 1
    assert CountingServer.asked == 4  # whether it moved, how it stands, the entry, its changes
    assert not link.is_due()
    assert CountingServer.asked == 5
    link.close()
