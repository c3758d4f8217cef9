"""The embedding model, and an optional cross-encoder that judges contradictions; both local, on the CPU.

Importing this module takes seconds (torch); only the engine does, once it listens. Nothing is ever fetched.

sentence-transformers and torch without what embedding never uses: 200 MB less, and half of the time of importing.

Importing sentence-transformers and loading a model bring scikit-learn and SciPy for evaluations, torch's compiler for
the marks that functions carry which might be compiled, and its tensors over several machines. So meanwhile the first
are placeholders that load the real ones when they are called, the marks leave functions as they are, and torch says
that it knows no other machine. Importing torch brings what computes shapes without numbers, with a package for algebra:
that is left out, and imported after all for a model that cannot be loaded without it. Afterwards whoever imports the
real packages gets them, and whoever imports more of torch gets its shapes first; who needs nothing more of it and
computes with shapes alone (tensors on the device `meta`) imports `torch._meta_registrations`.
"""

from __future__ import annotations

import hashlib
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from memento_tui.errors import InvalidInput
from memento_tui.search.ranking import SESSION_VECTOR_TOKENS

__all__ = ["CrossEncoder", "Embedder", "EntailmentModel", "SentenceTransformer", "Vectors", "loaded", "torch"]


_COMPILER = "torch._dynamo"
_SHAPES = "torch._meta_registrations"
_LEFT_OUT = ("scipy", "sklearn", _COMPILER)
_MARKS = ("allow_in_graph", "assume_constant_result", "disable")
"""Decorators of the compiler by which functions are marked; nothing is compiled here."""

T = TypeVar("T")


class _Placeholder(ModuleType):
    """A stand-in for a module that has a class without instances for each name; a call is passed to the real module."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as the module's own names
        if name.startswith("__"):
            raise AttributeError(name)
        if self.__name__ == _COMPILER and name in _MARKS:
            return _leave_as_it_is
        module = self.__name__

        def call(_class: type, *arguments: object, **named: object) -> object:
            _let_in()
            return getattr(import_module(module), name)(*arguments, **named)

        return type(name, (), {"__new__": call})


def _leave_as_it_is(function: T | None = None, *_: object, **__: object) -> T | Callable[[T], T]:
    def leave(other: T) -> T:
        return other

    return leave if function is None else function


class _LeavesOut(MetaPathFinder, Loader):
    """Finds a placeholder for every module of some packages, until they are let in; ``restore`` is called then."""

    def __init__(self, names: Sequence[str], restore: Callable[[], None]) -> None:
        self._names = names
        self.restore = restore

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if any(fullname == name or fullname.startswith(f"{name}.") for name in self._names):
            return ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Placeholder(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


class _ShapesFirst(MetaPathFinder, Loader):
    """Lets whoever imports more of torch import its shapes first: much is built on them, and in one order alone."""

    def __init__(self) -> None:
        self._waits = True
        self._former: ModuleSpec | None = None

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        left_out = any(isinstance(finder, _LeavesOut) for finder in sys.meta_path)
        if left_out or not self._waits or not fullname.startswith("torch."):
            return None
        self._waits = False
        import_module(_SHAPES)
        module = sys.modules.get(fullname)
        if module is None:
            return None
        # It was imported on the way, and its own description would load it a second time.
        self._former, module.__spec__ = module.__spec__, ModuleSpec(fullname, self)
        return module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return sys.modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._former


@contextmanager
def _without(*names: str, restore: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Keep these packages from being imported within the block."""
    sys.meta_path.insert(0, _LeavesOut(names, restore))
    try:
        yield
    finally:
        _let_in()


def _let_in() -> None:
    """Leave nothing out any more: the next import of a placeholder's module is that of the real one."""
    for finder in [finder for finder in sys.meta_path if isinstance(finder, _LeavesOut)]:
        sys.meta_path.remove(finder)
        finder.restore()
    for name, module in list(sys.modules.items()):
        if isinstance(module, _Placeholder):
            del sys.modules[name]
            parent, _, child = name.rpartition(".")
            if vars(sys.modules.get(parent, sys)).get(child) is module:
                delattr(sys.modules[parent], child)


_HAD_SHAPES = _SHAPES in sys.modules
with _without(_SHAPES):
    import torch
if not _HAD_SHAPES:
    sys.meta_path.insert(0, _ShapesFirst())

_knows_other_machines = torch.distributed.is_available


@contextmanager
def _alone() -> Iterator[None]:
    """Keep the packages that embedding never uses from being imported within the block."""
    torch.distributed.is_available = lambda: False
    with _without(*_LEFT_OUT, restore=_know_other_machines):
        yield


def _know_other_machines() -> None:
    torch.distributed.is_available = _knows_other_machines


_loading = RLock()
"""The lock held during a load, because packages are left out for all threads."""


def loaded(load: Callable[[], T]) -> T:
    """Call a function that loads a model, without the packages that embedding never uses, and return the model.

    Models are built of shapes first. One that needs more of these than torch itself knows is loaded again with all.
    """
    with _loading:
        with _alone(), suppress(NotImplementedError):
            return load()
        import_module(_SHAPES)
        with _alone():
            return load()


