"""Editing text in the person's own editor."""

from __future__ import annotations

import subprocess

from memento_tui.errors import InvalidInput
from memento_tui.paths import DataPaths
from memento_tui.workspace.drafts import Draft, editor_command

__all__ = ["edit"]


def edit(paths: DataPaths, name: str, text: str) -> tuple[str, Draft]:
    """Return ``text`` as the person's editor leaves it, and the file that keeps it until the caller discards that.

    Raises:
        InvalidInput: there is no editor, it failed, or what it left is not UTF-8. What it left stays in the file.
        DataDirectoryError: the file cannot be written.

    """
    editor = editor_command()
    draft = Draft(paths, name, text)
    ended = subprocess.run([*editor, str(draft.path)], check=False)  # noqa: S603 - the person's own choice
    if ended.returncode != 0:
        raise InvalidInput(
            f"{editor[0]} ended with status {ended.returncode}, so nothing was changed.",
            f"What it left is in {draft.path}.",
        )
    return draft.read(text), draft
