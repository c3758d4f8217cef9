"""One writer: a process that goes on writing to a data directory until it is ended, whatever happens meanwhile."""

from __future__ import annotations

import contextlib
import itertools
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import memento_tui
from memento_tui.api.maintenance import maintain_workspace
from memento_tui.errors import MementoError
from memento_tui.formats.import_export import run_import
from tests.torture.programs import keep_mirror, search_by_meaning, use_app, write_by_http
from tests.torture.writer import ENDED_BY_OTHERS, Writer

__all__ = ["WRITERS"]

_NOTES_OF_IMPORT = 120
"""Notes that are imported at once: enough for a backup to be made first."""


def _write_by_python(writer: Writer) -> None:
    """Remember, change and delete through the library."""
    with memento_tui.open(writer.data) as workspace:
        mine: list[str] = []
        for number in itertools.count():
            text = writer.text(number)
            kind = writer.random.random()
            try:
                if kind < 0.6 or not mine:
                    memory = workspace.remember(text)
                    mine.append(memory.id)
                elif kind < 0.9:
                    memory = workspace.update(writer.random.choice(mine), content=text).memory
                else:
                    workspace.forget(mine.pop(writer.random.randrange(len(mine))))
                    continue
            except MementoError:
                continue  # a full disk, say; what was not acknowledged counts for nothing
            writer.acknowledged.add(memory.id, memory.version, text)
            writer.pause()


def _write_by_command(writer: Writer) -> None:
    """Add memories by the command line, a process for each."""
    for number in itertools.count():
        text = writer.text(number)
        command = [sys.executable, "-m", "memento_tui", "--data-dir", str(writer.data), "add", text, "--json"]
        done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - memento itself
        if done.returncode == 0:
            memory = json.loads(done.stdout)
            writer.acknowledged.add(memory["id"], memory["version"], text)
        elif b"Traceback" in done.stderr:
            sys.exit(done.stderr.decode(errors="replace"))


class _Server:
    """A `memento mcp` that is spoken to line by line."""

    def __init__(self, data: Path) -> None:
        command = [sys.executable, "-m", "memento_tui", "--data-dir", str(data), "mcp"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 - memento itself
        self._numbers = itertools.count(1)
        client = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "torture", "version": "1"},
        }
        self.ask("initialize", client)
        self._send({"method": "notifications/initialized"})

    def ask(self, method: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request; return its result, and an empty one for an error."""
        number = next(self._numbers)
        self._send({"id": number, "method": method, "params": parameters})
        while True:
            line = self._process.stdout.readline()  # type: ignore[union-attr]
            if not line:
                sys.exit(ENDED_BY_OTHERS)
            answer = json.loads(line)
            if answer.get("id") == number:
                found: dict[str, Any] = answer.get("result", {})
                return found

    def _send(self, message: Mapping[str, Any]) -> None:
        stream = self._process.stdin
        try:
            stream.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")  # type: ignore[union-attr]
            stream.flush()  # type: ignore[union-attr]
        except BrokenPipeError:
            sys.exit(ENDED_BY_OTHERS)


def _write_by_mcp(writer: Writer) -> None:
    """Remember through the tools of an agent."""
    server = _Server(writer.data)
    for number in itertools.count():
        text = writer.text(number)
        result = server.ask("tools/call", {"name": "remember", "arguments": {"content": text}})
        stored = result.get("structuredContent") or {}
        if not result.get("isError") and stored.get("id"):
            writer.acknowledged.add(stored["id"], 1, text)
        writer.pause()


def _call_hooks(writer: Writer) -> None:
    """Begin sessions and prompt, as a host does."""
    for number in itertools.count():
        event = writer.random.choice(("SessionStart", "UserPromptSubmit"))
        said = {
            "hook_event_name": event,
            "session_id": f"s{number % 9}",
            "prompt": writer.text(number),
            "source": "startup",
        }
        command = [sys.executable, "-m", "memento_tui.hooks.main", event, "--data-dir", str(writer.data)]
        done = subprocess.run(command, input=json.dumps(said).encode(), capture_output=True, check=False)  # noqa: S603
        if done.returncode not in (0, -signal.SIGKILL):
            sys.exit(f"a hook ended with {done.returncode}: {done.stderr.decode(errors='replace')}")


def _import_notes(writer: Writer) -> None:
    """Import folders of notes, each once."""
    with memento_tui.open(writer.data) as workspace:
        for number in itertools.count():
            folder = writer.notes / f"{writer.name}-{number}"
            folder.mkdir(exist_ok=True)
            texts = [writer.text(number * 1000 + place) for place in range(_NOTES_OF_IMPORT)]
            for place, text in enumerate(texts):
                (folder / f"note {place}.md").write_text(text + "\n")
            try:
                report = run_import(workspace, "vault", folder)
            except MementoError:
                continue
            if report.imported == len(texts) and not report.refused:
                for text in texts:
                    writer.acknowledged.add("", 1, text)
            time.sleep(2)


def _maintain(writer: Writer) -> None:
    """Search, maintain and back up in turn."""
    with memento_tui.open(writer.data) as workspace:
        works: tuple[Callable[[], object], ...] = (
            lambda: workspace.search("otter", mode="keyword"),
            lambda: maintain_workspace(workspace),
            lambda: workspace.backups.make(keep=2),
        )
        for work in itertools.cycle(works):
            with contextlib.suppress(MementoError):  # another is at it, or the disk is full
                work()
            time.sleep(0.3)


WRITERS: dict[str, Callable[[Writer], None]] = {
    "python": _write_by_python,
    "command": _write_by_command,
    "mcp": _write_by_mcp,
    "hooks": _call_hooks,
    "import": _import_notes,
    "maintenance": _maintain,
    "http": write_by_http,
    "mirror": keep_mirror,
    "app": use_app,
    "engine": search_by_meaning,
}

if __name__ == "__main__":
    kind, data, notes, name, seed = sys.argv[1:]
    WRITERS[kind](Writer(Path(data), Path(notes), name, int(seed)))
