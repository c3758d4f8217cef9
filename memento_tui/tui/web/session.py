"""One browser window and the app process behind it: bytes to and fro, for as long as both are there."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any

from aiohttp import WSMsgType, web

from memento_tui.tui.web.app_process import DRIVER

__all__ = ["AppSession"]

_READY = b"__GANGLION__\n"
"""The line with which Textual's web driver begins."""

_LEAVE_SECONDS = 5.0
"""How long an app may take to leave before it is ended."""

_LARGEST = 1000
"""Cells: no window is wider or higher."""

_LINES_KEPT = 40
"""Of what a failing app says on standard error."""


class AppSession:
    """An app process for one window. `run` returns when either has gone; the process has then ended."""

    def __init__(self, data_dir: Path, socket: web.WebSocketResponse) -> None:
        self._data_dir = data_dir
        self._socket = socket
        self._process: Process | None = None
        self._errors: deque[bytes] = deque(maxlen=_LINES_KEPT)

    async def run(self, width: int, height: int) -> str:
        """Serve the window; return what the app said on standard error, which may be text that acts on a terminal."""
        process = self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",  # a folder that the server was started in has no say in what is imported
            "-m",
            "memento_tui.tui.web.app_process",
            str(self._data_dir),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=_environment(width, height),
            # ctrl+c in the server's terminal is for the server, which then lets each app leave in its own time.
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
        """Send on what the app draws, and close the window's channel when it ends."""
        output = process.stdout
        try:
            while output is not None and (line := await output.readline()) and line != _READY:
                pass  # whatever is printed before the driver begins is not for the window
            while output is not None:
                kind = await output.readexactly(1)
                payload = await output.readexactly(int.from_bytes(await output.readexactly(4), "big"))
                if kind == b"D":
                    await self._socket.send_bytes(payload)
                elif kind == b"M" and json.loads(payload).get("type") == "exit":
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the app or the window has gone, which ends the session either way
        finally:
            await self._socket.close()

    async def _listen(self, process: Process) -> None:
        """Pass on what the window sends until it goes."""
        async for message in self._socket:
            if message.type is not WSMsgType.TEXT:
                continue
            try:
                kind, *values = message.json()
                if kind == "stdin":
                    await _send(process, b"D", values[0].encode())
                elif kind == "resize":
                    size = {"width": _cells(values[0]["width"]), "height": _cells(values[0]["height"])}
                    await _send(process, b"M", json.dumps({"type": "resize", **size}).encode())
                elif kind in ("focus", "blur"):
                    await _send(process, b"M", json.dumps({"type": kind}).encode())
                elif kind == "ping":
                    await self._socket.send_json(["pong", values[0]])
            except (ValueError, TypeError, LookupError, AttributeError):
                continue  # not in the protocol; the window goes on
            except ConnectionError:
                break

    async def _end(self, process: Process) -> None:
        """Ask the app to leave, which keeps unsaved text, and end it where it does not."""
        with suppress(ConnectionError):  # it has left already
            await _send(process, b"M", b'{"type": "quit"}')
        for end in (process.terminate, process.kill):
            try:
                await asyncio.wait_for(process.wait(), _LEAVE_SECONDS)
            except TimeoutError:
                end()
            else:
                return
        await process.wait()


async def _send(process: Process, kind: bytes, payload: bytes) -> None:
    if process.stdin is not None:
        process.stdin.write(kind + len(payload).to_bytes(4, "big") + payload)
        await process.stdin.drain()


def _cells(given: Any) -> int:  # noqa: ANN401 - what a browser sent
    return min(max(int(given), 1), _LARGEST)


def _environment(width: int, height: int) -> dict[str, str]:
    return {
        **os.environ,
        "TEXTUAL_DRIVER": DRIVER,
        "TEXTUAL_COLOR_SYSTEM": "truecolor",
        "TERM_PROGRAM": "textual",
        "COLUMNS": str(_cells(width)),
        "ROWS": str(_cells(height)),
    }
