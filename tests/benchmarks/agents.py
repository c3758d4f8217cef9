"""What an agent pays: the wait for a memory stored over MCP, and the tokens of the tools that it is told of."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from memento_tui.mcp.profiles import PROFILES
from memento_tui.mcp.workspaces import open_mcp_workspaces
from tests.benchmarks.corpus import memories
from tests.benchmarks.table import Figure, Row, percentile
from tests.first_answers import greeting

__all__ = ["first_tools", "remember_round_trip", "tool_tokens"]

_MOST_TOKENS = 3_000
"""What the native tools may cost; tests hold them to it. The systems that memento stands in for publish no limit."""

_CALLS = 300
_STARTS = 10
_WARM = 20


def first_tools(scratch: Path) -> Row:
    """Compare a new `memento mcp` until it has listed its tools with a bare interpreter's start, by turns."""
    command = [sys.executable, "-m", "memento_tui", "--data-dir", str(scratch / "unused"), "mcp"]
    asked = [greeting("2025-06-18", 1), {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}]
    ours, bare = [], []
    for _ in range(_STARTS):
        begun = perf_counter()
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603 - our own program
            if server.stdin is None or server.stdout is None:
                raise RuntimeError(command)
            server.stdin.writelines(json.dumps(message) + "\n" for message in asked)
            server.stdin.flush()
            answered = [json.loads(server.stdout.readline())["id"] for _ in asked]
            ours.append(perf_counter() - begun)
            if answered != [1, 2]:
                raise RuntimeError(answered)
            server.stdin.close()
        begun = perf_counter()
        subprocess.run([sys.executable, "-c", ""], check=True)
        bare.append(perf_counter() - begun)
    what = "a new memento mcp, until its tools are listed, beyond a bare interpreter's start"
    beyond = (statistics.median(ours) - statistics.median(bare)) * 1000
    return Row(what, _told(ours), _told(bare), beyond, 500, unit="ms")


def remember_round_trip(scratch: Path) -> Row:
    """Compare ``remember`` over standard input and output with a tool that returns at once, by turns."""
    folder = scratch / "agent"
    folder.mkdir()
    (folder / "config.toml").write_text("[engine]\nenabled = false\n[review]\nburst = 0\n")
    ours, bare = anyio.run(_round_trips, folder)
    ratio = statistics.median(ours) / statistics.median(bare)
    what = "remember over MCP stdio, round trip / a no-op tool of the same server"
    return Row(what, _told(ours), _told(bare), ratio, 2)


async def _round_trips(folder: Path) -> tuple[list[float], list[float]]:
    server = StdioServerParameters(command=sys.executable, args=["-m", "tests.benchmarks.noop_server", str(folder)])
    ours, bare = [], []
    async with Client(stdio_client(server)) as client:
        for fields in memories(_CALLS + _WARM):
            begun = perf_counter()
            stored = await client.call_tool("remember", {"content": fields["content"], "tags": fields["tags"]})
            middle = perf_counter()
            await client.call_tool("nothing", {"content": fields["content"], "tags": fields["tags"]})
            bare.append(perf_counter() - middle)
            ours.append(middle - begun)
            if stored.is_error:
                raise RuntimeError(stored)
    return ours[_WARM:], bare[_WARM:]


def tool_tokens(scratch: Path) -> list[Figure]:
    """Return what a model reads of each profile's tools (name, description, input), in tokens of 4 characters."""
    found = []
    with open_mcp_workspaces(scratch / "unused", "session") as mcp_workspaces:
        for name, profile in PROFILES.items():
            read = [[tool.name, tool.description, tool.parameters] for tool in profile.tools(mcp_workspaces)]
            tokens = len(json.dumps(read, separators=(",", ":"))) / 4
            what = f"tokens of the {len(read)} tools of the profile {name}, read in every session"
            found.append(Figure(what, tokens, _MOST_TOKENS, higher_is_better=False))
    return found


def _told(seconds: list[float]) -> str:
    return f"{statistics.median(seconds) * 1000:.1f} ms (p95 {percentile(seconds, 0.95) * 1000:.1f})"
