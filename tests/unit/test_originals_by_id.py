"""An agent that asks for a memory by its id gets the text in full, though maintenance has shortened it."""

from __future__ import annotations

import msgspec
import pytest

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.maintenance.aging import ORIGINAL_TEXT_KEY, whole_text
from memento_tui.model import Memory
from memento_tui.operations.memories import visible_memory
from memento_tui.text.sentences import first_sentence
from tests.made import PERSON, note, put, unguarded
from tests.unit.profile_agent import seated

ORIGINAL = "Deploys run from main. Run make ship, then watch the queue for ten minutes before you leave."


def compacted(status: str = "compacted", **fields: object) -> Memory:
    values = {"status": status, "extra": {ORIGINAL_TEXT_KEY: ORIGINAL}, **fields}
    return note(first_sentence(ORIGINAL), **values)


@pytest.mark.parametrize(
    ("profile", "tool", "arguments"),
    [
        ("native", "get", {"ids": ["m1"]}),
        ("bank", "get_memory", {"id": "m1"}),
        ("vault", "memento_get", {"path": "m1"}),
        ("core", "memory_recall", {"ids": ["m1"]}),
    ],
)
@pytest.mark.parametrize("status", ["compacted", "archived"])
def test_every_profile_gives_the_original_by_id(
    workspace: Workspace, profile: str, tool: str, arguments: dict[str, object], status: str
) -> None:
    put(workspace._store, compacted(status, id="m1"))
    with seated(workspace.paths.root, profile) as agent:
        answer = agent.send(tool, arguments)
    assert not answer.is_error
    assert "watch the queue for ten minutes" in "\n".join(b.text for b in answer.content if b.type == "text")


def test_a_row_of_the_rest_holds_the_original() -> None:
    assert visible_memory(compacted(), clock.now()).content == ORIGINAL


@pytest.mark.parametrize("status", ["compacted", "archived"])
def test_one_restore_brings_back_the_whole_of_what_age_took_away(workspace: Workspace, status: str) -> None:
    stored, *_ = put(workspace._store, compacted(id="m1"))
    if status == "archived":
        with unguarded(workspace._store, PERSON, "maintain") as tx:
            tx.put(msgspec.structs.replace(stored, status="archived"), base=stored.version)
    restored = workspace.restore("m1")
    assert (restored.status, restored.content) == ("active", ORIGINAL)


def test_a_preview_that_somebody_edited_is_the_text() -> None:
    edited = msgspec.structs.replace(compacted(), content="Deploys run from trunk.")
    assert whole_text(edited) == "Deploys run from trunk."


def test_a_memory_in_use_is_its_own_text_whatever_an_importer_kept_of_it() -> None:
    assert whole_text(compacted("active")) == "Deploys run from main."
