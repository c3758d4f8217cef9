"""The command ``workspace``: the list of workspaces, and which one is opened."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from memento_tui.cli.command import PathArgument, current_session, group
from memento_tui.cli.output import emit, format_time, safe, table
from memento_tui.cli.record_completion import is_plain_name

__all__ = ["commands"]

if TYPE_CHECKING:
    from memento_tui.known_workspaces import KnownWorkspace, KnownWorkspaces


def _known() -> KnownWorkspaces:
    from memento_tui.known_workspaces import KnownWorkspaces  # noqa: PLC0415 - a command's help is shown without it

    return KnownWorkspaces()


def _complete_name(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Return the workspaces whose names begin as typed, for a shell, which puts them into the line as they are.

    A directory's own name becomes that of its workspace: one that a shell would run, or split, is left to be typed.
    """
    found = [one for one in _known().list() if one.name.startswith(typed) and is_plain_name(one.name)]
    return [CompletionItem(one.name, help=safe(one.path)) for one in found]


def _object(one: KnownWorkspace) -> dict[str, Any]:
    from memento_tui.status_line import waiting  # noqa: PLC0415 - same

    return {
        "name": one.name,
        "path": one.path,
        "opened_at": one.opened_at.isoformat() if one.opened_at else None,
        "missing": one.is_missing,
        "waiting": waiting(one.path)[0],
        "used": Path(one.path) == current_session().paths.root,
    }


@group(
    "workspace",
    invoke_without_command=True,
    short_help="List the workspaces, and choose which one opens.",
    examples="""
    memento workspace
    memento workspace add ~/work/memory --name work
    memento workspace use work
    """,
)
@click.pass_context
def workspace(ctx: click.Context) -> None:
    """List the workspaces that the app opened here, and choose which one opens.

    The choice holds for the app and for commands that you type, where neither --data-dir nor MEMENTO_HOME names
    another. Agents keep the directory that they were installed with. Without a command, list them.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_workspaces)


@workspace.command(
    "list",
    short_help="List the workspaces, the one opened last first.",
    examples="""
    memento workspace list
    memento workspace list --json
    """,
)
def list_workspaces() -> None:
    """List the workspaces with how much waits in each; > marks the one that commands use here."""
    listed = [_object(one) for one in _known().list()]
    emit({"items": listed}, lambda: _workspace_table(listed))


def _workspace_table(listed: Sequence[dict[str, Any]]) -> str:
    rows = [
        [
            ">" if one["used"] else "",
            safe(one["name"]),
            "missing" if one["missing"] else f"{one['waiting']:,} wait" if one["waiting"] else "",
            format_time(one["opened_at"]),
            safe(one["path"]),
        ]
        for one in listed
    ]
    return table(["", "NAME", "STATE", "OPENED", "PATH"], rows)


@workspace.command(
    "add",
    decides=True,
    writes=True,
    short_help="Put a directory on the list.",
    examples="""
    memento workspace add ~/work/memory
    memento workspace add ~/work/memory --name work
    """,
)
@click.argument("path", type=PathArgument(path_type=Path))
@click.option("--name", default="", metavar="NAME", help="By default the directory's own name.")
def add(path: Path, name: str) -> None:
    """Put a data directory on the list; one that is there already gets the new name."""
    added = _known().add(path, name)
    missing = " There is no memento data in it yet; the app begins one." if added.is_missing else ""
    emit(lambda: _object(added), lambda: safe(f"{added.name} is {added.path}.{missing}"))


@workspace.command(
    "remove",
    decides=True,
    writes=True,
    short_help="Take a workspace off the list; its files stay.",
    examples="""
    memento workspace remove work
    """,
)
@click.argument("name", shell_complete=_complete_name)
def remove(name: str) -> None:
    """Take a workspace off the list. Its files stay as they are."""
    removed = _known().remove(name)
    emit(
        {"name": removed.name, "path": removed.path},
        lambda: safe(f"{removed.name} is off the list; {removed.path} stays."),
    )


@workspace.command(
    "use",
    decides=True,
    writes=True,
    short_help="Choose the workspace that opens.",
    examples="""
    memento workspace use work
    memento workspace use default
    """,
)
@click.argument("name", shell_complete=_complete_name)
def use(name: str) -> None:
    """Choose the workspace that the app and your commands open where no other is named."""
    used = _known().use(name)
    missing = " There is no memento data in it now." if used.is_missing else ""
    emit(lambda: _object(used), lambda: safe(f"{used.name} opens from now on: {used.path}.{missing}"))


commands = {"workspace": workspace}
