"""The command ``status``: how memento stands in the hosts of agents, and how the memory stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from memento_tui.cli.command import command
from memento_tui.cli.install import installed_programs, places_of
from memento_tui.cli.output import emit, moment, named, safe, table
from memento_tui.cli.session import current_session, opened
from memento_tui.errors import InvalidInput, MementoError

if TYPE_CHECKING:
    from memento_tui.agent.install.status import HostStatus

__all__ = ["commands"]


@command(
    "status",
    short_help="Tell which agents' hosts have memento, and how it stands.",
    examples="""
    memento status
    memento status --json
    memento status --project
    """,
)
@click.option("--project", is_flag=True, help="The settings of the project in this directory, not yours.")
def status(*, project: bool) -> None:
    """Tell for each host whether memento is in it, what it runs and whether that works; then how the memory stands.

    Nothing is started but this installation's own hook, to hear whether it answers.
    """
    from memento_tui.agent.install.hosts import HOSTS  # noqa: PLC0415 - a command's help is shown without it
    from memento_tui.agent.install.status import host_status, why_hook_is_silent  # noqa: PLC0415 - same

    programs, problem = None, ""
    try:
        programs = installed_programs("native")
        problem = why_hook_is_silent(programs)
    except InvalidInput as error:
        problem = str(error)
    hosts = [
        host_status(host, places_of(host.name, project=project), programs)
        for host in HOSTS.values()
        if host.has_projects or not project
    ]
    told = {
        "hosts": [_host_plain(one) for one in hosts],
        "hook": {"program": programs.hook if programs else "", "answers": not problem, "problem": problem},
        "memory": _memory(),
    }
    emit(told, lambda: _status_text(hosts, told))


def _host_plain(one: HostStatus) -> dict[str, Any]:
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


def _memory() -> dict[str, Any]:
    """Return how the data directory stands; one that is not there yet is no failure."""
    from memento_tui.config import load_config  # noqa: PLC0415 - help is shown without it
    from memento_tui.search.semantic import SemanticClient  # noqa: PLC0415 - same
    from memento_tui.store.tables import as_plain  # noqa: PLC0415 - same
    from memento_tui.workspace.activity_query import ActivityQuery  # noqa: PLC0415 - same
    from memento_tui.workspace.overview import amounts, waiting  # noqa: PLC0415 - same

    paths = current_session().paths
    told: dict[str, Any] = {"data_dir": str(paths.root), "exists": paths.database.exists(), "problem": ""}
    try:
        enabled = load_config(paths.config).engine.enabled
        found = SemanticClient(paths, enabled=enabled).status()
        told["engine"] = found.state if found is not None else "stopped" if enabled else "off"
        if told["exists"]:
            with opened() as workspace:
                rows, _ = workspace.activity.injections(ActivityQuery(), limit=1)
                told["amounts"] = as_plain(amounts(workspace))
                told["waiting"] = sum(kind.count for kind in waiting(workspace))
                told["last_injection"] = as_plain(rows[0].injection) if rows else None
    except MementoError as error:
        told["problem"] = str(error)
    return told


def _status_text(hosts: Sequence[HostStatus], told: dict[str, Any]) -> str:
    rows = [[one.title, _state(one), _runs(one)] for one in hosts]
    lines = [table(["HOST", "MEMENTO", "RUNS"], rows)]
    lines += [safe(f"! {one.title}: {problem}") for one in hosts for problem in one.problems]
    hook, memory = told["hook"], told["memory"]
    last = memory.get("last_injection")
    counts = memory.get("amounts", {})
    lines += [
        "",
        named(
            {
                "hook": f"{hook['program']} answers" if hook["answers"] else f"! {hook['problem']}",
                "data": memory["data_dir"] + ("" if memory["exists"] else " (nothing is remembered yet)"),
                "problem": memory["problem"],
                "engine": memory.get("engine", ""),
                "holds": ", ".join(_plural(counts[name], *words) for name, words in _COUNTED.items() if name in counts),
                "waiting": f"{memory['waiting']:,} for your decision" if "waiting" in memory else "",
                "last told": f"{moment(last['at'])} to session {last['session']}" if last else "",
            }
        ),
    ]
    return "\n".join(lines)


_COUNTED = {
    "memories": ("memory", "memories"),
    "working_items": ("working item", "working items"),
    "skips": ("skip", "skips"),
}


def _plural(count: int, one: str, several: str) -> str:
    return f"{count:,} {one if count == 1 else several}"


def _state(one: HostStatus) -> str:
    return "as a plugin" if one.plugin and one.state == "not installed" else one.state


def _runs(one: HostStatus) -> str:
    return next((found.command for file in one.files for found in file.commands if found.kind == "server"), "-")


commands = {"status": status}
