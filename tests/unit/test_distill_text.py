"""Conversations that an agent hands over as text: who speaks, what is learned, and in whose name."""

from __future__ import annotations

import json

import pytest

from memento_tui.api import Workspace
from memento_tui.api.distillation import distill_text
from memento_tui.maintenance.transcripts.reader import read_plain_text

TALK = (
    "User: From now on always use pnpm instead of npm in this repository, please.\n"
    "Assistant: Understood.\n"
    "User: Remember that the staging database lives on port 5433.\n"
)


def roles(text: str) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in read_plain_text(text).turns]


@pytest.mark.parametrize(
    "text",
    [
        "User: Hi.\nAssistant: Ho.\nthen more",
        "**Human**: Hi.\n\n**AI:** Ho.\nthen more",
        "## me: Hi.\n[Claude]: Ho.\nthen more",
    ],
)
def test_speakers_are_known_by_their_names(text: str) -> None:
    assert roles(text) == [("user", "Hi."), ("assistant", "Ho.\nthen more")]


def test_what_tools_and_systems_print_is_nobodys_word() -> None:
    assert roles("preface\nSystem: You are nice.\nUser: Hi.\nTool: exit 1\nUser: Bye.") == [
        ("user", "Hi."),
        ("user", "Bye."),
    ]


def test_each_turn_knows_its_lines() -> None:
    turns = read_plain_text("User: Hi.\nall\nAssistant: Ho.").turns
    assert [(turn.first_line, turn.last_line) for turn in turns] == [(1, 2), (3, 3)]
    paragraphs = read_plain_text("One.\n\n\nTwo\nthree.")
    assert not paragraphs.names_speakers
    assert [(turn.text, turn.first_line, turn.last_line) for turn in paragraphs.turns] == [
        ("One.", 1, 1),
        ("Two\nthree.", 4, 5),
    ]


def test_what_memento_put_into_the_conversation_is_not_learned_again() -> None:
    injected = "<system-reminder>Always use tabs in this repository.</system-reminder>"
    assert roles(f"User: {injected}") == []


def test_it_is_proposed_in_the_name_of_the_agent_with_the_words_it_rests_on(agent: Workspace) -> None:
    found = distill_text(agent, TALK, "a tool", fields={"namespace": "fathom"})
    assert {one.outcome for one in found.learned} == {"proposed"}
    for one in found.learned:
        memory = agent.get(one.id)
        (proposal,) = agent._store.proposals.about(one.id)
        assert (memory.namespace, memory.source.agent, memory.source.transcript) == ("fathom", "claude", "a tool")
        assert proposal.proposed_by == agent.author.name
        assert proposal.evidence["quote"] in TALK


def test_what_nobody_is_named_for_is_not_taken_for_the_persons_word(agent: Workspace) -> None:
    text = "From now on always use pnpm instead of npm in this repository, please.\n\nIt is done."
    (one,) = distill_text(agent, text, "a tool").learned
    assert agent.get(one.id).source_type == "derived"


def test_lines_of_json_are_read_as_the_transcript_that_they_are(agent: Workspace) -> None:
    rows = [{"role": "user", "content": "From now on always use pnpm instead of npm in this repository, please."}]
    found = distill_text(agent, "\n".join(map(json.dumps, rows)), "a tool")
    assert [one.outcome for one in found.learned] == ["proposed"]
    assert distill_text(agent, "{not json} " + TALK, "a tool").problems == ()


def test_a_limit_counts_what_is_wanted(agent: Workspace) -> None:
    found = distill_text(agent, TALK, "a tool", limit=1, wanted=lambda one: one.fields["kind"] == "instruction")
    assert [one.candidate.fields["kind"] for one in found.learned] == ["instruction"]
