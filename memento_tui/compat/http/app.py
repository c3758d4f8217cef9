"""The application: every route of ``/v1``, MCP at ``/mcp``, and the guard in front of both."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from memento_tui.compat.http import extraction, memories, recall, working_memory, workspaces
from memento_tui.compat.http.exchange import ApiRequest, error_response, response_of_error, text_response
from memento_tui.compat.http.guard import CALLER_SCOPE_KEY, Guard
from memento_tui.compat.http.keys import ApiKeys, Caller, HttpCaller, HttpWorkspaces
from memento_tui.compat.protocol.workspaces import WorkspaceScope
from memento_tui.errors import MementoError
from memento_tui.mcp.streamable_http import McpApp

__all__ = ["ROUTES", "build_application"]

Handler = Callable[[ApiRequest], Response]

_UNEXPECTED_ERROR = "memento failed in a way that it did not expect; its log on standard error says how."

_log = logging.getLogger(__name__)


def _service_info(request: ApiRequest) -> Response:
    return text_response(f"memento: Memento Protocol's API is at {request.address}/v1, MCP at {request.address}/mcp.")


ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "/", _service_info),
    ("POST", "/v1/auth/signup", workspaces.sign_up),
    ("POST", "/v1/auth/rotate", workspaces.rotate_key),
    ("GET", "/v1/health", workspaces.get_health),
    ("POST", "/v1/memories", memories.post_memory),
    ("GET", "/v1/memories", memories.list_memories),
    ("GET", "/v1/memories/recall", recall.recall_memories),
    ("POST", "/v1/memories/recall", recall.recall_memories),
    ("POST", "/v1/memories/ingest", memories.ingest_memories),
    ("GET", "/v1/memories/{id:path}/graph", memories.get_graph),
    ("GET", "/v1/memories/{id:path}/related", memories.get_related),
    ("GET", "/v1/memories/{id:path}", memories.get_memory),
    ("PUT", "/v1/memories/{id:path}", memories.update_memory),
    ("DELETE", "/v1/memories/{id:path}", memories.delete_memory),
    ("POST", "/v1/context", recall.get_context),
    ("POST", "/v1/distill", extraction.distill_transcript),
    ("POST", "/v1/extract", extraction.extract_from_transcript),
    ("GET", "/v1/skip-list", working_memory.list_skips),
    ("POST", "/v1/skip-list", working_memory.add_skip),
    ("GET", "/v1/skip-list/check", working_memory.check_skips),
    ("DELETE", "/v1/skip-list/{id:path}", working_memory.remove_skip),
    ("GET", "/v1/working-memory", working_memory.get_document),
    ("GET", "/v1/working-memory/items", working_memory.list_items),
    ("POST", "/v1/working-memory/items", working_memory.add_item),
    ("GET", "/v1/working-memory/items/{id:path}", working_memory.get_item),
    ("PUT", "/v1/working-memory/items/{id:path}", working_memory.update_item),
    ("DELETE", "/v1/working-memory/items/{id:path}", working_memory.remove_item),
    ("GET", "/v1/working-memory/{section}", working_memory.get_section),
    ("PUT", "/v1/working-memory/{section}", working_memory.write_section),
    ("POST", "/v1/consolidate", extraction.consolidate),
    ("POST", "/v1/consolidate/group", extraction.consolidate_group),
    ("GET", "/v1/identity", workspaces.get_identity),
    ("PUT", "/v1/identity", workspaces.put_identity),
    ("POST", "/v1/identity/crystallize", workspaces.draft_identity),
    ("GET", "/v1/identity/history", workspaces.list_identities),
    ("GET", "/v1/settings", recall.list_settings),
    ("GET", "/v1/settings/{key}", recall.get_setting),
    ("PUT", "/v1/settings/{key}", recall.put_setting),
    ("DELETE", "/v1/settings/{key}", recall.delete_setting),
    ("GET", "/v1/activity", workspaces.list_events),
    ("GET", "/v1/activity/density", workspaces.exposure_density),
    ("GET", "/v1/workspaces", workspaces.list_workspaces),
    ("POST", "/v1/workspaces", workspaces.create_workspace),
    ("DELETE", "/v1/workspaces/{id:path}", workspaces.delete_workspace),
)
"""Every route of ``/v1``: its method, its path, and its handler."""


_MCP_PATHS = ("/mcp", "/mcp/")


class _OwnerMcp:
    """MCP for the person's own agents. It shows everything, so no account gets there, however the path is spelt."""

    def __init__(self, mcp: McpApp) -> None:
        self._mcp = mcp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller: Caller = scope[CALLER_SCOPE_KEY]
        if caller.account:
            refusal = error_response("An account's key opens /v1 only; MCP shows the person's own memories.", 403)
            await refusal(scope, receive, send)
            return
        await self._mcp(scope, receive, send)


