"""sentence-transformers and torch without what embedding never uses: 150 MB less, and half of the time of importing.

Importing sentence-transformers and loading a model bring scikit-learn and SciPy for evaluations, torch's compiler for
the marks that functions carry which might be compiled, and its tensors over several machines. So meanwhile the first
are placeholders that load the real ones when they are called, the marks leave functions as they are, and torch says
that it knows no other machine. Afterwards all is as it was: whoever imports the real packages gets them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, TypeVar

import torch

__all__ = ["CrossEncoder", "SentenceTransformer", "alone", "torch"]

_COMPILER = "torch._dynamo"
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
    """Finds a placeholder for every module of the packages that are left out."""

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if any(fullname == name or fullname.startswith(f"{name}.") for name in _LEFT_OUT):
            return ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Placeholder(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


_leaves_out = _LeavesOut()
_knows_other_machines = torch.distributed.is_available


@contextmanager
def alone() -> Iterator[None]:
    """Leave out of what is imported meanwhile the packages that embedding never uses."""
    sys.meta_path.insert(0, _leaves_out)
    torch.distributed.is_available = lambda: False
    try:
        yield
    finally:
        _let_in()


def _let_in() -> None:
    """Leave nothing out any more: the next import of a placeholder's module is that of the real one."""
    torch.distributed.is_available = _knows_other_machines
    if _leaves_out in sys.meta_path:
        sys.meta_path.remove(_leaves_out)
    for name, module in list(sys.modules.items()):
        if isinstance(module, _Placeholder):
            del sys.modules[name]
    if isinstance(vars(torch).get("_dynamo"), _Placeholder):
        delattr(torch, "_dynamo")


with alone():
    from sentence_transformers import CrossEncoder, SentenceTransformer
