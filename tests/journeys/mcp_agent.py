"""An agent for the journeys: the SDK's own client, connected to a server in this process or to a real `memento mcp`."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client._memory import InMemoryTransport
from mcp.client.stdio import stdio_client
from mcp_types import CallToolResult, Implementation, Tool

from memento_tui.mcp.server import build_server
from memento_tui.mcp.workspaces import open_mcp_workspaces
from memento_tui.model.validation import new_id

NO_ENGINE = "[engine]\nenabled = false\n"
"""For journeys that are not about meaning: nothing starts the engine."""


class Agent:
    """A connected agent. The SDK's client checks every structured result against the tool's schema."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal = portal
        self.client = client

    def tools(self) -> list[Tool]:
        return list(self._portal.call(self.client.list_tools).tools)

    def send(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        answered = self._portal.call(self.client.call_tool, tool, arguments)
        assert isinstance(answered, CallToolResult)
        return answered

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401 - the tool's own
        answered = self.send(tool, arguments)
        assert not answered.is_error, text_of(answered)
        assert isinstance(answered.structured_content, dict)
        return answered.structured_content

    def read(self, tool: str, **arguments: Any) -> str:  # noqa: ANN401 - the tool's own
        answered = self.send(tool, arguments)
        assert not answered.is_error, text_of(answered)
        return text_of(answered)

    def refused(self, tool: str, **arguments: Any) -> str:  # noqa: ANN401 - the tool's own
        answered = self.send(tool, arguments)
        assert answered.is_error, text_of(answered)
        assert answered.structured_content is None
        return text_of(answered)


def text_of(answered: CallToolResult) -> str:
    return "\n".join(block.text for block in answered.content if block.type == "text")


def server_command(data_dir: Path, profile: str = "native") -> list[str]:
    return [sys.executable, "-m", "memento_tui", "mcp", "--data-dir", str(data_dir), "--profile", profile]


@contextmanager
def connected(
    data_dir: Path,
    *,
    name: str = "journey",
    mode: str = "auto",
    profile: str = "native",
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Agent]:
    """Serve an agent in this process, which is in ``folder`` and has ``environment`` meanwhile.

    The client and the server exchange messages as they do over pipes, but for their bytes. A process takes more than a
    second to import the SDK; `connected_to_process` is for tests about the process and its pipes.
    """
    with (
        contextlib.chdir(folder or Path.cwd()),
        patch.dict(os.environ, environment or {}),
        open_mcp_workspaces(data_dir, new_id()) as mcp_workspaces,
        start_blocking_portal() as portal,
    ):
        client = Client(
            InMemoryTransport(build_server(mcp_workspaces, profile)),
            client_info=Implementation(name=name, version="1"),
            mode=mode,
            read_timeout_seconds=60,
        )
        with portal.wrap_async_context_manager(client):
            yield Agent(portal, client)


@contextmanager
def connected_to_process(
    data_dir: Path, *, name: str = "journey", mode: str = "auto", profile: str = "native", folder: Path | None = None
) -> Iterator[Agent]:
    """Start a server in ``folder`` as a host does, with few of this process's variables, and connect to it."""
    command, *arguments = server_command(data_dir, profile)
    log = data_dir.parent / f"{data_dir.name}.{name}.stderr"
    with start_blocking_portal() as portal, log.open("w") as errors:
        transport = stdio_client(StdioServerParameters(command=command, args=arguments, cwd=folder), errlog=errors)
        client = Client(
            transport, client_info=Implementation(name=name, version="1"), mode=mode, read_timeout_seconds=60
        )
        with portal.wrap_async_context_manager(client):
            yield Agent(portal, client)
