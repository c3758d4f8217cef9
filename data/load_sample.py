"""Load the sample into a workspace, and decide as the person whose memory it is: python data/load_sample.py FOLDER.

A file only claims what is verified, pinned and certain, so that an import alone brings drafts. Nothing is decided
twice: a memory that was changed since it came stays as it is.
"""

import sys
from pathlib import Path

from month import DAYS, live_a_month, set_back

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.formats.base import ImportRecord
from memento_tui.formats.import_export import run_import
from memento_tui.formats.registry import FORMATS
from memento_tui.model.claims import claims_of

SAMPLE = Path(__file__).parent / "sample"


def load_sample(workspace: Workspace) -> None:
    """Import the sample, and accept what its memories claim."""
    for refused in run_import(workspace, "memento", SAMPLE).refused:
        sys.stderr.write(f"{refused.file}, line {refused.line}: {refused.reason}\n")
    with workspace.one_undo():
        for record in FORMATS["memento"].read(SAMPLE):
            if isinstance(record, ImportRecord) and record.record == "memory":
                _accept_claims(workspace, record.key)


def _accept_claims(workspace: Workspace, memory_id: str) -> None:
    """Give a memory that is as it came the trust that it claims."""
    memory = workspace.find(memory_id)
    if memory is None or memory.version > 1 or memory.status != "active":
        return
    claims = claims_of(memory)
    if "stability" in claims:
        memory = workspace.verify(memory_id)
    decided = {name: claims[name] for name in ("certainty", "pinned") if name in claims}
    changes = {name: value for name, value in decided.items() if getattr(memory, name) != value}
    if changes:
        workspace.update(memory_id, **changes)


def main(folder: Path) -> None:
    """Load the sample; into a new workspace with a month of work on it, which begins with the sample."""
    with Workspace(folder) as mine:
        if mine.activity.head() > 0:
            load_sample(mine)
            return
        start = clock.now()
        with set_back(DAYS, start):
            load_sample(mine)
    live_a_month(folder, start)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
