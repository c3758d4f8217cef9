"""Define where a section stands in files of instructions, kept in its memory's ``extra``, and check it by imports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import msgspec

from memento_tui.api.import_session import ImportSession
from memento_tui.api.types import ImportedRecord
from memento_tui.formats import agents_file_locations
from memento_tui.formats.agents_file_locations import RuleKind
from memento_tui.formats.base import ENDED_STATUSES
from memento_tui.model import AnyRecord, Memory

__all__ = ["EXTRA_KEY", "FilePlace", "KnownPlaces", "is_file_name", "places_of", "reads_places", "settle_places"]

EXTRA_KEY = "agents_file"
"""The part of ``extra`` that holds the places."""


class FilePlace(msgspec.Struct, frozen=True, omit_defaults=True):
    """The place of a section in a file, and the data of it that is kept beside its text."""

    path: str = ""
    place: int = 0
    """The number of the section in its file, counted from 0."""
    before: str = ""
    after: str = ""
    digest: str = ""
    """The digest of the whole file, so that a change anywhere in it updates the place of every section."""
    title: str = ""
    """The title of a rule whose frontmatter gives none."""
    rules: str = ""
    """The folder of a host's rules in which the file lies, where ``path`` begins below it."""
    also: tuple[FilePlace, ...] = ()
    """The places of the same section in other files of the project."""

    @property
    def rule_kind(self) -> RuleKind | None:
        """The kind of the rule that it is, which is a file of its own; ``None`` for a section."""
        return agents_file_locations.rule_kind(f"{self.rules}/{self.path}")


def places_of(extra: Mapping[str, Any]) -> tuple[FilePlace, ...]:
    """Return the places of a section, checked, because agents write to the database; none where one is not usable."""
    try:
        kept = msgspec.convert(extra.get(EXTRA_KEY), FilePlace)
    except msgspec.ValidationError:
        return ()
    places = (msgspec.structs.replace(kept, also=()), *kept.also)
    return places if all(_is_safe(place.path) for place in places) else ()


def _with_places(memory: Memory, places: Sequence[FilePlace]) -> Memory:
    """Return a memory with these places, and no other."""
    extra = {name: value for name, value in memory.extra.items() if name != EXTRA_KEY}
    if places:
        extra[EXTRA_KEY] = msgspec.to_builtins(msgspec.structs.replace(places[0], also=tuple(places[1:])))
    return msgspec.structs.replace(memory, extra=extra)


def is_file_name(name: str) -> bool:
    """Tell whether a file of this name may hold instructions."""
    return (
        name.lower().endswith((".md", agents_file_locations.CURSOR.suffix))
        or name in agents_file_locations.SINGLE_FILES
    )


def _is_safe(path: str) -> bool:
    names = PurePosixPath(path).parts
    is_inside = names and ".." not in names and not path.startswith("/") and is_file_name(names[-1])
    return bool(is_inside) and path.isprintable()


_FORMATS = ("agents-file", "agents-block")
"""The formats that read sections."""


class KnownPlaces:
    """The places that imports of files of instructions gave to memories, for one export."""

    def __init__(self, session: ImportSession) -> None:
        self.passed_over = 0
        """How many memories named a place that no import gave them."""
        self._known: dict[str, set[FilePlace]] = {}
        for row in session.ledger.of_formats(_FORMATS):
            self._known.setdefault(row.record_id, set()).update(_places_in_source(session, row))

    def only_known(self, record: AnyRecord) -> AnyRecord:
        """Return a record with those of its places that an import of the file gave it; agents may name any."""
        if not isinstance(record, Memory) or not (places := places_of(record.extra)):
            return record
        known = self._known.get(record.id, set())
        kept = [place for place in places if place in known]
        if len(kept) == len(places):
            return record
        self.passed_over += record.status not in ENDED_STATUSES
        return _with_places(record, kept)

    def notices(self) -> tuple[str, ...]:
        """Return the sentence about what was passed over, if there is any to say."""
        if not self.passed_over:
            return ()
        one = self.passed_over == 1
        names, them = ("memory names", "it") if one else ("memories name", "them")
        given = f"{self.passed_over} {names} a place in a file that the last import of that file did not give {them}"
        return (f"{given}, and {'is' if one else 'are'} not written there. Import the file first.",)


def reads_places(source: str) -> bool:
    """Tell whether a source of the ledger is one of files of instructions."""
    return source.partition(":")[0] in _FORMATS


class _Settlement(msgspec.Struct, frozen=True):
    """The changes for those sections of a source whose key was not found in it when it was read again."""

    keys: list[str]
    """The keys that leave the ledger."""
    memories: list[Memory]
    """The memories with the places that they have now."""


def settle_places(
    session: ImportSession,
    source: str,
    ledger: Mapping[str, ImportedRecord],
    seen: Mapping[str, tuple[FilePlace, ...]],
) -> _Settlement:
    """Return what to take from memories because it is another's place now, or gone.

    ``seen`` has the places that the sections of the source have now, by their keys in the ledger. A section gets
    another key where the first of the files that hold it changes.
    """
    taken = {_identity(place) for places in seen.values() for place in places}
    present: dict[str, list[ImportedRecord]] = {}
    for key in seen:
        if key in ledger:
            present.setdefault(ledger[key].record_id, []).append(ledger[key])
    dropped: dict[str, Memory] = {}
    for key, row in ledger.items():
        if row.record != "memory" or key in seen:
            continue
        is_taken = any(_identity(place) in taken for place in _places_in_source(session, row))
        memory = session.find(row.record_id) if is_taken or row.record_id in present else None
        if memory is not None and memory.status not in ENDED_STATUSES:
            dropped[key] = memory
    elsewhere = session.ledger.of_others(source) if dropped else {}
    changed: dict[str, Memory] = {}
    for memory in dropped.values():
        if memory.id in present or ("memory", memory.id) not in elsewhere:
            settled = _settled(session, memory, present.get(memory.id, ()))
            changed |= {memory.id: settled} if settled != memory else {}
    return _Settlement(list(dropped), list(changed.values()))


def _settled(session: ImportSession, memory: Memory, rows: Iterable[ImportedRecord]) -> Memory:
    """Return a memory with the places that it has in its source now; without any where it is not in it."""
    now = [found for row in rows if (found := _memory_in_source(session, row)) is not None]
    own = places_of(memory.extra)
    # A change of the text that waits for a person moves nothing before the decision.
    if any(found.content != memory.content or places_of(found.extra) == own for found in now):
        return memory
    return _with_places(memory, places_of(now[0].extra) if now else ())


def _identity(place: FilePlace) -> tuple[str, int, str]:
    return place.path, place.place, place.digest


def _places_in_source(session: ImportSession, row: ImportedRecord) -> Iterator[FilePlace]:
    found = _memory_in_source(session, row)
    for place in places_of(found.extra) if found is not None else ():
        yield msgspec.structs.replace(place, also=())


def _memory_in_source(session: ImportSession, row: ImportedRecord) -> Memory | None:
    found = session.ledger.in_source(row)
    return found if isinstance(found, Memory) else None
