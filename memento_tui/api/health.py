"""Check that a workspace is in order, and rebuild its indexes."""

from __future__ import annotations

import os
import platform
import shutil
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from memento_tui.agreements import refusals
from memento_tui.api.configuration import workspace_destinations
from memento_tui.api.encryption_status import examine_encryption
from memento_tui.api.integrity import (
    SILENT_ENGINE_HINT,
    begin_semantic_anew,
    check_keyword_index,
    check_rows,
    check_vectors,
    stop_engine,
)
from memento_tui.api.overview import HealthFinding, examine_meaning, hub_signs
from memento_tui.api.workspace import Workspace
from memento_tui.config import Config
from memento_tui.errors import DataDirectoryError, EngineUnavailable, MementoError
from memento_tui.meaning import check_installed
from memento_tui.paths import DataPaths, typed_path
from memento_tui.private_files import OTHERS, close_data_directory, foreign_names
from memento_tui.regular_files import bytes_of, status_of
from memento_tui.storage.backup import Progress
from memento_tui.storage.connection import SQLITE_VERSION
from memento_tui.storage.failures import folder_in_place_of_log
from memento_tui.text.quantities import count_of, format_bytes

if TYPE_CHECKING:
    from memento_tui.search.engine_client import SemanticState

__all__ = [
    "SILENT_ENGINE_HINT",
    "HealthFinding",
    "check_pages_and_journal",
    "examine",
    "examine_directory",
    "examine_engine",
    "examine_indexes",
    "examine_quickly",
    "reindex",
    "start_engine",
    "stop_engine",
    "toggle_engine",
]

_LOW_DISK_BYTES = 200_000_000
"""Bytes. Below this an index merge or an import may fill the disk."""

_SHOWN_PACKAGES = ("memento-tui", "textual", "tantivy", "lancedb", "sentence-transformers", "mcp")


def reindex(workspace: Workspace, *, keyword: bool, semantic: bool, progress: Callable[[int, int], None] | None) -> int:
    """Build the chosen indexes anew from the database; return how many memories the keyword index holds.

    ``progress`` is told of the keyword index's memories done and in all. The semantic index is built by the engine,
    in the background; `Workspace.search` with ``wait`` waits for it.

    Raises:
        DataDirectoryError: an index directory cannot be written.
        EngineUnavailable: the engine is asked for and cannot be had.

    """
    indexed = workspace.search_engine.keyword.rebuild(progress) if keyword else 0
    if semantic:
        if workspace.config.engine.enabled:
            begin_semantic_anew(workspace)
        start_engine(workspace)
    return indexed


def start_engine(
    workspace: Workspace, *, wait_seconds: float = 0.0, progress: Callable[[int, int], None] | None = None
) -> SemanticState:
    """Start the engine unless it runs, and return its state then.

    With ``wait_seconds`` wait that long until every memory is embedded; ``progress`` is told how many are, and of how
    many.

    Raises:
        EngineUnavailable: it is switched off or missing, or ``wait_seconds`` are over.

    """
    if not workspace.config.engine.enabled:
        raise EngineUnavailable("Semantic search is switched off.", "Set enabled = true under [engine] in config.toml.")
    check_installed()
    engine = workspace.search_engine.semantic
    if wait_seconds:
        engine.wait(workspace.activity.head(), timeout=wait_seconds, progress=progress)
    else:
        engine.ensure()
    return engine.state()


def toggle_engine(workspace: Workspace) -> bool:
    """Stop the engine that runs, or start one; return whether one runs, or will once its model is loaded.

    Raises:
        EngineUnavailable: it is switched off or missing, or does not stop.

    """
    engine = workspace.search_engine.semantic
    if engine.status() is None:
        start_engine(workspace)
        return True
    stop_engine(engine)
    return False


def examine_directory(paths: DataPaths, *, read_only: bool = False) -> list[HealthFinding]:
    """Run the checks that do not open the database; unless ``read_only``, close files that other users can read."""
    if not paths.root.is_dir():
        hint = "`memento add`, `memento import` or the app begin a new one."
        return [HealthFinding("data directory", ok=False, detail=f"{paths.root} does not exist", hint=hint)]
    return [
        _directory(paths, read_only=read_only),
        _permissions(paths, read_only=read_only),
        _disk(paths),
        *_drafts(paths),
        examine_encryption(paths),
        HealthFinding("versions", ok=True, detail=_versions()),
    ]


def _directory(paths: DataPaths, *, read_only: bool) -> HealthFinding:
    if (folder := folder_in_place_of_log(paths.database)) is not None:
        detail = f"{folder} is a folder, where the database keeps its log: nothing can be remembered or decided"
        return HealthFinding("data directory", ok=False, detail=detail, hint="Move the folder away.")
    if read_only or os.access(paths.root, os.W_OK | os.X_OK):
        return HealthFinding("data directory", ok=True, detail=str(paths.root))
    detail = f"{paths.root} is read-only: nothing can be remembered, changed or decided"
    return HealthFinding("data directory", ok=False, detail=detail, hint="Make it writable, or look with --read-only.")


