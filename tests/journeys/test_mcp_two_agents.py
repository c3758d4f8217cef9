"""Two agents and a person at work on the same memories."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import memento_tui
from memento_tui.api import Workspace
from tests.journeys.mcp_agent import NO_ENGINE, Agent, connected_to_process


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("mcp") / "data"
    made.mkdir()
    (made / "config.toml").write_text(NO_ENGINE)
    return made


@pytest.fixture(scope="module")
def person(data_dir: Path) -> Iterator[Workspace]:
    with memento_tui.open(data_dir) as workspace:
        yield workspace


@pytest.fixture(scope="module")
def agents(data_dir: Path, person: Workspace) -> Iterator[tuple[Agent, Agent]]:  # noqa: ARG001 - it opens first
    with connected_to_process(data_dir, name="one") as one, connected_to_process(data_dir, name="two") as two:
        yield one, two


def test_the_second_to_change_what_both_read_is_shown_how_it_stands_now(agents: tuple[Agent, Agent]) -> None:
    one, two = agents
    name = one.call("remember", content="The port is 8080.")["id"]
    read = [agent.call("get", ids=[name])["memories"][0]["version"] for agent in agents]

    one.call("update", id=name, content="The port is 9090.", base_version=read[0])
    sentence = two.refused("update", id=name, content="The port is 7070.", base_version=read[1])

    assert "version 2 now" in sentence
    assert "The port is 9090." in sentence
    again = two.call("update", id=name, content="The port is 7070.", base_version=2)
    assert again["version"] == 3


def test_a_change_that_a_person_made_meanwhile_is_a_conflict_too(
    agents: tuple[Agent, Agent], person: Workspace
) -> None:
    one, _ = agents
    name = one.call("remember", content="Tests run on Linux.")["id"]
    person.update(name, content="Tests run on Linux and macOS.")

    assert "Linux and macOS" in one.refused("update", id=name, title="Tests", base_version=1)
    assert "Linux and macOS" in one.refused("forget", id=name, base_version=1)


def test_a_conflict_about_text_that_is_withheld_does_not_show_it(
    agents: tuple[Agent, Agent], person: Workspace
) -> None:
    one, two = agents
    name = one.call("remember", content="Swordfish is the word.", source_type="external")["id"]
    person.review.reject(name)

    assert "Swordfish" not in two.refused("update", id=name, title="x", base_version=1)


def test_of_many_changes_made_from_one_version_exactly_one_is_applied(
    agents: tuple[Agent, Agent], person: Workspace
) -> None:
    name = agents[0].call("remember", content="Counted once.")["id"]

    def change(number: int) -> bool:
        arguments = {"id": name, "content": f"Change {number}.", "base_version": 1}
        return not agents[number % 2].send("update", arguments).is_error

    with ThreadPoolExecutor(8) as pool:
        applied = list(pool.map(change, range(16)))

    assert sum(applied) == 1
    assert person.get(name).content == f"Change {applied.index(True)}."


def test_agents_that_write_at_the_same_time_lose_nothing(agents: tuple[Agent, Agent], person: Workspace) -> None:
    def store(number: int) -> str:
        return str(agents[number % 2].call("remember", content=f"Fact number {number}.")["id"])

    with ThreadPoolExecutor(8) as pool:
        names = list(pool.map(store, range(40)))

    assert len(set(names)) == 40
    assert [person.get(name).content for name in names] == [f"Fact number {i}." for i in range(40)]
    assert {person.get(name).source.agent for name in names} == {"one", "two"}
    assert person._store.journal.verify() is None


def test_an_agent_is_told_what_was_decided_about_its_own_proposals_only(
    agents: tuple[Agent, Agent], person: Workspace
) -> None:
    one, two = agents
    name = one.call("remember", content="A page about one.", source_type="external")["id"]
    person.review.reject(name, "Unneeded.")

    assert name in [asked["id"] for asked in one.call("proposals")["proposals"]]
    assert name not in [asked["id"] for asked in two.call("proposals")["proposals"]]


def test_each_agent_finds_at_once_what_the_other_stored(agents: tuple[Agent, Agent]) -> None:
    one, two = agents
    name = one.call("remember", content="Cassowaries kick.")["id"]

    assert [hit["id"] for hit in two.call("search", query="cassowaries")["results"]] == [name]
