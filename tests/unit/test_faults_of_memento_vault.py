"""Memento Vault's known faults, each as the behaviour that memento has in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.api.maintenance import maintain_workspace
from memento_tui.operations.sessions import brief
from tests.unit.cli_program import Program, without_engine

LONG_PROMPT = (
    "Good morning. Before we go on with what we left yesterday, I would like you to look once more at everything that"
    " we said about the way in which the new machines are set up, and in particular, since I keep forgetting it and"
    " since nobody ever wrote it down where I would look for it, at which port the staging proxy listens on."
)


@pytest.fixture
def memento(tmp_path: Path) -> Program:
    return Program(without_engine(tmp_path / "program"))


def note(folder: Path, name: str, body: str, **head: str) -> None:
    folder.mkdir(exist_ok=True)
    lines = "".join(f"{field}: {value}\n" for field, value in head.items())
    (folder / f"{name}.md").write_text(f"---\n{lines}---\n{body}\n")


# Supersession


@pytest.mark.parametrize("certainty", ["1", "5"])
def test_a_note_that_supersedes_another_stands_above_it_however_well_the_old_one_matches(
    memento: Program, tmp_path: Path, certainty: str
) -> None:
    notes = tmp_path / "notes"
    note(notes, "port", "The staging proxy listens on port 8080.", title="staging proxy port", certainty="3")
    note(notes, "gateway", "The proxy moved.", title="moved", supersedes='"[[port]]"', certainty=certainty)
    memento.json("import", "vault", str(notes))
    results = memento.json("search", "staging proxy port 8080")["results"]
    assert [result["title"] for result in results] == ["moved", "staging proxy port"]
    assert results[0]["score"] > results[1]["score"]


def test_an_old_note_comes_first_again_once_its_successor_is_gone(workspace: Workspace) -> None:
    old = workspace.remember("The staging proxy listens on port 8080.")
    new = workspace.remember("The proxy moved.")
    workspace.relate(new.id, old.id, type="supersedes")
    assert [hit.id for hit in workspace.search("staging proxy 8080").results] == [new.id, old.id]
    workspace.forget(new.id)
    assert [hit.id for hit in workspace.search("staging proxy 8080").results] == [old.id]


# Scores and thresholds


def test_the_best_of_a_poor_answer_is_told_from_a_good_one_by_its_score(workspace: Workspace) -> None:
    workspace.remember("The staging proxy listens on port 8080.")
    for number in range(20):
        workspace.remember(f"Note {number} is about the weather over town {number} and its trains.")
    good = workspace.search("staging proxy port", mode="keyword").results[0].score
    poor = workspace.search("trains between the planets proxy nothing", mode="keyword").results[0].score
    assert poor < 0.6 * good
    assert good < 1.2
    assert workspace.search("giraffes", mode="keyword").results == []


def test_a_score_does_not_depend_on_what_else_was_found(workspace: Workspace) -> None:
    memory = workspace.remember("The staging proxy listens on port 8080.")
    for number in range(40):
        workspace.remember(f"Note {number} is about the weather over town {number} and its trains.")
    query = "staging proxy gateway weather"

    def score() -> float:
        (hit,) = (hit for hit in workspace.search(query, mode="keyword", limit=60).results if hit.id == memory.id)
        return hit.score

    alone = score()
    better = workspace.remember("The weather hit the gateway of the staging proxy.")
    assert workspace.search(query, mode="keyword").results[0].id == better.id
    assert score() == pytest.approx(alone, rel=0.15)


# Long prompts


def test_a_prompt_of_more_than_two_hundred_characters_is_searched_for(workspace: Workspace, agent: Workspace) -> None:
    memory = workspace.remember("The staging proxy listens on port 8080.")
    for number in range(30):
        workspace.remember(f"Note {number}: the new canteen opens at {number % 12} and serves soup.")
    assert len(LONG_PROMPT) > 300
    assert brief(agent, LONG_PROMPT, "", 5).hits[0].id == memory.id
    assert workspace.search(LONG_PROMPT, mode="keyword").results[0].id == memory.id


def test_what_a_long_prompt_is_to_skip_is_told(workspace: Workspace, agent: Workspace) -> None:
    skip = workspace.skips.add("staging proxy", "Ann looks after it", "7d")
    assert brief(agent, LONG_PROMPT, "", 5).skips[0].id == getattr(skip, "id", "")


# Certainty


def test_certainty_rises_with_use_in_several_sessions_and_not_with_display(data_dir: Path) -> None:
    with memento_tui.open(data_dir) as person:
        memory = person.remember("The staging proxy listens on port 8080.", certainty=1)
        for _ in range(20):
            person._store.usage.count("memory", [memory.id], shown=1)
        maintain_workspace(person)
        assert person.get(memory.id).certainty == 1
        for number in range(3):
            with memento_tui.open(data_dir, actor="agent", agent="claude", session=f"s{number}") as agent:
                agent.used([memory.id])
        maintain_workspace(person)
        assert person.get(memory.id).certainty == 2


def test_certainty_stays_when_a_contradiction_is_found_and_falls_when_a_person_decides(workspace: Workspace) -> None:
    older = workspace.remember("The staging API listens on port 8080 behind the proxy.", certainty=3)
    newer = workspace.remember("The staging API listens on port 9090 behind the proxy.", certainty=3)
    maintain_workspace(workspace, asked=["contradictions"])
    assert [workspace.get(memory.id).certainty for memory in (older, newer)] == [3, 3]
    (dispute,), _ = workspace.contradictions.list()
    workspace.contradictions.resolve(dispute.contradiction.id, "newer_supersedes")
    assert [workspace.get(memory.id).certainty for memory in (older, newer)] == [2, 3]


# Doubles


def test_a_note_that_is_stored_twice_is_one_memory_and_one_file(memento: Program, tmp_path: Path) -> None:
    for _ in range(3):
        memento.add("Delete mode is the only safe one.", "--title", "Use delete mode")
    for _ in range(2):
        memento.json("export", str(tmp_path / "vault"), "--format", "vault")
    assert len(list((tmp_path / "vault").rglob("*.md"))) == 1
    assert len(memento.json("list")["items"]) == 1


def test_a_vault_that_is_imported_again_adds_nothing(memento: Program, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    note(notes, "use-delete-mode", "Delete mode is the only safe one.", title="Use delete mode")
    note(notes, "wal", "WAL needs shared memory.", title="WAL")
    for imported in (2, 0, 0):
        report = memento.json("import", "vault", str(notes))
        assert (report["imported"], report["updated"]) == (imported, 0)
    assert len(memento.json("list")["items"]) == 2


def test_two_notes_of_one_title_that_say_different_things_are_both_kept(memento: Program, tmp_path: Path) -> None:
    for text in ("Delete mode is the only safe one.", "WAL needs shared memory, which the share lacks."):
        memento.add(text, "--title", "Journal mode")
    memento.json("export", str(tmp_path / "vault"), "--format", "vault")
    texts = "".join(path.read_text() for path in (tmp_path / "vault").rglob("*.md"))
    assert "Delete mode is the only safe one." in texts
    assert "WAL needs shared memory" in texts
