"""The server of ``memento web``: a page with a terminal, and a channel from each window to an app process."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from aiohttp import WSMsgType, web

from memento_tui.errors import InvalidInput
from memento_tui.tui.web.access_guard import AccessGuard
from memento_tui.tui.web.app_process import DRIVER

__all__ = ["HOST", "MAX_WINDOWS", "WebServer"]

_READY_LINE = b"__GANGLION__\n"
"""The first line of Textual's web driver."""

_STOP_SECONDS = 5.0
"""Seconds that an app may take to exit before it is killed."""

_MAX_WINDOW_CELLS = 1000
"""Cells that a window is wide or high at most."""

_ERROR_LINES_KEPT = 40
"""Chunks of a failing app's standard error that are kept."""


class AppSession:
    """An app process for one window. `run` returns when either has ended, and ends the process."""

    def __init__(self, data_dir: Path, socket: web.WebSocketResponse) -> None:
        self._data_dir = data_dir
        self._socket = socket
        self._process: Process | None = None
        self._errors: deque[bytes] = deque(maxlen=_ERROR_LINES_KEPT)

    async def run(self, width: int, height: int) -> str:
        """Serve the window; return the app's standard error, which may hold text that acts on a terminal."""
        process = self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",  # nothing is imported from the folder that the server was started in
            "-m",
            "memento_tui.tui.web.app_process",
            str(self._data_dir),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=_environment(width, height),
            # ctrl+c in the server's terminal is for the server, which then asks each app to exit.
            start_new_session=True,
        )
        errors = asyncio.create_task(self._read_errors(process))
        drawing = asyncio.create_task(self._draw(process))
        try:
            await self._listen(process)
        finally:
            await self._end(process)
            await asyncio.gather(drawing, errors, return_exceptions=True)
        return b"".join(self._errors).decode(errors="replace")

    async def _read_errors(self, process: Process) -> None:
        if process.stderr is not None:
            while chunk := await process.stderr.read(1024):
                self._errors.append(chunk)

    async def _draw(self, process: Process) -> None:
        """Send the app's drawing, and close the window's channel when the app ends."""
        output = process.stdout
        try:
            while output is not None and (line := await output.readline()) and line != _READY_LINE:
                pass  # output before the driver begins is not for the window
            while output is not None:
                kind = await output.readexactly(1)
                payload = await output.readexactly(int.from_bytes(await output.readexactly(4), "big"))
                if kind == b"D":
                    await self._socket.send_bytes(payload)
                elif kind == b"M" and json.loads(payload).get("type") == "exit":
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the app or the window has ended, which ends the session
        finally:
            await self._socket.close()

    async def _listen(self, process: Process) -> None:
        """Send the window's input to the app until the window closes."""
        async for message in self._socket:
            if message.type is not WSMsgType.TEXT:
                continue
            try:
                kind, *values = message.json()
                if kind == "stdin":
                    await _send(process, b"D", values[0].encode())
                elif kind == "resize":
                    size = {"width": _clamp_cells(values[0]["width"]), "height": _clamp_cells(values[0]["height"])}
                    await _send(process, b"M", json.dumps({"type": "resize", **size}).encode())
                elif kind in ("focus", "blur"):
                    await _send(process, b"M", json.dumps({"type": kind}).encode())
                elif kind == "ping":
                    await self._socket.send_json(["pong", values[0]])
            except (ValueError, TypeError, LookupError, AttributeError):
                continue  # not in the protocol: ignored
            except ConnectionError:
                break

    async def _end(self, process: Process) -> None:
        """Ask the app to exit, which keeps unsaved text, and kill it if it does not."""
        with suppress(ConnectionError):  # it has exited already
            await _send(process, b"M", b'{"type": "quit"}')
        for end in (process.terminate, process.kill):
            try:
                await asyncio.wait_for(process.wait(), _STOP_SECONDS)
            except TimeoutError:
                end()
            else:
                return
        await process.wait()


async def _send(process: Process, kind: bytes, payload: bytes) -> None:
    if process.stdin is not None:
        process.stdin.write(kind + len(payload).to_bytes(4, "big") + payload)
        await process.stdin.drain()


def _clamp_cells(given: Any) -> int:  # noqa: ANN401 - what a browser sent
    return min(max(int(given), 1), _MAX_WINDOW_CELLS)


def _environment(width: int, height: int) -> dict[str, str]:
    return {
        **os.environ,
        "TEXTUAL_DRIVER": DRIVER,
        "TEXTUAL_COLOR_SYSTEM": "truecolor",
        "TERM_PROGRAM": "textual",
        "COLUMNS": str(_clamp_cells(width)),
        "ROWS": str(_clamp_cells(height)),
    }


