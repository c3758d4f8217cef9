"""An agent that reads a memory is told where its links lead, by relations and by names in double brackets."""

from __future__ import annotations

from pathlib import Path

from memento_tui.api import Workspace
from tests.made import note, put
from tests.unit.profile_agent import seated


def read(data_dir: Path, memory_id: str) -> tuple[str, list[dict[str, object]]]:
    with seated(data_dir, "native") as agent:
        answer = agent.send("get", {"ids": [memory_id]})
    assert answer.structured_content is not None
    (block,) = [block.text for block in answer.content if block.type == "text"]
    links = answer.structured_content["memories"][0].get("links", [])
    return block, links


def test_relations_are_told_with_both_ends_and_their_caution(workspace: Workspace, data_dir: Path) -> None:
    old = workspace.remember("The API lives at /v1.", title="Old API")
    new = workspace.remember("The API lives at /v2.", title="New API")
    workspace.relate(new.id, old.id, "supersedes")
    workspace.relate(new.id, "src/api.py", "file")
    text, links = read(data_dir, new.id)
    assert [(link["type"], link["direction"], link["target"]) for link in links] == [
        ("supersedes", "out", old.id),
        ("file", "out", "src/api.py"),
    ]
    assert (links[0]["headline"], links[1]["labels"]) == ("Old API", ["unverified"])
    assert f"link [unverified]: supersedes -> {old.id} [unverified] Old API" in text
    assert f"link [unverified]: <- supersedes {new.id} [unverified] New API" in read(data_dir, old.id)[0]


def test_a_name_in_double_brackets_leads_to_the_memory_with_that_title(workspace: Workspace, data_dir: Path) -> None:
    named = workspace.remember("Ask Dana first.", title="Release check-list")
    other = workspace.remember("Releases follow [[release check list]] and `[[no link]]`, see [[nobody knows]].")
    _, links = read(data_dir, other.id)
    assert [(link["type"], link["target"]) for link in links] == [("mentions", named.id)]


def test_what_an_agent_may_not_be_told_is_no_link_either(workspace: Workspace, data_dir: Path) -> None:
    (pending, secret) = put(
        workspace._store,
        note("It waits.", title="Waiting one", status="pending"),
        note("Restricted.", title="Salaries", sensitivity="restricted"),
    )
    memory = workspace.remember("See [[Salaries]] and [[Waiting one]].")
    for target in (pending, secret):
        workspace.relate(memory.id, target.id)
    assert read(data_dir, memory.id)[1] == []


def test_a_name_means_a_memory_however_its_accents_are_encoded(workspace: Workspace, data_dir: Path) -> None:
    door = workspace.remember("It is green.", title="Tu\u0308r")
    room = workspace.remember("It has a [[Tür]].", title="Room")
    assert [link["target"] for link in read(data_dir, room.id)[1]] == [door.id]
    assert [link["target"] for link in read(data_dir, door.id)[1]] == [room.id]
