"""What a mirror tells: one line for each thing that it did, or could not do."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

__all__ = ["DEEDS", "Deed", "Happening"]

Deed = Literal[
    "written",
    "taken",
    "changed",
    "deleted",
    "restored",
    "moved",
    "related",
    "trashed",
    "waits",
    "refused",
]
DEEDS: tuple[str, ...] = get_args(Deed)
"""In the order of a report: a note was written here, taken in as a memory, changed one, deleted one, brought back the
one that was deleted with it, was moved in the folder, was
related as its links say, was put into the folder's trash, asks a question that waits in
the review, or could not be used."""


class Happening(msgspec.Struct, frozen=True):
    """One thing that happened to one note."""

    deed: Deed
    note: str
    """The note's path within the folder; empty where the folder as a whole is meant."""
    memory: str = ""
    """The id of its memory, where it has one."""
    why: str = ""
    """What a person should know beyond the deed, as the end of a sentence."""
