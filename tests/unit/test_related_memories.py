"""An agent walks from memory to memory, by relations and by names in double brackets, in whatever profile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memento_tui.api import Workspace
from tests.journeys.mcp_agent import text_of
from tests.made import note, put
from tests.unit.profile_agent import seated, told


@pytest.fixture
def linked(workspace: Workspace) -> Workspace:
    """Return a workspace in which `start` leads to `next`, that to `last`, and `fan` names `start`."""
    put(
        workspace._store,
        note("We deploy by hand, see [[rollback plan]].", id="start", title="Deploy guide"),
        note("Keep the last three builds.", id="next", title="Rollback plan"),
        note("Builds lie in the bucket.", id="last", title="Builds"),
        note("New people read the [[deploy-guide]] first.", id="fan", title="Welcome"),
        note("Somebody said deploy guide once.", id="no link"),
    )
    workspace.relate("next", "last")
    workspace.relate("last", "src/builds.py", "file")
    return workspace


def walked(data_dir: Path, **arguments: Any) -> tuple[str, list[tuple[str, str, str, str]]]:  # noqa: ANN401 - the tool's own
    with seated(data_dir, "native") as agent:
        answer = agent.send("related", arguments)
    assert answer.structured_content is not None, text_of(answer)
    links = answer.structured_content.get("links", [])
    return text_of(answer), [(link["type"], link["direction"], link["target"], link.get("via", "")) for link in links]


@pytest.mark.usefixtures("linked")
def test_one_step_leads_both_ways(data_dir: Path) -> None:
    text, links = walked(data_dir, id="start")
    assert links == [("mentions", "out", "next", ""), ("mentions", "in", "fan", "")]
    assert "mentions -> next [unverified] Rollback plan" in text
    assert "<- mentions fan [unverified] Welcome" in text


@pytest.mark.usefixtures("linked")
def test_two_steps_tell_by_which_memory_each_link_was_come_to(data_dir: Path) -> None:
    text, links = walked(data_dir, id="start", steps=2)
    assert links[2:] == [("related", "out", "last", "next")]
    assert "related -> last [unverified] Builds (via next)" in text
    assert walked(data_dir, id="next", steps=2)[1] == [
        ("related", "out", "last", ""),
        ("mentions", "in", "start", ""),
        ("file", "out", "src/builds.py", "last"),
        ("mentions", "in", "fan", "start"),
    ]


def test_a_walk_goes_neither_to_nor_through_what_an_agent_may_not_be_told(workspace: Workspace, data_dir: Path) -> None:
    put(
        workspace._store,
        note("It begins here.", id="start"),
        note("Restricted.", id="secret", sensitivity="restricted"),
        note("It waits.", id="waiting", status="pending"),
        note("Behind both.", id="behind"),
    )
    for middle in ("secret", "waiting"):
        workspace.relate("start", middle)
        workspace.relate(middle, "behind")
    text, links = walked(data_dir, id="start", steps=2)
    assert links == []
    assert "Nothing is linked" in text
    with seated(data_dir, "native") as agent:
        refused = agent.send("related", {"id": "waiting"})
    assert refused.is_error
    assert "pending" in text_of(refused)


@pytest.mark.usefixtures("linked")
def test_the_other_profiles_tell_the_same_links_where_they_read_a_memory(data_dir: Path) -> None:
    expected = [("mentions", "out", "next"), ("mentions", "in", "fan")]
    with seated(data_dir, "vault") as agent:
        note_links = told(agent, "memento_get", path="start")["links"]
        assert told(agent, "memento_get", path=note_links[0]["target"])["title"] == "Rollback plan"
    with seated(data_dir, "core") as agent:
        recalled = agent.send("memory_recall", {"ids": ["start"]})
    with seated(data_dir, "bank") as agent:
        read = agent.send("get_memory", {"id": "start"})
    assert read.structured_content is not None
    assert recalled.structured_content is not None
    assert "link [unverified]: mentions -> next [unverified] Rollback plan" in text_of(read)
    for links in (note_links, recalled.structured_content["result"][0]["links"], read.structured_content["links"]):
        assert [(link["type"], link["direction"], link["target"]) for link in links] == expected
