"""Propose that the memories of a branch of Git that was merged, or is gone, belong to its project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from memento_tui.branches import branch_namespace, is_name_of_branch, namespace_without_branch, parts_of_branch
from memento_tui.errors import InvalidInput
from memento_tui.maintenance.code.git_history import run_git
from memento_tui.maintenance.context import MaintenanceAction, MaintenanceContext
from memento_tui.model import Memory
from memento_tui.model.filters import AllOf, OneOf, Under
from memento_tui.policy.policy import Verdict
from memento_tui.projects import USUAL_DEFAULT_BRANCHES

__all__ = ["offer_ended_branches"]

_BranchState = Literal["open", "merged", "gone"]

_LOCAL, _UPSTREAM = "refs/heads/", "refs/remotes/origin/"
"""The folders of a repository that name its branches, and those of the repository that it was cloned from."""

_OWN_COMMITS = ("commit", "cherry-pick", "revert", "am")
"""How the log of a branch begins to name a commit that was made on it: one that has none yet is not merged."""


def offer_ended_branches(context: MaintenanceContext) -> None:
    """Propose for each memory of a branch that was merged, or is gone, that it belong to the project from now on."""
    found = (parts_of_branch(namespace) for namespace, _ in context.store.memories.namespaces())
    branches = sorted({parts[:2] for parts in found if parts is not None})
    for project, branch in context.with_progress("Looking at branches", branches):
        home = context.store.settings.get(f"project projects/{project}")
        if home is None or not Path(home).is_dir():
            continue  # the repository is elsewhere, and says nothing
        try:
            state = _branch_state(Path(home), branch)
        except InvalidInput as error:
            context.problems.append(f"Whether the branch {branch} of {project} was merged is not known: {error}")
            continue
        if state != "open":
            for memory in _memories(context, branch_namespace(f"projects/{project}", branch)):
                _offer(context, memory, branch, state)


def _memories(context: MaintenanceContext, namespace: str) -> Iterator[Memory]:
    here, after = AllOf((OneOf("status", ("active", "compacted")), Under(namespace))), None
    while True:
        page = context.store.memories.page(here, after=after)
        yield from page.items
        after = page.next
        if after is None:
            return


def _offer(context: MaintenanceContext, memory: Memory, branch: str, state: _BranchState) -> None:
    why = f"The branch {branch} was merged." if state == "merged" else f"There is no branch {branch} any more."
    payload = {"namespace": namespace_without_branch(memory.namespace)}
    action = MaintenanceAction("branch", "memory", memory.id, why, waits=True)
    context.propose(action, memory, "edit", payload, Verdict("propose", (f"branch_{state}",)), {"branch": branch})


def _branch_state(repository: Path, branch: str) -> _BranchState:
    """Return whether a branch still goes its own way, as far as a repository knows; its name may be coded.

    A branch that was squashed into one commit counts as open until it is deleted: nothing tells it from one that goes
    on. Raises `InvalidInput` where git cannot read the repository.
    """
    references = _references(repository)
    found = [
        name
        for where in (_LOCAL, _UPSTREAM)
        for name in references
        if name.startswith(where) and is_name_of_branch(branch, name.removeprefix(where))
    ]
    if not found:
        return "gone"
    upstream = references.get(f"{_UPSTREAM}HEAD", "").removeprefix(_UPSTREAM)
    names = (upstream,) if upstream else USUAL_DEFAULT_BRANCHES
    trunks = [f"{where}{name}" for where in (_LOCAL, _UPSTREAM) for name in names if f"{where}{name}" in references]
    is_merged = any(all(_is_within(repository, name, trunk) for name in found) for trunk in trunks)
    return "merged" if is_merged else "open"


def _references(repository: Path) -> Mapping[str, str]:
    """Return the branches of a repository, each with the one that it stands for, if it is a name for another."""
    rows = run_git(repository, "for-each-ref", "--format=%(refname) %(symref)", _LOCAL, _UPSTREAM)
    pairs = (line.partition(" ") for line in rows.decode(errors="replace").split("\n") if line)
    return {name: symref for name, _, symref in pairs}


def _is_within(repository: Path, name: str, trunk: str) -> bool:
    """Tell whether each commit of a branch is in the trunk, as it is or as another commit with the same change."""
    marks = [line[:1] for line in run_git(repository, "cherry", trunk, name).decode().splitlines()]
    if marks or not name.startswith(_LOCAL):
        return "+" not in marks
    log = run_git(repository, "log", "--walk-reflogs", "--format=%gs", name, "--").decode(errors="replace")
    return any(line.startswith(_OWN_COMMITS) for line in log.splitlines())