with _alone():
    from sentence_transformers import CrossEncoder, SentenceTransformer


Vectors = npt.NDArray[np.float32]
"""One vector, or one vector a row."""

_CHARACTERS_PER_TOKEN = 16
"""Characters. Text beyond this many times the model's token limit cannot reach the model; it is not tokenized."""

_SAMPLED_BYTES = 65_536
"""Bytes at the beginning and at the end of each file of a model that its identity is computed from."""

_FAST_BFLOAT16 = ("avx512_bf16", "amx_bf16", "bf16")
"""Capabilities of a processor, as torch names them, with which bfloat16 is faster than float32."""


class Embedder:
    """A sentence-transformers model on the CPU, from a local folder; nothing is ever fetched.

    ``identity`` differs between models whose vectors cannot be compared. Not safe for several threads at once.

    Raises:
        InvalidInput: the folder does not hold a model that can be loaded.

    """

    def __init__(self, folder: Path, *, query_prefix: str = "", document_prefix: str = "") -> None:
        """``query_prefix`` and ``document_prefix`` replace the prompts that the folder names, where they are given."""
        prefixes = {"query": query_prefix, "document": document_prefix}
        try:
            self._model = loaded(
                lambda: SentenceTransformer(
                    str(folder),
                    device="cpu",
                    local_files_only=True,
                    prompts={name: prefix for name, prefix in prefixes.items() if prefix},
                    model_kwargs={"dtype": _number_type()},
                )
            )
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise InvalidInput(
                f"The model in {folder} cannot be loaded: {error}",
                "engine.model in config.toml must name a folder with a sentence-transformers model.",
            ) from error
        self.identity = _model_identity(folder, document_prefix)
        self._context_reader = _context_reader(self._model)
        self.characters = _CHARACTERS_PER_TOKEN * int(self._model.max_seq_length or 512)
        """How much of a text can matter to the model, at most."""
        self.dimension = int(self.query("the first text also warms the model up").shape[0])

    def query(self, text: str) -> Vectors:
        """Return the vector of a query, of length 1."""
        shortened = text[: self.characters]
        if self._context_reader is not None and self._context_reader.has_no_prompt:
            # What `encode_query` does around the model takes a tenth of the time of a short text.
            return np.asarray(self._unit(self._context_reader.vector(shortened))[0], dtype=np.float32)
        vectors = self._unit(self._model.encode_query([shortened], show_progress_bar=False))
        return np.asarray(vectors[0], dtype=np.float32)

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of texts to be indexed, one row of length 1 each."""
        shortened = [text[: self.characters] for text in texts]
        return self._unit(self._model.encode_document(shortened, batch_size=len(shortened), show_progress_bar=False))

    def documents_in_context(self, texts: Sequence[tuple[str, str]]) -> Vectors | None:
        """Return the vectors of texts, each embedded after its context, one row of length 1 each.

        The model reads both, and the vector is the mean of the tokens of the text alone. ``None`` for a model that
        makes its vectors in another way than by a mean of all tokens.
        """
        if self._context_reader is None:
            return None
        return self._unit(self._context_reader.vectors(texts, self.characters))

    @staticmethod
    def _unit(vectors: Vectors) -> Vectors:
        # The model's own normalization is as coarse as its number type: 0.2 % off in bfloat16.
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)


class _ContextReader:
    """Embeds texts with their context: the tokens of both go through the model, and those of the text are averaged."""

    def __init__(self, model: SentenceTransformer, begin: list[int], end: list[int]) -> None:
        self._model = model
        self._begin = begin
        self._end = end
        self.has_no_prompt = not any(model.prompts.values())
        """Whether texts and queries go into the model as they are, without words before them."""
        self._longest = int(model.max_seq_length or SESSION_VECTOR_TOKENS) - len(begin) - len(end)
        """Tokens of a text that the model reads."""

    def vectors(self, texts: Sequence[tuple[str, str]], characters: int) -> Vectors:
        """Return a vector for each pair of a context and a text."""
        rows = []
        for before, text in texts:
            own = self._ids(text[:characters])[: self._longest]
            room = max(0, min(SESSION_VECTOR_TOKENS, self._longest) - len(own))
            earlier = self._ids(before)
            rows.append((earlier[max(0, len(earlier) - room) :], own))
        width = max(len(earlier) + len(own) for earlier, own in rows) + len(self._begin) + len(self._end)
        ids = torch.full((len(rows), width), int(self._model.tokenizer.pad_token_id or 0))
        attention = torch.zeros((len(rows), width), dtype=torch.long)
        counted = torch.zeros((len(rows), width, 1))
        for number, (earlier, own) in enumerate(rows):
            line = [*self._begin, *earlier, *own, *self._end]
            ids[number, : len(line)] = torch.tensor(line)
            attention[number, : len(line)] = 1
            first = len(self._begin) + len(earlier)
            counted[number, first : first + max(1, len(own))] = 1
        with torch.inference_mode():
            tokens = self._model[0]({"input_ids": ids, "attention_mask": attention})["token_embeddings"].float()
        mean = (tokens * counted).sum(dim=1) / counted.sum(dim=1)
        return np.asarray(mean.numpy(), dtype=np.float32)

    def vector(self, text: str) -> Vectors:
        """Return the vector of one text by itself as one row: the mean of all its tokens, as the model makes it."""
        line = torch.tensor([[*self._begin, *self._ids(text)[: self._longest], *self._end]])
        with torch.inference_mode():
            tokens = self._model[0]({"input_ids": line, "attention_mask": torch.ones_like(line)})["token_embeddings"]
            return np.asarray(tokens.float().mean(dim=1).numpy(), dtype=np.float32)

    def _ids(self, text: str) -> list[int]:
        return list(self._model.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])


def _context_reader(model: SentenceTransformer) -> _ContextReader | None:
    """Return the reader for a model that averages the tokens of one text; ``None`` for any other."""
    modules = [type(module).__name__ for module in model]
    if modules not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
        return None
    if getattr(model[1], "pooling_mode", "") != "mean":
        return None
    tokenizer = model.tokenizer
    bare = list(tokenizer("a", add_special_tokens=False)["input_ids"])
    whole = list(tokenizer("a")["input_ids"])
    first = next((at for at in range(len(whole)) if whole[at : at + len(bare)] == bare), None)
    if first is None or not bare:
        return None
    # What `SentenceTransformer.encode_document` puts before a text.
    names = [*("document", "passage", "corpus"), model.default_prompt_name]
    prompt = next((model.prompts[name] for name in names if name in model.prompts), "")
    instruction = list(tokenizer(prompt, add_special_tokens=False)["input_ids"]) if prompt else []
    return _ContextReader(model, [*whole[:first], *instruction], whole[first + len(bare) :])


def _number_type() -> torch.dtype:
    # Half the bytes and twice the speed (cosine to float32 above 0.9998), where the processor has the instructions;
    # elsewhere they are emulated, and slow.
    capabilities = torch.cpu.get_capabilities()
    return torch.bfloat16 if any(capabilities.get(name) for name in _FAST_BFLOAT16) else torch.float32


def _model_identity(folder: Path, document_prefix: str) -> str:
    """Return a digest of the model's files: names, sizes, and the beginning and end of each; and of the prefix."""
    digest = hashlib.sha256(document_prefix.encode())
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".md", "")):
        size = path.stat().st_size
        digest.update(f"{path.relative_to(folder)} {size}\n".encode())
        with path.open("rb") as file:
            digest.update(file.read(_SAMPLED_BYTES))
            file.seek(max(size - _SAMPLED_BYTES, 0))
            digest.update(file.read(_SAMPLED_BYTES))
    return digest.hexdigest()[:32]


