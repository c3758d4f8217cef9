"""Which of Memento Protocol's workspaces the tools speak of: namespaces here, named as its own client names them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memento_tui.errors import InvalidInput, MementoError, NotFound
from memento_tui.interchange.protocol_model import namespace_of, workspace_of
from memento_tui.records import Memory, Skip, WorkingItem
from memento_tui.records.rules import is_under
from memento_tui.workspace import Workspace

__all__ = ["HOME", "Place", "find_place", "is_within"]

HOME = "<home>"
"""What a caller names to leave out the workspaces that are peeked into."""

_FILE = ".memento.json"
_MOST_PEEKED = 5


@dataclass(frozen=True)
class Place:
    """The workspace that is written to, and those that are read besides."""

    namespace: str
    peeked: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The workspace as this system calls it."""
        return workspace_of(self.namespace)

    def read(self, workspace: str) -> tuple[str, ...]:
        """Return the namespaces that a caller reads who names ``workspace`` (empty: all it usually sees).

        Raises:
            InvalidField: no workspace can have that name.

        """
        if not workspace.strip():
            return (self.namespace, *self.peeked)
        return (self.namespace,) if workspace.strip() == HOME else (namespace_of(workspace),)

    def holds(self, record: Memory | Skip | WorkingItem) -> bool:
        """Tell whether a record lies in the workspace that is written to."""
        return is_within(record.namespace, (self.namespace,))

    def memory(self, workspace: Workspace, memory_id: str) -> Memory:
        """Return a memory of this workspace. Raises `NotFound` or `AmbiguousId`."""
        found = workspace.get(memory_id)
        if not self.holds(found):
            raise self._elsewhere("memory", found.id, found.namespace)
        return found

    def item(self, workspace: Workspace, item_id: str) -> WorkingItem:
        """Return a working item of this workspace. Raises `NotFound` or `AmbiguousId`."""
        found = workspace.items.get(item_id)
        if not self.holds(found):
            raise self._elsewhere("item", found.id, found.namespace)
        return found

    def skip(self, workspace: Workspace, skip_id: str) -> Skip:
        """Return a skip of this workspace. Raises `NotFound` or `AmbiguousId`."""
        found = workspace.skips.get(skip_id)
        if not self.holds(found):
            raise self._elsewhere("skip entry", found.id, found.namespace)
        return found

    def _elsewhere(self, what: str, name: str, namespace: str) -> MementoError:
        return NotFound(
            f"The {what} {name!r:.60} is in the workspace {workspace_of(namespace)!r:.60}, not in {self.name!r:.60}.",
            "Set MEMENTO_WORKSPACE to that one to change it.",
        )


def is_within(namespace: str, places: tuple[str, ...]) -> bool:
    """Tell whether a namespace is one of ``places`` or lies below one."""
    return any(is_under(namespace, place) for place in places)


def find_place(directory: Path, environment: Mapping[str, str]) -> Place:
    """Return the place that ``MEMENTO_WORKSPACE`` names, else ``.memento.json`` in ``directory`` or above it.

    Of that file only the names of workspaces are read. Without both it is the workspace ``default``.

    Raises:
        InvalidInput: the file cannot be read or holds no such names.
        InvalidField: no workspace can have the name.

    """
    file, written = _nearest(directory)
    name = environment.get("MEMENTO_WORKSPACE") or written.get("workspace") or ""
    peeked = written.get("peek_workspaces") or []
    if not isinstance(name, str) or not isinstance(peeked, list) or not all(isinstance(one, str) for one in peeked):
        raise InvalidInput(f"{file} names no workspace.", 'It takes {"workspace": "name", "peek_workspaces": ["..."]}.')
    others = dict.fromkeys(namespace_of(one) for one in peeked[:_MOST_PEEKED])
    own = namespace_of(name)
    return Place(own, tuple(other for other in others if other != own))


def _nearest(directory: Path) -> tuple[Path, Mapping[str, Any]]:
    for folder in (directory, *directory.parents):
        file = folder / _FILE
        if not os.access(file, os.F_OK):
            continue
        try:
            written = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise InvalidInput(f"{file} cannot be read: {error}.", "Mend it, or set MEMENTO_WORKSPACE.") from None
        if not isinstance(written, dict):
            raise InvalidInput(f"{file} is not a JSON object.", "Mend it, or set MEMENTO_WORKSPACE.")
        return file, written
    return directory / _FILE, {}
