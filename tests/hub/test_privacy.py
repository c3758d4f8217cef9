"""What may not leave a machine, or not any more, and what was purged: it is at the hub under no circumstance."""

from __future__ import annotations

import psycopg
import pytest

from memento_tui.hub.sync import HubAltered
from tests.hub.conftest import MakeMachine
from tests.hub.machines import SITE, in_step
from tests.hub.test_faults import copy_database
from tests.postgres import PostgresServer


def hub_has(address: str, text: str) -> bool:
    with psycopg.connect(address) as hub:
        return hub.execute("SELECT 1 FROM memento.change WHERE image LIKE %s", (f"%{text}%",)).fetchone() is not None


def test_what_became_private_before_it_was_sent_is_never_sent(machine: MakeMachine, address: str) -> None:
    laptop = machine("laptop")
    deal = laptop.remember("The deal costs zebra-one.")
    laptop.workspace.update(deal.id, sensitivity="restricted")
    moved = laptop.remember("The offer is zebra-two.")
    laptop.workspace.update(moved.id, namespace="private")
    plan, other = laptop.remember("The plan."), laptop.remember("Another.")
    laptop.sync()
    laptop.workspace.update(plan.id, sensitivity="restricted", content="The plan is zebra-three.")
    laptop.sync()
    laptop.workspace.relate(plan.id, other.id, "related", "the price is zebra-four")
    laptop.workspace.relate(other.id, plan.id, "related", "the price is zebra-five")
    in_step(laptop)
    assert not hub_has(address, "zebra")


def test_a_memory_that_was_private_for_a_while_comes_back_with_what_changed(machine: MakeMachine) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    made = laptop.remember("One.")
    in_step(laptop, desktop)
    laptop.workspace.update(made.id, namespace="private", content="Two.")
    laptop.workspace.update(made.id, namespace=SITE)
    in_step(laptop, desktop)
    assert desktop.texts() == {made.id: "Two."}


def test_a_machine_that_stops_sharing_takes_nothing_from_the_others(machine: MakeMachine, address: str) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    made, other = laptop.remember("The host is stage2."), laptop.remember("Another.")
    in_step(laptop, desktop)
    laptop.hub.keep([SITE])
    laptop.workspace.update(made.id, content="The host is zebra.")
    laptop.workspace.update(other.id, sensitivity="restricted")
    laptop.workspace.relate(made.id, other.id, "related", "zebra")
    in_step(laptop, desktop)
    assert desktop.texts() == {made.id: "The host is stage2.", other.id: "Another."}
    assert not hub_has(address, "zebra")


@pytest.mark.parametrize("approves", [True, False])
def test_a_purge_holds_against_a_machine_that_changed_the_text_offline(
    machine: MakeMachine, address: str, *, approves: bool
) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    made = laptop.remember("The project is called zebra lagoon.")
    in_step(laptop, desktop)
    desktop.workspace.update(made.id, tags=["x"])
    laptop.workspace.purge(made.id, "leaked")
    in_step(laptop, desktop)
    (card,) = desktop.cards()
    assert card.action == "delete"
    (desktop.workspace.review.approve if approves else desktop.workspace.review.reject)(card.id)
    if not approves:
        desktop.workspace.update(made.id, tags=["y"])
    in_step(laptop, desktop)
    assert not hub_has(address, "zebra")
    assert laptop.texts() == {}
    laptop.workspace.close()
    assert not any(b"zebra lagoon" in path.read_bytes() for path in laptop.folder.glob("memento.db*"))


def test_a_restored_hub_gets_the_purges_and_what_became_private_again(
    machine: MakeMachine, postgres: PostgresServer, database: str, address: str
) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    purged = laptop.remember("The project is called zebra lagoon.")
    private, kept = laptop.remember("The board meets about zebra."), laptop.remember("Public.")
    in_step(laptop, desktop)
    copy_database(postgres, database, f"{database}-backup", laptop, desktop)
    laptop.workspace.purge(purged.id, "leaked")
    laptop.workspace.update(private.id, sensitivity="restricted")
    laptop.workspace.update(kept.id, tags=["k"])
    in_step(laptop, desktop)
    copy_database(postgres, f"{database}-backup", database, laptop, desktop)
    for one in (laptop, desktop):
        with pytest.raises(HubAltered):
            one.sync()
        one.link.resume()
    in_step(laptop, desktop)
    assert not hub_has(address, "zebra lagoon")
    server = machine("server")
    server.sync()
    assert server.texts() == {kept.id: "Public."}
    laptop.workspace.close()
    assert not any(b"zebra lagoon" in path.read_bytes() for path in laptop.folder.glob("memento.db*"))