_ENTAILMENT_HINT = "It must be a folder with a cross-encoder for natural language inference."
_ENTAILMENT_CHARACTERS = 4_000
"""Characters of a text that are read: such models take some hundred tokens."""

_ENTAILMENT_BATCH = 16
"""Pairs that the model reads at a time."""


class EntailmentModel:
    """A cross-encoder for natural language inference on the CPU, from a local folder; nothing is ever fetched.

    Safe for several threads; the model works for one of them at a time.

    Raises:
        InvalidInput: the folder holds no such model, or none of its labels is a contradiction.

    """

    def __init__(self, folder: Path) -> None:
        if not (folder / "config.json").is_file():
            raise InvalidInput(f"There is no model in {folder}: it holds no config.json.", _ENTAILMENT_HINT)
        try:
            self._model = loaded(lambda: CrossEncoder(str(folder), device="cpu", local_files_only=True))
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise InvalidInput(f"The model in {folder} cannot be loaded: {error}", _ENTAILMENT_HINT) from error
        labels = {int(number): str(name).lower() for number, name in self._model.config.id2label.items()}
        contradicting = [number for number, name in labels.items() if name.startswith("contradict")]
        if len(labels) < 2 or len(contradicting) != 1:  # noqa: PLR2004 - contradiction, and anything else
            listed = ", ".join(labels[number] for number in sorted(labels))
            raise InvalidInput(
                f"None of the labels of the model in {folder} is a contradiction: {listed}.", _ENTAILMENT_HINT
            )
        self._contradiction = contradicting[0]
        self._lock = threading.Lock()

    def contradiction(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the probability, from 0 to 1, that the texts of each pair contradict each other.

        Inference has a direction, contradiction has none: each pair is read both ways and the higher value counts.
        """
        if not pairs:
            return []
        cut = [(first[:_ENTAILMENT_CHARACTERS], second[:_ENTAILMENT_CHARACTERS]) for first, second in pairs]
        both_ways = cut + [(second, first) for first, second in cut]
        with self._lock:
            predicted = self._model.predict(
                both_ways, batch_size=_ENTAILMENT_BATCH, show_progress_bar=False, activation_fn=torch.nn.Softmax(dim=-1)
            )
        probabilities = np.asarray(predicted, dtype=np.float64)[:, self._contradiction]
        higher = np.maximum(probabilities[: len(cut)], probabilities[len(cut) :])
        return [float(value) for value in higher]
