"""Find servers of others called memento that Claude Code would start in a project in the place of memento's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from memento_tui.errors import InvalidInput
from memento_tui.hosts import jsonc
from memento_tui.hosts.files import read_host_file
from memento_tui.hosts.json_entries import SERVER_NAME, check_is_memento
from memento_tui.hosts.layouts import claude_servers
from memento_tui.hosts.registry import Host, HostPaths

__all__ = ["find_other_servers"]

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
    """Return what a file holds; nothing where the host cannot read it either."""
    try:
        return jsonc.parse_jsonc(read_host_file(path).text)
    except InvalidInput:
        return {}
