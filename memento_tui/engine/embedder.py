"""The embedding model. Importing this module takes seconds; only the engine does, once it listens."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer

from memento_tui.engine.semantic_index import Vectors
from memento_tui.errors import InvalidInput

__all__ = ["Embedder"]

_LONGEST_TOKEN = 16
"""Characters. Text beyond this many times the model's token limit cannot reach the model; it is not tokenized."""

_SAMPLED_BYTES = 65_536
_FAST_BFLOAT16 = ("avx512_bf16", "amx_bf16", "bf16")


class Embedder:
    """A sentence-transformers model on the CPU, from a local folder; nothing is ever fetched.

    ``identity`` differs between models whose vectors cannot be compared. Not safe for several threads at once.

    Raises:
        InvalidInput: the folder does not hold a model that can be loaded.

    """

    def __init__(self, folder: Path) -> None:
        try:
            self._model = SentenceTransformer(
                str(folder), device="cpu", local_files_only=True, model_kwargs={"dtype": _number_type()}
            )
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise InvalidInput(
                f"The model in {folder} cannot be loaded: {error}",
                "engine.model in config.toml must name a folder with a sentence-transformers model.",
            ) from error
        self.identity = _identity(folder)
        self.characters = _LONGEST_TOKEN * int(self._model.max_seq_length or 512)
        """How much of a text can matter to the model, at most."""
        self.dimension = int(self.query("the first text also warms the model up").shape[0])

    def query(self, text: str) -> Vectors:
        """Return the vector of a question, of length 1."""
        vectors = self._unit(self._model.encode_query([text[: self.characters]], show_progress_bar=False))
        return np.asarray(vectors[0], dtype=np.float32)

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of texts that are to be found, one row of length 1 each."""
        shortened = [text[: self.characters] for text in texts]
        return self._unit(self._model.encode_document(shortened, batch_size=len(shortened), show_progress_bar=False))

    @staticmethod
    def _unit(vectors: Vectors) -> Vectors:
        # The model's own normalization is as coarse as its number type: 0.2 % off in bfloat16.
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)


def _number_type() -> torch.dtype:
    # Half the bytes and twice the speed (cosine to float32 above 0.9998), where the processor has the instructions;
    # elsewhere they are emulated, and slow.
    capabilities = torch.cpu.get_capabilities()
    return torch.bfloat16 if any(capabilities.get(name) for name in _FAST_BFLOAT16) else torch.float32


def _identity(folder: Path) -> str:
    """Return a digest of the model's files: names, sizes, and the beginning and end of each."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".md", "")):
        size = path.stat().st_size
        digest.update(f"{path.relative_to(folder)} {size}\n".encode())
        with path.open("rb") as file:
            digest.update(file.read(_SAMPLED_BYTES))
            file.seek(max(size - _SAMPLED_BYTES, 0))
            digest.update(file.read(_SAMPLED_BYTES))
    return digest.hexdigest()[:32]
