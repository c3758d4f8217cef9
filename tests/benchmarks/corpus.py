"""Memories for benchmarks: made-up prose with the word frequencies of real prose, the same at every run."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

__all__ = ["KINDS", "memories", "words"]

KINDS = ("fact", "decision", "instruction", "observation", "preference", "discovery", "bugfix", "tool")
_SYLLABLES = tuple(
    "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu bra cle dri flo gru pla sti tro".split()  # noqa: SIM905 - as a list it is a page
)
_VOCABULARY = 20_000


def words(seed: int = 7) -> list[str]:
    """Return the vocabulary, most frequent word first."""
    rng = random.Random(seed)
    made: dict[str, None] = {}
    while len(made) < _VOCABULARY:
        made["".join(rng.choices(_SYLLABLES, k=rng.randint(1, 4)))] = None
    return list(made)


def memories(count: int, seed: int = 7) -> Iterator[dict[str, Any]]:
    """Yield memories of 20 to 80 words, whose words follow Zipf's law, every tenth with an identifier."""
    rng = random.Random(seed)
    vocabulary = words()
    weights = list(accumulate(1 / rank for rank in range(1, _VOCABULARY + 1)))
    for number in range(count):
        drawn = rng.choices(vocabulary, cum_weights=weights, k=rng.randint(20, 80))
        drawn[0] = drawn[0].capitalize()
        if number % 10 == 0:
            drawn[5] = f"/v{number % 7}/{drawn[5]}"
            drawn[9] = f"{drawn[9]}{drawn[10].capitalize()}"
        yield {
            "content": " ".join(drawn) + f" {number}.",
            "kind": KINDS[number % len(KINDS)],
            "tags": rng.choices(vocabulary[:200], k=number % 4),
            "namespace": ("global", "projects/site", "projects/app/core")[number % 3],
            "certainty": number % 5 + 1,
        }
