from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import note as say
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

import memento_tui
from memento_tui.api import Workspace
from memento_tui.errors import MementoError
from tests.depth import examples
from tests.made import without_engine
from tests.property.store_state import check_store

FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "content": st.sampled_from(["alpha", "beta", "gamma \x1b[2J", "δ"]),
        "title": st.sampled_from(["", "one", "two"]),
        "tags": st.lists(st.sampled_from(["a", "A", "b", "Ü", "ü", "ß"]), max_size=3),
        "certainty": st.integers(0, 5),
        "source_type": st.sampled_from(["user", "derived", "external"]),
        "expires_at": st.none() | st.just("7d"),
    },
)
PICK = st.integers(0, 1_000_000)
BY_PERSON = st.booleans()


class TwoWriters(RuleBasedStateMachine):
    """A person and an agent who do anything at all to one store; whatever is refused must be refused in words."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        data_dir = without_engine(Path(self.folder.name) / "data")
        self.person = memento_tui.open(data_dir)
        self.agent = memento_tui.open(data_dir, actor="agent", agent="claude")

    def teardown(self) -> None:
        self.person.close()
        self.agent.close()
        self.folder.cleanup()

    def writer(self, by_person: bool) -> Workspace:  # noqa: FBT001 - drawn
        return self.person if by_person else self.agent

    def pick(self, record: str, place: int) -> str:
        ids = [row[0] for row in self.person._store.database.connection.execute(f"SELECT id FROM {record} ORDER BY id")]  # noqa: S608 - a table's name
        return ids[place % len(ids)] if ids else "none"

    def attempt(self, action: Callable[[], object]) -> None:
        with contextlib.suppress(MementoError):
            action()

    @rule(by_person=BY_PERSON, text=st.sampled_from(["alpha", "beta", "delta", ""]), fields=FIELDS)
    def remember(self, by_person: bool, text: str, fields: dict[str, Any]) -> None:  # noqa: FBT001 - drawn
        fields.pop("content", None)
        self.attempt(lambda: self.writer(by_person).remember(text, **fields))

    @rule(fields=st.lists(FIELDS, max_size=4))
    def remember_many(self, fields: list[dict[str, Any]]) -> None:
        self.attempt(lambda: self.person.remember_many(fields))

    @rule(by_person=BY_PERSON, place=PICK, fields=FIELDS)
    def update(self, by_person: bool, place: int, fields: dict[str, Any]) -> None:  # noqa: FBT001 - drawn
        self.attempt(lambda: self.writer(by_person).update(self.pick("memory", place), **fields))

    @rule(by_person=BY_PERSON, place=PICK)
    def forget(self, by_person: bool, place: int) -> None:  # noqa: FBT001 - drawn
        self.attempt(lambda: self.writer(by_person).forget(self.pick("memory", place)))

    @rule(place=PICK)
    def restore(self, place: int) -> None:
        self.attempt(lambda: self.person.restore(self.pick("memory", place)))

    @rule(place=PICK)
    def verify(self, place: int) -> None:
        self.attempt(lambda: self.person.verify(self.pick("memory", place)))

    @rule(by_person=BY_PERSON, first=PICK, second=PICK, type_=st.sampled_from(["related", "supersedes"]))
    def relate(self, by_person: bool, first: int, second: int, type_: str) -> None:  # noqa: FBT001 - drawn
        ends = self.pick("memory", first), self.pick("memory", second)
        self.attempt(lambda: self.writer(by_person).relate(*ends, type=type_))

    @rule(by_person=BY_PERSON, place=PICK, what=st.sampled_from(["add", "update", "remove"]))
    def skip(self, by_person: bool, place: int, what: str) -> None:  # noqa: FBT001 - drawn
        skips, chosen = self.writer(by_person).skips, self.pick("skip", place)
        actions: dict[str, Callable[[], object]] = {
            "add": lambda: skips.add("a thing", "because", "7d"),
            "update": lambda: skips.update(chosen, reason=f"reason {place % 3}"),
            "remove": lambda: skips.remove(chosen),
        }
        self.attempt(actions[what])

    @rule(by_person=BY_PERSON, place=PICK, what=st.sampled_from(["add", "update", "remove"]))
    def item(self, by_person: bool, place: int, what: str) -> None:  # noqa: FBT001 - drawn
        items, chosen = self.writer(by_person).items, self.pick("item", place)
        actions: dict[str, Callable[[], object]] = {
            "add": lambda: items.create("work"),
            "update": lambda: items.update(chosen, priority=place % 5),
            "remove": lambda: items.remove(chosen),
        }
        self.attempt(actions[what])

    @rule(by_person=BY_PERSON, text=st.sampled_from(["I am one.", "I am two."]))
    def crystal(self, by_person: bool, text: str) -> None:  # noqa: FBT001 - drawn
        self.attempt(lambda: self.writer(by_person).crystals.write(text))

    @rule(by_person=BY_PERSON, place=PICK, what=st.sampled_from(["approve", "reject", "later"]))
    def decide(self, by_person: bool, place: int, what: str) -> None:  # noqa: FBT001 - drawn
        self.attempt(lambda: getattr(self.writer(by_person).review, what)(self.pick("proposal", place)))

    @rule(by_person=BY_PERSON, place=PICK, newest=st.booleans())
    def undo(self, by_person: bool, place: int, newest: bool) -> None:  # noqa: FBT001 - drawn
        seq = None if newest else place % (self.person._store.journal.head() + 1)
        self.attempt(lambda: self.writer(by_person).undo(seq))

    @rule()
    def redo(self) -> None:
        self.attempt(self.person.redo)

    @rule(place=PICK)
    def purge(self, place: int) -> None:
        self.attempt(lambda: self.person.purge(self.pick("memory", place), "it leaked"))

    @rule()
    def use(self) -> None:
        self.attempt(lambda: self.agent.used([self.pick("memory", 0)]))

    @invariant()
    def rows_and_journal_agree(self) -> None:
        say(str([entry.action for entry in self.person._store.journal.entries_after(0)]))
        check_store(self.person._store)

    @invariant()
    def one_identity_at_most_is_current(self) -> None:
        current = [crystal for crystal in self.person.crystals.timeline() if crystal.status == "current"]
        assert len(current) <= 1


TestTwoWriters = TwoWriters.TestCase
TestTwoWriters.settings = settings(max_examples=examples(50), stateful_step_count=25)
