"""Make the files of a workspace smaller, in the name of a person."""

from __future__ import annotations

import threading

from memento_tui.api.workspace import Workspace
from memento_tui.errors import NotAllowed
from memento_tui.storage.backup import Progress
from memento_tui.storage.backup_folder import no_progress
from memento_tui.storage.compaction import Compaction, compact_database

__all__ = ["Compaction", "compact"]


def compact(
    workspace: Workspace,
    *,
    dry_run: bool = False,
    progress: Progress = no_progress,
    stop: threading.Event | None = None,
) -> Compaction:
    """Make the database smaller; nothing that it says changes. With ``dry_run`` tell what that would come to.

    Raises:
        NotAllowed: an agent asks.
        DataDirectoryError: there is no room to write the file anew, or it cannot be written.
        StoppedError: ``stop`` was set; what was packed by then is packed.

    """
    if workspace.author.actor != "person":
        raise NotAllowed("Only a person compacts a workspace.", "Ask the person to do it.")
    return compact_database(workspace._store.database, dry_run=dry_run, progress=progress, stop=stop)
