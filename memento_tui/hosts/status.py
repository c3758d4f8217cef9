"""Report the state of memento in each host: whether the commands in its files work, and others' servers of its name."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from memento_tui.errors import InvalidInput
from memento_tui.hosts import json_entries
from memento_tui.hosts.files import InstalledCommand, read_host_file
from memento_tui.hosts.json_entries import SERVER_NAME, check_is_memento
from memento_tui.hosts.layouts import claude_servers, enables_plugin
from memento_tui.hosts.programs import BARE_PROGRAMS, Programs, option_value
from memento_tui.hosts.registry import Host, HostFile, HostPaths

__all__ = ["HostStatus", "diagnose_hook", "find_other_servers", "has_memento", "host_status", "plugin_is_enabled"]

_SERVERS_KEY = "mcpServers"


def find_other_servers(host: Host, paths: HostPaths, directory: Path) -> list[InvalidInput]:
    """Return an error for each server of others with memento's name that would be started instead of memento's.

    Those are the servers of projects, which go before the person's, and of the project in ``directory``. Where
    ``paths`` means a project, those that only the person has there, which go before the project's.
    """
    if host.name != "claude-code":
        return []
    settings = claude_servers(paths)
    places = [
        (f"{settings}, in the project {name}", servers)
        for name, servers in _servers_by_project(settings)
        if paths.project is None or Path(name).resolve() == paths.project.resolve()
    ]
    if paths.project is None:
        shared = directory / ".mcp.json"
        places.append((str(shared), _read(shared).get(_SERVERS_KEY)))
    found = []
    for place, servers in places:
        entry = servers.get(SERVER_NAME) if isinstance(servers, dict) else None
        if isinstance(entry, dict):
            try:
                check_is_memento(entry)
            except InvalidInput as error:
                found.append(InvalidInput(f"{place}: {error.message}", error.hint))
    return found


def _servers_by_project(settings: Path) -> Iterator[tuple[str, object]]:
    """Yield the folder of each project, and the servers that the person has there alone."""
    projects = _read(settings).get("projects")
    for name, project in projects.items() if isinstance(projects, dict) else ():
        if isinstance(project, dict):
            yield name, project.get(_SERVERS_KEY)


def _read(path: Path) -> Mapping[str, object]:
    """Return the settings in a file; none where it cannot be read, by the host either."""
    try:
        return json_entries.parse_jsonc(read_host_file(path).text)
    except InvalidInput:
        return {}


InstallState = Literal["installed", "not installed", "incomplete", "differs", "unreadable"]

_HOOK_TIMEOUT_SECONDS = 5.0
"""Seconds that the hook has to answer; hosts wait for ten."""


@dataclass(frozen=True)
class CommandStatus:
    """One of memento's commands in a file."""

    kind: str
    event: str
    command: str
    """As a line for a shell."""
    data_dir: str
    """The directory that the command names; empty where MEMENTO_HOME or the platform decides."""
    exists: bool
    """Whether its program exists and may be run."""


@dataclass(frozen=True)
class SettingsFileStatus:
    """One file of a host."""

    path: Path
    commands: Sequence[CommandStatus] = ()
    problem: str = ""
    obstacle: str = ""
    """The reason why an installation would stop at this file, which can be read; empty where it would not."""
    is_current: bool = False
    """Whether an installation now would not change it."""


@dataclass(frozen=True)
class HostStatus:
    """One host."""

    host: str
    title: str
    state: InstallState
    files: Sequence[SettingsFileStatus] = field(default_factory=tuple)
    plugin: bool = False
    """Whether Claude Code has the plugin switched on."""
    others: Sequence[str] = ()
    """A sentence for each server of others that would be started in memento's place."""

    @property
    def problems(self) -> list[str]:
        """The problems of the host, a sentence each."""
        found = [problem for file in self.files if (problem := file.problem or file.obstacle)]
        found += self.others
        missing = sorted(
            {shlex.split(command.command)[0] for file in self.files for command in file.commands if not command.exists}
        )
        found += [f"{program} is not there; `memento install {self.host}` writes the right one." for program in missing]
        if self.state in ("incomplete", "differs"):
            found.append(f"`memento install {self.host} --dry-run` shows what differs from a new installation.")
        if self.plugin and self.state != "not installed":
            found.append(
                "The plugin is switched on too, so every prompt is answered twice: take one of them out with"
                " `memento uninstall claude-code` or /plugin uninstall memento."
            )
        return found


