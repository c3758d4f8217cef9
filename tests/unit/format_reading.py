"""What a reader yielded, parted into what it took and what it refused, and every memory of it made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from memento_tui.formats.base import ImportRecord, Refused
from memento_tui.model import Memory, make_memory

__all__ = ["Reading", "reading"]


@dataclass
class Reading:
    """The outcome of one reading."""

    taken: list[ImportRecord] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)

    @property
    def keys(self) -> list[str]:
        return [incoming.key for incoming in self.taken]

    @property
    def memories(self) -> dict[str, Memory]:
        """The memories by key; they have a new id where the source gives none."""
        return {one.key: make_memory(one.fields) for one in self.taken if not one.deleted}

    @property
    def only(self) -> ImportRecord:
        assert len(self.taken) == 1, self
        assert self.refused == []
        return self.taken[0]

    @property
    def only_refused(self) -> Refused:
        assert self.taken == []
        assert len(self.refused) == 1, self
        return self.refused[0]


def reading(found: Iterable[ImportRecord | Refused]) -> Reading:
    outcome = Reading()
    for one in found:
        if isinstance(one, Refused):
            outcome.refused.append(one)
        else:
            outcome.taken.append(one)
    return outcome
