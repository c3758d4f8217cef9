"""An agent that talks to a profile's server in this process, over the SDK's own client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal
from mcp import Client
from mcp_types import CallToolResult, Implementation

from memento_tui.mcp.server import build_server
from memento_tui.mcp.workspaces import McpWorkspaces, open_mcp_workspaces
from tests.journeys.mcp_agent import Agent, text_of


@contextmanager
def seated(data_dir: Path, profile: str, *, name: str = "claude", session: str = "s1") -> Iterator[Agent]:
    with open_mcp_workspaces(data_dir, session) as mcp_workspaces, served(mcp_workspaces, profile, name=name) as agent:
        yield agent


@contextmanager
def served(mcp_workspaces: McpWorkspaces, profile: str = "native", *, name: str = "claude") -> Iterator[Agent]:
    with start_blocking_portal() as portal:
        client = Client(build_server(mcp_workspaces, profile), client_info=Implementation(name=name, version="1"))
        with portal.wrap_async_context_manager(client):
            yield Agent(portal, client)


def recalls(question: str) -> list[tuple[str, str, dict[str, object]]]:
    """Return every way in which an agent asks for memories: the profile, the tool and its arguments."""
    return [
        ("native", "search", {"query": question}),
        ("native", "context", {"message": question}),
        ("bank", "recall", {"bank_id": "global", "query": question}),
        ("core", "memory_search", {"query": question}),
        ("vault", "memento_search", {"query": question}),
        ("vault", "memento_recall", {"prompt": question}),
        ("protocol", "memento_recall", {"query": question, "workspace": "global"}),
    ]


def blocks(answered: CallToolResult) -> list[Any]:
    """Return what each block of text says, read as JSON, as these systems' clients do."""
    return [json.loads(block.text) for block in answered.content if block.type == "text"]


def told(agent: Agent, tool: str, /, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401 - the tool's own
    """Call a tool that answers with one object, whose two forms must say the same."""
    answered = agent.send(tool, arguments)
    assert not answered.is_error, text_of(answered)
    (found,) = blocks(answered)
    assert isinstance(found, dict)
    assert found == answered.structured_content
    return found


def listed(agent: Agent, tool: str, /, **arguments: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - the tool's own
    """Call a tool that answers with a list, one block for each element."""
    answered = agent.send(tool, arguments)
    assert not answered.is_error, text_of(answered)
    found = blocks(answered)
    assert answered.structured_content == {"result": found}
    return found


def refused(agent: Agent, tool: str, /, **arguments: Any) -> dict[str, str]:  # noqa: ANN401 - the tool's own
    """Call a tool that must say in ``error`` why it did nothing."""
    answered = agent.send(tool, arguments)
    assert answered.is_error
    (found,) = blocks(answered)
    assert found["error"]
    return dict(found)