def host_status(host: Host, paths: HostPaths, programs: Programs | None, directory: Path) -> HostStatus:
    """Return the state of memento in a host, as it works in a directory, without running any command in its files.

    ``programs`` are those that an installation would write; ``None`` where they are not installed. The data directory
    and the profile in the files are a person's choice, and count as no difference.
    """
    expected = _with_installed_options(host.files(paths, BARE_PROGRAMS), programs or BARE_PROGRAMS)
    files = [_file_status(file, is_known=programs is not None) for file in host.files(paths, expected)]
    plugin = host.name == "claude-code" and plugin_is_enabled(host, paths)
    others = [error.message for error in find_other_servers(host, paths, directory)]
    return HostStatus(host.name, host.title, _combined_state(files), files, plugin, others)


def _with_installed_options(files: Sequence[HostFile], programs: Programs) -> Programs:
    """Return the programs with the data directory and the profile that the server in these files has."""
    for file in files:
        for found in _installed_commands(file):
            if found.kind == "server":
                data_dir = option_value(found.words, "--data-dir")
                return replace(
                    programs,
                    data_dir=Path(data_dir) if data_dir else None,
                    profile=option_value(found.words, "--profile") or "native",
                )
    return programs


def _installed_commands(file: HostFile) -> list[InstalledCommand]:
    try:
        text = read_host_file(file.path).text
        return [command for part in file.parts for command in part.find_commands(text)]
    except InvalidInput:
        return []  # reported with the file's own status


def _combined_state(files: Sequence[SettingsFileStatus]) -> InstallState:
    if any(file.problem for file in files):
        return "unreadable"
    if not any(file.commands for file in files):
        return "not installed"
    if not all(file.commands for file in files):
        return "incomplete"
    return "installed" if all(file.is_current for file in files) else "differs"


def _file_status(file: HostFile, *, is_known: bool) -> SettingsFileStatus:
    try:
        text = expected = read_host_file(file.path).text
        found = [command for part in file.parts for command in part.find_commands(text)]
    except InvalidInput as error:
        problem = error.message if str(file.path) in error.message else f"{file.path}: {error.message}"
        return SettingsFileStatus(file.path, problem=problem)
    obstacle = ""
    try:
        for part in file.parts:
            expected = part.add(expected)
    except InvalidInput as error:
        expected, obstacle = "", f"{file.path}: {error.message}"
    return SettingsFileStatus(
        file.path,
        [_command_status(command) for command in found],
        obstacle=obstacle,
        is_current=is_known and expected == text,
    )


def _command_status(found: InstalledCommand) -> CommandStatus:
    program = found.words[0]
    exists = shutil.which(program) is not None and (Path(program).is_absolute() or "/" not in program)
    return CommandStatus(
        found.kind, found.event, shlex.join(found.words), option_value(found.words, "--data-dir"), exists
    )


def has_memento(host: Host, paths: HostPaths) -> bool:
    """Tell whether a host's settings hold a command of memento; ``False`` where they cannot be read."""
    return any(_installed_commands(file) for file in host.files(paths, BARE_PROGRAMS))


def plugin_is_enabled(host: Host, paths: HostPaths) -> bool:
    """Tell whether a host's settings enable memento's plugin; ``False`` where they cannot be read."""
    for file in host.files(paths, BARE_PROGRAMS):
        try:
            if enables_plugin(json_entries.parse_jsonc(read_host_file(file.path).text)):
                return True
        except InvalidInput:
            continue  # reported with the file's own status
    return False


def diagnose_hook(programs: Programs) -> str:
    """Run this installation's hook; return the reason why it does not answer, empty where it does."""
    try:
        ended = subprocess.run(  # noqa: S603 - this installation's own program
            [programs.hook, "--help"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_HOOK_TIMEOUT_SECONDS,
            check=False,
        )
    except OSError as error:
        return f"{programs.hook} cannot be started: {error.strerror}."
    except subprocess.TimeoutExpired:
        return f"{programs.hook} did not answer within {_HOOK_TIMEOUT_SECONDS:.0f} s."
    if ended.returncode:
        last = ended.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        return f"{programs.hook} ended with {ended.returncode}: {last or 'it said nothing'}"
    return ""
