"""A model that knows no meaning: texts are near each other by the beginnings of longer words that they share.

Its folder may name another dimension in ``dimension.txt``; while it holds a file ``hold`` no document is embedded.
"""

from __future__ import annotations

import os
import re
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

_DIMENSION = 1024
_PLACES_OF_A_WORD = 3
"""Numbers of a vector that a word adds to: two words hardly ever share them all."""

_PAUSE_SECONDS = float(os.environ.get("LIGHT_MODEL_PAUSE_SECONDS", "0"))
"""How long a batch of documents takes, for tests that come in between."""


class SentenceTransformer:
    max_seq_length = 256

    def __init__(self, folder: str, **_: object) -> None:
        self.folder = Path(folder)
        named = self.folder / "dimension.txt"
        self.dimension = int(named.read_text()) if named.exists() else _DIMENSION

    def __iter__(self) -> Iterator[object]:
        return iter(())  # of no parts that could read a text with what stands before it

    def encode_query(self, texts: Sequence[str], **_: object) -> npt.NDArray[np.float32]:
        return np.array([_vector(text, self.dimension) for text in texts], dtype=np.float32)

    def encode_document(self, texts: Sequence[str], **_: object) -> npt.NDArray[np.float32]:
        while (self.folder / "hold").exists():
            time.sleep(0.01)
        time.sleep(_PAUSE_SECONDS)
        return self.encode_query(texts)


class CrossEncoder:
    def __init__(self, folder: str, **_: object) -> None:
        raise OSError(f"{folder} is of no use here")


def _vector(text: str, dimension: int) -> npt.NDArray[np.float32]:
    vector = np.full(dimension, 1e-3, dtype=np.float32)
    for word in re.findall(r"\d+|\b\w{4,5}", text.lower()):
        for number in range(_PLACES_OF_A_WORD):
            vector[zlib.crc32(f"{number} {word}".encode()) % dimension] += 1
    return vector
