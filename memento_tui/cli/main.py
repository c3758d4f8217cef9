"""The program ``memento``: the table of commands, of which only the one used is imported."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import NamedTuple

import click

from memento_tui.app_sections import SECTION_NAMES
from memento_tui.cli.command import CliSession, Group
from memento_tui.cli.output import report_error

__all__ = ["COMMANDS", "main", "root"]


class CommandEntry(NamedTuple):
    """Where a command is, and what it does in a few words."""

    module: str
    summary: str


COMMANDS: dict[str, CommandEntry] = {
    "add": CommandEntry("memories", "Remember a text."),
    "list": CommandEntry("memories", "List memories, the latest change first."),
    "search": CommandEntry("search", "Search memories by words and by meaning."),
    "show": CommandEntry("memories", "Show one memory."),
    "edit": CommandEntry("memories", "Change a memory, by options or in your editor."),
    "rm": CommandEntry("memories", "Delete memories; they can be restored."),
    "reject": CommandEntry("memories", "Turn down memories, with a reason that agents read."),
    "restore": CommandEntry("memories", "Bring deleted memories back, or an earlier version of one."),
    "purge": CommandEntry("memories", "Remove every trace of a memory, for a leaked secret."),
    "searches": CommandEntry("search", "Searches that you keep under a name."),
    "timeline": CommandEntry("overview", "Show what was remembered around the same time."),
    "links": CommandEntry("overview", "Show what a memory is related to."),
    "facets": CommandEntry("overview", "Count memories by kind, tag, tier and source."),
    "overview": CommandEntry("overview", "Show what waits, what agents did and what ends soon."),
    "tags": CommandEntry("overview", "List the tags in use."),
    "namespaces": CommandEntry("overview", "List the namespaces in use."),
    "history": CommandEntry("activity", "Show the versions of a memory, or the whole journal."),
    "activity": CommandEntry("activity", "What was done, by whom, and since you last looked."),
    "exposures": CommandEntry("activity", "What agents were shown, why, and at what cost."),
    "undo": CommandEntry("activity", "Take back the last change, or any journal entry."),
    "redo": CommandEntry("activity", "Do again what was undone last."),
    "review": CommandEntry("review", "Decide about what waits for a person."),
    "contradiction": CommandEntry("contradictions", "Memories that cannot both hold."),
    "policy": CommandEntry("policy", "Which writes wait for a person, and why."),
    "maintain": CommandEntry("maintenance", "Maintain the memories: what ages, repeats or contradicts."),
    "distill": CommandEntry("maintenance", "Learn from an agent's transcript."),
    "skip": CommandEntry("lists", "What the agent is not to do, why, and until when."),
    "item": CommandEntry("lists", "What is being worked on and waited for."),
    "crystal": CommandEntry("crystals", "Who the agent is, in prose."),
    "import": CommandEntry("import_export", "Import memories from files."),
    "export": CommandEntry("import_export", "Write everything to a file or folder."),
    "mirror": CommandEntry("mirror", "Keep a folder of notes in step with the memories."),
    "reindex": CommandEntry("system", "Build the search indexes anew."),
    "audit": CommandEntry("maintenance", "Look for what has gone bad in the memories."),
    "backup": CommandEntry("maintenance", "Make, check and restore backups."),
    "doctor": CommandEntry("system", "Check that everything is in order."),
    "engine": CommandEntry("system", "Look after the background engine of semantic search."),
    "keys": CommandEntry("keys", "List the keys of the app."),
    "paths": CommandEntry("system", "Print where everything lies."),
    "web": CommandEntry("serve", "Serve the app to a browser on this machine."),
    "install": CommandEntry("hosts", "Put memento into an agent's host."),
    "uninstall": CommandEntry("hosts", "Take memento out of an agent's host."),
    "status": CommandEntry("hosts", "Tell which agents' hosts have memento, and how it stands."),
    "mcp": CommandEntry("serve", "Serve the memory to an agent over MCP, on stdio."),
    "serve": CommandEntry("serve", "Serve the memory to agents over HTTP."),
}


_FORMER_NAMES = {"injections": "exposures", "sleep": "maintain"}
"""Commands that had another name: scripts may go on to call them by it, and help does not list it."""


class RootGroup(Group):
    """The commands, by name; a command's module is imported when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the commands in the order in which they are explained."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Import and return a command."""
        name = _FORMER_NAMES.get(cmd_name, cmd_name)
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f"memento_tui.cli.{COMMANDS[name].module}")
        command: click.Command = module.commands[name]
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, place.summary) for name, place in COMMANDS.items()])


@click.group(
    "memento",
    cls=RootGroup,
    invoke_without_command=True,
    examples="""
    memento                                 open the app
    memento --open review                   open it at what waits for you
    memento add "The API lives at /v2." --tag api
    memento search "where is the api" --json
    MEMENTO_HOME=~/work memento list tag:api
    """,
)
@click.version_option(package_name="memento-tui", prog_name="memento")
@click.option(
    "--open",
    "section",
    type=click.Choice(SECTION_NAMES),
    default="home",
    show_default=True,
    help="The section in which the app opens.",
)
@click.pass_context
def root(ctx: click.Context, section: str) -> int | None:
    """See and govern what your AI agent remembers.

    Without a command the app opens.
    """
    if ctx.invoked_subcommand is not None:
        return None
    session = ctx.ensure_object(CliSession)
    if session.as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError("The app needs a terminal; name a command.", ctx)
    from memento_tui.tui.app import run  # noqa: PLC0415 - only the app pays for Textual

    return run(session.data_dir, section)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    json_wanted = "--json" in (given[: given.index("--")] if "--" in given else given)
    try:
        code = root.main(given, prog_name="memento", standalone_mode=False)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the last place that can tell anyone
        return report_error(error, json_wanted=json_wanted)
    return code if isinstance(code, int) else 0
