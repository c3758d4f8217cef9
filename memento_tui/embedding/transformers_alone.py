"""sentence-transformers and torch without what embedding never uses: 200 MB less, and half of the time of importing.

Importing sentence-transformers and loading a model bring scikit-learn and SciPy for evaluations, torch's compiler for
the marks that functions carry which might be compiled, and its tensors over several machines. So meanwhile the first
are placeholders that load the real ones when they are called, the marks leave functions as they are, and torch says
that it knows no other machine. Importing torch brings what computes shapes without numbers, with a package for algebra:
that is left out, and imported after all for a model that cannot be loaded without it. Afterwards whoever imports the
real packages gets them, and whoever imports more of torch gets its shapes first; who needs nothing more of it and
computes with shapes alone (tensors on the device `meta`) imports `torch._meta_registrations`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from threading import RLock
from types import ModuleType
from typing import Any, TypeVar

__all__ = ["CrossEncoder", "SentenceTransformer", "loaded", "torch"]

_COMPILER = "torch._dynamo"
_SHAPES = "torch._meta_registrations"
_LEFT_OUT = ("scipy", "sklearn", _COMPILER)
_MARKS = ("allow_in_graph", "assume_constant_result", "disable")
"""Decorators of the compiler by which functions are marked; nothing is compiled here."""

T = TypeVar("T")


class _Placeholder(ModuleType):
    """A module whose names are classes without instances; what calls one gets what the real module's name returns."""

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
    """Leave these packages out of what is imported meanwhile."""
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
    """Leave out of what is imported meanwhile the packages that embedding never uses."""
    torch.distributed.is_available = lambda: False
    with _without(*_LEFT_OUT, restore=_know_other_machines):
        yield


def _know_other_machines() -> None:
    torch.distributed.is_available = _knows_other_machines


_loading = RLock()
"""Held while something is loaded: what is left out is so for all threads."""


def loaded(load: Callable[[], T]) -> T:
    """Return what a function loads: a model, without the packages that embedding never uses.

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
