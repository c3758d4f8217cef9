"""What a hook leaves with its host: no error, no file held open, no code of somebody's repository run."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import apsw
import pytest
from filelock import FileLock

import memento_tui
from memento_tui.hooks.main import _ANSWER_SECONDS
from memento_tui.paths import DataPaths
from memento_tui.storage.hook_store import HookStore
from tests.journeys.engine_house import until
from tests.journeys.hook_host import HOOK, QUESTION, UNHURRIED, HookHost, host_that_deploys
from tests.made import UNPACKED_FORMAT, WITHOUT_PACKED_IMAGES
from tests.unit.made_transcripts import ClaudeSession, write


@pytest.fixture
def host(tmp_path: Path) -> HookHost:
    return host_that_deploys(tmp_path)


def shell(host: HookHost, redirection: str) -> subprocess.CompletedProcess[bytes]:
    command = [*UNHURRIED, "UserPromptSubmit", "--data-dir", str(host.data_dir)]
    sent = json.dumps({"session_id": "s", "cwd": str(host.cwd), "prompt": QUESTION}).encode()
    return subprocess.run(  # noqa: S603 - the program under test
        ["sh", "-c", f'exec "$@" {redirection}', "sh", *command],  # noqa: S607 - any shell
        input=sent,
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize("redirection", [">&-", ">/dev/full", "<&- >&-", "<&- >&- 2>&-", "2>&-", "<&-"])
def test_whatever_stream_the_host_closed_the_status_is_0_and_nothing_is_complained_of(
    host: HookHost, redirection: str
) -> None:
    ended = shell(host, redirection)
    assert (ended.returncode, ended.stderr) == (0, b"")
    if redirection == "2>&-":
        assert b"deploy.sh" in ended.stdout
    else:
        assert ended.stdout == b""


def test_a_host_that_no_longer_listens_is_no_failure(host: HookHost) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [*UNHURRIED, "UserPromptSubmit", "--data-dir", str(host.data_dir)]
    sent = json.dumps({"session_id": "s", "cwd": str(host.cwd), "prompt": QUESTION}).encode()
    ended = subprocess.run(command, input=sent, stdout=writing, stderr=subprocess.PIPE, check=False)  # noqa: S603
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert "BrokenPipeError" in host.log()


@pytest.mark.parametrize("named", ["~nobody-of-this-name/memory", "/dev/null/memory", "x" * 5_000])
def test_a_data_directory_that_cannot_be_is_no_failure(host: HookHost, named: str) -> None:
    ended = subprocess.run(  # noqa: S603 - the program under test
        [*UNHURRIED, "UserPromptSubmit", "--data-dir", named],
        input=b'{"prompt": "how do we deploy to fly.io?"}',
        capture_output=True,
        check=False,
        cwd=host.cwd,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


@pytest.mark.parametrize("seed", range(6))
def test_damage_anywhere_in_the_index_is_never_told_to_the_host(host: HookHost, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - no secret depends on it
    for path in (host.data_dir / "index" / "keyword").iterdir():
        if path.suffix in (".term", ".idx", ".pos", ".store", ".fast", ".fieldnorm"):
            raw = bytearray(path.read_bytes())
            for place in rng.choices(range(len(raw)), k=len(raw) // 2):
                raw[place] = rng.randrange(256)
            path.write_bytes(raw)
    host.call("UserPromptSubmit", prompt=QUESTION)  # asserts the status and that nothing is on standard error


def test_the_end_of_a_session_is_not_waited_for_longer_than_the_host_allows(host: HookHost) -> None:
    command = [*HOOK, "SessionEnd", "--data-dir", str(host.data_dir)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603
        assert process.stdout is not None
        assert process.stdout.read() == b""
        assert process.wait() == 0
    assert "longer than it may" in host.log()
    assert _ANSWER_SECONDS["end"] < 1, "Claude Code allows 1.5 seconds in all, of which Python's start takes some"


def test_a_byte_order_mark_before_the_input_is_left_alone(host: HookHost) -> None:
    sent = json.dumps({"session_id": "s", "cwd": str(host.cwd), "prompt": QUESTION}).encode()
    assert "deploy.sh" in host.raw("UserPromptSubmit", b"\xef\xbb\xbf" + sent).context


def test_the_work_afterwards_runs_no_module_of_the_folder_that_the_agent_works_in(
    host: HookHost, tmp_path: Path
) -> None:
    trap = tmp_path / "ran"
    for name in ("filelock", "msgspec", "argparse", "memento_tui"):
        (host.cwd / f"{name}.py").write_text(f"open({str(trap)!r}, 'w').write({name!r})")
    transcript = write(tmp_path / "session.jsonl", ["{}"])
    sent = json.dumps({"session_id": "s", "cwd": str(host.cwd), "transcript_path": str(transcript)}).encode()
    program = str(Path(sys.executable).with_name("memento-hook"))
    ended = subprocess.run(  # noqa: S603 - the program under test
        [program, "SessionEnd", "--data-dir", str(host.data_dir)],
        input=sent,
        capture_output=True,
        check=False,
        cwd=host.cwd,
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    until(lambda: str(transcript) in host.log() or trap.exists(), "the transcript was not looked at")
    assert not trap.exists()


def test_the_work_afterwards_holds_no_file_of_the_hosts_open(host: HookHost, tmp_path: Path) -> None:
    # The pipe ends when the last process that has it lets go of it; the work afterwards waits for the lock.
    transcript = write(tmp_path / "session.jsonl", ClaudeSession().user("Never edit invoices.py by hand.").lines)
    reading, writing = os.pipe()
    sent = json.dumps({"session_id": "s", "cwd": str(host.cwd), "transcript_path": str(transcript)}).encode()
    store = HookStore(host.data_dir / "memento.db")
    with FileLock(DataPaths(host.data_dir).hook_lock):
        subprocess.run(  # noqa: S603 - the program under test
            [*UNHURRIED, "SessionEnd", "--data-dir", str(host.data_dir)],
            input=sent,
            capture_output=True,
            check=True,
            pass_fds=[writing],
        )
        os.close(writing)
        with os.fdopen(reading, "rb") as stream:
            assert stream.read() == b""
        assert store.learned_bytes("s") == 0
    until(lambda: store.learned_bytes("s") > 0, "the transcript was not learned from")
    store.close()


def test_an_import_of_thousands_in_few_entries_is_indexed_by_a_process_of_its_own(host: HookHost) -> None:
    with memento_tui.open(host.data_dir) as person:
        person.remember_many({"content": f"The lamp in room {number} burns."} for number in range(150))
        person.remember("The lamp of the porch is called Fiat Lux.")
        behind = person.search_engine.keyword
        assert "deploy.sh" in host.prompt(QUESTION), "what was indexed before is still told"
        question = "is the porch lamp called Fiat Lux?"
        until(
            lambda: "Fiat Lux" in HookHost(host.data_dir, host.cwd, f"s{time.monotonic()}").prompt(question),
            "the index was never brought up to date",
        )
        behind.catch_up()
    assert host.log() == ""


def test_a_database_of_an_earlier_version_is_brought_up_to_date_beside_the_host(host: HookHost) -> None:
    with apsw.Connection(str(host.data_dir / "memento.db")) as connection:
        for statement in WITHOUT_PACKED_IMAGES:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {UNPACKED_FORMAT}")
    connection.close()
    assert host.prompt(QUESTION) == ""
    assert f"has format {UNPACKED_FORMAT}" in host.log()
    until(lambda: "deploy.sh" in host.prompt(QUESTION), "the database was never migrated")
