"""The program ``memento``: the table of its commands; only the command that runs is imported."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import NamedTuple

import click
from click.shell_completion import CompletionItem

from memento_tui.app_sections import SECTION_NAMES
from memento_tui.cli.command import CliSession, Group
from memento_tui.cli.output import report_error

__all__ = ["COMMANDS", "main", "root"]


class CommandEntry(NamedTuple):
    """One row of the table: the module of a command in this folder, and its summary for the help."""

    module: str
    summary: str


COMMAND_GROUPS: dict[str, dict[str, CommandEntry]] = {
    "Everyday": {
        "add": CommandEntry("memories", "Add a memory."),
        "list": CommandEntry("memories", "List memories, the latest change first."),
        "search": CommandEntry("search", "Search memories by words and by meaning."),
        "show": CommandEntry("memories", "Show one memory."),
        "edit": CommandEntry("memories", "Change a memory, by options or in your editor."),
        "rm": CommandEntry("memories", "Delete memories; they can be restored."),
        "restore": CommandEntry("memories", "Restore deleted memories, or an earlier version of one."),
        "skip": CommandEntry("lists", "Keep the list of what agents are not to do."),
        "item": CommandEntry("lists", "Keep the list of what is being worked on."),
        "crystal": CommandEntry("crystals", "Keep the agent's identity, a text in prose."),
        "overview": CommandEntry("overview", "Show what waits, what agents did and what ends soon."),
    },
    "Look closer": {
        "timeline": CommandEntry("overview", "Show what was remembered around the same time."),
        "links": CommandEntry("overview", "Show what a memory is related to."),
        "relate": CommandEntry("memories", "Relate a memory to another record."),
        "facets": CommandEntry("overview", "Count memories by kind, tag, tier and source."),
        "tags": CommandEntry("overview", "List the tags in use."),
        "namespaces": CommandEntry("overview", "List the namespaces in use."),
        "searches": CommandEntry("search", "Keep searches under a name."),
        "history": CommandEntry("activity", "Show the versions of a memory, or the whole journal."),
        "activity": CommandEntry("activity", "Show what was done, by whom, and since you last looked."),
        "exposures": CommandEntry("activity", "Show what agents were shown, why, and at what cost."),
        "report": CommandEntry("report", "Show whether memories help: what was told, used and paid for."),
    },
    "Govern": {
        "review": CommandEntry("review", "Decide proposals and contradictions."),
        "contradiction": CommandEntry("contradictions", "Resolve memories that contradict each other."),
        "undo": CommandEntry("activity", "Undo the last change, or any journal entry."),
        "redo": CommandEntry("activity", "Redo what was undone last."),
        "reject": CommandEntry("memories", "Reject memories, with a reason that agents read."),
        "session": CommandEntry("sessions", "Take what one session of an agent wrote out of recall."),
        "policy": CommandEntry("policy", "Show which writes need a person's approval, and why."),
        "purge": CommandEntry("memories", "Remove a record with all its versions, for a leaked secret."),
    },
    "Agents": {
        "install": CommandEntry("hosts", "Install memento in an agent's host."),
        "uninstall": CommandEntry("hosts", "Remove memento from an agent's host."),
        "status": CommandEntry("hosts", "Show which agents' hosts have memento, and whether it works."),
        "mcp": CommandEntry("serve", "Serve the memory to an agent over MCP, on stdio."),
        "serve": CommandEntry("serve", "Serve the memory to agents over HTTP."),
        "account": CommandEntry("accounts", "List and revoke the accounts of HTTP clients."),
        "token": CommandEntry("tokens", "Let scripts of your own decide without a terminal."),
        "distill": CommandEntry("maintenance", "Propose memories from an agent's transcript."),
    },
    "Bring in and out": {
        "import": CommandEntry("import_export", "Import memories from files."),
        "export": CommandEntry("import_export", "Write everything to a file or folder."),
        "mirror": CommandEntry("mirror", "Keep a folder of notes in sync with the memories."),
        "hub": CommandEntry("hub", "Share the memory with your other machines and your team."),
        "web": CommandEntry("serve", "Serve the app to a browser on this machine."),
    },
    "Keep in order": {
        "maintain": CommandEntry("maintenance", "Maintain the memories: what ages and what repeats."),
        "audit": CommandEntry("maintenance", "Find duplicates, stale memories, secrets and other problems."),
        "backup": CommandEntry("maintenance", "Make, check and restore backups."),
        "encrypt": CommandEntry("encryption", "Encrypt the workspace and its backups on the disk."),
        "decrypt": CommandEntry("encryption", "Write an encrypted workspace in clear again."),
        "unlock": CommandEntry("encryption", "Unlock an encrypted workspace, until the machine restarts."),
        "lock": CommandEntry("encryption", "Lock an encrypted workspace."),
        "passphrase": CommandEntry("encryption", "Change the passphrase of an encrypted workspace."),
        "compact": CommandEntry("system", "Make the database smaller."),
        "doctor": CommandEntry("system", "Check the installation, the database and the indexes."),
        "engine": CommandEntry("system", "Control the background engine of semantic search."),
        "reindex": CommandEntry("system", "Rebuild the search indexes."),
    },
    "The program": {
        "keys": CommandEntry("system", "List the keys of the app."),
        "workspace": CommandEntry("workspaces", "List the workspaces, and choose which one opens."),
        "settings": CommandEntry("settings", "Show and change the settings of config.toml."),
        "paths": CommandEntry("system", "Print the paths of all files."),
        "status-line": CommandEntry("system", "Print how much waits, for prompts and status lines."),
        "completion": CommandEntry("completion", "Complete commands with Tab in your shell."),
    },
}
"""The commands under the headings of the help."""

COMMANDS = {name: entry for entries in COMMAND_GROUPS.values() for name, entry in entries.items()}
"""Every command by its name, in the order of the help."""


_FORMER_NAMES = {"injections": "exposures", "sleep": "maintain"}
"""Commands that had another name: scripts may go on to call them by it, and help does not list it."""


_OTHER_WORDS = {
    "ls": "list",
    "find": "search",
    "grep": "search",
    "recall": "search",
    "get": "show",
    "cat": "show",
    "remember": "add",
    "new": "add",
    "config": "settings",
    "log": "history",
    "identity": "crystal",
    "help": "--help",
    "version": "--version",
}
"""The names that commands have in other programs, with the ones that they have here."""


class RootGroup(Group):
    """The group of all commands, whose modules are imported when they run."""

    other_words = _OTHER_WORDS

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of the commands in the order of the help."""
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
        """List the commands by group, without importing them."""
        width = max(map(len, COMMANDS))
        for title, entries in COMMAND_GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<{width}}", entry.summary) for name, entry in entries.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands and options that begin as given, without importing the commands."""
        options = click.Command.shell_complete(self, ctx, incomplete)
        names = [name for name in COMMANDS if name.startswith(incomplete)]
        return [*(CompletionItem(name, help=COMMANDS[name].summary) for name in names), *options]


@click.group(
    "memento",
    cls=RootGroup,
    invoke_without_command=True,
    examples="""
    memento                                 open the app
    memento --open review                   open it in the review section
    memento --read-only                     look, and write nothing to the data directory
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
    from memento_tui.cli.author import require_own_terminal  # noqa: PLC0415 - as below
    from memento_tui.cli.passphrase import unlock_for_person  # noqa: PLC0415 - as below
    from memento_tui.tui import garbage  # noqa: PLC0415 - as below

    garbage.disable_collection()  # Textual alone makes enough objects for several collections
    from memento_tui.tui.app import run  # noqa: PLC0415 - only the app pays for Textual

    require_own_terminal("The app")
    return run(session.directory, section, read_only=session.read_only, unlock=unlock_for_person)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    json_wanted = "--json" in (words[: words.index("--")] if "--" in words else words)
    try:
        code = root.main(words, prog_name="memento", standalone_mode=False)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - nothing above this reports an error
        return report_error(error, json_wanted=json_wanted)
    return code if isinstance(code, int) else 0
