"""The command ``mcp``."""

from __future__ import annotations

import sys

import click

from memento_tui.agent.profiles import PROFILES
from memento_tui.cli.command import command
from memento_tui.cli.output import note
from memento_tui.cli.session import current_session

__all__ = ["commands"]


@command(
    "mcp",
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
    help="What the agent's writes are filed under; if not given, Claude Code's own session, else random.",
)
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    default="native",
    show_default=True,
    help="Whose tools: memento's own, or those of a system that it stands in for, under their names.",
)
def mcp(session: str, profile: str) -> None:
    """Serve the memory to an agent over the Model Context Protocol, on standard input and output.

    An agent's host starts it; what the agent writes passes the gate, and a person decides with `memento review`. For
    agents that speak the protocol over HTTP there is `memento serve`.
    """
    if sys.stdin.isatty():
        note("This waits for an agent's messages; hosts start it by themselves, see memento install. ctrl+c ends it.")
    from memento_tui.agent.server import main  # noqa: PLC0415 - the SDK takes a second to import

    code = main(current_session().data_dir, session=session, profile=profile)
    if code:
        raise click.exceptions.Exit(code)


commands = {"mcp": mcp}
