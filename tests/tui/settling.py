"""Waiting in tests of the app: until all that a key led to has been done, and no longer.

Textual's pilot waits until the process uses little of the processor. On an idle machine that is 60 milliseconds for
each key, and on a busy one it is too early, because a process that gets no processor uses none.

Nobody looks at the frames between two keys, which are a third of the time of a test. Drawn are each other screen as it
comes up, the last one of a test, and pictures; every frame is drawn where a test asks for it by `draws_every_frame`, by
`make fuzz-keys` and by the journeys in a terminal.
"""

from __future__ import annotations

import asyncio
import threading
from asyncio.base_events import BaseEventLoop
from collections.abc import Callable
from concurrent.futures import Executor
from itertools import zip_longest
from time import monotonic
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from rich.console import RenderableType
from textual._compositor import Compositor
from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input, TextArea

__all__ = ["draw", "draw_every_frame", "hold_back", "settle", "settle_at_once"]

_DEADLINE_SECONDS = 60

_POLL_SECONDS = 0.005

_ROUNDS = 3
"""Drawing may call back what was to wait for it, which may change what is drawn."""

_on_threads: set[asyncio.Future[Any]] = set()
_holding: list[threading.Event] = []
"""What the threads that tests hold back wait for."""
_run_in_executor = BaseEventLoop.run_in_executor
_render_update = Compositor.render_update
_drawn: WeakKeyDictionary[App[Any], Screen[Any]] = WeakKeyDictionary()
"""The screen that each app showed last."""


def _run_and_count(
    loop: BaseEventLoop,
    executor: Executor | None,
    work: Callable[..., Any],
    *args: Any,  # noqa: ANN401 - as asyncio's own
) -> asyncio.Future[Any]:
    future: asyncio.Future[Any] = _run_in_executor(loop, executor, work, *args)
    _on_threads.add(future)
    future.add_done_callback(_on_threads.discard)
    return future


def hold_back(until: threading.Event) -> None:
    """Wait in a thread of the app until a test lets it go on; `settle` waits for no such thread."""
    _holding.append(until)
    try:
        assert until.wait(_DEADLINE_SECONDS)
    finally:
        _holding.remove(until)


async def _all_tasks_wait() -> None:
    """Return once every other task of the loop waits for something."""
    loop = asyncio.get_running_loop()
    await asyncio.sleep(0)
    while loop._ready:  # type: ignore[attr-defined] # noqa: ASYNC110 - only the loop itself knows
        await asyncio.sleep(0)


def _draw_pictures(
    compositor: Compositor,
    full: bool = False,  # noqa: FBT001, FBT002 - as Textual's own
    screen_stack: list[Screen[Any]] | None = None,
    simplify: bool = False,  # noqa: FBT001, FBT002
) -> RenderableType | None:
    if full:
        return _render_update(compositor, full=True, screen_stack=screen_stack, simplify=simplify)
    compositor._dirty_regions.clear()
    return None


def draw_every_frame(patch: pytest.MonkeyPatch) -> None:
    """Let the app draw whatever has changed, as in a terminal."""
    patch.setattr(Compositor, "render_update", _render_update)


def draw(app: App[Any]) -> None:
    """Draw the whole screen, as a terminal would be told to; what cannot be drawn is raised."""
    if app._screen_stack:
        _render_update(app.screen._compositor, full=True, screen_stack=app._background_screens)


def _draw_other_screen(app: App[Any]) -> None:
    if app._screen_stack:
        known = _drawn.get(app)
        _drawn[app] = app.screen
        if known not in (None, app.screen):
            draw(app)


async def settle(app: App[Any]) -> None:
    """Wait until no message is left, all is laid out, and no thread is at work but those held back."""
    ends = monotonic() + _DEADLINE_SECONDS
    while monotonic() < ends:
        # A new size waits for a sixtieth of a second whether another one comes.
        while app._resize_event is not None:  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(_POLL_SECONDS)
        for _ in range(_ROUNDS):
            await _all_tasks_wait()
            if app._screen_stack:
                app.screen._on_timer_update()
        await _all_tasks_wait()
        if len(_on_threads) <= sum(not event.is_set() for event in _holding):
            _draw_other_screen(app)
            return
        await asyncio.wait(_on_threads, timeout=_POLL_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    raise TimeoutError("a thread of the app is at work and does not end")


def settle_at_once(patch: pytest.MonkeyPatch) -> None:
    """Let Textual's pilot wait by `settle`, and draw no frame that nobody looks at."""

    async def press(pilot: Pilot[Any], *keys: str) -> None:
        for key, following in zip_longest(keys, keys[1:], fillvalue=""):
            is_word = len(key) == len(following) == 1 and isinstance(pilot.app.focused, (Input, TextArea))
            await pilot.app._press_keys([key])
            if not is_word:  # a text is typed as people do, who wait for no letter
                await settle(pilot.app)

    async def pause(pilot: Pilot[Any], delay: float | None = None) -> None:
        if delay is not None:
            await asyncio.sleep(delay)
        await settle(pilot.app)

    async def wait_for_screen(pilot: Pilot[Any], timeout: float = 0) -> bool:  # noqa: ARG001, ASYNC109 - Textual's
        # Textual's counts messages of widgets, some of which may be gone by then, and gives up after half a minute.
        await settle(pilot.app)
        return pilot.app._exception is None

    async def do_not_wait(*_seconds: float) -> None:
        await _all_tasks_wait()

    _on_threads.clear()  # those of a loop that has ended
    patch.setattr(BaseEventLoop, "run_in_executor", _run_and_count)
    patch.setattr(Compositor, "render_update", _draw_pictures)
    patch.setattr(Pilot, "press", press)
    patch.setattr(Pilot, "pause", pause)
    patch.setattr(Pilot, "_wait_for_screen", wait_for_screen)
    for module in ("app", "pilot"):
        patch.setattr(f"textual.{module}.wait_for_idle", do_not_wait)
