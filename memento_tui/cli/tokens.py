"""The command ``token``: make, list and revoke the tokens of the person's own scripts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from memento_tui.cli.author import TOKEN_VARIABLE, require_own_terminal
from memento_tui.cli.command import current_session, group
from memento_tui.cli.output import emit, for_each, format_time, safe, table

__all__ = ["commands"]

if TYPE_CHECKING:
    from memento_tui.api.tokens import ScriptToken, ScriptTokens


def _tokens() -> ScriptTokens:
    from memento_tui.api.tokens import ScriptTokens  # noqa: PLC0415 - a command's help is shown without it

    return ScriptTokens(current_session().paths)


@group(
    "token",
    invoke_without_command=True,
    short_help="Let scripts of your own decide without a terminal.",
    examples="""
    memento token make nightly
    MEMENTO_TOKEN=mto_... memento review approve p-4tq2
    memento token revoke nightly
    """,
)
@click.pass_context
def token(ctx: click.Context) -> None:
    """Make, list and revoke the tokens of your own scripts. Without a command, list them.

    What only a person decides needs a terminal in which a person sits, or one of these tokens in MEMENTO_TOKEN. Give it
    to that script alone: an agent that is started where it is set decides in your name.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_tokens)


@token.command(
    "make",
    writes=True,
    short_help="Make a token for a script.",
    examples="""
    memento token make nightly
    memento token make nightly --json
    """,
)
@click.argument("name")
def make(name: str) -> None:
    """Make a token and print it. It is shown this once: only its hash is kept."""
    require_own_terminal("Making a token")
    made = _tokens().make(name)
    emit(
        {"name": name, "token": made, "variable": TOKEN_VARIABLE},
        lambda: f"{TOKEN_VARIABLE}={made}\nGive it to the script alone. memento token revoke {safe(name)} ends it.",
    )


@token.command(
    "list",
    short_help="List the tokens.",
    examples="""
    memento token list
    memento token list --json
    """,
)
def list_tokens() -> None:
    """List the tokens in the order in which they were made, without the tokens themselves."""
    listed = _tokens().list()
    emit(
        {"items": [{"name": one.name, "created_at": one.created_at} for one in listed]},
        lambda: _token_table(listed),
    )


def _token_table(listed: Sequence[ScriptToken]) -> str:
    if not listed:
        return "There is no token: scripts decide nothing in your name."
    return table(["NAME", "MADE"], [[one.name, format_time(one.created_at)] for one in listed])


@token.command(
    "revoke",
    writes=True,
    decides=True,
    short_help="Revoke tokens.",
    examples="""
    memento token revoke nightly
    memento token revoke nightly weekly --json
    """,
)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def revoke(names: tuple[str, ...]) -> None:
    """Revoke tokens: they open nothing from now on."""
    tokens = _tokens()

    def revoke_one(name: str) -> dict[str, str]:
        return {"name": tokens.revoke(name).name, "status": "revoked"}

    for_each(names, revoke_one, lambda outcome: f"{safe(outcome['name'])}  {outcome['status']}")


commands = {"token": token}
