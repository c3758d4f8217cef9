"""Show contradictions to an agent until a person resolves them: both sides, with their ages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from memento_tui.api import Workspace
from memento_tui.api.review import ContradictionWithSides
from memento_tui.errors import NotFound
from memento_tui.model import Contradiction, Memory
from memento_tui.model.validation import account_of
from memento_tui.operations.memories import is_current, is_recalled
from memento_tui.text.fence import fenced, one_line, quoted_id
from memento_tui.text.labels import OtherSide, bracketed, caution_labels, condition_labels

__all__ = [
    "ContradictionEntry",
    "ContradictionSide",
    "contradiction_section",
    "contradictions_among",
    "labels_of",
    "open_contradictions",
    "visible_contradiction",
]

_MAX_CONTRADICTIONS = 5
_SIDE_CHARS = 300
"""Characters of each side."""


@dataclass(frozen=True)
class ContradictionSide:
    """One of two memories that contradict each other."""

    id: str
    text: str
    age_days: int
    labels: list[str]


@dataclass(frozen=True)
class ContradictionEntry:
    """Two memories that cannot both hold as they stand, until a person decides between them."""

    id: str
    kind: str
    why: str
    older: ContradictionSide
    newer: ContradictionSide


def contradictions_among(
    workspace: Workspace, ids: Sequence[str], now: datetime, sees: Callable[[str], bool] = lambda _: True
) -> list[ContradictionEntry]:
    """Return the unresolved contradictions of some memories whose sides an agent may both see, surest first.

    ``sees`` returns whether the agent may read in a namespace.
    """
    pairs = (pair for pair in workspace.contradictions.around(ids) if _are_sides_in(pair, sees))
    entries = [entry for pair in pairs if (entry := _entry_of(pair, now)) is not None]
    return entries[:_MAX_CONTRADICTIONS]


def _are_sides_in(pair: ContradictionWithSides, sees: Callable[[str], bool]) -> bool:
    return all(side is not None and sees(side.namespace) for side in (pair.older, pair.newer))


def open_contradictions(
    workspace: Workspace, now: datetime, after: str | None, limit: int
) -> tuple[list[ContradictionEntry], str | None]:
    """Return the open contradictions whose sides an agent may both see, surest first, and the next page's cursor.

    A page holds fewer than ``limit`` where some are left out.

    Raises:
        NotFound: ``after`` is no cursor.

    """
    if after is not None:
        workspace.contradictions.get(after)
    pairs, next_cursor = workspace.contradictions.list(after=after, limit=limit)
    return [entry for pair in pairs if (entry := _entry_of(pair, now)) is not None], next_cursor


def visible_contradiction(pair: ContradictionWithSides, now: datetime) -> Contradiction:
    """Return the contradiction between two sides. Raises `NotFound` where an agent may not see one of them."""
    if _entry_of(pair, now) is None:
        raise NotFound(
            f"One side of the contradiction {pair.contradiction.id} is not recalled any more.",
            "Call contradictions for those that are open.",
        )
    return pair.contradiction


def _entry_of(pair: ContradictionWithSides, now: datetime) -> ContradictionEntry | None:
    """Return a contradiction as it is shown; ``None`` where an agent may not see one of its sides."""
    older, newer, contradiction = pair.older, pair.newer, pair.contradiction
    if older is None or newer is None or not (is_recalled(older) and is_recalled(newer)):
        return None
    if account_of(older.namespace) != account_of(newer.namespace):
        return None
    if not (is_current(older, now) and is_current(newer, now)):
        return None
    return ContradictionEntry(
        id=contradiction.id,
        kind=contradiction.kind,
        why=one_line(contradiction.why, _SIDE_CHARS),
        older=_side_of(older, now),
        newer=_side_of(newer, now),
    )


def _side_of(memory: Memory, now: datetime) -> ContradictionSide:
    return ContradictionSide(
        id=memory.id,
        text=one_line(memory.content, _SIDE_CHARS),
        age_days=max(0, (now - memory.created_at).days),
        labels=[*caution_labels(memory, now, with_age=True), *condition_labels(memory)],
    )


def labels_of(
    memories: Iterable[Memory], now: datetime, contradictions: Sequence[ContradictionEntry] = (), *, quoted: bool = True
) -> dict[str, list[str]]:
    """Return all that is to be said of some memories beside their texts, by id.

    The contradictions are those of `contradictions_among`; ``quoted`` says their other sides in words, for an answer
    that has no section about them.
    """
    against: dict[str, list[OtherSide]] = {}
    for entry in contradictions:
        for own, other in ((entry.older, entry.newer), (entry.newer, entry.older)):
            against.setdefault(own.id, []).append(OtherSide(other.id, other.text if quoted else ""))
    return {
        memory.id: [*caution_labels(memory, now), *condition_labels(memory, against.get(memory.id, ()))]
        for memory in memories
    }


def contradiction_section(entries: Sequence[ContradictionEntry]) -> str:
    """Return the section that ends a recall; empty where nothing contradicts anything."""
    if not entries:
        return ""
    lines = [line for entry in entries for line in _entry_lines(entry)]
    return f"## Contradictions\nA person has not resolved these yet; weigh both sides.\n{fenced(chr(10).join(lines))}"


def _entry_lines(entry: ContradictionEntry) -> list[str]:
    sides = ("older", entry.older), ("newer", entry.newer)
    return [
        f"{quoted_id(entry.id)} {entry.kind}: {entry.why}",
        *(f"  {_side_heading(name, side)}: {side.text}" for name, side in sides),
    ]


def _side_heading(name: str, side: ContradictionSide) -> str:
    return f"{name} {quoted_id(side.id)}{bracketed(side.labels)}"
