"""Agents and sessions with names of any length, on machines that share a hub."""

from __future__ import annotations

import pytest

from memento_tui.api import Workspace
from tests.hub.conftest import MakeMachine
from tests.hub.machines import SITE, in_step


@pytest.mark.parametrize("long", ["agent", "session"])
def test_a_name_of_any_length_stops_no_machine(machine: MakeMachine, long: str) -> None:
    one, two = machine("one"), machine("two")
    named = "x" * 3000 if long == "agent" else "claude-code"
    session = "x" * 3000 if long == "session" else "s1"
    with Workspace(one.folder, actor="agent", channel="mcp", agent=named, session=session) as agent:
        agent.remember("The deploy goes out on Mondays.", namespace=SITE)
    in_step(one, two)
    assert set(two.texts().values()) == {"The deploy goes out on Mondays."}
