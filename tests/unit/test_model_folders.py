"""The folder of a model that the settings name is data: nothing in it is run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memento_tui.errors import InvalidInput

pytestmark = pytest.mark.engine


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder whose configuration names a class in a file beside it, which leaves a mark when it is run."""
    folder = tmp_path / "model"
    (folder / "part").mkdir(parents=True)
    code = f"open({str(tmp_path / 'was run')!r}, 'w').close()\nclass Part:\n    pass\n"
    for place in (folder, folder / "part"):
        (place / "evil.py").write_text(code)
        (place / "config.json").write_text(
            json.dumps({"model_type": "evil", "auto_map": dict.fromkeys(("AutoConfig", "AutoModel"), "evil.Part")})
        )
    return folder


@pytest.mark.parametrize("named", ["evil.Part", "part.evil.Part", "os.system", ""])
def test_a_model_that_brings_code_is_refused_and_the_code_is_not_run(folder: Path, tmp_path: Path, named: str) -> None:
    from memento_tui.embedding.models import Embedder, EntailmentModel  # noqa: PLC0415 - takes seconds

    if named:
        (folder / "modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "path": "part", "type": named}]))
    with pytest.raises(InvalidInput, match="cannot be loaded"):
        Embedder(folder)
    with pytest.raises(InvalidInput, match="cannot be loaded"):
        EntailmentModel(folder)
    assert not (tmp_path / "was run").exists()
