"""An agent's search leaves out the memories of other projects, unless it asks for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.mcp.workspaces import open_mcp_workspaces
from memento_tui.projects import Project, claude_namespace
from tests.journeys.mcp_agent import Agent, text_of
from tests.made import note, put
from tests.unit.profile_agent import seated, served


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workspace: Workspace) -> Path:
    """Run in the repository of the project ``site``, with memories of it, of another project and of none."""
    root = tmp_path / "site"
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.chdir(root)
    put(
        workspace._store,
        note("The deploy script is deploy.sh", id="own", namespace="projects/site"),
        note("The deploy script of its api is api.sh", id="part", namespace="projects/site/api", kind="decision"),
        note("The deploy script is make deploy", id="other", namespace="projects/shop"),
        note("Every deploy script is run on Mondays", id="all", namespace="global"),
        note("Deploy script texts are short", id="mine", namespace="style"),
    )
    return root


def found(agent: Agent, query: str, **arguments: str) -> set[str]:
    answer = agent.send("search", {"query": query, **arguments})
    assert answer.structured_content is not None, text_of(answer)
    return {one["id"] for one in answer.structured_content["results"]}


ALL = {"own", "part", "other", "all", "mine"}


@pytest.mark.usefixtures("project")
def test_a_search_leaves_out_other_projects_unless_the_agent_asks_for_them(data_dir: Path) -> None:
    with seated(data_dir, "native") as agent:
        assert found(agent, "deploy script") == ALL - {"other"}
        assert found(agent, "deploy script", namespace="*") == ALL
        assert found(agent, "deploy script", namespace="projects/shop") == {"other", "all", "mine"}
        assert found(agent, "deploy script", namespace="projects/site/api") == ALL - {"other"}
        assert found(agent, "deploy script", namespace="style") == {"all", "mine"}


@pytest.mark.usefixtures("project")
def test_a_query_that_says_where_to_look_is_not_narrowed(data_dir: Path) -> None:
    with seated(data_dir, "native") as agent:
        assert found(agent, "ns:projects/shop deploy script") == {"other"}
        assert found(agent, "id:other deploy") == {"other"}
        assert found(agent, "-ns:style deploy script") == ALL - {"other", "mine"}


@pytest.mark.usefixtures("project")
def test_what_is_told_for_a_message_is_of_no_other_project_either(data_dir: Path) -> None:
    with seated(data_dir, "native") as agent:
        answer = agent.send("context", {"message": "Which deploy script is there?"})
    assert answer.structured_content is not None
    assert {one["id"] for one in answer.structured_content["memories"]} == ALL - {"other"}


@pytest.mark.usefixtures("project")
def test_a_message_is_answered_though_a_word_of_it_looks_like_a_field(data_dir: Path) -> None:
    with seated(data_dir, "native") as agent:
        answer = agent.send("context", {"message": "We set type:module and ids:x; which deploy script is there?"})
    assert not answer.is_error, text_of(answer)


@pytest.mark.usefixtures("project")
def test_an_empty_answer_says_how_to_look_everywhere(data_dir: Path, workspace: Workspace) -> None:
    put(workspace._store, note("Zebras need hay", id="zebra", namespace="projects/zoo"))
    with seated(data_dir, "native") as agent:
        nothing = agent.send("search", {"query": "zebras hay"})
        assert 'namespace "*"' in text_of(nothing)
        assert nothing.structured_content is not None
        assert nothing.structured_content["project"] == "projects/site"
        assert found(agent, "zebras hay", namespace="*") == {"zebra"}


@pytest.mark.usefixtures("project")
def test_what_a_session_has_just_written_is_found_by_it_wherever_it_was_filed(data_dir: Path) -> None:
    with seated(data_dir, "native") as agent:
        stored = agent.send("remember", {"content": "Otters swim at night", "namespace": "projects/river"})
        assert stored.structured_content is not None
        assert found(agent, "otters swim") == {stored.structured_content["id"]}
    with seated(data_dir, "native", session="later") as agent:
        assert found(agent, "otters swim") == set()


def opened(agent: Agent, **arguments: str) -> str:
    answer = agent.send("session_open", arguments)
    assert answer.structured_content is not None, text_of(answer)
    return str(answer.structured_content["session"])


@pytest.fixture
def shop(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another repository, while the server runs in no project at all."""
    root = tmp_path / "work" / "shop"
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (root / "src").mkdir()
    monkeypatch.setenv("HOME", str(project.parent))
    monkeypatch.chdir(project.parent)
    return root


