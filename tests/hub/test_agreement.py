"""A hub that a database names is connected to once the person agreed to its address on this machine, and not before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest

from memento_tui.agreements import Destination, is_agreed, withdraw_agreements
from memento_tui.api.health import examine_quickly
from memento_tui.api.overview import hub_signs
from memento_tui.errors import MementoError, NotAllowed
from memento_tui.hub.membership import MachineHub
from memento_tui.hub.vectors import compact_vectors
from tests.hub.conftest import MakeMachine
from tests.hub.machines import Machine
from tests.unit.cli_program import Program

ASK = "run `memento settings agree` in a terminal of your own"


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which nothing was agreed to."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the connections that are asked of PostgreSQL from now on."""
    asked: list[Any] = []
    connect = psycopg.connect

    def noted(*given: Any, **options: Any) -> Any:  # noqa: ANN401 - whatever the driver takes
        asked.append(options)
        return connect(*given, **options)

    monkeypatch.setattr(psycopg, "connect", noted)
    return asked


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell in which a person sits."""
    sat_at = SimpleNamespace(isatty=lambda: True)
    monkeypatch.setattr("memento_tui.cli.author.has_terminal", lambda: True)
    monkeypatch.setattr("memento_tui.cli.interaction.sys", SimpleNamespace(stdin=sat_at, stderr=sat_at))


def stranger(machine: MakeMachine) -> Machine:
    """Return a machine in a hub, as a directory that came from elsewhere: nobody agreed to its hub here."""
    made = machine("laptop")
    made.sync()
    made.link.close()
    withdraw_agreements()
    return made


USES: dict[str, Callable[[Machine], object]] = {
    "a round": lambda one: one.sync(),
    "a look whether one is due": lambda one: one.link.is_due(),
    "a hint": lambda one: one.link.hint(0.0),
    "going on with a restored hub": lambda one: one.link.resume(),
    "the members": lambda one: one.hub.members(),
    "an invitation": lambda one: one.hub.invite("eve", "agent"),
    "a revocation": lambda one: one.hub.revoke("desktop"),
}


@pytest.mark.parametrize("use", USES)
def test_nothing_connects_to_a_hub_that_nobody_agreed_to_on_this_machine(
    use: str, machine: MakeMachine, connections: list[Any]
) -> None:
    one = stranger(machine)
    connections.clear()
    with pytest.raises(NotAllowed, match=r"password of your login.*nothing is sent") as refused:
        USES[use](one)
    assert connections == []
    assert refused.value.hint == f"To agree, {ASK}."


def test_vectors_are_not_compacted_under_the_lock_of_a_hub_that_nobody_agreed_to(
    machine: MakeMachine, connections: list[Any]
) -> None:
    one = stranger(machine)
    (one.folder / "config.toml").write_text('[engine]\nenabled = false\nshared_vectors = "s3://bucket/v"\n')
    connections.clear()
    with one.workspace.__class__(one.folder) as opened, pytest.raises(MementoError):
        compact_vectors(opened)
    assert connections == []


def test_whoever_looks_is_told_that_the_hub_waits_for_an_agreement(
    machine: MakeMachine, address: str, connections: list[Any]
) -> None:
    one = stranger(machine)
    connections.clear()
    (sign,) = hub_signs(one.workspace)
    assert (sign.ok, sign.detail) == (False, "not connected: you have not agreed to it")
    assert ASK in sign.hint
    (sent,) = [found for found in examine_quickly(one.workspace) if found.name == "what is sent"]
    assert not sent.ok
    assert address in sent.detail
    shown = Program(one.folder).run("hub", "status").out
    assert address in shown
    assert "To agree, run `memento settings agree`" in " ".join(shown.split())
    assert connections == []


@pytest.mark.usefixtures("terminal")
def test_a_member_of_before_agrees_once_and_everything_goes_on(machine: MakeMachine, address: str) -> None:
    one, other = machine("laptop"), machine("desktop")
    one.sync()
    withdraw_agreements()
    made = one.remember("Written before the agreement.")
    with pytest.raises(NotAllowed):
        one.sync()
    assert "have not agreed" in getattr(one.hub.membership, "problem", "")
    agreed = Program(one.folder).run("settings", "agree", stdin=b"y\n")
    assert f"memento.db would send shared memories, and the password of your login, to {address}." in agreed.err
    assert agreed.code == 0
    assert one.sync().pushed == 1
    other.sync()
    assert other.texts() == {made.id: "Written before the agreement."}
    assert [found.ok for found in hub_signs(one.workspace)] == [True]


@pytest.mark.usefixtures("terminal")
def test_who_declines_is_not_connected(machine: MakeMachine, connections: list[Any]) -> None:
    one = stranger(machine)
    connections.clear()
    assert Program(one.folder).run("settings", "agree", stdin=b"n\n").code == 2
    with pytest.raises(NotAllowed):
        one.sync()
    assert connections == []


def test_an_agreement_that_is_withdrawn_ends_the_connection_that_stands(
    machine: MakeMachine, connections: list[Any]
) -> None:
    one = machine("laptop")
    one.sync()
    withdraw_agreements()
    connections.clear()
    for use in (lambda: one.link.hint(0.0), one.sync):
        with pytest.raises(NotAllowed, match="nothing is sent"):
            use()
    assert connections == []


def test_who_begins_or_joins_a_hub_agrees_to_exactly_its_address(
    machine: MakeMachine, address: str, tmp_path: Path
) -> None:
    machine("laptop")
    assert is_agreed(Destination.of_hub(address))
    withdraw_agreements()
    machine("desktop")
    assert is_agreed(Destination.of_hub(address))
    assert not is_agreed(Destination.of_hub(address + "&connect_timeout=1"))
    withdraw_agreements()
    nowhere = f"postgresql://x@/x?host={tmp_path}"
    with Machine(tmp_path / "third", "third") as third, pytest.raises(MementoError, match="does not answer"):
        third.take_part(nowhere, (), begins=False)
    assert not is_agreed(Destination.of_hub(nowhere))


def test_a_hub_that_nobody_agreed_to_is_left_without_telling_it(machine: MakeMachine, connections: list[Any]) -> None:
    one = stranger(machine)
    connections.clear()
    left = MachineHub(one.workspace).leave()
    assert "have not agreed" in left.untold
    assert one.hub.membership is None
    assert connections == []
