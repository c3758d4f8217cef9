"""The rows that a command is for, each as the person saw it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from memento_tui.tui.widgets.paged_rows import Row
from memento_tui.tui.widgets.record_list import RecordList

__all__ = ["SeenVersion", "Selection"]

SeenT = TypeVar("SeenT", bound=Row)


class SeenVersion(NamedTuple):
    """The version of a record that was on the screen."""

    id: str
    version: int


def _nothing_fetched(_ids: Sequence[str]) -> Mapping[str, Any]:
    return {}


class Selection(Generic[SeenT]):
    """The marked rows, or else the row under the cursor.

    A marked row is kept as it was when it was marked: what another writer changes afterwards is not what the person
    chose. ``fetch`` reads marked rows that the list has not loaded; ``also_shown`` returns records that are on the
    screen beside the list, which may be newer than their rows; ``seen_of`` returns what is kept of a row, ``None``
    where there is nothing that a command could be for; ``distinct`` leaves out ids of rows that are about the same
    record.
    """

    def __init__(
        self,
        rows: Callable[[], RecordList[Any]],
        *,
        fetch: Callable[[Sequence[str]], Mapping[str, SeenT]] = _nothing_fetched,
        also_shown: Callable[[], Iterable[SeenT | None]] = tuple,
        seen_of: Callable[[Any], SeenT | None] = lambda row: row,
        distinct: Callable[[list[str]], list[str]] = list,
    ) -> None:
        self._rows = rows
        self._fetch = fetch
        self._also_shown = also_shown
        self._seen_of = seen_of
        self._distinct = distinct
        self._marked: dict[str, SeenT] = {}
        """The marked rows as they were when they were marked."""
        self._written: dict[str, SeenT] = {}
        """Records that this app wrote itself and that the list may not show yet."""

    def ids(self) -> list[str]:
        """Return the ids of the marked rows in order, or else that of the row under the cursor."""
        rows = self._rows()
        if rows.marks:
            return self._distinct(sorted(rows.marks))
        return [rows.current.id] if rows.current else []

    def update_marks(self) -> None:
        """Keep the rows that were just marked as they are now, and drop those that were unmarked."""
        rows = self._rows()
        unseen = rows.marks - self._marked.keys()
        if unseen:
            loaded = {row.id: seen for row in rows.at_hand(unseen) if (seen := self._seen_of(row)) is not None}
            missing = sorted(unseen - loaded.keys())
            fetched = self._fetch(missing) if missing else {}
            on_screen = {name: seen for name, seen in self._on_screen().items() if name in unseen}
            self._marked |= {**loaded, **fetched, **on_screen}
        self._marked = {name: seen for name, seen in self._marked.items() if name in rows.marks}

    def _on_screen(self) -> dict[str, SeenT]:
        current = self._rows().current
        seen = [None if current is None else self._seen_of(current), *self._also_shown()]
        return {record.id: record for record in seen if record is not None}

    def seen(self, row_id: str) -> SeenT | None:
        """Return a row as the person saw it last, or as this app wrote it since; ``None`` where it is not known."""
        seen = self._marked.get(row_id) or self._on_screen().get(row_id)
        if seen is None:
            seen = next((self._seen_of(row) for row in self._rows().at_hand([row_id])), None)
        written = self._written.get(row_id)
        if seen is not None and written is not None and _version(written) > _version(seen):
            return written
        return seen

    def seen_version(self, row_id: str) -> int | None:
        """Return the version of a row that the person saw; ``None`` where it is not known or there are none."""
        return _version(self.seen(row_id)) or None

    def note_written(self, record: SeenT) -> None:
        """Count a record that this app wrote as seen, until the list shows it."""
        self._written[record.id] = record


def _version(seen: object) -> int:
    version: int = getattr(seen, "version", 0)
    return version
