"""Import LanceDB without the packages that it never uses here, which take most of the time of the import.

Its clients of remote catalogues are two packages: one whose ``__init__`` builds and wraps some hundred calls to a
server, with another hundred of classes for what they send, and one that gathers all of these. LanceDB itself names a
dozen of the classes. So the packages are entered as ones without an ``__init__`` before LanceDB asks for them, and a
class is imported when it is named. Afterwards they are gone again: whoever else asks for them gets them whole, with the
classes that LanceDB has. Before Python 3.12 LanceDB also has the package ``overrides`` compare its methods
with those of their base classes, on each import; it is given the two names of it as it defines them itself since.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_CLIENT = "lance_namespace_urllib3_client"
_MODELS = f"{_CLIENT}.models"
_CATALOGUES = "lance_namespace"

_INSIDE_A_NAME = re.compile(r"(?<=.)(?=[A-Z])")


@contextmanager
def _made_light() -> Iterator[None]:
    """Replace expensive packages by light stand-ins for all imports within the block."""
    entered: dict[str, ModuleType] = {}
    try:
        names = (_CLIENT, _CATALOGUES)
        if not any(name in sys.modules or find_spec(name) is None for name in names):
            _enter_catalogues(entered)
        if sys.version_info < (3, 12) and "overrides" not in sys.modules:
            sys.modules["overrides"] = entered["overrides"] = _overrides()
        yield
    finally:
        for name, package in entered.items():
            if sys.modules.get(name) is package:
                del sys.modules[name]


def _enter_catalogues(entered: dict[str, ModuleType]) -> None:
    """Enter the packages as ones without an ``__init__``, where they are there; ``entered`` gets them too."""
    for name in (_CLIENT, _MODELS, _CATALOGUES):
        spec = find_spec(name)
        if spec is None or spec.submodule_search_locations is None:
            return
        package = ModuleType(name)
        package.__path__ = list(spec.submodule_search_locations)
        package.__spec__ = spec
        sys.modules[name] = entered[name] = package
    catalogues = entered[_CATALOGUES]
    catalogues.LanceNamespace = object  # type: ignore[attr-defined] # what a catalogue is, for annotations
    catalogues.connect = _connect  # type: ignore[attr-defined]
    catalogues.__getattr__ = _model  # type: ignore[method-assign]


def _connect(*told: Any, **named: Any) -> Any:  # noqa: ANN401 - as the package has it
    """Connect to a catalogue, for somebody else who uses LanceDB in this process: by the whole package."""
    return import_module(_CATALOGUES).connect(*told, **named)


def _model(name: str) -> type:
    """Return a class of requests to a catalogue, imported from the module of the same name."""
    module = f"{_MODELS}.{_INSIDE_A_NAME.sub('_', name).lower()}"
    try:
        found: type = getattr(import_module(module), name)
    except ModuleNotFoundError:
        raise AttributeError(name) from None
    return found


def _overrides() -> ModuleType:
    package = ModuleType("overrides")
    package.EnforceOverrides = type("EnforceOverrides", (), {})  # type: ignore[attr-defined]
    package.override = lambda method: method  # type: ignore[attr-defined]
    return package


with _made_light():
    import lancedb
    from lancedb.index import IvfSq

__all__ = ["IvfSq", "lancedb"]
