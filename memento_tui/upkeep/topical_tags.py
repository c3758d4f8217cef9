"""Which of a memory's tags say what it is about, and which only say where it came from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from memento_tui.records import Memory
from memento_tui.records.rules import fold_tag

__all__ = ["COMMON_SHARE", "Subjects", "subject_tags", "subjects_of", "topical_tags"]

COMMON_SHARE = 0.25
"""A tag that more than this share of the memories carry, and more than one group can hold, groups nothing by itself."""

_ORIGINS = frozenset(
    """
    source src session session_id agent import imported importer date created day week month project repo branch
    workspace user author host channel model transcript origin
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
"""What stands before the first ``:``, ``/`` or ``=`` of a tag that says where a memory came from."""

_PARTS = re.compile(r"[:/=]")
_DATE = re.compile(r"\d{4}-\d{2}(-\d{2})?")


def _is_provenance(folded: str, names: frozenset[str]) -> bool:
    """Tell whether a tag says where a memory came from: ``source:distill``, a date, its agent, its project."""
    if folded in names:
        return True
    if folded.isalnum():
        return False
    parts = _PARTS.split(folded, maxsplit=1)
    return (len(parts) > 1 and parts[0] in _ORIGINS) or _DATE.fullmatch(folded) is not None


def _names_of(memory: Memory) -> frozenset[str]:
    """Return what a memory's agent, session and namespace are called: as a tag it says no more than they do."""
    return frozenset(map(fold_tag, (memory.source.agent, memory.source.session, *memory.namespace.split("/"))))


def subject_tags(memory: Memory) -> dict[str, str]:
    """Return a memory's tags that are not its provenance, by the form in which tags are compared."""
    names = _names_of(memory)
    folded = {fold_tag(tag): tag for tag in memory.tags}
    return {key: tag for key, tag in folded.items() if not _is_provenance(key, names)}


Subjects = Mapping[str, Mapping[str, str]]
"""What `subject_tags` found for each memory, by id; asked for several times, it is worth keeping."""


def subjects_of(memories: Iterable[Memory]) -> Subjects:
    """Return the `subject_tags` of each memory, by id."""
    return {memory.id: subject_tags(memory) for memory in memories}


def topical_tags(memories: Sequence[Memory], subjects: Subjects, most: int) -> dict[str, frozenset[str]]:
    """Return for each memory, by id, the tags that relate it to others: shared, of its subject, and not common.

    ``most`` is how many memories a tag may be on however few there are beside them.
    """
    carried: Counter[str] = Counter()
    for memory in memories:
        carried.update(subjects[memory.id].keys())
    too_many = max(most, COMMON_SHARE * len(memories))
    kept = {tag for tag, count in carried.items() if 1 < count <= too_many}
    return {memory.id: frozenset(kept.intersection(subjects[memory.id])) for memory in memories}
