"""Learn from a transcript in a detached process: record the memories that were used, propose new ones.

Run as ``python -m memento_tui.hooks.transcript_worker DIR`` by `memento_tui.hooks.worker_launcher`. Nobody sees
its streams, so failures are written to the hooks' log.
"""

from __future__ import annotations

import argparse
import logging
import os
import time
from pathlib import Path

from filelock import FileLock, Timeout

from memento_tui.api import Workspace
from memento_tui.api.code_check import refresh_code_notes
from memento_tui.api.distillation import distill_transcript
from memento_tui.api.maintenance_schedule import start_maintenance_if_due
from memento_tui.api.provenance import check_provenance
from memento_tui.branches import branch_namespaces
from memento_tui.errors import MementoError
from memento_tui.hooks.host_events import moment_of
from memento_tui.hooks.worker_launcher import should_read_transcript
from memento_tui.maintenance.code.notes import read_notes
from memento_tui.maintenance.transcripts.reader import read_transcript
from memento_tui.maintenance.transcripts.usage import ShownText, used_memories
from memento_tui.paths import DataPaths
from memento_tui.policy.screening import namespace_to_write
from memento_tui.private_files import PRIVATE_FILE_MODE, use_private_umask
from memento_tui.projects import (
    Project,
    checked_out_branch,
    claude_namespace,
    find_project,
    head_commit,
    namespace_of_project,
)
from memento_tui.storage.hook_store import BegunSession, HookStore

__all__ = ["learn_from_transcript", "main"]

_log = logging.getLogger(__name__)

_SETTLED_SECONDS, _MAX_WAIT_SECONDS = 0.5, 10.0
"""How long a transcript stays unchanged before it counts as complete, and how long that is waited for."""

_SESSION_END = "sessionend"
"""The event, in lower case, with which a session is over rather than a part of it."""

_NICENESS = 10
"""By how much a check of the code yields to other work: it may take seconds, and nobody waits for it."""

_LOCK_SECONDS = 300.0
"""How long another transcript that is being read is waited for."""


