"""``memento web`` for the journeys: the server as a process, and a browser's window on it."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.cookies import SimpleCookie
from pathlib import Path
from time import monotonic
from typing import cast
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, sync_playwright

from tests.journeys.real_terminal import PATIENCE_SECONDS
from tests.tokens import token_environment

__all__ = ["Answer", "WebProcess", "Window", "serving", "window"]

_DEADLINE_SECONDS = 60
_UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}

_COPY = """
() => {
  const taken = new DataTransfer();
  const terminal = document.querySelector(".xterm");
  terminal.dispatchEvent(new ClipboardEvent("copy", { clipboardData: taken, bubbles: true }));
  return taken.getData("text/plain");
}
"""
"""What the terminal in the page would put on the clipboard: the text that is selected."""


@dataclass(frozen=True)
class Answer:
    """What the server said to one request."""

    status: int
    headers: Mapping[str, str]
    text: str


class WebProcess:
    """A server that runs."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        self.url: str = told["url"]
        self.port: int = told["port"]
        self.authority = f"127.0.0.1:{self.port}"
        self.origin = f"http://{self.authority}"

    def ask(self, path: str, **headers: str) -> Answer:
        """Make one request; underscores in the names of headers stand for hyphens."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_DEADLINE_SECONDS)
        try:
            given = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request("GET", path, headers=given)
            answer = connection.getresponse()
            return Answer(
                answer.status, dict(answer.getheaders()), "" if answer.status == 101 else answer.read().decode()
            )
        finally:
            connection.close()

    def ask_channel(self, path: str, **headers: str) -> Answer:
        """Ask for the channel to an app."""
        return self.ask(f"{path}channel", **_UPGRADE, **headers)

    def enter(self) -> tuple[str, str]:
        """Come in by the printed address; return the path of the app and the cookie."""
        answer = self.ask(urlsplit(self.url).path + "?" + urlsplit(self.url).query)
        assert answer.status == 200
        cookies = SimpleCookie(answer.headers["Set-Cookie"])
        ((name, morsel),) = cookies.items()
        assert (morsel["httponly"], morsel["samesite"]) == (True, "Strict")
        return cast("str", morsel["path"]), f"{name}={morsel.value}"

    def apps(self) -> list[int]:
        """Return the process ids of the apps that it started."""
        pid = self.process.pid
        try:
            return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        except FileNotFoundError:
            return []


@contextmanager
def serving(data_dir: Path) -> Iterator[WebProcess]:
    """Run the server, and end it with ctrl+c; it has to end by itself, and well."""
    command = [sys.executable, "-m", "memento_tui", "--data-dir", str(data_dir), "web", "--json"]
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)  # a token has to be kept somewhere
    # There is an editor, so that only the browser stands in its way.
    environment = {**os.environ, **token_environment(data_dir), "EDITOR": "true"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:  # noqa: S603 - this Python
        try:
            yield WebProcess(process)
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                assert process.wait(_DEADLINE_SECONDS) == 0
        finally:
            process.kill()


class Window:
    """One window of a browser, with the app in it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.asked: list[str] = []
        """Every address that the page asked for."""
        self.complaints: list[str] = []
        """What the browser complained about: errors, and what the page may not do."""
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda told: self.complaints.append(told.text) if told.type == "error" else None)

    def open(self, url: str) -> None:
        """Open an address, and wait until the app is there."""
        self.page.goto(url)
        self.wait()

    def wait(self) -> None:
        """Wait until the app draws and takes keys."""
        ready = "body.-first-byte:not(.-closed) .xterm-helper-textarea:focus"
        self.page.wait_for_selector(ready, state="attached")

    def press(self, keys: str) -> None:
        """Type keys."""
        self.page.keyboard.type(keys)

    def decide(self, key: str, holds: Callable[[], bool]) -> None:
        """Type a key that decides until something is true; one for a card that has only just come up is ignored."""
        ends = monotonic() + _DEADLINE_SECONDS
        while not holds():
            assert monotonic() < ends, f"{key!r} decides:\n{self.screen()}"
            self.press(key)
            patience = monotonic() + PATIENCE_SECONDS
            while not holds() and monotonic() < patience:
                self.page.wait_for_timeout(50)

    def until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait until something is true."""
        ends = monotonic() + _DEADLINE_SECONDS
        while not holds():
            assert monotonic() < ends, f"{what}:\n{self.screen()}"
            self.page.wait_for_timeout(50)

    def screen(self) -> str:
        """Return the text on the screen, as a person would select and copy it."""
        size = self.page.viewport_size
        assert size is not None
        self.page.keyboard.down("Shift")
        self.page.mouse.move(1, 1)
        self.page.mouse.down()
        self.page.mouse.move(size["width"] - 1, size["height"] - 1)
        self.page.mouse.up()
        self.page.keyboard.up("Shift")
        return str(self.page.evaluate(_COPY))

    def shows(self, text: str) -> None:
        """Wait until a text is on the screen."""
        self.until(lambda: text in self.screen(), f"{text!r} is shown")


@contextmanager
def window(width: int = 1200, height: int = 700) -> Iterator[Window]:
    """Open a window of headless Chromium, its size in pixels; the test is skipped where there is none."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("Chromium is not installed (apt-get install chromium)")
    with sync_playwright() as playwright:
        # As root, which continuous integration is, Chromium refuses to run in its sandbox.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=program, args=arguments, timeout=1000 * _DEADLINE_SECONDS)
        try:
            page = browser.new_page(viewport={"width": width, "height": height})
            page.set_default_timeout(1000 * _DEADLINE_SECONDS)
            yield Window(page)
        finally:
            browser.close()
