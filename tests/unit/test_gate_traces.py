"""Secrets stay out of names and reasons, a purge takes back nothing else, and what is on disk is its owner's alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import memento_tui
from memento_tui.api import Workspace

TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


def stored_bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_no_secret_is_stored_in_the_name_or_session_of_an_agent(workspace: Workspace) -> None:
    with memento_tui.open(
        workspace.paths.root, actor="agent", channel="mcp", agent=f"claude {TOKEN}", session=f"s {TOKEN}"
    ) as agent:
        agent.remember("The build needs the VPN.")
        agent.remember("Use the mirror at packages.example.", source_type="external")
    assert TOKEN.encode() not in stored_bytes(workspace.paths.root)


def test_no_secret_is_stored_in_the_reason_of_a_rejection(workspace: Workspace) -> None:
    memory = workspace.remember("The build needs the VPN.")
    workspace.reject(memory.id, f"it held {TOKEN}")
    assert TOKEN.encode() not in stored_bytes(workspace.paths.root)


def test_an_operation_in_which_something_was_purged_can_still_be_undone(workspace: Workspace) -> None:
    kept = workspace.remember("Payments go to the bank.")
    with workspace.one_undo():
        changed = workspace.update(kept.id, content="Payments go to the partner.").memory
        leaked = workspace.remember("It leaked.")
        workspace.purge(leaked.id, "leaked")
    assert changed.content == "Payments go to the partner."
    workspace.undo()
    assert workspace.get(kept.id).content == "Payments go to the bank."


def test_everything_in_a_data_directory_is_its_owners_alone_whoever_made_it_and_whatever_the_umask(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    (folder / "config.toml").write_text("[engine]\nenabled = false\n")
    before = os.umask(0)
    try:
        with Workspace(folder) as workspace:
            workspace.remember("Payments go to the bank.")
            workspace.search("payments")
            workspace.backups.make()
    finally:
        os.umask(before)
    paths = [path for path in folder.rglob("*") if path.name != "config.toml"]
    assert paths
    open_to_others = {
        str(path.relative_to(folder)): oct(stat.S_IMODE(path.stat().st_mode))
        for path in paths
        if stat.S_IMODE(path.stat().st_mode) & 0o077
    }
    assert open_to_others == {}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
