"""The commands ``import`` and ``export``."""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memento_tui.cli.command import PathArgument, command, current_session, in_clear_option, open_workspace
from memento_tui.cli.interaction import staged_progress
from memento_tui.cli.memories import open_past
from memento_tui.cli.options import past_moment
from memento_tui.cli.output import count_of, emit, format_time, safe, table, write_bytes
from memento_tui.errors import InvalidInput
from memento_tui.formats.registry import FORMATS, detect_format, formats_beside

__all__ = ["commands"]

if TYPE_CHECKING:
    from memento_tui.api import Workspace
    from memento_tui.api.past import Past
    from memento_tui.formats.base import ExportReport
    from memento_tui.formats.discovery import DiscoveryReport
    from memento_tui.formats.import_export import ImportReport


_DESCRIPTIONS = {name: one.description for name, one in FORMATS.items()}
_SINGLE_FILE_FORMATS = ("memento", "mcp-reference", "mem0", "agents-block")

_REMOTE = next(name for name, one in FORMATS.items() if one.is_remote)
_MAX_REFUSALS_LISTED = 20
"""Refused records that are listed for a person; the JSON holds all."""


_ADDRESS_BEGINNINGS = ("http://", "https://")


class _PathOrAddress(PathArgument):
    """The type of an argument that is a path, or the address of a server, which stays text."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - as click declares it
        if isinstance(value, str) and value.startswith(_ADDRESS_BEGINNINGS):
            return value
        return super().convert(value, param, ctx)


class _ImportFormat(click.Choice[str]):
    """The type of the format of an import; a path or an address in its place stays as it is."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - as click declares it
        if isinstance(value, str) and value not in self.choices:
            if value == "":
                return PathArgument().convert(value, param, ctx)
            if value.startswith(_ADDRESS_BEGINNINGS) or Path(value).exists():
                return value
            if value.startswith((".", "~")) or "/" in value:
                self.fail(f"there is nothing at {value!r:.200}.", param, ctx)
        return super().convert(value, param, ctx)


def _explanation(introduction: str, formats: Mapping[str, str]) -> str:
    """Return the help of a command that takes a format: an introduction, then a line for each format."""
    return "\n".join([introduction, "", "\b", *(f"{name}: {about}" for name, about in formats.items())])


_IMPORT = """Import the files of PATH, which are in FORMAT.

Records that were imported before are updated if they have changed, and left alone otherwise. Fields that memento does
not know are kept. The exit code is 2 if every record was refused."""

_EXPORT = """Write every record to PATH, for `memento import` to read; `-` writes to standard output.

PATH is an address where FORMAT is a server; records that it holds already are not sent again.

Memento's own format, one record a line, holds every field of every record; others hold what they have fields for."""


