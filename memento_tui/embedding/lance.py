"""LanceDB without its client of remote catalogues, which is half of what importing it costs: half a second.

That client is a package whose ``__init__`` builds and wraps some hundred calls to a server; LanceDB itself needs only
the package's ``models``. So the package is entered as one without an ``__init__`` before LanceDB asks for it.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from types import ModuleType

_REMOTE_CLIENT = "lance_namespace_urllib3_client"


def _leave_out_remote_client() -> None:
    spec = find_spec(_REMOTE_CLIENT)
    if spec is None or spec.submodule_search_locations is None or _REMOTE_CLIENT in sys.modules:
        return
    package = ModuleType(_REMOTE_CLIENT)
    package.__path__ = list(spec.submodule_search_locations)
    package.__spec__ = spec
    sys.modules[_REMOTE_CLIENT] = package


_leave_out_remote_client()

import lancedb  # noqa: E402 - after that
from lancedb.index import IvfSq  # noqa: E402 - as above

__all__ = ["IvfSq", "lancedb"]
