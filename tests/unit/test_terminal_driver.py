"""The terminal's driver when signals come in the middle of a step of the app."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from memento_tui.tui.terminal import TerminalDriver


class Recorded(TerminalDriver):
    """A driver that has no terminal, and notes what it would do with one."""

    def __init__(self) -> None:
        self.did: list[str] = []
        self._loop = asyncio.get_running_loop()
        self._auto_restart = True
        self._must_signal_resume = False

    def suspend_application_mode(self) -> None:
        self.did.append("gives it back")

    def resume_application_mode(self) -> None:
        self.did.append("takes it")
        self._must_signal_resume = False


@pytest.fixture
async def driver(monkeypatch: pytest.MonkeyPatch) -> Recorded:
    made = Recorded()
    names = {signal.SIGSTOP: "stops"}
    monkeypatch.setattr(os, "kill", lambda _, number: made.did.append(names[number]))
    return made


async def test_a_stop_waits_for_the_step_that_it_comes_in_and_the_terminal_is_taken_again(driver: Recorded) -> None:
    driver._sigtstp_application()
    assert driver.did == [], "what is being drawn may hold the lock that giving back the terminal needs"
    await asyncio.sleep(0)
    assert driver.did == ["gives it back", "stops"]
    driver._sigcont_application()
    await asyncio.sleep(0)
    assert driver.did[2:] == ["takes it"]


async def test_a_second_stop_before_the_app_went_on_gives_nothing_back_twice(driver: Recorded) -> None:
    driver._sigtstp_application()
    driver._sigtstp_application()
    await asyncio.sleep(0)
    assert driver.did == ["gives it back", "stops", "stops"]


async def test_after_a_stop_that_nobody_announced_the_terminal_is_given_back_before_it_is_taken(
    driver: Recorded,
) -> None:
    driver._sigcont_application()
    assert driver.did == []
    await asyncio.sleep(0)
    assert driver.did == ["gives it back", "takes it"]


async def test_while_another_program_has_the_terminal_a_stop_is_at_once_and_going_on_takes_nothing(
    driver: Recorded,
) -> None:
    driver._auto_restart = False
    driver._sigtstp_application()
    assert driver.did == ["stops"]
    driver._sigcont_application()
    await asyncio.sleep(0)
    assert driver.did == ["stops"]
