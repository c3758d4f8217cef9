"""The command ``serve``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from memento_tui.agent.profiles import PROFILES
from memento_tui.cli.command import command
from memento_tui.cli.output import emit
from memento_tui.cli.session import current_session

if TYPE_CHECKING:
    from memento_tui.agent.http.server import Serving

__all__ = ["commands"]


@command(
    "serve",
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
    help="Whose tools MCP has at /mcp: memento's own, or those of a system that it stands in for.",
)
def serve(host: str, port: int, profile: str) -> None:
    """Serve the memory over HTTP until ctrl+c: Memento Protocol's REST at /v1, MCP at /mcp.

    Every request needs the key that is shown. It is made once and kept in the data directory; one of your own goes
    into MEMENTO_API_KEY, and without that nothing but this machine is listened to. What agents write passes the gate,
    and a person decides with `memento review`.
    """
    from memento_tui.agent.http.keys import KEY_VARIABLE  # noqa: PLC0415 - only this command pays for the server
    from memento_tui.agent.http.server import serve as run  # noqa: PLC0415 - same

    run(
        current_session().data_dir,
        host=host,
        port=port,
        profile=profile,
        key=os.environ.get(KEY_VARIABLE, ""),
        ready=_tell,
    )


def _tell(serving: Serving) -> None:
    emit(
        {"url": serving.url, "port": serving.port, "key": serving.key, "pid": os.getpid()},
        lambda: (
            f"memento serves {serving.url}/v1 and {serving.url}/mcp. Paste this where your agent starts:\n"
            f"export MEMENTO_API_URL={serving.url} MEMENTO_API_KEY={serving.key}\n"
            "The key opens your memories: keep it to yourself. ctrl+c ends the server."
        ),
    )


commands = {"serve": serve}
