"""The hub on a real PostgreSQL: ``python -m tests.benchmarks.hub [--quick]`` writes the section of the results."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time, sleep

import psycopg

from memento_tui.api import Workspace
from memento_tui.formats.import_export import run_import
from memento_tui.hub.entries import SentChange, SigningKey, as_sent
from memento_tui.hub.membership import MachineHub
from memento_tui.hub.server import HubServer
from memento_tui.hub.sync import HubLink
from memento_tui.storage.tables import record_image
from tests.benchmarks.corpus import memories
from tests.benchmarks.table import Row, as_markdown, percentile, write_section
from tests.postgres import PostgresServer, running_postgres

HEADING = "One memory on many machines"
SITE = "projects/site"
_APPENDS = 600
_WRITES = 200
_SINGLE_ENTRIES = 2_000


def _machine(folder: Path, url: str, *, begins: bool = False, namespaces: tuple[str, ...] = (SITE,)) -> Workspace:
    workspace = Workspace(folder)
    hub = MachineHub(workspace)
    if begins:
        hub.begin(url, workspace="home", name=folder.name, namespaces=namespaces)
    else:
        hub.join(url, workspace="", name=folder.name, namespaces=namespaces)
    return workspace


def _new_database(postgres: PostgresServer, name: str) -> str:
    with psycopg.connect(postgres.address(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return postgres.address(database=name)


def appends(postgres: PostgresServer, scratch: Path, *, batch: int, count: int) -> Row:
    """Compare entries that are appended, ``batch`` in a transaction, with bare inserts of the same texts, by turns."""
    url = _new_database(postgres, f"appends{batch}")
    taken = {"ours": 0.0, "bare": 0.0}
    with _machine(scratch / f"appends{batch}", url, begins=True) as workspace:
        membership = MachineHub(workspace).membership
        if membership is None:
            raise RuntimeError("the machine is in no hub")
        key = SigningKey.read(workspace.paths.hub_key)
        texts = [str(fields["content"]) for fields in memories(count)]
        made = [workspace.remember(f"{text} {number}", namespace="private") for number, text in enumerate(texts)]
        facts = dict.fromkeys(("origin", "agent", "session", "note"), "") | {
            "at": "2026-01-01T00:00:00Z",
            "actor": "person",
            "channel": "cli",
            "action": "remember",
        }
        with HubServer(url) as server, psycopg.connect(url, autocommit=True) as bare:
            bare.execute("CREATE TABLE bare (id text PRIMARY KEY, image text NOT NULL)")
            for start in range(0, count, batch):
                part = made[start : start + batch]
                images = [record_image(one) for one in part]
                begun = perf_counter()
                changes = [SentChange("memory", m.id, 0, m, image) for m, image in zip(part, images, strict=True)]
                entries = [
                    as_sent(membership.workspace, membership.member, key, {**facts, "id": one.record_id}, [one])
                    for one in changes
                ]
                server.append(membership.workspace, membership.member, entries)
                middle = perf_counter()
                with bare.transaction(), bare.cursor() as cursor:
                    for one, image in zip(part, images, strict=True):
                        cursor.execute("INSERT INTO bare VALUES (%s, %s)", (one.id, image))
                taken["ours"] += middle - begun
                taken["bare"] += perf_counter() - middle
    rates = {side: count / seconds for side, seconds in taken.items()}
    what = f"entries appended per second, {batch} a transaction / bare INSERTs in PostgreSQL, same durability"
    ratio = rates["ours"] / rates["bare"]
    return Row(what, f"{rates['ours']:,.0f}/s", f"{rates['bare']:,.0f}/s", ratio, 0.3, higher_is_better=True)


def lag(postgres: PostgresServer, scratch: Path, count: int) -> Row:
    """Measure how long a write on one machine takes to stand in the other one's database, each with its worker."""
    url = _new_database(postgres, "lag")
    one, two = _machine(scratch / "lag-one", url, begins=True), _machine(scratch / "lag-two", url)
    workers = [
        subprocess.Popen([sys.executable, "-m", "memento_tui.hub.worker", "--data-dir", str(w.paths.root)])  # noqa: S603
        for w in (one, two)
    ]
    delays = []
    try:
        for number in range(count + 5):
            made = one.remember(f"Fact number {number}.", namespace=SITE)
            begun = perf_counter()
            while two.find(made.id) is None:
                sleep(0.005)
            if number >= 5:
                delays.append(perf_counter() - begun)
            sleep(0.037 * (number % 7))
    finally:
        for worker in workers:
            worker.terminate()
            worker.wait()
        one.close()
        two.close()
    p50, p99 = percentile(delays, 0.5) * 1000, percentile(delays, 0.99) * 1000
    what = f"p99 from a write on one machine to its row on the other, {count} writes, one host"
    return Row(what, f"p50 {p50:.0f} ms, p99 {p99:.0f} ms", "", p99, 1000, unit="ms")


