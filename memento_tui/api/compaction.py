"""Make the files of a workspace smaller, in the name of a person."""

from __future__ import annotations

import threading
from datetime import timedelta

import msgspec

from memento_tui import clock
from memento_tui.api.workspace import Workspace
from memento_tui.errors import NotAllowed
from memento_tui.storage.backup import Progress
from memento_tui.storage.backup_folder import no_progress
from memento_tui.storage.compaction import Compaction, compact_database
from memento_tui.storage.history_limit import DroppedVersions, HistoryLimit, drop_versions, is_shared

__all__ = ["compact"]


class CompactedWorkspace(Compaction, frozen=True):
    """The result of compacting a workspace."""

    dropped: int = 0
    """Earlier versions whose texts were dropped, because ``[history]`` limits them."""
    backup: str = ""
    """The name of the backup that holds them; empty where none was dropped, or the newest one holds them already."""
    is_shared: bool = False
    """Whether nothing was dropped, for the workspace is in a hub, where versions of any age are merged."""


def compact(
    workspace: Workspace,
    *,
    dry_run: bool = False,
    progress: Progress = no_progress,
    stop: threading.Event | None = None,
) -> CompactedWorkspace:
    """Make the database smaller; with ``dry_run`` only estimate by how much.

    Nothing that it says changes, unless ``[history]`` limits the versions that are kept: then a backup is made, and the
    texts of older ones are dropped. The journal names each of them, and verifies as before.

    Raises:
        NotAllowed: an agent asks for more than ``dry_run``, or another backup is under way for long.
        DataDirectoryError: there is no room to write the file anew, or it or the backup cannot be written.
        StoppedError: ``stop`` was set; what was dropped and packed by then is.

    """
    if workspace.author.actor != "person" and not dry_run:
        raise NotAllowed("Only a person compacts a workspace.", "Ask the person to do it.")
    store, kept = workspace._store, workspace.config.history
    gone, backup, shared = DroppedVersions(0, 0), "", False
    if kept.versions:
        with store.reading() as connection:
            shared = is_shared(connection)
    if kept.versions and not shared:
        limit = HistoryLimit(kept.versions, clock.now() - timedelta(days=kept.days))
        gone = drop_versions(store.database, workspace.author, limit, dry_run=True, progress=progress, stop=stop)
        if gone.versions and not dry_run:
            made = workspace.backups.keep_before_limit(progress=progress)
            backup = "" if made is None else made.name
            gone = drop_versions(store.database, workspace.author, limit, dry_run=False, progress=progress, stop=stop)
    done = compact_database(store.database, dry_run=dry_run, progress=progress, stop=stop)
    after = max(0, done.after - gone.size) if dry_run else done.after
    return CompactedWorkspace(
        **{**msgspec.structs.asdict(done), "after": after}, dropped=gone.versions, backup=backup, is_shared=shared
    )