def _permissions(paths: DataPaths, *, read_only: bool) -> HealthFinding:
    """Report the files that other users can still read, which opening the data directory could not change."""
    if not paths.root.stat().st_mode & OTHERS:
        return HealthFinding("permissions", ok=True, detail="no other user can read the memories")
    if not read_only:
        close_data_directory(paths.root)  # nothing may have opened it yet
    own = (
        paths.database,
        paths.config,
        paths.engine_socket,
        paths.engine_log,
        paths.drafts,
        paths.backups,
        paths.keyword_index.parent,
    )
    found = {path: status for path in (paths.root, *own) if (status := status_of(path)) is not None}
    open_to_others = [str(path) for path, status in found.items() if status.st_mode & OTHERS]
    if not open_to_others:
        return HealthFinding("permissions", ok=True, detail="no other user can read the memories")
    detail = f"other users may have access to {', '.join(open_to_others)}"
    if paths.root.stat().st_uid != os.geteuid():
        detail += "; the directory belongs to another user"
    elif others := foreign_names(paths.root):
        detail += f"; memento leaves the directory as it is, because it holds other files too, such as {others[0]!r}"
    return HealthFinding("permissions", ok=False, detail=detail, hint=f"chmod 700 {paths.root}")


def _disk(paths: DataPaths) -> HealthFinding:
    free = shutil.disk_usage(paths.root).free
    kept = format_bytes(bytes_of(paths.database))
    used = f"database {kept}, indexes {format_bytes(bytes_of(paths.keyword_index.parent))}, free {format_bytes(free)}"
    return HealthFinding(
        "disk", ok=free >= _LOW_DISK_BYTES, detail=used, hint="" if free >= _LOW_DISK_BYTES else "Free some space."
    )


def _drafts(paths: DataPaths) -> Iterator[HealthFinding]:
    kept = sorted(paths.drafts.glob("*.md")) if paths.drafts.is_dir() else []
    if kept:
        yield HealthFinding("drafts", ok=True, detail=f"{len(kept)} unsaved, the last is {kept[-1]}")


def _versions() -> str:
    return ", ".join(
        [*map(_version, _SHOWN_PACKAGES), f"Python {platform.python_version()}", f"SQLite {SQLITE_VERSION}"]
    )


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - it needs all of email

    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"no {package}"


def examine(
    workspace: Workspace, *, progress: Progress | None = None, stop: threading.Event | None = None
) -> list[HealthFinding]:
    """Check the directory, the settings, the database, the journal, the backups, the indexes and the engine.

    It changes nothing, except that the keyword index catches up with the journal, as at every search.
    """
    quick = [finding for finding in examine_quickly(workspace) if finding.name != "keyword index"]
    return [
        *quick,
        *check_pages_and_journal(workspace, progress=progress, stop=stop),
        check_rows(workspace, progress=progress, stop=stop),
        check_keyword_index(workspace),
        _run_check("vectors", workspace, check_vectors),
    ]


def examine_quickly(workspace: Workspace) -> Iterator[HealthFinding]:
    """Yield the findings that need no full read of the database, the quickest first."""
    yield from examine_directory(workspace.paths, read_only=workspace.is_read_only)
    yield _settings(workspace.config)
    yield from _sent(workspace)
    yield _contents(workspace)
    yield _backups(workspace)
    yield from hub_signs(workspace)
    yield from examine_indexes(workspace)


def examine_indexes(workspace: Workspace) -> Iterator[HealthFinding]:
    """Yield the state of the engine, and of the keyword index once it has caught up."""
    yield examine_engine(workspace)
    yield _run_check("keyword index", workspace, _keyword)


def examine_engine(workspace: Workspace) -> HealthFinding:
    """Return the state of the engine and its index, without starting it."""
    return _run_check("semantic index", workspace, _semantic)


def check_pages_and_journal(
    workspace: Workspace, *, progress: Progress | None = None, stop: threading.Event | None = None
) -> Iterator[HealthFinding]:
    """Read the database from its first page to its last entry: about ten seconds for a million memories.

    Raises:
        StoppedError: ``stop`` was set.

    """
    tell = progress or (lambda _what, _done, _total: None)
    hint = "Make no more changes. Put a backup in its place: `memento backup list`, then `memento backup restore`."
    tell("Checking the pages", 0, 1)
    try:
        problem = workspace._store.audit.pages_in_order(stop)
    except DataDirectoryError as error:
        problem = error.message
    yield HealthFinding(
        "pages", ok=problem is None, detail=problem or "the file is whole", hint=hint if problem else ""
    )
    problem = workspace._store.audit.journal_in_order(tell, stop)
    if problem is None:
        yield HealthFinding("journal", ok=True, detail="every entry is as it was written")
        return
    hint = "Something else changed the database. Keep a copy, and compare it with a backup or an export."
    yield HealthFinding("journal", ok=False, detail=problem, hint=hint)


def _settings(config: Config) -> HealthFinding:
    """Check the settings that only the engine or maintenance uses, where nobody would see them fail."""
    for problem, hint in (_model_problem(config), _language_model_problem(config)):
        if problem:
            return HealthFinding("settings", ok=False, detail=problem, hint=hint)
    return HealthFinding("settings", ok=True, detail="config.toml names nothing that is missing")


