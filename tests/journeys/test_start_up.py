"""What the app loads before its first frame, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_SCRIPT = """
import asyncio, sys
from memento_tui.tui.app import MementoApp
from memento_tui.api import Workspace

async def main() -> None:
    with Workspace(sys.argv[1], channel="tui") as workspace:
        app = MementoApp(workspace)
        async with app.run_test() as pilot:
            loaded = sorted({name.split(".")[0] for name in sys.modules})
            print(" ".join(loaded))

asyncio.run(main())
"""


def test_the_first_frame_loads_none_of_the_heavy_packages(data_dir: Path) -> None:
    ended = subprocess.run(  # noqa: S603 - this Python
        [sys.executable, "-c", _SCRIPT, str(data_dir)], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = set(ended.stdout.split())
    assert {"memento_tui", "textual"} <= loaded
    assert loaded.isdisjoint(
        {"torch", "sentence_transformers", "transformers", "lancedb", "pyarrow", "mcp", "aiohttp", "tantivy"}
    )