def main() -> int:
    """Run the worker once; return the exit status."""
    parser = argparse.ArgumentParser(prog="memento-hook-after")
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--index", action="store_true")
    parser.add_argument("--code", action="store_true")
    parser.add_argument("--event", default="")
    parser.add_argument("--session", default="")
    parser.add_argument("--cwd", default="")
    parser.add_argument("--since", default="")
    parser.add_argument("--transcript", type=Path)
    options = parser.parse_args()
    paths = DataPaths(options.data_dir)
    use_private_umask()
    logging.basicConfig(
        filename=paths.hook_log, level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    try:
        if options.index:
            with Workspace(paths.root, actor="agent", channel="hook", create=False) as workspace:
                workspace.catch_up()
        elif options.code:
            check_code_of_project(paths, options.cwd)
        else:
            call = (options.transcript, options.session)
            learn_from_transcript(paths, *call, event=options.event, cwd=options.cwd, since=options.since)
    except MementoError as error:
        _log.warning("%s: %s", options.transcript or "indexing", error)
        return 1
    except Timeout:
        if options.code:
            return 0  # another process does it
        _log.warning("%s: another transcript took too long; the next event of its session reads it", options.transcript)
        return 1
    except Exception:  # noqa: BLE001 - the last place that can tell anyone
        _log.exception("%s could not be learned from", options.transcript)
        return 1
    return 0


def learn_from_transcript(
    paths: DataPaths, transcript: Path, session: str, *, event: str, cwd: str = "", since: str = ""
) -> None:
    """Record the memories that a session used, hold those that it copied from outside, and propose new ones.

    A session has one transcript: another one that is named later says nothing about it. Nothing is held of a session
    whose beginning no hook told of. ``since`` is when its context began, where it may have been compacted meanwhile.

    One transcript is read at a time. After an event of every turn, one that has hardly grown is skipped; after a write
    to memento, only what it copied is looked for.

    Raises:
        NotFound: the transcript is missing.
        InvalidInput: it is in no format that is read.
        Timeout: another transcript is being read for minutes.

    """
    size = _settled_size(transcript)
    with FileLock(paths.hook_lock, timeout=_LOCK_SECONDS, mode=PRIVATE_FILE_MODE):
        hooks = HookStore(paths.database, busy_seconds=60.0)
        try:
            begun = hooks.begun(session)
            if begun is not None and not _is_its_transcript(hooks, begun, session, transcript):
                _log.warning("%s: the transcript of session %s is %s", transcript, session, begun.transcript)
                return
            is_after_write = moment_of(event) == "write"
            if not is_after_write and not should_read_transcript(event, size, hooks.learned_bytes(session)):
                return
            with Workspace(paths.root, actor="agent", channel="hook", session=session, create=False) as workspace:
                project = find_project(cwd)
                if workspace.config.hooks.provenance and begun is not None:
                    began = begun._replace(since=since or begun.since)
                    root = "" if project is None else str(project.root)
                    _check_provenance(workspace, transcript, session, root, began)
                if workspace.config.hooks.learn and not is_after_write:
                    _record_use(workspace, hooks, transcript, session)
                    _distill(workspace, transcript, project)
                if not is_after_write and project is not None and _has_new_commit(paths, project):
                    _check_code(workspace, project)
                if event.lower() == _SESSION_END:
                    start_maintenance_if_due(workspace, "session")
            if not is_after_write:
                hooks.set_learned_bytes(session, size)
        finally:
            hooks.close()


def _is_its_transcript(hooks: HookStore, begun: BegunSession, session: str, transcript: Path) -> bool:
    if not begun.transcript:
        hooks.keep_transcript(session, os.fspath(transcript))
        return True
    return transcript == Path(begun.transcript)


def check_code_of_project(paths: DataPaths, cwd: str) -> None:
    """Hold the memories of a project against its repository. One check runs at a time; another is not waited for."""
    os.nice(_NICENESS)
    with (
        FileLock(paths.code_lock, timeout=0, mode=PRIVATE_FILE_MODE),
        Workspace(paths.root, actor="agent", channel="hook", create=False) as workspace,
    ):
        _check_code(workspace, find_project(cwd))


def _has_new_commit(paths: DataPaths, project: Project) -> bool:
    """Tell whether a project's repository has another commit than when its memories were last held against it."""
    return head_commit(project.home, project.root) != read_notes(paths.code_notes(project.root)).head


def _check_code(workspace: Workspace, project: Project | None) -> None:
    """Hold the memories of a project against its repository; a failure stops nothing else."""
    if project is None or not (project.root / ".git").exists():
        return
    namespaces = (namespace_of_project(project, workspace.settings.get, None), claude_namespace(project))
    try:
        refresh_code_notes(workspace, project.root, namespaces, workspace.paths.code_notes(project.root))
    except MementoError as error:
        _log.warning("%s: its memories were not held against the code: %s", project.root, error)


def _distill(workspace: Workspace, transcript: Path, project: Project | None) -> None:
    settings = workspace.settings
    place = "" if project is None else namespace_of_project(project, settings.get, settings.set)
    branch = checked_out_branch(project.root) if project is not None and workspace.config.review.branches else ""
    place = namespace_to_write(branch_namespaces(place, branch)) if branch else place
    for problem in distill_transcript(workspace, transcript, namespace=place).problems:
        _log.warning("%s: %s", transcript, problem)


def _check_provenance(workspace: Workspace, transcript: Path, session: str, project: str, begun: BegunSession) -> None:
    """Hold the session's memories that its tools returned from outside; a failure is logged, and the rest goes on."""
    try:
        check_provenance(workspace, transcript, session, project=project, begun=begun)
    except MementoError as error:
        _log.warning("%s: where its memories came from was not found out: %s", transcript, error)


def _record_use(workspace: Workspace, hooks: HookStore, transcript: Path, session: str) -> None:
    unused = hooks.shown_and_unused(session)
    if not unused:
        return
    memories = workspace.get_many(list(unused)).values()
    shown = [ShownText(memory.id, f"{memory.title}\n{memory.content}", unused[memory.id]) for memory in memories]
    used = used_memories(shown, read_transcript(transcript, on_problem=lambda _: None))
    # A memory that was fetched by its id was counted by the tool that returned it.
    workspace.exposures.count_used(used.reused - used.fetched, session)
    workspace.exposures.mark_used(session, used.fetched | used.reused)


def _settled_size(transcript: Path) -> int:
    """Return the size of a file once it no longer grows; hosts write the last lines after they call."""
    ends = time.monotonic() + _MAX_WAIT_SECONDS
    size = _file_size(transcript)
    while time.monotonic() < ends:
        time.sleep(_SETTLED_SECONDS)
        before, size = size, _file_size(transcript)
        if before == size:
            break
    return size


def _file_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


if __name__ == "__main__":
    raise SystemExit(main())