def catch_up(postgres: PostgresServer, scratch: Path, *, count: int, single: bool) -> Row:
    """Compare a new machine's first round with a local import of the same memories, in processor time here."""
    kind = "single" if single else "shared"
    url = _new_database(postgres, f"catchup_{kind}")
    source = scratch / f"{kind}.jsonl"
    with source.open("w") as stream:
        for number, fields in enumerate(memories(count)):
            line = {"record": "memory", "id": f"m{number}", **fields, "namespace": SITE}
            stream.write(json.dumps(line) + "\n")
    with Workspace(scratch / f"{kind}-import") as imported:
        begun, wall = process_time(), perf_counter()
        run_import(imported, "memento", source)
        bare, bare_wall = process_time() - begun, perf_counter() - wall
    first = Workspace(scratch / f"{kind}-first")
    if not single:
        run_import(first, "memento", source)
    MachineHub(first).begin(url, workspace="home", name="first", namespaces=(SITE,))
    if single:
        for number, fields in enumerate(memories(count)):
            first.remember(f"{fields['content']} {number}", namespace=SITE)
    _synchronize(first)
    second = _machine(scratch / f"{kind}-second", url)
    begun, wall = process_time(), perf_counter()
    _synchronize(second)
    ours, ours_wall = process_time() - begun, perf_counter() - wall
    if second.statistics.statuses() != first.statistics.statuses():
        raise RuntimeError("the second machine does not have what the first has")
    first.close()
    second.close()
    entries = f"{count:,} entries of one memory" if single else f"{count:,} memories in entries of 500"
    what = f"catch-up of {entries} / a local import of the same, processor time"
    return Row(what, f"{ours:.1f} s ({ours_wall:.1f} s)", f"{bare:.1f} s ({bare_wall:.1f} s)", ours / bare, 3)


def _synchronize(workspace: Workspace) -> None:
    link = HubLink(workspace)
    link.synchronize()
    link.close()


def main() -> None:
    """Measure, print the table, and write it unless it is a quick run."""
    quick = "--quick" in sys.argv
    with tempfile.TemporaryDirectory(dir=os.environ.get("SCRATCH")) as folder, running_postgres() as postgres:
        scratch = Path(folder)
        rows = [
            appends(postgres, scratch, batch=1, count=100 if quick else _APPENDS),
            appends(postgres, scratch, batch=200, count=400 if quick else 5 * _APPENDS),
            lag(postgres, scratch, 20 if quick else _WRITES),
            catch_up(postgres, scratch, count=500 if quick else 10_000, single=False),
            catch_up(postgres, scratch, count=200 if quick else _SINGLE_ENTRIES, single=True),
        ]
    table = as_markdown(rows)
    print(table)
    if not quick:
        note = "`python -m tests.benchmarks.hub`; PostgreSQL with `fsync`, on the same machine, its socket beside it."
        write_section(Path(__file__).with_name("RESULTS.md"), HEADING, f"{note}\n\n{table}")


if __name__ == "__main__":
    main()
