"""The app on an encrypted workspace: what it refuses, and what it says of where things lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.api.encryption import encrypt, lock
from memento_tui.encryption import key_place
from memento_tui.errors import LockedWorkspace
from memento_tui.paths import DataPaths
from tests.encrypted import PASSPHRASE, cheap_passphrases, files_with, use_own_memory
from tests.tui.app_driver import opened
from tests.tui.test_command_line import run
from tests.tui.test_health import side, values


@pytest.fixture
def encrypted(data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataPaths:
    """A workspace of one memory, encrypted and unlocked."""
    cheap_passphrases(monkeypatch)
    use_own_memory(tmp_path, monkeypatch)
    with Workspace(data_dir) as workspace:
        workspace.remember("The perihelion is in January.")
    encrypt(DataPaths(data_dir), PASSPHRASE)
    return DataPaths(data_dir)


async def test_an_export_in_clear_is_refused_with_what_does_it(encrypted: DataPaths, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    async with opened(encrypted.root) as driver:
        await run(driver, f"export {out}")
        await driver.until(lambda: "would be in clear" in driver.told, "it is refused")
        assert "with --in-clear" in driver.told
    assert not out.exists()
    assert files_with("perihelion", encrypted.root) == []


async def test_health_says_where_the_key_and_the_indexes_are(encrypted: DataPaths) -> None:
    async with opened(encrypted.root, start="health") as driver:
        await driver.until(lambda: "encrypted, unlocked" in values(driver).get("check:encryption", ""), "it is known")
        said = values(driver)["check:encryption"]
        assert f"the key is in {key_place(encrypted.key_id)}, indexes and drafts in {encrypted.clear}" in said
        await driver.press("slash")
        await driver.type("encryption")
        await driver.until(lambda: "encrypted, unlocked" in side(driver), "it stands beside the row too")


async def test_the_app_ends_when_the_workspace_is_locked_elsewhere_and_keeps_what_was_typed(
    encrypted: DataPaths,
) -> None:
    async with opened(encrypted.root) as driver:
        await driver.press("n")
        await driver.type("Aphelion is in July.")
        lock(encrypted)
        await driver.until(lambda: driver.app.return_code is not None, "the app ends")
        assert driver.app.return_code == LockedWorkspace.exit_code
        assert "memento has ended" in str(driver.app._exit_renderables)
    assert files_with("aphelion", encrypted.clear) != []
    assert files_with("perihelion", encrypted.clear) == []  # no index
    assert files_with("aphelion", encrypted.root) == []
