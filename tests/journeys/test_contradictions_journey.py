"""Contradictions from end to end: found as memories are embedded, recalled with both sides, resolved, and undone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.review import ContradictionWithSides
from memento_tui.model import make_contradiction
from memento_tui.storage.journal import Author
from tests.journeys.cli_shell import Console
from tests.journeys.engine_house import EngineHouse, until
from tests.journeys.mcp_agent import Agent, connected
from tests.made import unguarded

pytestmark = pytest.mark.engine

HEADING = "## Contradictions"


@dataclass
class Place:
    """An agent, a person and the engine on one data directory. Each test speaks of something else."""

    house: EngineHouse
    agent: Agent
    person: Workspace
    shell: Console

    def dispute_of(self, *ids: str) -> ContradictionWithSides | None:
        found, _ = self.person.contradictions.list()
        return next((one for one in found if {one.contradiction.older, one.contradiction.newer} == set(ids)), None)

    def mark(self, older: str, newer: str) -> str:
        """Write a contradiction down as the engine does."""
        fields = {"older": older, "newer": newer, "score": 0.9, "why": "They differ in a number."}
        with unguarded(self.house.store, Author("system", "engine"), "contradiction") as tx:
            return tx.put(make_contradiction(fields), base=0).id

    def ranked(self, query: str, *ids: str) -> list[str]:
        """Return those of some memories that a search finds, best first, once their meaning counts."""
        found = until(lambda: self._ready(query), "meaning counts")
        return [hit["id"] for hit in found["results"] if hit["id"] in ids]

    def _ready(self, query: str) -> dict[str, Any] | None:
        self.house.settle()
        found = self.agent.call("search", query=query, limit=50)
        return found if found["semantic"] == "ready" else None


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    root = tmp_path_factory.mktemp("contradictions") / "data"
    root.mkdir(mode=0o700)
    with EngineHouse(root) as house:
        house.add("Violins are made of spruce and maple.", namespace="music")
        house.client.ensure()
        house.settle()
        with memento_tui.open(root) as person, connected(root) as agent:
            yield Place(house, agent, person, Console(root))


def section_of(text: str) -> str:
    """Return the section about contradictions, which ends the text; empty where there is none."""
    _, heading, section = text.partition(HEADING)
    assert HEADING not in section
    return heading and section


def test_what_an_agent_writes_is_compared_on_request_resolved_by_a_person_and_brought_back_by_an_undo(
    place: Place,
) -> None:
    agent, shell = place.agent, place.shell
    query = "ns:api staging port"
    at = {"namespace": "api"}
    older = agent.call("remember", content="The staging API listens on port 8080 behind the proxy.", **at)["id"]
    newer = agent.call("remember", content="The staging API listens on port 9090 behind the proxy.", **at)["id"]
    place.house.settle()
    assert place.dispute_of(older, newer) is None
    assert shell.json("maintain", "--contradictions")["counts"] == {"contradiction": 1}
    dispute = place.dispute_of(older, newer)
    assert dispute is not None
    found = dispute.contradiction
    assert (found.older, found.newer, found.status) == (older, newer, "open")

    for tool, arguments in (("search", {"query": query}), ("context", {"message": "staging port", **at})):
        text = agent.read(tool, **arguments)
        section = section_of(text)
        for part in (found.id, older, newer, "port 8080", "port 9090", "today"):
            assert part in section
        (held,) = agent.call(tool, **arguments)["contradictions"]
        assert (held["id"], held["older"]["id"], held["newer"]["id"]) == (found.id, older, newer)
        assert (held["older"]["age_days"], held["newer"]["age_days"]) == (0, 0)
        assert ("8080" in held["older"]["text"], "9090" in held["newer"]["text"]) == (True, True)
    exact = "ns:api staging API listens on port 8080 behind the proxy"
    # The number is the name of another port in the other memory, which the section above lays beside this one.
    assert place.ranked(exact, older, newer) == [older]

    shell.json("contradiction", "resolve", found.id, "newer")
    assert section_of(agent.read("search", query=query)) == ""
    assert section_of(agent.read("context", message="staging port", **at)) == ""
    assert "contradictions" not in agent.call("search", query=query)
    assert place.ranked(exact, older, newer) == [newer, older]
    assert (place.person.get(older).status, place.person.get(newer).stability) == ("superseded", "verified")
    assert shell.run("contradiction", "resolve", found.id, "older", "--json").returncode == 5

    shell.json("undo")
    assert found.id in section_of(agent.read("search", query=query))
    assert place.ranked(exact, older, newer) == [older]
    assert (place.person.get(older).status, place.person.get(newer).stability) == ("active", "draft")
    shell.json("contradiction", "resolve", found.id, "none")
    assert section_of(agent.read("search", query=query)) == ""
    assert place.ranked(exact, older, newer) == [older]


def test_a_changed_memory_is_compared_anew_and_the_section_tells_the_ages(place: Place) -> None:
    (older,) = place.house.add(
        "Invoices are sent on Monday.", created_at=clock.now() - timedelta(days=40, hours=1), namespace="invoices"
    )
    newer = place.agent.call("remember", content="Invoices are printed on paper.", namespace="invoices")["id"]
    assert place.shell.json("maintain", "--contradictions")["counts"] == {}
    place.agent.call("update", id=newer, content="Invoices are sent on Thursday.", base_version=1)
    assert place.shell.json("maintain", "--contradictions")["counts"] == {"contradiction": 1}
    assert place.dispute_of(older.id, newer) is not None
    section = section_of(place.agent.read("context", message="when are invoices sent", namespace="invoices"))
    assert f"older {older.id} [unverified, 40 days old]" in section
    assert f"newer {newer} [unverified, by journey, today]" in section
    (held,) = place.agent.call("search", query="ns:invoices invoices sent")["contradictions"]
    assert (held["older"]["age_days"], held["newer"]["age_days"]) == (40, 0)


def test_one_side_alone_in_the_results_brings_the_other_along_and_other_results_bring_nothing(place: Place) -> None:
    older, newer = place.house.add(
        "The tram stops at the harbour.", "The ferry replaced it: take pier four.", namespace="tram"
    )
    found = place.mark(older.id, newer.id)
    (held,) = place.agent.call("search", query='ns:tram "tram stops"')["contradictions"]
    assert (held["id"], held["newer"]["text"]) == (found, newer.content)
    assert section_of(place.agent.read("search", query="ns:music violins")) == ""


def test_a_side_that_an_agent_may_not_see_keeps_the_whole_contradiction_out(place: Place) -> None:
    agent = place.agent
    at = {"namespace": "vault"}
    open_side, closed = place.house.add("The vault code has six digits.", "The vault code has eight digits.", **at)
    (secret,) = place.house.add("The vault code has nine digits.", sensitivity="restricted", **at)
    seen, hidden = place.mark(open_side.id, closed.id), place.mark(open_side.id, secret.id)
    for text in (agent.read("search", query="ns:vault code"), agent.read("context", message="vault code", **at)):
        assert (seen in text, hidden in text, "nine" in text, secret.id in text) == (True, False, False, False)
    place.shell.json("edit", closed.id, "--sensitivity", "restricted")
    for text in (agent.read("search", query="ns:vault code"), agent.read("context", message="vault code", **at)):
        assert open_side.id in text
        assert (HEADING in text, "eight" in text, closed.id in text) == (False, False, False)


@pytest.mark.parametrize("ended", ["expired", "archived"])
def test_a_side_that_no_search_finds_any_more_is_not_laid_out(place: Place, ended: str) -> None:
    fields: dict[str, Any] = {"status": "archived"} if ended == "archived" else {"expires_at": clock.now()}
    (held,) = place.house.add("The lift carries four people.", namespace=ended)
    (over,) = place.house.add("The lift carries seven people.", namespace=ended, **fields)
    place.mark(held.id, over.id)
    text = place.agent.read("search", query=f"ns:{ended} lift")
    assert held.id in text
    assert (HEADING in text, "seven" in text) == (False, False)
