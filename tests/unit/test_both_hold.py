"""Two memories that a person let stand, each where they said, are told with their conditions, or the one that holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.hooks.events import HookContext, prepare_context
from memento_tui.hooks.host_events import parse_call
from memento_tui.hooks.settings import HookSettings
from memento_tui.model import make_contradiction
from memento_tui.storage.hook_store import HookStore
from memento_tui.text.conditions import names_place, of_other_places
from tests.journeys.mcp_agent import text_of
from tests.made import NOW, PERSON, note, put, unguarded
from tests.unit.profile_agent import recalls, seated

QUESTION = "On which port does the proxy of invoices listen?"


@pytest.fixture
def both(workspace: Workspace) -> Workspace:
    """A workspace in which one port holds in the project ``web-shop``, and another on staging."""
    text = "The proxy of invoices listens on port {}."
    put(workspace._store, note(text.format(8080), id="shop"), note(text.format(9090), id="stage"))
    with unguarded(workspace._store, PERSON, "find") as tx:
        made = make_contradiction({"older": "shop", "newer": "stage", "why": "another port", "score": 0.9})
        found = tx.put(made, base=0)
    workspace.contradictions.resolve(
        found.id, "both_valid", older_context="in the web shop", newer_context="on staging"
    )
    return workspace


@pytest.mark.parametrize(("profile", "tool", "arguments"), recalls(QUESTION))
def test_each_is_told_with_its_condition(
    both: Workspace, profile: str, tool: str, arguments: dict[str, object]
) -> None:
    with seated(both.paths.root, profile) as agent:
        said = text_of(agent.send(tool, arguments))
    for part in ("8080", "9090", "pplies: in the web shop", "pplies: on staging"):
        assert part in said
    assert "person has not resolved" not in said


def test_where_one_condition_names_the_place_the_other_is_not_told(both: Workspace) -> None:
    with seated(both.paths.root, "native") as agent:
        for tool, arguments in (("context", {"message": QUESTION}), ("search", {"query": QUESTION})):
            said = agent.read(tool, namespace="projects/web-shop", **arguments)
            assert "8080" in said
            assert "9090" not in said
            other = agent.read(tool, namespace="projects/blog", **arguments)
            assert "8080" in other
            assert "9090" in other


def prompted(workspace: Workspace, folder: Path) -> str:
    folder.mkdir()
    (folder / ".git").mkdir()
    workspace.search("proxy", mode="keyword")
    given = {"session_id": folder.name, "prompt": QUESTION, "cwd": str(folder)}
    call = parse_call("claude-code", "UserPromptSubmit", json.dumps(given).encode())
    assert call is not None
    store = HookStore(workspace.paths.database)
    try:
        return prepare_context(HookContext(call, workspace.paths, store, HookSettings(), NOW)).text
    finally:
        store.close()


def test_a_prompt_in_that_project_is_told_the_one_and_elsewhere_both(both: Workspace, tmp_path: Path) -> None:
    here = prompted(both, tmp_path / "web-shop")
    assert "8080" in here
    assert "9090" not in here
    elsewhere = prompted(both, tmp_path / "blog")
    assert "applies: in the web shop" in elsewhere
    assert "applies: on staging" in elsewhere


def test_a_place_is_named_by_all_words_of_its_last_name() -> None:
    assert names_place("In the Web-Shop, since May", "projects/acme/web-shop")
    assert not names_place("in the shop", "projects/web-shop")
    assert not names_place("global", "global")
    assert of_other_places([("a", "b")], {"a": "in blog", "b": "in blog and shop"}, "projects/blog") == set()
    assert of_other_places([("a", "b")], {"a": "in blog"}, "projects/blog") == set()
