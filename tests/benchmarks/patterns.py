"""Which patterns of several projects maintenance proposes, and misses: ``python -m tests.benchmarks.patterns``.

The memories are those of `tests.benchmarks.queue`, each source a project of its own. Maintenance runs on them by words
and with the packaged model's vectors. What it misses is read in the pairs of memories of two projects that are nearest
in meaning: would one pattern for everywhere be right for both? The readings stand in ``patterns_judgements.jsonl``
beside a digest of each pair, never its text; a pair that changed is to be read anew.

- ``--pairs FILE`` writes the pairs in full, numbered.
- ``--read FILE --reader NAME`` takes a reading in, a line for each number: ``12 yes`` or ``12 no`` and a few words why.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from memento_tui.api import Workspace
from memento_tui.api.maintenance import maintain_workspace
from memento_tui.embedding.vector_index import text_to_embed
from memento_tui.maintenance.consolidation.shared_patterns import project_of
from memento_tui.model import Memory
from memento_tui.paths import DataPaths
from tests.benchmarks.guarding import unpacked_archive
from tests.benchmarks.queue import Output, embedded, import_everything, maintain, outputs
from tests.benchmarks.readings import Readings, numbered
from tests.made import PERSON, unguarded, without_engine

READINGS = Readings(Path(__file__).with_name("patterns_judgements.jsonl"))
_PAIRS = 40
_MOST_PAIRS_A_MEMORY = 2
_LONGEST = 1_500
"""Characters: longer texts are documents, and teach no one lesson."""


def _as_projects(workspace: Workspace) -> list[Memory]:
    """Move each source that is no project yet into one of its own; return the active memories of projects."""
    memories = [memory for batch in workspace._store.memories.batches() for memory in batch]
    with unguarded(workspace._store, PERSON, "move") as tx:
        for memory in memories:
            top = memory.namespace.partition("/")[0]
            if top not in ("projects", "claude", "global"):
                place = f"projects/{'serena' if top == 'memories' else top}"
                tx.put(msgspec.structs.replace(memory, namespace=place), base=memory.version)
    memories = [memory for batch in workspace._store.memories.batches() for memory in batch]
    return [memory for memory in memories if memory.status == "active" and project_of(memory)]


def nearest_pairs(memories: Sequence[Memory]) -> list[Output]:
    """Return the pairs of memories of two projects that are nearest in meaning, nearest first."""
    short = [memory for memory in memories if memory.source_type != "external" and len(memory.content) <= _LONGEST]
    vectors = embedded([text_to_embed(memory) for memory in short])
    table = np.stack([vectors[text_to_embed(memory)] for memory in short])
    projects = np.array([project_of(memory) for memory in short])
    near = table @ table.T
    near[projects[:, None] == projects[None, :]] = -1
    rows, columns = np.triu_indices(len(short), 1)
    used: Counter[int] = Counter()
    found: list[Output] = []
    for place in np.argsort(-near[rows, columns], kind="stable"):
        one, other = int(rows[place]), int(columns[place])
        if max(used[one], used[other]) < _MOST_PAIRS_A_MEMORY:
            used.update((one, other))
            said = " and ".join(sorted((projects[one], projects[other])))
            found.append(Output("pair", (short[one], short[other]), said))
        if len(found) == _PAIRS:
            break
    return found


def main() -> None:
    """Run maintenance on everything and print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--read", type=Path)
    parser.add_argument("--reader", default="first")
    arguments = parser.parse_args()
    with unpacked_archive() as root, tempfile.TemporaryDirectory(prefix="memento-patterns-") as scratch:
        if root is None:
            print("../shared/data/agent_memory.tar.gz is absent: nothing is measured.")
            return
        for way in ("words", "meaning"):
            home = without_engine(Path(scratch) / way)
            with Workspace(home) as workspace:
                import_everything(root, workspace, Path(scratch) / f"{way}-versions")
                memories = _as_projects(workspace)
                counts = Counter(map(project_of, memories))
                if way == "words":
                    maintain_workspace(workspace, asked=["patterns"])
                else:
                    maintain(workspace, DataPaths(home), ["patterns"])
                proposed = [output for output in outputs(workspace) if output.name == "shared_pattern"]
            print(f"patterns proposed by {way}: {len(proposed)} of {len(memories)} memories in {len(counts)} projects")
            for output in proposed:
                print(output.text())
    pairs = nearest_pairs(memories)
    if arguments.pairs:
        arguments.pairs.write_text(numbered(pairs))
    if arguments.read:
        READINGS.take(pairs, arguments.read.read_text().splitlines(), arguments.reader)
    for line in READINGS.told(pairs, "of the nearest pairs teach one lesson"):
        print(line)


if __name__ == "__main__":
    main()
