"""HTTP: requests a second at many connections, and what memory the server has before and after.

``python -m tests.benchmarks.http`` measures and writes its section of the results.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import aiohttp

from memento_tui.api import Workspace
from memento_tui.compat.http.keys import Caller
from tests.benchmarks.corpus import memories, words
from tests.benchmarks.table import Row, as_markdown, percentile, write_section
from tests.benchmarks.terminal import resident

__all__ = ["HEADING", "http_rows"]

HEADING = "HTTP"
"""The section of the results that this program writes."""

_CONNECTIONS, _REQUESTS, _TURNS = 200, 2_000, 3
_MOST_SECONDS = 120
_KEY = "a-key-of-the-benchmark-0123456789"
_BARE = """
import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
async def answer(request):
    return JSONResponse({"ok": True})
class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        print("http://127.0.0.1:%d" % self.servers[0].sockets[0].getsockname()[1], flush=True)
config = uvicorn.Config(Starlette(routes=[Route("/{any:path}", answer)]), port=0, log_level="error", http="h11")
Server(config).run()
"""
"""The smallest server of the same parts."""

_NOTE = f"""Made by `python -m tests.benchmarks.http`: `memento serve` over 2,000 memories without an
engine, and a client of its own process that keeps {_CONNECTIONS} connections busy, beside the smallest server of the
same parts, by turns; the best of {_TURNS} turns. Server and client share the machine.
"""


def http_rows(scratch: Path) -> list[Row]:
    """Measure what agents ask for most: one memory, a list, a search; and the server's memory over all of it."""
    data = scratch / "served"
    data.mkdir()
    (data / "config.toml").write_text("[engine]\nenabled = false\n[review]\nburst = 0\n")
    with Workspace(data) as workspace:
        served = Caller().namespace_of("default")
        workspace.remember_many([{**fields, "namespace": served} for fields in memories(2_000)])
        workspace.search_engine.keyword.catch_up()
        ids = [memory.id for memory in workspace.list(limit=200).items]
    vocabulary = words()
    asked: dict[str, Callable[[int], str]] = {
        "one memory": lambda number: f"/v1/memories/{ids[number % len(ids)]}",
        "ten memories of a list": lambda _: "/v1/memories?limit=10",
        "a search by words": lambda number: f"/v1/memories/recall?query={vocabulary[300 + number % 500]}&limit=5",
    }
    rows = []
    with _serving([sys.executable, "-m", "memento_tui", "--data-dir", str(data), "serve", "--port", "0"]) as ours:
        with _serving([sys.executable, "-c", _BARE]) as bare:
            _ask(ours, ["/v1/health"] * 1_000)  # every connection, thread and workspace is there
            before = resident(ours.process.pid)
            for what, path in asked.items():
                paths = [path(number) for number in range(_REQUESTS)]
                rates = [(_ask(ours, paths), _ask(bare, paths)) for _ in range(_TURNS)]
                rows.append(_row(what, rates))
        after = resident(ours.process.pid)
    what = f"memory of the server after {_REQUESTS * _TURNS * len(asked):,} requests / before"
    rows.append(Row(what, f"{after:.0f} MB", f"{before:.0f} MB", after / before, 1.1))
    return rows


class _Served:
    """A server that runs: its process and its address."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process = process
        self.url = url


@contextmanager
def _serving(command: Sequence[str]) -> Iterator[_Served]:
    """Run a server until the address that it prints is not needed any more."""
    environ = {**os.environ, "MEMENTO_API_KEY": _KEY}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environ)  # noqa: S603 - what is measured
    try:
        assert process.stdout is not None
        address = next(found[0] for line in process.stdout if (found := re.search(r"http://127\.0\.0\.1:\d+", line)))
        yield _Served(process, address)
    finally:
        process.terminate()
        process.wait(30)


def _ask(server: _Served, paths: Sequence[str]) -> _Asked:
    """Let a client of its own process send these requests."""
    client = [sys.executable, "-m", "tests.benchmarks.http", server.url]
    used = _used(server.process)
    told = subprocess.run(client, input="\n".join(paths), check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603
    seconds, worst = json.loads(told.stdout)
    return _Asked(len(paths) / seconds, worst, (_used(server.process) - used) / len(paths))


async def _send(url: str, paths: list[str]) -> None:
    """Send the requests over as many connections as may be; print the seconds of all, and the p95 of one."""
    taken: list[float] = []
    connector = aiohttp.TCPConnector(limit=_CONNECTIONS)
    timeout = aiohttp.ClientTimeout(total=_MOST_SECONDS)
    async with aiohttp.ClientSession(
        url, connector=connector, timeout=timeout, headers={"Authorization": f"Bearer {_KEY}"}
    ) as session:

        async def connection() -> None:
            while paths:
                begun = perf_counter()
                async with session.get(paths.pop()) as answer:
                    await answer.read()
                    if answer.status != 200:
                        raise RuntimeError(f"{answer.status}: {await answer.text()}")
                taken.append(perf_counter() - begun)

        begun = perf_counter()
        await asyncio.gather(*(connection() for _ in range(_CONNECTIONS)))
        print(json.dumps([perf_counter() - begun, percentile(taken, 0.95)]))


class _Asked(NamedTuple):
    """What some requests took."""

    rate: float
    """Requests a second."""
    worst: float
    """The p95 of one request, in seconds."""
    used: float
    """Processor seconds of the server for one."""


def _row(what: str, turns: Sequence[tuple[_Asked, _Asked]]) -> Row:
    ours, bare = [max(side, key=lambda asked: asked.rate) for side in zip(*turns, strict=True)]
    label = f"{what}: requests a second at {_CONNECTIONS} connections"
    return Row(label, _told(ours), _told(bare), ours.rate, 300, higher_is_better=True, unit="/s")


def _told(asked: _Asked) -> str:
    return f"{asked.rate:,.0f}/s (p95 {asked.worst * 1e3:.0f} ms, {asked.used * 1e3:.2f} ms of processor time)"


def _used(process: subprocess.Popen[str]) -> float:
    """Return the processor seconds that a process has used."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure, and write the section; with an address, be the client."""
    if sys.argv[1:]:
        asyncio.run(_send(sys.argv[1], sys.stdin.read().split()))
        return
    with tempfile.TemporaryDirectory(prefix="memento-bench-") as scratch:
        os.environ["XDG_STATE_HOME"] = scratch
        table = as_markdown(http_rows(Path(scratch)))
    print(table)
    write_section(Path(__file__).with_name("RESULTS.md"), HEADING, f"{_NOTE}\n{table}")


if __name__ == "__main__":
    main()