@command(
    "import",
    decides=lambda options: not options["find"],
    writes=lambda options: not options["find"],
    short_help="Import memories from files.",
    help=_explanation(_IMPORT, {"auto": "the format that PATH is in, as without FORMAT", **_DESCRIPTIONS}),
    examples="""
    memento import vault ~/notes --dry-run
    memento import memento backup.jsonl --json
    memento import ~/.claude/projects
    memento import protocol-rest https://memento-api.example.org
    memento import --find
    """,
)
@click.argument("format", type=_ImportFormat(["auto", *FORMATS]), metavar="[FORMAT]", required=False)
@click.argument("path", type=_PathOrAddress(exists=True, path_type=Path), metavar="PATH", required=False)
@click.option("--find", "find", is_flag=True, help="Search your home directory for memories to import.")
@click.option("--dry-run", is_flag=True, help="Show what would be imported, and change nothing.")
@click.option("--hold", is_flag=True, help="Let every new memory wait for review.")
def import_(
    format: str | None,  # noqa: A002 - its name in the help
    path: Path | str | None,
    *,
    find: bool,
    dry_run: bool,
    hold: bool,
) -> None:
    """Import files."""
    if find:
        if format is not None:
            raise click.UsageError("--find stands alone; it prints the commands that import.")
        _list_sources()
        return
    if path is None and format is not None and format not in ("auto", *FORMATS):
        path, format = (format if format.startswith(_ADDRESS_BEGINNINGS) else Path(format)), "auto"  # noqa: A001 - same
    if format is None or path is None:
        raise click.UsageError("Name a PATH, and before it the FORMAT if you know it; --find looks for some.")
    if format not in ("auto", *FORMATS):
        raise click.UsageError(f"The format comes before the path: memento import auto {shlex.quote(format)}")
    from memento_tui.formats.import_export import run_import  # noqa: PLC0415 - a command's help is shown without it

    name = format if format != "auto" else _REMOTE if isinstance(path, str) else detect_format(path)
    with open_workspace(create=True) as workspace, staged_progress() as progress:
        report = run_import(workspace, name, path, dry_run=dry_run, hold=hold, progress=progress)
    also = formats_beside(path, name) if format == "auto" and isinstance(path, Path) else []
    refused = [{"file": r.file, "line": r.line, "reason": r.reason} for r in report.refused]
    data = {
        "format": name,
        "also": also,
        "imported": report.imported,
        "updated": report.updated,
        "unchanged": report.unchanged,
        "held": report.held,
        "waiting": report.waiting,
        "deleted": report.deleted,
        "refused": refused,
        "redacted": report.redacted,
        "shortened": report.shortened,
        "renamed": report.renamed,
        "dry_run": dry_run,
    }
    detected = FORMATS[name].title if format == "auto" else ""
    beside = [f"Also there: {FORMATS[one].title}: memento import {one} {shlex.quote(str(path))}" for one in also]
    emit(data, lambda: "\n".join([_import_text(report, detected, dry_run=dry_run), *map(safe, beside)]))
    accepted = report.imported + report.updated + report.unchanged + report.waiting + report.deleted
    if report.refused and not accepted:
        raise click.exceptions.Exit(InvalidInput.exit_code)


def _import_text(report: ImportReport, detected: str, *, dry_run: bool) -> str:
    counts = f"{detected}: " if detected else ""
    counts += f"{report.imported:,} imported, {report.updated:,} updated, {report.unchanged:,} unchanged"
    counts += f", {report.deleted:,} deleted" if report.deleted else ""
    lines = [f"{counts}, {len(report.refused):,} refused" + (" (nothing was written)" if dry_run else "")]
    if report.held:
        lines.append(f"{report.held:,} of the imported {'would wait' if dry_run else 'wait'} in memento review.")
    if report.waiting:
        waits = "would wait" if dry_run else "waits" if report.waiting == 1 else "wait"
        lines.append(f"{count_of(report.waiting, 'other change')} {waits} in memento review.")
    if report.redacted:
        lines.append(f"{report.redacted:,} held a secret, which was removed.")
    if report.shortened:
        lines.append(f"{count_of(report.shortened, 'skip')} would have held for longer than two years: cut to that.")
    if report.renamed:
        stored = "is" if report.renamed == 1 else "are"
        lines.append(f"{report.renamed:,} {stored} stored as id@workspace: another workspace has the id.")
    rows = [[f"{r.file}:{r.line}" if r.line else r.file, r.reason] for r in report.refused[:_MAX_REFUSALS_LISTED]]
    if rows:
        lines.append(table(["REFUSED", "WHY"], rows))
    if len(report.refused) > _MAX_REFUSALS_LISTED:
        lines.append(f"... and {len(report.refused) - _MAX_REFUSALS_LISTED:,} more; --json lists all.")
    return "\n".join(lines)


def _list_sources() -> None:
    """Print the sources that could be imported, with the command for each."""
    from memento_tui.formats.discovery import find_sources, import_command  # noqa: PLC0415 - only --find needs it

    session = current_session()
    findings = find_sources(session.paths.root)
    data = {
        "candidates": [
            {
                "format": one.format,
                "path": str(one.path),
                "count": one.count,
                "unit": one.unit,
                "about": one.about,
                "changed": one.changed.isoformat() if one.changed else None,
                "command": import_command(one, session.data_dir),
            }
            for one in findings.candidates
        ],
        "unreadable": findings.unreadable,
        "complete": findings.complete,
    }
    emit(data, lambda: _sources_text(findings, session.data_dir))


