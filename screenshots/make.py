"""Make the pictures that the README shows, from the running app on the sample workspace."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from memento_tui.api import Workspace
from memento_tui.tui.app import MementoApp

HERE = Path(__file__).parent
LOAD_SAMPLE = HERE.parent / "data" / "load_sample.py"

WIDE = (120, 32)
PICTURES: dict[str, tuple[tuple[int, int], str, list[str]]] = {
    "home": (WIDE, "home", []),
    "memories": (WIDE, "memories", ["j", "j"]),
    "search": (WIDE, "memories", ["slash", *"undo", "enter", "w"]),
    "links": (WIDE, "memories", ["slash", *"nonce", "enter", "l"]),
    "tree": (WIDE, "memories", ["f", "j", "j"]),
    "editing": (WIDE, "memories", ["e"]),
    "review": (WIDE, "review", []),
    "contradiction": (WIDE, "review", ["slash", *"contradiction", "enter"]),
    "working": (WIDE, "working", ["b"]),
    "skips": (WIDE, "skips", []),
    "identity": (WIDE, "identity", ["g"]),
    "activity": (WIDE, "activity", []),
    "health": (WIDE, "health", []),
    "narrow": ((80, 24), "review", []),
    "help": ((120, 40), "memories", ["question_mark"]),
}
"""The size of each picture, the section, and the keys that lead to what it shows."""


async def take(name: str, folder: Path) -> None:
    """Open the app, press the keys, and write the picture."""
    size, section, keys = PICTURES[name]
    with Workspace(folder, channel="tui") as workspace:
        app = MementoApp(workspace, section)
        async with app.run_test(size=size) as pilot:
            await app.workers.wait_for_complete()
            for key in keys:
                await pilot.press(key)
                await app.workers.wait_for_complete()
                await pilot.pause()
            await app.workers.wait_for_complete()
            await pilot.pause()
            app.save_screenshot(f"{name}.svg", path=str(HERE))


def main() -> None:
    """Make every picture."""
    with tempfile.TemporaryDirectory(prefix="memento-") as scratch:
        os.environ["HOME"] = scratch  # the app writes paths from there
        folder = Path(scratch) / "sample"
        folder.mkdir()
        (folder / "config.toml").write_text("[engine]\nenabled = false\n")
        subprocess.run([sys.executable, LOAD_SAMPLE, folder], check=True)  # noqa: S603 - our own script
        for name in PICTURES:
            asyncio.run(take(name, folder))


if __name__ == "__main__":
    main()
