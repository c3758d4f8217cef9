"""Machines in networks of their own, which are cut off and come back: every write that was acknowledged is on each."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from tests.hub.machines import SITE, Machine, in_step
from tests.hub.test_faults import check_everywhere, check_histories
from tests.postgres import MISSING, PostgresServer, postgres_programs, running_postgres


def run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)  # noqa: S603 - the test's own words


class Network:
    """A network namespace with one line to this machine's own network, which can be cut."""

    def __init__(self, number: int) -> None:
        self.name = f"memento-{os.getpid()}-{number}"
        self._line = f"mh{os.getpid() % 100_000}-{number}"
        self._number = number
        self.hub = f"10.213.{number}.1"
        """The address of this machine's own network at the other end of the line."""

    def make(self) -> None:
        inside = f"{self._line}i"
        run("ip", "netns", "add", self.name)
        run("ip", "link", "add", self._line, "type", "veth", "peer", "name", inside)
        run("ip", "link", "set", inside, "netns", self.name)
        run("ip", "address", "add", f"{self.hub}/24", "dev", self._line)
        run("ip", "link", "set", self._line, "up")
        within = ("ip", "-n", self.name)
        run(*within, "address", "add", f"10.213.{self._number}.2/24", "dev", inside)
        run(*within, "link", "set", inside, "up")

    def cut(self) -> None:
        run("ip", "link", "set", self._line, "down")

    def mend(self) -> None:
        run("ip", "link", "set", self._line, "up")

    def remove(self) -> None:
        for words in (("ip", "link", "del", self._line), ("ip", "netns", "del", self.name)):
            subprocess.run(words, check=False, capture_output=True)  # noqa: S603 - as above

    def start(self, machine: Machine, writes: int) -> subprocess.Popen[str]:
        """Start a machine that writes and synchronizes in this network."""
        command = [sys.executable, "-m", "tests.hub.writer", str(machine.folder), machine.name, str(writes)]
        return subprocess.Popen(  # noqa: S603 - as above
            ["ip", "netns", "exec", self.name, *command],  # noqa: S607 - found below
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )


@pytest.fixture
def networks() -> Iterator[list[Network]]:
    if os.getuid() != 0 or shutil.which("ip") is None:
        pytest.skip("only an administrator makes networks")
    made = [Network(number) for number in (1, 2)]
    with contextlib.ExitStack() as stack:
        try:
            for one in made:
                stack.callback(one.remove)
                one.make()
        except subprocess.CalledProcessError as error:
            pytest.skip(f"no networks can be made here: {error.stderr!r:.100}")
        yield made


@pytest.fixture
def distant_postgres(tmp_path: Path, networks: list[Network]) -> Iterator[PostgresServer]:
    """Run a PostgreSQL that is reached over TCP, encrypted, by an address of another network."""
    if postgres_programs() is None or shutil.which("openssl") is None:
        pytest.skip(MISSING)
    key, certificate = tmp_path / "server.key", tmp_path / "server.crt"
    named = ("-subj", "/CN=hub", "-days", "2", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")
    run("openssl", "req", "-x509", *named, "-keyout", str(key), "-out", str(certificate))
    with running_postgres(settings={"fsync": "off"}) as server:
        server.stop()
        for file in (key, certificate):
            shutil.copy(file, server.data / file.name)
            shutil.chown(server.data / file.name, "nobody")
            (server.data / file.name).chmod(0o600)
        with (server.data / "pg_hba.conf").open("a") as rules:
            rules.write("hostssl all all 10.213.0.0/16 trust\n")
        server.settings |= {"listen_addresses": ",".join(one.hub for one in networks), "ssl": "on"}
        server.start()
        yield server


def test_machines_whose_lines_are_cut_in_mid_work_come_together_when_they_are_back(
    tmp_path: Path, networks: list[Network], distant_postgres: PostgresServer
) -> None:
    machines = [Machine(tmp_path / name, name) for name in ("one", "two")]
    for network, one in zip(networks, machines, strict=True):
        # Whoever waits for an answer that never comes gives up soon.
        patience = "connect_timeout=2&tcp_user_timeout=1000"
        url = f"postgresql://owner@{network.hub}/postgres?sslmode=require&{patience}"
        one.take_part(url, (SITE,), begins=one is machines[0])
        one.link.close()
    written: dict[str, str] = {}

    def read(writer: subprocess.Popen[str], lines: int = sys.maxsize) -> None:
        """Wait for so many acknowledged writes, or for all of them."""
        assert writer.stdout is not None
        for line in islice(writer.stdout, lines):
            name, _, text = line.rstrip("\n").partition("\t")
            written[name] = text

    with contextlib.ExitStack() as stack:
        writers = [
            stack.enter_context(network.start(one, writes))
            for network, one, writes in zip(networks, machines, (7, 12), strict=True)
        ]
        for writer in writers:
            stack.callback(writer.kill)
            read(writer, 3)
        networks[0].cut()
        read(writers[1], 5)
        read(writers[0], 2)  # it goes on writing without the hub
        networks[1].cut()
        read(writers[1], 2)
        networks[0].mend()
        networks[1].mend()
        for writer in writers:
            read(writer)
            assert writer.wait() == 0
    in_step(*machines)
    check_everywhere(machines, written)
    check_histories(distant_postgres.address())
    for one in machines:
        one.link.close()
        one.workspace.close()
