"""From the memories to the folder: notes are written anew, and new memories get one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from memento_tui.errors import InvalidInput
from memento_tui.interchange.incoming import source_digest
from memento_tui.interchange.mirror.folder import Folder, Status
from memento_tui.interchange.mirror.happening import Happening
from memento_tui.interchange.mirror.ledger import MirrorLedger
from memento_tui.interchange.mirror.notes import NoteFile, changes_between, new_text, shown
from memento_tui.interchange.vault_export import kept_of, paths_of
from memento_tui.records import Memory
from memento_tui.records.rules import check_namespace
from memento_tui.search.language import parse
from memento_tui.store.filters import AllOf, Filter, NotThat, OneOf, Under
from memento_tui.store.reads import mentions, visible
from memento_tui.store.store import Store

__all__ = ["Leaving", "selection"]


def selection(query: str, namespace: str) -> Filter:
    """Return the filter for the memories that get a note: recalled, and restricted only where the query names that.

    Raises:
        InvalidInput: the query holds free text or a part that cannot be used, or the namespace is none.

    """
    parsed = parse(query)
    if parsed.problems:
        raise InvalidInput(parsed.problems[0], "Correct the query.")
    if parsed.words or parsed.unwanted:
        raise InvalidInput(
            "A mirror is chosen by filters, not by free text: what ranks high changes with every memory.",
            'Use filters such as --query "tag:api kind:decision".',
        )
    parts: list[Filter] = [visible(parsed.filter)]
    if namespace:
        parts.append(Under(check_namespace(namespace)))
    if not mentions(parsed.filter, "sensitivity"):
        parts.append(NotThat(OneOf("sensitivity", ("restricted",))))
    return AllOf(tuple(parts))


class Leaving:
    """The way of one mirror's memories into the folder."""

    def __init__(self, store: Store, folder: Folder, ledger: MirrorLedger, chosen: Filter) -> None:
        self._store = store
        self._folder = folder
        self._ledger = ledger
        self._chosen = chosen
        self._taken: set[str] = set()
        self.written: dict[str, Status] = {}
        """The files that were written since the caller last emptied this, as they were then."""

    def know(self, paths: Iterable[str]) -> None:
        """Take note of the files that are there; names that differ in case alone are one on some file systems."""
        self._taken = {path.casefold() for path in paths}

    def without_note(self, ids: Iterable[str] | None) -> list[str]:
        """Return those of these ids, or (``None``) of the ids of all chosen memories, that have no note."""
        wanted = self._every_id() if ids is None else ids
        return [one for one in wanted if one not in self._ledger.paths]

    def chosen(self, ids: Sequence[str]) -> list[Memory]:
        """Return the memories among these that are to have a note."""
        return list(self._store.memories(ids, self._chosen).values())

    def _every_id(self) -> list[str]:
        return self._store.ids(self._chosen, 0, self._store.count_all())

    def write_new(self, memory: Memory, path: str = "", why: str = "") -> Happening:
        """Write the note of a memory that has none, at ``path`` if nothing lies there. Raises `InvalidInput`."""
        wanted = shown(memory)
        for place in chain([path] if path else [], paths_of(wanted, kept_of(wanted))):
            if place.casefold() in self._taken and place != path:
                continue
            data = new_text(wanted, place).encode()
            if (status := self._folder.write(place, data, expected=None)) is not None:
                self.written[place] = status
                break
        self._taken.add(place.casefold())
        self._ledger.in_step(place, memory, source_digest(data))
        return Happening("written", place, memory.id, why)

    def rewrite(self, file: NoteFile, memory: Memory, base: Memory | None) -> Iterator[Happening]:
        """Let a note say what its memory says; ``base`` is what both sides said before. Raises `InvalidInput`."""
        wanted = shown(memory)
        moved = base is not None and base.namespace != wanted.namespace
        data = file.loaded.data
        if moved or not file.says(wanted):
            data = file.rewritten(wanted, moved=moved).encode()
        if data == file.loaded.data:
            self._ledger.in_step(file.path, memory, file.digest)
            return
        kept = [wanted.content, *([shown(base).content] if base is not None else ())]
        copy = "" if file.note.content in kept else self._folder.copy_to_trash(file.path, file.loaded.data)
        if (status := self._folder.write(file.path, data, expected=file.digest)) is not None:
            self.written[file.path] = status
            self._ledger.in_step(file.path, memory, source_digest(data))
            if copy:
                yield Happening("trashed", file.path, memory.id, f"what it said before is kept at {copy}")
            differing = ", ".join(changes_between(file.said(wanted), wanted)) or "namespace"
            yield Happening("written", file.path, memory.id, differing)

    def add_links(self, file: NoteFile, memory: Memory, links: Iterable[tuple[str, str]]) -> bool:
        """Add links to a note's properties, each a type of relation and a note's path; tell whether that was done.

        Raises:
            InvalidInput: the file cannot be written.

        """
        data = file.with_links(shown(memory), links).encode()
        if (status := self._folder.write(file.path, data, expected=file.digest)) is None:
            return False
        self.written[file.path] = status
        self._ledger.in_step(file.path, memory, source_digest(data))
        return True
