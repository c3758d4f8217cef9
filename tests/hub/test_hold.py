"""What other members write in a namespace waits on a machine whose person asked for that."""

from __future__ import annotations

import pytest

from memento_tui.errors import NotFound
from tests.hub.conftest import MakeMachine
from tests.hub.machines import SITE, Machine, in_step


def held_pair(machine: MakeMachine) -> tuple[Machine, Machine]:
    laptop, desktop = machine("laptop"), machine("desktop")
    in_step(laptop, desktop)
    desktop.hub.hold([SITE])
    return laptop, desktop


def test_what_a_member_adds_waits_and_holds_once_it_is_approved(machine: MakeMachine) -> None:
    laptop, desktop = held_pair(machine)
    made = laptop.remember("Deploys go out on Tuesdays.", namespace=f"{SITE}/ops")
    laptop.workspace.skips.add("the old importer", "It is gone.", "7d", namespace=SITE)
    laptop.sync()
    assert desktop.sync().cards == 2
    assert desktop.texts() == {}
    assert desktop.workspace.skips.list() == []
    for card in desktop.cards():
        assert card.reasons == ("other_member",)
        desktop.workspace.review.approve(card.id)
    in_step(laptop, desktop)
    assert desktop.texts() == laptop.texts() == {made.id: "Deploys go out on Tuesdays."}
    assert len(desktop.workspace.skips.list()) == 1


def test_what_a_member_changes_or_deletes_waits_and_stays_as_it_is_once_it_is_rejected(machine: MakeMachine) -> None:
    laptop, desktop = held_pair(machine)
    first, second = desktop.remember("One."), desktop.remember("Two.")
    in_step(laptop, desktop)
    laptop.workspace.update(first.id, content="One, changed.")
    laptop.workspace.forget(second.id)
    in_step(laptop, desktop)
    assert desktop.texts() == {first.id: "One.", second.id: "Two."}
    assert sorted(card.action for card in desktop.cards()) == ["delete", "edit"]
    for card in desktop.cards():
        desktop.workspace.review.reject(card.id, "Not so.")
    in_step(laptop, desktop)
    assert desktop.texts() == {first.id: "One.", second.id: "Two."}


def test_each_machine_says_so_for_itself_and_takes_it_back(machine: MakeMachine) -> None:
    laptop, desktop = held_pair(machine)
    made = desktop.remember("Of the desktop.")
    in_step(laptop, desktop)
    assert made.id in laptop.texts()
    desktop.hub.hold([SITE], stops=True)
    other = laptop.remember("Of the laptop.")
    in_step(laptop, desktop)
    assert other.id in desktop.texts()


def test_only_what_is_shared_can_be_held(machine: MakeMachine) -> None:
    laptop = machine("laptop")
    with pytest.raises(NotFound, match="not shared"):
        laptop.hub.hold(["home"])
    with pytest.raises(NotFound, match="does not wait"):
        laptop.hub.hold([SITE], stops=True)
    assert laptop.hub.hold([f"{SITE}/api"]).held == (f"{SITE}/api",)
