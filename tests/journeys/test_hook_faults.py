"""A hook never fails its host: whatever it is given and whatever is broken, the status is 0 and nothing is lost."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

import memento_tui
from memento_tui.model.validation import new_id
from tests.journeys.engine_house import until
from tests.journeys.hook_host import HOOK, QUESTION, UNHURRIED, HookHost, host_that_deploys


@pytest.fixture
def host(tmp_path: Path) -> HookHost:
    return host_that_deploys(tmp_path)


# What is no object ends before the event is looked at; these come as far as the event's own work.
MISFITS = (
    b'{"prompt": 7, "session_id": null, "cwd": ["x"]}',
    b'{"prompt": "how do we deploy to fly.io? \\ud83d", "cwd": "/nowhere/at/all\\u0000"}',
)
INPUTS = (
    b"",
    b"{",
    b'{"session_id": "s1", "prompt": "how do we de',
    b"[]",
    b"null",
    b'"text"',
    b"\xff\xfe\x00",
    b"[" * 100_000,
    b'{"prompt": "' + b"deploy fly.io " * 800_000 + b'"}',
    b" " * 17_000_000,
    *MISFITS,
)
EVENTS = ("SessionStart", "PreToolUse", "Stop", "SessionEnd")


@pytest.mark.parametrize(
    ("event", "stdin"),
    [*(("UserPromptSubmit", raw) for raw in INPUTS), *((event, raw) for event in EVENTS for raw in MISFITS)],
    ids=lambda value: value if isinstance(value, str) else f"{value[:30]!r}",
)
def test_any_input_ends_with_status_0_and_an_answer_or_silence(host: HookHost, event: str, stdin: bytes) -> None:
    said = host.raw(event, stdin)
    assert said.status == 0
    assert said.errors == b""
    if said.raw:
        assert said.context


def test_half_an_object_is_named_in_the_log_and_what_it_says_is_not(host: HookHost) -> None:
    host.raw("UserPromptSubmit", b'{"prompt": "my secret plan')
    assert "UserPromptSubmit: JSONDecodeError" in host.log()
    assert "secret plan" not in host.log()


def test_unknown_fields_and_events_and_options_are_left_alone(host: HookHost) -> None:
    assert (
        "deploy.sh" in host.call("UserPromptSubmit", prompt=QUESTION, turn_id=7, model="x", nested={"a": [1]}).context
    )
    assert host.call("Notification", message="hello").context == ""
    said = host.raw("UserPromptSubmit", json.dumps({"prompt": QUESTION, "session_id": "s2"}).encode(), "--new", "--x=1")
    assert said.status == 0


def test_a_host_that_closes_standard_input_gets_an_answer_all_the_same(host: HookHost) -> None:
    command = [*HOOK, "UserPromptSubmit", "--data-dir", str(host.data_dir)]
    closed = subprocess.run(["sh", "-c", 'exec "$@" <&-', "sh", *command], capture_output=True, check=False)  # noqa: S603, S607
    assert (closed.returncode, closed.stdout) == (0, b"")


def test_a_host_that_never_ends_standard_input_is_answered_in_time(host: HookHost) -> None:
    command = [*HOOK, "UserPromptSubmit", "--data-dir", str(host.data_dir)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603
        assert process.stdout is not None
        assert process.stdout.read() == b""
        assert process.wait() == 0
    assert "longer than it may" in host.log()


def test_a_locked_database_costs_the_host_no_more_than_the_deadline(host: HookHost) -> None:
    holder = apsw.Connection(str(host.data_dir / "memento.db"))
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")
    host.program = HOOK
    assert host.prompt(QUESTION) == ""
    assert host.log()
    holder.execute("ROLLBACK")
    holder.close()
    host.program = UNHURRIED
    assert "deploy.sh" in host.prompt(QUESTION)


@pytest.mark.parametrize(
    "damage", ["nothing there", "no database", "not a database", "damaged index", "newer", "config"]
)
def test_a_broken_or_missing_store_is_met_with_silence(host: HookHost, damage: str) -> None:
    database = host.data_dir / "memento.db"
    match damage:
        case "nothing there":
            host.data_dir = host.data_dir / "missing"
        case "no database":
            database.unlink()
        case "not a database":
            database.write_bytes(b"not a database " * 1000)
        case "damaged index":
            for path in (host.data_dir / "index" / "keyword").glob("*"):
                path.write_bytes(b"\x00" * 50)
        case "newer":
            with apsw.Connection(str(database)) as connection:
                connection.execute("PRAGMA user_version = 99")
            connection.close()
        case _:
            (host.data_dir / "config.toml").write_text("[hooks\nthreshold = 'x'")
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "Stop"):
        host.call(event, prompt=QUESTION, tool_name="Read", tool_input={"file_path": "a.py"}, transcript_path="/none")
    assert not (host.data_dir.name == "missing" and host.data_dir.exists())


def test_a_crash_of_the_work_itself_never_reaches_the_host(host: HookHost) -> None:
    program = (
        "import os, sys\n"
        "from memento_tui.hooks import fallback, main\n"
        "main._ANSWER_SECONDS, main._MAX_ANSWER_SECONDS = {}, 60.0\n"
        "fallback.answer_by_words = lambda arguments, raw: os.kill(os.getpid(), 11)\n"
        f"sys.exit(main.main(['UserPromptSubmit', '--data-dir', {str(host.data_dir)!r}]))"
    )
    ended = subprocess.run([sys.executable, "-c", program], input=b"{}", capture_output=True, check=False)  # noqa: S603
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
    assert "status -11" in host.log()


def test_after_a_long_import_the_index_is_made_by_a_process_of_its_own(host: HookHost) -> None:
    with memento_tui.open(host.data_dir) as person:
        for number in range(150):
            person.remember(f"The lamp in room {number} burns.")
    shutil.rmtree(host.data_dir / "index")
    assert host.prompt(QUESTION) == ""
    answer = until(lambda: HookHost(host.data_dir, host.cwd, new_id()).prompt(QUESTION), "the index is made")
    assert "deploy.sh" in answer
