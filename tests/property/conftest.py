"""What every property stands on: folders in memory, because an example has one of its own and syncs what it writes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def _folders_in_memory() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", os.environ.get("PYTEST_DEBUG_TEMPROOT"))
        yield
