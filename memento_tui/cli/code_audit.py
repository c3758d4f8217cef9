"""List the memories that cite code which changed, moved or is gone, and say of a new one where it would be checked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memento_tui.cli.command import open_workspace
from memento_tui.cli.output import count_of, emit, safe, table
from memento_tui.errors import InvalidInput
from memento_tui.model.validation import to_plain

__all__ = ["list_code_findings", "project_of_cited_code"]

if TYPE_CHECKING:
    from memento_tui.api import Workspace
    from memento_tui.api.code_check import CodeReport
    from memento_tui.model import Memory


def list_code_findings() -> None:
    """List the memories of this directory's project, and of none, whose citations of its code are outdated.

    Raises:
        InvalidInput: it is in no project, or in no Git repository with a commit.

    """
    from memento_tui.api.code_check import check_code_citations  # noqa: PLC0415 - a command's help is shown without it
    from memento_tui.projects import claude_namespace, find_project, namespace_of_project  # noqa: PLC0415

    project = find_project(Path.cwd())
    if project is None:
        raise InvalidInput("This directory is no project.", "Run it in a Git repository.")
    with open_workspace() as workspace:
        own = namespace_of_project(project, workspace.settings.get, None)
        report = check_code_citations(workspace, project.root, [own, claude_namespace(project)])
    items = [
        {
            "id": one.memory.id,
            "state": one.finding.state,
            "headline": one.memory.title or one.memory.content.partition("\n")[0],
            "citations": to_plain(one.finding)["citations"],
        }
        for one in report.found
    ]
    emit(
        {
            "namespace": own,
            **{name: value for name, value in to_plain(report).items() if name != "found"},
            "items": items,
        },
        lambda: _code_text(report, own),
    )


def _code_text(report: CodeReport, namespace: str) -> str:
    others = f" and {count_of(report.shared, 'memory', 'memories')} of no project" if report.shared else ""
    counted = (
        f"{count_of(report.memories, 'memory', 'memories')} in {namespace}{others}: {report.citing:,}"
        f" {'cites' if report.citing == 1 else 'cite'} what stood in {report.root} when they were written or last"
        f" confirmed. At {report.head[:10]} of these still hold: {report.citing - len(report.found):,}, are listed"
        f" here: {len(report.found):,}."
    )
    rows = [
        [one.memory.id, one.finding.state, one.memory.title or one.memory.content.partition("\n")[0], citation.why]
        for one in report.found
        for citation in one.finding.citations[:1]
    ]
    lines = [safe(counted)]
    lines.append(table(["ID", "CITES WHAT", "MEMORY", "WHY"], rows) if rows else "All that they cite is as it was.")
    if rows:
        lines.append(
            "What is gone is not told to agents. Review asks about each once; memento edit ID --stability verified"
            " confirms one that holds."
        )
    return "\n".join(lines)


def project_of_cited_code(workspace: Workspace, memory: Memory) -> str:
    """Return the namespace of this directory's project, if a memory of no project seems to cite its code."""
    from memento_tui.api.code_check import cites_code_of  # noqa: PLC0415 - reads code citations, which few commands do
    from memento_tui.branches import SCOPED_NAMESPACE_ROOTS  # noqa: PLC0415 - seldom needed
    from memento_tui.projects import find_project, namespace_of_project  # noqa: PLC0415 - seldom needed

    project = find_project(Path.cwd())
    if project is None or not (project.root / ".git").exists():
        return ""
    is_of_none = memory.namespace.partition("/")[0] not in SCOPED_NAMESPACE_ROOTS
    if not is_of_none or not cites_code_of(workspace, memory, project.root):
        return ""
    return namespace_of_project(project, workspace.settings.get, None)
