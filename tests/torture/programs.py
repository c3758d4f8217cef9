"""Writers that are whole programs beside a process of their own: a server of HTTP, the app, a mirror, the engine."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import signal
import subprocess
import sys
import time

import memento_tui
from memento_tui.errors import MementoError
from memento_tui.mirror.mirror import Mirror
from tests.fuzz.fuzzed_app import FuzzedApp
from tests.journeys.http_server import Client
from tests.torture.writer import ENDED_BY_OTHERS, Writer

__all__ = ["keep_mirror", "search_by_meaning", "use_app", "write_by_http"]

_SECTIONS = "1234567890"
_MOVES = ("j", "k", "G", "g", "\r", "\x1b", "\t", "?", "\x1b", "/otter\r", "\x1b")
"""Keys that decide nothing, and a search."""

_BETWEEN_KEYS_SECONDS = 0.2
_BETWEEN_STEPS_SECONDS = 0.3


def write_by_http(writer: Writer) -> None:
    """Store memories by the REST of a `memento serve`, as an account that it made."""
    # A server goes on when whoever started it has ended; this one does not.
    command = ["setpriv", "--pdeathsig", "KILL", sys.executable, "-m", "memento_tui", "--data-dir", str(writer.data)]
    command += ["serve", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:  # noqa: S603 - memento itself
        line = server.stdout.readline()  # type: ignore[union-attr]
        told = json.loads(line or b"{}")
        if "port" not in told:  # it was killed, or says that the disk is full
            sys.exit(ENDED_BY_OTHERS)
        client = Client(told["port"], told["key"])
        for number in itertools.count():
            text = writer.text(number)
            try:
                answer = client.post("/v1/memories", content=text)
            except (OSError, http.client.HTTPException):
                sys.exit(ENDED_BY_OTHERS)
            if answer.status == http.HTTPStatus.CREATED:
                writer.acknowledged.add(answer.data["id"], 1, text)
            writer.pause()


def keep_mirror(writer: Writer) -> None:
    """Write notes into a mirrored folder, and take them in."""
    folder = writer.notes / f"{writer.name}-folder"
    folder.mkdir()
    texts: dict[str, str] = {}
    with memento_tui.open(writer.data) as workspace, Mirror(workspace, folder, quiet_seconds=0) as mirror:
        for number in itertools.count():
            name = f"note {number % 50}.md"
            texts[name] = writer.text(number)
            (folder / name).write_text(texts[name] + "\n")
            with contextlib.suppress(MementoError):  # a full disk, say: the next step goes on
                for event in mirror.step():
                    memory = workspace.find(event.memory) if event.action in ("taken", "changed") else None
                    # What others changed since is theirs to acknowledge.
                    if memory is not None and memory.content.strip() == texts.get(event.note):
                        writer.acknowledged.add(memory.id, memory.version, memory.content)
            time.sleep(_BETWEEN_STEPS_SECONDS)


def use_app(writer: Writer) -> None:
    """Walk through the app in a terminal, search in it and add memories; it has to live through everything."""
    home = writer.notes / f"{writer.name}-home"
    home.mkdir()
    for number in itertools.count():
        app = FuzzedApp(writer.data, home)
        app.watch(1.0)
        for turn in itertools.count():
            keys = writer.random.choice((writer.random.choice(_SECTIONS), *_MOVES))
            if turn % 20 == 0:
                keys = f"\x1b\x1b2n{writer.text(number)}\x13"
            if not (app.write(keys) and app.watch(writer.random.random() * _BETWEEN_KEYS_SECONDS)):
                break
        if app.status not in (0, -signal.SIGKILL):
            sys.exit(f"the app ended with {app.status}: {app.last_words[-3000:]}")


def search_by_meaning(writer: Writer) -> None:
    """Ask the engine, which that starts, and which embeds what all others write."""
    with memento_tui.open(writer.data) as workspace:
        for number in itertools.count():
            with contextlib.suppress(MementoError):  # it is starting, or was just killed
                workspace.search(writer.text(number), limit=5)
            time.sleep(_BETWEEN_STEPS_SECONDS)
