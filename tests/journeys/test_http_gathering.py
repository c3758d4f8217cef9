"""Memento Protocol's REST for what joins memories: links, consolidation, and learning from a transcript."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace
from tests.journeys.http_server import Client, HttpServer, serving_here
from tests.made import without_engine
from tests.unit.chat_server import ChatServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    with serving_here(without_engine(tmp_path_factory.mktemp("http") / "data")) as process:
        yield process


@pytest.fixture
def client(server: HttpServer, request: pytest.FixtureRequest) -> Client:
    """A client in a workspace that no other test uses."""
    return server.client.within(re.sub(r"\W+", "-", request.node.name)[:90].strip("-"))


@pytest.fixture
def person(server: HttpServer) -> Iterator[Workspace]:
    with memento_tui.open(server.data_dir) as opened:
        yield opened


# Links


def test_linkages_are_drawn_walked_and_listed(client: Client) -> None:
    first = client.store("The first cause is a race.")
    item = client.post("/v1/working-memory/items", category="active_work", title="Fix the race").data["id"]
    links = [
        {"type": "memory", "id": first, "label": "because"},
        {"type": "item", "id": item},
        {"type": "file", "path": "src/race.py"},
    ]
    second = client.store("The lock was moved outwards.", linkages=links)
    third = client.store("The release waits for the lock.")
    row = client.put(f"/v1/memories/{third}", linkages=[{"type": "memory", "id": second}]).data
    assert row["linkages"] == [{"type": "memory", "id": second}]
    assert client.memory(second)["linkages"] == links
    assert "Links (unverified): memory:" in client.get("/v1/memories/recall", query="lock outwards").said
    related = client.get(f"/v1/memories/{second}/related").data
    assert related["outgoing"][0] == {"id": first, "type": "memory", "label": "because"}
    assert related["incoming"] == [{"id": third, "type": "memory", "label": "related"}]
    graph = client.get(f"/v1/memories/{first}/graph").data
    assert [(node["id"], node["depth"]) for node in graph["nodes"]] == [(first, 0), (second, 1), (third, 2)]
    assert {"from": second, "to": first, "label": "because"} in graph["edges"]
    assert {"from": second, "to": "file:src/race.py", "label": "source"} in graph["edges"]
    assert len(client.get(f"/v1/memories/{first}/graph", depth=1).data["nodes"]) == 2
    assert client.get("/v1/memories/none/graph").status == 404
    matches = client.post("/v1/context", message="lock outwards", include_graph=True).data["memories"]["matches"]
    assert matches[0]["linkages"] == links


@pytest.mark.parametrize("threshold", [None, 0.1])
def test_a_log_that_nobody_verified_is_told_where_it_is_asked_for_alone(
    client: Client, person: Workspace, request: pytest.FixtureRequest, threshold: float | None
) -> None:
    log = client.store("Ran the flaky lock test of the importer.")
    fact = client.store("The importer's flaky lock test needs the database to be warm.")
    if threshold is not None:  # one for the server
        client.put("/v1/settings/recall_threshold", value=threshold)
        request.addfinalizer(lambda: client.delete("/v1/settings/recall_threshold"))

    def told() -> set[str]:
        matches = client.post("/v1/context", message="the flaky lock test of the importer").data["memories"]["matches"]
        return {match["id"] for match in matches}

    assert told() == {fact}
    recalled = client.get("/v1/memories/recall", query="flaky lock test importer", format="json").data["memories"]
    assert {row["id"] for row in recalled} == {log, fact}
    person.verify(log)
    assert told() == {log, fact}


def test_of_the_versions_of_one_note_one_is_told_whether_asked_or_not(client: Client, person: Workspace) -> None:
    text = (
        "Startup fails on every session (Windows): set MCP_INIT_TIMEOUT=120 in the environment, issue #474. "
        "Database lock errors: add journal_mode=WAL to the pragmas and restart the servers."
    )
    ends = ("", " Ask Ana.", " Ask Ana. Downgraded lockfile: restore it from Git.")
    newest = [person.remember(text + end, title="Common issues", namespace=client.workspace).id for end in ends][-1]
    assert [row["id"] for row in client.recall("startup fails issue #474")] == [newest]
    matches = client.post("/v1/context", message="startup fails, issue #474").data["memories"]["matches"]
    assert [match["id"] for match in matches] == [newest]


def test_a_recall_may_ask_what_held_at_a_time(client: Client, person: Workspace) -> None:
    over = client.store("The staging proxy listens on port 7001.", tags=["ports"])
    client.store("The staging proxy listens on port 7002.", tags=["ports"])
    person.update(over, valid_to=clock.now() - timedelta(days=30))
    assert "7001" not in client.get("/v1/memories/recall", query="staging proxy port").said
    then = client.get("/v1/memories/recall", query="staging proxy port at:60d").said
    assert "7001" in then
    assert "7001" not in str(client.post("/v1/context", message="staging proxy port at:60d").data)


# Consolidating and distilling


def test_a_consolidation_is_proposed_and_its_sources_stay(client: Client, person: Workspace) -> None:
    ids = [client.store(f"The deploy of part {n} needs the VPN and a token.", tags=["deploy"]) for n in range(3)]
    answer = client.post(
        "/v1/consolidate/group", source_ids=ids, content="Deploys need the VPN and a token.", tags=["x"]
    )
    assert (answer.status, answer.data["status"]) == (202, "proposed")
    assert {row["id"] for row in client.recall("deploy token")} == set(ids)
    (waiting,) = person._store.proposals.about(answer.data["id"])
    person.review.approve(waiting.id)
    assert client.memory(ids[0])["consolidated_into"] == answer.data["id"]
    assert [row["id"] for row in client.recall("deploy VPN token")] == [answer.data["id"]]
    told = client.post("/v1/context", message="What do deploys need, the VPN and a token?").data["memories"]["matches"]
    assert [row["id"] for row in told] == [answer.data["id"]]
    assert client.memory(answer.data["id"])["linkages"][0]["label"] == "consolidated-from"
    for wrong in (ids[:1], [*ids, "none"], []):
        assert client.post("/v1/consolidate/group", ids=wrong).status in (400, 404)


def test_memories_that_share_only_a_tag_of_provenance_are_never_joined(client: Client) -> None:
    for text in ("The oven needs ten minutes.", "Tax returns are due in July.", "A rook behind a pawn is strong."):
        client.store(text, tags=["source:distill:2026-01-02"])
    assert "No consolidation candidates" in client.post("/v1/consolidate").said
    for text in ("The deploy needs the VPN.", "Deploys run on Mondays.", "A failed deploy is rolled back."):
        client.store(text, tags=["deploys"])
    answer = client.post("/v1/consolidate")
    assert (answer.status, len(answer.data["ids"])) == (202, 1)
    assert "No consolidation candidates" in client.post("/v1/consolidate").said


def test_a_transcript_teaches_what_a_person_then_decides_about(client: Client, person: Workspace) -> None:
    transcript = (
        "User: Please always run the tests with make check before you commit, never with pytest alone.\n\n"
        "Assistant: Understood, I will do that from now on.\n\n"
        "User: We decided to use PostgreSQL 16 for the billing service because of its partitioning.\n"
    )
    answer = client.post("/v1/distill", transcript=transcript)
    assert (answer.status, answer.data["status"]) == (202, "proposed")
    learned = {row["content"] for row in answer.data["memories"]}
    assert any("make check" in text for text in learned)
    kept = [person.get(row["id"]) for row in answer.data["memories"] if row["type"] not in ("item", "skip")]
    assert {(memory.status, memory.namespace) for memory in kept} == {("pending", client.workspace)}
    assert client.post("/v1/distill", transcript=transcript).said == "No novel memories found in transcript."
    assert "too short" in client.post("/v1/distill", transcript="hi").said
    assert client.post("/v1/distill").status == 400


def test_extraction_has_modes_and_a_most(client: Client) -> None:
    transcript = (
        "User: Always run the database migrations before you start the server.\n\n"
        "User: Never push to the main branch without a review.\n\n"
        "User: I prefer short commit messages in the imperative mood.\n"
    )
    seeds = client.post("/v1/extract", transcript=transcript, mode="seeds")
    assert (seeds.status, seeds.data["mode"], seeds.data["source"]) == (202, "seeds", "transcript")
    (seed,) = seeds.data["stored"]
    assert (seed["type"], "commit messages" in seed["content"]) == ("preference", True)
    answer = client.post("/v1/extract", transcript=transcript, max_memories=1)
    assert (answer.status, answer.data["count"], len(answer.data["stored"])) == (202, 1, 1)
    for wrong in ({"transcript": "short"}, {"transcript": transcript, "mode": "all"}, {"transcript": 3}, {}):
        assert client.post("/v1/extract", **wrong).status == 400
    long = client.post("/v1/extract", transcript="word " * 60_000)
    assert (long.status, long.data["count"]) == (200, 0)


def test_only_the_persons_own_agents_use_the_persons_language_model(tmp_path: Path) -> None:
    folder = without_engine(tmp_path / "data")
    transcript = (
        "User: Always run the database migrations before you start the server.\n\n"
        "Assistant: The migrations failed because the port was taken; I changed it to 5433 and they passed.\n\n"
        "User: Never push to the main branch without a review.\n"
    ) * 3
    with ChatServer() as model:
        with (folder / "config.toml").open("a") as config:
            config.write(f'[language_model]\nurl = "{model.url}"\nmodel = "test-model"\ntimeout_seconds = 10\n')
        with serving_here(folder) as server:
            key = server.client.post("/v1/auth/signup", name="eve").data["api_key"]
            for client, uses_it in ((Client(server.port, key), False), (server.client, True)):
                model.questions.clear()
                ids = [client.store(f"Deploy step {n} needs the VPN and a token.", tags=["vpn"]) for n in range(3)]
                assert client.post("/v1/consolidate").status == 202
                assert client.post("/v1/consolidate/group", source_ids=ids[:2]).status == 202
                assert client.post("/v1/distill", transcript=transcript).status in (200, 202)
                assert client.post("/v1/extract", transcript=transcript).status in (200, 202)
                assert bool(model.questions) is uses_it
