"""The project that a caller names: by a directory, which may be on another machine, or by its name."""

from __future__ import annotations

import re
from pathlib import Path

from memento_tui.agent.project import namespace_of_project, project_of
from memento_tui.records import Memory
from memento_tui.workspace import Workspace

__all__ = ["UNKNOWN", "in_scope", "namespace_of", "slug_of_namespace"]

UNKNOWN = "unknown"
"""What these clients call a project that cannot be told."""

_PROJECTS = "projects/"
_ODD = re.compile(r"[^\w.-]+")


def namespace_of(workspace: Workspace, named: str) -> str:
    """Return the namespace of the project that a directory or a name means; empty where it means none."""
    given = named.strip()
    if not given:
        return ""
    if Path(given).is_absolute():
        project = project_of(given)
        if project is not None:
            return namespace_of_project(project, workspace.store)
    parts = given.replace("\\", "/").rstrip("/").split("/")
    # Of a path on another machine the last part is the project's name; a name of two parts is its owner and it.
    names = parts if len(parts) <= 2 and parts[0] not in ("", "~") and not parts[0].endswith(":") else parts[-1:]  # noqa: PLR2004 - as said
    slugs = [slug for name in names if (slug := _ODD.sub("-", name.strip().lower()).strip("-."))]
    return _PROJECTS + "/".join(slugs) if slugs else ""


def slug_of_namespace(namespace: str) -> str:
    """Return the name of a project, `UNKNOWN` for no project."""
    return namespace.removeprefix(_PROJECTS) or UNKNOWN


def in_scope(memory: Memory, project: str) -> bool:
    """Tell whether a memory may matter in a project (a namespace; empty for none): not if it is another project's."""
    namespace = memory.namespace.casefold()
    own = project.casefold()
    return not own or not namespace.startswith(_PROJECTS) or f"{namespace}/".startswith(f"{own}/")
