"""The rows that a command is for, as the person saw them, and the keys that were meant for another row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic
from typing import Any, Generic, NamedTuple, TypeVar

from memento_tui.tui.widgets.paged_rows import Row
from memento_tui.tui.widgets.record_list import RecordList

__all__ = ["SeenVersion", "Selection", "StaleGuard"]

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
        """Return the ids of the marked rows, or else that of the row under the cursor.

        Those that are in memory come first, in the order of the list, so that a question names them as they stand.
        """
        rows = self._rows()
        if rows.marks:
            at_hand = [row.id for row in rows.at_hand(rows.marks)]
            return self._distinct([*at_hand, *sorted(rows.marks.difference(at_hand))])
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


_IGNORE_KEYS_SECONDS = 0.5
"""How long actions are refused after another row came under the cursor by itself."""

_REPEAT_BEGINS_SECONDS = 0.7
"""Within how many seconds of a key that acted the same key may be that key, held: terminals let .25 to .66 s pass."""

_REPEAT_SECONDS = 0.3
"""Within how many seconds of a key that was refused the same key is that key, still held: the slowest repeat each .1 s.

A person who reads why the key was refused takes longer to press it again.
"""


class StaleGuard:
    """Blocks actions for half a second after the row under the cursor became another, or changed, by itself.

    It also lets a key that is held act on one row alone, though the next one comes under the cursor.
    ``key_was_pressed_since`` tells whether the person pressed a key just now, and after a moment on the clock ``now``.
    """

    def __init__(self, key_was_pressed_since: Callable[[float], bool], *, now: Callable[[], float] = monotonic) -> None:
        self._key_was_pressed_since = key_was_pressed_since
        self._now = now
        self._blocked_until = 0.0
        self._reached: tuple[str, int] | None = None
        """The id and the version of the row under the cursor, as it was reported last."""
        self._is_moved_by_person = False
        self._acted_on: frozenset[str] = frozenset()
        """The ids of the rows that the last key was for that might act."""
        self._was_refused = False

    @property
    def is_blocking(self) -> bool:
        """Whether a key pressed now was probably meant for the row as it was before."""
        return self._now() < self._blocked_until

    @property
    def is_moved_by_person(self) -> bool:
        """Whether the next row that is reached comes there by an action of the person."""
        return self._is_moved_by_person

    def moved_by_person(self) -> None:
        """Note that the person moves the list on: the row that is reached next does not come by itself."""
        self._is_moved_by_person = True

    def row_reached(self, row: Row | None) -> None:
        """Note the row that is under the cursor now, or how it reads now."""
        reached = None if row is None else (row.id, getattr(row, "version", 0))
        by_itself = None not in (reached, self._reached) and reached != self._reached
        if by_itself and not self._is_moved_by_person and not self._key_was_pressed_since(self._blocked_until):
            self.content_changed()
        self._is_moved_by_person = False
        self._reached = reached

    def content_changed(self) -> None:
        """Note that the shown text of the row under the cursor changed by itself."""
        self._blocked_until = self._now() + _IGNORE_KEYS_SECONDS

    def refusal(
        self, chosen: frozenset[str], since_same_key: float, *, was_shown: bool = True, is_marked: bool = False
    ) -> str:
        """Return in a sentence why a key may not act on the chosen rows now; an empty text where it may.

        ``since_same_key`` are the seconds since the same key was pressed with no other key between, ``was_shown`` tells
        whether the row was on the screen when the key was typed. Where the rows were marked (``is_marked``), the one
        under the cursor does not matter.
        """
        held_within = _REPEAT_SECONDS if self._was_refused else _REPEAT_BEGINS_SECONDS
        is_other_row = self._was_refused or chosen != self._acted_on
        reason = ""
        if since_same_key < held_within and is_other_row:
            reason = "A key that is held acts on one row only, and this is the next. Press it again."
        elif not was_shown and not is_marked:
            reason = "This was not on the screen yet when the key was pressed. Press it again."
        elif self.is_blocking and not is_marked:
            reason = "This has just come up or changed; the key was ignored. Press it again."
        else:
            self._acted_on = chosen
        self._was_refused = bool(reason)
        return reason
