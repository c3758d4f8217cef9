"""Load the sample into a workspace, and decide as the person whose memory it is: python data/load_sample.py FOLDER.

A file only claims what is verified, pinned and certain, so that an import alone brings drafts and a proposal. Nothing
is decided twice: a memory that was changed since it came, and an identity that waits no more, stay as they are.
"""

import sys
from pathlib import Path

from month import live_a_month

from memento_tui.api import Workspace
from memento_tui.formats.base import ImportRecord
from memento_tui.formats.import_export import run_import
from memento_tui.formats.registry import FORMATS
from memento_tui.model.claims import claims_of

SAMPLE = Path(__file__).parent / "sample"

_SKIPS = (
    ("watchfiles for the live view", "Measured: polling the journal head is cheaper and works everywhere", "360d"),
    (
        "Textual DataTable for long lists",
        "15 seconds and 213 MB at 100,000 rows; the list on the Line API paints at once",
        "180d",
    ),
    (
        "reciprocal rank fusion",
        "Worse than the weighted sum on every development set, and its scores mean nothing by themselves",
        "90d",
    ),
)
"""The skips with their reasons; they end some time after the sample is loaded, on whatever day that is."""


def load_sample(workspace: Workspace) -> None:
    """Import the sample, accept what its memories claim, and approve its identity."""
    for refused in run_import(workspace, "memento", SAMPLE).refused:
        sys.stderr.write(f"{refused.file}, line {refused.line}: {refused.reason}\n")
    with workspace.one_undo():
        for record in FORMATS["memento"].read(SAMPLE):
            if isinstance(record, ImportRecord) and record.record == "memory":
                _accept_claims(workspace, record.key)
            elif isinstance(record, ImportRecord) and record.record == "crystal":
                _approve_identity(workspace, record.key)


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


def _approve_identity(workspace: Workspace, crystal_id: str) -> None:
    """Let an identity hold that still waits for its first decision."""
    if (crystal := workspace.crystals.find(crystal_id)) is not None and crystal.status == "proposed":
        workspace.review.approve(workspace.crystals.open_proposal(crystal_id).id)


def main(folder: Path) -> None:
    """Load the sample; into a new workspace with a month of work on it."""
    with Workspace(folder) as mine:
        is_new = mine.activity.head() == 0
        load_sample(mine)
        for item, reason, span in _SKIPS if is_new else ():
            mine.skips.add(item, reason, span, namespace="projects/memento")
    if is_new:
        live_a_month(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
