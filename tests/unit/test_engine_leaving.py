"""An engine that leaves, and a client that goes, leave no trace of an error in the engine's log."""

from __future__ import annotations

import asyncio
import logging
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from memento_tui.api import Workspace
from memento_tui.config import load_config
from memento_tui.embedding.engine_state import EngineState
from memento_tui.embedding.server import EngineServer


def made_server(workspace: Workspace) -> EngineServer:
    worker = cast("Any", SimpleNamespace(start=lambda: None, wake=lambda: None))
    return EngineServer(workspace.paths, load_config(workspace.paths.config), EngineState(), worker, lambda *_: None)


@pytest.fixture
def address(tmp_path: Path) -> Path:
    return tmp_path / "s"


async def leave_in_the_middle(server: EngineServer, address: Path, asked: bytes) -> None:
    """Serve until a client has connected and asked something, then leave with its conversation open."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(address))
    serving = asyncio.create_task(server.serve(listening))
    await asyncio.sleep(0)
    reader, writer = await asyncio.open_unix_connection(str(address))
    writer.write(b'{"op": "status"}\n' + asked)
    assert b"uptime" in await reader.readline()
    server._leave("asked to stop")
    assert await serving == "asked to stop"
    writer.close()


@pytest.mark.parametrize("asked", [b"", b'{"op": "wait", "seq": 99, "timeout": 60}\n'])
def test_a_conversation_that_ends_with_the_engine_is_no_error(
    workspace: Workspace, address: Path, caplog: pytest.LogCaptureFixture, asked: bytes
) -> None:
    with caplog.at_level(logging.DEBUG, logger="asyncio"):
        asyncio.run(leave_in_the_middle(made_server(workspace), address, asked))
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []
