"""What an agent sees of contradictions and of its own proposals, what it may say to them, and how it links memories."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.model import make_contradiction
from tests.journeys.mcp_agent import NO_ENGINE, Agent, connected
from tests.made import unguarded


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    made = tmp_path / "data"
    made.mkdir()
    (made / "config.toml").write_text(NO_ENGINE)
    return made


@pytest.fixture
def person(data_dir: Path) -> Iterator[Workspace]:
    with memento_tui.open(data_dir) as workspace:
        yield workspace


@pytest.fixture
def agent(data_dir: Path, person: Workspace) -> Iterator[Agent]:  # noqa: ARG001 - the directory is made first
    with connected(data_dir) as made:
        yield made


def disagree(person: Workspace, name: str, *, score: float = 0.9, sensitivity: str = "normal") -> str:
    """Store two memories that contradict each other; return the contradiction's id."""
    sides = [
        person.remember(f"The {name} service answers on port {port}.", sensitivity=sensitivity).id
        for port in (8080, 9090)
    ]
    found = make_contradiction({"older": sides[0], "newer": sides[1], "why": f"{name}: two ports", "score": score})
    with unguarded(person._store, person.author, "detect") as tx:
        tx.put(found, base=0)
    return found.id


def test_an_agent_lays_out_both_sides_and_its_answer_waits_for_a_person(agent: Agent, person: Workspace) -> None:
    name = disagree(person, "mail")

    (found,) = agent.call("contradictions")["contradictions"]
    suggested = agent.call("contradiction_suggest", id=name, resolution="newer_supersedes")

    assert (found["id"], found["why"]) == (name, "mail: two ports")
    assert ("8080" in found["older"]["text"], "9090" in found["newer"]["text"]) == (True, True)
    assert suggested["outcome"] == "proposed"
    assert person.contradictions.count() == 1
    told = agent.read("contradictions")
    assert told.startswith("## Contradictions")
    assert "port 8080" in told

    person.review.approve(person.review.list()[0][0].proposal.id)

    assert agent.read("contradictions") == "No contradiction is open."
    (decided,) = agent.call("proposals")["proposals"]
    assert (decided["state"], decided["target"], decided["about"]) == ("approved", "contradiction", "newer_supersedes")
    assert "is resolved already" in agent.refused("contradiction_suggest", id=name, resolution="older_stands")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"resolution": "maybe"}, "resolution: must be one of newer_supersedes"),
        ({"resolution": "both_valid"}, "older_context: and newer_context are needed"),
        ({"resolution": "merged"}, "content: is empty"),
        ({"resolution": "merged", "content": "nul \0"}, "content: holds a NUL character"),
        ({"resolution": "older_stands", "verified": True}, "does not take 'verified'"),
    ],
)
def test_an_answer_that_cannot_be_carried_out_is_refused_at_once(
    agent: Agent, person: Workspace, arguments: dict[str, object], expected: str
) -> None:
    name = disagree(person, "mail")
    head = person._store.journal.head()

    assert expected in agent.refused("contradiction_suggest", id=name, **arguments)
    assert person._store.journal.head() == head


def test_a_contradiction_whose_side_an_agent_may_not_see_is_not_shown_to_it(agent: Agent, person: Workspace) -> None:
    hidden = disagree(person, "vault", sensitivity="restricted")

    assert agent.call("contradictions")["contradictions"] == []
    assert "is not recalled any more" in agent.refused(
        "contradiction_suggest", id=hidden, resolution="not_a_contradiction"
    )
    assert person.review.count() == 0


def test_contradictions_and_proposals_come_in_pages(agent: Agent, person: Workspace) -> None:
    names = [disagree(person, f"{word} mail", score=0.9 - number / 10) for number, word in enumerate(("a", "b", "c"))]
    waiting = [
        agent.call("remember", content=f"A page says that {word} is closed.", source_type="external")["id"]
        for word in ("echo", "foxtrot", "golf")
    ]

    for tool, key, expected, arguments in (
        ("contradictions", "contradictions", names, {}),
        ("proposals", "proposals", waiting[::-1], {"which": "waiting"}),
    ):
        first = agent.call(tool, limit=2, **arguments)
        second = agent.call(tool, limit=2, after=first["next"], **arguments)
        assert [one["id"] for one in (*first[key], *second[key])] == expected
        assert "next" not in second
        assert f"after={first['next']}" in agent.read(tool, limit=2, **arguments)


def test_the_latest_decision_comes_first_whenever_it_was_asked_for(agent: Agent, person: Workspace) -> None:
    asked = [
        agent.call("remember", content=f"A page says that {word} is closed.", source_type="external")["id"]
        for word in ("echo", "foxtrot", "golf")
    ]
    person.review.approve(asked[2])
    person.review.reject(asked[0], "It is open.")
    agent.call("forget", id=asked[1], base_version=1)

    decided = agent.call("proposals")["proposals"]

    assert [(one["id"], one["state"]) for one in decided] == [
        (asked[1], "expired"),
        (asked[0], "rejected"),
        (asked[2], "approved"),
    ]
    assert "rejected: create memory" in agent.read("proposals")
    assert agent.read("proposals", which="waiting") == "Nothing that you proposed is waiting."


def test_an_agent_links_memories_files_and_work(agent: Agent, person: Workspace) -> None:
    one, two = (agent.call("remember", content=text)["id"] for text in ("The old way.", "A newer road."))
    work = agent.call("item_create", title="Move over")["id"]

    agent.call("relate", src=one, dst=two)
    agent.call("relate", src=two, dst=one, type="supersedes", label="since May")
    agent.call("relate", src=one, dst="src/road.py", type="file")
    agent.call("relate", src=one, dst=work, type="item")

    found = {(relation.src, relation.type, relation.dst) for relation in person._store.memories.relations_of(one)}
    assert found == {
        (one, "related", two),
        (two, "supersedes", one),
        (one, "file", "src/road.py"),
        (one, "item", work),
    }


def test_an_agent_says_of_nothing_verified_that_it_is_superseded_and_links_nothing_that_waits(
    agent: Agent, person: Workspace
) -> None:
    verified = person.remember("The port is 8080.", stability="verified").id
    draft = agent.call("remember", content="It moved to another one.")["id"]
    waiting = agent.call("remember", content="A page says so.", source_type="external")["id"]

    assert "is verified" in agent.refused("relate", src=draft, dst=verified, type="supersedes")
    assert "is pending" in agent.refused("relate", src=waiting, dst=draft, type="supersedes")
    assert person._store.memories.relations_of(verified) == []
