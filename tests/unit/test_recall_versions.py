from __future__ import annotations

import pytest

from memento_tui.api import Workspace
from memento_tui.operations.recall import recall, search
from memento_tui.operations.sessions import brief

TITLE = "Troubleshooting / Common Issues"
ISSUES = (
    "| Port mismatch | Verify the same port in the hooks' settings and in the server |",
    "| Startup fails on every session (Windows) | Set MCP_INIT_TIMEOUT=120 in the environment, issue #474 |",
    "| Database lock errors | Add journal_mode=WAL to the pragmas and restart the servers |",
)
TEXT = "\n".join(ISSUES)
GROWN = (TEXT, f"{TEXT}\nAsk Ana.", f"{TEXT}\nAsk Ana.\nDowngraded lockfile | Restore it from Git")
QUERY = "startup fails issue #474"


def note_versions(person: Workspace, *texts: str, title: str = TITLE) -> list[str]:
    """Store the versions of a note, oldest first; return their ids."""
    ids = []
    for month, text in enumerate(texts, 1):
        moments: dict[str, str] = dict.fromkeys(("created_at", "updated_at"), f"2026-0{month}-01T10:00:00Z")
        [note] = person.remember_many([{"content": text, "title": title, "source_type": "derived", **moments}])
        ids.append(note.id)
    return ids


def test_of_the_versions_of_one_note_the_newest_is_recalled_with_the_best_score(
    workspace: Workspace, agent: Workspace
) -> None:
    ids = note_versions(workspace, *GROWN)
    every, _ = search(agent, QUERY, 10)
    assert {hit.id for hit in every} == set(ids)
    hits, _ = recall(agent, QUERY, 10)
    assert [hit.id for hit in hits] == [ids[2]]
    assert hits[0].score == pytest.approx(max(hit.score for hit in every), rel=0.001)
    assert [hit.id for hit in brief(agent, QUERY, "", 10).hits] == [ids[2]]


def test_of_the_versions_of_one_note_the_one_that_the_person_verified_is_recalled(
    workspace: Workspace, agent: Workspace
) -> None:
    ids = note_versions(workspace, *(f"{TEXT}\n{end}" for end in ("Ask Ana.", "Ask Ben.", "Ask Cleo.")))
    workspace.verify(ids[1])
    assert [hit.id for hit in recall(agent, QUERY, 10)[0]] == [ids[1]]


@pytest.mark.parametrize("newest", [TEXT.replace("120", "60"), TEXT.replace(ISSUES[0], "")])
def test_a_note_whose_newest_version_has_other_numbers_or_less_is_recalled_beside_it(
    workspace: Workspace, agent: Workspace, newest: str
) -> None:
    ids = note_versions(workspace, TEXT, newest)
    assert {hit.id for hit in recall(agent, QUERY, 10)[0]} == set(ids)


def test_notes_of_other_titles_are_no_versions_of_each_other(workspace: Workspace, agent: Workspace) -> None:
    ids = [name for title in ("One", "Another") for name in note_versions(workspace, TEXT, title=title)]
    assert {hit.id for hit in recall(agent, QUERY, 10)[0]} == set(ids)


@pytest.mark.parametrize("query", ["ns:global", '"issue #474"'])
def test_filters_alone_and_phrases_are_answered_by_every_version(
    workspace: Workspace, agent: Workspace, query: str
) -> None:
    ids = note_versions(workspace, *GROWN)
    assert {hit.id for hit in recall(agent, query, 10)[0]} == set(ids)


def test_an_older_version_that_was_superseded_is_told_beside_what_took_its_place(
    workspace: Workspace, agent: Workspace
) -> None:
    written = workspace.remember(GROWN[1], title=TITLE).id
    ids = [*note_versions(workspace, GROWN[0]), written]
    workspace.relate(ids[0], written, "supersedes")
    assert {hit.id for hit in recall(agent, QUERY, 10)[0]} == set(ids)
