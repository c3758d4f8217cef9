"""The server of ``memento web``: one page with a terminal in it, and a channel from each window to an app of its own.

The terminal in the page, its style sheet and fonts are those of textual-serve, which speak the protocol of Textual's
web driver. Its server is not used: it checks neither a password nor where a request comes from, starts apps through a
shell, loads a font from the network, and prints what a failing app says as it is.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from string import Template

from aiohttp import web

from memento_tui.errors import InvalidInput
from memento_tui.tui.web.guard import Guard
from memento_tui.tui.web.session import AppSession

__all__ = ["HOST", "MOST_WINDOWS", "WebServer"]

HOST = "127.0.0.1"

MOST_WINDOWS = 4
"""Each is a process; a person looks at one."""

_HEARTBEAT_SECONDS = 15.0
"""How often a window is asked whether it is still there."""

_OWN = files("memento_tui.tui.web")
_TERMINAL = files("textual_serve") / "static"
_FILES = {
    "page.css": (_OWN / "page.css", "text/css"),
    "page.js": (_OWN / "page.js", "text/javascript"),
    "textual.js": (_TERMINAL / "js" / "textual.js", "text/javascript"),
    "xterm.css": (_TERMINAL / "css" / "xterm.css", "text/css"),
    "upright.ttf": (_TERMINAL / "fonts" / "RobotoMono-VariableFont_wght.ttf", "font/ttf"),
    "italic.ttf": (_TERMINAL / "fonts" / "RobotoMono-Italic-VariableFont_wght.ttf", "font/ttf"),
}
"""Everything that the page loads, by the name under which it does."""

_ENTERING = '<!DOCTYPE html><title>memento</title><link rel="icon" href="data:,">Opening memento ...\n'

_TOO_MANY = f"{MOST_WINDOWS} windows are open already. Close one of them, then load this page again."


class WebServer:
    """One run of the server on one data directory.

    ``tell`` is called with what an app that failed said; the text may act on a terminal.
    """

    def __init__(self, data_dir: Path, *, tell: Callable[[str], None]) -> None:
        self._data_dir = data_dir
        self._tell = tell
        self._windows: set[web.WebSocketResponse] = set()
        self._guard: Guard | None = None

    @property
    def guard(self) -> Guard:
        """The check at the door; there is one once the server listens."""
        if self._guard is None:
            raise RuntimeError("the server does not listen yet")
        return self._guard

    async def serve(self, port: int, ready: Callable[[Guard], None]) -> None:
        """Listen on a port of loopback, 0 for any that is free, until SIGINT or SIGTERM; ``ready`` gets the addresses.

        Raises:
            InvalidInput: the port is taken, or not allowed.

        """
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, ended.set)
        runner = web.AppRunner(self._application(), access_log=None, handle_signals=False)
        await runner.setup()
        try:
            try:
                await web.TCPSite(runner, HOST, port).start()
            except OSError as error:
                raise InvalidInput(
                    f"Port {port} of {HOST} cannot be used: {error.strerror}.", "Leave --port out for one that is free."
                ) from error
            self._guard = Guard(HOST, int(runner.addresses[0][1]))
            ready(self._guard)
            await ended.wait()
        finally:
            await runner.cleanup()

    def _application(self) -> web.Application:
        application = web.Application(middlewares=[self._check])
        application.add_routes(
            [
                web.get("/", self._enter),
                web.get("/{path}/", self._page),
                web.get("/{path}/channel", self._channel),
                web.get("/{path}/{name}", self._file),
            ]
        )
        application.on_response_prepare.append(self._add_headers)
        application.on_shutdown.append(self._close_windows)
        return application

    # What holds for every request

    @web.middleware
    async def _check(self, request: web.Request, handler: Callable[[web.Request], object]) -> web.StreamResponse:
        if problem := self.guard.problem(request):
            return web.Response(status=403, text=problem + "\n")
        if request.path != "/" and not request.path.startswith(self.guard.path):
            return web.Response(status=404, text="There is nothing here.\n")
        return await handler(request)  # type: ignore[no-any-return, misc]

    async def _add_headers(self, _: web.Request, response: web.StreamResponse) -> None:
        response.headers.update(self.guard.headers)

    # The pages

    async def _enter(self, _: web.Request) -> web.Response:
        """Give the cookie, and go on to an address that tells nothing."""
        # By the page and not by a redirect of the server's: after that one a browser withholds a strict cookie
        # where the person came from a link on another site.
        response = web.Response(
            text=_ENTERING, content_type="text/html", headers={"Refresh": f"0; url={self.guard.path}"}
        )
        self.guard.give_cookie(response)
        return response

    async def _page(self, _: web.Request) -> web.Response:
        if len(self._windows) >= MOST_WINDOWS:
            return web.Response(status=503, text=_TOO_MANY + "\n")
        channel = f"ws://{self.guard.authority}{self.guard.path}channel"
        page = Template((_OWN / "page.html").read_text(encoding="utf-8")).substitute(channel=channel)
        return web.Response(text=page, content_type="text/html")

    async def _file(self, request: web.Request) -> web.Response:
        found = _FILES.get(request.match_info["name"])
        if found is None:
            return web.Response(status=404, text="There is nothing here.\n")
        content, content_type = found
        return web.Response(body=content.read_bytes(), content_type=content_type)

    # The windows

    async def _channel(self, request: web.Request) -> web.StreamResponse:
        """Serve one window for as long as it is there."""
        if len(self._windows) >= MOST_WINDOWS:
            return web.Response(status=503, text=_TOO_MANY + "\n")
        socket = web.WebSocketResponse(heartbeat=_HEARTBEAT_SECONDS, compress=False)
        self._windows.add(socket)
        try:
            await socket.prepare(request)
            said = await AppSession(self._data_dir, socket).run(
                _number(request.query.get("width", ""), 80), _number(request.query.get("height", ""), 24)
            )
        finally:
            self._windows.discard(socket)
        if said:
            self._tell(said)
        return socket

    async def _close_windows(self, _: web.Application) -> None:
        await asyncio.gather(*(socket.close(message=b"memento web has ended") for socket in list(self._windows)))


def _number(given: str, otherwise: int) -> int:
    return int(given) if given.isascii() and given.isdecimal() and len(given) < 5 else otherwise  # noqa: PLR2004 - no window has so many cells
