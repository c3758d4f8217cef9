"""Tool calls that are out to break a profile, to read what is withheld, or to be told what an account wrote."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.maintenance.contradictions.finder import ContradictionFinder
from memento_tui.model.filters import Not, Under
from memento_tui.model.validation import account_of
from memento_tui.operations.recall import without_reserved
from memento_tui.policy.gate import Gate
from memento_tui.storage.journal import Author
from tests.journeys.mcp_agent import text_of
from tests.made import without_engine
from tests.unit.profile_agent import seated


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return without_engine(tmp_path / "data")


@pytest.fixture
def person(data_dir: Path) -> Iterator[Workspace]:
    with memento_tui.open(data_dir) as workspace:
        yield workspace


@pytest.mark.parametrize("ttl", ["²", "--5", "9" * 5000, "-", "0", "-3", "٣", "1e3", "NaN"])
def test_a_ttl_that_is_none_is_told_as_that(data_dir: Path, ttl: str) -> None:
    with seated(data_dir, "core") as agent:
        told = agent.refused("memory_store", content="Otters sleep in the harbour.", ttl=ttl)
    assert told.startswith("ttl: must be")


@pytest.mark.parametrize("path", ["\0", "/srv/\0.jsonl", "~nobody-of-this-name/x.jsonl"])
def test_a_transcript_path_that_is_none_is_told_as_that(data_dir: Path, path: str) -> None:
    with seated(data_dir, "vault") as agent:
        told = agent.refused("memento_capture", transcript_path=path)
    assert "transcript_path" in told


def test_what_became_of_a_proposal_tells_nothing_of_a_memory_that_is_restricted_since(
    data_dir: Path, person: Workspace
) -> None:
    made = person.remember("The salary of Ann is 100.", stability="verified")
    with seated(data_dir, "native") as agent:
        assert agent.call("forget", id=made.id, base_version=made.version)["outcome"] == "proposed"
        person.update(made.id, sensitivity="restricted")
        waiting = agent.send("proposals", {"which": "waiting"})
        assert (made.id in text_of(waiting), "salary" in text_of(waiting)) == (True, False)
        assert "salary" not in str(waiting.structured_content)
        (proposal,) = person._store.proposals.about(made.id)
        person.review.reject(proposal.id, "No.")
        assert "salary" not in text_of(agent.send("session_open", {}))


ASKED: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "native": [
        ("search", {"query": "otters"}),
        ("search", {"query": "tag:animals"}),
        ("search", {"query": ""}),
        ("search", {"query": "-ns:accounts/bob"}),
        ("search", {"query": '"ns:accounts/bob"'}),
        ("context", {"message": "feed the otters"}),
        ("skip_check", {"query": "feed the otters"}),
        ("skip_list", {}),
        ("item_list", {}),
        ("session_open", {}),
    ],
    "protocol": [
        ("memento_recall", {"query": "otters"}),
        ("memento_recall", {}),
        ("memento_skip_check", {"query": "feed the otters"}),
        ("memento_read", {}),
    ],
    "vault": [
        ("memento_search", {"query": "otters"}),
        ("memento_search", {"query": " "}),
        ("memento_list", {}),
        ("memento_recall", {"prompt": "How are the otters fed from the admin shell?", "cwd": "/"}),
        ("memento_briefing", {"cwd": "/srv/site"}),
    ],
    "core": [
        ("memory_search", {"query": "otters"}),
        ("memory_search", {"query": ""}),
        ("memory_list_namespaces", {}),
    ],
    "bank": [
        ("recall", {"bank_id": "global", "query": "otters"}),
        ("recall", {"bank_id": "global", "query": ""}),
    ],
}


@pytest.mark.parametrize("profile", ASKED)
def test_no_profile_tells_an_agent_what_an_account_wrote(data_dir: Path, person: Workspace, profile: str) -> None:
    place = "accounts/eve/otters"
    person.remember("Feed the otters from the admin shell.", namespace=place, tags=["animals"])
    person.skips.add("feed the otters", "Eve says so.", "7d", namespace=place)
    person.items.create("Feed the otters", namespace=place)
    with seated(data_dir, profile) as agent:
        for tool, arguments in ASKED[profile]:
            answered = agent.send(tool, arguments)
            asked = arguments.get("query", "")
            # Some tools refuse to search for nothing, which shows nothing as well.
            assert not answered.is_error or not asked.strip(), text_of(answered)
            told = text_of(answered).replace(f'"{asked}"', "")
            assert "eve" not in told.lower(), (tool, told)
            assert "tters" not in told, (tool, told)


@pytest.mark.parametrize(
    "query",
    ["otters ns:accounts/eve", 'ns:"accounts/eve" otters', 'ns:"global","accounts/eve" otters', "NS:accounts x"],
)
def test_a_query_that_names_an_account_leaves_only_branches_out(query: str) -> None:
    assert without_reserved(query) == f"-ns:branches {query}"


def test_a_query_that_names_a_branch_leaves_only_accounts_out() -> None:
    assert without_reserved("ns:branches/site/fix x") == "-ns:accounts ns:branches/site/fix x"
    assert without_reserved("x", Under("branches/site/fix")) == "-ns:accounts x"
    assert without_reserved("x", Not(Under("branches"))) == "-ns:accounts -ns:branches x"


@pytest.mark.parametrize(
    "query",
    [
        "",
        " ",
        "otters",
        "accounts",
        "tag:accounts",
        'ns:"global" accounts',
        "ns:my-accounts x",
        "-ns:accounts/eve otters",
        '"ns:accounts/eve" otters',
    ],
)
def test_any_other_query_leaves_accounts_and_branches_out(query: str) -> None:
    assert without_reserved(query) == f"-ns:accounts -ns:branches {query}"


@pytest.mark.parametrize(
    ("namespace", "account"),
    [("global", ""), ("accounts", ""), ("accounts/eve", "eve"), ("accounts/eve/a/b", "eve"), ("accountsx/eve", "")],
)
def test_whose_a_namespace_is(namespace: str, account: str) -> None:
    assert account_of(namespace) == account


@pytest.mark.parametrize(("place", "raised"), [("global", 1), ("projects/site", 1), ("accounts/eve/default", 0)])
def test_no_account_casts_doubt_on_what_the_person_keeps(person: Workspace, place: str, raised: int) -> None:
    kept = person.remember("The staging database runs on port 5432.")
    other = person.remember("The staging database runs on port 6543.", namespace=place)
    gate = Gate(person._store, Author("system", "maintenance"), person.gate.rules)
    found = ContradictionFinder(person._store, gate).find({other.id: [(kept.id, 0.95)]})
    assert len(found) == raised


def test_a_skip_of_another_project_is_not_counted_as_hit(data_dir: Path, person: Workspace) -> None:
    other = person.skips.add("legacy importer", "Frozen.", "7d", namespace="projects/other")
    own = person.skips.add("legacy importer", "Frozen.", "7d", namespace="projects/site")
    with seated(data_dir, "native") as agent:
        told = agent.call("context", message="mend the legacy importer", namespace="projects/site")
    assert [skip["id"] for skip in told["skips"]] == [own.id]
    assert [person.skips.get(skip.id).hits for skip in (own, other)] == [1, 0]


def test_an_agent_cannot_bury_what_a_person_made_essential(data_dir: Path, person: Workspace) -> None:
    with seated(data_dir, "native") as agent:
        kept = agent.call("remember", content="Ask Ann before every deploy of the shop.")["id"]
        person.update(kept, pinned=True)
        made = agent.call("remember", content="Deploy the shop at will.")["id"]
        told = agent.refused("relate", src=made, dst=kept, type="supersedes")
    assert "essential" in told
    assert not any(hit.life.superseded for hit in person.search("deploy shop").results)


@pytest.mark.parametrize("profile", ["native", "core"])
def test_a_tool_stores_nothing_in_a_database_that_was_deleted(data_dir: Path, profile: str) -> None:
    tool = {"native": "remember", "core": "memory_store"}[profile]
    with seated(data_dir, profile) as agent:
        agent.call(tool, content="Before.")
        shutil.rmtree(data_dir)
        told = agent.refused(tool, content="After.")
    assert "deleted or replaced" in told
    assert not data_dir.exists()
