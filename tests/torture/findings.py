"""What is wrong with a data directory after a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from memento_tui.api import Workspace
from memento_tui.api.integrity import check_keyword_index, check_rows, check_vectors
from memento_tui.model import Memory
from memento_tui.storage.tables import TABLES
from tests.torture.acknowledgements import read_acknowledged

__all__ = ["faults_of"]


def faults_of(workspace: Workspace, notes: Path) -> tuple[int, list[str]]:
    """Return how many writes were acknowledged, and what is wrong with the directory now."""
    store = workspace._store
    faults = [said for said in (store.journal.verify(), store.audit.pages_in_order(None)) if said]
    checks = (check_rows(workspace), check_keyword_index(workspace), check_vectors(workspace))
    faults += [f"{one.name}: {one.detail}" for one in checks if not one.ok]
    acknowledged = list(read_acknowledged(notes))
    made = _made(workspace)
    for one in acknowledged:
        if not one.id and made[one.text] != 1:
            faults.append(f"{one.text!r} was made {made[one.text]} times")
        elif one.id:
            versions = {found.version: found.record for found in store.journal.history(Memory, one.id)}
            record = versions.get(one.version)
            if record is None or record.content.strip() != one.text.strip():
                faults.append(f"version {one.version} of {one.id} is lost: {one.text!r}")
    faults += _replay_faults(workspace)
    for backup in workspace.backups.list():
        if problem := workspace.backups.verify(backup.name):
            faults.append(f"{backup.name}: {problem}")
    if (crash := workspace.paths.root / "crash.log").exists():
        faults.append(f"the app crashed: {crash.read_text(errors='replace')[-3000:]}")
    return len(acknowledged), faults


def _made(workspace: Workspace) -> Counter[str]:
    """Return how often each text was that of a new memory; somebody may have changed or deleted it since."""
    decode = TABLES["memory"].image.decode
    with workspace._store.reading() as connection:
        images = connection.execute("SELECT image FROM change WHERE record = 'memory' AND version = 1")
        return Counter(decode(image).content.strip() for (image,) in images if image is not None)


def _replay_faults(workspace: Workspace) -> Iterator[str]:
    head = workspace.activity.head()
    if not head:
        return
    with workspace.at(f"entry {head}") as past:
        replayed = {type(one).__name__ + one.id: one.version for one in past.export_records()}
    if replayed != {type(one).__name__ + one.id: one.version for one in workspace.export_records()}:
        yield "the rows are not what a replay of the journal makes"
