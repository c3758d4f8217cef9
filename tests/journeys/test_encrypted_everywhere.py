"""Everything that memento does with an encrypted workspace, and afterwards nothing on the disk says what it holds.

A marker stands in what each way in brings. It is looked for in the data directory, where temporary files go, in the
home of the person and in what memento knows of its workspaces: while all is open, and after everything has ended.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.api.backups import replace_damaged
from memento_tui.api.encryption import encrypt, lock, unlock
from memento_tui.paths import DataPaths
from memento_tui.tui.crash_report import write_crash_report
from tests.encrypted import PASSPHRASE, cheap_passphrases, files_with, use_own_memory
from tests.journeys.hook_host import DirectHost
from tests.journeys.http_server import serving_here
from tests.journeys.mcp_agent import connected
from tests.made import PERSON
from tests.tui.app_driver import opened
from tests.tui.settling import settle_at_once
from tests.unit.cli_program import Program, without_engine

MARKER = "Perihelion"


class Disk:
    """Every folder on the disk that memento may write to, and an encrypted workspace in one of them."""

    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.outside = place / "outside"
        """What the person gives memento to read, and keeps in clear themselves."""
        folders = {name: place / name for name in ("temporary", "home", "state", "outside")}
        for folder in folders.values():
            folder.mkdir()
        for variable, name in (("TMPDIR", "temporary"), ("SQLITE_TMPDIR", "temporary"), ("HOME", "home")):
            monkeypatch.setenv(variable, str(folders[name]))
        monkeypatch.setenv("XDG_STATE_HOME", str(folders["state"]))
        monkeypatch.setattr("tempfile.tempdir", str(folders["temporary"]))
        self.program = Program(without_engine(place / "data"))
        self.paths = DataPaths(self.program.data_dir)
        self.program.add("The workspace begins in clear.")
        encrypt(self.paths, PASSPHRASE)
        self._searched = [self.paths.root, *(folder for name, folder in folders.items() if name != "outside")]

    def check(self) -> None:
        """Check that the marker is remembered, and stands nowhere in clear."""
        assert files_with(MARKER, *self._searched) == []

    def run(self, *words: str, stdin: str = "") -> str:
        """Run a command that succeeds; return what it printed."""
        ended = self.program.run(*words, stdin=stdin.encode())
        assert ended.code == 0, (words, ended)
        return ended.out

    def give(self, name: str, text: str) -> str:
        """Write a file that the person keeps elsewhere; return its path."""
        file = self.outside / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        return str(file)


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    cheap_passphrases(monkeypatch)
    use_own_memory(tmp_path, monkeypatch)
    return Disk(tmp_path, monkeypatch)


def test_commands_leave_nothing_in_clear(disk: Disk) -> None:
    run = disk.run
    first = json.loads(run("add", f"{MARKER} is in January.", "--tag", MARKER, "--title", f"About {MARKER}", "--json"))
    run("add", f"{MARKER} moves by a day in 60 years.", "--kind", "decision")
    run("edit", first["id"], "--content", f"{MARKER} is early in January.")
    for words in (("search", MARKER), ("list", "--json"), ("show", first["id"]), ("history", first["id"])):
        assert MARKER in run(*words)
    run("skip", "add", f"{MARKER} pages", "--reason", "noise", "--until", "30d")
    run("item", "add", f"Measure the {MARKER}")
    disk.give("notes/tables.md", f"# {MARKER}\n\nThe tables of {MARKER} are made by hand.\n")
    run("import", "vault", str(disk.outside / "notes"))
    run("import", "memento", disk.give("many.jsonl", _lines(120)))  # makes a backup before
    run("distill", disk.give("session.jsonl", _turn(f"Remember: {MARKER} is always written with a capital letter.")))
    run("audit")
    run("maintain", "--contradictions")
    run("report")
    run("compact")
    run("backup", "make")
    run("backup", "verify", "latest")
    run("backup", "restore", "latest", "--yes")
    run("reindex", "--keyword")
    run("doctor", "--json")
    run("rm", first["id"])
    run("undo")
    run("purge", first["id"], "--reason", f"it was about {MARKER}", "--yes")
    refused = disk.program.run("export", str(disk.outside / "out.jsonl"))
    assert refused.code == 5
    assert MARKER in run("export", "-", "--in-clear")  # through a file that is removed
    disk.check()


def _lines(count: int) -> str:
    texts = [f"Note {number} about {MARKER} says something of its own." for number in range(count)]
    return "".join(json.dumps({"record": "memory", "content": text}) + "\n" for text in texts)


def test_agents_by_every_way_leave_nothing_in_clear(disk: Disk) -> None:
    with connected(disk.paths.root, environment={"PWD": str(disk.outside)}) as agent:
        agent.call("remember", content=f"{MARKER} is what the agent of MCP learned.")
        assert MARKER in agent.read("search", query=MARKER)
        disk.check()
    with serving_here(disk.paths.root, profile="protocol") as server:
        server.client.store(f"{MARKER} came over HTTP.")
        assert server.client.recall(MARKER)
        disk.check()
    host = DirectHost(disk.paths.root, disk.outside)
    transcript = disk.give("session.jsonl", _turn(f"Remember that {MARKER} is always in January, never in July."))
    disk.program.add(f"The {MARKER} tables are made by `make tables`.")
    assert MARKER in host.prompt(f"how are the {MARKER} tables made?")
    host.start()
    host.read(disk.outside / f"{MARKER}.py")
    host.end("SessionEnd", Path(transcript))
    disk.check()


def _turn(text: str) -> str:
    return json.dumps({"type": "user", "message": {"role": "user", "content": text}}) + "\n"


async def test_the_app_leaves_nothing_in_clear(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    settle_at_once(monkeypatch)
    with Workspace(disk.paths.root) as workspace:
        workspace.remember(f"{MARKER} is in January.")
    async with opened(disk.paths.root) as driver:
        await driver.press("slash")
        await driver.type(MARKER)
        await driver.press("enter", "e")
        await driver.type(f"A word about {MARKER}, ")
        write_crash_report(disk.paths)
        driver.app.keep_typed()
        disk.check()
    disk.check()
    assert files_with(MARKER, disk.paths.drafts) != []  # in memory


def test_a_reader_a_restore_and_a_lock_leave_nothing_in_clear(disk: Disk) -> None:
    with Workspace(disk.paths.root) as workspace:
        workspace.remember(f"{MARKER} is in January.")
        workspace.backups.make()
    with memento_tui.open(disk.paths.root, read_only=True) as reader:
        assert reader.search(MARKER, mode="keyword").results
        disk.check()
        os.truncate(disk.paths.database, 5000)
    replace_damaged(disk.paths, PERSON, "latest")
    disk.check()
    with Workspace(disk.paths.root) as workspace:
        assert workspace.search(MARKER, mode="keyword").results
        lock(disk.paths)
    unlock(disk.paths, PASSPHRASE)
    disk.check()
