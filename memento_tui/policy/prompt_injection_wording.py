"""Score how much a passage is worded like the memories by which attackers steer a model.

Such memories need no word that gives them away: they look like a convention, a lesson or a wish of the user. Rules find
few of them. Here the words of a passage and the pairs that follow each other are summed up by the weights of a logistic
regression (``prompt_injection_weights.json``), fitted by ``python -m tests.benchmarks.injection_fit`` on attacks and
honest memories of several writers who had not seen any rule, and on memories that real agents wrote.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path

__all__ = ["WEIGHTS_FILE", "passages", "steering_passages", "words_and_pairs"]

WEIGHTS_FILE = Path(__file__).with_name("prompt_injection_weights.json")

_TOKEN = re.compile(
    r"""(?x) (?P<address> https?://\S++ | (?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)+ )
    | (?P<host> (?<![\w.-])[\w-]{1,64}(?:\.[\w-]{1,64}){0,8}\.[a-z]{2,7}(?![\w-]) )
    | (?P<number> (?<!\w)\d[\d.,:-]*+ ) | [^\W\d_]++"""
)
_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")  # noqa: RUF001 - the ends of sentences in other scripts
_MOST_CHARACTERS = 350
"""Characters of a passage: what attackers wrote in the texts that the weights were learned from."""
_MOST_PASSAGES = 60
_STEM_CHARACTERS = 7


def words_and_pairs(passage: str) -> set[str]:
    """Return the words of a passage in lower case, cut to stems, and the pairs that follow each other."""
    words = [
        f"<{match.lastgroup}>" if match.lastgroup else match[0][:_STEM_CHARACTERS] for match in _TOKEN.finditer(passage)
    ]
    return {*words, *map(" ".join, pairwise(words))}


def passages(text: str) -> Iterator[tuple[int, int]]:
    """Yield from where to where the passages of a text go: sentences and lines, joined as long as they stay short."""
    begun = last = resumed = 0
    for end, following in [*(match.span() for match in _END.finditer(text)), (len(text), len(text))]:
        if end - begun > _MOST_CHARACTERS and last > begun:
            yield begun, last
            begun = resumed
        last, resumed = end, following
    if last > begun:
        yield begun, last


@cache
def _learned() -> tuple[Mapping[str, float], float, float]:
    stored = json.loads(WEIGHTS_FILE.read_bytes())
    return stored["weights"], stored["bias"], stored["threshold"]


def steering_passages(text: str) -> Iterator[tuple[int, int]]:
    """Yield from where to where the passages go that are worded like an attack; ``text`` is in lower case."""
    weights, bias, threshold = _learned()
    for number, (start, end) in enumerate(passages(text)):
        if number >= _MOST_PASSAGES:
            return
        known = words_and_pairs(text[start:end]) & weights.keys()
        if bias + sum(weights[name] for name in known) > threshold:
            yield start, end
