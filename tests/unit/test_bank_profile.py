"""agent-memory's three tools, over the gate."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memento_tui.api import Workspace
from memento_tui.api.maintenance import maintain_workspace
from memento_tui.model.claims import claims_of
from tests.journeys.mcp_agent import Agent
from tests.unit.profile_agent import seated

BANK = "projects/site"
RULE = "Never retry payments without an idempotency key."


@pytest.fixture
def bank(data_dir: Path) -> Iterator[Agent]:
    with seated(data_dir, "bank") as agent:
        yield agent


def test_a_memory_is_retained_recalled_and_read(bank: Agent, workspace: Workspace) -> None:
    kept = bank.call("retain", bank_id=BANK, content=RULE, kind="anti-pattern", tags=["payments"], confidence=0.9)
    assert kept == {"id": kept["id"], "bank_id": BANK, "kind": "anti-pattern"}
    memory = workspace.get(kept["id"])
    assert (memory.kind, memory.namespace, memory.tags) == ("anti_pattern", BANK, ("payments",))
    # How far an agent trusts itself is a claim.
    assert (memory.confidence, claims_of(memory)) == (0.6, {"confidence": 0.9})
    assert (memory.stability, memory.tier, memory.source.agent) == ("draft", "long_term", "claude")

    found = bank.call("recall", bank_id=BANK, query="retry payments")
    assert [(one["id"], one["kind"]) for one in found["memories"]] == [(kept["id"], "anti-pattern")]
    text = bank.read("recall", bank_id=BANK, query="retry payments")
    assert f"{kept['id']} anti-pattern" in text
    assert "[unverified, by claude]" in text

    whole = bank.call("get_memory", id=kept["id"][:8])
    assert (whole["content"], whole["kind"], whole["tier"], whole["stability"]) == (
        RULE,
        "anti-pattern",
        "long_term",
        "draft",
    )
    assert workspace.get(kept["id"]).used_count == 1


def test_a_bank_answers_for_itself_alone(bank: Agent) -> None:
    bank.call("retain", bank_id=BANK, content=RULE)
    assert bank.call("recall", bank_id="projects/blog", query="retry payments")["memories"] == []
    assert bank.call("recall", bank_id="projects", query="retry payments")["memories"]


def test_a_recall_always_ends_with_the_contradictions(bank: Agent, workspace: Workspace) -> None:
    bank.call("retain", bank_id=BANK, content="The staging API listens on port 8080 behind the proxy.", kind="fact")
    text = bank.read("recall", bank_id=BANK, query="staging API port")
    assert text.endswith("## Contradictions\nNone is known among these.")
    bank.call("retain", bank_id=BANK, content="The staging API listens on port 9090 behind the proxy.", kind="fact")
    maintain_workspace(workspace, asked=["contradictions"])
    answered = bank.call("recall", bank_id=BANK, query="staging API port")
    (dispute,) = answered["contradictions"]
    assert "8080" in dispute["older"]["text"]
    assert "9090" in dispute["newer"]["text"]
    text = bank.read("recall", bank_id=BANK, query="staging API port")
    _, section = text.split("## Contradictions")
    assert "older" in section
    assert "newer" in section
    assert "today" in section


def test_outside_text_waits_and_is_marked_wherever_it_is_shown(bank: Agent, workspace: Workspace) -> None:
    given: dict[str, Any] = {"source_type": "external", "source_url": "https://example.org"}
    kept = bank.call("retain", bank_id=BANK, content="The pay API allows 100 requests a minute.", **given)
    assert kept["pending"] is True
    assert "outside" in kept["reason"]
    assert bank.call("recall", bank_id=BANK, query="pay API requests")["memories"] == []
    assert "withheld" in bank.call("get_memory", id=kept["id"])["withheld"]
    (pending,), _ = workspace.review.list()
    workspace.review.approve(pending.proposal.id)
    assert "[UNTRUSTED, verified, from example.org]" in bank.read("recall", bank_id=BANK, query="pay API requests")
    assert "[UNTRUSTED]" in bank.read("get_memory", id=kept["id"])
    assert workspace.get(kept["id"]).tier == "short_term"


def test_what_is_restricted_comes_by_its_id_alone(bank: Agent) -> None:
    kept = bank.call("retain", bank_id=BANK, content="Customers are in /srv/customers.", sensitivity="restricted")
    assert bank.call("recall", bank_id=BANK, query="customers")["memories"] == []
    assert "/srv/customers" in bank.read("get_memory", id=kept["id"])


def test_what_is_known_is_not_retained_again_and_what_was_rejected_neither(bank: Agent, workspace: Workspace) -> None:
    first = bank.call("retain", bank_id=BANK, content=RULE)
    assert bank.call("retain", bank_id=BANK, content=RULE)["duplicate"] is True
    workspace.reject(first["id"], "We do retry.")
    assert "We do retry." in bank.refused("retain", bank_id=BANK, content=RULE)


def test_a_kind_that_is_none_of_theirs_keeps_its_name(bank: Agent, workspace: Workspace) -> None:
    kept = bank.call("retain", bank_id=BANK, content=RULE, kind="war story")
    assert kept["kind"] == "war story"
    assert workspace.get(kept["id"]).kind == "observation"


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("retain", {"bank_id": "a//b", "content": "x"}, "bank_id"),
        ("retain", {"bank_id": BANK, "content": ""}, "content"),
        ("retain", {"bank_id": BANK, "content": "x", "tier": "long_term"}, "a person decides that"),
        ("retain", {"bank_id": BANK, "content": "x", "confidence": 7}, "confidence"),
        ("retain", {"bank_id": BANK, "content": "x", "sensitivity": "secret"}, "sensitivity"),
        ("retain", {"bank_id": BANK, "content": "x", "expires": "someday"}, "expires"),
        ("retain", {"content": "x"}, "needs bank_id"),
        ("recall", {"bank_id": BANK, "query": " "}, "no word"),
        ("recall", {"bank_id": 'a"b', "query": "x"}, "quotation mark"),
        ("get_memory", {"id": "nope"}, "nope"),
        ("memory_recall", {"ids": ["x"]}, "memory_recall"),
    ],
)
def test_bad_input_is_a_sentence(
    bank: Agent, workspace: Workspace, tool: str, arguments: dict[str, Any], said: str
) -> None:
    assert said in bank.refused(tool, **arguments)
    assert workspace._store.memories.count_all() == 0
