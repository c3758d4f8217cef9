"""`memento distill`: proposals with their lines, once each, and files that are no transcript."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memento_tui.api import Workspace
from tests.clocks import run_from_start
from tests.journeys.cli_shell import Console
from tests.journeys.engine_house import until
from tests.unit.made_transcripts import BILLING, ClaudeSession, billing_session, write

WRONG, MISSING, INTERRUPTED = 2, 3, 130


@pytest.fixture(scope="module", autouse=True)
def _day_of_the_sessions() -> Iterator[None]:
    """Read the transcripts on the tests' day: what they say of the days to come would be over on a later one."""
    with pytest.MonkeyPatch.context() as patch:
        run_from_start(patch)
        yield


@pytest.fixture
def shell(data_dir: Path) -> Console:
    return Console(data_dir)


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return write(tmp_path / "billing.jsonl", billing_session())


def outcomes(told: dict[str, Any]) -> dict[str, int]:
    return dict(Counter(one["outcome"] for one in told["learned"]))


def test_what_a_session_taught_waits_with_the_lines_it_rests_on(shell: Console, transcript: Path) -> None:
    lines = transcript.read_text(encoding="utf-8").splitlines()
    told = shell.json("distill", str(transcript))
    assert (told["session"], told["problems"]) == (BILLING, [])
    assert outcomes(told).keys() == {"proposed"}
    assert {one["target"] for one in told["learned"]} == {"memory", "skip", "item"}
    waiting = {item["target_id"]: item for item in shell.json("review", "list")["items"]}
    assert len(waiting) == len(told["learned"])
    for one in told["learned"]:
        evidence = waiting[one["id"]]["evidence"]
        first, _, last = evidence["lines"].partition("-")
        assert (int(first), int(last)) == (one["first_line"], one["last_line"])
        said = "\n".join(lines[int(first) - 1 : int(last)])
        words = [word for word in evidence["quote"].split() if word.isalpha()]
        assert words
        assert all(word in said for word in words)
        assert evidence["transcript"] == str(transcript)
        record = waiting[one["id"]]["record"]
        if one["target"] == "memory":
            assert (record["status"], record["stability"]) == ("pending", "draft")
            assert (record["source"]["session"], record["source"]["span"]) == (BILLING, evidence["lines"])
    texts = str(told["learned"])
    # What was injected, said aside by a subagent, or only thought is no lesson.
    for never in ("French", "ORM", "mocks", "delete the branch", "Fortran", "cron"):
        assert never not in texts
    assert shell.json("search", "timestamp UTC")["results"] == []


def test_a_second_reading_proposes_nothing_new_and_a_rejected_lesson_stays_rejected(
    shell: Console, transcript: Path, workspace: Workspace
) -> None:
    first = shell.json("distill", str(transcript))
    count = len(first["learned"])
    head = workspace._store.journal.head()
    assert outcomes(shell.json("distill", str(transcript))) == {"known": count}
    assert (workspace._store.journal.head(), workspace.review.count()) == (head, count)

    picked = {one["target"]: one["id"] for one in first["learned"]}
    for proposal in shell.json("review", "list")["items"]:
        if proposal["target_id"] in picked.values():
            shell.json("review", "reject", proposal["id"], "--reason", "Not worth keeping.")
    head = workspace._store.journal.head()
    again = shell.json("distill", str(transcript))
    assert outcomes(again) == {"rejected": len(picked), "known": count - len(picked)}
    assert {one["why"] for one in again["learned"] if one["outcome"] == "rejected"} == {"Not worth keeping."}
    assert (workspace._store.journal.head(), workspace.review.count()) == (head, count - len(picked))


def test_what_was_approved_from_one_session_is_known_in_the_next(
    shell: Console, transcript: Path, tmp_path: Path, workspace: Workspace
) -> None:
    for one in shell.json("distill", str(transcript))["learned"]:
        (proposal,) = workspace._store.proposals.about(one["id"], one["target"])
        workspace.review.approve(proposal.id)
    again = write(tmp_path / "again.jsonl", [line.replace(BILLING, "another") for line in billing_session()])
    assert outcomes(shell.json("distill", str(again))).keys() == {"known"}
    assert workspace.review.count() == 0


