"""Many real connections that append at once: ``python -m tests.benchmarks.hub_connections`` writes its section.

Each has a thread of its own in this process and a process of its own in PostgreSQL, as a machine's has. What is
appended is signed before the clock runs.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import psycopg

from memento_tui.api import Workspace
from memento_tui.api.hub_session import HubMembership
from memento_tui.hub.entries import SigningKey
from memento_tui.hub.membership import MachineHub
from memento_tui.hub.server import HubServer
from tests.benchmarks.hub_entries import SITE, entry_of
from tests.benchmarks.table import percentile, write_section
from tests.postgres import running_postgres

HEADING = "The hub with many connections"
CONNECTIONS = ((10, 100), (100, 10), (200, 5), (400, 5))
"""How many connections, and how many entries each appends one after the other."""


class Outcome(NamedTuple):
    """What so many connections did together."""

    connections: int
    appended: int
    moved: int
    """By how much the head moved: as many as were appended, or something was lost or given twice."""
    rate: float
    """Entries a second."""
    p50: float
    p99: float
    """Seconds that one append took, most of them waiting for those before it."""
    load: float


def append_at_once(url: str, membership: HubMembership, key: SigningKey, connections: int, each: int) -> Outcome:
    """Let every connection append its entries as fast as it can. Raises what the hub raises."""
    made = [
        [entry_of(f"Fact {c} {n}.", membership.workspace, membership.member, key) for n in range(each)]
        for c in range(connections)
    ]
    servers = [HubServer(url) for _ in made]
    begin = threading.Barrier(connections + 1)
    waits: list[float] = []
    failures: list[BaseException] = []

    def append(server: HubServer, entries: list[dict[str, Any]]) -> None:
        begin.wait()
        try:
            for entry in entries:
                begun = perf_counter()
                server.append(membership.workspace, membership.member, [entry])
                waits.append(perf_counter() - begun)
        except Exception as error:  # noqa: BLE001 - raised again below
            failures.append(error)

    threads = [threading.Thread(target=append, args=pair) for pair in zip(servers, made, strict=True)]
    head = servers[0].head(membership.workspace)[0]
    for thread in threads:
        thread.start()
    begin.wait()
    begun = perf_counter()
    for thread in threads:
        thread.join()
    taken = perf_counter() - begun
    if failures:
        raise failures[0]
    moved = servers[0].head(membership.workspace)[0] - head
    for server in servers:
        server.close()
    rate = len(waits) / taken
    p50, p99 = percentile(waits, 0.5), percentile(waits, 0.99)
    return Outcome(connections, len(waits), moved, rate, p50, p99, os.getloadavg()[0])


def _as_table(outcomes: list[Outcome]) -> str:
    rows = [
        f"| {one.connections} | {one.appended:,} | {one.moved:,} | {one.rate:,.0f}/s | {one.p50 * 1000:,.0f} ms"
        f" | {one.p99 * 1000:,.0f} ms | {one.load:.0f} |"
        for one in outcomes
    ]
    head = "| connections | appended | the head moved by | together | an append, p50 | p99 | load |"
    return "\n".join([head, "|---|---|---|---|---|---|---|", *rows])


def main() -> None:
    """Measure, print the table, and write it unless it is a quick run."""
    settings = {"max_connections": str(CONNECTIONS[-1][0] + 20)}
    with tempfile.TemporaryDirectory() as folder, running_postgres(settings=settings) as postgres:
        with psycopg.connect(postgres.address(), autocommit=True) as connection:
            connection.execute(b"CREATE DATABASE connections")
        url = postgres.address(database="connections")
        with Workspace(Path(folder) / "owner") as workspace:
            membership = MachineHub(workspace).begin(url, workspace="home", name="first", namespaces=(SITE,))
            key = SigningKey.read(workspace.paths.hub_key)
        outcomes = [append_at_once(url, membership, key, *one) for one in CONNECTIONS]
    table = _as_table(outcomes)
    print(table)
    if "--quick" not in sys.argv:
        note = (
            "`python -m tests.benchmarks.hub_connections`; one entry a transaction in one workspace, whose transactions"
            " follow one another, on a PostgreSQL with `fsync` on the same machine. The load is that of the machine."
        )
        write_section(Path(__file__).with_name("RESULTS.md"), HEADING, f"{note}\n\n{table}")


if __name__ == "__main__":
    main()