def test_a_session_keeps_to_the_project_it_was_opened_in(data_dir: Path, shop: Path) -> None:
    with seated(data_dir, "native") as agent:
        assert found(agent, "deploy script") == ALL
        opened(agent, cwd=str(shop / "src"))
        assert found(agent, "deploy script") == {"other", "all", "mine"}
        assert found(agent, "deploy script", namespace="*") == ALL
        answer = agent.send("context", {"message": "Which deploy script is there?"})
        assert answer.structured_content is not None
        assert {one["id"] for one in answer.structured_content["memories"]} == {"other", "all", "mine"}
        # Opened again by a host that does not say where, it stays there.
        assert agent.send("session_open", {}).structured_content["namespace"] == "projects/shop"
        assert found(agent, "deploy script") == {"other", "all", "mine"}
    with seated(data_dir, "native", session="later") as agent:
        assert found(agent, "deploy script") == ALL


@pytest.mark.usefixtures("shop")
def test_a_session_keeps_to_the_project_whose_namespace_it_was_opened_with(data_dir: Path) -> None:
    with seated(data_dir, "native") as agent:
        opened(agent, namespace="projects/site")
        assert found(agent, "deploy script") == ALL - {"other"}
        opened(agent, namespace="style")
        assert found(agent, "deploy script") == ALL


def test_what_claude_code_keeps_of_the_project_is_of_it(data_dir: Path, shop: Path, workspace: Workspace) -> None:
    folder = claude_namespace(Project(shop, shop / ".git", "shop"))
    put(workspace._store, note("The deploy script has a dry run", id="claude", namespace=folder))
    with seated(data_dir, "native") as agent:
        opened(agent, cwd=str(shop))
        assert "claude" in found(agent, "deploy script")


@pytest.mark.usefixtures("project")
def test_over_http_the_handle_of_a_session_leads_to_its_project(data_dir: Path, shop: Path) -> None:
    with (
        open_mcp_workspaces(data_dir, "", channel="http") as mcp_workspaces,
        served(mcp_workspaces) as agent,
    ):
        handle = opened(agent, cwd=str(shop))
        assert found(agent, "deploy script") == ALL
        assert found(agent, "deploy script", session=handle) == {"other", "all", "mine"}


def test_outside_of_any_project_everything_is_searched(
    data_dir: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(project.parent))
    monkeypatch.chdir(project.parent)
    with seated(data_dir, "native") as agent:
        assert found(agent, "deploy script") == ALL


@pytest.mark.usefixtures("project")
def test_a_name_that_is_no_namespace_is_refused_in_a_sentence(data_dir: Path) -> None:
    with seated(data_dir, "native") as agent:
        for name in ("//", 'a"b'):
            answer = agent.send("search", {"query": "deploy", "namespace": name})
            assert answer.is_error
            assert "namespace" in text_of(answer)


@pytest.mark.usefixtures("project")
def test_the_status_says_how_many_memories_there_are_of_each_kind(data_dir: Path) -> None:
    with seated(data_dir, "native") as agent:
        answer = agent.send("status", {})
    assert answer.structured_content is not None
    assert answer.structured_content["kinds"] == {"fact": 4, "decision": 1}
    assert "Memories: 5 (fact 4, decision 1)" in text_of(answer)
