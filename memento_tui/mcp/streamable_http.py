"""Serve MCP over streamable HTTP without sessions: one POST, one JSON answer.

A client that shakes hands first and one that posts a bare ``tools/call`` are therefore served alike. Who may ask at all
(token, host, origin) and how much (the size of a body) is for the program that mounts this.
"""

from __future__ import annotations

import json
from contextlib import AbstractAsyncContextManager

from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import INVALID_REQUEST, PARSE_ERROR
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from memento_tui.mcp.server import build_server, without_surrogates
from memento_tui.mcp.workspaces import McpWorkspaces

__all__ = ["McpApp", "mcp_app", "replay_body"]


def replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a receiver of a body that was read already, and then of the messages of ``receive``."""
    unread: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def give() -> Message:
        return unread.pop() if unread else await receive()

    return give


class McpApp:
    """An ASGI application that serves one MCP server at any path that is routed to it.

    Enter `lifespan` before the first request: an application within another gets no lifespan events of the server.
    """

    def __init__(self, server: MCPServer[None]) -> None:
        unguarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        server.streamable_http_app(json_response=True, stateless_http=True, transport_security=unguarded)
        self._manager = server.session_manager

    def lifespan(self) -> AbstractAsyncContextManager[None]:
        """Return the context in which requests are answered. It can be entered once."""
        return self._manager.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        if scope["method"] != "POST":
            # A stream of the server's own messages would stay silent, and hold up the server's end.
            refused = _error_response(
                405, INVALID_REQUEST, "Only POST is answered here; there is no stream to listen to."
            )
            refused.headers["allow"] = "POST"
            await refused(scope, receive, send)
            return
        kind = Headers(scope=scope).get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":  # which the SDK would say in plain text
            refused = _error_response(
                415, INVALID_REQUEST, "The body must be sent with the header Content-Type: application/json."
            )
            await refused(scope, receive, send)
            return
        body = without_surrogates((await Request(scope, receive).body()).decode("utf-8", "replace"))
        refusal = _invalid_body_response(body)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        readable = body.encode()
        headers = MutableHeaders(scope=scope)
        headers["content-length"] = str(len(readable))
        # A client that sends no Accept header takes any type; the SDK would refuse it.
        headers.setdefault("accept", "application/json")
        await self._manager.handle_request(scope, replay_body(readable, receive), send)


def mcp_app(mcp_workspaces: McpWorkspaces, profile: str) -> McpApp:
    """Return the application that serves a profile (a name in `memento_tui.mcp.profiles.PROFILES`)."""
    return McpApp(build_server(mcp_workspaces, profile))


def _invalid_body_response(body: str) -> JSONResponse | None:
    """Return the error response to a body that holds no message (the SDK's own is pages long), else ``None``."""
    try:
        message: object = json.loads(body)
    except (ValueError, RecursionError):
        return _error_response(400, PARSE_ERROR, "The body is not JSON. Post one JSON-RPC request.")
    if not isinstance(message, dict):
        return _error_response(400, INVALID_REQUEST, "The body is not one JSON-RPC request. Post requests one by one.")
    if "result" in message or "error" in message:
        return None
    wrong = [
        rule
        for rule, holds in (
            ('"jsonrpc" must be "2.0"', message.get("jsonrpc") == "2.0"),
            ('"method" must be a text', isinstance(message.get("method"), str)),
            ('"params" must be an object', isinstance(message.get("params", {}), dict)),
            ('"id" must be a text or a whole number', isinstance(message.get("id", ""), str | int)),
        )
        if not holds
    ]
    return (
        _error_response(400, INVALID_REQUEST, f"The body is no JSON-RPC request: {'; '.join(wrong)}.")
        if wrong
        else None
    )


def _error_response(status: int, code: int, sentence: str) -> JSONResponse:
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": sentence}}, status)
