"""Compare the places of sections with the records of the imports that read them, which alone are believed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from memento_tui.api.import_session import ImportSession
from memento_tui.api.types import ImportedRecord
from memento_tui.formats.base import ENDED_STATUSES
from memento_tui.formats.file_places import FilePlace, places_of, with_places
from memento_tui.model import AnyRecord, Memory

__all__ = ["KnownPlaces", "Settlement", "reads_places", "settle_places"]

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
        return with_places(record, kept)

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


class Settlement(msgspec.Struct, frozen=True):
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
) -> Settlement:
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
    return Settlement(list(dropped), list(changed.values()))


def _settled(session: ImportSession, memory: Memory, rows: Iterable[ImportedRecord]) -> Memory:
    """Return a memory with the places that it has in its source now; without any where it is not in it."""
    now = [found for row in rows if (found := _memory_in_source(session, row)) is not None]
    own = places_of(memory.extra)
    # A change of the text that waits for a person moves nothing before the decision.
    if any(found.content != memory.content or places_of(found.extra) == own for found in now):
        return memory
    return with_places(memory, places_of(now[0].extra) if now else ())


def _identity(place: FilePlace) -> tuple[str, int, str]:
    return place.path, place.place, place.digest


def _places_in_source(session: ImportSession, row: ImportedRecord) -> Iterator[FilePlace]:
    found = _memory_in_source(session, row)
    for place in places_of(found.extra) if found is not None else ():
        yield msgspec.structs.replace(place, also=())


def _memory_in_source(session: ImportSession, row: ImportedRecord) -> Memory | None:
    found = session.ledger.in_source(row)
    return found if isinstance(found, Memory) else None
