"""What a server says of a handshake that was answered before it had started."""

from __future__ import annotations

import asyncio
from typing import Any

from mcp.shared.message import SessionMessage
from mcp_types import ErrorData, JSONRPCError, JSONRPCRequest, JSONRPCResponse

from memento_tui.mcp.server import _Unsent


class _Host:
    """Keeps what it is sent."""

    def __init__(self) -> None:
        self.received: list[Any] = []

    async def send(self, item: SessionMessage, /) -> None:
        self.received.append(item.message)

    async def aclose(self) -> None:
        """Close nothing."""


def test_only_the_result_of_the_answered_handshake_is_kept_back() -> None:
    result = JSONRPCResponse(jsonrpc="2.0", id=1, result={})
    error = JSONRPCError(jsonrpc="2.0", id=1, error=ErrorData(code=-32602, message="No such version."))
    question = JSONRPCRequest(jsonrpc="2.0", id=1, method="roots/list")
    host = _Host()
    stream = _Unsent(host, 1)

    async def talk() -> None:
        for message in (question, error, result, result):
            await stream.send(SessionMessage(message))

    asyncio.run(talk())
    assert host.received == [question, error, result]
