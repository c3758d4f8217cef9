"""What the clients of the four systems may send, listed once as they send it: no route, tool or parameter is missing.

How each is answered is shown by the journeys of its own.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from memento_tui.compat.http.app import ROUTES
from tests.journeys.mcp_agent import connected
from tests.journeys.test_profiles_mcp import TOOLS

REST = """
GET /
POST /v1/auth/signup
POST /v1/auth/rotate
GET /v1/health
POST GET /v1/memories
GET PUT DELETE /v1/memories/:id
GET POST /v1/memories/recall
POST /v1/memories/ingest
GET /v1/memories/:id/graph
GET /v1/memories/:id/related
POST /v1/context
POST /v1/distill
POST /v1/extract
GET POST /v1/skip-list
GET /v1/skip-list/check
DELETE /v1/skip-list/:id
GET /v1/working-memory
GET PUT /v1/working-memory/:section
POST GET /v1/working-memory/items
GET PUT DELETE /v1/working-memory/items/:id
POST /v1/consolidate
POST /v1/consolidate/group
GET PUT /v1/identity
POST /v1/identity/crystallize
GET /v1/identity/history
GET /v1/settings
GET PUT DELETE /v1/settings/:key
GET /v1/activity
GET /v1/activity/density
POST GET /v1/workspaces
DELETE /v1/workspaces/:id
"""

REQUIRED = "(required)"
NOTHING = "(left out)"
PARAMETERS: dict[str, dict[str, dict[str, Any]]] = {
    "vault": {
        "memento_search": {"query": REQUIRED, "limit": 5, "semantic": False, "min_score": 0, "cwd": ""},
        "memento_briefing": {"cwd": "", "session_id": ""},
        "memento_recall": {"prompt": REQUIRED, "cwd": "", "session_id": ""},
        "memento_tool_context": {"tool_name": REQUIRED, "file_path": REQUIRED, "cwd": "", "session_id": ""},
        "memento_store": {
            "title": REQUIRED,
            "body": REQUIRED,
            "note_type": "discovery",
            **dict.fromkeys(("tags", "certainty", "project", "branch", "session_id"), NOTHING),
            **dict.fromkeys(("validity_context", "supersedes"), NOTHING),
        },
        "memento_daily_snapshot": {
            **dict.fromkeys(("date", "repo_slug", "content"), REQUIRED),
            "frontmatter_extra": NOTHING,
            "supersede": False,
        },
        "memento_status": {},
        "memento_get": {"path": REQUIRED},
        "memento_capture": {
            **dict.fromkeys(("session_summary", "cwd", "branch"), ""),
            **dict.fromkeys(("files_edited", "session_id", "transcript_path"), NOTHING),
            "agent": "unknown",
            "fleeting_only": False,
        },
        "memento_list": {"include_hash": True},
        "memento_reindex": {},
    },
    "core": {
        "memory_store": {
            "content": REQUIRED,
            "namespace": "global",
            **dict.fromkeys(("tags", "id", "relations", "ttl"), NOTHING),
        },
        "memory_search": {"query": REQUIRED, "namespace": NOTHING, "tags": NOTHING, "limit": 10},
        "memory_recall": {"ids": REQUIRED},
        "memory_delete": {"id": REQUIRED, "namespace": REQUIRED},
        "memory_list_namespaces": {},
    },
    "bank": {
        "recall": {"bank_id": REQUIRED, "query": REQUIRED},
        "get_memory": {"id": REQUIRED},
        "retain": {"bank_id": REQUIRED, "content": REQUIRED},
    },
}


def test_every_route_of_memento_protocol_is_served_and_no_other() -> None:
    asked = [line.split() for line in REST.strip().splitlines()]
    wire = {(method, path) for *methods, path in asked for method in methods}
    assert {(method, re.sub(r"\{(\w+)(:path)?\}", r":\1", path)) for method, path, _ in ROUTES} == wire


@pytest.mark.parametrize("profile", PARAMETERS)
def test_every_tool_takes_its_systems_parameters_with_their_defaults(data_dir: Path, profile: str) -> None:
    assert list(PARAMETERS[profile]) == TOOLS[profile]
    with connected(data_dir, profile=profile) as agent:
        schemas = {tool.name: tool.input_schema for tool in agent.tools()}
    for tool, parameters in PARAMETERS[profile].items():
        properties, required = schemas[tool]["properties"], schemas[tool].get("required", [])
        assert set(required) == {name for name, default in parameters.items() if default == REQUIRED}
        for name, default in parameters.items():
            assert name in properties, (tool, name)
            if default not in (REQUIRED, NOTHING):
                assert properties[name]["default"] == default, (tool, name)


def test_a_search_of_a_vault_is_for_one_to_fifty_notes(data_dir: Path) -> None:
    with connected(data_dir, profile="vault") as agent:
        for limit in (1, 50):
            agent.read("memento_search", query="proxy", limit=limit)
        for limit in (0, 51):
            assert "limit" in agent.refused("memento_search", query="proxy", limit=limit)
