"""The optional cross-encoder, on a tiny model that is made here with random weights."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from memento_tui.errors import InvalidInput

pytestmark = pytest.mark.engine

_WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] the port is 8080 9090 cache enabled disabled never always"


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
    import numpy as np  # noqa: PLC0415 - comes with the engine
    import torch  # noqa: PLC0415 - as above
    from sentence_transformers import CrossEncoder  # noqa: PLC0415 - as above

    from memento_tui.embedding.models import EntailmentModel  # noqa: PLC0415 - as above

    folder = _make_model(tmp_path / "model", ("entailment", "neutral", "contradiction"))
    one, other = "the port is 8080", "the cache is never enabled"
    bare = CrossEncoder(str(folder), device="cpu", local_files_only=True)
    rows = np.asarray(bare.predict([(one, other), (other, one)], activation_fn=torch.nn.Softmax(dim=-1)))
    assert rows[0, 2] != pytest.approx(rows[1, 2], abs=1e-4)

    found = EntailmentModel(folder).contradiction([(one, other), (other, one), ("", "x" * 200_000)])

    assert found[0] == pytest.approx(max(rows[0, 2], rows[1, 2]), abs=1e-5)
    assert found[1] == pytest.approx(found[0], abs=1e-5)
    assert 0 <= found[2] <= 1


def test_the_label_is_found_by_its_name_wherever_it_stands(tmp_path: Path) -> None:
    from memento_tui.embedding.models import EntailmentModel  # noqa: PLC0415 - takes seconds

    pair = [("the cache is enabled", "the cache is disabled")]
    last = EntailmentModel(_make_model(tmp_path / "last", ("entailment", "neutral", "contradiction")))
    first = EntailmentModel(_make_model(tmp_path / "first", ("CONTRADICTION", "entailment", "neutral")))

    assert last.contradiction(pair) != pytest.approx(first.contradiction(pair), abs=1e-4)
    assert last.contradiction([]) == []


def test_a_model_that_knows_no_contradiction_is_refused_with_its_labels(tmp_path: Path) -> None:
    from memento_tui.embedding.models import EntailmentModel  # noqa: PLC0415 - takes seconds

    folder = _make_model(tmp_path / "model", ("happy", "sad", "angry"))

    with pytest.raises(InvalidInput, match="happy, sad, angry"):
        EntailmentModel(folder)


def test_a_folder_without_a_model_is_refused_with_a_sentence(tmp_path: Path) -> None:
    from memento_tui.embedding.models import EntailmentModel  # noqa: PLC0415 - takes seconds

    with pytest.raises(InvalidInput, match=r"no config\.json"):
        EntailmentModel(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "no such thing"}))
    with pytest.raises(InvalidInput, match="cannot be loaded"):
        EntailmentModel(tmp_path)


def test_the_model_works_for_one_thread_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np  # noqa: PLC0415 - comes with the engine

    from memento_tui.embedding.models import EntailmentModel  # noqa: PLC0415 - takes seconds

    model = EntailmentModel(_make_model(tmp_path / "model", ("entailment", "neutral", "contradiction")))
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
