from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import memento_tui
from memento_tui.errors import MementoError
from memento_tui.records import Memory
from memento_tui.records.memory import RECALLED, SENSITIVITIES, SOURCE_TYPES, STABILITIES, STATUSES, TIERS
from memento_tui.workspace import Workspace
from tests.made import note, put, without_engine

TEXT = st.sampled_from(["alpha", "beta", "approved by the person", "person's own words", "gamma"])
ALLOWED: dict[str, st.SearchStrategy[Any]] = {
    "content": TEXT,
    "title": TEXT,
    "tags": st.lists(TEXT, max_size=2),
    "certainty": st.integers(1, 5),
    "source_type": st.sampled_from(SOURCE_TYPES),
    "sensitivity": st.sampled_from(SENSITIVITIES),
    "expires_at": st.none() | st.sampled_from(["7d", "2020-01-01"]),
    "id": st.sampled_from(["mine", "persons"]),
    "base_version": st.integers(1, 3),
}
FORBIDDEN: dict[str, st.SearchStrategy[Any]] = {
    "stability": st.sampled_from(STABILITIES),
    "status": st.sampled_from(STATUSES),
    "tier": st.sampled_from(TIERS),
    "pinned": st.booleans(),
    "verified_by": st.just("person"),
    "version": st.integers(1, 5),
}
FIELDS = st.fixed_dictionaries({}, optional=ALLOWED) | st.fixed_dictionaries({}, optional={**ALLOWED, **FORBIDDEN})
PICK = st.integers(0, 1000)


class AnAgentAlone(RuleBasedStateMachine):
    """An agent that tries everything while the person looks away."""

    preset: ClassVar[str] = "guarded"

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        data_dir = without_engine(Path(self.folder.name) / "data", self.preset)
        self.person = memento_tui.open(data_dir)
        self.agent = memento_tui.open(data_dir, actor="agent", channel="mcp", agent="person")

    @initialize()
    def the_person_was_here(self) -> None:
        (self.verified,) = put(self.person.store, note("person's own words", id="persons", stability="verified"))
        self.waiting = self.agent.remember("from a page", source_type="external", id="waiting")
        self.identity = self.person.crystals.write("I am careful.")
        self.refused = self.agent.remember("an advertisement", source_type="external", id="refused")
        self.person.review.reject("refused", "no")

    def teardown(self) -> None:
        self.person.close()
        self.agent.close()
        self.folder.cleanup()

    def attempt(self, act: Callable[[Workspace], object]) -> None:
        with contextlib.suppress(MementoError):
            act(self.agent)

    def memory(self, place: int) -> str:
        ids = sorted(memory.id for batch in self.person.store.all_memories() for memory in batch)
        return ids[place % len(ids)]

    def proposal(self, place: int) -> str:
        found, _ = self.agent.review.list(["pending", "later", "needs_review", "approved", "rejected"])
        return found[place % len(found)].proposal.id if found else "none"

    @rule(text=TEXT, fields=FIELDS)
    def remember(self, text: str, fields: dict[str, Any]) -> None:
        kept = {name: value for name, value in fields.items() if name not in ("content", "base_version")}
        self.attempt(lambda agent: agent.remember(text, **kept))

    @rule(fields=st.lists(FIELDS, max_size=3))
    def remember_many(self, fields: list[dict[str, Any]]) -> None:
        items = [{name: value for name, value in one.items() if name != "base_version"} for one in fields]
        self.attempt(lambda agent: agent.remember_many(items))

    @rule(place=PICK, fields=FIELDS)
    def update(self, place: int, fields: dict[str, Any]) -> None:
        kept = {name: value for name, value in fields.items() if name != "id"}
        self.attempt(lambda agent: agent.update(self.memory(place), **kept))

    @rule(place=PICK)
    def forget(self, place: int) -> None:
        self.attempt(lambda agent: agent.forget(self.memory(place)))

    @rule(first=PICK, second=PICK, type_=st.sampled_from(["supersedes", "contradicts", "related"]))
    def relate(self, first: int, second: int, type_: str) -> None:
        self.attempt(lambda agent: agent.relate(self.memory(first), self.memory(second), type=type_))

    @rule(place=PICK, what=st.sampled_from(["approve", "reject", "later"]))
    def decide(self, place: int, what: str) -> None:
        self.attempt(lambda agent: getattr(agent.review, what)(self.proposal(place)))
        self.attempt(lambda agent: agent.review.decide_all([self.proposal(place)], what))  # type: ignore[arg-type] # drawn

    @rule(place=PICK, what=st.sampled_from(["verify", "restore"]))
    def raise_trust(self, place: int, what: str) -> None:
        self.attempt(lambda agent: getattr(agent, what)(self.memory(place)))

    @rule(seq=st.none() | PICK)
    def undo(self, seq: int | None) -> None:
        self.attempt(lambda agent: agent.undo(seq))
        self.attempt(lambda agent: agent.redo())

    @rule(place=PICK)
    def purge(self, place: int) -> None:
        self.attempt(lambda agent: agent.purge(self.memory(place), "because"))

    @rule(text=TEXT)
    def crystal(self, text: str) -> None:
        self.attempt(lambda agent: agent.crystals.write(text))
        self.attempt(lambda agent: agent.crystals.restore(agent.crystals.history()[0].id))

    @rule(text=TEXT, place=PICK)
    def lists(self, text: str, place: int) -> None:
        self.attempt(lambda agent: agent.skips.add(text, "because", "7d", id=self.memory(place)))
        self.attempt(lambda agent: agent.items.create(text, id=self.memory(place)))

    @rule(place=PICK)
    def use(self, place: int) -> None:
        self.attempt(lambda agent: agent.used([self.memory(place)] * 50))

    @invariant()
    def nothing_is_trusted_that_the_person_did_not_decide(self) -> None:
        for batch in self.person.store.all_memories():
            for memory in batch:
                if memory.id != self.verified.id:
                    assert memory.stability == "draft"
                    assert (memory.verified_at, memory.verified_by, memory.pinned) == (None, "", False)
                    assert memory.tier in ("working", "short_term")

    @invariant()
    def what_waits_or_was_refused_is_not_recalled(self) -> None:
        for memory_id in ("waiting", "refused"):
            assert self.person.get(memory_id).status not in RECALLED

    @invariant()
    def the_persons_own_stays_as_it_is(self) -> None:
        found: Memory = self.person.get("persons")
        assert (found.content, found.title, found.tags, found.status) == ("person's own words", "", (), "active")
        assert found.stability == "verified"
        assert self.person.store.superseded(["persons"]) == set()
        current = self.person.crystals.current()
        assert current is not None
        assert current.content == "I am careful."

    @invariant()
    def no_proposal_of_the_persons_was_decided_by_anyone_else(self) -> None:
        for pending in self.person.review.list(["approved", "rejected"], limit=500)[0]:
            (newest, *_) = self.person.store.history("proposal", pending.proposal.id)
            assert newest.entry.actor == "person"


class AnAgentAloneUnderStrict(AnAgentAlone):
    """The same agent where even its drafts wait."""

    preset = "strict"

    @invariant()
    def everything_new_waits(self) -> None:
        assert [memory.id for memory in self.person.list(limit=500).items] == ["persons"]
        assert (self.person.skips.list(), self.person.items.list()) == ([], [])


TestAnAgentAlone = AnAgentAlone.TestCase
TestAnAgentAlone.settings = settings(max_examples=12, stateful_step_count=20)
TestAnAgentAloneUnderStrict = AnAgentAloneUnderStrict.TestCase
TestAnAgentAloneUnderStrict.settings = settings(max_examples=12, stateful_step_count=20)
