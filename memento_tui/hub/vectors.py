"""Compact the vectors that machines have in common on object storage, one machine at a time.

``python -m memento_tui.hub.vectors --data-dir D``; `memento_tui.hub.worker` starts it now and then.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from memento_tui.api.hub_session import HubSession
from memento_tui.api.workspace import Workspace
from memento_tui.errors import DataDirectoryError, MementoError, NotAllowed
from memento_tui.hub import require_extra
from memento_tui.hub.server import HubServer
from memento_tui.meaning import check_installed
from memento_tui.processes import let_others_go_first

__all__ = ["compact_vectors"]

if TYPE_CHECKING:
    from memento_tui.embedding.shared_vectors import VectorCompaction


def compact_vectors(workspace: Workspace) -> VectorCompaction:
    """Join the small files of the shared vectors of a workspace's hub.

    Raises:
        NotAllowed: the workspace is in no hub, shares no vectors, the person did not agree to their address, or another
            machine compacts them.
        EngineUnavailable: searching by meaning is not installed.
        DataDirectoryError: the object storage cannot be read or written.

    """
    membership, address = HubSession(workspace).membership, workspace.config.engine.shared_vectors
    if membership is None:
        raise NotAllowed("This workspace is in no hub.", "Join one: memento hub join URL.")
    if not address:
        raise NotAllowed("This machine shares no vectors.", "Set engine.shared_vectors in config.toml to s3://BUCKET.")
    check_installed()
    from memento_tui.embedding.shared_vectors import compact_shared_vectors  # noqa: PLC0415 - imports lancedb

    with HubServer(membership.url) as server, server.alone(membership.workspace, "vectors") as is_alone:
        if not is_alone:
            raise NotAllowed("Another machine compacts the shared vectors.", "Once is enough.")
        try:
            return compact_shared_vectors(address, membership.workspace)
        except NotAllowed:
            raise
        except Exception as error:
            said = str(error).splitlines() or [type(error).__name__]
            raise DataDirectoryError(
                f"The vectors in {address} cannot be compacted: {said[0]:.200}",
                "Every machine has its own and goes on. Look at the address, the key and the endpoint (AWS_...).",
            ) from error


def main() -> None:
    """Compact once; print why that was not done."""
    parser = argparse.ArgumentParser(prog="python -m memento_tui.hub.vectors")
    parser.add_argument("--data-dir", required=True, type=Path)
    root = parser.parse_args().data_dir.expanduser().absolute()
    let_others_go_first()
    try:
        require_extra()
        with Workspace(root, channel="hub", create=False) as workspace:
            compact_vectors(workspace)
    except MementoError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
