"""A local cross-encoder that judges whether two texts contradict each other. Optional: nothing depends on it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import CrossEncoder

from memento_tui.errors import InvalidInput

__all__ = ["Entailment"]

_HINT = "It must be a folder with a cross-encoder for natural language inference."
_CHARACTERS = 4_000
"""What is read of a text: such models take some hundred tokens."""

_BATCH = 16


class Entailment:
    """A cross-encoder for natural language inference on the CPU, from a local folder; nothing is ever fetched.

    Raises:
        InvalidInput: the folder holds no such model, or none of its labels is a contradiction.

    """

    def __init__(self, folder: Path) -> None:
        if not (folder / "config.json").is_file():
            raise InvalidInput(f"There is no model in {folder}: it holds no config.json.", _HINT)
        try:
            self._model = CrossEncoder(str(folder), device="cpu", local_files_only=True)
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise InvalidInput(f"The model in {folder} cannot be loaded: {error}", _HINT) from error
        labels = {int(at): str(name).lower() for at, name in self._model.config.id2label.items()}
        places = [at for at, name in labels.items() if name.startswith("contradict")]
        if len(labels) < 2 or len(places) != 1:  # noqa: PLR2004 - contradiction, and anything else
            told = ", ".join(labels[at] for at in sorted(labels))
            raise InvalidInput(f"None of the labels of the model in {folder} is a contradiction: {told}.", _HINT)
        self._contradiction = places[0]

    def contradiction(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the probability, from 0 to 1, that the texts of each pair contradict each other.

        Inference has a direction, contradiction has none: each pair is read both ways and the higher value counts.
        """
        if not pairs:
            return []
        cut = [(one[:_CHARACTERS], other[:_CHARACTERS]) for one, other in pairs]
        read = cut + [(other, one) for one, other in cut]
        chances = np.asarray(
            self._model.predict(
                read, batch_size=_BATCH, show_progress_bar=False, activation_fn=torch.nn.Softmax(dim=-1)
            ),
            dtype=np.float64,
        )[:, self._contradiction]
        return [float(value) for value in np.maximum(chances[: len(cut)], chances[len(cut) :])]
