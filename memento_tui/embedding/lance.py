"""LanceDB without what it never uses here, which is most of what importing it costs.

Its clients of remote catalogues are two packages: one whose ``__init__`` builds and wraps some hundred calls to a
server, with another hundred of classes for what they send, and one that gathers all of these. LanceDB itself names a
dozen of the classes. So the packages are entered as ones without an ``__init__`` before LanceDB asks for them, and a
class is imported when it is named. Before Python 3.12 LanceDB also has the package ``overrides`` compare its methods
with those of their base classes, on each import; it is given the two names of it as it defines them itself since.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Never

_CLIENT = "lance_namespace_urllib3_client"
_MODELS = f"{_CLIENT}.models"
_CATALOGUES = "lance_namespace"

_INSIDE_A_NAME = re.compile(r"(?<=.)(?=[A-Z])")


def _leave_out_catalogues() -> None:
    names = (_CLIENT, _MODELS, _CATALOGUES)
    if any(name in sys.modules or find_spec(name.partition(".")[0]) is None for name in names):
        return
    for name in names:
        spec = find_spec(name)
        if spec is None or spec.submodule_search_locations is None:
            return
        package = ModuleType(name)
        package.__path__ = list(spec.submodule_search_locations)
        package.__spec__ = spec
        sys.modules[name] = package
    catalogues = sys.modules[_CATALOGUES]
    catalogues.LanceNamespace = object  # type: ignore[attr-defined] # what a catalogue is, for annotations
    catalogues.connect = _refuse  # type: ignore[attr-defined]
    catalogues.__getattr__ = _model  # type: ignore[method-assign]


def _refuse(*_: object) -> Never:
    raise NotImplementedError("vectors lie in a folder or an object storage of the workspace's own")


def _model(name: str) -> type:
    """Return a class of what is sent to a catalogue, from the module that has its name."""
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


_leave_out_catalogues()
_is_compared = "overrides" in sys.modules  # somebody else has need of it
sys.modules.setdefault("overrides", _overrides())

import lancedb  # noqa: E402 - after that
from lancedb.index import IvfSq  # noqa: E402 - as above

if not _is_compared:
    del sys.modules["overrides"]

__all__ = ["IvfSq", "lancedb"]
