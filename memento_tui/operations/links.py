"""Follow the links of a memory, its relations and the ``[[names]]`` in texts, for an agent that reads it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Literal, NamedTuple

from memento_tui.api import Workspace
from memento_tui.model import Memory
from memento_tui.operations.memories import is_readable, is_recalled
from memento_tui.operations.recall import plain_query, without_reserved
from memento_tui.text.fence import visible_line
from memento_tui.text.labels import caution_labels, condition_labels, entry_labels
from memento_tui.text.markdown import find_wikilinks, without_code
from memento_tui.text.near_names import folded

__all__ = ["ToldLink", "WalkedLink", "links_of", "memory_titled", "walk_links"]

_MAX_LINKS = 20
"""Links of a memory that are told; the latest relations are the ones left out."""
_MAX_WALKED = 40
"""Links that a walk of several steps returns."""
_MAX_TITLE_HITS = 20
"""Results of a search for a title, among which the memory with exactly that title is picked."""
_MAX_HEADLINE_CHARACTERS = 80

_WORDS = re.compile(r"[^\W_]+")


class ToldLink(NamedTuple):
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


class WalkedLink(NamedTuple):
    """A link that a walk came to."""

    link: ToldLink
    via: str
    """The id of the memory whose link it is."""


def links_of(workspace: Workspace, memory: Memory, now: datetime) -> list[ToldLink]:
    """Return the links of a memory, relations first; those to a memory that an agent may not be told are left out."""
    found: dict[str, ToldLink] = {}
    ways = (_related, _mentioned, _mentioning)
    for link in (link for way in ways for link in way(workspace, memory, now)):
        if len(found) == _MAX_LINKS:
            break
        found.setdefault(link.target, link)
    return list(found.values())


def walk_links(workspace: Workspace, memory: Memory, steps: int, now: datetime) -> list[WalkedLink]:
    """Return the links of a memory, then those of the memories that they lead to, and so on, each end once."""
    found: dict[str, WalkedLink] = {}
    ends = [memory]
    for _ in range(steps):
        reached: list[str] = []
        for end in ends:
            for link in links_of(workspace, end, now):
                if link.target != memory.id and link.target not in found and len(found) < _MAX_WALKED:
                    found[link.target] = WalkedLink(link, end.id)
                    reached.append(link.target)
        ends = [end for end in workspace.get_many(reached).values() if is_readable(end)]
    return list(found.values())


def _related(workspace: Workspace, memory: Memory, now: datetime) -> Iterator[ToldLink]:
    related = workspace.related(memory.id)
    others = workspace.get_many([other for _, _, other in related])
    for kind, direction, other in related:
        end = others.get(other)
        way: Literal["out", "in"] = "out" if direction == "out" else "in"
        if end is not None:
            yield from _to_memory(kind, way, end, now)
        elif kind in ("file", "item"):
            yield ToldLink(kind, way, visible_line(other, 200), "", entry_labels(is_unverified=True))


def _mentioned(workspace: Workspace, memory: Memory, now: datetime) -> Iterator[ToldLink]:
    if "[[" not in memory.content:
        return
    names = dict.fromkeys(link.target for link in find_wikilinks(without_code(memory.content)))
    for name in list(names)[:_MAX_LINKS]:
        named = memory_titled(workspace, name)
        if named is not None and named.id != memory.id:
            yield from _to_memory("mentions", "out", named, now)


def _mentioning(workspace: Workspace, memory: Memory, now: datetime) -> Iterator[ToldLink]:
    """Yield the links from memories whose text names this one in double brackets."""
    title, words = _words_of_title(memory.title), plain_query(memory.title.replace("-", " "))
    if not title or not words:
        return
    hits = workspace.search(without_reserved(f'"{words}"'), mode="keyword", limit=_MAX_TITLE_HITS).results
    for hit in hits:
        named = (_words_of_title(link.target) for link in find_wikilinks(without_code(hit.memory.content)))
        if hit.id != memory.id and title in named:
            yield from _to_memory("mentions", "in", hit.memory, now)


def _to_memory(kind: str, direction: Literal["out", "in"], end: Memory, now: datetime) -> Iterator[ToldLink]:
    if is_recalled(end):
        headline = visible_line(end.headline, _MAX_HEADLINE_CHARACTERS)
        yield ToldLink(kind, direction, end.id, headline, [*caution_labels(end, now), *condition_labels(end)])


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
    return " ".join(_WORDS.findall(folded(name)))
