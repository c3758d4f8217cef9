"""The command ``keys``: list the keys of the app."""

from __future__ import annotations

import click

from memento_tui.cli.command import CliSession, command
from memento_tui.cli.output import emit, table
from memento_tui.config import load_config
from memento_tui.paths import DataPaths, data_directory

__all__ = ["commands"]


@command(
    "keys",
    short_help="List the keys of the app.",
    examples="""
    memento keys
    memento keys --place review
    memento keys --markdown
    """,
)
@click.option("--place", metavar="NAME", help="Only the keys of one part of the app, such as review or editor.")
@click.option("--markdown", is_flag=True, help="Print the tables that the README shows.")
@click.pass_context
def keys(ctx: click.Context, place: str | None, markdown: bool) -> None:  # noqa: FBT001 - click's callback
    """List every command of the app with its name, its keys as config.toml sets them, and what it does.

    To approve with A instead of a, add to config.toml a section [keys] with the line "review.approve" = "A".
    """
    # Textual
    from memento_tui.tui.commands import COMMANDS, KEY_SCOPES, KeyMap, key_names, markdown_table  # noqa: PLC0415

    if place is not None and place not in KEY_SCOPES:
        known = ", ".join(KEY_SCOPES)
        raise click.BadParameter(f"there is no place {place}; there are {known}.", ctx, param_hint="--place")
    if markdown:
        click.echo(markdown_table(), nl=False)
        return
    session = ctx.ensure_object(CliSession)
    set_by_person = KeyMap(load_config(DataPaths(data_directory(session.data_dir)).config).keys)
    chosen = [command for command in COMMANDS if place in (None, command.scope)]
    items = [
        {
            "command": command.id,
            "place": command.scope,
            "keys": key_names(set_by_person.of(command)).split(" "),
            "help": command.help,
        }
        for command in chosen
    ]
    rows = [[key_names(set_by_person.of(command)), command.id, command.help] for command in chosen]
    problems = "".join(f"\n{problem}" for problem in set_by_person.problems)
    found = {"items": items, "next": None, "problems": list(set_by_person.problems)}
    emit(found, lambda: table(["KEY", "COMMAND", "WHAT IT DOES"], rows) + problems)


commands = {"keys": keys}
