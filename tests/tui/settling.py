"""Waiting in tests of the app: until all that a key led to has been done, and no longer.

Textual's pilot waits until the process uses little of the processor. On an idle machine that is 60 milliseconds for
each key, and on a busy one it is too early, because a process that gets no processor uses none.
"""

from __future__ import annotations

import asyncio
from asyncio.base_events import BaseEventLoop
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any
from weakref import WeakSet

import pytest
from textual.app import App
from textual.pilot import Pilot

__all__ = ["settle", "settle_at_once"]

_MOST_SECONDS = 1.0
"""A thread that a test holds back is waited for so long, once."""

_POLL_SECONDS = 0.005

_ROUNDS = 3
"""Drawing may call back what was to wait for it, which may change what is drawn."""

_on_threads: set[asyncio.Future[Any]] = set()
_held_back: WeakSet[asyncio.Future[Any]] = WeakSet()
_run_in_executor = BaseEventLoop.run_in_executor


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


async def _all_tasks_wait() -> None:
    """Return once every other task of the loop waits for something."""
    loop = asyncio.get_running_loop()
    await asyncio.sleep(0)
    while loop._ready:  # type: ignore[attr-defined] # noqa: ASYNC110 - only the loop itself knows
        await asyncio.sleep(0)


async def settle(app: App[Any]) -> None:
    """Wait until no message is left, what has changed is drawn, and no thread is at work."""
    while True:
        # A new size waits for a sixtieth of a second whether another one comes.
        while app._resize_event is not None:  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(_POLL_SECONDS)
        for _ in range(_ROUNDS):
            await _all_tasks_wait()
            if app._screen_stack:
                app.screen._on_timer_update()
        await _all_tasks_wait()
        working = [future for future in _on_threads if future not in _held_back]
        if not working:
            return
        done, waiting = await asyncio.wait(working, timeout=_MOST_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if not done:
            _held_back.update(waiting)


def settle_at_once(patch: pytest.MonkeyPatch) -> None:
    """Let Textual's pilot wait by `settle`."""

    async def press(pilot: Pilot[Any], *keys: str) -> None:
        for key in keys:
            await pilot.app._press_keys([key])
            await settle(pilot.app)

    async def pause(pilot: Pilot[Any], delay: float | None = None) -> None:
        if delay is not None:
            await asyncio.sleep(delay)
        await settle(pilot.app)

    async def do_not_wait(*_seconds: float) -> None:
        await _all_tasks_wait()

    _on_threads.clear()  # those of a loop that has ended
    patch.setattr(BaseEventLoop, "run_in_executor", _run_and_count)
    patch.setattr(Pilot, "press", press)
    patch.setattr(Pilot, "pause", pause)
    for module in ("app", "pilot"):
        patch.setattr(f"textual.{module}.wait_for_idle", do_not_wait)
