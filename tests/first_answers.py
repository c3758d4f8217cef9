"""Write the answers that `memento mcp` gives before its server runs, as the server itself gives them.

``make reference`` runs this; a test holds the file to it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from mcp.server import MCPServer
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from memento_tui.mcp.first_answers import ANSWERS_FILE, INITIALIZE, LISTS
from memento_tui.mcp.profiles import PROFILES
from memento_tui.mcp.server import build_server
from memento_tui.mcp.workspaces import open_mcp_workspaces

__all__ = ["greeting", "render"]


def greeting(version: str, number: int | str = 0) -> dict[str, Any]:
    """Return the handshake of a host that speaks a version of the protocol."""
    client = {"name": "claude-code", "version": "2.1.0"}
    parameters = {"protocolVersion": version, "capabilities": {"roots": {"listChanged": True}}, "clientInfo": client}
    return {"jsonrpc": "2.0", "id": number, "method": INITIALIZE, "params": parameters}


def render() -> str:
    """Return the text of the file: an answer a line, then by profile and version which is which."""
    answers: list[str] = []
    profiles: dict[str, dict[str, dict[str, int]]] = {}
    for profile in PROFILES:
        profiles[profile] = {}
        for version in HANDSHAKE_PROTOCOL_VERSIONS:
            found = asyncio.run(_answers(profile, version))
            texts = {method: json.dumps(answer, ensure_ascii=False) for method, answer in found.items()}
            answers += [text for text in texts.values() if text not in answers]
            profiles[profile][version] = {method: answers.index(text) for method, text in texts.items()}
    listed = ",\n".join(answers)
    return f'{{"answers": [\n{listed}\n],\n"profiles": {json.dumps(profiles, indent=1)}}}\n'


async def _answers(profile: str, version: str) -> dict[str, Any]:
    with _server(profile) as server, anyio.fail_after(60):
        to_server, requests = anyio.create_memory_object_stream[SessionMessage | Exception](20)
        replies, from_server = anyio.create_memory_object_stream[SessionMessage](20)
        lowlevel = server._lowlevel_server
        async with to_server, requests, replies, from_server, anyio.create_task_group() as tasks:
            tasks.start_soon(lowlevel.run, requests, replies, lowlevel.create_initialization_options())
            answers = {}
            for number, method in enumerate((INITIALIZE, *LISTS)):
                asked = {"jsonrpc": "2.0", "id": number, "method": method}
                await _send(to_server, greeting(version, number) if method == INITIALIZE else asked)
                reply = (await from_server.receive()).message.model_dump(by_alias=True, mode="json", exclude_unset=True)
                if "result" in reply:
                    answers[method] = reply["result"]
                if method == INITIALIZE:
                    await _send(to_server, {"jsonrpc": "2.0", "method": "notifications/initialized"})
            await to_server.aclose()
        return answers


async def _send(stream: Any, message: dict[str, Any]) -> None:  # noqa: ANN401 - anyio's stream of messages
    await stream.send(SessionMessage(jsonrpc_message_adapter.validate_python(message, by_name=False)))


@contextmanager
def _server(profile: str) -> Iterator[MCPServer[None]]:
    with TemporaryDirectory() as scratch, open_mcp_workspaces(Path(scratch) / "data", "session") as workspaces:
        yield build_server(workspaces, profile)


if __name__ == "__main__":
    ANSWERS_FILE.write_text(render(), encoding="utf-8")
