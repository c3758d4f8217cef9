from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import memento_tui
from memento_tui.api import Workspace
from memento_tui.errors import MementoError
from tests.depth import examples
from tests.made import without_engine
from tests.property.store_state import check_store, contents

Act = Callable[[Workspace, Workspace], object]


def _memory(workspace: Workspace, place: int) -> str:
    ids = [memory.id for batch in workspace._store.memories.batches() for memory in batch]
    return ids[place % len(ids)] if ids else "none"


def _acts() -> st.SearchStrategy[Act]:
    """Return ways to write: each takes the workspaces of a person and an agent."""
    who = st.sampled_from([0, 1])
    place = st.integers(0, 9)
    text = st.sampled_from(["alpha", "beta", "gamma", "delta"])
    tags, expires_at = st.lists(text, max_size=2), st.none() | st.just("7d")
    fields: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
        {}, optional={"content": text, "title": text, "tags": tags, "expires_at": expires_at}
    )
    return st.one_of(
        st.builds(lambda w, t: lambda *both: both[w].remember(t), who, text),
        st.builds(lambda w, t: lambda *both: both[w].remember(t, source_type="external"), who, text),
        st.builds(lambda f: lambda person, _: person.remember_many([{"content": "many", **f}] * 2), fields),
        st.builds(lambda w, p, f: lambda *both: both[w].update(_memory(both[w], p), **f), who, place, fields),
        st.builds(lambda w, p: lambda *both: both[w].forget(_memory(both[w], p)), who, place),
        st.builds(lambda p: lambda person, _: person.restore(_memory(person, p)), place),
        st.builds(lambda p: lambda person, _: person.verify(_memory(person, p)), place),
        st.builds(
            lambda p: lambda person, _: person.review.approve(person.review.list()[0][p].proposal.id), st.just(0)
        ),
        st.builds(lambda p: lambda person, _: person.review.reject(person.review.list()[0][p].proposal.id), st.just(0)),
        st.builds(lambda w, t: lambda *both: both[w].crystals.write(t), who, text),
        st.builds(lambda w, t: lambda *both: both[w].skips.add(t, "because", "7d"), who, text),
        st.builds(lambda w: lambda *both: both[w].skips.remove(both[w].skips.list()[0].id), who),
        st.builds(lambda w, t: lambda *both: both[w].items.update(both[w].items.create(t).id, priority=2), who, text),
    )


@given(st.lists(_acts(), max_size=12))
@settings(max_examples=examples(50))
def test_undoing_everything_in_reverse_goes_back_through_every_state_and_redoing_comes_forward_again(
    acts: list[Act],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        data_dir = without_engine(Path(folder) / "data")
        with memento_tui.open(data_dir) as person, memento_tui.open(data_dir, actor="agent", agent="a") as agent:
            states = {0: contents(person._store)}
            for act in acts:
                before = person._store.journal.head()
                with contextlib.suppress(MementoError, IndexError):
                    act(person, agent)
                for seq in range(before + 1, person._store.journal.head() + 1):
                    states[seq] = contents(person._store) if seq == person._store.journal.head() else {}
            last = max(states)
            for seq in range(last, 0, -1):
                person.undo(seq)
                if states[seq - 1]:
                    assert contents(person._store) == states[seq - 1]
            assert contents(person._store) == {}
            for seq in range(1, last + 1):
                person.redo()
                if states[seq]:
                    assert contents(person._store) == states[seq]
            check_store(person._store)
