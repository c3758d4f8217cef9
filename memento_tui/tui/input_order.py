"""Carry out keys and clicks one after the other, each once the one before has been carried out, and know the last.

Textual hands every key at once to the widget that has the focus at that moment. A key that was typed right behind one
that opens a dialog, a view or an editor would so reach what stood there before, and would meet widgets that are being
made or removed. Here a key waits until what the one before opened is there and what it closed is gone: keys that are
typed ahead belong to what they open.

For the same reason the screen is drawn when a key was carried out, and not meanwhile: Textual would draw the first
widget that changes at once, and the others a frame or two later.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from math import inf
from time import monotonic

from textual import events
from textual._xterm_parser import XTermParser
from textual.keys import Keys
from textual.message_pump import MessagePump
from textual.widget import Widget

__all__ = ["InputOrder", "TypedInput", "survive_unknown_keys"]

_JUST_NOW_SECONDS = 0.5
"""How long after a key a row that comes up is taken for one that the key led to."""

_FIRST_REPEAT_SECONDS = 0.7
"""Within how many seconds a key that is held is sent for the second time: terminals let .25 to .66 s pass."""

_REPEAT_SECONDS = 0.15
"""Within how many seconds a key that is held is sent again from then on: the slowest terminals each .1 s."""


class TypedInput:
    """The key or click that is being carried out."""

    def __init__(self) -> None:
        self.carried_out_at = 0.0
        """When the last one began to be carried out, on the monotonic clock."""
        self.seconds_since_same_key = inf
        """Seconds between the key and the one before it, where that was the same key; infinite where it was another.

        It is infinite, too, where a key that may have been held turned out to be pressed again.
        """
        self._typed_at = 0.0
        self._key = ""
        self._done_at = 0.0
        self._is_for_rows = False

    def note_is_for_rows(self) -> None:
        """Note that the key does something to rows, so that it matters whether it is held."""
        self._is_for_rows = True

    def may_be_held(self, event: events.Key | events.MouseDown) -> bool:
        """Return whether a new key may be a repetition of the held last one; the next keys show whether it is."""
        if not (isinstance(event, events.Key) and event.key == self._key and self._is_for_rows):
            return False
        return _REPEAT_SECONDS <= event.time - self._typed_at < _FIRST_REPEAT_SECONDS

    def note(self, event: events.Key | events.MouseDown, *, is_pressed_again: bool = False) -> None:
        """Note a key or a click, before anything else sees it; ``is_pressed_again`` where it is surely not held."""
        key = event.key if isinstance(event, events.Key) else ""
        is_same = bool(key) and key == self._key and not is_pressed_again
        self.seconds_since_same_key = event.time - self._typed_at if is_same else inf
        self._is_for_rows = False
        self.carried_out_at, self._typed_at, self._key = monotonic(), event.time, key

    def note_done(self) -> None:
        """Note that the last key is carried out: windows that open from now on are its effect, however long it took."""
        self._done_at = monotonic()

    def key_was_pressed_since(self, moment: float) -> bool:
        """Return whether a key was pressed after ``moment`` of the monotonic clock and was carried out just now."""
        last = max(self.carried_out_at, self._done_at)
        return self.carried_out_at > moment and monotonic() - last < _JUST_NOW_SECONDS

    def was_typed_since(self, moment: float) -> bool:
        """Return whether the key that is being carried out was typed after ``moment`` of the monotonic clock."""
        return self._typed_at > moment


_parse = XTermParser._parse_extended_key  # noqa: SLF001 - the one place in which all drivers read such a key


def _parse_if_possible(parser: XTermParser, sequence: str) -> list[events.Key] | None:
    """Return the keys of a sequence; an ignored key where its numbers are invalid or name no character."""
    try:
        return _parse(parser, sequence)
    except (ValueError, OverflowError):
        # Without any key the parser would take what is typed next for the rest of the sequence.
        return [events.Key(Keys.Ignore.value, None)]


def survive_unknown_keys() -> None:
    """Make all terminal drivers skip keys that they cannot parse, instead of failing."""
    setattr(XTermParser, "_parse_extended_key", _parse_if_possible)  # noqa: B010 - a method, which is assigned to


_QUIET_ROUNDS = 6
"""Rounds of the event loop without a message, a mount or a removal: a key leads to a worker within three of them."""

_MAX_WAIT_SECONDS = 1.0
"""How long a key waits at most; a part that takes longer to appear is no reason to take no keys."""

_LOOK_SECONDS = 0.01
"""How often is looked for the key that follows one that may be held."""

_MAX_UNDRAWN_SECONDS = 0.1
"""Seconds for which drawing may be put off in favour of carrying out keys."""

InputEvent = events.InputEvent | events.Paste


class InputOrder:
    """The keys and clicks that wait.

    ``deliver`` carries one out, ``draw`` lets the screen be drawn, ``parts`` returns the parts of the app. While
    ``is_working`` says that something long is under way, keys do not wait for its end: Escape stops it, and others are
    answered that it goes on.
    """

    def __init__(
        self,
        deliver: Callable[[InputEvent], Awaitable[None]],
        draw: Callable[[], None],
        parts: Callable[[], Iterable[MessagePump]],
        is_working: Callable[[], bool],
    ) -> None:
        self._deliver = deliver
        self._draw = draw
        self._parts = parts
        self._is_working = is_working
        self._waiting: deque[InputEvent] = deque()
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False
        self._dropped_until = 0.0
        self.is_carrying_out = False
        """Whether a key is being carried out, so that the screen is not to be drawn yet."""

    @property
    def is_closed(self) -> bool:
        """Whether the app is leaving."""
        return self._is_closed

    def put(self, event: InputEvent) -> None:
        """Carry out an event after those that wait."""
        if self._is_closed:
            return
        self._waiting.append(event)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    async def is_repeated(self, event: events.Event) -> bool:
        """Return whether the same key follows so soon that it is held; wait as long as that may be."""
        ends = event.time + _REPEAT_SECONDS
        while not (keys := [one for one in self._waiting if isinstance(one, events.Key)]) and monotonic() < ends:  # noqa: ASYNC110 - it ends by itself
            await asyncio.sleep(_LOOK_SECONDS)
        return bool(keys) and isinstance(event, events.Key) and keys[0].key == event.key and keys[0].time < ends

    def drop(self) -> None:
        """Drop the keys typed until now, which were meant for the dialog that was just answered."""
        self._dropped_until = monotonic()

    def close(self) -> None:
        """Drop waiting and further keys, because the app is leaving."""
        self._is_closed = True
        self._waiting.clear()

    async def _run(self) -> None:
        while self._waiting:
            event = self._waiting.popleft()
            if isinstance(event, events.MouseMove):  # these come in hundreds, and change nothing
                await self._deliver_if_open(event)
                continue
            await self._until_quiet(_MAX_WAIT_SECONDS)
            self.is_carrying_out = True
            try:
                await self._deliver_if_open(event)
                await self._until_quiet(_MAX_UNDRAWN_SECONDS)
            finally:
                self.is_carrying_out = False
            self._draw()

    async def _deliver_if_open(self, event: InputEvent) -> None:
        if event.time > self._dropped_until and not self._is_closed:
            await self._deliver(event)

    async def _until_quiet(self, most_seconds: float) -> None:
        ends, quiet = monotonic() + most_seconds, 0
        while quiet < _QUIET_ROUNDS and monotonic() < ends and not self._is_working():
            await asyncio.sleep(0)
            quiet = quiet + 1 if all(map(_is_quiet, list(self._parts()))) else 0


def _is_quiet(part: MessagePump) -> bool:
    """Return whether a part of the app is there to stay, and has no message to handle."""
    if part.message_queue_size:
        return False
    return not isinstance(part, Widget) or (part.is_mounted and not part._pruning)  # noqa: SLF001 - only this says it
