"""The hub with 10, 100 and 1,000 members: ``python -m tests.benchmarks.hub_members`` writes its section of the results.

The members are simulated in this process: each looks at the head and reads what it lacks, as a machine does, over at
most a hundred connections. What counts is the processor time of PostgreSQL's processes, which other work on the machine
changes little. Three constants are fitted to it, and with them two larger hubs are computed.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import psycopg

from memento_tui.api import Workspace
from memento_tui.hub.entries import SigningKey
from memento_tui.hub.membership import MachineHub
from memento_tui.hub.server import HubServer
from tests.benchmarks.corpus import memories
from tests.benchmarks.hub_entries import SITE, entry_of
from tests.benchmarks.table import write_section
from tests.postgres import PostgresServer, running_postgres

HEADING = "The hub with many members"
MEMBERS = (10, 100, 1_000)
_CONNECTIONS = 100
_POLL_SECONDS = 2.0
"""Seconds between two looks of one machine at the head, as in `memento_tui.hub.sync`."""


class Cost(NamedTuple):
    """What was done, and the processor seconds that PostgreSQL took for it."""

    members: int
    appends: int
    looks: int
    reads: int
    """Queries for entries, each with the one that is new."""
    append_seconds: float
    look_seconds: float
    read_seconds: float
    round_seconds: float
    """The longest that it took from an append until every member had it, on this machine as it was."""


def _processor_seconds(postgres: PostgresServer) -> float:
    """Return the processor time of the server's processes so far, those of connections that are open among them."""
    found = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            if postgres.process_id in (parent, int(stat.parent.name)):
                found += int(stat.with_name("schedstat").read_text().split()[0])
        except OSError:  # it has ended
            continue
    return found / 1e9


class _Simulation:
    """One workspace of a hub, one member that appends, and many that read."""

    def __init__(self, postgres: PostgresServer, scratch: Path) -> None:
        self._postgres = postgres
        with psycopg.connect(postgres.address(), autocommit=True) as connection:
            connection.execute(b"CREATE DATABASE members")
        url = postgres.address(database="members")
        with Workspace(scratch / "owner") as workspace:
            made = MachineHub(workspace).begin(url, workspace="home", name="first", namespaces=(SITE,))
            self._key = SigningKey.read(workspace.paths.hub_key)
        self._workspace, self._member = made.workspace, made.member
        self.connections = [HubServer(url) for _ in range(_CONNECTIONS)]
        self.texts = [str(fields["content"]) for fields in memories(1_000)]
        self._written = 0

    def close(self) -> None:
        for one in self.connections:
            one.close()

    def append(self, count: int) -> None:
        """Append so many entries in one transaction."""
        entries = []
        for _ in range(count):
            self._written += 1
            text = self.texts[self._written % len(self.texts)]
            entries.append(entry_of(f"{text} {self._written}", self._workspace, self._member, self._key))
        self.connections[0].append(self._workspace, self._member, entries)

    def look(self, member: int) -> int:
        return self.connections[member % _CONNECTIONS].head(self._workspace)[0]

    def read(self, member: int, after: int) -> int:
        return len(self.connections[member % _CONNECTIONS].entries_after(self._workspace, after, 200))

    def run(self, members: int, appends: int) -> Cost:
        """Append entries one after the other, and let every member read each."""
        longest = 0.0
        marks = [_processor_seconds(self._postgres)]
        begun = perf_counter()
        head = self.look(0)
        for _ in range(appends):
            self.append(1)
        marks.append(_processor_seconds(self._postgres))
        per_append = (perf_counter() - begun) / appends
        for _ in range(appends):
            for member in range(members):
                self.look(member)
        marks.append(_processor_seconds(self._postgres))
        for number in range(appends):
            begun = perf_counter()
            for member in range(members):
                if self.connections[member % _CONNECTIONS].entries_after(self._workspace, head + number, 1) == []:
                    raise RuntimeError("a member did not find what was appended")
            longest = max(longest, perf_counter() - begun + per_append)
        marks.append(_processor_seconds(self._postgres))
        appended, looked, read = (after - before for before, after in pairwise(marks))
        return Cost(members, appends, members * appends, members * appends, appended, looked, read, longest)

    def catch_up_seconds(self, entries: int) -> float:
        """Return the processor seconds for each entry where a new member reads so many, 200 at a time."""
        head = self.look(0)
        for start in range(0, entries, 200):
            self.append(min(200, entries - start))
        before = _processor_seconds(self._postgres)
        found, after = 0, head
        while page := self.read(0, after):
            found, after = found + page, after + page
        return (_processor_seconds(self._postgres) - before) / found

    def bytes_an_entry(self) -> float:
        """Return the bytes of the hub's tables and indexes for each entry of one memory."""
        with psycopg.connect(self._postgres.address(database="members")) as connection:
            query = (
                "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class AS c JOIN pg_namespace AS n"
                " ON n.oid = c.relnamespace WHERE n.nspname = 'memento' AND c.relkind = 'r'"
            )
            size = connection.execute(query).fetchone()
        return float(size[0]) / self._written if size else 0.0


