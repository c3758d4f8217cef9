"""Fit the weights of `memento_tui.policy.secret_likelihood`: ``python -m tests.benchmarks.secrets_fit``.

Nine writers who had not seen any rule wrote texts with secrets and honest ones that look alike; texts of this
repository's tests are honest too (``data/secret_texts.xz``, packed so that no scanner takes it for a leak). Memories
that real agents wrote, which hold none, are the rest, with conversations about everyday things: what agents remember is
not about code alone. Of LongMemEval's sessions one half is for that, and the other is not learned from. The figures
that are printed are of texts that the weights had not seen, in turns (four parts). They count what rules and weights
find together, as production does. The thresholds were chosen on those figures. Texts of a tenth writer, and a half of
the first one's, are kept elsewhere and decide.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import lzma
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from memento_tui.policy.secret_likelihood import (
    WEIGHTS_FILE,
    SecretCandidate,
    Weights,
    candidates,
    features,
    is_secret,
    score_of,
    words_of,
)
from memento_tui.policy.secrets import redact_text
from tests.benchmarks.guarding import real_memories, unpacked_archive

__all__ = ["CONVERSATIONS", "Text", "conversations", "fit", "texts"]

_TEXTS = Path(__file__).parent / "data" / "secret_texts.xz"
CONVERSATIONS = Path(__file__).parents[3] / "shared" / "data" / "retrieval" / "longmemeval_s_dev.jsonl.gz"
_MOST_CONVERSATIONS = 700
_THRESHOLD, _DRAWN_THRESHOLD = 0.5, 2.75
_STRENGTH, _PARTS = 2.0, 4
_ALWAYS = "always"
"""The feature that every word has."""
_FEWEST = 3
"""In how many words a feature must have been seen."""
_SMALLEST = 0.03
"""The smallest weight that is kept."""
_FEWEST_TEXTS = 3
"""In how many real memories, or in how many of the writers' texts, a common word stands.

The words of conversations are none of these: people make passwords of such.
"""
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
    words: Sequence[SecretCandidate]
    features: Sequence[Sequence[str]]
    labels: Sequence[bool]


def texts() -> tuple[list[Text], list[Text]]:
    """Return the texts with secrets and the honest ones, in the writers' order."""
    lines = map(json.loads, lzma.decompress(_TEXTS.read_bytes()).decode().splitlines())
    given = [Text(line["text"], tuple(line.get("secret", ()))) for line in lines]
    return [text for text in given if text.secrets], [text for text in given if not text.secrets]


def conversations(*, seen: bool = True) -> list[Text]:
    """Return the sessions of the half that weights are fitted on, or of the other, in an order that says nothing.

    Those in which the rules find a secret are left out.
    """
    sessions: set[str] = set()
    with gzip.open(CONVERSATIONS, "rt", encoding="utf-8") as lines:
        for line in lines:
            for session in json.loads(line)["haystack_sessions"]:
                sessions.add("\n".join(f"{turn['role']}: {turn['content']}" for turn in session))
    digests = {hashlib.sha256(text.encode()).digest(): text for text in sessions}
    half = [text for digest, text in sorted(digests.items()) if (digest[-1] % 2 == 0) == seen]
    return [Text(text) for text in half if not redact_text(text, by_rules_alone=True)[1]]


def example(text: Text, common: frozenset[str]) -> Example:
    """Return what there is to learn from a text."""
    read = text.text[:_MOST_CHARACTERS]
    spans = [match.span() for secret in text.secrets for match in re.finditer(re.escape(secret), read)]
    given = words_of(read, common)
    found = list(candidates(given))
    labels = [
        any(min(word.end, end) - max(word.start, start) >= _COVERED * (word.end - word.start) for start, end in spans)
        for word in found
    ]
    return Example(text, found, [features(given, candidate) for candidate in found], labels)


