"""The program as a person and a script use it: real processes, pipes, signals and a terminal."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import signal
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.paths import DataPaths
from tests.journeys.cli_shell import Console, Shell
from tests.unit.cli_program import without_engine

ARTS = "\x1b]52;c;aGk=\x07\x1b[2J\x9b31m[/nope]"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(without_engine(tmp_path / "data"))


@pytest.fixture
def console(tmp_path: Path) -> Console:
    return Console(without_engine(tmp_path / "data"))


def test_a_day_with_the_command_line(shell: Shell) -> None:
    given = shell.json("add", "The users endpoint is /v2/users; /v1 answers 404.", "--tag", "api")["id"]
    shell.json("add", "-", "--kind", "decision", stdin=b"Deploys happen on Tuesdays.\n")
    found = shell.json("search", "users endpoint", "--mode", "keyword", "--limit", "5")
    assert [hit["id"] for hit in found["results"]] == [given]
    assert found["results"][0]["score"] > 0
    assert "/v2/users" in found["results"][0]["snippet"]
    assert found["semantic"] == "off"
    shell.json("edit", given, "--content", "The users endpoint is /v3/users.")
    assert shell.json("search", "/v2/users", "--mode", "keyword")["results"] == []
    shell.json("undo")
    shell.json("rm", given)
    shell.json("undo")
    assert shell.json("search", "/v2/users", "--mode", "keyword")["results"][0]["id"] == given
    assert [entry["action"] for entry in shell.json("history")["items"]] == [
        "undo",
        "forget",
        "undo",
        "edit",
        "remember",
        "remember",
    ]
    assert [item["tags"] for item in shell.json("list", "tag:api")["items"]] == [["api"]]


def test_bytes_that_are_not_utf8_are_refused_wherever_they_come_from(shell: Shell) -> None:
    for ended in (shell.run("add", b"caf\xe9", "--json"), shell.run("add", "-", "--json", stdin=b"caf\xe9")):
        assert ended.returncode == 2
        assert "UTF-8" in json.loads(ended.stdout)["error"]["message"]
        assert ended.stderr == b""
    in_words = shell.run("add", b"caf\xe9")
    assert (in_words.returncode, in_words.stdout) == (2, b"")
    assert in_words.stderr.startswith(b"memento: The argument 'caf\\udce9' is not UTF-8")


def test_a_reader_that_goes_away_is_no_error(shell: Shell) -> None:
    with Workspace(shell.data_dir) as workspace:
        workspace.remember_many({"content": f"number {number} {'long ' * 50}"} for number in range(2000))
    process = shell.start("list", "--limit", "2000", "--json")
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=60) == 141
    process.stderr.close()
    assert process.stdin is not None
    process.stdin.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
def test_an_output_that_is_full_is_said(shell: Shell) -> None:
    shell.json("add", "text")
    with open("/dev/full", "wb") as full:  # noqa: PTH123 - a device
        process = shell.start("list", stdout=full)
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (2, b"memento: The output cannot be written: No space left on device.\n")
        for arguments in (("list", "--json"), ("show", "none", "--json")):
            process = shell.start(*arguments, stdout=full)
            _, err = process.communicate(timeout=60)
            assert (process.returncode, err) == (
                2,
                b"memento: The output cannot be written: No space left on device.\n",
            )


def test_an_interrupt_ends_with_130(shell: Shell) -> None:
    process = shell.start("add", "-", "--json")
    # It is certainly running once it has read; a pipe's worth and a little is taken only by a reader.
    assert process.stdin is not None
    process.stdin.write(b"a" * 200_000)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert json.loads(out)["error"]["code"] == "interrupted"
    assert not shell.data_dir.joinpath("memento.db").exists() or shell.json("list")["items"] == []


def test_several_processes_write_at_once_and_nothing_is_lost(shell: Shell) -> None:
    running = [shell.start("add", f"from process {number}", "--json") for number in range(4)]
    given = {json.loads(process.communicate(timeout=60)[0])["id"] for process in running}
    assert len(given) == 4
    assert {item["id"] for item in shell.json("list")["items"]} == given
    assert [entry["seq"] for entry in shell.json("history")["items"]] == [4, 3, 2, 1]


def test_an_index_that_was_deleted_is_made_again(console: Console) -> None:
    given = console.json("add", "The users endpoint is /v2/users.")["id"]
    console.json("search", "users")
    shutil.rmtree(DataPaths(console.data_dir).keyword_index)
    assert [hit["id"] for hit in console.json("search", "users")["results"]] == [given]


def test_an_index_that_is_damaged_is_made_again_with_a_notice(console: Console) -> None:
    given = console.json("add", "The users endpoint is /v2/users.")["id"]
    console.json("search", "users")
    for file in DataPaths(console.data_dir).keyword_index.iterdir():
        file.write_bytes(b"damaged")
    found = console.json("search", "users")
    assert [hit["id"] for hit in found["results"]] == [given]
    assert "rebuilt" in found["notice"]


def test_an_export_is_imported_elsewhere_and_twice_changes_nothing(console: Console, tmp_path: Path) -> None:
    given = console.json("add", "The users endpoint is /v2/users.", "--tag", "api", "--pin")
    exported = console.run("export", "-")
    assert (exported.returncode, exported.stderr) == (0, b"")
    backup = tmp_path / "backup.jsonl"
    written = console.json("export", str(backup))
    assert (written["exported"], written["path"], written["left_out"]) == (1, str(backup), 0)
    assert backup.read_bytes() == exported.stdout
    backup.write_bytes(exported.stdout + b'{"record":"memory", broken\n')
    other = Console(without_engine(tmp_path / "other"))
    planned = other.json("import", "memento", str(backup), "--dry-run")
    assert (planned["imported"], planned["dry_run"]) == (1, True)
    assert other.json("list")["items"] == []
    first = other.json("import", "memento", str(backup))
    assert (first["imported"], first["updated"], first["unchanged"]) == (1, 0, 0)
    assert [(refused["line"], bool(refused["reason"])) for refused in first["refused"]] == [(3, True)]
    assert first["refused"][0]["file"] == "backup.jsonl"
    again = other.json("import", "auto", str(backup))
    assert (again["imported"], again["updated"], again["unchanged"]) == (0, 0, 1)
    (memory,) = other.json("list")["items"]
    assert {name: memory[name] for name in ("id", "content", "tags", "created_at")} == {
        name: given[name] for name in ("id", "content", "tags", "created_at")
    }
    # Another workspace's person decides about pins, about whose words they are, and how far they are trusted.
    claims = {"pinned": True, "source_type": "user", "confidence": 0.9}
    assert (memory["pinned"], memory["extra"]["claims"]) == (False, claims)
    in_words = other.run("import", "memento", str(backup)).stdout.decode()
    assert in_words.startswith("0 imported, 0 updated, 1 unchanged, 1 refused\n")
    assert "backup.jsonl:3" in in_words


def test_without_a_terminal_the_app_says_what_to_do(shell: Shell) -> None:
    ended = shell.run()
    assert ended.returncode == 2
    assert b"The app needs a terminal" in ended.stderr


def _on_a_terminal(shell: Shell, arguments: Sequence[str], **environment: str) -> tuple[int, str]:
    """Run the program on a terminal of 60 columns and return its exit code and everything it wrote there."""
    master, slave = pty.openpty()
    shell.environment |= environment | {"COLUMNS": "60"}
    process = shell.start(*arguments, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    watchdog = threading.Timer(60, process.kill)
    watchdog.start()
    written = b""
    while True:
        select.select([master], [], [])
        try:
            part = os.read(master, 65536)
        except OSError:  # Linux answers so when the other end is closed
            break
        if not part:
            break
        written += part
    watchdog.cancel()
    os.close(master)
    return process.wait(), written.decode()


def test_on_a_terminal_only_emphasis_is_sent_and_lines_are_cut_at_its_edge(shell: Shell) -> None:
    text = f"{ARTS} The users endpoint, told in a line that is longer than the terminal is wide."
    given = shell.json("add", "-", stdin=text.encode())["id"]
    for command in (["list"], ["search", "users"], ["show", given], ["show", given, "--raw"], ["history"]):
        code, written = _on_a_terminal(shell, command)
        assert code == 0
        plain = written.replace("\x1b[1m", "").replace("\x1b[0m", "").replace("\r\n", "\n")
        assert not [character for character in plain if character != "\n" and not character.isprintable()]
        if command == ["list"]:
            assert "\x1b[1m" in written
            assert all(line.startswith(given) or "WHAT" in line for line in plain.splitlines())
            assert max(map(len, plain.splitlines())) == 60


def test_no_color_is_obeyed(shell: Shell) -> None:
    shell.json("add", "text")
    _, written = _on_a_terminal(shell, ["list"], NO_COLOR="1")
    assert "\x1b" not in written


def test_an_export_is_not_poured_into_a_terminal(shell: Shell) -> None:
    shell.json("add", "text")
    code, written = _on_a_terminal(shell, ["export", "-"])
    assert code == 2
    assert "not for a terminal" in written


def test_a_purge_on_a_terminal_asks_for_the_id(shell: Shell) -> None:
    given = shell.json("add", "password")["id"]
    master, slave = pty.openpty()
    process = shell.start("purge", given, "--reason", "leaked", stdin=slave)
    os.close(slave)
    os.write(master, b"yes\n")
    out, err = process.communicate(timeout=60)
    os.close(master)
    assert (process.returncode, out) == (2, b"")
    assert b"Nothing was purged" in err
    assert shell.json("show", given)["content"] == "password"
