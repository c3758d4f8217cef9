"""Encrypted workspaces for tests: a folder in memory of their own, and the search for a text in clear."""

from __future__ import annotations

from pathlib import Path

import pytest

from memento_tui import encryption
from memento_tui.api import encryption as workspace_encryption
from memento_tui.api import key_files
from memento_tui.paths import DataPaths

__all__ = ["PASSPHRASE", "cheap_passphrases", "end_decryption_after_the_swap", "files_with", "use_own_memory"]

PASSPHRASE = "correct horse battery staple"  # noqa: S105 - it guards nothing


def cheap_passphrases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a guess at a passphrase cost next to nothing; its file says what it costs."""
    monkeypatch.setattr(key_files, "_WORK", 1 << 4)


def use_own_memory(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let unlocked keys and their indexes lie in a folder of the test's own; skip the test where none can be."""
    runtime = place / "runtime"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    if encryption.memory_folder() != runtime / "memento":
        pytest.skip("tests have no folder in memory here")
    return runtime / "memento"


def files_with(text: str, *folders: Path) -> list[str]:
    """Return the names of the files below some folders in which a text stands in clear, in whatever case."""
    wanted = text.lower().encode()
    files = sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())
    return [path.name for path in files if wanted in path.read_bytes().lower()]


def end_decryption_after_the_swap(paths: DataPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    """Decrypt a workspace up to its backups, as where the person ends the program there."""

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(workspace_encryption, "_rewrite_backups", end)
        with pytest.raises(KeyboardInterrupt):
            workspace_encryption.decrypt(paths)
