"""Write memories into the folder: rewrite their notes, and create notes for new ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from memento_tui.errors import InvalidInput
from memento_tui.formats.base import source_digest
from memento_tui.formats.vault import kept_note, names_instructions, paths_of, without_place
from memento_tui.mirror.folder import FileStatus
from memento_tui.mirror.notes import NoteFile, changed_fields, render_new_note, with_full_text
from memento_tui.mirror.state import MirrorContext, MirrorEvent
from memento_tui.model import Memory
from memento_tui.model.filters import AllOf, Filter, Not, OneOf, Under, filters_on, with_default_statuses
from memento_tui.model.validation import check_namespace
from memento_tui.search.query_language import parse

__all__ = ["OutboundChanges", "mirror_filter"]


def mirror_filter(query: str, namespace: str) -> Filter:
    """Return the filter for the memories that get a note: recalled, and restricted only where the query names that.

    Raises:
        InvalidInput: the query holds free text or a part that cannot be used, or the namespace is none.

    """
    parsed = parse(query)
    if parsed.problems:
        raise InvalidInput(parsed.problems[0], "Correct the query.")
    if parsed.words or parsed.excluded:
        raise InvalidInput(
            "A mirror is chosen by filters, not by free text: what ranks high changes with every memory.",
            'Use filters such as --query "tag:api kind:decision".',
        )
    parts: list[Filter] = [with_default_statuses(parsed.filter)]
    if namespace:
        parts.append(Under(check_namespace(namespace)))
    if not filters_on(parsed.filter, "sensitivity"):
        parts.append(Not(OneOf("sensitivity", ("restricted",))))
    return AllOf(tuple(parts))


class OutboundChanges:
    """The changes that memories make to one mirror's notes.

    ``on_written`` is called with the path and the status of every file that was written.
    """

    def __init__(self, context: MirrorContext, chosen: Filter, on_written: Callable[[str, FileStatus], None]) -> None:
        self._session = context.session
        self._folder = context.folder
        self._ledger = context.ledger
        self._chosen = chosen
        self._on_written = on_written
        self._taken: set[str] = set()

    def set_taken_paths(self, paths: Iterable[str]) -> None:
        """Set the paths at which files are; names that differ in case alone are one on some file systems."""
        self._taken = {path.casefold() for path in paths}

    def without_note(self, ids: Iterable[str] | None) -> list[str]:
        """Return those of these ids, or (``None``) of the ids of all chosen memories, that have no note."""
        candidates = self._every_id() if ids is None else ids
        return [memory_id for memory_id in candidates if memory_id not in self._ledger.paths]

    def selected(self, ids: Sequence[str]) -> list[Memory]:
        """Return the memories among these that are to have a note."""
        return list(self._session.get_many(ids, self._chosen).values())

    def _every_id(self) -> list[str]:
        return self._session.ids(self._chosen)

    def write_new(self, memory: Memory, path: str = "", why: str = "") -> MirrorEvent:
        """Write the note of a memory that has none, at ``path`` if nothing lies there. Raises `InvalidInput`."""
        target = without_place(with_full_text(memory))
        for place in chain([path] if path else [], paths_of(target, kept_note(target))):
            if place.casefold() in self._taken and place != path:
                continue
            data = render_new_note(target, place).encode()
            if (status := self._folder.write(place, data, expected=None)) is not None:
                self._on_written(place, status)
                break
        self._taken.add(place.casefold())
        self._ledger.set_in_sync(place, memory, source_digest(data))
        return MirrorEvent("written", place, memory.id, why)

    def rewrite(self, file: NoteFile, memory: Memory, base: Memory | None) -> Iterator[MirrorEvent]:
        """Update a note to its memory; ``base`` is the memory as both sides had it before. Raises `InvalidInput`."""
        if memory.sensitivity == "restricted" and not self.selected([memory.id]):
            # Its note says what it said before: a folder is read by whoever reads the folder.
            self._ledger.set_in_sync(file.path, memory, file.digest)
            return
        is_draft = names_instructions(file.path) and memory.stability == "draft"
        if is_draft and self._session.fields_of_others(memory):
            # Hosts tell what stands there as the person's own word.
            self._ledger.set_in_sync(file.path, memory, file.digest)
            return
        target = with_full_text(memory)
        moved = base is not None and base.namespace != target.namespace
        data = file.loaded.data
        if moved or not file.matches(target):
            data = file.rewritten(target, moved=moved).encode()
        if data == file.loaded.data:
            self._ledger.set_in_sync(file.path, memory, file.digest)
            return
        kept = [target.content, *([with_full_text(base).content] if base is not None else ())]
        copy = "" if file.note.content in kept else self._folder.copy_to_trash(file.path, file.loaded.data)
        if (status := self._folder.write(file.path, data, expected=file.digest)) is not None:
            self._on_written(file.path, status)
            self._ledger.set_in_sync(file.path, memory, source_digest(data))
            if copy:
                yield MirrorEvent("trashed", file.path, memory.id, f"what it said before is kept at {copy}")
            differing = ", ".join(changed_fields(file.as_memory(target), target)) or "namespace"
            yield MirrorEvent("written", file.path, memory.id, differing)

    def add_links(self, file: NoteFile, memory: Memory, links: Iterable[tuple[str, str]]) -> bool:
        """Add links to a note's properties, each a type of relation and a note's path; return whether that was done.

        Raises:
            InvalidInput: the file cannot be written.

        """
        data = file.with_links(with_full_text(memory), links).encode()
        if (status := self._folder.write(file.path, data, expected=file.digest)) is None:
            return False
        self._on_written(file.path, status)
        self._ledger.set_in_sync(file.path, memory, source_digest(data))
        return True
