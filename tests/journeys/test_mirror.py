"""`memento mirror` as a process: edits by editors as they really save, kills, interrupts, and two at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.model import Relation
from tests.journeys.cli_shell import Console
from tests.journeys.engine_house import until
from tests.made import without_engine


@pytest.fixture
def shell(tmp_path: Path) -> Console:
    return Console(without_engine(tmp_path / "data"))


@pytest.fixture
def workspace(shell: Console) -> Iterator[Workspace]:
    with Workspace(shell.data_dir) as opened:
        yield opened


class Running:
    """A mirror that runs, and what it has said so far."""

    def __init__(self, shell: Console, folder: Path, *options: str) -> None:
        self.process: subprocess.Popen[bytes] = shell.start("mirror", str(folder), *options)
        self.lines: list[str] = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        until(lambda: any("ctrl+c ends it" in line for line in self.lines), "the mirror to begin")

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.decode())

    def said(self, *words: str) -> None:
        until(lambda: any(all(word in line for word in words) for line in self.lines), f"{words} in {self.lines}")

    def end(self, number: int) -> tuple[int, str]:
        self.process.send_signal(number)
        self.reader.join(timeout=60)
        assert self.process.stderr is not None
        assert self.process.stdin is not None
        said = self.process.stderr.read().decode()
        code = self.process.wait(timeout=60)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        return code, said


def save_as_editors_do(path: Path, text: str) -> None:
    """Write a new file beside the old one and put it in its place."""
    beside = path.with_name(f".{path.name}.swp")
    beside.write_text(text)
    beside.replace(path)


def has_reached(workspace: Workspace, seq: int) -> bool:
    return workspace._store.journal.head() >= seq


def test_a_day_with_a_mirror(shell: Console, workspace: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    found = workspace.remember("Use /v2/users.", title="Users")
    running = Running(shell, folder)
    path = folder / "global" / "Users.md"
    assert "Use /v2/users." in path.read_text()

    save_as_editors_do(path, path.read_text().replace("/v2/", "/v3/"))
    running.said("changed", "Users.md", found.id)
    assert workspace.get(found.id).content == "Use /v3/users."

    with path.open("r+") as file:
        text = file.read()
        file.seek(0)
        file.truncate()  # what an editor that saves in place does first
        file.flush()
        file.write(text + "\nAnother paragraph.\n")
    until(lambda: "Another paragraph." in workspace.get(found.id).content, "the edit in place")

    workspace.update(found.id, content="Use /v4/users.")
    running.said("written", "Users.md")
    until(lambda: "/v4/" in path.read_text(), "the change to appear")

    (folder / "Idea.md").write_text("# Idea\nPlant roses.")
    running.said("taken", "Idea.md")
    path.rename(folder / "Renamed.md")
    running.said("moved", "Renamed.md")
    (folder / "Idea.md").unlink()
    running.said("deleted", "Idea.md")
    assert [memory.id for memory in workspace.list().items] == [found.id]

    code, said = running.end(signal.SIGINT)
    assert (code, said) == (0, "Ended; 1 note is in sync.\n")


def test_a_conflict_waits_in_the_review_and_the_decision_appears(
    shell: Console, workspace: Workspace, tmp_path: Path
) -> None:
    folder = tmp_path / "notes"
    found = workspace.remember("First.", title="A")
    shell.json("mirror", str(folder), "--once")
    path = folder / "global" / "A.md"
    workspace.update(found.id, content="Here.")
    save_as_editors_do(path, path.read_text().replace("First.", "There."))
    running = Running(shell, folder)
    running.said("waits", "changed_in_both")
    (asked,) = workspace.review.list()[0]
    shell.json("review", "approve", asked.proposal.id)
    until(lambda: workspace.get(found.id).content == "There.", "the decision")
    assert "There." in path.read_text()
    assert running.end(signal.SIGTERM)[0] == 0


def test_a_script_reads_one_report_and_a_second_run_has_nothing_to_do(
    shell: Console, workspace: Workspace, tmp_path: Path
) -> None:
    folder = tmp_path / "notes"
    workspace.remember("One.", title="o")
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "two.md").write_text("Two.")
    (folder / "bad.md").write_bytes(b"\xff")
    report = shell.json("mirror", str(folder), "--once")
    assert (report["notes"], report["settled"]) == (2, True)
    assert {action: count for action, count in report["counts"].items() if count} == {
        "written": 1,
        "taken": 1,
        "refused": 1,
    }
    assert [one["note"] for one in report["happened"] if one["deed"] == "refused"] == ["bad.md"]
    again = shell.json("mirror", str(folder), "--once")
    assert [one["deed"] for one in again["happened"]] == ["refused"]
    told = shell.run("mirror", str(folder), "--json")
    assert told.returncode == 2
    assert "--once" in json.loads(told.stdout)["error"]["message"]


def test_a_mirror_that_is_killed_goes_on_where_it_was(shell: Console, workspace: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    workspace.remember_many({"content": f"Memory {number}.", "title": f"m{number}"} for number in range(300))
    process = shell.start("mirror", str(folder))
    until(lambda: sum(1 for _ in folder.rglob("*.md")) > 20, "some notes")
    process.kill()
    process.communicate()
    report = shell.json("mirror", str(folder), "--once")
    assert report["notes"] == len(list(folder.rglob("*.md"))) == 300
    assert len(workspace.list(limit=1000).items) == 300
    assert workspace.review.count() == 0
    assert not list((folder / ".memento-mirror").glob("*.part"))


def test_no_paragraph_is_lost_however_often_the_mirror_is_killed(
    shell: Console, workspace: Workspace, tmp_path: Path
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    paragraphs = []

    def another(number: int) -> str:
        paragraphs.append(f"Paragraph {number} stands.")
        return paragraphs[-1]

    for number in range(20):
        (folder / f"n{number}.md").write_text(another(number))
    for kill in range(1, 5):
        process = shell.start("mirror", str(folder))
        head = workspace._store.journal.head()
        for number in range(20):
            path = folder / f"n{number}.md"
            save_as_editors_do(
                path, f"{path.read_text()}\n{another(1000 * kill + number)} [[n{(number + kill) % 20}]]\n"
            )
        for memory in workspace.list(limit=kill).items:
            text = f"{workspace.get(memory.id).content}\n{another(1000 * kill + 100 + len(paragraphs))}\n"
            workspace.update(memory.id, content=text)
        until(partial(has_reached, workspace, head + kill + 1), "the mirror to write")
        process.kill()
        process.communicate()
    shell.json("mirror", str(folder), "--once")
    kept = [path.read_text() for path in folder.rglob("*.md")]
    entries = workspace._store.journal.entries_after(0, 10_000)
    kept += [change.image or "" for entry in entries for change in workspace._store.journal.changes(entry.seq)]
    everything = "\n".join(kept)
    assert [paragraph for paragraph in paragraphs if paragraph not in everything] == []


def test_links_relate_and_a_relation_reaches_its_note(shell: Console, workspace: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "Plan.md").write_text("See [[Soil]].\n")
    (folder / "Soil.md").write_text("Loam.\n")
    report = shell.json("mirror", str(folder), "--once")
    assert (report["counts"]["taken"], report["counts"]["related"]) == (2, 1)
    ids = {memory.title: memory.id for memory in workspace.list().items}
    workspace.relate(ids["Soil"], ids["Plan"], "contradicts")
    running = Running(shell, folder)
    assert (folder / "Soil.md").read_text() == '---\ncontradicts:\n- "[[Plan]]"\n---\nLoam.\n'
    save_as_editors_do(folder / "Plan.md", "See nothing.\n")
    running.said("related", "Plan.md", "1 taken back")
    assert running.end(signal.SIGINT)[0] == 0
    assert [one.type for one in workspace._store.all_of(Relation)] == ["contradicts"]


def test_a_second_mirror_of_a_folder_is_refused(shell: Console, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    running = Running(shell, folder)
    ended = shell.run("mirror", str(folder), "--once")
    assert ended.returncode == 5
    assert b"mirrored by another memento already" in ended.stderr
    assert running.end(signal.SIGINT)[0] == 0


def test_a_hostile_name_does_not_reach_the_terminal(shell: Console, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a\x1b]52;c;aGk=\x07.md").write_bytes(b"\xff")
    os.utime(folder, None)
    ended = shell.run("mirror", str(folder), "--once")
    assert ended.returncode == 0
    assert b"\x1b" not in ended.stdout
    assert b"is not UTF-8" in ended.stdout
