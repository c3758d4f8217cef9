"""Tell where the texts of an entry come from: the channel says it, and not what the author calls itself."""

from __future__ import annotations

from typing import Literal

from memento_tui.storage.journal import FILE_CHANNELS, HUB_CHANNEL, Author, Entry

__all__ = ["Origin", "origin_of"]

Origin = Literal["person", "member", "agent", "file", "maintenance"]
"""The origin of a text, by the channel that it came through; a ``member`` is a person at another machine of the hub."""

_TRANSCRIPT_CHANNEL = "distill"


def origin_of(author: Author | Entry) -> Origin:
    """Return where an author's texts come from: the channel says it, and not the author."""
    if author.channel in FILE_CHANNELS:
        return "file"
    if author.actor == "person":
        return "member" if author.channel == HUB_CHANNEL else "person"
    # A transcript is told by the agent whose session it is, whoever reads it.
    return "maintenance" if author.actor == "system" and author.channel != _TRANSCRIPT_CHANNEL else "agent"
