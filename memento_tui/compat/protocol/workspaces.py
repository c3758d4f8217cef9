"""Resolve which of Memento Protocol's workspaces a tool works in: namespaces here, by their names there."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import Context

from memento_tui.api import Workspace
from memento_tui.errors import InvalidInput, MementoError, NotAllowed, NotFound
from memento_tui.formats.protocol.vocabulary import namespace_of_workspace, workspace_of_namespace
from memento_tui.mcp.workspaces import McpWorkspaces
from memento_tui.model import Memory, Skip, WorkingItem
from memento_tui.model.validation import is_under
from memento_tui.regular_files import read_regular

__all__ = [
    "HOME_WORKSPACE",
    "ToolContext",
    "WorkspaceScope",
    "find_workspace_scope",
    "free_hex_id",
    "id_maker",
]

_RECORDS_WITH_IDS = ("memory", "item", "skip")


def id_maker(workspace: Workspace) -> Callable[[], str]:
    """Return a function that makes ids that no record has."""

    def is_taken(record_id: str) -> bool:
        return any(workspace.find_record(record, record_id) is not None for record in _RECORDS_WITH_IDS)

    return lambda: free_hex_id(is_taken)


def free_hex_id(is_taken: Callable[[str], bool]) -> str:
    """Return 8 random hexadecimal digits that are not taken: among 100,000 records one new id in 40,000 is."""
    while is_taken(record_id := secrets.token_hex(4)):
        pass
    return record_id


HOME_WORKSPACE = "<home>"
"""The name with which a caller leaves out the workspaces that are peeked into."""

_SETTINGS_FILE = ".memento.json"
_MAX_SETTINGS_BYTES = 100_000
"""Bytes of it that are read: it holds some names."""

_MAX_PEEKED = 5


@dataclass(frozen=True)
class WorkspaceScope:
    """The workspace that is written to, and those that are read besides."""

    namespace: str
    peeked: tuple[str, ...] = ()
    label: str = ""
    """The caller's name for the workspace, where it does not follow from the namespace."""

    @property
    def name(self) -> str:
        """The workspace as this system calls it."""
        return self.label or workspace_of_namespace(self.namespace)

    def read(self, workspace: str) -> tuple[str, ...]:
        """Return the namespaces that a caller reads who names ``workspace`` (empty: all it usually sees).

        Raises:
            InvalidField: no workspace can have that name.

        """
        if not workspace.strip():
            return (self.namespace, *self.peeked)
        return (self.namespace,) if workspace.strip() == HOME_WORKSPACE else (namespace_of_workspace(workspace),)

    def holds(self, record: Memory | Skip | WorkingItem) -> bool:
        """Tell whether a record lies in the workspace that is written to."""
        return self.holds_namespace(record.namespace)

    def holds_namespace(self, namespace: str) -> bool:
        """Tell whether a namespace is the workspace's own or lies below it."""
        return is_under(namespace, self.namespace)

    def memory(self, workspace: Workspace, memory_id: str) -> Memory:
        """Return a memory of this workspace. Raises `NotFound` or `AmbiguousId`."""
        memory = workspace.get(memory_id)
        if not self.holds(memory):
            raise self._elsewhere("memory", memory.id, memory.namespace)
        return memory

    def item(self, workspace: Workspace, item_id: str) -> WorkingItem:
        """Return a working item of this workspace. Raises `NotFound` or `AmbiguousId`."""
        item = workspace.items.get(item_id)
        if not self.holds(item):
            raise self._elsewhere("item", item.id, item.namespace)
        return item

    def skip(self, workspace: Workspace, skip_id: str) -> Skip:
        """Return a skip of this workspace. Raises `NotFound` or `AmbiguousId`."""
        skip = workspace.skips.get(skip_id)
        if not self.holds(skip):
            raise self._elsewhere("skip entry", skip.id, skip.namespace)
        return skip

    def _elsewhere(self, what: str, name: str, namespace: str) -> MementoError:
        return NotFound(
            f"The {what} {name!r:.60} is in the workspace {workspace_of_namespace(namespace)!r:.60}, "
            f"not in {self.name!r:.60}.",
            "Set MEMENTO_WORKSPACE to that one to change it.",
        )


def find_workspace_scope(directory: Path, environment: Mapping[str, str]) -> WorkspaceScope:
    """Return the workspace that ``MEMENTO_WORKSPACE`` names, else ``.memento.json`` in ``directory`` or above it.

    Of that file only the names of workspaces are read. Without both it is the workspace ``default``.

    Raises:
        InvalidInput: the file cannot be read or holds no such names.
        InvalidField: no workspace can have the name.

    """
    file, written = _nearest_settings(directory)
    name = environment.get("MEMENTO_WORKSPACE") or written.get("workspace") or ""
    peeked = written.get("peek_workspaces") or []
    if (
        not isinstance(name, str)
        or not isinstance(peeked, list)
        or not all(isinstance(other_name, str) for other_name in peeked)
    ):
        raise InvalidInput(f"{file} names no workspace.", 'It takes {"workspace": "name", "peek_workspaces": ["..."]}.')
    others = dict.fromkeys(namespace_of_workspace(other_name) for other_name in peeked[:_MAX_PEEKED])
    own = namespace_of_workspace(name)
    return WorkspaceScope(own, tuple(other for other in others if other != own))


def _nearest_settings(directory: Path) -> tuple[Path, Mapping[str, Any]]:
    for folder in (directory, *directory.parents):
        file = folder / _SETTINGS_FILE
        if not os.access(file, os.F_OK):
            continue
        try:
            # The folder may be anybody's repository, which can hold a link to what never ends.
            written = json.loads(read_regular(file, _MAX_SETTINGS_BYTES))
        except (OSError, ValueError, RecursionError) as error:
            raise InvalidInput(f"{file} cannot be read: {error}.", "Mend it, or set MEMENTO_WORKSPACE.") from None
        if not isinstance(written, dict):
            raise InvalidInput(f"{file} is not a JSON object.", "Mend it, or set MEMENTO_WORKSPACE.")
        return file, written
    return directory / _SETTINGS_FILE, {}


class ToolContext:
    """The workspaces and the directory that every tool works with."""

    def __init__(self, mcp_workspaces: McpWorkspaces) -> None:
        self._mcp_workspaces = mcp_workspaces
        self._directory = _start_directory()

    def of(self, ctx: Context) -> tuple[Workspace, WorkspaceScope]:
        """Return the workspace of the client that sent a request, and the client's scope in it.

        Raises:
            DataDirectoryError: the data directory cannot be used.
            InvalidInput: its ``config.toml`` is wrong, or the name of the workspace is.

        """
        scope = find_workspace_scope(self._directory, os.environ)
        return self._mcp_workspaces.of(ctx), scope

    def project(self, workspace: Workspace) -> Path:
        """Return where the host started the server: the project that its agent works in.

        Raises:
            NotAllowed: the agent asks over HTTP, so that it may be on another machine.

        """
        if workspace.author.channel == "http":
            raise NotAllowed("No file is read for an agent that asks over HTTP.", "Describe the picture in words.")
        return self._directory


def _start_directory() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:  # it was removed: there is no project then
        return Path(os.sep)
