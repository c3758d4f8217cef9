"""Whether what is told when an agent reads a file concerns that file: ``python -m tests.benchmarks.reads``.

The memories are those of `tests.benchmarks.queue`. The files are those of ``data/file_reads.jsonl``, from lists of the
files of three of their projects, whether a memory names them or not; each is read by a session of its own. What is told
was read and judged: would I want to be told this when I open that file? Memories that name the file itself are not
judged, since nothing is guessed there. The rules were mended after the first set of files was read and again after the
second: the third decides. The readings stand in ``reads_judgements.jsonl`` beside a digest of each output.

- ``--sample FILE`` writes a seeded sample of what is told by folder, words and meaning, numbered and in full.
- ``--read FILE --reader NAME`` takes a reading in, a line for each number: ``12 yes`` or ``12 no`` and a few words why.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.embedding.vector_index import text_to_embed
from memento_tui.hooks.retrieval import Nearest, _subject_of_file, memories_for_file, up_to_date_index
from memento_tui.hooks.scope import RetrievedMemory, SessionScope
from memento_tui.hooks.settings import HookSettings
from memento_tui.search.ranking import FILE_FLOOR
from memento_tui.storage.hook_store import HookStore
from tests.benchmarks.guarding import unpacked_archive
from tests.benchmarks.queue import embedded, import_everything
from tests.benchmarks.readings import Readings, numbered
from tests.made import without_engine

READINGS = Readings(Path(__file__).with_name("reads_judgements.jsonl"))
_FILES = Path(__file__).with_name("data") / "file_reads.jsonl"
_SAMPLE, _SEED = 60, 2026


class ToldMemory(NamedTuple):
    """One memory that a session was told when it read one file."""

    set: str
    project: str
    path: str
    retrieved: RetrievedMemory

    @property
    def way(self) -> str:
        """How it was found: ``file``, ``folder``, ``words`` or ``meaning``."""
        why = self.retrieved.why
        if "keyword" not in why:
            return next(iter(why))
        return "meaning" if why.get("semantic", 0.0) >= FILE_FLOOR else "words"

    @property
    def digest(self) -> str:
        """The digest of the file and of the memory's text."""
        memory = self.retrieved.memory
        text = f"{self.project}\x00{self.path}\x00{memory.title}\x00{memory.content}"
        return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()

    def text(self) -> str:
        """Return the output in full, as it is read for a judgement."""
        memory, why = self.retrieved.memory, {name: round(value, 2) for name, value in self.retrieved.why.items()}
        return f"{self.project}: {self.path}\n{self.way} {why}\n[{memory.kind}] {memory.title}\n{memory.content}"


def told_by_reads(workspace: Workspace) -> Iterator[ToldMemory]:
    """Yield what sessions are told, each of which reads one file of the list."""
    memories = {memory.id: memory for batch in workspace._store.memories.batches() for memory in batch}
    rows = [json.loads(line) for line in _FILES.read_text().splitlines()]
    texts = {name: text_to_embed(memory) for name, memory in memories.items()}
    subjects = {" ".join(_subject_of_file(row["path"], f"projects/{row['project']}")) for row in rows}
    vectors = embedded([*texts.values(), *sorted(subjects)])
    names = list(texts)
    table = np.stack([vectors[texts[name]] for name in names])

    def nearest(text: str, scope: SessionScope, limit: int) -> Mapping[str, float]:
        near = table @ vectors[text]
        best = (names[int(place)] for place in np.argsort(-near))
        inside = (name for name in best if scope.concerns(memories[name].namespace))
        return {name: float(near[names.index(name)]) for name in islice(inside, limit)}

    by_meaning: Nearest = nearest
    workspace.search_engine.keyword.catch_up()
    store = HookStore(workspace.paths.database)
    index = up_to_date_index(workspace.paths, store)
    for number, row in enumerate(rows):
        scope = SessionScope(f"session {number}", f"projects/{row['project']}")
        told = memories_for_file(store, index, row["path"], scope, HookSettings(), clock.now(), by_meaning)
        for retrieved in told:
            yield ToldMemory(row["set"], row["project"], row["path"], retrieved)
    store.close()


def _print_readings(sample: list[ToldMemory]) -> None:
    for line in READINGS.told(sample, "concern the file"):
        print(line)
    for reader, verdicts in READINGS.by_reader().items():
        by_way = Counter(one.way for one in sample if one.digest in verdicts)
        right_by_way = Counter(one.way for one in sample if verdicts.get(one.digest))
        print(f"{reader}:", ", ".join(f"{way} {right_by_way[way]} of {count}" for way, count in sorted(by_way.items())))


def main() -> None:
    """Read every file of the list and print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", type=Path)
    parser.add_argument("--read", type=Path)
    parser.add_argument("--reader", default="first")
    arguments = parser.parse_args()
    with unpacked_archive() as root, tempfile.TemporaryDirectory(prefix="memento-reads-") as scratch:
        if root is None:
            print("../shared/data/agent_memory.tar.gz is absent: nothing is measured.")
            return
        with Workspace(without_engine(Path(scratch) / "data")) as workspace:
            import_everything(root, workspace, Path(scratch) / "versions")
            told = list(told_by_reads(workspace))
    samples: list[ToldMemory] = []
    files = Counter(json.loads(line)["set"] for line in _FILES.read_text().splitlines())
    for name, count in sorted(files.items()):
        inside = [one for one in told if one.set == name]
        silent = count - len({(one.project, one.path) for one in inside})
        ways = dict(sorted(Counter(one.way for one in inside).items()))
        print(f"{name} set: {len(inside)} memories told for {count} files, {silent} of which told nothing: {ways}")
        guessed = sorted((one for one in inside if one.way != "file"), key=lambda one: one.digest)
        sample = random.Random(_SEED).sample(guessed, min(_SAMPLE, len(guessed)))
        samples += sample
        _print_readings(sample)
    if arguments.sample:
        arguments.sample.write_text(numbered(samples))
    if arguments.read:
        READINGS.take(samples, arguments.read.read_text().splitlines(), arguments.reader)


if __name__ == "__main__":
    main()