def test_a_dry_run_tells_the_same_and_writes_nothing(shell: Console, transcript: Path, workspace: Workspace) -> None:
    told = shell.json("distill", str(transcript), "--dry-run")
    assert workspace._store.journal.head() == 0
    done = shell.json("distill", str(transcript))
    assert outcomes(told) == {"found": len(done["learned"])}
    assert [one["first_line"] for one in told["learned"]] == [one["first_line"] for one in done["learned"]]
    assert shell.json("distill", str(transcript), "--dry-run", "--limit", "2")["learned"][2:] == []


# Files that are no transcript, or not whole


def test_a_last_line_that_is_still_being_written_costs_only_itself(shell: Console, transcript: Path) -> None:
    whole = transcript.read_bytes()
    last = len(whole.rstrip(b"\n").splitlines())
    transcript.write_bytes(whole + b'{"type":"user","message":{"role":"user","content":"remember th')
    told = shell.json("distill", str(transcript))
    (problem,) = told["problems"]
    assert f"line {last + 1}" in problem
    assert outcomes(told).keys() == {"proposed"}
    transcript.write_bytes(whole)
    assert outcomes(shell.json("distill", str(transcript))) == {"known": len(told["learned"])}


def refused(shell: Console, path: str | Path) -> tuple[int, str]:
    ended = shell.run("distill", os.fspath(path))
    told = ended.stderr.decode()
    assert ended.stdout == b""
    assert told.startswith("memento: ")
    assert "Traceback" not in told
    return ended.returncode, told


def test_what_is_no_transcript_is_refused_in_a_sentence_and_nothing_is_written(
    shell: Console, tmp_path: Path, workspace: Workspace
) -> None:
    code, told = refused(shell, tmp_path / "nowhere.jsonl")
    assert (code, "There is no file" in told) == (MISSING, True)
    code, told = refused(shell, tmp_path)
    assert (code, "directory" in told) == (WRONG, True)
    for name, content in (
        ("binary", os.urandom(1 << 16)),
        ("picture", b"\x89PNG\r\n\x1a\n" + b"\x00" * 5000),
        ("prose", b"Once upon a time.\n" * 300),
        ("other.jsonl", b'{"a": 1}\n' * 300),
    ):
        (tmp_path / name).write_bytes(content)
        code, told = refused(shell, tmp_path / name)
        assert (code, "is not a transcript that memento reads" in told) == (WRONG, True)
    assert workspace._store.journal.head() == 0


def test_an_empty_file_and_one_that_teaches_nothing_are_no_failure(shell: Console, tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    told = shell.json("distill", str(empty))
    assert (told["learned"], told["problems"]) == ([], ["the file is empty"])
    chat = write(tmp_path / "chat.jsonl", ClaudeSession().user("hello").says("Hello!").lines)
    ended = shell.run("distill", str(chat))
    assert (ended.returncode, ended.stdout) == (0, b"2 turns were read; nothing new was found.\n")


def test_an_interrupted_reading_says_so_and_the_next_one_is_whole(
    shell: Console, tmp_path: Path, workspace: Workspace
) -> None:
    long = ClaudeSession()
    for number in range(40_000):
        long.says(f"Looking at file {number}.")
    lines = [*billing_session(), *long.lines]
    path = write(tmp_path / "session.jsonl", lines)
    process = shell.start("distill", str(path))
    until(lambda: _has_open(process.pid, path), "the transcript is being read")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED
    assert outcomes(shell.json("distill", str(path))).keys() <= {"proposed", "known"}
    assert workspace.review.count() > 0


def _has_open(pid: int, path: Path) -> bool:
    folder = Path(f"/proc/{pid}/fd")
    if not folder.exists():
        pytest.skip("the system does not tell which files a process reads")
    opened = []
    for entry in folder.iterdir():
        try:
            opened.append(entry.readlink())
        except OSError:
            continue
    return path in opened
