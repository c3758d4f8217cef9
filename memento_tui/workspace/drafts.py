"""Text on its way through a person's editor: kept in a file until it is safely stored."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path

from memento_tui import clock
from memento_tui.errors import DataDirectoryError, InvalidInput
from memento_tui.paths import DataPaths

__all__ = ["Draft", "editor_command"]

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")


class Draft:
    """A file under the data directory's drafts that an editor may be opened on.

    It stays until `discard`, so whatever fails meanwhile, the text is not lost. Raises `DataDirectoryError`.
    """

    def __init__(self, paths: DataPaths, name: str, text: str) -> None:
        moment = clock.now().strftime("%Y%m%dT%H%M%S%f")
        self.path: Path = paths.drafts / f"{_UNSAFE.sub('-', name)[:40]}-{moment}.md"
        try:
            paths.drafts.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Exclusive and private: the text may be confidential, and no other draft is written over.
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(handle, "w", encoding="utf-8", newline="") as file:  # noqa: PTH123 - a descriptor has no path
                file.write(text)
        except OSError as error:
            raise DataDirectoryError(
                f"The draft {self.path} cannot be written: {error.strerror}.", "Check the directory and its disk."
            ) from error

    def read(self, before: str) -> str:
        """Return the text as the editor left it.

        Editors end a text with a line feed; where ``before`` had none, it is taken off again.

        Raises:
            InvalidInput: the file is gone or not UTF-8.

        """
        try:
            text = self.path.read_bytes().decode("utf-8-sig")
        except OSError as error:
            raise InvalidInput(f"The draft {self.path} cannot be read: {error.strerror}.") from error
        except UnicodeDecodeError as error:
            raise InvalidInput(
                f"What the editor saved is not UTF-8 (at byte {error.start}).", "Save it as UTF-8."
            ) from error
        return text if before.endswith("\n") else text.removesuffix("\n").removesuffix("\r")

    def discard(self) -> None:
        """Remove the file once its text is stored, or was not changed."""
        self.path.unlink(missing_ok=True)


def discard_drafts(paths: DataPaths, name: str) -> None:
    """Remove the drafts that were kept of one memory."""
    for path in paths.drafts.glob(f"{_UNSAFE.sub('-', name)[:40]}-*.md"):
        path.unlink(missing_ok=True)


def editor_command() -> list[str]:
    """Return the person's editor and its arguments: ``$VISUAL``, else ``$EDITOR``, else nano.

    Raises:
        InvalidInput: there is none, or it does not exist.

    """
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "nano"
    try:
        words = shlex.split(named)
    except ValueError as error:
        raise InvalidInput(f"The editor {named!r} cannot be understood: {error}.", "Set VISUAL or EDITOR.") from None
    if not words or shutil.which(words[0]) is None:
        raise InvalidInput(f"The editor {named!r} was not found.", "Set VISUAL or EDITOR to one that is installed.")
    return words
