"""What is no contradiction any more, or was decided, is not raised."""

from __future__ import annotations

import pytest

from memento_tui.api import Workspace
from memento_tui.maintenance.contradictions.finder import ContradictionFinder, FoundContradiction
from memento_tui.model import Contradiction


class Ports:
    """Two memories that name two ports, and what looks for contradictions between them."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.older = workspace.remember("The API server listens on port 8080.")
        self.newer = workspace.remember("The API server listens on port 9090.")
        self.finder = ContradictionFinder(workspace._store, workspace.gate)

    def found(self) -> list[FoundContradiction]:
        """Return the contradictions that would be raised."""
        return self.finder.find({self.older.id: [(self.newer.id, 0.95)]})

    def both_hold(self) -> Contradiction:
        """Raise the contradiction, and decide that each memory holds under a condition."""
        (raised,) = self.finder.write(self.found())
        self.workspace.contradictions.resolve(
            raised.id, "both_valid", older_context="before 2.0", newer_context="2.0 and later"
        )
        return raised


@pytest.fixture
def ports(workspace: Workspace) -> Ports:
    return Ports(workspace)


def test_a_memory_that_was_deleted_meanwhile_is_in_no_contradiction(ports: Ports) -> None:
    found = ports.found()
    assert len(found) == 1
    ports.workspace.forget(ports.older.id)
    assert ports.finder.write(found) == []


def test_a_memory_that_has_expired_contradicts_nothing(ports: Ports) -> None:
    found = ports.found()
    ports.workspace.update(ports.older.id, expires_at="2020-01-01")
    assert ports.found() == []
    assert ports.finder.write(found) == []


def test_what_had_ceased_to_hold_when_the_other_was_written_contradicts_it_not(ports: Ports) -> None:
    ports.workspace.update(ports.older.id, valid_to="2020-01-01")
    assert ports.found() == []


def test_two_memories_that_both_hold_are_not_asked_about_again_because_of_a_tag(ports: Ports) -> None:
    ports.both_hold()
    ports.workspace.update(ports.newer.id, tags=["network"])
    assert ports.found() == []


def test_two_memories_that_both_hold_are_asked_about_again_where_one_says_something_else(ports: Ports) -> None:
    ports.both_hold()
    ports.workspace.update(ports.newer.id, content="The API server listens on port 7070.")
    assert len(ports.found()) == 1


_TWO_STEPS = "Ask the owner before a release. Deployments go through {}."


def _raised(workspace: Workspace, older: str, newer: str, *, weak_evidence: bool) -> list[FoundContradiction]:
    ids = [workspace.remember(text).id for text in (older, newer)]
    finder = ContradictionFinder(workspace._store, workspace.gate, weak_evidence=weak_evidence)
    return finder.find({ids[0]: [(ids[1], 0.95)]})


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (_TWO_STEPS.format("Jenkins"), _TWO_STEPS.format("GitHub Actions")),
        (
            "The importer of the shop is being migrated to Rust",
            "The importer of the shop in Rust migrates orders",
        ),
    ],
)
def test_another_attribute_in_longer_texts_and_a_word_of_change_alone_are_raised_on_request(
    workspace: Workspace, older: str, newer: str
) -> None:
    assert not _raised(workspace, older, newer, weak_evidence=False)
    assert _raised(workspace, older, newer, weak_evidence=True)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Deployments go through Jenkins", "Deployments go through GitHub Actions"),
        ("The shop stores its orders in Redis", "The shop switched its orders from Redis to Valkey"),
        ("The login page is in progress.", "The new login page is done."),
    ],
)
def test_another_attribute_in_one_sentence_and_what_was_left_or_done_are_raised_without(
    workspace: Workspace, older: str, newer: str
) -> None:
    assert _raised(workspace, older, newer, weak_evidence=False)
