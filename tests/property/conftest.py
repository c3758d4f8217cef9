"""What every property stands on: folders in memory, because an example has one of its own and syncs what it writes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def _folders_in_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let `tempfile` make its folders where pytest makes its own, which it removes whatever becomes of the process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("property")))
        yield
