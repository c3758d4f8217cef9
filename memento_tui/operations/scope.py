"""Decide which records concern a caller: those of its namespaces, or those that matter in its project."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from memento_tui.api import Workspace
from memento_tui.branches import BRANCHES_NAMESPACE, SCOPED_NAMESPACE_ROOTS, branch_namespaces, branch_of
from memento_tui.errors import InvalidField
from memento_tui.model import Skip, WorkingItem
from memento_tui.model.filters import AllOf, AnyOf, Filter, Not, OneOf, Under
from memento_tui.model.validation import account_of, check_namespace, is_under
from memento_tui.policy.screening import namespace_to_write
from memento_tui.projects import Project, checked_out_branch, claude_namespace, find_project, namespace_of_project
from memento_tui.search.query_language import written_field

__all__ = [
    "EVERYWHERE",
    "SearchScope",
    "is_relevant_namespace",
    "is_within_namespaces",
    "learned_on_branch",
    "matching_skips",
    "relevant_items",
    "relevant_skips",
    "search_scope",
]

EVERYWHERE = "*"
"""The namespace that an agent names to search those of other projects too."""

_PROJECT_ROOT = "projects"
"""The namespace below which each name is a project."""


class SearchScope(NamedTuple):
    """The memories among which a search is answered."""

    project: str = ""
    """The namespace of the project whose memories, and those of no project, are searched; empty for no such limit."""
    prefix: str = ""
    """The text that is put before the query."""
    among: Filter = AllOf()


def search_scope(workspace: Workspace, namespace: str, session: str = "") -> SearchScope:
    """Return the scope of a search: that of ``namespace``, or, where it is empty, of the project an agent works in.

    A project's scope leaves out what is of other projects, as hooks do; any other namespace's holds it and ``global``.
    What the agent's session itself wrote is in the scope of the project that it works in, wherever it was filed.
    The project is the one that the session was opened in: ``session`` is its handle, by default the author's. One that
    was opened in none works where the server runs, if the agent's host started it; over HTTP that says nothing, and
    there is no project then. `EVERYWHERE` lifts every limit.

    Raises:
        InvalidField: the namespace is not one, or holds a character that a query cannot quote.

    """
    if namespace == EVERYWHERE:
        return SearchScope()
    if not namespace:
        return _working_scope(workspace, session or workspace.author.session)
    first, _, rest = check_namespace(namespace).partition("/")
    if first == _PROJECT_ROOT and rest:
        project = f"{first}/{rest.partition('/')[0]}"
        return _project_scope(project, *_of_branch(workspace, project))
    if '"' in namespace:
        raise InvalidField("namespace", "must not hold a quotation mark")
    return SearchScope("", f"{written_field('ns', namespace, 'global')} ")


def _working_scope(workspace: Workspace, session: str) -> SearchScope:
    """Return the scope of the project that a session works in; without a limit where none is known."""
    # An agent that has given its project another name finds what it has just written there.
    of_no_branch = Not(Under(BRANCHES_NAMESPACE))
    written = [AllOf((OneOf("session", (session,)), of_no_branch))] if session else []
    opened = workspace.exposures.session_project(session)
    if opened.startswith(f"{_PROJECT_ROOT}/"):
        folder = workspace.settings.get(f"project {opened}")
        project = None if folder is None else find_project(Path(folder).parent)
        return _project_scope(opened, *_claude_notes(project), *_of_branch(workspace, opened), *written)
    project = _working_project(workspace)
    if project is None:
        return SearchScope()
    namespace = namespace_of_project(project, workspace.settings.get, None)
    return _project_scope(namespace, *_claude_notes(project), *_of_branch(workspace, namespace), *written)


def _working_project(workspace: Workspace) -> Project | None:
    """Return the project in whose folder this process runs, if that is the agent's: over HTTP it says nothing."""
    if workspace.author.channel not in ("mcp", "cli"):
        return None
    try:
        return find_project(Path.cwd())
    except OSError:  # the directory was removed
        return None


def _working_branch(workspace: Workspace, namespace: str = "", *, claims: bool = False) -> tuple[str, ...]:
    """Return the namespaces of the branch on which the agent works; none on the default branch.

    None too where ``namespace`` is not one of the project's. Of one below it, those below the branch are returned. With
    ``claims`` the settings keep where the project lies: maintenance asks there what became of the branch.
    """
    project = _working_project(workspace)
    branch = "" if project is None else checked_out_branch(project.root)
    if project is None or not branch:
        return ()
    own = namespace_of_project(project, workspace.settings.get, workspace.settings.set if claims else None)
    return branch_namespaces(namespace or own, branch) if not namespace or is_under(namespace, own) else ()


def _of_branch(workspace: Workspace, project: str) -> list[Filter]:
    """Return the filters for memories learned on the agent's branch of a project."""
    return [Under(namespace) for namespace in _working_branch(workspace, project)]


def learned_on_branch(workspace: Workspace, namespace: str | None) -> str | None:
    """Return the namespace into which an agent's new memory goes; ``None`` for the usual one.

    Where the configuration keeps what is learned on a branch there, that is the branch's: for what names the project or
    names nothing. Any other namespace stays as the agent gave it.
    """
    if workspace.author.actor != "agent" or not workspace.config.review.branches:
        return namespace
    return namespace_to_write(_working_branch(workspace, namespace or "", claims=True)) or namespace


def _claude_notes(project: Project | None) -> list[Filter]:
    """Return the filter for memories from Claude Code's own memory of a project."""
    return [] if project is None else [Under(claude_namespace(project))]


def _project_scope(project: str, *also: Filter) -> SearchScope:
    of_no_project = Not(AnyOf(tuple(Under(root) for root in SCOPED_NAMESPACE_ROOTS)))
    return SearchScope(project, "", AnyOf((of_no_project, Under(project), *also)))


def is_within_namespaces(namespace: str, namespaces: tuple[str, ...]) -> bool:
    """Tell whether a namespace is one of several or lies below one of them."""
    return any(is_under(namespace, other) for other in namespaces)


def is_relevant_namespace(current: str, namespace: str) -> bool:
    """Tell whether a record of ``namespace`` matters in the ``current`` one: it is the same, above or below, or global.

    Where ``current`` is empty, all matter. Records of an account matter only in that account's own namespaces, and what
    was learned on a branch only there.
    """
    if account_of(namespace) != account_of(current) or branch_of(namespace) != branch_of(current):
        return False
    return not current or namespace == "global" or is_under(namespace, current) or is_under(current, namespace)


def relevant_items(
    workspace: Workspace, current: str, *, category: str | None = None, status: str | None = "active"
) -> list[WorkingItem]:
    """Return the working items that matter in a namespace, highest priority first."""
    items = workspace.items.list(category=category, status=status)
    return [item for item in items if is_relevant_namespace(current, item.namespace)]


def relevant_skips(workspace: Workspace, current: str) -> list[Skip]:
    """Return the skips that hold and matter in a namespace, soonest to end first."""
    return [skip for skip in workspace.skips.list() if is_relevant_namespace(current, skip.namespace)]


def matching_skips(workspace: Workspace, current: str, message: str) -> list[Skip]:
    """Return the skips that a message touches and that matter in a namespace; each counts a hit."""
    return list(workspace.skips.check(message, among=lambda skip: is_relevant_namespace(current, skip.namespace)))
