"""Edit a text in the person's own editor; a file keeps it until it is stored."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence

from textual.app import App, SuspendNotSupported

from memento_tui.api.drafts import EditorFile, editor_command
from memento_tui.errors import InvalidInput
from memento_tui.paths import DataPaths

__all__ = ["edit_in_external_editor", "run_in_terminal"]


def run_in_terminal(app: App[None], command: Sequence[str], environment: Mapping[str, str] | None = None) -> int:
    """Run another program in the terminal and return its exit status. Raises `InvalidInput` in a browser."""
    try:
        with app.suspend():
            return subprocess.run(command, check=False, env=environment).returncode  # noqa: S603 - the person's own program
    except SuspendNotSupported:
        raise InvalidInput(
            "Another program cannot be opened from here.", "Use e to edit in place, or memento in a terminal."
        ) from None


def edit_in_external_editor(app: App[None], paths: DataPaths, name: str, text: str) -> tuple[EditorFile, str]:
    """Open a text in ``$VISUAL``, ``$EDITOR`` or nano; return the file that keeps it, and the edited text.

    Raises:
        InvalidInput: there is no editor, it cannot be opened here, or it failed after it had changed the text.
        DataDirectoryError: the file cannot be written.

    """
    editor = editor_command()
    kept = EditorFile(paths, name, text)
    try:
        status = run_in_terminal(app, [*editor, str(kept.path)])
    except InvalidInput:
        kept.discard()
        raise
    now = kept.read(text)
    if status and now != text:
        raise InvalidInput(f"{editor[0]} ended with status {status}.", f"Your text is in {kept.path}.")
    return kept, now