def example_with_lines(text: Text, common: frozenset[str]) -> Example:
    """Return what there is to learn from an honest text, as a whole and line by line: notes are cut in many ways."""
    parts = [text, *(Text(line) for line in text.text.splitlines() if line.strip() and line != text.text)]
    read = [example(part, common) for part in parts]
    words = [word for one in read for word in one.words]
    return Example(text, words, [names for one in read for names in one.features], [False] * len(words))


def fit(examples: Sequence[Example], common: frozenset[str]) -> Weights:
    """Return the weights of a logistic regression whose small weights are zero (L1)."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - a second; tests read the texts alone

    counts = Counter(name for one in examples for names in one.features for name in set(names))
    numbers = {name: at for at, name in enumerate(name for name, count in counts.items() if count >= _FEWEST)}
    rows, labels = _rows(examples, numbers), [label for one in examples for label in one.labels]
    model = LogisticRegression(C=_STRENGTH, l1_ratio=1, solver="liblinear", random_state=1).fit(rows, labels)
    weights = dict(zip(numbers, map(float, model.coef_[0]), strict=True))
    weights[_ALWAYS] = weights.get(_ALWAYS, 0.0) + float(model.intercept_[0])
    learned = {name: round(weight, 2) for name, weight in weights.items() if abs(weight) >= _SMALLEST}
    return Weights(learned, common, _THRESHOLD, _DRAWN_THRESHOLD)


def _rows(examples: Iterable[Example], numbers: Mapping[str, int]) -> Any:  # noqa: ANN401 - scipy has no types
    from scipy.sparse import csr_matrix  # noqa: PLC0415 - same

    places: list[int] = []
    ends = [0]
    for names in (names for one in examples for names in one.features):
        places.extend({numbers[name] for name in names if name in numbers})
        ends.append(len(places))
    return csr_matrix((np.ones(len(places)), places, ends), shape=(len(ends) - 1, len(numbers)))


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


def _found(one: Example, learned: Weights) -> list[SecretCandidate]:
    return [
        word
        for word, names in zip(one.words, one.features, strict=True)
        if is_secret(word.word, score_of(names, learned), learned)
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
    for kind in ("honest", "real", "everyday"):
        print(f"{kind} texts that lost a word: {counts[kind] / counts['all ' + kind]:.4f} of {counts['all ' + kind]}")


def common_words(given: Iterable[str]) -> frozenset[str]:
    """Return the words that stand in several of some texts, in lower case."""
    counts = Counter(word for text in given for word in set(re.findall(r"[^\W\d_]{2,}", text.lower())))
    return frozenset(word for word, count in counts.items() if count >= _FEWEST_TEXTS)


def _without_secrets(text: Text) -> str:
    read = text.text
    for secret in text.secrets:
        read = read.replace(secret, " ")
    return read


def main() -> None:
    """Tell the figures, fit on everything, and write the weights."""
    with unpacked_archive() as root:
        if root is None:
            sys.exit("The memories of real agents are absent, and half of what there is to learn: nothing was fitted.")
        memories = [text for _, text in real_memories(root)]
    if not CONVERSATIONS.is_file():
        sys.exit("LongMemEval's conversations are absent: nothing was fitted.")
    common = common_words(memories) | common_words(map(_without_secrets, chain(*texts())))
    shuffled = random.Random(0)
    kinds: dict[str, list[Example]] = {}
    everyday = conversations()[:_MOST_CONVERSATIONS]
    sources = (*texts(), [Text(text) for text in memories], everyday)
    for kind, given in zip(("secrets", "honest", "real", "everyday"), sources, strict=True):
        read = example if kind == "secrets" else example_with_lines
        kinds[kind] = [read(text, common) for text in given]
        shuffled.shuffle(kinds[kind])
    _told(kinds, common)
    learned = fit([one for given in kinds.values() for one in given], common)
    stored = learned._asdict() | {"common": " ".join(sorted(common))}
    WEIGHTS_FILE.write_text(json.dumps(stored, ensure_ascii=False, sort_keys=True, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
