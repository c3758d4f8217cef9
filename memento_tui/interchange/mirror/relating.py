"""The links of notes and the relations of memories, kept in step: what a link says becomes a relation, and back.

Links are taken from notes that are in step, so that those of a text that waits for a person wait with it. They mean the
same notes, and draw the same relations, as in an import of the folder (`targets`). A link to no note is tried again when
others come. A relation that was made here is written into its note as in `vault_export`, as a property, once: a person
who takes it out there, or takes back here what a link drew, has spoken. Nobody's prose is touched.

What a file may draw is what an agent may: not that something else takes the place of what a person verified. It takes
back only what it drew itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from memento_tui.errors import MementoError
from memento_tui.interchange.incoming import Refused
from memento_tui.interchange.mirror.happening import Happening
from memento_tui.interchange.mirror.leaving import Leaving
from memento_tui.interchange.mirror.ledger import MOVED, UNKNOWN, MirrorLedger
from memento_tui.interchange.mirror.notes import NoteFile
from memento_tui.interchange.mirror.reading import Reading
from memento_tui.interchange.note import LINK_PROPERTIES
from memento_tui.interchange.targets import Targets
from memento_tui.interchange.vault_export import link_properties
from memento_tui.records import Memory, Relation, make_relation
from memento_tui.review.secrets import redact_text
from memento_tui.store.imports import LedgerRow
from memento_tui.store.journal import Author
from memento_tui.store.store import Store
from memento_tui.store.transaction import Transaction

__all__ = ["Relating"]

_REPLACES = ("supersedes", "consolidated_from")
_PAGE = 500
_BARRED = "-"
"""Stands for the relation of a link that may not draw one."""


class _Link(msgspec.Struct, frozen=True, array_like=True):
    kind: str
    written: str
    relation: str = ""
    """The id of the relation that says the same; nothing where the link leads to no note yet."""
    drawn: bool = False
    """Whether the link drew it; it may have been there."""


class _Said(msgspec.Struct, frozen=True):
    """What a note's links said when it was last in step."""

    digest: bytes
    links: tuple[_Link, ...] = ()
    shown: frozenset[str] = frozenset()
    """The ids of the relations that were written into it."""

    @property
    def is_open(self) -> bool:
        return any(not link.relation for link in self.links)


class _Row(msgspec.Struct, frozen=True):
    """What of that is kept as JSON."""

    links: tuple[_Link, ...]
    shown: frozenset[str]


class Relating:
    """Relates the memories of one mirror's notes as their links do."""

    def __init__(
        self, store: Store, author: Author, source: str, ledger: MirrorLedger, reading: Reading, leaving: Leaving
    ) -> None:
        self._store = store
        self._author = author
        self._source = f"links of {source}"
        self._ledger = ledger
        self._reading = reading
        self._leaving = leaving
        self._said: dict[str, _Said] = {}
        self._unshown: dict[str, Relation] = {}
        """Relations that have no place in a note yet, by id."""
        self._reached: int | None = None
        self.reload()

    def reload(self) -> None:
        """Read what is kept in the database; all notes are looked at again."""
        self._said = {}
        for path, row in self._store.imports.of(self._source).items():
            kept = msgspec.json.decode(row.said or b'{"links":[],"shown":[]}', type=_Row)
            self._said[path] = _Said(row.digest, kept.links, kept.shown)
        self._reached = None

    def settle(self, head: int) -> Iterator[Happening]:
        """Relate what changed, up to the journal entry ``head`` at least. Raises `DataDirectoryError`."""
        known = self._said.keys()
        fresh = dict(self._read_links())
        arrived = fresh.keys() - known
        gone = self._said.keys() - self._ledger.steps.keys()
        if fresh or gone:
            yield from self._draw(fresh, gone)
        yield from self._show(head, arrived)

    # From the notes

    def _read_links(self) -> Iterator[tuple[str, NoteFile]]:
        """Yield the notes that came in step with another text than before."""
        for path in sorted(self._ledger.touched):
            step, said = self._ledger.steps.get(path), self._said.get(path)
            if step is None or path in self._ledger.waiting or step.digest in (MOVED, UNKNOWN):
                continue
            if said is None or said.digest != step.digest:
                found = self._reading.read_again(path, step.digest)
                if not isinstance(found, Refused) and found.digest == step.digest:
                    yield path, found
        self._ledger.touched.clear()

    def _draw(self, fresh: Mapping[str, NoteFile], gone: Collection[str]) -> Iterator[Happening]:
        waiting = {path for path, said in self._said.items() if said.is_open} - gone if fresh else set()
        has_links = waiting or any(file.note.links for file in fresh.values())
        targets = self._targets() if has_links else Targets()
        rows = []
        with self._store.transaction(self._author, "mirror", note="links of notes") as tx:
            for path in sorted(fresh.keys() | waiting):
                before = self._said.get(path, _Said(b""))
                if path in fresh:
                    named = [(kind, written, label) for kind, written, label in fresh[path].note.links]
                    digest = fresh[path].digest
                else:
                    named, digest = [(link.kind, link.written, "") for link in before.links], before.digest
                links = tuple(self._drawn(tx, path, before, named, targets))
                _take_back(tx, before.links, links)
                after = _Said(digest, links, before.shown)
                if after != before:
                    rows.append(self._row(path, after))
                    self._said[path] = after
                if (told := _told(path, self._ledger.steps[path].id, before, after)) is not None:
                    yield told
            self._store.imports.write(tx, rows)
            self._store.imports.drop(tx, self._source, gone)
        for path in gone:
            del self._said[path]
