"""Make the pictures that the README shows, from the running app on the sample workspace."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path

from memento_tui.interchange.runner import run_import
from memento_tui.tui.app import MementoApp
from memento_tui.workspace import Workspace

HERE = Path(__file__).parent
SAMPLE = HERE.parent / "data" / "sample"

PICTURES: dict[str, tuple[tuple[int, int], list[str]]] = {
    "memories": ((120, 32), ["j", "j"]),
    "search": ((120, 32), ["slash", *"undo", "enter"]),
    "editing": ((120, 32), ["e"]),
    "review": ((120, 32), ["2"]),
    "narrow": ((80, 24), ["j"]),
    "help": ((120, 40), ["question_mark"]),
}
"""The size of each picture, and the keys that lead to what it shows."""


async def take(name: str, folder: Path) -> None:
    """Open the app, press the keys, and write the picture."""
    size, keys = PICTURES[name]
    with Workspace(folder, channel="tui") as workspace:
        app = MementoApp(workspace)
        async with app.run_test(size=size) as pilot:
            for key in keys:
                await pilot.press(key)
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
        with Workspace(folder) as workspace:
            run_import(workspace, "memento", SAMPLE)
        for name in PICTURES:
            asyncio.run(take(name, folder))


if __name__ == "__main__":
    main()
