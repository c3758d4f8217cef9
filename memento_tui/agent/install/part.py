"""What an installation adds to one file of a host, and takes out again: the shape that all kinds share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

__all__ = ["Found", "Part"]


@dataclass(frozen=True)
class Found:
    """A command of memento's that stands in a host's file."""

    kind: str
    """``server`` or ``hook``."""
    words: tuple[str, ...]
    """The command, word by word."""
    event: str = ""
    """The event that a hook answers."""


class Part(Protocol):
    """One thing that is added to a file. The texts are whole files; an empty one stands for a file that is missing."""

    def add(self, text: str) -> str:
        """Return the text with this part in it as it is wanted now; the same text where it is so already.

        Raises:
            InvalidInput: the text is not what the host reads, or something of others is in the way.

        """

    def remove(self, text: str, origin: str | None) -> str:
        """Return the text without this part.

        ``origin`` is the file as it was before memento came, where that is known: what was empty there stays.

        Raises:
            InvalidInput: the text is not what the host reads.

        """

    def found(self, text: str) -> list[Found]:
        """Return memento's commands in the text.

        Raises:
            InvalidInput: the text is not what the host reads.

        """
