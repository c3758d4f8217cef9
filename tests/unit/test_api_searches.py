from __future__ import annotations

import threading

import pytest

from memento_tui.api import Workspace
from memento_tui.errors import InvalidField, InvalidInput, NotAllowed, NotFound


def test_searches_are_kept_under_their_names(workspace: Workspace, data_dir_again: Workspace) -> None:
    workspace.saved_searches.save("  zeta   one ", "tag:api")
    workspace.saved_searches.save("Alpha", '"two words" -draft')
    assert [(s.name, s.query) for s in data_dir_again.saved_searches.list()] == [
        ("Alpha", '"two words" -draft'),
        ("zeta one", "tag:api"),
    ]
    assert data_dir_again.saved_searches.get("ALPHA").query == '"two words" -draft'
    assert data_dir_again.saved_searches.get(" zeta   one").query == "tag:api", "as it was typed when it was kept"


@pytest.fixture
def data_dir_again(workspace: Workspace) -> Workspace:
    """The same directory, opened as another program would."""
    return Workspace(workspace.paths.root)


def test_a_name_is_taken_in_whatever_case(workspace: Workspace) -> None:
    workspace.saved_searches.save("Api", "tag:api")
    with pytest.raises(NotAllowed, match="already"):
        workspace.saved_searches.save("API", "tag:web")
    assert workspace.saved_searches.save("API", "tag:web", replace=True).query == "tag:web"
    assert [s.name for s in workspace.saved_searches.list()] == ["API"]


def test_a_search_is_renamed_and_removed(workspace: Workspace) -> None:
    workspace.saved_searches.save("one", "tag:api")
    workspace.saved_searches.save("two", "tag:web")
    with pytest.raises(NotAllowed):
        workspace.saved_searches.rename("one", "TWO")
    assert workspace.saved_searches.rename("one", "One").name == "One"
    assert workspace.saved_searches.remove("ONE").query == "tag:api"
    assert [s.name for s in workspace.saved_searches.list()] == ["two"]
    for act in (workspace.saved_searches.get, workspace.saved_searches.remove):
        with pytest.raises(NotFound):
            act("one")


@pytest.mark.parametrize("name", ["", "   ", "x" * 41, "a\x1b[31mb", "a\u202eb", "zero\u200bwidth"])
def test_a_name_is_one_to_forty_visible_characters(workspace: Workspace, name: str) -> None:
    with pytest.raises(InvalidField):
        workspace.saved_searches.save(name, "tag:api")


@pytest.mark.parametrize("query", ["", " ", "certainty:9", "kind:nonsense", '"open', "x" * 1001])
def test_a_query_that_cannot_be_used_is_not_saved(workspace: Workspace, query: str) -> None:
    with pytest.raises(InvalidInput):
        workspace.saved_searches.save("name", query)
    assert not workspace.saved_searches.list()


def test_there_are_a_hundred_at_most(workspace: Workspace) -> None:
    for number in range(100):
        workspace.saved_searches.save(f"search {number}", "tag:api")
    with pytest.raises(InvalidInput, match="100"):
        workspace.saved_searches.save("one more", "tag:api")
    workspace.saved_searches.save("search 7", "tag:web", replace=True)


def test_an_agent_keeps_no_searches(agent: Workspace) -> None:
    with pytest.raises(NotAllowed):
        agent.saved_searches.save("name", "tag:api")


def test_two_programs_that_save_at_once_lose_nothing(workspace: Workspace) -> None:
    def save(number: int) -> None:
        workspace.saved_searches.save(f"search {number}", "tag:api")

    threads = [threading.Thread(target=save, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(workspace.saved_searches.list()) == 12