def build_application(http_workspaces: HttpWorkspaces, keys: ApiKeys, mcp: McpApp, *, host: str) -> Guard:
    """Return the whole application; ``host`` is the address that it is bound to."""
    routes: list[BaseRoute] = [
        *_routes_by_path(http_workspaces, keys),
        *(Route(path, _OwnerMcp(mcp)) for path in _MCP_PATHS),
    ]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with mcp.lifespan():
            yield

    inner = Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: _no_route})
    inner.router.redirect_slashes = False

    async def caller_of(key: str) -> Caller | None:
        if keys.is_own(key):
            return Caller()
        return await http_workspaces.run(keys.caller_of, key)

    return Guard(inner, caller_of, host=host)


def _routes_by_path(http_workspaces: HttpWorkspaces, keys: ApiKeys) -> list[Route]:
    """Return one route for each path, so that a wrong method at a known path differs from an unknown path."""
    methods: dict[str, dict[str, Handler]] = {}
    for method, path, handler in ROUTES:
        methods.setdefault(path, {})[method] = handler
    return [
        Route(path, _endpoint(http_workspaces, keys, known), methods=list(known)) for path, known in methods.items()
    ]


def _endpoint(
    http_workspaces: HttpWorkspaces, keys: ApiKeys, handlers: dict[str, Handler]
) -> Callable[[Request], object]:
    async def answer(request: Request) -> Response:
        handler = handlers["GET" if request.method == "HEAD" else request.method]
        return await http_workspaces.run(_answer_request, handler, http_workspaces, keys, request, await request.body())

    return answer


def _answer_request(
    handler: Handler, http_workspaces: HttpWorkspaces, keys: ApiKeys, request: Request, body: bytes
) -> Response:
    """Answer one request on a thread of its own; every failure is an answer too."""
    try:
        caller: Caller = request.scope[CALLER_SCOPE_KEY]
        workspace_name = request.headers.get("x-memento-workspace", "").strip() or "default"
        api_request = ApiRequest(
            workspace=http_workspaces.of(HttpCaller(caller, request.headers.get("user-agent", ""))),
            keys=keys,
            caller=caller,
            scope=WorkspaceScope(caller.namespace_of(workspace_name), label=workspace_name),
            address=f"{request.url.scheme}://{request.headers['host']}",
            body=body,
            query=request.query_params,
            path=request.path_params,
            peek_header=request.headers.get("x-memento-peek-workspaces", ""),
        )
        return handler(api_request)
    except MementoError as error:
        return response_of_error(error)
    except Exception:  # noqa: BLE001 - the last place that can answer the client; the log has the error
        _log.exception("%s %s failed", request.method, request.url.path)
        return error_response(_UNEXPECTED_ERROR, 500)


async def _no_route(request: Request, error: Exception) -> Response:
    """Answer a request that no route takes."""
    if isinstance(error, HTTPException) and error.headers and "Allow" in error.headers:
        allowed = ", ".join(sorted(error.headers["Allow"].split(", ")))
        answer = error_response(f"{request.method} is not answered here. What is: {allowed}.", error.status_code)
        answer.headers["Allow"] = allowed
        return answer
    return error_response(f"There is nothing at {request.url.path:.200}.", 404)
