"""Find the memories that are older versions of a note, of which a model is told one alone.

Imports what memento-hook may import.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from memento_tui.text.terms import STOP_WORDS, terms

__all__ = ["is_persons", "older_versions", "wording"]

TYPE_CHECKING = False  # as in `typing`, whose import a host would wait for
if TYPE_CHECKING:
    from memento_tui.model import Memory
    from memento_tui.storage.hook_store import MemoryRow

_FEWEST_STEMS_OF_A_NOTE = 12
"""Different stems of a note whose versions are told apart from other claims: in a sentence one word makes another."""
_LEAST_SHARE_KEPT = 0.9
"""The share of a note's stems that a version of it holds, and with them all of its numbers."""

_UNTELLING = STOP_WORDS - frozenset("no nor not on off up down in out over under before after above below".split())  # noqa: SIM905 - a list would be longer
"""Words without which two texts still say the same."""


def wording(text: str) -> tuple[str, ...]:
    """Return the stems of a text in their order: two texts with the same differ in marks, case and fillers at most."""
    return tuple(stem for stem in terms(text) if stem not in _UNTELLING)


def is_persons(memory: Memory | MemoryRow) -> bool:
    """Tell whether a person wrote a memory or stands behind it."""
    return memory.stability != "draft" or memory.pinned or memory.source_type == "user"


def older_versions(
    memories: Sequence[Memory | MemoryRow], asked: Callable[[str], AbstractSet[str]]
) -> Mapping[str, str]:
    """Return the ids of the memories that another version of the same note holds, each with the id of that one.

    Of two that say the same it is the one that a person wrote or stands behind, else the newest, that stays. ``asked``
    returns the stems that a memory was found by, by its id: what stays holds them too.
    """
    titles = Counter((memory.namespace, memory.title) for memory in memories if memory.title)
    repeated = [memory for memory in memories if titles[memory.namespace, memory.title] > 1]
    repeated.sort(key=lambda memory: (is_persons(memory), memory.updated_at, memory.id), reverse=True)
    texts = {memory.id: (memory.namespace, memory.title, frozenset(wording(memory.content))) for memory in repeated}
    staying: list[str] = []
    older: dict[str, str] = {}
    for memory in repeated:
        name = memory.id
        version = next(
            (other for other in staying if _is_held(texts[name], texts[other]) and asked(name) <= asked(other)), ""
        )
        if version:
            older[name] = version
        else:
            staying.append(name)
    return older


def _is_held(one: tuple[str, str, frozenset[str]], other: tuple[str, str, frozenset[str]]) -> bool:
    """Tell whether another memory is a version of the same note with nearly all of this text."""
    *note, own = one
    *other_note, others = other
    return (
        note == other_note
        and len(own) >= _FEWEST_STEMS_OF_A_NOTE
        and len(own & others) >= _LEAST_SHARE_KEPT * len(own)
        and all(stem in others for stem in own if not stem.isalpha())
    )
