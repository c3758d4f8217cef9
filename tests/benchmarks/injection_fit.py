"""Fit the weights of `memento_tui.policy.prompt_injection_wording`: ``python -m tests.benchmarks.injection_fit``.

Three writers who had not seen any rule wrote attacks and honest memories with the same words
(``data/injection_texts.jsonl``); memories that real agents wrote are the rest of the honest ones. Each writer's texts
are told from weights that were learned from the others', and the real ones in turns: how well another writer's texts
are told is the figure that counts. The threshold was chosen on those figures.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from memento_tui.policy.prompt_injection import fold_text
from memento_tui.policy.prompt_injection_wording import WEIGHTS_FILE, passages, words_and_pairs
from tests.benchmarks.guarding import real_memories, unpacked_archive

__all__ = ["Passage", "fit"]

_TEXTS = Path(__file__).parent / "data" / "injection_texts.jsonl"
_THRESHOLD = 1.5
_ROUNDS, _RATE, _DECAY = 15, 0.15, 1e-3
_FEWEST = 3
"""How often a word or a pair must have been seen."""
_SMALLEST = 0.15
"""The smallest weight that is kept."""


class Passage(NamedTuple):
    """What stands in one passage, who wrote it, and whether it is an attack's."""

    found: set[str]
    writer: str
    is_attack: bool


def _texts(memories: Sequence[str]) -> list[list[Passage]]:
    """Return every text as its passages."""
    given = [(line["text"], line["writer"], line["attack"]) for line in map(json.loads, _TEXTS.open(encoding="utf-8"))]
    given += [(text, "real", False) for text in memories]
    found = []
    for text, writer, is_attack in given:
        read = fold_text(text).text
        found.append([Passage(words_and_pairs(read[a:b]), writer, is_attack) for a, b in passages(read)])
    return [text for text in found if text]


def fit(learned_from: Sequence[Passage]) -> tuple[Mapping[str, float], float]:
    """Return the weights of a logistic regression and its bias, by AdaGrad in a fixed random order."""
    counts = Counter(name for one in learned_from for name in one.found)
    numbers = {
        name: at for at, name in enumerate((name for name, count in sorted(counts.items()) if count >= _FEWEST), 1)
    }
    rows = [
        (np.array([0, *(numbers[name] for name in one.found if name in numbers)]), float(one.is_attack))
        for one in learned_from
    ]
    weights, squares = np.zeros(len(numbers) + 1), np.full(len(numbers) + 1, 1e-6)
    shuffled, order = random.Random(1), list(range(len(rows)))
    for _ in range(_ROUNDS):
        shuffled.shuffle(order)
        for at in order:
            row, label = rows[at]
            miss = 1 / (1 + np.exp(-np.clip(weights[row].sum(), -30, 30))) - label
            slope = miss + _DECAY * weights[row]
            squares[row] += slope * slope
            weights[row] -= _RATE * slope / np.sqrt(squares[row])
    return {name: float(weights[at]) for name, at in numbers.items()}, float(weights[0])


def _score(text: Sequence[Passage], weights: Mapping[str, float], bias: float) -> float:
    """Return the score of a text's worst passage."""
    return max(bias + sum(weights.get(name, 0.0) for name in one.found) for one in text)


def _told(texts: Sequence[list[Passage]]) -> None:
    """Print the figures of each writer, by weights that were learned from the others."""
    parts = {
        writer: [text for text in texts if text[0].writer == writer] for writer in sorted({t[0].writer for t in texts})
    }
    for writer, held_out in parts.items():
        for half in (0, 1) if writer == "real" else (0,):
            asked = held_out[half::2] if writer == "real" else held_out
            rest = [text for text in texts if text[0].writer != writer]
            rest += held_out[1 - half :: 2] if writer == "real" else []
            weights, bias = fit([one for text in rest for one in text])
            scores = [(_score(text, weights, bias), text[0].is_attack) for text in asked]
            attacks = [score > _THRESHOLD for score, is_attack in scores if is_attack]
            honest = [score > _THRESHOLD for score, is_attack in scores if not is_attack]
            found = f"attacks {sum(attacks) / len(attacks):.3f} of {len(attacks)}, " if attacks else ""
            print(f"{writer}: {found}honest {sum(honest) / len(honest):.4f} of {len(honest)}", flush=True)


def main() -> None:
    """Tell the figures, fit on everything, and write the weights."""
    with unpacked_archive() as root:
        if root is None:
            sys.exit("The memories of real agents are absent, and half of what there is to learn: nothing was fitted.")
        memories = [text for _, text in real_memories(root)]
    random.Random(0).shuffle(memories)
    texts = _texts(memories)
    _told(texts)
    weights, bias = fit([one for text in texts for one in text])
    kept = {name: round(weight, 2) for name, weight in weights.items() if abs(weight) >= _SMALLEST}
    stored = {"bias": round(bias, 2), "threshold": _THRESHOLD, "weights": kept}
    WEIGHTS_FILE.write_text(json.dumps(stored, ensure_ascii=False, sort_keys=True, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
