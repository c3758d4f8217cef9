"""Choose the memories of a context block: no unverified logs, and not those of a single writer alone.

A session that writes many things about one subject would otherwise fill a prompt by itself. Imports what memento-hook
may import.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import islice

from memento_tui.search.ranking import LARGEST_SHARE_OF_A_WRITER, LEAST_SHARE_TO_REPLACE
from memento_tui.text.logs import is_log

__all__ = ["fair_entries", "fair_places", "fair_results", "is_held_back"]

TYPE_CHECKING = False  # as in `typing`, whose import a host would wait for
if TYPE_CHECKING:
    from typing import TypeVar

    EntryT = TypeVar("EntryT")
    from memento_tui.model import Memory
    from memento_tui.storage.hook_store import MemoryRow


def largest_share(limit: int) -> int:
    """Return how many of ``limit`` places one writer may fill while others have something for the rest."""
    return max(1, int(LARGEST_SHARE_OF_A_WRITER * limit))


def fair_places(ranked: Sequence[EntryT], limit: int, writer: Callable[[EntryT], str]) -> list[EntryT]:
    """Return the ``limit`` best entries for a context block, of which one writer fills half at most.

    Where one writer is all there is, it fills them all. Those whose writer is empty, as with what a person wrote, are
    not limited.
    """
    writers = [writer(one) for one in ranked]
    if len(set(writers)) < 2:  # noqa: PLR2004 - one writer
        return list(ranked[:limit])
    quota = largest_share(limit)
    counts: Counter[str] = Counter()
    chosen: list[EntryT] = []
    for name, one in zip(writers, ranked, strict=True):
        if len(chosen) == limit:
            break
        if not name or counts[name] < quota:
            counts[name] += 1
            chosen.append(one)
    return chosen


def fair_entries(
    ranked: Sequence[EntryT], limit: int, writer: Callable[[EntryT], str], is_persons: Callable[[EntryT], bool]
) -> list[EntryT]:
    """Return the first entries of a short list, shared as by `fair_places`, of which a person's keep half the places.

    However many sessions and files fill the list, they take the rest; where the person has fewer entries, more.
    """
    chosen = fair_places(ranked, limit, writer)
    kept = sum(map(is_persons, chosen))
    missing = (one for one in ranked if is_persons(one) and one not in chosen)
    added = list(islice(missing, max(0, limit - largest_share(limit) - kept)))
    others = [one for one in chosen if not is_persons(one)]
    leaving = others[len(others) - max(0, len(chosen) + len(added) - limit) :]
    return [one for one in ranked if one in added or (one in chosen and one not in leaving)]


def fair_results(
    chosen: Sequence[tuple[str, float]], ordered: Sequence[tuple[str, float]], writers: Mapping[str, str]
) -> list[tuple[str, float]]:
    """Return search results, ids with scores, of which one writer has half at most where others answer nearly as well.

    The last results of a writer that has more give way to the best of the others that have 70 % of their score at
    least. ``ordered`` is all that was found, best first; ids that have no writer are not limited.
    """
    found = list(chosen)
    quota = largest_share(len(found))
    counts = Counter(writers.get(name, "") for name, _ in found)
    taken = {name for name, _ in found}
    waiting = [entry for entry in ordered if entry[0] not in taken]
    for place in range(len(found) - 1, -1, -1):
        name, score = found[place]
        writer = writers.get(name, "")
        if not writer or counts[writer] <= quota:
            continue
        other = next((entry for entry in waiting if _has_room(entry[0], writers, counts, quota)), None)
        if other is None or other[1] < LEAST_SHARE_TO_REPLACE * score:
            break
        waiting.remove(other)
        counts[writer] -= 1
        counts[writers.get(other[0], "")] += 1
        found[place] = other
    rank = {name: place for place, (name, _) in enumerate(ordered)}
    return sorted(found, key=lambda entry: rank[entry[0]])


def _has_room(name: str, writers: Mapping[str, str], counts: Mapping[str, int], quota: int) -> bool:
    writer = writers.get(name, "")
    return not writer or counts[writer] < quota


def is_held_back(memory: Memory | MemoryRow) -> bool:
    """Tell whether a memory is an unverified log, which costs tokens and is no advice."""
    return memory.stability == "draft" and not memory.pinned and is_log(memory.content, memory.title)
