"""The commands ``install``, ``uninstall`` and ``status``: memento in the hosts of agents."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memento_tui.cli.command import CommandFunction, PathArgument, command, current_session, open_workspace
from memento_tui.cli.interaction import confirm
from memento_tui.cli.output import colour_diff, count_of, emit, format_fields, format_time, safe, table
from memento_tui.errors import InvalidInput, MementoError
from memento_tui.hosts.registry import HOSTS, Host, HostPaths
from memento_tui.mcp.profiles import PROFILES
from memento_tui.paths import data_directory, typed_path

__all__ = ["commands"]

if TYPE_CHECKING:
    from memento_tui.api import Workspace
    from memento_tui.hosts.plan import HostFileChange
    from memento_tui.hosts.programs import Programs


def _host_options(function: CommandFunction) -> CommandFunction:
    """Add the options of both `install` and `uninstall`."""
    for option in (
        click.option("--yes", is_flag=True, help="Do not ask."),
        click.option("--dry-run", is_flag=True, help="Show the difference and write nothing."),
        click.option("--project", is_flag=True, help="The settings of the project in this directory, not yours."),
        click.argument("host", type=click.Choice(tuple(HOSTS)), metavar="HOST"),
    ):
        function = option(function)
    return function


@command(
    "install",
    writes=True,
    short_help="Install memento in an agent's host.",
    examples="""
    memento install claude-code
    memento install claude-code --allow-tools
    memento install codex --dry-run
    memento install gemini --project --yes --json
    memento --data-dir ~/work/memory install cursor
    memento install claude-code --plugin ~/memento-plugin
    """,
)
@_host_options
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    default="native",
    show_default=True,
    help="The tools that the server offers: memento's own, or those of a system that it replaces.",
)
@click.option(
    "--plugin", type=PathArgument(), metavar="DIR", help="Write Claude Code's plugin into DIR instead of the settings."
)
@click.option(
    "--allow-tools",
    is_flag=True,
    help="Let Claude Code use memento's tools without asking each time: the gate holds what an agent writes.",
)
def install(
    host: str, profile: str, plugin: str | None, *, allow_tools: bool, project: bool, dry_run: bool, yes: bool
) -> None:
    """Add memento's server and hooks to the settings of HOST.

    HOST is claude-code, codex, gemini, cursor, opencode, claude-desktop, copilot, vscode, windsurf, zed, goose or
    hermes. You see the difference first and are asked.
    Other settings stay as they are, and a copy of each file is kept beside it. Running it again changes nothing.

    A data directory given by --data-dir or MEMENTO_HOME is written into the commands.
    """
    from memento_tui.hosts.plan import plan_installation  # noqa: PLC0415 - same
    from memento_tui.hosts.status import find_other_servers  # noqa: PLC0415 - a command's help is shown without it

    chosen_host, paths = _host(host), host_paths(host, project=project)
    if allow_tools and (host != "claude-code" or plugin is not None):
        raise click.UsageError("--allow-tools is for claude-code's settings.")
    programs = installed_programs(profile, may_run_unasked=allow_tools)
    if plugin is not None:
        if host != "claude-code" or project or dry_run:
            raise click.UsageError("--plugin is for claude-code, without --project and --dry-run.")
        _write_plugin(typed_path(plugin).absolute(), chosen_host, paths, programs, yes=yes)
        return
    _check_not_installed_twice(chosen_host, paths)
    for obstacle in find_other_servers(chosen_host, paths, Path.cwd()):
        raise obstacle
    changes = plan_installation(chosen_host.files(paths, programs))
    _confirm_and_apply(chosen_host, changes, f"{chosen_host.title} has memento already.", dry_run=dry_run, yes=yes)


@command(
    "uninstall",
    writes=True,
    decides=lambda given: not given["dry_run"],
    short_help="Remove memento from an agent's host.",
    examples="""
    memento uninstall claude-code
    memento uninstall codex --dry-run
    memento uninstall gemini --project --yes --json
    """,
)
@_host_options
def uninstall(host: str, *, project: bool, dry_run: bool, yes: bool) -> None:
    """Remove from the settings of HOST what `memento install` added, and nothing else. No memory is touched.

    In an agent's shell it is refused: the hooks and the tools are how you see what agents remember.
    """
    from memento_tui.hosts.plan import plan_removal  # noqa: PLC0415 - a command's help is shown without it
    from memento_tui.hosts.programs import BARE_PROGRAMS  # noqa: PLC0415 - same
    from memento_tui.hosts.status import plugin_is_enabled  # noqa: PLC0415 - same

    chosen_host, paths = _host(host), host_paths(host, project=project)
    nothing = f"{chosen_host.title} does not have memento in its settings."
    if host == "claude-code" and plugin_is_enabled(chosen_host, paths):
        nothing += " It has the plugin: /plugin uninstall memento takes that out."
    _confirm_and_apply(
        chosen_host, plan_removal(chosen_host.files(paths, BARE_PROGRAMS)), nothing, dry_run=dry_run, yes=yes
    )


def _host(name: str) -> Host:
    return HOSTS[name]


def host_paths(host: str, *, project: bool) -> HostPaths:
    """Return the paths of a host's settings.

    Raises:
        InvalidInput: the host has no settings of a project.

    """
    if project and not _host(host).has_projects:
        raise InvalidInput(f"{_host(host).title} has no settings of a project.", "Leave --project out.")
    return HostPaths(Path.home(), os.environ, Path.cwd() if project else None)


def installed_programs(profile: str, *, may_run_unasked: bool = False) -> Programs:
    """Return memento's programs as a host would start them, with the data directory if this run was given one.

    Raises:
        InvalidInput: they are not installed.

    """
    from memento_tui.hosts.programs import find_programs  # noqa: PLC0415 - help is shown without it

    chosen_directory = current_session().data_dir or os.environ.get("MEMENTO_HOME") or None
    directory = data_directory(chosen_directory) if chosen_directory else None
    return find_programs(directory, profile, may_run_unasked=may_run_unasked)


def _create_database() -> None:
    """Create the database if there is none: hooks create none, and the first session is to be recorded too."""
    with open_workspace(create=True):
        pass


def _check_not_installed_twice(host: Host, paths: HostPaths) -> None:
    """Raise `InvalidInput` where another installation would answer every prompt a second time."""
    from memento_tui.hosts.status import has_memento, plugin_is_enabled  # noqa: PLC0415 - help is shown without it

    own = paths._replace(project=None)
    if paths.project is not None and has_memento(host, own):
        raise InvalidInput(
            f"{host.title} has memento in your own settings already, and those hold in every project.",
            f"Take it out there first: memento uninstall {host.name}.",
        )
    if host.name == "claude-code" and (plugin_is_enabled(host, paths) or plugin_is_enabled(host, own)):
        raise InvalidInput(
            "Claude Code has memento as a plugin already; with both, every prompt would be answered twice.",
            "Take the plugin out first: /plugin uninstall memento.",
        )


def _write_plugin(folder: Path, host: Host, paths: HostPaths, programs: Programs, *, yes: bool) -> None:
    from memento_tui.hosts.layouts import write_plugin  # noqa: PLC0415 - help is shown without it
    from memento_tui.hosts.status import has_memento  # noqa: PLC0415 - same

    if has_memento(host, paths):
        raise InvalidInput(
            "Claude Code has memento in its settings already; with the plugin, every prompt would be answered twice.",
            "Take it out first: memento uninstall claude-code.",
        )
    _confirm(f"Write Claude Code's plugin into {folder}", yes=yes)
    _create_database()
    files = write_plugin(folder, programs)
    steps = [f"/plugin marketplace add {folder}", "/plugin install memento@memento"]
    emit(
        {"plugin": str(folder), "files": [str(file) for file in files], "next": steps},
        lambda: safe("\n".join([f"The plugin is in {folder}. In Claude Code:", *steps]), multiline=True),
    )


def _confirm_and_apply(
    host: Host, changes: Sequence[HostFileChange], nothing: str, *, dry_run: bool, yes: bool
) -> None:
    """Show the difference, ask, write it, and print the outcome."""
    from memento_tui.hosts.plan import apply_changes  # noqa: PLC0415 - help is shown without it

    data: dict[str, Any] = {"host": host.name, "changes": [_change_object(change) for change in changes]}
    if not changes:
        emit({**data, "written": False, "copies": []}, lambda: nothing)
        return
    shown = "\n".join(change.difference() for change in changes)
    if dry_run:
        emit({**data, "written": False, "copies": []}, lambda: colour_diff(shown))
        return
    if not yes and not current_session().as_json:
        sys.stderr.write(colour_diff(shown) + "\n")
    _confirm(f"Write {'this file' if len(changes) == 1 else f'these {len(changes)} files'}", yes=yes)
    if not changes[0].is_removal:
        _create_database()
    copies = apply_changes(changes)
    lines = [f"{_PAST_TENSE[change.action]}  {change.path}" for change in changes]
    lines += [f"kept     {copy}" for copy in copies]
    lines += [] if changes[0].is_removal else [host.next_step]
    emit(
        {**data, "written": True, "copies": [str(copy) for copy in copies]},
        lambda: safe("\n".join(lines), multiline=True),
    )


_PAST_TENSE = {"create": "created", "change": "changed", "delete": "deleted"}


def _change_object(change: HostFileChange) -> dict[str, str]:
    return {"path": str(change.path), "action": change.action, "difference": change.difference()}


def _confirm(question: str, *, yes: bool) -> None:
    confirm(
        question,
        yes=yes,
        unasked="Changing a host's settings asks first.",
        hint="Say --yes if you are sure; --dry-run shows the difference.",
        declined="Nothing was written.",
    )


if TYPE_CHECKING:
    from memento_tui.hosts.status import HostStatus


@command(
    "status",
    short_help="Show which agents' hosts have memento, and whether it works.",
    examples="""
    memento status
    memento status --json
    memento status --project
    """,
)
@click.option("--project", is_flag=True, help="The settings of the project in this directory, not yours.")
def status(*, project: bool) -> None:
    """Show for each host whether memento is installed, what it runs and whether that works; then the data directory.

    Only this installation's own hook is started, to check that it answers.
    """
    from memento_tui.hosts.status import diagnose_hook, host_status  # noqa: PLC0415 - a command's help is shown without it

    programs, problem = None, ""
    try:
        programs = installed_programs("native")
        problem = diagnose_hook(programs)
    except InvalidInput as error:
        problem = str(error)
    hosts = [
        host_status(host, host_paths(host.name, project=project), programs, Path.cwd())
        for host in HOSTS.values()
        if host.has_projects or not project
    ]
    data = {
        "hosts": [_host_object(one) for one in hosts],
        "hook": {"program": programs.hook if programs else "", "answers": not problem, "problem": problem},
        "memory": _memory_status(),
    }
    emit(data, lambda: _status_text(hosts, data))


def _host_object(one: HostStatus) -> dict[str, Any]:
    files = [
        {
            "path": str(file.path),
            "is_current": file.is_current,
            "problem": file.problem,
            "commands": [vars(found) for found in file.commands],
        }
        for file in one.files
    ]
    return {
        "host": one.host,
        "title": one.title,
        "state": one.state,
        "plugin": one.plugin,
        "problems": one.problems,
        "files": files,
    }


def _memory_status() -> dict[str, Any]:
    """Return the state of the data directory; that it does not exist yet is no failure."""
    from memento_tui.api.activity import ActivityQuery  # noqa: PLC0415 - same
    from memento_tui.api.overview import inbox_counts, record_counts  # noqa: PLC0415 - same
    from memento_tui.config import load_config  # noqa: PLC0415 - help is shown without it
    from memento_tui.model.validation import to_plain  # noqa: PLC0415 - same
    from memento_tui.search.engine_client import SemanticClient  # noqa: PLC0415 - same

    paths = current_session().paths
    data: dict[str, Any] = {"data_dir": str(paths.root), "exists": paths.database.exists(), "problem": ""}
    try:
        enabled = load_config(paths.config).engine.enabled
        found = SemanticClient(paths, enabled=enabled).status()
        data["engine"] = found.state if found is not None else "stopped" if enabled else "off"
        if data["exists"]:
            with open_workspace() as workspace:
                rows, _ = workspace.activity.exposures(ActivityQuery(), limit=1)
                data["amounts"] = to_plain(record_counts(workspace))
                data["maintenance"] = _maintenance_status(workspace)
                data["waiting"] = sum(kind.count for kind in inbox_counts(workspace))
                data["last_injection"] = to_plain(rows[0].exposure) if rows else None
    except MementoError as error:
        data["problem"] = str(error)
    return data


def _maintenance_status(workspace: Workspace) -> dict[str, Any]:
    from memento_tui import clock  # noqa: PLC0415 - as above
    from memento_tui.api.maintenance_schedule import describe_maintenance, maintenance_state  # noqa: PLC0415 - as above
    from memento_tui.cli.timers import current_timer  # noqa: PLC0415 - as above
    from memento_tui.model.validation import to_plain  # noqa: PLC0415 - as above

    state = maintenance_state(workspace)
    try:
        timer = [str(file.path) for file in current_timer().files if file.path.is_file()]
    except InvalidInput:  # the line about the hook says that the program is not installed
        timer = []
    return {**to_plain(state), "timer": timer, "summary": describe_maintenance(state, clock.now(), timer=bool(timer))}


def _status_text(hosts: Sequence[HostStatus], data: dict[str, Any]) -> str:
    rows = [[one.title, _host_state(one), _host_programs(one)] for one in hosts]
    lines = [table(["HOST", "MEMENTO", "RUNS"], rows)]
    lines += [safe(f"! {one.title}: {problem}") for one in hosts for problem in one.problems]
    hook, memory = data["hook"], data["memory"]
    last = memory.get("last_injection")
    counts = memory.get("amounts", {})
    lines += [
        "",
        format_fields(
            {
                "hook": f"{hook['program']} answers" if hook["answers"] else f"! {hook['problem']}",
                "data": memory["data_dir"] + ("" if memory["exists"] else " (nothing is remembered yet)"),
                "problem": memory["problem"],
                "engine": memory.get("engine", ""),
                "holds": ", ".join(
                    count_of(counts[name], *words) for name, words in _COUNT_NOUNS.items() if name in counts
                ),
                "maintained": memory.get("maintenance", {}).get("summary", ""),
                "waiting": f"{memory['waiting']:,} for your decision" if "waiting" in memory else "",
                "last data": f"{format_time(last['at'])} to session {last['session']}" if last else "",
            }
        ),
    ]
    return "\n".join(lines)


_COUNT_NOUNS = {
    "memories": ("memory", "memories"),
    "working_items": ("working item", "working items"),
    "skips": ("skip", "skips"),
}


def _host_state(one: HostStatus) -> str:
    return "as a plugin" if one.plugin and one.state == "not installed" else one.state


def _host_programs(one: HostStatus) -> str:
    return next((found.command for file in one.files for found in file.commands if found.kind == "server"), "-")


commands = {"install": install, "uninstall": uninstall, "status": status}
