"""Memories as notes of a vault: the path of each, which one a path or name means, and its text.

A memory that came from a note, or was stored as one, keeps its path. Any other gets one that its title and id make up,
``notes/<title>.<id>.md``: it stays the same whatever else is stored, and leads back to the memory by the id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from urllib.parse import quote, unquote

from memento_tui import clock
from memento_tui.agent.labels import is_readable, labels_of
from memento_tui.agent.recall import plain_query, without_accounts
from memento_tui.agent.vault.results import WholeNote
from memento_tui.errors import InvalidInput, NotAllowed, NotFound
from memento_tui.interchange.markdown import wikilinks
from memento_tui.interchange.note import LINK_PROPERTIES
from memento_tui.interchange.vault import SUFFIX
from memento_tui.interchange.vault_export import Notes, kept_of
from memento_tui.records import Memory
from memento_tui.records.memory import RECALLED
from memento_tui.store.filters import AllOf, OneOf
from memento_tui.workspace import Workspace

__all__ = ["FLEETING", "FOLDER", "find_note", "free_path", "note_at", "note_text", "path_of", "slug_of", "whole_note"]

FOLDER = "notes"
FLEETING = "fleeting"
"""The folder, and the namespace, of the logs that say of each day which sessions there were."""

_LONGEST_SLUG = 80
_NAMESAKES = 20
"""Results of a search for a title among which the note of exactly that title is looked for."""

_DROPPED, _GAPS = re.compile(r"[^a-z0-9\s-]"), re.compile(r"[\s-]+")
_LIVING = (*RECALLED, "archived", "pending")


def slug_of(title: str) -> str:
    """Return the file name that a title makes, without its ending; its clients compute the same."""
    return _GAPS.sub("-", _DROPPED.sub("", title.lower().strip()))[:_LONGEST_SLUG]


def path_of(memory: Memory) -> str:
    """Return the path of a memory's note."""
    made_up = f"{FOLDER}/{slug_of(memory.headline) or 'note'}.{quote(memory.id, safe='')}{SUFFIX}"
    return kept_of(memory).path or made_up


def free_path(workspace: Workspace, slug: str, mark: str) -> str:
    """Return ``notes/<slug>.md``, or where another note has that path, one with ``mark`` in it."""
    path = f"{FOLDER}/{slug or 'note'}{SUFFIX}"
    return path if note_at(workspace, path) is None else f"{FOLDER}/{slug or 'note'}-{mark}{SUFFIX}"


def note_at(workspace: Workspace, path: str) -> Memory | None:
    """Return the memory that keeps a path, the latest of several."""
    return next(iter(_at(workspace, [path])), None)


def find_note(workspace: Workspace, named: str) -> Memory:
    """Return the memory that a path, a file name, a wikilink, a title or an id means.

    Raises:
        NotFound, AmbiguousId: none has that name, or several have ids that begin so.

    """
    links = wikilinks(named)
    name = (links[0].target if links else named).strip()
    if not name:
        raise InvalidInput("The path is empty.", "Give a path as memento_search or memento_list returns it.")
    found = _at(workspace, list(_places(name)))
    if found:
        return found[0]
    parts = PurePosixPath(name).name.removesuffix(SUFFIX).split(".", 1)
    made_up = workspace.store.find("memory", unquote(parts[1])) if len(parts) > 1 else None
    if isinstance(made_up, Memory):
        return made_up
    titled = _titled(workspace, parts[0])
    if titled is not None:
        return titled
    try:
        return workspace.get(name)
    except NotFound:
        raise NotFound(f"Note not found: {name:.200}.", "Take a path from memento_search or memento_list.") from None


def _places(name: str) -> Iterator[str]:
    """Yield the paths that a name may mean, the whole of it before its end: vaults are also named by full paths."""
    path = PurePosixPath(name if name.lower().endswith(SUFFIX) else f"{name}{SUFFIX}")
    parts = [part for part in path.parts if part != "/"]
    for start in range(len(parts)):
        yield "/".join(parts[start:])
    yield f"{FOLDER}/{path.name}"


def _at(workspace: Workspace, paths: list[str]) -> list[Memory]:
    """Return the memories that keep one of these paths, the first path's first, of one path the latest first."""
    tree = AllOf((OneOf("note_path", tuple(paths)), OneOf("status", _LIVING)))
    found = [memory for memory in workspace.store.page(tree, limit=len(paths) * 2).items if path_of(memory) in paths]
    return sorted(found, key=lambda memory: paths.index(path_of(memory)))


def _titled(workspace: Workspace, title: str) -> Memory | None:
    """Return the recalled memory whose title makes the same file name."""
    slug, words = slug_of(title), plain_query(title.replace("-", " "))
    if not slug or not words:
        return None
    hits = workspace.search(without_accounts(words), mode="keyword", limit=_NAMESAKES).results
    return next((hit.memory for hit in hits if slug_of(hit.memory.headline) == slug), None)


def note_text(workspace: Workspace, memory: Memory) -> str:
    """Return the text of a memory's note with its properties, as an export writes it."""
    linked = LINK_PROPERTIES.values()
    relations = [one for one in workspace.store.relations_of(memory.id) if one.src == memory.id and one.type in linked]
    ends = workspace.store.memories([one.dst for one in relations])
    notes = Notes([memory, *ends.values()])
    return notes.text(memory, [one for one in relations if one.dst in ends])


def whole_note(workspace: Workspace, memory: Memory) -> WholeNote:
    """Return a note in full.

    Raises:
        NotAllowed: it waits for a person, who has not let it in yet, or was turned down.

    """
    if not is_readable(memory):
        raise NotAllowed(f"The note {path_of(memory)} is {memory.status}.", "Its text is withheld; go on without it.")
    return WholeNote(
        path=path_of(memory),
        title=memory.headline,
        content=note_text(workspace, memory),
        id=memory.id,
        labels=labels_of(memory, clock.now()),
    )