def _as_table(costs: Sequence[Cost]) -> str:
    head = "| members | appends | ms an append | ms a look at the head | ms a read of one entry | until all had it |"
    rows = [
        f"| {one.members:,} | {one.appends} | {1000 * one.append_seconds / one.appends:.2f}"
        f" | {1000 * one.look_seconds / one.looks:.3f} | {1000 * one.read_seconds / one.reads:.3f}"
        f" | {one.round_seconds:.2f} s |"
        for one in costs
    ]
    return "\n".join([head, "|---|---|---|---|---|---|", *rows])


def _cores(members: int, workspaces: int, writes: float, costs: tuple[float, float, float]) -> float:
    """Return how many processors PostgreSQL keeps busy where so many machines write so much a second in all."""
    append, look, read = costs
    others = members / workspaces - 1
    # A round of one that reads asks whether the hub moved and how it stands, then for the entry and its changes; the
    # one that writes asks how it stands twice, and reads its own entry back.
    return writes * (append + 2 * look + read) + members / _POLL_SECONDS * look + writes * others * (2 * look + read)


def _on_paper(costs: tuple[float, float, float], catch_up: float, size: float) -> str:
    writes = 10_000 * 20 / 3600
    lines = [
        "| 10,000 agents on 1,000 machines, 20 writes an hour each | processors busy |",
        "|---|---|",
        *(
            f"| {workspaces:,} workspace{'s' if workspaces > 1 else ''} of {1_000 // workspaces:,} machines"
            f" | {_cores(1_000, workspaces, writes, costs):.1f} |"
            for workspaces in (1, 10, 100)
        ),
    ]
    large = (
        f"100 million memories of one entry each take {100e6 * size / 1e9:,.0f} GB at the hub ({size:,.0f} bytes an"
        f" entry with its indexes). A machine that joins a workspace of 1 million costs the hub"
        f" {1e6 * catch_up:.0f} s of one processor, and itself about a millisecond a memory (see catch-up above). One"
        " workspace takes as many transactions a second as its disk syncs one after the other, with 200 entries each at"
        " most; what saturates first is reading, because each of n machines of a workspace reads what each other wrote:"
        " keep workspaces small, and give busy ones a database each."
    )
    return "\n".join([*lines, "", large])


def main() -> None:
    """Measure, print the tables, and write them unless it is a quick run."""
    quick = "--quick" in sys.argv
    load = os.getloadavg()[0]
    settings = {"max_connections": str(_CONNECTIONS + 20)}
    with tempfile.TemporaryDirectory() as folder, running_postgres(settings=settings) as postgres:
        simulation = _Simulation(postgres, Path(folder))
        try:
            simulation.run(_CONNECTIONS, 1)  # each connection has its plans and its caches afterwards
            costs = [simulation.run(members, max(1, (200 if quick else 2_000) // members)) for members in MEMBERS]
            catch_up = simulation.catch_up_seconds(400 if quick else 4_000)
            size = simulation.bytes_an_entry()
        finally:
            simulation.close()
    append = sum(one.append_seconds for one in costs) / sum(one.appends for one in costs)
    look = sum(one.look_seconds for one in costs) / sum(one.looks for one in costs)
    read = sum(one.read_seconds for one in costs) / sum(one.reads for one in costs)
    fitted = (
        f"Fitted: {1000 * append:.2f} ms an append, {1000 * look:.3f} ms a look, {1000 * read:.3f} ms a read of one"
        f" entry, {1000 * catch_up:.3f} ms an entry in reads of 200."
    )
    text = f"{_as_table(costs)}\n\n{fitted}\n\n{_on_paper((append, look, read), catch_up, size)}"
    print(text)
    if not quick:
        note = (
            f"`python -m tests.benchmarks.hub_members`; processor time of PostgreSQL at a load of {load:.0f}, members"
            f" simulated over {_CONNECTIONS} connections. The last column is the longest wall time beside that load."
        )
        write_section(Path(__file__).with_name("RESULTS.md"), HEADING, f"{note}\n\n{text}")


if __name__ == "__main__":
    main()
