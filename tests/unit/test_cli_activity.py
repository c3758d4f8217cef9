from __future__ import annotations

from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.operations.recall import count_used, recall
from tests.made import edit
from tests.unit.cli_program import Program, without_engine


@pytest.fixture
def memento(tmp_path: Path) -> Program:
    return Program(without_engine(tmp_path / "data"))


@pytest.fixture
def given(memento: Program) -> str:
    """A memory that an agent wrote, changed and found again; return its id."""
    with Workspace(memento.data_dir, actor="agent", channel="mcp", agent="claude", session="s1") as agent:
        memory = agent.remember("The port is 8080.\nAsk before you change it.", title="Port")
        edit(agent, memory.id, content="The port is 9090.\nAsk before you change it.", certainty=2)
        recall(agent, "port", 5)
        count_used(agent, [memory.id])
        return memory.id


def test_the_journal_is_listed_with_what_it_touched(memento: Program, given: str) -> None:
    memento.json("rm", given)
    told = memento.json("activity")
    assert [(item["seq"], item["action"], item["headline"]) for item in told["items"]] == [
        (3, "forget", "Port"),
        (2, "edit", "Port"),
        (1, "remember", "Port"),
    ]
    assert told == memento.json("history")
    assert [item["seq"] for item in memento.json("activity", "agent:cl", "action:edit")["items"]] == [2]
    assert [item["seq"] for item in memento.json("activity", "9090", "actor:person")["items"]] == [3]
    assert "claude (mcp)" in memento.run("activity").out
    assert memento.run("activity", "agent:nobody").out == "The filter selects no entry of the journal.\n"


def test_filtered_activity_comes_in_pages(memento: Program) -> None:
    for number in range(5):
        memento.add(f"number {number}")
        memento.run("tags")
    first = memento.json("activity", "actor:person", "--limit", "3")
    rest = memento.json("activity", "actor:person", "--limit", "3", "--after", first["next"])
    assert [item["seq"] for item in [*first["items"], *rest["items"]]] == [5, 4, 3, 2, 1]
    assert rest["next"] is None
    assert "--after 3" in memento.run("activity", "--limit", "3").out


def test_an_entry_is_shown_in_full_with_what_it_changed(memento: Program, given: str) -> None:
    text = memento.run("activity", "--entry", "2").out
    assert "-The port is 8080." in text
    assert "+The port is 9090." in text
    assert "certainty: 3 -> 2" in text
    assert "memento undo 2" in text
    (changed,) = memento.json("activity", "--entry", "2")["changed"]
    assert (changed["id"], changed["before"]["certainty"], changed["after"]["certainty"]) == (given, 3, 2)
    assert memento.json("activity", "--entry", "1")["changed"][0]["before"] is None
    assert memento.run("activity", "--entry", "9", "--json").code == 3


def test_an_agents_entry_is_taken_back_and_the_list_says_so(memento: Program, given: str) -> None:
    memento.json("undo", "2")
    assert memento.json("show", given)["content"].startswith("The port is 8080.")
    undone = memento.json("activity")["items"][1]
    assert (undone["undone_by"], undone["can_be_undone"]) == (3, False)
    assert "edited (undone by 3)" in memento.run("activity").out
    assert memento.run("undo", "2", "--json").code == 5


def test_what_is_new_is_told_once_it_is_marked_as_seen(memento: Program, given: str) -> None:
    del given
    summary = memento.json("activity", "--summary")
    assert (summary["entries"], summary["by_agent"], len(summary["days"])) == (2, {"claude": 2}, 14)
    assert summary["days"][-1]["agent"] == 2
    assert "Agents made 2 entries so far." in memento.run("activity", "--summary").out
    assert len(memento.json("activity", "--since-last-look", "--mark-looked")["items"]) == 2
    assert memento.json("activity", "--since-last-look")["items"] == []
    assert "Agents did nothing since you last looked, at entry 2." in memento.run("activity", "--summary").out


def test_the_ledger_is_listed_and_added_up(memento: Program, given: str) -> None:
    (shown,) = memento.json("exposures", "session:s1")["items"]
    assert (shown["memory_id"], shown["rank"], shown["memory"]["headline"]) == (given, 1, "Port")
    assert shown["why"]["keyword"] > 0
    (totals,) = memento.json("exposures", "--totals")["items"]
    assert (totals["shown"], totals["used"], totals["tokens"]) == (1, 1, shown["tokens"])
    assert "keyword" in memento.run("exposures").out
    assert "s1" in memento.run("exposures", "--totals").out
    assert memento.run("exposures", "session:other").out.startswith("No agent was shown a memory")
    assert memento.run("exposures", "agent:x", "--json").code == 2


def test_memories_are_rejected_with_a_reason(memento: Program, given: str) -> None:
    outcome = memento.json("reject", given, "--reason", "the old one")
    assert outcome["outcomes"] == [{"id": given, "status": "rejected"}]
    assert memento.json("activity", "--limit", "1")["items"][0]["note"] == "the old one"
    assert memento.run("reject", given, "--json").code == 5


def test_hostile_text_in_the_journal_prints_as_text(memento: Program) -> None:
    with Workspace(memento.data_dir, actor="agent", channel="mcp", agent="c\x1b[31m", session="s") as agent:
        agent.remember("evil \x1b]52;c;aGk=\x07 text")
    for arguments in (["activity"], ["activity", "--entry", "1"], ["activity", "--summary"]):
        assert "\x1b" not in memento.run(*arguments).out