HOST = "127.0.0.1"

MAX_WINDOWS = 4
"""Windows that may be open at once; each is a process."""

_HEARTBEAT_SECONDS = 15.0
"""Seconds between two pings of a window."""

_PAGE_FOLDER = files("memento_tui.tui.web")
_TERMINAL = files("textual_serve") / "static"
_FILES = {
    "page.css": (_PAGE_FOLDER / "page.css", "text/css"),
    "page.js": (_PAGE_FOLDER / "page.js", "text/javascript"),
    "textual.js": (_TERMINAL / "js" / "textual.js", "text/javascript"),
    "xterm.css": (_TERMINAL / "css" / "xterm.css", "text/css"),
    "upright.ttf": (_TERMINAL / "fonts" / "RobotoMono-VariableFont_wght.ttf", "font/ttf"),
    "italic.ttf": (_TERMINAL / "fonts" / "RobotoMono-Italic-VariableFont_wght.ttf", "font/ttf"),
}
"""The files that the page loads, by name."""

_OPENING_PAGE = '<!DOCTYPE html><title>memento</title><link rel="icon" href="data:,">Opening memento ...\n'

_TOO_MANY_WINDOWS_TEXT = f"{MAX_WINDOWS} windows are open already. Close one of them, then load this page again."


class WebServer:
    """One run of the server on one data directory.

    ``report_failure`` is called with the standard error of an app that failed; the text may act on a terminal.
    """

    def __init__(self, data_dir: Path, *, report_failure: Callable[[str], None]) -> None:
        self._data_dir = data_dir
        self._report_failure = report_failure
        self._windows: set[web.WebSocketResponse] = set()
        self._guard: AccessGuard | None = None

    @property
    def guard(self) -> AccessGuard:
        """The access check, which exists once the server listens."""
        if self._guard is None:
            raise RuntimeError("the server does not listen yet")
        return self._guard

    async def serve(self, port: int, ready: Callable[[AccessGuard], None]) -> None:
        """Listen on a loopback port, 0 for any that is free, until SIGINT or SIGTERM; then ``ready`` is called.

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
            self._guard = AccessGuard(HOST, int(runner.addresses[0][1]))
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

    # Every request

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
        """Set the cookie, and continue to an address without the token."""
        # By the page and not by a redirect: after a redirect a browser withholds a strict cookie if the person came
        # from a link on another site.
        response = web.Response(
            text=_OPENING_PAGE, content_type="text/html", headers={"Refresh": f"0; url={self.guard.path}"}
        )
        self.guard.give_cookie(response)
        return response

    async def _page(self, _: web.Request) -> web.Response:
        if len(self._windows) >= MAX_WINDOWS:
            return web.Response(status=503, text=_TOO_MANY_WINDOWS_TEXT + "\n")
        channel = f"ws://{self.guard.authority}{self.guard.path}channel"
        page = Template((_PAGE_FOLDER / "page.html").read_text(encoding="utf-8")).substitute(channel=channel)
        return web.Response(text=page, content_type="text/html")

    async def _file(self, request: web.Request) -> web.Response:
        found = _FILES.get(request.match_info["name"])
        if found is None:
            return web.Response(status=404, text="There is nothing here.\n")
        content, content_type = found
        return web.Response(body=content.read_bytes(), content_type=content_type)

    # The windows

    async def _channel(self, request: web.Request) -> web.StreamResponse:
        """Serve one window until it closes."""
        if len(self._windows) >= MAX_WINDOWS:
            return web.Response(status=503, text=_TOO_MANY_WINDOWS_TEXT + "\n")
        socket = web.WebSocketResponse(heartbeat=_HEARTBEAT_SECONDS, compress=False)
        self._windows.add(socket)
        try:
            await socket.prepare(request)
            errors = await AppSession(self._data_dir, socket).run(
                _number(request.query.get("width", ""), 80), _number(request.query.get("height", ""), 24)
            )
        finally:
            self._windows.discard(socket)
        if errors:
            self._report_failure(errors)
        return socket

    async def _close_windows(self, _: web.Application) -> None:
        await asyncio.gather(*(socket.close(message=b"memento web has ended") for socket in list(self._windows)))


def _number(given: str, otherwise: int) -> int:
    return int(given) if given.isascii() and given.isdecimal() and len(given) < 5 else otherwise  # noqa: PLR2004 - no window has so many cells
