"""The operations that every agent-facing interface shares, without any interface."""

from __future__ import annotations

import pytest

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.errors import NotAllowed
from memento_tui.operations.memories import Link, add_links, count_memories, visible_memory
from memento_tui.operations.outcome import store_memories, store_memory, write_identity
from memento_tui.operations.scope import is_relevant_namespace, is_within_namespaces


def test_a_text_is_stored_once_and_known_from_then_on(agent: Workspace) -> None:
    first, again = (store_memory(agent, "The API lives at /v2.") for _ in range(2))
    assert (first.is_known, first.is_pending, first.pending_sentence) == (False, False, "")
    assert (again.is_known, again.memory.id) == (True, first.memory.id)


def test_a_text_from_outside_waits_and_says_why(agent: Workspace) -> None:
    outcome = store_memory(agent, "Call +49 123 for help.", source_url="https://example.org", source_type="external")
    assert outcome.is_pending
    assert outcome.reasons
    assert outcome.reasons[0] in outcome.pending_sentence
    assert outcome.memory.source.url == "https://example.org"
    seen = visible_memory(outcome.memory, clock.now())
    assert (seen.is_readable, seen.title, seen.content, seen.tags) == (False, "", "", [])


def test_a_text_that_a_person_rejected_is_not_accepted_again(agent: Workspace, workspace: Workspace) -> None:
    waiting = store_memory(agent, "Always deploy on Fridays.", source_type="external")
    workspace.review.reject(workspace.review.about(waiting.memory.id)[0].id, "never on Fridays")
    again = store_memory(agent, "Always deploy on Fridays.", source_type="external")
    assert (again.is_rejected, again.note) == (True, "never on Fridays")
    with pytest.raises(NotAllowed, match="rejected the same text before: never on Fridays"):
        again.accepted()


def test_many_texts_are_stored_with_an_outcome_for_each(agent: Workspace) -> None:
    outcomes = store_memories(agent, [{"content": "The build takes a minute."}, {"content": "Tests need Docker."}])
    assert [outcome.memory.content for outcome in outcomes] == ["The build takes a minute.", "Tests need Docker."]
    assert not any(outcome.is_known for outcome in outcomes)


def test_an_identity_is_written_until_a_person_has_written_one(agent: Workspace, workspace: Workspace) -> None:
    assert write_identity(agent, "I am careful.").proposal is None
    workspace.crystals.write("I am careful and brief.")
    crystal, proposal = write_identity(agent, "I am bold.")
    assert crystal.status == "proposed"
    assert proposal is not None


def test_a_link_is_drawn_once(agent: Workspace) -> None:
    first, second = (store_memory(agent, text).memory for text in ("The API lives at /v2.", "Tests need Docker."))
    for _ in range(2):
        add_links(
            agent, first.id, [Link("related", second.id), Link("related", second.id), Link("file", "docs/api.md")]
        )
    relations = agent.relations(first.id, direction="out")
    assert [(relation.type, relation.dst) for relation in relations] == [
        ("related", second.id),
        ("file", "docs/api.md"),
    ]


def test_memories_are_counted_by_how_they_stand(agent: Workspace, workspace: Workspace) -> None:
    store_memory(agent, "The API lives at /v2.", namespace="projects/site")
    store_memory(agent, "The key is in the safe.", namespace="projects/site/ops", sensitivity="restricted")
    store_memory(agent, "Call +49 123 for help.", namespace="projects/site", source_type="external")
    store_memory(agent, "Elsewhere.", namespace="projects/other")
    assert count_memories(workspace, "projects/site") == (2, 0, 0, 1)
    assert count_memories(workspace, "projects/site", with_restricted=False).active == 1


@pytest.mark.parametrize(
    ("current", "namespace", "matters"),
    [
        ("", "projects/site", True),
        ("projects/site", "global", True),
        ("projects/site", "projects", True),
        ("projects/site", "projects/site/ops", True),
        ("projects/site", "projects/other", False),
        ("projects/site", "projects/sites", False),
        ("", "accounts/ana/default", False),
        ("accounts/ana", "accounts/ana/default", True),
        ("accounts/ana", "global", False),
    ],
)
def test_a_record_matters_above_and_below_its_namespace(current: str, namespace: str, matters: bool) -> None:  # noqa: FBT001
    assert is_relevant_namespace(current, namespace) is matters


def test_a_namespace_holds_those_below_it_alone() -> None:
    assert is_within_namespaces("a/b", ("x", "a"))
    assert not is_within_namespaces("ab", ("x", "a"))
    assert not is_within_namespaces("a", ("a/b",))
