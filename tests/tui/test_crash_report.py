"""A fault of the app that ends it: what the terminal shows, what is written down, and what was being typed."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

import memento_tui
from memento_tui.paths import DataPaths
from tests.tui.app_driver import opened

_REMEMBERED = "The walrus sleeps at noon."


async def _type_and_fail(data_dir: Path, shown: StringIO) -> None:
    async with opened(data_dir) as driver:
        await driver.press("n", *"typed")
        in_a_variable = driver.memories.rows.current
        assert in_a_variable is not None
        try:
            1 / 0  # noqa: B018 - a fault
        except ZeroDivisionError as error:
            driver.app._handle_exception(error)
        Console(file=shown, width=400).print(*driver.app._exit_renderables)


async def test_a_crash_shows_no_memory_and_keeps_what_was_typed(data_dir: Path) -> None:
    with memento_tui.open(data_dir) as workspace:
        workspace.remember(_REMEMBERED)
    shown = StringIO()
    with pytest.raises(ZeroDivisionError):
        await _type_and_fail(data_dir, shown)
    paths = DataPaths(data_dir)
    assert str(paths.crash_report) in shown.getvalue()
    report = paths.crash_report.read_text(encoding="utf-8")
    assert "ZeroDivisionError" in report
    assert "test_crash_report.py" in report
    assert _REMEMBERED not in shown.getvalue() + report
    assert paths.crash_report.stat().st_mode & 0o777 == 0o600
    assert [msgspec.json.decode(path.read_bytes())["content"] for path in paths.typed_texts()] == ["typed"]


async def test_text_that_cannot_be_kept_is_said_and_can_be_typed_on(data_dir: Path) -> None:
    with memento_tui.open(data_dir) as workspace:
        workspace.remember("first")
    DataPaths(data_dir).drafts.write_text("a file where the folder should be")
    async with opened(data_dir) as driver:
        await driver.press("n")
        assert "cannot be" in driver.text(".editor-heading")
        await driver.press(*"typed", "escape", "y")
        await driver.press("e", "escape")
        assert driver.app.focused is driver.memories.rows
