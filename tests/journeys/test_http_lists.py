"""Memento Protocol's REST beside memories: skips, working memory, identity, context, settings and workspaces."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

import memento_tui
from memento_tui.api import Workspace
from tests.clocks import day_to_come
from tests.journeys.http_server import Client, HttpServer, serving_here
from tests.made import without_engine

END = day_to_come()


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


# Skips


def test_a_skip_is_added_checked_listed_and_removed(client: Client) -> None:
    added = client.post("/v1/skip-list", item="vendor folder", reason="not ours", expires=END)
    assert (added.status, added.said) == (
        201,
        f'Added to skip list: "vendor folder" (expires {END}T00:00:00Z)',
    )
    (entry,) = client.get("/v1/skip-list").data["entries"]
    assert entry == {
        "id": added.data["id"],
        "item": "vendor folder",
        "reason": "not ours",
        "expires_at": f"{END}T00:00:00Z",
        "labels": ["unverified"],
    }
    hit = client.get("/v1/skip-list/check", query="read the vendor folder").said
    assert hit == f'SKIP: "vendor folder" [unverified]\nReason: not ours\nExpires: {END}T00:00:00Z'
    miss = client.get("/v1/skip-list/check", query="write a test").said
    assert miss == 'Not on skip list. Proceed with "write a test".'
    assert client.delete(f"/v1/skip-list/{entry['id']}").said == f"Skip entry {entry['id']} removed."
    assert client.delete(f"/v1/skip-list/{entry['id']}").status == 404
    assert client.get("/v1/skip-list").data["total"] == 0


@pytest.mark.parametrize("expires", ["never", "", "0", "2020-01-01", "soon"])
def test_a_skip_without_a_real_end_in_the_future_is_refused(client: Client, expires: str) -> None:
    answer = client.post("/v1/skip-list", item="vendor", reason="not ours", expires=expires)
    assert (answer.status, answer.error.startswith("expires")) == (400, True)
    assert client.get("/v1/skip-list").data["total"] == 0


def test_a_check_counts_a_hit_in_its_own_workspace_only(client: Client, server: HttpServer, person: Workspace) -> None:
    client.post("/v1/skip-list", item="shared thing", reason="busy", expires="7d")
    assert "Not on" in server.client.within("far-away").get("/v1/skip-list/check", query="shared thing").said
    client.get("/v1/skip-list/check", query="shared thing")
    assert [skip.hits for skip in person.skips.list() if skip.namespace == client.workspace] == [1]
    assert client.get("/v1/skip-list/check").status == 400


def test_what_a_person_skips_for_all_holds_in_every_workspace(client: Client, person: Workspace) -> None:
    person.skips.add("legacy importer", "frozen until May", "30d")
    assert "frozen until May" in client.get("/v1/skip-list/check", query="refactor the legacy importer").said


# Working memory


def test_a_working_item_goes_through_its_life(client: Client) -> None:
    fields = {"title": "Ship it", "content": "The release", "priority": 3, "tags": ["r"], "next_action": "tag it"}
    made = client.post("/v1/working-memory/items", category="active_work", **fields)
    assert made.status == 201
    item = made.data
    assert item["status"] == "active"
    assert {name: item[name] for name in fields} == fields
    path = f"/v1/working-memory/items/{item['id']}"
    assert client.get(path).data == item
    changed = client.put(path, status="paused", next_action=None, category="waiting_for").data
    assert (changed["status"], changed["next_action"], changed["category"]) == ("paused", None, "waiting_for")
    client.post("/v1/working-memory/items", category="standing_decision", title="Never on Fridays")
    listed = client.get("/v1/working-memory/items").data
    assert ([one["title"] for one in listed["items"]], listed["total"]) == (["Ship it", "Never on Fridays"], 2)
    assert (
        client.get("/v1/working-memory/items", category="waiting_for", status="paused", q="RELEASE").data["total"] == 1
    )
    assert client.get("/v1/working-memory/items", q="nothing").data["total"] == 0
    assert client.delete(path).data == {"deleted": True, "id": item["id"]}
    assert [client.get(path).status, client.put(path, title="x").status, client.delete(path).status] == [404] * 3


def test_an_item_of_what_is_to_be_skipped_keeps_its_category(client: Client) -> None:
    item = client.post("/v1/working-memory/items", category="skip_list", title="The old wiki").data
    assert (item["category"], item["title"]) == ("skip_list", "The old wiki")
    assert client.get("/v1/working-memory/items", category="skip_list", status="active").data["total"] == 1
    moved = client.put(f"/v1/working-memory/items/{item['id']}", category="standing_decision").data
    assert (moved["category"], moved["title"]) == ("standing_decision", "The old wiki")


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "category"),
        ({"category": "active_work"}, "title"),
        ({"category": "none", "title": "x"}, "category"),
        ({"category": "active_work", "title": "x", "status": "gone"}, "status"),
        ({"category": "active_work", "title": "x", "priority": "high"}, "priority"),
        ({"category": "active_work", "title": "x\ny"}, "title"),
        ({"category": "active_work", "title": "x", "tags": {}}, "tags"),
    ],
)
def test_a_wrong_item_is_refused_by_the_field(client: Client, body: dict[str, object], named: str) -> None:
    answer = client.ask("POST", "/v1/working-memory/items", body)
    assert (answer.status, answer.error.startswith(named)) == (400, True)
    assert client.get("/v1/working-memory/items").data["total"] == 0


def test_sections_are_written_read_and_stand_in_the_document(client: Client) -> None:
    document = client.get("/v1/working-memory").said
    assert document.startswith("# Working Memory\n\n---\n\n## Active Work\n\n(empty)")
    assert client.get("/v1/working-memory/active_work").said == "## Active Work\n\n(empty)"
    missing = client.get("/v1/working-memory/nonexistent_xyz")
    assert (missing.status, "not found" in missing.said) == (404, True)
    written = client.put("/v1/working-memory/active_work", content="Building the server.")
    assert written.said == 'Updated section "Active Work" in working memory.'
    client.put("/v1/working-memory/active_work", content="Testing the server.")
    assert client.get("/v1/working-memory/Active%20Work").said == "## Active Work [unverified]\n\nTesting the server."
    client.put("/v1/working-memory/Own%20Heading", content="Mine.")
    client.post("/v1/working-memory/items", category="waiting_for", title="The review", next_action="ask")
    document = client.get("/v1/working-memory").said
    for part in (
        "Testing the server.",
        "## Own Heading [unverified]\n\nMine.",
        "## Waiting For\n\n### The review [unverified]\n\n**Next:** ask",
    ):
        assert part in document
    assert client.get("/v1/working-memory/items").data["total"] == 1
    assert client.put("/v1/working-memory/active_work").status == 400


# Identity


def test_the_identity_is_written_kept_and_governed(server: HttpServer, person: Workspace) -> None:
    client = server.client
    assert "No identity crystal" in client.get("/v1/identity").said
    assert client.get("/v1/identity/history").said == "No identity snapshots found."
    assert "No identity crystal was drafted" in client.post("/v1/identity/crystallize").said
    assert client.put("/v1/identity", crystal=" ").status == 400
    assert "stored (13 chars)" in client.put("/v1/identity", crystal="I am careful.").said
    client.store("Always run the migrations before the server starts.", type="instruction")
    assert "auto-generated (1 sources)" in client.post("/v1/identity/crystallize").said
    assert "migrations" in client.get("/v1/identity").said
    assert client.get("/v1/identity/history", limit=1).said.startswith("Identity crystal history (1 snapshots):")
    assert len(client.get("/v1/identity/history").data["snapshots"]) == 2
    person.crystals.write("I am who the person says.")
    waiting = client.put("/v1/identity", crystal="I am somebody else.")
    assert (waiting.status, waiting.data["status"]) == (202, "proposed")
    assert client.get("/v1/identity").said == "I am who the person says."
    assert client.post("/v1/context", message="who are you").data["identity"] == "I am who the person says."


# Context


def test_a_context_has_the_parts_that_are_asked_for(client: Client) -> None:
    memory = client.store("The staging proxy listens on port 8080.", tags=["proxy"])
    client.post("/v1/skip-list", item="staging proxy", reason="frozen", expires=END)
    client.post("/v1/working-memory/items", category="active_work", title="Move the proxy")
    client.post("/v1/working-memory/items", category="active_work", title="Done", status="completed")
    body = client.post("/v1/context", message="Where does the staging proxy listen?").data
    assert set(body) == {"meta", "working_memory", "memories", "skip_matches", "identity"}
    assert (body["meta"]["workspace"], body["meta"]["memory_count"]) == (client.workspace, 1)
    assert [item["title"] for item in body["working_memory"]["items"]] == ["Move the proxy"]
    (match,) = body["memories"]["matches"]
    assert (match["id"], match["type"], match["tags"]) == (memory, "observation", ["proxy"])
    assert (body["memories"]["ranking"], body["memories"]["query_terms"]) == (
        "keyword",
        ["staging", "proxy", "listen?"],
    )
    assert body["skip_matches"] == [
        {"item": "staging proxy", "reason": "frozen", "expires": f"{END}T00:00:00Z", "labels": ["unverified"]}
    ]
    part = client.post("/v1/context", message="staging proxy", include=["skip_list"]).data
    assert set(part) == {"meta", "skip_matches"}
    assert "memories" not in client.post("/v1/context").data
    for wrong in ({"include": ["moon"]}, {"message": 3}, {"track_access": "no"}, {"peek_workspaces": list("abcdef")}):
        assert client.ask("POST", "/v1/context", wrong).status == 400


# Settings


@pytest.mark.parametrize("value", ["x", -0.1, 1.1, "nan", None, [], True])
def test_a_setting_that_is_no_share_is_refused(client: Client, value: object) -> None:
    answer = client.put("/v1/settings/recall_alpha", value=value)
    assert (answer.status, answer.error.startswith("value")) == (400, True)
    assert client.get("/v1/settings").data["settings"] == []


def test_settings_belong_to_a_workspace_and_unknown_ones_are_refused(client: Client, server: HttpServer) -> None:
    assert client.put("/v1/settings/recall_alpha", value=0.25).status == 200
    (row,) = client.get("/v1/settings").data["settings"]
    assert (row["key"], row["value"]) == ("recall_alpha", "0.25")
    assert server.client.within("untouched").get("/v1/settings").data["settings"] == []
    assert client.get("/v1/settings/recall_alpha").data["value"] == "0.25"
    assert client.get("/v1/settings/recall_threshold").data["value"] is None
    assert client.get("/v1/settings/colour").status == 404
    unknown = client.put("/v1/settings/colour", value=1)
    assert (unknown.status, "recall_threshold" in unknown.error) == (404, True)
    assert client.delete("/v1/settings/recall_alpha").status == 200
    assert client.get("/v1/settings").data["settings"] == []


# Workspaces and health


def test_workspaces_are_begun_listed_and_emptied_as_one_change(server: HttpServer, person: Workspace) -> None:
    client = server.client
    assert 'Workspace "default" already exists' in client.post("/v1/workspaces", name="default").said
    assert client.post("/v1/workspaces", name="fresh").status == 201
    assert "already exists" in client.post("/v1/workspaces", name="fresh").said
    within = client.within("fresh")
    assert "already exists" in client.within("unseen").post("/v1/workspaces", name="unseen").said
    memory = within.store("This goes with its workspace.")
    within.post("/v1/working-memory/items", category="active_work", title="So does this")
    names = [row["name"] for row in client.get("/v1/workspaces").data["workspaces"]]
    assert {"default", "fresh"} <= set(names)
    assert client.delete("/v1/workspaces/fresh").said == 'Workspace "fresh" deleted.'
    assert within.get("/v1/memories").data["total"] == 0
    assert "fresh" not in [row["name"] for row in client.get("/v1/workspaces").data["workspaces"]]
    person.undo(person._store.journal.head())
    assert within.memory(memory)["content"] == "This goes with its workspace."
    assert within.get("/v1/working-memory/items").data["total"] == 1
    assert client.delete("/v1/workspaces/never-was").status == 404
    assert client.delete("/v1/workspaces/default").status == 403


def test_what_a_person_verified_outlives_its_workspace(client: Client, person: Workspace) -> None:
    memory = client.store("Verified things stay.")
    person.verify(memory)
    answer = client.delete(f"/v1/workspaces/{client.workspace}")
    assert (answer.status, answer.data["status"]) == (202, "proposed")
    assert client.memory(memory)["status"] == "active"


@pytest.mark.parametrize("name", ["../up", "a//b", "/", 'quo"te', "a,b", "x" * 101, "tab\there"])
def test_a_name_that_no_workspace_can_have_is_refused(server: HttpServer, name: str) -> None:
    answer = server.client.within(name).get("/v1/health")
    assert (answer.status, answer.error.startswith("workspace")) == (400, True)
    assert server.client.post("/v1/workspaces", name=name).status == 400


def test_health_tells_what_a_workspace_holds(client: Client) -> None:
    client.store("One memory.")
    answer = client.get("/v1/health")
    assert answer.said.splitlines()[:2] == ["**Memento Health Report**", f"Workspace: {client.workspace}"]
    assert "Total: 1 (1 active, 0 expired, 0 consolidated, 0 pending)" in answer.said
    assert (answer.data["active"], answer.data["items"], answer.data["skips"]) == (1, 0, 0)


@pytest.mark.parametrize("since", ["2020-01-01", "2020-01-01T00:00:00Z", "30d", "2020-01-01T00:00:00+00:00"])
def test_activity_is_told_from_any_moment_on(client: Client, since: str) -> None:
    memory = client.store("Something happened.")
    (event,) = client.get(f"/v1/activity?since={since}&limit=9999").data["events"]
    assert (event["memory_id"], event["action"]) == (memory, "create")
    assert client.get("/v1/activity", since="yesterday").status == 400
    assert client.get("/v1/activity/density", bucket_minutes=1).data == {"buckets": []}
