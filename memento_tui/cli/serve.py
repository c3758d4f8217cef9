"""The commands ``mcp`` (on standard input), ``serve`` (over HTTP) and ``web`` (to a browser)."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

import click

from memento_tui.cli.command import command, current_session, open_workspace
from memento_tui.cli.output import emit, note, safe
from memento_tui.errors import InvalidInput
from memento_tui.mcp.profiles import PROFILES

__all__ = ["commands"]


@command(
    "mcp",
    writes=True,
    short_help="Serve the memory to an agent over MCP, on stdio.",
    examples="""
    memento mcp
    memento --data-dir ~/work/memory mcp --session morning
    memento mcp --profile vault
    MEMENTO_HOME=~/work/memory memento mcp
    """,
)
@click.option(
    "--session",
    default="",
    envvar="CLAUDE_CODE_SESSION_ID",
    metavar="ID",
    help="The session of the agent's writes; if not given, Claude Code's own session, else a random one.",
)
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    default="native",
    show_default=True,
    help="The tools: memento's own, or those of a system that it replaces, under their names.",
)
def mcp(session: str, profile: str) -> None:
    """Serve the memory to an agent over the Model Context Protocol, on standard input and output.

    An agent's host starts it. The agent's writes pass the gate, and a person decides with `memento review`. Agents that
    speak the protocol over HTTP use `memento serve`.
    """
    if sys.stdin.isatty():
        note("This waits for an agent's messages; a host starts it by itself, see memento install. ctrl+c ends it.")
    from memento_tui.mcp.first_answers import EXIT_HOST_GONE, answer_while  # noqa: PLC0415 - for this command alone

    # A thread that waits for a request cannot be interrupted; acknowledged writes are safe however the process ends.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        with _collection_put_off():
            beginning = answer_while(lambda: import_module("memento_tui.mcp.server"), profile)
    except BrokenPipeError:
        raise click.exceptions.Exit(EXIT_HOST_GONE) from None
    from memento_tui.mcp.server import main  # noqa: PLC0415 - the SDK takes a second to import

    code = main(current_session().data_dir, session=session, profile=profile, beginning=beginning)
    if code:
        raise click.exceptions.Exit(code)


@contextmanager
def _collection_put_off() -> Iterator[None]:
    """Disable garbage collection during imports, whose objects stay; it would cost a tenth more time."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


if TYPE_CHECKING:
    from memento_tui.compat.http.server import ServerAddress


@command(
    "serve",
    writes=True,
    short_help="Serve the memory to agents over HTTP.",
    examples="""
    memento serve
    memento serve --port 9000 --profile vault
    MEMENTO_API_KEY=... memento serve --host 192.168.1.4
    """,
)
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    metavar="NUMBER",
    default=8745,
    show_default=True,
    help="0 for one that is free.",
)
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    default="native",
    show_default=True,
    help="The tools of MCP at /mcp: memento's own, or those of a system that it replaces.",
)
def serve(host: str, port: int, profile: str) -> None:
    """Serve the memory over HTTP until ctrl+c: Memento Protocol's REST at /v1, MCP at /mcp.

    Every request needs the key that is shown. It is made once and kept in the data directory; set MEMENTO_API_KEY to
    choose your own, which is required to listen to other machines. Agents' writes pass the gate, and a person decides
    with `memento review`.
    """
    with _collection_put_off():
        from memento_tui.compat.http.keys import KEY_VARIABLE  # noqa: PLC0415 - only this command pays for the server
        from memento_tui.compat.http.server import serve as run  # noqa: PLC0415 - same

    run(
        current_session().data_dir,
        host=host,
        port=port,
        profile=profile,
        key=os.environ.get(KEY_VARIABLE, ""),
        ready=lambda serving: _announce_server(serving, _ADDRESS_VARIABLES.get(profile, "MEMENTO_API_URL")),
    )


_ADDRESS_VARIABLES = {"vault": "MEMENTO_VAULT_URL"}
"""The environment variable in which the client of a profile's system looks for its server, where it has its own."""


def _announce_server(serving: ServerAddress, variable: str) -> None:
    emit(
        {"url": serving.url, "port": serving.port, "key": serving.key, "pid": os.getpid()},
        lambda: (
            f"memento serves {serving.url}/v1 and {serving.url}/mcp. Paste this where your agent starts:\n"
            f"export {variable}={serving.url} MEMENTO_API_KEY={serving.key}\n"
            "The key opens your memories: keep it to yourself. ctrl+c ends the server."
        ),
    )


if TYPE_CHECKING:
    from memento_tui.tui.web.access_guard import AccessGuard


_LOOPBACK_HOSTS = ("127.0.0.1", "localhost")


@command(
    "web",
    decides=True,
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

    The printed address holds a token that admits a browser and is valid until the server ends. Other machines cannot
    connect.
    """
    if host not in _LOOPBACK_HOSTS:
        raise InvalidInput(
            f"memento serves 127.0.0.1 only, not {host}: whoever connects decides what your agent remembers.",
            "From another machine, tunnel: ssh -L 8123:127.0.0.1:8123 THIS-MACHINE, here memento web --port 8123.",
        )
    session = current_session()
    if session.read_only:
        os.environ["MEMENTO_READ_ONLY"] = "1"  # each window is a process of its own
    with open_workspace(create=True):
        pass  # a data directory that cannot be used is an error here, and not in every browser window
    from memento_tui.tui.web.server import WebServer  # noqa: PLC0415 - only this command pays for the server

    def ready(guard: AccessGuard) -> None:
        emit(
            {"url": guard.address, "host": "127.0.0.1", "port": guard.port, "pid": os.getpid()},
            lambda: (
                f"memento is at {guard.address}\nThe address is the key to it: keep it to yourself. ctrl+c ends it."
            ),
        )
        if open_browser:
            _open_browser(guard.address_for_once())

    asyncio.run(WebServer(session.paths.root, report_failure=_print_app_failure).serve(port or 0, ready))


def _print_app_failure(output: str) -> None:
    sys.stderr.write("memento: an app in the browser failed:\n" + safe(output, multiline=True) + "\n")


def _open_browser(address: str) -> None:
    import webbrowser  # noqa: PLC0415 - only --open needs it

    if not webbrowser.open(address):
        sys.stderr.write("memento: no browser could be opened; open the address yourself.\n")


commands = {"mcp": mcp, "serve": serve, "web": web}
