"""Commands that put memento into the hosts of agents and take it out: ``install`` and ``uninstall``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memento_tui.agent.profiles import PROFILES
from memento_tui.cli.command import Function, command
from memento_tui.cli.output import difference, emit, safe
from memento_tui.cli.session import current_session, opened
from memento_tui.errors import InvalidInput
from memento_tui.paths import data_directory

if TYPE_CHECKING:
    from memento_tui.agent.install.hosts import Host, Places
    from memento_tui.agent.install.plan import Change
    from memento_tui.agent.install.programs import Programs

__all__ = ["commands", "installed_programs", "places_of"]

_NAMES = ("claude-code", "codex", "gemini", "cursor", "opencode", "claude-desktop")


def _choices(function: Function) -> Function:
    """Add what `install` and `uninstall` both ask."""
    for option in (
        click.option("--yes", is_flag=True, help="Do not ask."),
        click.option("--dry-run", is_flag=True, help="Show the difference and write nothing."),
        click.option("--project", is_flag=True, help="The settings of the project in this directory, not yours."),
        click.argument("host", type=click.Choice(_NAMES), metavar="HOST"),
    ):
        function = option(function)
    return function


@command(
    "install",
    short_help="Put memento into an agent's host.",
    examples="""
    memento install claude-code
    memento install codex --dry-run
    memento install gemini --project --yes --json
    memento --data-dir ~/work/memory install cursor
    memento install claude-code --plugin ~/memento-plugin
    """,
)
@_choices
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    default="native",
    show_default=True,
    help="Whose tools the server offers: memento's own, or those of a system that it stands in for.",
)
@click.option(
    "--plugin", type=click.Path(), metavar="DIR", help="Write Claude Code's plugin into DIR instead of the settings."
)
def install(host: str, profile: str, plugin: str | None, *, project: bool, dry_run: bool, yes: bool) -> None:
    """Put memento's server and hooks into the settings of HOST.

    HOST is claude-code, codex, gemini, cursor, opencode or claude-desktop. You see the difference first and are asked.
    What others wrote there stays as it is, and a copy of each file is kept beside it. Doing it again changes nothing.

    A data directory that --data-dir or MEMENTO_HOME names is written into the commands.
    """
    from memento_tui.agent.install.plan import installation  # noqa: PLC0415 - a command's help is shown without it

    chosen, places = _host(host), places_of(host, project=project)
    programs = installed_programs(profile)
    if plugin is not None:
        if host != "claude-code" or project or dry_run:
            raise click.UsageError("--plugin is for claude-code, without --project and --dry-run.")
        _write_plugin(Path(plugin).expanduser().absolute(), chosen, places, programs, yes=yes)
        return
    _refuse_twice(chosen, places)
    changes = installation(chosen.files(places, programs))
    _offer(chosen, changes, f"{chosen.title} has memento already.", dry_run=dry_run, yes=yes)


@command(
    "uninstall",
    short_help="Take memento out of an agent's host.",
    examples="""
    memento uninstall claude-code
    memento uninstall codex --dry-run
    memento uninstall gemini --project --yes --json
    """,
)
@_choices
def uninstall(host: str, *, project: bool, dry_run: bool, yes: bool) -> None:
    """Take out of the settings of HOST what `memento install` put there, and nothing else. No memory is touched."""
    from memento_tui.agent.install.plan import removal  # noqa: PLC0415 - a command's help is shown without it
    from memento_tui.agent.install.programs import BARE  # noqa: PLC0415 - same
    from memento_tui.agent.install.status import plugin_is_enabled  # noqa: PLC0415 - same

    chosen, places = _host(host), places_of(host, project=project)
    nothing = f"{chosen.title} does not have memento in its settings."
    if host == "claude-code" and plugin_is_enabled(chosen, places):
        nothing += " It has the plugin: /plugin uninstall memento takes that out."
    _offer(chosen, removal(chosen.files(places, BARE)), nothing, dry_run=dry_run, yes=yes)


def _host(name: str) -> Host:
    from memento_tui.agent.install.hosts import HOSTS  # noqa: PLC0415 - a command's help is shown without it

    return HOSTS[name]


def places_of(host: str, *, project: bool) -> Places:
    """Return where a host looks for its settings.

    Raises:
        InvalidInput: a project was asked for, and the host knows none.

    """
    from memento_tui.agent.install.hosts import Places  # noqa: PLC0415 - a command's help is shown without it

    if project and not _host(host).has_projects:
        raise InvalidInput(f"{_host(host).title} has no settings of a project.", "Leave --project out.")
    return Places(Path.home(), os.environ, Path.cwd() if project else None)


def installed_programs(profile: str) -> Programs:
    """Return the programs, with the data directory where this run was given one.

    Raises:
        InvalidInput: they are not installed.

    """
    from memento_tui.agent.install.programs import found_programs  # noqa: PLC0415 - help is shown without it

    given = current_session().data_dir or os.environ.get("MEMENTO_HOME") or None
    return found_programs(data_directory(given) if given else None, profile)


def _begin() -> None:
    """Make the database where there is none: hooks make none, and the very first session is to be learned from."""
    with opened(create=True):
        pass


def _refuse_twice(host: Host, places: Places) -> None:
    """See to it that no prompt would be answered twice. Raises `InvalidInput`."""
    from memento_tui.agent.install.status import has_memento, plugin_is_enabled  # noqa: PLC0415 - help is shown without it

    own = replace(places, project=None)
    if places.project is not None and has_memento(host, own):
        raise InvalidInput(
            f"{host.title} has memento in your own settings already, and those hold in every project.",
            f"Take it out there first: memento uninstall {host.name}.",
        )
    if host.name == "claude-code" and (plugin_is_enabled(host, places) or plugin_is_enabled(host, own)):
        raise InvalidInput(
            "Claude Code has memento as a plugin already; with both, every prompt would be answered twice.",
            "Take the plugin out first: /plugin uninstall memento.",
        )


def _write_plugin(folder: Path, host: Host, places: Places, programs: Programs, *, yes: bool) -> None:
    from memento_tui.agent.install.plugin import write_plugin  # noqa: PLC0415 - help is shown without it
    from memento_tui.agent.install.status import has_memento  # noqa: PLC0415 - same

    if has_memento(host, places):
        raise InvalidInput(
            "Claude Code has memento in its settings already; with the plugin, every prompt would be answered twice.",
            "Take it out first: memento uninstall claude-code.",
        )
    _sure(f"Write Claude Code's plugin into {folder}", yes=yes)
    _begin()
    files = write_plugin(folder, programs)
    steps = [f"/plugin marketplace add {folder}", "/plugin install memento@memento"]
    emit(
        {"plugin": str(folder), "files": [str(file) for file in files], "next": steps},
        lambda: safe("\n".join([f"The plugin is in {folder}. In Claude Code:", *steps]), multiline=True),
    )


def _offer(host: Host, changes: Sequence[Change], nothing: str, *, dry_run: bool, yes: bool) -> None:
    """Show what would change, ask, do it, and tell."""
    from memento_tui.agent.install.plan import carry_out  # noqa: PLC0415 - help is shown without it

    told: dict[str, Any] = {"host": host.name, "changes": [_plain(change) for change in changes]}
    if not changes:
        emit({**told, "written": False, "copies": []}, lambda: nothing)
        return
    shown = "\n".join(change.difference() for change in changes)
    if dry_run:
        emit({**told, "written": False, "copies": []}, lambda: difference(shown))
        return
    if not yes and not current_session().as_json:
        sys.stderr.write(difference(shown) + "\n")
    _sure(f"Write {'this file' if len(changes) == 1 else f'these {len(changes)} files'}", yes=yes)
    if not changes[0].is_removal:
        _begin()
    copies = carry_out(changes)
    lines = [f"{_PAST[change.action]}  {change.path}" for change in changes]
    lines += [f"kept     {copy}" for copy in copies]
    lines += [] if changes[0].is_removal else [host.afterwards]
    emit(
        {**told, "written": True, "copies": [str(copy) for copy in copies]},
        lambda: safe("\n".join(lines), multiline=True),
    )


_PAST = {"create": "created", "change": "changed", "delete": "deleted"}


def _plain(change: Change) -> dict[str, str]:
    return {"path": str(change.path), "action": change.action, "difference": change.difference()}


def _sure(question: str, *, yes: bool) -> None:
    if yes:
        return
    if current_session().as_json or not sys.stdin.isatty():
        raise InvalidInput(
            "Changing a host's settings asks first.", "Say --yes if you are sure; --dry-run shows the difference."
        )
    if not click.confirm(safe(question) + "?", err=True):
        raise InvalidInput("Nothing was written.")


commands = {"install": install, "uninstall": uninstall}
