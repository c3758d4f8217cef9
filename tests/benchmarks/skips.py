"""Skips that prompts touch: reasonable pairs that are to match, and unreasonable ones that are not.

The pairs were written before the rule, by the author of the rule; one half of them, drawn by a seed, was used to choose
its weights: ``python -m tests.benchmarks.skips``. Pairs of later writers stand in ``skip_pairs_later.jsonl``: those
of a reviewer, which the rule was mended on, and two sets of the helper that mended it, each written before it was run.
After the first set three words and the answer to a text of few words were changed, after the second the word "don't".
With ``--meaning`` it prints instead what the similarity of meaning would match, on the development half and on pairs
without common words: why skips are not matched by it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memento_tui.text.skip_matching import mentions_of, skip_matches
from tests.benchmarks.halves import development_half
from tests.benchmarks.table import Figure

__all__ = ["Half", "results", "shares"]

_PARAPHRASES = Path(__file__).with_name("data") / "skip_paraphrases.jsonl"
_PAIRS = Path(__file__).with_name("data") / "skip_pairs.jsonl"
_LATER = Path(__file__).with_name("data") / "skip_pairs_later.jsonl"


class Half(NamedTuple):
    """What the rule makes of one half of the pairs, or of those of one later writer."""

    name: str
    matched: float
    """The share of the reasonable pairs that match."""
    falsely_matched: float
    """The share of the unreasonable pairs that match."""
    wrong: tuple[str, ...]
    """The pairs that are judged wrongly."""


def shares() -> Iterator[Half]:
    """Yield the figures of the development half, those of the held-out one, and those of each later writer."""
    pairs = _read(_PAIRS)
    development = development_half([pair["touches"] for pair in pairs])
    for name, is_development in (("development", True), ("held-out", False)):
        yield _judged(name, [pair for place, pair in enumerate(pairs) if (place in development) is is_development])
    later = _read(_LATER)
    for writer in dict.fromkeys(pair["by"] for pair in later):
        yield _judged(f"by {writer}", [pair for pair in later if pair["by"] == writer])


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _judged(name: str, pairs: Sequence[dict[str, Any]]) -> Half:
    judged = [(pair, skip_matches(mentions_of(pair["prompt"]), pair["skip"])) for pair in pairs]
    matched, falsely = (
        [matches for pair, matches in judged if pair["touches"] is touches] for touches in (True, False)
    )
    wrong = tuple(f"{pair['skip']} | {pair['prompt']}" for pair, matches in judged if matches != pair["touches"])
    return Half(name, sum(matched) / len(matched), sum(falsely) / len(falsely), wrong)


def results() -> list[Figure]:
    """Return the figures for the table of results."""
    figures = []
    for half in shares():
        figures.append(Figure(f"reasonable pairs of skip and prompt that match, {half.name}", half.matched, 0.8))
        figures.append(
            Figure(
                f"unreasonable pairs of skip and prompt that match, {half.name}",
                half.falsely_matched,
                0.0,
                higher_is_better=False,
            )
        )
    return figures


def _print_meaning() -> None:
    from memento_tui.config import Config  # noqa: PLC0415 - the model takes seconds to load
    from memento_tui.embedding.index_worker import _model_folder  # noqa: PLC0415
    from memento_tui.embedding.models import Embedder  # noqa: PLC0415

    embedder = Embedder(_model_folder(Config().engine.model)[1])
    pairs = _read(_PAIRS)
    development = development_half([pair["touches"] for pair in pairs])
    paraphrases = _read(_PARAPHRASES)
    for name, half in (
        ("development", [pair for place, pair in enumerate(pairs) if place in development]),
        ("without common words", paraphrases),
    ):
        similar = [
            (float(embedder.documents([pair["skip"]])[0] @ embedder.query(pair["prompt"])), pair["touches"])
            for pair in half
        ]
        highest = max(similarity for similarity, touches in similar if not touches)
        above = [similarity for similarity, touches in similar if touches and similarity > highest]
        reasonable = sum(touches for _, touches in similar)
        print(f"{name}: most similar unreasonable pair {highest:.2f}; {len(above)} of {reasonable} reasonable above it")


if __name__ == "__main__":
    if "--meaning" in sys.argv:
        _print_meaning()
        sys.exit()
    for figure in shares():
        print(figure.name, f"matched {figure.matched:.3f}", f"falsely {figure.falsely_matched:.3f}", *figure.wrong[:9])
