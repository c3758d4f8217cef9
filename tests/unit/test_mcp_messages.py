"""What a client of MCP sends that is no message is answered with the protocol's own error, and the next is read."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator, Iterable

import anyio
import pytest
from mcp.server.stdio import stdio_server

from memento_tui.hooks.host_events import parse_call
from memento_tui.hooks.main import _parse_json
from memento_tui.mcp.server import _Requests

DEEP = "[" * 100_000


async def _exchange(lines: Iterable[str]) -> tuple[list[str], list[dict[str, object]]]:
    """Send lines to a server; return the methods that reach it, and what it answers by itself."""
    output = io.StringIO()
    source, sink = anyio.wrap_file(io.StringIO("".join(lines))), anyio.wrap_file(output)
    async with stdio_server(stdin=source, stdout=sink) as (incoming, outgoing):
        async with _Requests(incoming, outgoing) as requests:
            methods = [method async for method in _read(requests)]
        await outgoing.aclose()
    return methods, [json.loads(line) for line in output.getvalue().splitlines()]


async def _read(requests: _Requests) -> AsyncIterator[str]:
    async for message in requests:
        yield getattr(message.message, "method", "")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('{"jsonrpc": broken\n', -32700),
        (f"{DEEP}\n", -32700),
        ("\n", -32700),
        ("42\n", -32600),
        ('{"jsonrpc":"2.0"}\n', -32600),
        ('{"id":1,"method":"ping"}\n', -32600),
    ],
)
async def test_what_is_no_message_is_answered_and_the_next_is_read(line: str, code: int) -> None:
    ping = '{"jsonrpc":"2.0","id":2,"method":"ping"}\n'
    methods, answers = await _exchange([ping, line, ping])
    assert methods == ["ping", "ping"]
    assert [(answer["id"], answer["error"]["code"]) for answer in answers] == [(None, code)]  # type: ignore[index]


def test_input_that_is_nested_too_deeply_is_no_json_to_a_hook() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        parse_call("claude-code", "UserPromptSubmit", f'{{"prompt": {DEEP}'.encode())
    with pytest.raises(ValueError, match="not one JSON value"):
        _parse_json(DEEP)
