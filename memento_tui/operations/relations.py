"""Show an agent the links of a memory, and its contradictions that wait for a person."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.review import ContradictionWithSides
from memento_tui.errors import NotFound
from memento_tui.model import Contradiction, Memory
from memento_tui.model.validation import account_of
from memento_tui.operations.memories import is_current, is_readable, is_recalled
from memento_tui.operations.recall import plain_query, without_reserved
from memento_tui.text.fence import fenced, one_line, quoted_id, visible_line
from memento_tui.text.labels import OtherSide, bracketed, caution_labels, condition_labels, entry_labels
from memento_tui.text.markdown import find_wikilinks, without_code
from memento_tui.text.near_names import folded
from memento_tui.text.words import PLAIN_WORD

__all__ = [
    "ContradictionEntry",
    "ContradictionSide",
    "all_labels",
    "contradiction_section",
    "contradictions_among",
    "labels_of",
    "links_of",
    "memory_titled",
    "open_contradictions",
    "visible_contradiction",
    "walk_links",
]


_MAX_LINKS = 20
"""The most links of a memory that are shown; the latest relations are left out."""
_MAX_WALKED = 40
"""Links that a walk of several steps returns."""
_MAX_TITLE_HITS = 20
"""Results of a search for a title, among which the memory with exactly that title is picked."""
_MAX_HEADLINE_CHARACTERS = 80


class _ToldLink(NamedTuple):
    """One link of a memory."""

    type: str
    """The type of the relation; ``mentions`` for a ``[[link]]`` in a text."""
    direction: Literal["out", "in"]
    """Whether it leads from the memory or to it."""
    target: str
    """The id of the other memory or item, or the path of a file."""
    headline: str
    """The other memory's first words; empty where the target is none."""
    labels: list[str]
    """Words of caution about the other memory; that nobody verified it, about any other target."""


class _WalkedLink(NamedTuple):
    """A link that a walk came to."""

    link: _ToldLink
    via: str
    """The id of the memory whose link it is."""


def links_of(workspace: Workspace, memory: Memory, now: datetime) -> list[_ToldLink]:
    """Return the links of a memory, relations first, without those to memories hidden from the agent."""
    found: dict[str, _ToldLink] = {}
    ways = (_related, _mentioned, _mentioning)
    for link in (link for way in ways for link in way(workspace, memory, now)):
        if len(found) == _MAX_LINKS:
            break
        found.setdefault(link.target, link)
    return list(found.values())


def walk_links(workspace: Workspace, memory: Memory, steps: int, now: datetime) -> list[_WalkedLink]:
    """Return the links of a memory, then those of the memories that they lead to, and so on, each end once."""
    found: dict[str, _WalkedLink] = {}
    ends = [memory]
    for _ in range(steps):
        reached: list[str] = []
        for end in ends:
            for link in links_of(workspace, end, now):
                if link.target != memory.id and link.target not in found and len(found) < _MAX_WALKED:
                    found[link.target] = _WalkedLink(link, end.id)
                    reached.append(link.target)
        ends = [end for end in workspace.get_many(reached).values() if is_readable(end)]
    return list(found.values())


def _related(workspace: Workspace, memory: Memory, now: datetime) -> Iterator[_ToldLink]:
    related = workspace.related(memory.id)
    others = workspace.get_many([other for _, _, other in related])
    for kind, direction, other in related:
        end = others.get(other)
        way: Literal["out", "in"] = "out" if direction == "out" else "in"
        if end is not None:
            yield from _to_memory(kind, way, end, now)
        elif kind in ("file", "item"):
            yield _ToldLink(kind, way, visible_line(other, 200), "", entry_labels(is_unverified=True))


def _mentioned(workspace: Workspace, memory: Memory, now: datetime) -> Iterator[_ToldLink]:
    if "[[" not in memory.content:
        return
    names = dict.fromkeys(link.target for link in find_wikilinks(without_code(memory.content)))
    for name in list(names)[:_MAX_LINKS]:
        named = memory_titled(workspace, name)
        if named is not None and named.id != memory.id:
            yield from _to_memory("mentions", "out", named, now)


def _mentioning(workspace: Workspace, memory: Memory, now: datetime) -> Iterator[_ToldLink]:
    """Yield the links from memories whose text names this one in double brackets."""
    title, words = _words_of_title(memory.title), plain_query(memory.title.replace("-", " "))
    if not title or not words:
        return
    hits = workspace.search(without_reserved(f'"{words}"'), mode="keyword", limit=_MAX_TITLE_HITS).results
    for hit in hits:
        named = (_words_of_title(link.target) for link in find_wikilinks(without_code(hit.memory.content)))
        if hit.id != memory.id and title in named:
            yield from _to_memory("mentions", "in", hit.memory, now)


def _to_memory(kind: str, direction: Literal["out", "in"], end: Memory, now: datetime) -> Iterator[_ToldLink]:
    if is_recalled(end):
        headline = visible_line(end.headline, _MAX_HEADLINE_CHARACTERS)
        yield _ToldLink(kind, direction, end.id, headline, [*caution_labels(end, now), *condition_labels(end)])


def memory_titled(workspace: Workspace, title: str, key: Callable[[str], str] | None = None) -> Memory | None:
    """Return the recalled memory whose title has the same ``key``: by default its words, whatever is between them."""
    same = key or _words_of_title
    wanted, words = same(title), plain_query(title.replace("-", " "))
    if not wanted or not words:
        return None
    hits = workspace.search(without_reserved(words), mode="keyword", limit=_MAX_TITLE_HITS).results
    return next((hit.memory for hit in hits if same(hit.memory.headline) == wanted), None)


def _words_of_title(title: str) -> str:
    name = title.rsplit("/", 1)[-1].removesuffix(".md")
    return " ".join(PLAIN_WORD.findall(folded(name)))


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


def all_labels(workspace: Workspace, memories: Sequence[Memory]) -> dict[str, list[str]]:
    """Return all that is to be said of some memories, by id, for results that have no other place for it."""
    now = clock.now()
    return labels_of(memories, now, contradictions_among(workspace, [memory.id for memory in memories], now))


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
