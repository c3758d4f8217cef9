"""The command ``web``."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING

import click

from memento_tui.cli.command import command
from memento_tui.cli.output import emit, safe
from memento_tui.cli.session import current_session, opened
from memento_tui.errors import InvalidInput

if TYPE_CHECKING:
    from memento_tui.tui.web.guard import Guard

__all__ = ["commands"]

_LOOPBACK = ("127.0.0.1", "localhost")


@command(
    "web",
    short_help="Serve the app to a browser on this machine.",
    examples="""
    memento web
    memento web --open
    memento web --port 8123 --json
    """,
)
@click.option("--port", type=click.IntRange(1, 65_535), metavar="PORT", help="The port; one that is free if not given.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Loopback only.")
@click.option("--open", "open_browser", is_flag=True, help="Open the browser too.")
def web(port: int | None, host: str, *, open_browser: bool) -> None:
    """Serve the app to browsers on this machine until ctrl+c.

    The address that is printed holds a token, which is what lets a browser in; it ends with the server. Nothing outside
    this machine can connect.
    """
    if host not in _LOOPBACK:
        raise InvalidInput(
            f"memento serves 127.0.0.1 only, not {host}: whoever reaches it decides what your agent remembers.",
            "From another machine, tunnel: ssh -L 8123:127.0.0.1:8123 THIS-MACHINE, here memento web --port 8123.",
        )
    with opened(create=True):
        pass  # a data directory that cannot be used is told here, not in every browser window
    from memento_tui.tui.web.server import WebServer  # noqa: PLC0415 - only this command pays for the server

    def ready(guard: Guard) -> None:
        emit(
            {"url": guard.address, "host": "127.0.0.1", "port": guard.port, "pid": os.getpid()},
            lambda: (
                f"memento is at {guard.address}\nThe address is the key to it: keep it to yourself. ctrl+c ends it."
            ),
        )
        if open_browser:
            _open(guard.address_for_once())

    asyncio.run(WebServer(current_session().paths.root, tell=_tell).serve(port or 0, ready))


def _tell(said: str) -> None:
    sys.stderr.write("memento: an app in the browser said:\n" + safe(said, multiline=True) + "\n")


def _open(address: str) -> None:
    import webbrowser  # noqa: PLC0415 - only --open needs it

    if not webbrowser.open(address):
        sys.stderr.write("memento: no browser could be opened; open the address yourself.\n")


commands = {"web": web}
