"""No tool, whatever it is sent, decides a proposal, raises trust, pins, purges or undoes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.model.filters import AllOf
from tests.journeys.mcp_agent import NO_ENGINE, Agent, connected

HOSTILE: dict[str, Any] = {
    "stability": "verified",
    "status": "approved",
    "state": "approved",
    "pinned": True,
    "tier": "long_term",
    "verified_by": "person",
    "verified_at": "2026-01-01",
    "injection_score": 0,
    "used_count": 1000,
    "version": 99,
    "actor": "person",
    "author": "person",
    "channel": "tui",
    "agent": "person",
    "approve": True,
    "decision": "approve",
    "force": True,
    "purge": True,
    "undo": 1,
    "extra": {"stability": "stable"},
    "source": {"agent": "person"},
}

NO_SUCH_TOOLS = [
    "approve",
    "review_approve",
    "memento_approve",
    "decide",
    "verify",
    "pin",
    "promote",
    "purge",
    "undo",
    "redo",
    "restore",
    "__init__",
    "",
]


@dataclass
class Scene:
    """A workspace with something of each kind that an agent must not touch."""

    agent: Agent
    person: Workspace
    verified: str
    pinned: str
    pending: str
    """The id of a memory that waits for a person."""
    draft: str
    skip: str
    item: str

    def valid_calls(self) -> dict[str, dict[str, Any]]:
        return {
            "context": {"message": "anything"},
            "search": {"query": "anything"},
            "get": {"ids": [self.draft]},
            "remember": {"content": "A text that nobody stored."},
            "update": {"id": self.draft, "content": "Another draft.", "base_version": 1},
            "forget": {"id": self.draft, "base_version": 1},
            "skip_check": {"query": "anything"},
            "skip_add": {"item": "x", "reason": "y", "expires": "7d"},
            "skip_list": {},
            "skip_remove": {"id": self.skip, "base_version": 1},
            "item_list": {},
            "item_create": {"title": "x"},
            "item_update": {"id": self.item, "title": "y", "base_version": 1},
            "item_remove": {"id": self.item, "base_version": 1},
            "identity_read": {},
            "identity_write": {"content": "I rule."},
            "related": {"id": self.draft},
            "relate": {"src": self.draft, "dst": "x.py", "type": "file"},
            "session_open": {},
            "capture": {"summary": "A summary that nobody stored."},
            "distill": {"text": "User: From now on always run the tests first."},
            "session_close": {"session": "s1", "summary": "Half done."},
            "contradictions": {},
            "contradiction_suggest": {"id": "none", "resolution": "older_stands"},
            "proposals": {},
            "status": {},
        }


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    (data_dir / "config.toml").write_text(NO_ENGINE)
    with memento_tui.open(data_dir) as person, connected(data_dir) as agent:
        verified = person.remember("The port is 8080.", stability="verified")
        pinned = person.remember("Never deploy on Fridays.", pinned=True, stability="stable")
        person.crystals.write("I am governed.")
        yield Scene(
            agent,
            person,
            verified.id,
            pinned.id,
            pending=agent.call("remember", content="A page says so.", source_type="external")["id"],
            draft=agent.call("remember", content="A first draft.")["id"],
            skip=agent.call("skip_add", item="a", reason="b", expires="1d")["id"],
            item=agent.call("item_create", title="c")["id"],
        )


def test_no_tool_takes_an_argument_that_a_person_decides_about(scene: Scene) -> None:
    calls = scene.valid_calls()
    assert sorted(calls) == sorted(tool.name for tool in scene.agent.tools())
    accepted = {tool.name: set(tool.input_schema["properties"]) for tool in scene.agent.tools()}
    head = scene.person._store.journal.head()

    for tool, arguments in calls.items():
        for name, value in HOSTILE.items():
            if name in accepted[tool]:  # the status of a working item and of a list of them
                assert tool in ("item_update", "item_list")
                continue
            sentence = scene.agent.refused(tool, **arguments, **{name: value})
            assert name in sentence
            assert "Traceback" not in sentence

    assert scene.person._store.journal.head() == head


def test_a_field_that_a_person_decides_about_is_refused_with_that_reason(scene: Scene) -> None:
    sentence = scene.agent.refused("remember", content="x", pinned=True, stability="stable")

    assert "An agent may not set pinned, stability; a person decides that." in sentence


def test_no_use_of_the_tools_changes_what_a_person_decided_or_has_to_decide(scene: Scene) -> None:
    agent, person = scene.agent, scene.person
    for target in (scene.verified, scene.pinned, scene.pending):
        for tool, arguments in scene.valid_calls().items():
            at = {"id": target, "base_version": person.get(target).version}
            agent.send(tool, {**arguments, **(at if tool in ("update", "forget") else {})})
        version = person.get(target).version
        changes = {"content": "Mine now.", "tags": ["x"], "certainty": 5}
        agent.send("update", {"id": target, "base_version": version, **changes})
        agent.send("remember", {"id": target, "content": "Mine now."})

    verified, pinned = person.get(scene.verified), person.get(scene.pinned)
    assert (verified.content, verified.stability) == ("The port is 8080.", "verified")
    assert (pinned.content, pinned.pinned, pinned.status) == ("Never deploy on Fridays.", True, "active")
    assert person.get(scene.pending).status in ("pending", "deleted")
    crystal = person.crystals.current()
    assert crystal is not None
    assert crystal.content == "I am governed."
    decided, _ = person.review.list(("approved", "rejected", "expired"))
    # Only what the agent withdrew itself is closed, and it came from nobody else.
    assert {pending.proposal.state for pending in decided} <= {"expired"}
    assert {pending.target.status for pending in decided} <= {"deleted"}
    for memory in person._store.memories.page(AllOf(), limit=500).items:
        if memory.id not in (scene.verified, scene.pinned):
            assert (memory.stability, memory.pinned) == ("draft", False)
            # How long it is meant to live follows from its kind; only a person shares it.
            assert memory.tier != "shared"
    done = {entry.action for entry in person._store.journal.entries(limit=500) if entry.actor == "agent"}
    assert not done & {"approve", "reject", "later", "verify", "purge", "undo", "restore"}


def test_a_tool_that_does_not_exist_is_answered_with_those_that_do(scene: Scene) -> None:
    for name in NO_SUCH_TOOLS:
        sentence = scene.agent.refused(name, id=scene.pending)

        assert sentence.startswith(f"There is no tool {name!r}")
        assert "remember" in sentence
    assert scene.person.get(scene.pending).status == "pending"
