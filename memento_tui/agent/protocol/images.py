"""Pictures of memories: memento keeps the path of the file, not its bytes.

An agent may attach and see pictures of the directory that its host started the server in, and below. What a memory
says is not trusted: the file is looked at anew whenever it is shown, by its bytes and not by its name.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import NamedTuple

from memento_tui.errors import InvalidInput, NotFound

__all__ = ["IMAGE", "Image", "check_image", "read_image"]

IMAGE = "image"
"""The label of the relation from a memory to the file of its picture."""

_MOST_BYTES = 5 * 1024 * 1024
_KINDS = ".jpg, .jpeg, .png, .gif, .webp"


class Image(NamedTuple):
    """A picture's file."""

    path: Path
    mime_type: str
    data: bytes


def check_image(given: str, directory: Path) -> Path:
    """Return the whole path of a picture's file below ``directory``, after a look at it.

    Raises:
        NotFound: there is no such file.
        InvalidInput: it lies elsewhere, is no picture, or is larger than 5 MB.

    """
    return read_image(given, directory).path


def read_image(given: str, directory: Path) -> Image:
    """Return a picture below ``directory``. Raises like `check_image`."""
    path = _inside(given, directory)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except FileNotFoundError:
        raise NotFound(f"There is no file {path}.", "It may have been moved since; give the path it has now.") from None
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read: {error.strerror}.", "Check that it is a file you may read."
        ) from None
    try:
        data = _bytes(descriptor, path)
    finally:
        os.close(descriptor)
    kind = _kind(data)
    if not kind:
        raise InvalidInput(f"{path} is not a picture that an agent can see.", f"It takes {_KINDS}.")
    return Image(path, kind, data)


def _bytes(descriptor: int, path: Path) -> bytes:
    facts = os.fstat(descriptor)
    if not stat.S_ISREG(facts.st_mode):
        raise InvalidInput(f"{path} is not a file.", f"A picture is one of {_KINDS}.")
    if facts.st_size > _MOST_BYTES:
        raise InvalidInput(f"{path} has {facts.st_size:,} bytes; a picture has at most {_MOST_BYTES:,}.", "Shrink it.")
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        return file.read(_MOST_BYTES)


def _inside(given: str, directory: Path) -> Path:
    root = directory.resolve()
    if root == Path(root.anchor):
        raise InvalidInput(
            "Pictures need a project, and the server was started in the root directory.",
            "Let the host start it in the project's directory.",
        )
    try:
        path = (root / Path(given).expanduser()).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise InvalidInput(f"{given!r:.100} is no path: {error}.", "Give the path of a picture's file.") from None
    if not path.is_relative_to(root):
        raise InvalidInput(f"{path} is outside {root}, where this agent works.", "Copy the picture into the project.")
    return path


def _kind(data: bytes) -> str:
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return ""
