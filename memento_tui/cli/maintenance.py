"""Commands that look after a data directory: ``reindex``, ``doctor`` and ``paths``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from memento_tui.cli.command import command
from memento_tui.cli.output import bold, emit, safe
from memento_tui.cli.progress import progress_bar, staged_progress
from memento_tui.cli.session import current_session, opened
from memento_tui.errors import DataDirectoryError
from memento_tui.paths import DataPaths

if TYPE_CHECKING:
    from memento_tui.workspace.health import Finding

__all__ = ["commands"]


@command(
    "reindex",
    short_help="Build the search indexes anew.",
    examples="""
    memento reindex
    memento reindex --keyword --json
    """,
)
@click.option("--keyword", is_flag=True, help="Only the keyword index.")
@click.option("--semantic", is_flag=True, help="Only the semantic index, in the background.")
def reindex(*, keyword: bool, semantic: bool) -> None:
    """Build the search indexes anew from the database. Nothing is lost if this is interrupted."""
    from memento_tui.workspace import health  # noqa: PLC0415 - a command's help is shown without it

    both = keyword == semantic
    with opened() as workspace, progress_bar("Indexing") as progress:
        count = health.reindex(workspace, keyword=keyword or both, semantic=semantic or both, progress=progress)
    data = {"keyword": count if keyword or both else None, "semantic": "started" if semantic or both else None}
    emit(data, lambda: _told(data))


def _told(data: Mapping[str, object]) -> str:
    lines = []
    if data["keyword"] is not None:
        lines.append(f"The keyword index holds {data['keyword']:,} memories.")
    if data["semantic"] is not None:
        lines.append("The engine builds the semantic index in the background.")
    return "\n".join(lines)


@command(
    "doctor",
    short_help="Check that everything is in order.",
    examples="""
    memento doctor
    memento doctor --json
    """,
)
def doctor() -> None:
    """Check the data directory, the settings, the database, the journal, the backups, the indexes and the engine.

    It changes nothing. What has gone bad in the memories themselves is told by `memento audit`.

    The exit code is 6 if something is wrong.
    """
    findings = _findings()
    healthy = all(finding.ok for finding in findings)
    emit({"healthy": healthy, "findings": [asdict(finding) for finding in findings]}, lambda: _report(findings))
    if not healthy:
        raise click.exceptions.Exit(DataDirectoryError.exit_code)


def _findings() -> list[Finding]:
    from memento_tui.workspace import health  # noqa: PLC0415 - a command's help is shown without it

    try:
        with opened() as workspace, staged_progress() as progress:
            return health.examine(workspace, progress=progress)
    except DataDirectoryError as error:
        directory = health.examine_directory(current_session().paths)
        return [*directory, health.Finding("database", ok=False, detail=error.message, hint=error.hint)]


def _report(findings: list[Finding]) -> str:
    width = max(len(finding.name) for finding in findings)
    lines = []
    for finding in findings:
        mark = "ok " if finding.ok else bold("BAD")
        lines.append(f"{mark}  {finding.name:{width}}  {safe(finding.detail)}")
        if finding.hint:
            lines.append(f"     {'':{width}}  {safe(finding.hint)}")
    return "\n".join(lines)


@command(
    "paths",
    short_help="Print where everything lies.",
    examples="""
    memento paths
    memento paths --json
    """,
)
def paths() -> None:
    """Print where everything lies, whether it exists or not."""
    found = current_session().paths
    names = list(DataPaths._fields)
    names += [name for name, value in vars(DataPaths).items() if isinstance(value, property)]
    places = {name: str(getattr(found, name)) for name in names}
    width = max(map(len, places))
    emit(places, lambda: "\n".join(f"{name:{width}}  {safe(place)}" for name, place in places.items()))


commands = {"reindex": reindex, "doctor": doctor, "paths": paths}
