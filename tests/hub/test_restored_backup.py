"""A backup of one machine that is restored: its part in the hub stays as it is now, and both sides come together."""

from __future__ import annotations

import pytest

from memento_tui.api import hub_session
from memento_tui.api.backups import replace_damaged
from memento_tui.api.types import Author
from memento_tui.errors import NotAllowed
from memento_tui.paths import DataPaths
from tests.hub.conftest import MakeMachine
from tests.hub.machines import SITE, Machine, in_step

API = "projects/api"


def namespaces(one: Machine) -> tuple[str, ...] | None:
    return None if one.hub.membership is None else one.hub.membership.namespaces


def test_what_is_shared_no_longer_is_not_shared_again_by_restoring_a_backup(machine: MakeMachine) -> None:
    laptop, desktop = machine("laptop", SITE, API), machine("desktop", SITE, API)
    made = laptop.workspace.backups.make()
    laptop.hub.keep([API])
    in_step(laptop, desktop)
    laptop.workspace.backups.restore(made.name)
    assert namespaces(laptop) == (SITE,)
    laptop.remember("Of this machine alone.", namespace=API)
    laptop.remember("For all.")
    in_step(laptop, desktop)
    assert list(desktop.texts().values()) == ["For all."]


def test_a_machine_that_left_the_hub_is_not_in_it_again_by_restoring_a_backup(machine: MakeMachine) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    made = desktop.workspace.backups.make()
    desktop.hub.leave()
    desktop.workspace.backups.restore(made.name)
    assert namespaces(desktop) is None
    assert desktop.workspace.backups.about_the_hub() == ""
    laptop.remember("For all.")
    laptop.sync()
    assert desktop.texts() == {}


def test_what_both_wrote_since_a_backup_comes_back_and_what_is_written_next_is_sent(machine: MakeMachine) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    first = laptop.remember("One.")
    in_step(laptop, desktop)
    made = laptop.workspace.backups.make()
    for number in range(5):
        laptop.remember(f"Written since {number}.")
    laptop.workspace.update(first.id, content="One, changed.")
    desktop.remember("Of the desktop.")
    in_step(laptop, desktop)
    shared = laptop.texts()
    laptop.workspace.backups.restore(made.name)
    assert laptop.texts() == {first.id: "One."}
    assert SITE in laptop.workspace.backups.about_the_hub()
    next_one = laptop.remember("Written next.")
    in_step(laptop, desktop)
    assert laptop.texts() == desktop.texts() == shared | {next_one.id: "Written next."}
    assert not laptop.cards()
    assert not desktop.cards()


def test_a_backup_is_restored_between_two_rounds_and_not_in_one(
    machine: MakeMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    laptop = machine("laptop")
    laptop.remember("One.")
    made = laptop.workspace.backups.make()
    monkeypatch.setattr(hub_session, "_ROUND_SECONDS", 0)
    with hub_session.alone_with_hub(laptop.workspace.paths), pytest.raises(NotAllowed, match="synchronizing"):
        laptop.workspace.backups.restore(made.name)
    laptop.workspace.backups.restore(made.name)
    laptop.hub.leave()
    with hub_session.alone_with_hub(laptop.workspace.paths):
        laptop.workspace.backups.restore(made.name)  # it is in no hub


@pytest.mark.parametrize("is_in_another_part", [False, True])
def test_a_backup_from_before_this_part_in_the_hub_comes_together_as_after_joining(
    machine: MakeMachine, address: str, *, is_in_another_part: bool
) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    kept = laptop.remember("Of the laptop.")
    in_step(laptop, desktop)
    if not is_in_another_part:
        desktop.hub.leave()
    own = desktop.remember("Only in the backup.")
    made = desktop.workspace.backups.make()
    if is_in_another_part:
        desktop.hub.leave()
    desktop.hub.join(address, workspace="", name="desk", namespaces=[SITE])
    in_step(laptop, desktop)
    desktop.workspace.backups.restore(made.name)
    in_step(laptop, desktop)
    assert laptop.texts() == desktop.texts() == {kept.id: "Of the laptop.", own.id: "Only in the backup."}


def test_a_namespace_that_is_shared_since_a_backup_is_taken_in_whole(machine: MakeMachine) -> None:
    laptop, desktop = machine("laptop"), machine("desktop", SITE, API)
    theirs = desktop.remember("Of the interface.", namespace=API)
    in_step(laptop, desktop)
    made = laptop.workspace.backups.make()
    laptop.hub.share([API])
    in_step(laptop, desktop)
    laptop.workspace.backups.restore(made.name)
    in_step(laptop, desktop)
    assert laptop.texts() == {theirs.id: "Of the interface."}


def test_a_backup_in_the_place_of_a_damaged_database_shares_nothing_until_it_is_asked_to(machine: MakeMachine) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    made = laptop.workspace.backups.make()
    laptop.workspace.close()
    DataPaths(laptop.folder).database.write_bytes(b"damaged")
    replace_damaged(DataPaths(laptop.folder), Author("person", "cli"), made.name)
    with Machine(laptop.folder, "laptop") as again:
        assert namespaces(again) == ()
        again.remember("Not to be shared.")
        in_step(again, desktop)
        assert desktop.texts() == {}
        again.hub.share([SITE])
        in_step(again, desktop)
        assert list(desktop.texts().values()) == ["Not to be shared."]
