"""Check derived data (current rows, tags, both indexes) against the journal and the database, and rebuild it."""

from __future__ import annotations

import shutil
import threading

from memento_tui.api.overview import HealthFinding
from memento_tui.api.workspace import Workspace
from memento_tui.errors import DataDirectoryError, EngineUnavailable, MementoError, NotAllowed
from memento_tui.meaning import INSTALL_HINT, NOT_INSTALLED, is_installed
from memento_tui.search.engine_client import SemanticClient
from memento_tui.storage.backup import Progress
from memento_tui.text.quantities import count_of

__all__ = [
    "SILENT_ENGINE_HINT",
    "begin_semantic_anew",
    "check_keyword_index",
    "check_rows",
    "check_vectors",
    "repair",
    "stop_engine",
]

_MOST_NAMED = 5
"""Records that a finding names."""

_REPAIR_HINT = "`memento doctor --repair` mends it; a backup is made first."


def check_rows(
    workspace: Workspace,
    *,
    since: int = 0,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> HealthFinding:
    """Compare the current rows with the journal; with ``since`` only of records changed after that entry.

    Raises:
        StoppedError: ``stop`` was set.

    """

    def tell(done: int, total: int) -> None:
        if progress is not None:
            progress("Comparing with the journal", done, total)

    found = workspace._store.audit.row_faults(since, _MOST_NAMED + 1, tell, stop)
    said = [one.sentence for one in found[:_MOST_NAMED]]
    if len(found) > _MOST_NAMED:
        said.append("and more")
    if workspace._store.audit.tags_differ():
        said.append("the table of tags is not that of the memories")
    if not said:
        return HealthFinding("records", ok=True, detail="every record is as the journal says")
    hint = "Something else changed the database. " + _REPAIR_HINT
    if all(one.kind == "unknown" for one in found) and len(said) == len(found):
        hint = "Something else wrote it. Compare it with a backup; `memento forget` or `memento purge` removes it."
    else:
        try:
            workspace._store.audit.check_rows_can_be_put_back()
        except DataDirectoryError as error:
            hint = f"{error.message} {error.hint}"
    return HealthFinding("records", ok=False, detail="; ".join(said), hint=hint)


def check_keyword_index(workspace: Workspace) -> HealthFinding:
    """Compare the keyword index with its checksums, and with the ids and a sample of the texts of the database."""
    index = workspace.search_engine.keyword
    try:
        differences = index.differences()
    except MementoError as error:
        return HealthFinding("keyword index", ok=False, detail=error.message, hint=error.hint)
    if differences:
        return HealthFinding(
            "keyword index",
            ok=False,
            detail="; ".join(differences),
            hint="`memento doctor --repair` or `memento reindex --keyword` builds it anew.",
        )
    detail = index.notice or f"holds every memory, and reflects all {index.indexed_seq:,} journal entries"
    return HealthFinding("keyword index", ok=True, detail=detail)


def check_vectors(workspace: Workspace) -> HealthFinding:
    """Compare the index of vectors with the database; an engine may run. Importing what reads it takes a second."""
    name, directory = "vectors", workspace.paths.semantic_index
    if not directory.exists():
        return HealthFinding(name, ok=True, detail="there are none yet; the engine makes them")
    if not is_installed():
        return HealthFinding(name, ok=True, detail=f"not compared. {NOT_INSTALLED}", hint=INSTALL_HINT)
    from memento_tui.embedding.vector_check import compare_index  # noqa: PLC0415 - LanceDB

    report = compare_index(directory, workspace._store)
    if report.differences:
        hint = "`memento doctor --repair` or `memento reindex --semantic` makes them anew."
        return HealthFinding(name, ok=False, detail="; ".join(report.differences), hint=hint)
    have = count_of(report.compared, "memory has the vector of its text", "memories have the vector of their text")
    detail = f"{have}, made by {report.model}"
    if report.sampled:
        detail += f"; {report.sampled:,} were read"
    if report.behind:
        detail += f"; {report.behind:,} changed since, which the engine carries over"
    return HealthFinding(name, ok=True, detail=detail)


SILENT_ENGINE_HINT = "End its process: `python -m memento_tui.engine --data-dir` and this directory."
"""The advice about an engine that does not answer."""


def stop_engine(client: SemanticClient) -> bool:
    """Stop the engine and wait until it is gone; return whether one ran. Raises `EngineUnavailable` if it stays."""
    stopped = client.stop()
    if not stopped and client.is_silent():
        raise EngineUnavailable("The engine runs and does not answer, so it could not be stopped.", SILENT_ENGINE_HINT)
    if not stopped and client.status() is not None:
        raise EngineUnavailable("The engine was told to stop and still runs.", "`memento engine logs` may say why.")
    return stopped


def begin_semantic_anew(workspace: Workspace) -> None:
    """Delete the vectors; the engine makes them anew when it is asked next. Raises `EngineUnavailable` if one stays."""
    stop_engine(workspace.search_engine.semantic)
    for directory in workspace.paths.semantic_indexes():
        shutil.rmtree(directory, ignore_errors=True)


def repair(workspace: Workspace, *, progress: Progress | None = None) -> list[str]:
    """Rebuild the derived data that is damaged; return the steps done, as sentences.

    The journal decides what the rows say, so nothing is put back where the journal itself is not in order.

    Raises:
        NotAllowed: an agent asks.
        DataDirectoryError: the journal or the database is damaged, or cannot be written; nothing was changed.

    """
    if workspace.author.actor != "person":
        raise NotAllowed("Only a person repairs a workspace.", "Ask the person to do it.")
    done = []
    if not check_rows(workspace, progress=progress).ok:
        workspace._store.audit.check_rows_can_be_put_back()
        kept = workspace.backups.keep_before_repair()
        mended = workspace._store.audit.put_rows_back()
        done += [f"{one.record} {one.record_id} is again as the journal says" for one in mended]
        done.append(f"the state before is kept as {kept.name}")
    index = workspace.search_engine.keyword
    if not check_keyword_index(workspace).ok or done:
        count = index.rebuild()
        done.append(f"the keyword index was built anew, with {count_of(count, 'memory', 'memories')}")
    if not check_vectors(workspace).ok:
        begin_semantic_anew(workspace)
        done.append("the vectors were deleted; the engine makes them anew")
    return done
