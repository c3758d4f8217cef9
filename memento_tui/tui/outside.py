"""Editing text in the person's own editor."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from memento_tui.errors import MementoError

__all__ = ["EditorFailed", "edit"]


class EditorFailed(MementoError):
    """The editor could not be started, or ended with a failure. The text is as it was."""

    code = "editor_failed"


def _command() -> list[str]:
    for named in (os.environ.get("VISUAL"), os.environ.get("EDITOR"), "nano", "vi"):
        if named and shutil.which(shlex.split(named)[0]):
            return shlex.split(named)
    raise EditorFailed("No editor was found.", "Set $EDITOR to the one you like, such as nano.")


def edit(text: str, *, suffix: str) -> str:
    """Return ``text`` as the person's editor leaves it: ``$VISUAL``, ``$EDITOR``, nano or vi. Raises `EditorFailed`."""
    command = _command()
    with tempfile.TemporaryDirectory(prefix="memento-") as folder:
        file = Path(folder) / f"memory{suffix}"
        file.write_bytes(text.encode())
        ended = subprocess.run([*command, str(file)], check=False)  # noqa: S603 - the person's own choice
        if ended.returncode != 0:
            raise EditorFailed(f"{command[0]} ended with status {ended.returncode}.", "Nothing was changed.")
        try:
            edited = file.read_bytes().decode()
        except UnicodeDecodeError as error:
            raise EditorFailed("The edited text is not UTF-8.", "Nothing was changed.") from error
    # Editors end a file with a line break; one that the text did not have is not a change.
    return edited[:-1] if edited.endswith("\n") and not text.endswith("\n") else edited
