"""A second client that is not ours nor the SDK's in Python: the command line of the protocol's inspector, from npm.

``MEMENTO_INSPECTOR`` is the path of ``mcp-inspector`` where it is installed (``npm install @modelcontextprotocol/
inspector``); a ``node_modules`` folder in the directory that the tests run from does as well.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.mcp_agent import NO_ENGINE
from tests.journeys.mcp_over_http import served

INSPECTOR = os.environ.get("MEMENTO_INSPECTOR") or "node_modules/.bin/mcp-inspector"

pytestmark = pytest.mark.skipif(
    not Path(INSPECTOR).exists(), reason="the inspector is not installed; name it in MEMENTO_INSPECTOR"
)


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    made = tmp_path / "data"
    made.mkdir()
    (made / "config.toml").write_text(NO_ENGINE)
    return made


def inspect(target: list[str], data_dir: Path, *arguments: str) -> dict[str, Any]:
    done = subprocess.run(  # noqa: S603 - the client that the person named
        [INSPECTOR, "--cli", *target, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "MEMENTO_HOME": str(data_dir)},
    )
    assert done.returncode == 0, done.stderr
    answered: dict[str, Any] = json.loads(done.stdout)
    return answered


def use(target: list[str], data_dir: Path) -> None:
    """Do what a host does: look at what there is, store something, find it again, and err."""
    tools = inspect(target, data_dir, "--method", "tools/list")["tools"]
    assert [tools[0]["name"], tools[-1]["name"]] == ["session_open", "status"]
    call = ("--method", "tools/call", "--tool-name")
    text = "content=Restart-the-marmot-host-with-care."
    stored = inspect(target, data_dir, *call, "remember", "--tool-arg", text)["structuredContent"]
    found = inspect(target, data_dir, *call, "search", "--tool-arg", "query=marmot")["structuredContent"]
    assert [memory["id"] for memory in found["results"]] == [stored["id"]]
    refused = inspect(target, data_dir, *call, "memento_briefing")
    assert refused["isError"]
    assert "memento mcp --profile vault" in refused["content"][0]["text"]
    assert len(inspect(target, data_dir, "--method", "resources/list")["resources"]) == 4
    assert len(inspect(target, data_dir, "--method", "prompts/list")["prompts"]) == 3


def test_the_inspector_uses_the_server_over_its_pipes(data_dir: Path) -> None:
    use([sys.executable, "-m", "memento_tui", "mcp"], data_dir)


def test_the_inspector_uses_the_server_over_http(data_dir: Path) -> None:
    with served(data_dir) as posting:
        use([posting.url], data_dir)
