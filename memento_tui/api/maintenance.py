"""Run maintenance in the caller's process, asking the engine about meaning."""

from __future__ import annotations

import threading
from collections.abc import Collection

import msgspec

from memento_tui.api.workspace import Workspace
from memento_tui.errors import EngineUnavailable, InvalidInput
from memento_tui.maintenance.context import Comparators, Progress
from memento_tui.maintenance.contradictions.finder import EntailmentScorer
from memento_tui.maintenance.run import MaintenanceReport, run_maintenance
from memento_tui.maintenance.schedule import Runner
from memento_tui.meaning import check_installed
from memento_tui.paths import typed_path
from memento_tui.storage.long_work import StoppedError

__all__ = ["maintain_workspace"]

_MAX_WAIT_SECONDS = 3600.0


def maintain_workspace(
    workspace: Workspace,
    *,
    dry_run: bool = False,
    asked: Collection[str] = (),
    by: Runner = "person",
    stopping: threading.Event | None = None,
    progress: Progress | None = None,
) -> MaintenanceReport:
    """Run the maintenance that is due: expire, demote and compare, and propose where a person decides.

    ``asked`` names what is done on request alone: ``consolidate``, ``contradictions``, ``denials``, ``lessons``,
    ``patterns``.
    ``by`` says who began it.

    Waits until everything is embedded. Where the engine cannot be had, only words are compared, and the report says so.

    Raises:
        NotAllowed: another maintenance run is in progress.

    """
    meaning, problem = None, ""
    if workspace.config.engine.enabled:
        semantic = workspace.search_engine.semantic

        def embedding(done: int, total: int) -> None:
            if progress is not None:
                progress("Embedding", done, total)

        try:
            semantic.wait(workspace._store.journal.head(), timeout=_MAX_WAIT_SECONDS, progress=embedding, stop=stopping)
            meaning = semantic
        except StoppedError:
            return MaintenanceReport((), (), interrupted=True, dry_run=dry_run)
        except EngineUnavailable as error:
            problem = f"Only words were compared: {error}"
    entailment, unweighed = _load_entailment(workspace)
    workspace.search_engine.keyword.catch_up()
    report = run_maintenance(
        workspace._store,
        workspace.config,
        Comparators(workspace.search_engine.keyword, meaning, entailment),
        workspace.paths,
        dry_run=dry_run,
        asked=asked,
        by=by,
        stopping=stopping,
        progress=progress,
    )
    problems = tuple(filter(None, (problem, unweighed, *report.problems)))
    return msgspec.structs.replace(report, problems=problems)


def _load_entailment(workspace: Workspace) -> tuple[EntailmentScorer | None, str]:
    """Return the model that weighs contradictions, where one is configured, or why it cannot be had."""
    setting = workspace.config.engine.entailment_model
    if not setting:
        return None, ""
    try:
        check_installed()
        from memento_tui.embedding.models import EntailmentModel as Model  # noqa: PLC0415 - torch; most do without

        return Model(typed_path(setting)).contradiction, ""
    except (InvalidInput, EngineUnavailable) as error:
        return None, f"No model weighed contradictions: {error}"
