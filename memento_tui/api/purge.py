"""Purge records, notes and names, with the files beside the database that hold their text: backups, indexes, drafts."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from memento_tui.api.drafts import discard_drafts_containing, discard_editor_files, discard_unsaved_text
from memento_tui.api.line_history import forget_lines
from memento_tui.api.search import SearchEngine
from memento_tui.errors import InvalidField, NotAllowed, NotFound
from memento_tui.paths import DataPaths
from memento_tui.policy.secrets import redact_text
from memento_tui.storage.backup_folder import WAIT_SECONDS, BackupFolder
from memento_tui.storage.database import Database
from memento_tui.storage.journal import Author
from memento_tui.storage.purge import NameField, PurgedRecord, check_reason, purge_name, purge_note, purge_record
from memento_tui.storage.settings import Settings
from memento_tui.storage.store import Store
from memento_tui.storage.tables import TABLES

__all__ = ["PurgeOutcome", "Purger"]

RECORD_KINDS = ("memory", "skip", "item", "crystal", "contradiction", "proposal")

PURGE_KINDS = (*RECORD_KINDS, "note", "agent", "session")
"""The kinds of things to purge: records by id, notes by the number of their journal entry, names by themselves."""

_TEXT_FIELDS = ("content", "reason", "item", "why")
"""The fields of records that a person may be editing in a file of the drafts."""


class PurgeOutcome(msgspec.Struct, frozen=True):
    """The result of a purge: the removed records, and the memories and backups that still need a look."""

    derived: Sequence[str] = ()
    """The ids of memories that were made of the purged one and hold since: they may say the same."""
    purged_backups: Sequence[str] = ()
    """The backups from which it was removed too."""
    backups: Sequence[str] = ()
    """The backups in which that failed: they still hold it, or may."""
    was_here: bool = True
    """Whether the database held it; otherwise backups alone did."""


class Purger:
    """Purges in the name of a person; nothing can be brought back."""

    def __init__(self, store: Store, author: Author, paths: DataPaths, search_engine: SearchEngine) -> None:
        self._store = store
        self._author = author
        self._paths = paths
        self._search_engine = search_engine

    def purge(self, kind: str, name: str, reason: str) -> PurgeOutcome:
        """Remove the record, note or name ``name``, and every trace of it; see `memento_tui.api.Workspace.purge`."""
        if kind not in PURGE_KINDS:
            raise InvalidField("kind", f"must be one of {', '.join(PURGE_KINDS)}; not {kind!r:.40}")
        if self._author.actor != "person":
            raise NotAllowed("Only a person purges.", "Tell the person what is to go, and why.")
        self._store.database.check_writable()
        why = redact_text(reason)[0]
        check_reason(why)
        if kind in RECORD_KINDS:
            return self._record(kind, name, why)
        if kind == "note":
            return self._note(_entry_number(name), why)
        return self._name("agent" if kind == "agent" else "session", name, why)

    def _everywhere(self, purge: Callable[[Database], object]) -> PurgeOutcome:
        """Carry out a purge in the backups and then in the database, so that one that is cut short can be repeated.

        Lines that were typed go from all of them, for one may hold what is purged.

        Raises:
            NotFound: neither the database nor a backup that could be read holds it.

        """
        holding = []

        def purge_copy(database: Database) -> None:
            had_lines = forget_lines(Settings(database))
            try:
                purge(database)
            except NotFound:
                if not had_lines:
                    raise
            else:
                holding.append(database.path)

        backups = BackupFolder(self._paths)
        with backups.locked(wait_seconds=WAIT_SECONDS):
            done = backups.purge(purge_copy)
            forget_lines(self._store.settings)
            try:
                purge(self._store.database)
            except NotFound as error:
                if holding:
                    return PurgeOutcome((), done.purged, done.left, was_here=False)
                if not done.left:
                    raise
                left = f"These backups could not be looked into: {', '.join(done.left)}."
                raise NotFound(error.message, f"{left} `memento backup rm` removes one.") from error
        return PurgeOutcome((), done.purged, done.left)

    def _note(self, seq: int, why: str) -> PurgeOutcome:
        mark = self._store.journal.mark(seq)
        if not mark:  # in a backup of another past the number may be another entry's
            raise NotFound(f"The journal has no entry {seq} with a note.", "`memento history` lists them.")
        return self._everywhere(lambda database: purge_note(database, self._author, seq, why, mark=mark))

    def _name(self, field: NameField, name: str, why: str) -> PurgeOutcome:
        outcome = self._everywhere(lambda database: purge_name(database, self._author, field, name, why))
        self._begin_indexes_anew()
        return outcome

    def resolve(self, kind: str, name: str) -> str:
        """Return the id of a record by a beginning of it; by its whole id one that only the journal or a backup holds.

        Raises `NotFound` or `AmbiguousId`.
        """
        # One that was deleted for good, by undoing its creation, still has its text in the journal.
        if self._store.journal.history(TABLES[kind].record, name):
            return name
        try:
            return self._store.resolve(kind, name)
        except NotFound:
            if BackupFolder(self._paths).holds_text_of(kind, name):
                return name
            raise

    def _record(self, kind: str, name: str, reason: str) -> PurgeOutcome:
        record_type, found = TABLES[kind].record, self.resolve(kind, name)
        derived = self._store.memories.derived_from(found) if kind == "memory" else ()
        versions = [one.record for one in self._store.journal.history(record_type, found) if one.record is not None]
        texts = [text for version in versions for text in _texts_of(version)]
        removed: tuple[PurgedRecord, ...] = ()

        def purge(database: Database) -> None:
            nonlocal removed
            removed = purge_record(database, self._author, kind, found, reason)

        outcome = self._everywhere(purge)
        for one in removed:
            discard_editor_files(self._paths, one.id)
            discard_unsaved_text(self._paths, one.id)
        discard_drafts_containing(self._paths, texts)
        memories = [one.id for one in removed if one.record == "memory"]
        if memories and self._paths.keyword_index.exists():
            self._search_engine.keyword.purge(memories)
        if memories and self._paths.semantic_indexes():
            self._search_engine.purge_vectors(memories)
        return msgspec.structs.replace(outcome, derived=derived, was_here=bool(versions))

    def _begin_indexes_anew(self) -> None:
        """Have both indexes rebuilt, as every row of an agent's or session's memories holds its name."""
        if self._paths.keyword_index.exists():
            self._search_engine.keyword.rebuild()
        if self._paths.semantic_indexes():
            self._search_engine.semantic.stop()
            for directory in self._paths.semantic_indexes():
                shutil.rmtree(directory, ignore_errors=True)


def _entry_number(name: str) -> int:
    with contextlib.suppress(ValueError):
        return int(name)
    raise InvalidField(
        "id", f"must be the number of a journal entry, not {name!r:.40}", "`memento history` lists them."
    )


def _texts_of(record: Any) -> list[str]:  # noqa: ANN401 - any record
    values = [getattr(record, field, "") for field in _TEXT_FIELDS]
    values += [value for value in dict(getattr(record, "payload", {})).values() if isinstance(value, str)]
    return [value for value in values if isinstance(value, str) and value]
