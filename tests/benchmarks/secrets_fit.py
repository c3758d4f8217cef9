"""Fit the weights of `memento_tui.policy.secret_likelihood`: ``python -m tests.benchmarks.secrets_fit``.

Four writers who had not seen any rule wrote texts with secrets and honest ones that look alike; texts of this
repository's tests are honest too (``data/secret_texts.xz``, packed so that no scanner takes it for a leak). Memories
that real agents wrote, which hold none, are the rest. The figures that are printed are of texts that the weights had
not seen, in turns (four parts). They count what rules and weights find together, as production does. The thresholds
were chosen on those figures. Texts of a fifth writer, and a half of the first one's, are kept elsewhere and decide.
"""

from __future__ import annotations

import json
import lzma
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from memento_tui.policy.secret_likelihood import (
    WEIGHTS_FILE,
    Weights,
    Word,
    candidates,
    features,
    is_secret,
    score_of,
    words_of,
)
from memento_tui.policy.secrets import redact_text
from tests.benchmarks.guarding import real_memories, unpacked_archive

__all__ = ["Text", "fit", "texts"]

_TEXTS = Path(__file__).parent / "data" / "secret_texts.xz"
_THRESHOLD, _DRAWN_THRESHOLD = 1.0, 3.0
_ROUNDS, _RATE, _PARTS = 10, 0.2, 4
_FEWEST = 6
"""How often a feature must have been seen."""
_SMALLEST = 0.1
"""The smallest weight that is kept."""
_FEWEST_MEMORIES = 3
"""In how many real memories a common word stands."""
_MOST_CHARACTERS = 4_000
_COVERED = 0.6
"""The share of a word that lies in a secret, from which on the word is one."""


class Text(NamedTuple):
    """A text, and the secrets in it; none in an honest one."""

    text: str
    secrets: tuple[str, ...] = ()


class Example(NamedTuple):
    """A text's words that may be secrets, what is true of each, and which of them are."""

    text: Text
    words: Sequence[Word]
    features: Sequence[Sequence[str]]
    labels: Sequence[bool]


def texts() -> tuple[list[Text], list[Text]]:
    """Return the texts with secrets and the honest ones, in the writers' order."""
    lines = map(json.loads, lzma.decompress(_TEXTS.read_bytes()).decode().splitlines())
    given = [Text(line["text"], tuple(line.get("secret", ()))) for line in lines]
    return [text for text in given if text.secrets], [text for text in given if not text.secrets]


def example(text: Text, common: frozenset[str]) -> Example:
    """Return what there is to learn from a text."""
    read = text.text[:_MOST_CHARACTERS]
    spans = [match.span() for secret in text.secrets for match in re.finditer(re.escape(secret), read)]
    words = words_of(read)
    places = list(candidates(words, common))
    found = [words[place] for place in places]
    labels = [
        any(min(word.end, end) - max(word.start, start) >= _COVERED * (word.end - word.start) for start, end in spans)
        for word in found
    ]
    return Example(text, found, [features(read, words, place, common) for place in places], labels)


def fit(examples: Sequence[Example], common: frozenset[str]) -> Weights:
    """Return the weights of a logistic regression, by AdaGrad over single words in a fixed random order."""
    counts = Counter(name for one in examples for names in one.features for name in names)
    numbers = {name: at for at, name in enumerate(name for name, count in counts.items() if count >= _FEWEST)}
    rows = [
        (np.array([numbers[name] for name in names if name in numbers]), float(label))
        for one in examples
        for names, label in zip(one.features, one.labels, strict=True)
    ]
    weights, squares = np.zeros(len(numbers)), np.full(len(numbers), 1e-6)
    shuffled, order = random.Random(1), list(range(len(rows)))
    for _ in range(_ROUNDS):
        shuffled.shuffle(order)
        for at in order:
            row, label = rows[at]
            slope = 1 / (1 + np.exp(-np.clip(weights[row].sum(), -30, 30))) - label
            squares[row] += slope * slope
            weights[row] -= _RATE * slope / np.sqrt(squares[row])
    learned = {name: round(float(weights[at]), 2) for name, at in numbers.items() if abs(weights[at]) >= _SMALLEST}
    return Weights(learned, common, _THRESHOLD, _DRAWN_THRESHOLD)


def _is_clean(one: Example, learned: Weights) -> bool:
    """Return whether nothing of a text's secrets is left by rules and weights together."""
    by_rules, _ = redact_text(one.text.text, by_rules_alone=True)
    left = [secret for secret in one.text.secrets if secret in by_rules]
    found = _found(one, learned)
    return all(
        any(word.start < match.end() and word.end > match.start() for word in found)
        for secret in left
        for match in re.finditer(re.escape(secret), one.text.text)
    )


def _found(one: Example, learned: Weights) -> list[Word]:
    return [
        word
        for word, names in zip(one.words, one.features, strict=True)
        if is_secret(word, score_of(names, learned), learned)
    ]


def _told(kinds: Mapping[str, Sequence[Example]], common: frozenset[str]) -> None:
    """Print the figures of texts that the weights had not seen."""
    counts: Counter[str] = Counter()
    for part in range(_PARTS):
        seen = [one for given in kinds.values() for at, one in enumerate(given) if at % _PARTS != part]
        learned = fit(seen, common)
        for kind, given in kinds.items():
            for one in given[part::_PARTS]:
                counts[f"all {kind}"] += 1
                counts[kind] += _is_clean(one, learned) if kind == "secrets" else bool(_found(one, learned))
    print(f"texts left without a secret: {counts['secrets'] / counts['all secrets']:.3f} of {counts['all secrets']}")
    for kind in ("honest", "real"):
        print(f"{kind} texts that lost a word: {counts[kind] / counts['all ' + kind]:.4f} of {counts['all ' + kind]}")


def common_words(memories: Iterable[str]) -> frozenset[str]:
    """Return the words that stand in several of the memories, in lower case."""
    counts = Counter(word for memory in memories for word in set(re.findall(r"[^\W\d_]{2,}", memory.lower())))
    return frozenset(word for word, count in counts.items() if count >= _FEWEST_MEMORIES)


def main() -> None:
    """Tell the figures, fit on everything, and write the weights."""
    with unpacked_archive() as root:
        if root is None:
            sys.exit("The memories of real agents are absent, and half of what there is to learn: nothing was fitted.")
        memories = [text for _, text in real_memories(root)]
    common = common_words(memories)
    shuffled = random.Random(0)
    kinds: dict[str, list[Example]] = {}
    for kind, given in zip(("secrets", "honest", "real"), (*texts(), [Text(text) for text in memories]), strict=True):
        kinds[kind] = [example(text, common) for text in given]
        shuffled.shuffle(kinds[kind])
    _told(kinds, common)
    learned = fit([one for given in kinds.values() for one in given], common)
    stored = learned._asdict() | {"common": " ".join(sorted(common))}
    WEIGHTS_FILE.write_text(json.dumps(stored, ensure_ascii=False, sort_keys=True, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
