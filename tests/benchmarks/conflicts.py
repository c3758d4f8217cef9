"""How well contradictions are found: ``python -m tests.benchmarks.conflicts``.

Every figure goes through the production `compare`, but for the held-out one, which first fits the weights anew on half
of the pairs. The bounds are the 2.5th and 97.5th percentile of a thousand bootstrap resamples of the pairs. The first
run embeds 13,000 sentences with the real model, which takes about a minute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from time import perf_counter
from unittest.mock import patch

import msgspec
import numpy as np
from numpy.typing import NDArray

from memento_tui.maintenance.contradictions import finder
from memento_tui.maintenance.contradictions.alignment import Difference, logistic
from memento_tui.maintenance.contradictions.finder import (
    SCORE_TO_RAISE,
    WEIGHTS,
    FamilyWeights,
    compare_memories,
    differences,
)
from memento_tui.model import Memory
from tests.benchmarks.conflicts_data import DATA, Labelled, conflict_pairs, paraphrase_pairs, sick_pairs
from tests.benchmarks.conflicts_fit import Example, examples, fit
from tests.benchmarks.table import Figure, figures_as_markdown

__all__ = ["auc", "held_out", "precision_recall", "results", "scores", "without_family"]

_RESAMPLES, _SPLITS = 1_000, 10
_SEED = 20_26

Scores = NDArray[np.float64]
Labels = NDArray[np.bool_]
Measure = Callable[[Scores, Labels], float]


def scores(pairs: Sequence[Labelled]) -> tuple[Scores, Labels]:
    """Return the score of each pair, 0 where no difference is seen, and its label."""
    found = [compare_memories(pair.older, pair.newer, pair.cosine) for pair in pairs]
    return (
        np.array([one.score if one else 0.0 for one in found]),
        np.array([pair.label for pair in pairs], dtype=np.bool_),
    )


def auc(given: Scores, labels: Labels) -> float:
    """Return the chance that a contradiction scores above another pair, ties counting half (Mann and Whitney's U)."""
    yes, no = given[labels], np.sort(given[~labels])
    below = np.searchsorted(no, yes, "left")
    level = np.searchsorted(no, yes, "right") - below
    return float((below + level / 2).sum() / (len(yes) * len(no)))


def precision_recall(given: Scores, labels: Labels) -> tuple[float, float, float]:
    """Return precision, recall and F1 of what would be raised."""
    raised = given >= SCORE_TO_RAISE
    right = float((raised & labels).sum())
    precision = right / max(float(raised.sum()), 1.0)
    recall = right / float(labels.sum())
    return precision, recall, 2 * precision * recall / max(precision + recall, 1e-9)


_FIGURES: Mapping[str, Measure] = {
    "AUC": auc,
    "precision": lambda given, labels: precision_recall(given, labels)[0],
    "recall": lambda given, labels: precision_recall(given, labels)[1],
    "F1": lambda given, labels: precision_recall(given, labels)[2],
}


def _bounds(figure: Measure, given: Scores, labels: Labels) -> tuple[float, float]:
    generator = np.random.default_rng(_SEED)
    drawn = []
    for _ in range(_RESAMPLES):
        chosen = generator.integers(0, len(given), len(given))
        if labels[chosen].any() and not labels[chosen].all():
            drawn.append(figure(given[chosen], labels[chosen]))
    low, high = np.percentile(drawn, [2.5, 97.5])
    return float(low), float(high)


def _held_out_scores(given: Sequence[Example], weights: Mapping[str, FamilyWeights]) -> Scores:
    found = []
    for families, _ in given:
        best = 0.0
        for family, told in families.items():
            used = weights.get(family, WEIGHTS[family])
            best = max([best, *(logistic(one.features, used.features, used.bias) for one in told)])
        found.append(best)
    return np.array(found)


def held_out(pairs: Sequence[Labelled]) -> dict[str, float]:
    """Return the mean figures on the halves of the pairs that the values' weights were not fitted on."""
    given = examples(pairs)
    labels = np.array([label for _, label in given], dtype=np.bool_)
    generator = np.random.default_rng(_SEED)
    found: dict[str, list[float]] = {name: [] for name in _FIGURES}
    for _ in range(_SPLITS):
        half = np.zeros(len(given), dtype=np.bool_)
        for kind in (labels, ~labels):
            places = generator.permutation(np.flatnonzero(kind))
            half[places[: len(places) // 2]] = True
        for taught in (half, ~half):
            weights = {"value": fit("value", [given[at] for at in np.flatnonzero(taught)])}
            rest = _held_out_scores([given[at] for at in np.flatnonzero(~taught)], weights)
            for name, figure in _FIGURES.items():
                found[name].append(figure(rest, labels[~taught]))
    return {name: float(np.mean(values)) for name, values in found.items()}


def results() -> list[Figure]:
    """Return what is measured on the pairs beside the targets; nothing where the data is absent."""
    if not DATA.is_dir():
        return []
    conflicts = scores(conflict_pairs())
    rows = [Figure("contradictions, chat pairs: AUC", auc(*conflicts), 0.85)]
    for name, given, targets in (
        ("chat pairs", conflicts, (0.8, 0.6)),
        ("SICK train", scores(sick_pairs("train")), (0.9, 0.8)),
        ("SICK trial", scores(sick_pairs("trial")), (0.9, 0.8)),
    ):
        precision, recall, _ = precision_recall(*given)
        rows.append(Figure(f"contradictions, {name}: precision", precision, targets[0]))
        rows.append(Figure(f"contradictions, {name}: recall", recall, targets[1]))
    return rows


def _print(name: str, pairs: Sequence[Labelled]) -> None:
    begun = perf_counter()
    given, labels = scores(pairs)
    taken = (perf_counter() - begun) / len(pairs)
    print(f"{name}: {labels.sum()} of {len(labels)} pairs contradict; {1000 * taken:.2f} ms a pair")
    for figure, function in _FIGURES.items():
        low, high = _bounds(function, given, labels)
        print(f"    {figure:9} {function(given, labels):.3f}  [{low:.3f}, {high:.3f}]")


def without_family(family: str, pairs: Sequence[Labelled]) -> tuple[Scores, Labels]:
    """Return the scores of pairs and their labels as if one family of differences did not exist."""

    def others(first: Memory, second: Memory, similarity: float) -> Iterator[Difference]:
        return (one for one in differences(first, second, similarity) if one.family != family)

    with patch.object(finder, "differences", others):
        return scores(pairs)


def _print_ablation(conflicts: Sequence[Labelled]) -> None:
    sick = sick_pairs("train")
    for family in WEIGHTS:
        print(f"without the family {family}:")
        for name, pairs in (("conflict pairs", conflicts), ("SICK train", sick)):
            given, labels = without_family(family, pairs)
            figures = ", ".join(f"{figure} {function(given, labels):.3f}" for figure, function in _FIGURES.items())
            print(f"    {name}: {figures}")


def _without_time(pairs: Sequence[Labelled]) -> list[Labelled]:
    """Return the pairs as if each had been written in one moment."""
    return [Labelled(pair.older, _moved(pair), pair.cosine, pair.label) for pair in pairs]


def _moved(pair: Labelled) -> Memory:
    return msgspec.structs.replace(pair.newer, created_at=pair.older.created_at)


def main() -> None:
    """Print every figure."""
    conflicts = conflict_pairs()
    _print("conflict pairs", conflicts)
    _print("conflict pairs, dates of writing hidden", _without_time(conflicts))
    print("conflict pairs, values fitted on one half and measured on the other, mean of 20 halves")
    for name, value in held_out(conflicts).items():
        print(f"    {name:9} {value:.3f}")
    _print("SICK train", sick_pairs("train"))
    _print("SICK trial", sick_pairs("trial"))
    for split in ("train", "val"):
        given, same = scores(paraphrase_pairs(split))
        raised = given >= SCORE_TO_RAISE
        print(f"MSR {split}: raised {raised[same].mean():.3f} of paraphrases, {raised[~same].mean():.3f} of the others")
    _print_ablation(conflicts)
    print(figures_as_markdown(results()))


if __name__ == "__main__":
    main()
