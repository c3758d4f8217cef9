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

from memento_tui.agent.http import (
    accounts,
    activity,
    consolidation,
    context,
    distilling,
    identity,
    linking,
    lists,
    memories,
    places,
    recalling,
    sections,
    settings,
)
from memento_tui.agent.http.call import Call, Place
from memento_tui.agent.http.desks import Desks
from memento_tui.agent.http.guard import CALLER, Guard
from memento_tui.agent.http.keys import Caller, Keys
from memento_tui.agent.http.replies import failed, refused, said
from memento_tui.agent.mcp_http import McpApp
from memento_tui.errors import MementoError

__all__ = ["ROUTES", "application"]

Handler = Callable[[Call], Response]

_UNEXPECTED = "memento failed in a way that it did not expect; its log on standard error says how."

_log = logging.getLogger(__name__)


def _about(call: Call) -> Response:
    return said(f"memento: Memento Protocol's API is at {call.address}/v1, MCP at {call.address}/mcp.")


ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "/", _about),
    ("POST", "/v1/auth/signup", accounts.sign_up),
    ("POST", "/v1/auth/rotate", accounts.rotate),
    ("GET", "/v1/health", places.health),
    ("POST", "/v1/memories", memories.store),
    ("GET", "/v1/memories", memories.listing),
    ("GET", "/v1/memories/recall", recalling.recall),
    ("POST", "/v1/memories/recall", recalling.recall),
    ("POST", "/v1/memories/ingest", memories.ingest),
    ("GET", "/v1/memories/{id:path}/graph", linking.graph),
    ("GET", "/v1/memories/{id:path}/related", linking.related),
    ("GET", "/v1/memories/{id:path}", memories.find),
    ("PUT", "/v1/memories/{id:path}", memories.update),
    ("DELETE", "/v1/memories/{id:path}", memories.delete),
    ("POST", "/v1/context", context.context),
    ("POST", "/v1/distill", distilling.distill),
    ("POST", "/v1/extract", distilling.extract),
    ("GET", "/v1/skip-list", lists.list_skips),
    ("POST", "/v1/skip-list", lists.add_skip),
    ("GET", "/v1/skip-list/check", lists.check_skips),
    ("DELETE", "/v1/skip-list/{id:path}", lists.remove_skip),
    ("GET", "/v1/working-memory", sections.document),
    ("GET", "/v1/working-memory/items", lists.list_items),
    ("POST", "/v1/working-memory/items", lists.add_item),
    ("GET", "/v1/working-memory/items/{id:path}", lists.find_item),
    ("PUT", "/v1/working-memory/items/{id:path}", lists.change_item),
    ("DELETE", "/v1/working-memory/items/{id:path}", lists.remove_item),
    ("GET", "/v1/working-memory/{section}", sections.section),
    ("PUT", "/v1/working-memory/{section}", sections.write_section),
    ("POST", "/v1/consolidate", consolidation.consolidate),
    ("POST", "/v1/consolidate/group", consolidation.consolidate_group),
    ("GET", "/v1/identity", identity.read),
    ("PUT", "/v1/identity", identity.write),
    ("POST", "/v1/identity/crystallize", identity.crystallize),
    ("GET", "/v1/identity/history", identity.history),
    ("GET", "/v1/settings", settings.listing),
    ("GET", "/v1/settings/{key}", settings.find),
    ("PUT", "/v1/settings/{key}", settings.change),
    ("DELETE", "/v1/settings/{key}", settings.forget),
    ("GET", "/v1/activity", activity.events),
    ("GET", "/v1/activity/density", activity.density),
    ("GET", "/v1/workspaces", places.listing),
    ("POST", "/v1/workspaces", places.create),
    ("DELETE", "/v1/workspaces/{id:path}", places.remove),
)
"""Every route of ``/v1``: its method, its path, and what answers it."""


_MCP_PATHS = ("/mcp", "/mcp/")


class _PersonsMcp:
    """MCP for the person's own agents. It shows everything, so no account gets there, however the path is written."""

    def __init__(self, mcp: McpApp) -> None:
        self._mcp = mcp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller: Caller = scope[CALLER]
        if caller.account:
            refusal = refused("An account's key opens /v1 only; MCP shows the person's own memories.", 403)
            await refusal(scope, receive, send)
            return
        await self._mcp(scope, receive, send)


def application(desks: Desks, keys: Keys, mcp: McpApp, *, host: str) -> Guard:
    """Return the whole application; ``host`` is what it is bound to."""
    routes: list[BaseRoute] = [*_by_path(desks, keys), *(Route(path, _PersonsMcp(mcp)) for path in _MCP_PATHS)]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with mcp.lifespan():
            yield

    inner = Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: _no_route})
    inner.router.redirect_slashes = False

    async def caller_of(key: str) -> Caller | None:
        return await desks.run(keys.caller_of, key)

    return Guard(inner, caller_of, host=host)


def _by_path(desks: Desks, keys: Keys) -> list[Route]:
    """Return one route for each path, so that another method at a known path is told apart from an unknown path."""
    methods: dict[str, dict[str, Handler]] = {}
    for method, path, handler in ROUTES:
        methods.setdefault(path, {})[method] = handler
    return [Route(path, _endpoint(desks, keys, known), methods=list(known)) for path, known in methods.items()]


def _endpoint(desks: Desks, keys: Keys, handlers: dict[str, Handler]) -> Callable[[Request], object]:
    async def answer(request: Request) -> Response:
        handler = handlers["GET" if request.method == "HEAD" else request.method]
        return await desks.run(_answered, handler, desks, keys, request, await request.body())

    return answer


def _answered(handler: Handler, desks: Desks, keys: Keys, request: Request, body: bytes) -> Response:
    """Answer one request on a thread of its own; every failure is an answer too."""
    try:
        caller: Caller = request.scope[CALLER]
        workspace_name = request.headers.get("x-memento-workspace", "").strip() or "default"
        call = Call(
            workspace=desks.of(caller, request.headers.get("user-agent", "")),
            keys=keys,
            caller=caller,
            place=Place(workspace_name, caller.namespace_of(workspace_name)),
            address=f"{request.url.scheme}://{request.headers['host']}",
            body=body,
            query=request.query_params,
            path=request.path_params,
            peek_header=request.headers.get("x-memento-peek-workspaces", ""),
        )
        return handler(call)
    except MementoError as error:
        return failed(error)
    except Exception:  # noqa: BLE001 - the last place that can tell the client; the log says what it was
        _log.exception("%s %s failed", request.method, request.url.path)
        return refused(_UNEXPECTED, 500)


async def _no_route(request: Request, error: Exception) -> Response:
    """Answer what no route is for."""
    if isinstance(error, HTTPException) and error.headers and "Allow" in error.headers:
        allowed = ", ".join(sorted(error.headers["Allow"].split(", ")))
        answer = refused(f"{request.method} is not answered here. What is: {allowed}.", error.status_code)
        answer.headers["Allow"] = allowed
        return answer
    return refused(f"There is nothing at {request.url.path:.200}.", 404)