def _sent(workspace: Workspace) -> Iterator[HealthFinding]:
    """Report the data that config.toml and a hub send off this machine; nothing where they send none."""
    named = workspace_destinations(workspace)
    refused = refusals(named)
    if refused:
        sentences = " ".join(error.message for error in refused.values())
        hints = " ".join(dict.fromkeys(error.hint for error in refused.values() if error.hint))
        yield HealthFinding("what is sent", ok=False, detail=sentences, hint=hints)
    elif named:
        sent = "; ".join(one.in_words for one in named)
        yield HealthFinding("what is sent", ok=True, detail=f"as you agreed: {sent}")


def _model_problem(config: Config) -> tuple[str, str]:
    """Return the fault in the folders of models and its remedy; two empty texts if there is none."""
    listed = {"engine.model": config.engine.model, "engine.entailment_model": config.engine.entailment_model}
    for setting, folder in listed.items():
        path = typed_path(folder)
        if folder and not path.is_dir():
            return f"{setting}: the folder {path} does not exist", f"Mend {setting} in config.toml, or leave it out."
        if folder and not any((path / file).is_file() for file in ("config.json", "modules.json")):
            return (
                f"{setting}: {path} holds no model",
                f"Name the folder that holds config.json in {setting}, or leave it out.",
            )
    return "", ""


def _language_model_problem(config: Config) -> tuple[str, str]:
    """Return the fault in the settings of the endpoint for drafts, which is not contacted, and its remedy."""
    chosen = config.language_model
    if not chosen.url:
        unused = chosen.model or chosen.key_variable
        return (
            ("language_model has no url, so it is not used", "Set url, or leave [language_model] out.")
            if unused
            else ("", "")
        )
    parts = urlsplit(chosen.url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return "language_model.url is no web address", "It looks like http://127.0.0.1:11434/v1."
    if not chosen.model:
        return "language_model.model is missing", "Name the model that the endpoint is to use."
    if chosen.key_variable and not os.environ.get(chosen.key_variable):
        return (
            f"the environment variable {chosen.key_variable} is not set, so language_model has no key",
            "Set it where memento and its engine are started, or mend language_model.key_variable.",
        )
    return "", ""


def _contents(workspace: Workspace) -> HealthFinding:
    store = workspace._store
    memories = count_of(store.memories.count_all(), "memory", "memories")
    entries = count_of(store.journal.head(), "journal entry", "journal entries")
    return HealthFinding("contents", ok=True, detail=f"{memories}, {entries}, {workspace.review.count():,} to review")


def _backups(workspace: Workspace) -> HealthFinding:
    found = workspace.backups.list()
    bad = [one.name for one in found if one.problem and one.why != "damaged"]
    if bad:
        hint = "`memento backup verify` says more; `memento backup rm` removes it."
        return HealthFinding("backups", ok=False, detail=f"{', '.join(bad)} cannot be restored", hint=hint)
    if not found:
        return HealthFinding("backups", ok=True, detail="none yet; `memento backup make` makes one")
    size = format_bytes(sum(one.size for one in found))
    return HealthFinding(
        "backups", ok=True, detail=f"{len(found)}, the last of {found[0].at:%Y-%m-%d %H:%M}Z, {size} in all"
    )


def _run_check(name: str, workspace: Workspace, check: Callable[[Workspace], HealthFinding]) -> HealthFinding:
    try:
        return check(workspace)
    except MementoError as error:
        return HealthFinding(name, ok=False, detail=error.message, hint=error.hint)


def _keyword(workspace: Workspace) -> HealthFinding:
    index = workspace.search_engine.keyword
    index.catch_up()
    return HealthFinding(
        "keyword index", ok=True, detail=index.notice or f"reflects all {index.indexed_seq:,} journal entries"
    )


def _semantic(workspace: Workspace) -> HealthFinding:
    name, hint = "semantic index", "`memento engine logs` says more; `memento reindex --semantic` begins anew."
    if not workspace.config.engine.enabled:
        return HealthFinding(name, ok=True, detail="switched off, in config.toml")
    status = workspace.search_engine.semantic.status()
    if status is None:
        is_silent = workspace.search_engine.semantic.is_silent()
        absent = "its engine runs and does not answer now" if is_silent else "not running; a search starts it"
        return examine_meaning(name) or HealthFinding(name, ok=True, detail=absent)
    if status.state == "failed" or status.problem:
        return HealthFinding(name, ok=False, detail=f"the engine cannot work: {status.problem}", hint=hint)
    if status.state == "loading":
        return HealthFinding(name, ok=True, detail="loading its model")
    meanwhile = f"; the vectors of {status.serving} answer meanwhile" if status.serving else ""
    memories, pending = count_of(status.total, "memory", "memories"), count_of(status.pending, "waits", "wait")
    detail = f"{memories}, {pending} to be embedded{meanwhile}"
    return HealthFinding(name, ok=True, detail=detail)