def _sources_text(findings: DiscoveryReport, data_dir: Path | None) -> str:
    from memento_tui.formats.discovery import import_command  # noqa: PLC0415 - as above

    lines = []
    for one in findings.candidates:
        changed = f", changed {format_time(one.changed)}" if one.changed else ""
        lines.append(f"{FORMATS[one.format].title}: {one.amount}{changed}")
        lines.append(f"  {safe(import_command(one, data_dir))}")
    if not lines:
        lines.append("Nothing was found. `memento import --help` lists what can be imported from elsewhere.")
    return "\n".join([*lines, *findings.shortcomings])


@command(
    "export",
    short_help="Write everything to a file or folder.",
    help=_explanation(_EXPORT, _DESCRIPTIONS),
    examples="""
    memento export backup.jsonl
    memento export - | gzip > backup.jsonl.gz
    memento export notes --format vault
    memento export CLAUDE.md --format agents-block
    memento export https://memento-api.example.org --format protocol-rest
    memento export then.jsonl --at 2026-11-20
    """,
)
@click.argument("path", type=_PathOrAddress(allow_dash=True, path_type=Path))
@click.option(
    "--format",
    "name",
    type=click.Choice(list(FORMATS)),
    metavar="FORMAT",
    default="memento",
    show_default=True,
    help="One of those above.",
)
@past_moment
@in_clear_option
def export(path: Path | str, name: str, at: str | None, *, in_clear: bool) -> None:
    """Export files."""
    if isinstance(path, str) and name != _REMOTE:
        raise InvalidInput(
            f"The format {name} is in files, not at an address.", f"Add --format {_REMOTE}, or give a path."
        )
    from memento_tui.formats.import_export import run_export  # noqa: PLC0415 - a command's help is shown without it

    with open_workspace() as workspace, nullcontext() if at is None else open_past(workspace, at) as past:
        if str(path) == "-":
            _export_to_output(workspace, name, past, in_clear=in_clear)
            return
        written = run_export(workspace, path, format_name=name, past=past, in_clear=in_clear)
    refused = [{"file": r.file, "line": r.line, "reason": r.reason} for r in written.refused]
    data = {"format": name, "path": str(path), "exported": written.records, "left_out": written.left_out}
    emit(
        {**data, "files": written.files, "refused": refused, "told": written.notices},
        lambda: _export_text(written, path),
    )


def _export_text(written: ExportReport, path: Path | str) -> str:
    lines = [safe(f"{written.records:,} {'record' if written.records == 1 else 'records'} written to {path}")]
    if written.left_out:
        lines.append(f"{written.left_out:,} left out, which this format does not hold")
    lines += [safe(sentence) for sentence in written.notices]
    rows = [[refused.file, refused.reason] for refused in written.refused]
    return "\n".join([*lines, table(["REFUSED", "WHY"], rows)]).rstrip()


def _export_to_output(workspace: Workspace, name: str, past: Past | None, *, in_clear: bool) -> None:
    if sys.stdout.isatty():
        raise InvalidInput("An export is not for a terminal.", "Name a file, or send the output through a pipe.")
    if name not in _SINGLE_FILE_FORMATS:
        kind, argument = ("on a server", "its address") if name == _REMOTE else ("a folder of files", "a folder")
        raise InvalidInput(f"The format {name} is {kind}.", f"Name {argument}.")
    from memento_tui.formats.import_export import run_export  # noqa: PLC0415 - a command's help is shown without it

    with tempfile.TemporaryDirectory(dir=workspace.paths.temporary_folder()) as folder:
        whole = Path(folder) / "export"
        run_export(workspace, whole, format_name=name, past=past, in_clear=in_clear)
        with whole.open("rb") as file:
            write_bytes(file)


commands = {"import": import_, "export": export}
