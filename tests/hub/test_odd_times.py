"""Clocks that differ by years, and a hub whose answer is behind: nothing is ordered by a clock, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from memento_tui import clock
from memento_tui.hub.sync import HubAltered
from tests.hub.conftest import MakeMachine
from tests.hub.machines import Machine, in_step
from tests.hub.test_faults import check_everywhere, check_histories, copy_database
from tests.postgres import PostgresServer

AHEAD, BEHIND = datetime(2031, 5, 1, tzinfo=UTC), datetime(2019, 2, 3, tzinfo=UTC)


@contextmanager
def clock_at(patch: pytest.MonkeyPatch, moment: datetime) -> Iterator[None]:
    """Let this process have the clock of a machine."""
    seconds = count()
    with patch.context() as within:
        within.setattr(clock, "now", lambda: moment + timedelta(seconds=next(seconds)))
        yield


def test_the_last_change_at_the_hub_holds_whatever_the_clocks_of_the_machines_say(
    machine: MakeMachine, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    machines = laptop, desktop = machine("laptop"), machine("desktop")
    with clock_at(monkeypatch, AHEAD):
        made = laptop.remember("Written in 2031.")
        laptop.sync()
    with clock_at(monkeypatch, BEHIND):
        desktop.sync()
        desktop.workspace.update(made.id, content="Changed in 2019.")
        other = desktop.remember("Written in 2019.")
        desktop.sync()
    with clock_at(monkeypatch, AHEAD):
        laptop.sync()
        laptop.workspace.update(other.id, tags=["a"])
        laptop.workspace.update(other.id, content="Written in 2019, changed in 2031.")
    in_step(*machines)
    check_everywhere(machines, {made.id: "Changed in 2019.", other.id: "Written in 2019, changed in 2031."})
    check_histories(address)
    assert desktop.workspace.get(other.id).tags == ("a",)


def test_of_two_decisions_the_first_at_the_hub_holds_though_its_clock_is_ahead(
    machine: MakeMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    made = laptop.remember("One.", stability="verified")
    with laptop.agent() as agent:
        agent.update(made.id, base_version=laptop.workspace.get(made.id).version, content="Two.")
    in_step(laptop, desktop)
    (card,) = desktop.cards()
    with clock_at(monkeypatch, AHEAD):
        laptop.workspace.review.approve(card.id)
    with clock_at(monkeypatch, BEHIND):
        desktop.workspace.review.reject(card.id, "Not so.")
    with clock_at(monkeypatch, AHEAD):
        laptop.sync()
    in_step(laptop, desktop)
    assert laptop.texts() == desktop.texts() == {made.id: "Two."}
    assert desktop.workspace.review.get(card.id).proposal.state == "approved"


def test_a_replica_that_is_behind_stops_a_machine_until_it_has_caught_up(
    machine: MakeMachine, postgres: PostgresServer, database: str, address: str
) -> None:
    machines: tuple[Machine, ...] = (machine("laptop"), machine("desktop"))
    laptop, desktop = machines
    first = laptop.remember("One.")
    in_step(*machines)
    copy_database(postgres, database, f"{database}-behind", *machines)
    second = laptop.remember("Two.")
    in_step(*machines)
    copy_database(postgres, database, f"{database}-ahead", *machines)
    # The address leads to the replica for a while.
    copy_database(postgres, f"{database}-behind", database, *machines)
    third = desktop.remember("Three.")
    for one in machines:
        with pytest.raises(HubAltered, match="ends at entry"):
            one.sync()
        assert second.id in one.texts()
    copy_database(postgres, f"{database}-ahead", database, *machines)
    in_step(*machines)
    check_everywhere(machines, {first.id: "One.", second.id: "Two.", third.id: "Three."})
    check_histories(address)
