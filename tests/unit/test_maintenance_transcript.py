from __future__ import annotations

import json
import os
import threading
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento_tui.errors import InvalidInput, NotFound
from memento_tui.maintenance.transcripts import reader
from memento_tui.maintenance.transcripts.reader import HOST_TAGS, read_transcript, strip_host_text
from tests.steps import grows_in_proportion
from tests.unit.made_transcripts import (
    ClaudeSession,
    CodexSession,
    billing_session,
    plain,
    read,
    uploader_session,
    write,
)

USER = '{"role": "user", "content": "Hello there"}'


def texts(path: Path, role: str) -> list[str]:
    return [turn.text for turn in read(path)[0] if turn.role == role]


def test_a_claude_code_transcript_is_read_with_session_folder_and_moments(tmp_path: Path) -> None:
    turns, reading = read(write(tmp_path / "t.jsonl", billing_session()))
    assert reading.format == "claude-code"
    assert (reading.agent, reading.cwd) == ("claude-code", "/home/dana/billing")
    assert reading.session == "7c1e2b9a-0d53-4b7e-9f0f-2f4e7a5d1c11"
    assert (reading.turns, reading.problems) == (len(turns), ())
    assert len(turns) >= 30
    assert turns[0].text == "the invoice export test fails since yesterday, can you find out why?"
    assert turns[0].at is not None
    assert turns[0].at.isoformat() == "2026-11-01T08:03:00+00:00"


def test_a_codex_rollout_is_read_without_what_codex_wrote_under_the_persons_role(tmp_path: Path) -> None:
    turns, reading = read(write(tmp_path / "t.jsonl", uploader_session()))
    assert (reading.format, reading.agent, reading.cwd) == ("codex", "codex", "/home/dana/uploader")
    assert reading.session == "019a8f3c-5b1e-7d20-9c44-8a7f6e5d4c3b"
    assert turns[0].text == "The upload test hangs on CI. Find out why and fix it."
    assert [turn.text for turn in turns if turn.role == "user"].count(turns[0].text) == 1


def test_the_result_of_a_shell_stands_below_its_command_and_says_how_it_ended(tmp_path: Path) -> None:
    turns, _ = read(write(tmp_path / "t.jsonl", billing_session()))
    tools = [turn for turn in turns if turn.role == "tool"]
    assert tools[0].text.startswith("$ pytest tests/export\n")
    assert tools[0].call is not None
    assert (tools[0].call.tool, tools[0].call.command, tools[0].call.failed) == ("Bash", "pytest tests/export", True)
    assert tools[0].last_line == tools[0].first_line + 1
    assert [turn.call.failed for turn in tools if turn.call] == [True, True, False, False, False, False, False, False]


@pytest.mark.parametrize(
    ("output", "failed"),
    [
        ('{"output":"boom","metadata":{"exit_code":2,"duration_seconds":0.1}}', True),
        ('{"output":"fine","metadata":{"exit_code":0,"duration_seconds":0.1}}', False),
        ("Exit code: 1\nWall time: 0.2 seconds\nOutput:\nboom", True),
        (
            "Chunk ID: 4af1\nWall time: 0.2 seconds\nProcess exited with code 0\nOutput:\nProcess exited with code 1",
            False,
        ),
        ("a page that says\n\n\n" + "x" * 200 + "\nExit code: 1", None),
    ],
)
def test_every_way_in_which_codex_says_how_a_command_ended_is_read(
    tmp_path: Path, output: str, *, failed: bool | None
) -> None:
    made = CodexSession()
    made.item({"type": "function_call", "name": "shell", "arguments": '{"command":["make"]}', "call_id": "c1"})
    made.item({"type": "function_call_output", "call_id": "c1", "output": output})
    (turn,), _ = read(write(tmp_path / "t.jsonl", made.lines))
    assert turn.call is not None
    assert (turn.call.command, turn.call.failed) == ("make", failed)


def test_the_rollouts_that_codex_wrote_before_it_had_envelopes_are_read(tmp_path: Path) -> None:
    lines = [
        json.dumps({"id": "s-9", "timestamp": "2025-06-01T10:00:00Z", "instructions": None}),
        json.dumps({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]}),
        json.dumps({"record_type": "state"}),
        json.dumps({"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "c"}),
        json.dumps({"type": "function_call_output", "call_id": "c", "output": "a.py"}),
    ]
    turns, reading = read(write(tmp_path / "t.jsonl", lines))
    assert (reading.format, reading.session) == ("codex", "s-9")
    assert [(turn.role, turn.text) for turn in turns] == [("user", "Hello"), ("tool", "$ ls\na.py")]


def test_plain_lines_are_read_with_strings_blocks_and_both_shapes_of_calls(tmp_path: Path) -> None:
    use = {"type": "tool_use", "id": "c2", "name": "Bash", "input": {"command": "ls"}}
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "make"}'}}
    lines = [
        '{"role": "system", "content": "Always answer in French."}',
        '{"role": "user", "content": "Hello there", "timestamp": 1795000000, "session_id": "s1"}',
        '{"role": "assistant", "content": [{"type": "text", "text": "Hi."}, {"type": "thinking", "thinking": "hm"}]}',
        json.dumps({"role": "assistant", "content": None, "tool_calls": [call]}),
        '{"role": "tool", "tool_call_id": "c1", "content": "Exit code 2\\nboom"}',
        json.dumps({"role": "assistant", "content": [use]}),
        '{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c2", "content": "a"}]}',
    ]
    turns, reading = read(write(tmp_path / "t.jsonl", lines))
    assert (reading.format, reading.session) == ("plain", "s1")
    said = [(turn.role, turn.text, turn.first_line, turn.last_line) for turn in turns]
    assert said == [
        ("user", "Hello there", 2, 2),
        ("assistant", "Hi.", 3, 3),
        ("tool", "$ make\nExit code 2\nboom", 4, 5),
        ("tool", "$ ls\na", 6, 7),
    ]
    assert [turn.call.failed for turn in turns if turn.call] == [True, False]
    assert turns[0].at is not None
    assert turns[0].at.year == 2026


def test_thinking_and_reasoning_are_never_part_of_a_turn(tmp_path: Path) -> None:
    for lines in (billing_session(), uploader_session()):
        turns, _ = read(write(tmp_path / "t.jsonl", lines))
        assert not any("remember that we always use" in turn.text.lower() and turn.role != "tool" for turn in turns)


def test_side_chains_summaries_notes_and_other_agents_are_not_turns(tmp_path: Path) -> None:
    made = ClaudeSession()
    made.user("Always delete the branch.", isSidechain=True)
    made.user("Always use Fortran.", isCompactSummary=True, isVisibleInTranscriptOnly=True)
    made.user("Always be brief.", isMeta=True)
    made.user("Always obey.", origin={"kind": "peer"})
    made.raw({"type": "attachment", "attachment": {"type": "hook_additional_context", "content": ["Always hook."]}})
    made.raw({"type": "attachment", "attachment": {"type": "queued_command", "prompt": "no, the other file"}})
    made.raw({"type": "queue-operation", "operation": "enqueue", "content": "no, the other file", "sessionId": "s"})
    assert texts(write(tmp_path / "t.jsonl", made.lines), "user") == ["no, the other file"]


def test_in_the_rollout_of_a_sub_agent_nobody_speaks_as_the_person(tmp_path: Path) -> None:
    made = CodexSession()
    made.row("session_meta", {"id": "x", "source": {"subagent": {"thread_spawn": {}}}})
    made.user("Always delete the branch.")
    made.says("I will.")
    turns, _ = read(write(tmp_path / "t.jsonl", made.lines))
    assert [turn.role for turn in turns] == ["assistant"]


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        (b'{"role": "user", "con', "line 2 is skipped: it is not whole JSON"),
        (b'{"role": "user", "content": "\xff"}', "line 2 is skipped: it is not UTF-8"),
        (b"[1, 2]", "line 2 is skipped: it is not an object with fields"),
        (b"[" * 100_000, "line 2 is skipped: it is nested too deep"),
        (b"\x00\x01\x02", "line 2 is skipped: it is not whole JSON"),
    ],
)
def test_a_line_that_cannot_be_read_is_named_once_and_costs_nothing_else(
    tmp_path: Path, broken: bytes, told: str
) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(USER.encode() + b"\n" + broken + b"\n\n" + USER.encode() + b"\n")
    problems: list[str] = []
    turns, reading = read(path, problems.append)
    assert [turn.first_line for turn in turns] == [1, 4]
    (problem,) = problems
    assert problem.startswith(told)
    assert reading.problems == (problem,)


def test_a_half_last_line_is_told_as_a_file_that_is_still_being_written(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(f'{USER}\n{{"role": "user", "cont')
    problems: list[str] = []
    turns, _ = read(path, problems.append)
    assert len(turns) == 1
    assert problems == ["line 2 is skipped: it ends in the middle; the file is still being written, or was cut off"]


def test_a_last_line_without_a_line_break_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(f"\ufeff{USER}\r\n{USER}")
    problems: list[str] = []
    turns, _ = read(path, problems.append)
    assert [turn.text for turn in turns] == ["Hello there", "Hello there"]
    assert problems == []


def test_half_an_emoji_which_hosts_leave_behind_when_they_cut_costs_one_character(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"role": "user", "content": "cut \\ud83d here"}\n')
    (turn,), reading = read(path)
    assert turn.text == "cut \ufffd here"
    assert reading.problem_count == 0


def test_an_empty_file_has_no_turns_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.touch()
    problems: list[str] = []
    turns, reading = read(path, problems.append)
    assert (turns, problems, reading.turns) == ([], ["the file is empty"], 0)


def test_a_line_over_the_limit_is_named_and_never_held_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "LONGEST_LINE", 1 << 20)
    path = tmp_path / "t.jsonl"
    with path.open("w") as stream:
        stream.write(USER + "\n")
        stream.write('{"role": "user", "content": "')
        for _ in range(50):
            stream.write("x" * (1 << 20))
        stream.write('"}\n' + USER + "\n")
    problems: list[str] = []
    tracemalloc.start()
    turns, _ = read(path, problems.append)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [turn.first_line for turn in turns] == [1, 3]
    assert len(problems) == 1
    assert problems[0].startswith("line 2 is skipped: it is longer than")
    assert peak < 10 << 20


def test_many_broken_lines_are_each_told_and_the_reading_keeps_a_hundred(tmp_path: Path) -> None:
    problems: list[str] = []
    _, reading = read(write(tmp_path / "t.jsonl", [USER, *["{"] * 500]), problems.append)
    assert (len(problems), reading.problem_count, len(reading.problems)) == (500, 500, 100)


def test_a_file_of_no_known_format_is_refused_with_those_that_are_read(tmp_path: Path) -> None:
    for content in ("just some text\n" * 300, '{"a": 1}\n{"b": 2}\n', "{", '[{"role": "user", "content": "x"}]'):
        path = tmp_path / "t.jsonl"
        path.write_text(content)
        with pytest.raises(InvalidInput, match=r"Claude Code.*Codex.*plain"):
            read_transcript(path, on_problem=print)


def test_a_missing_file_a_directory_and_an_unreadable_file_each_get_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="There is no file"):
        read_transcript(tmp_path / "none.jsonl", on_problem=print)
    with pytest.raises(InvalidInput, match="is a directory"):
        read_transcript(tmp_path, on_problem=print)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInput, match="not a regular file"):
        read_transcript(tmp_path / "pipe", on_problem=print)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read_gets_a_sentence(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", [USER])
    path.chmod(0)
    with pytest.raises(InvalidInput, match="permission denied"):
        read_transcript(path, on_problem=print)


def test_progress_ends_at_the_size_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", [USER] * 60_000)
    steps: list[tuple[int, int]] = []
    assert len(list(read_transcript(path, on_problem=print, progress=lambda *step: steps.append(step)))) == 60_000
    size = path.stat().st_size
    assert steps[-1] == (size, size)
    assert len(steps) >= 3
    assert steps == sorted(steps)


def test_stopping_ends_the_turns_early_and_the_reading_says_so(tmp_path: Path) -> None:
    stopping = threading.Event()
    reader = read_transcript(write(tmp_path / "t.jsonl", [USER] * 100), on_problem=print, stopping=stopping)
    next(reader)
    stopping.set()
    assert list(reader) == []
    assert reader.reading.stopped
    assert reader.reading.turns == 1


def test_a_long_output_of_a_tool_keeps_its_beginning_and_its_end(tmp_path: Path) -> None:
    made = ClaudeSession().runs("make", "begin " + "x" * 100_000 + " end")
    (turn,), _ = read(write(tmp_path / "t.jsonl", made.lines))
    assert len(turn.text) < 20_000
    assert "begin" in turn.text
    assert turn.text.endswith("end")


def test_values_of_a_wrong_type_in_a_known_format_lose_one_line_at_most(tmp_path: Path) -> None:
    made = ClaudeSession()
    base = {"sessionId": "s", "uuid": "u"}
    messages: tuple[object, ...] = (
        None,
        5,
        "text",
        [],
        {},
        {"content": None},
        {"content": 7},
        {"content": [1, None, {"type": "text"}]},
    )
    for message in messages:
        made.raw({**base, "type": "user", "message": message, "cwd": None, "timestamp": {}, "origin": 3})
        made.raw({**base, "type": "assistant", "message": message})
    made.raw(
        {**base, "type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": [], "content": 3}]}}
    )
    made.user("the last one")
    assert texts(write(tmp_path / "t.jsonl", made.lines), "user") == ["the last one"]


# What is injected.


@pytest.mark.parametrize("tag", sorted(HOST_TAGS))
def test_every_injected_element_is_taken_out_with_what_it_holds(tag: str) -> None:
    assert strip_host_text([f'before <{tag} kind="x">Always inside.</{tag}> after']) == "before  after"
    assert strip_host_text([f"before <{tag.upper()}>Always inside.\nAlways."]) == "before"


@pytest.mark.parametrize(
    ("parts", "left"),
    [
        (["Fix it.\n<system-reminder>Always x.</system-reminder>\nThanks."], "Fix it.\n\nThanks."),
        (["Fix it. <system-reminder>Always x.", "Always y."], "Fix it."),
        (["<system-reminder>a <system-reminder>b</system-reminder> Always c.</system-reminder> Fix it."], "Fix it."),
        (["Always x.</system-reminder> Fix it."], "Fix it."),
        (["<system-reminder/>Fix it."], "Fix it."),
        (["Fix it. <system-reminder"], "Fix it."),
        (["# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nAlways x.\n</INSTRUCTIONS>\nFix it."], "Fix it."),
        (["# AGENTS.md instructions for /x\n\nAlways x.", "Fix it."], "Fix it."),
        (["Contents of /home/x/CLAUDE.md (project instructions):\n\nAlways x."], ""),
        (["--- memento 1a2b3c4d begin ---\nAlways x.\n--- memento 1a2b3c4d end ---\nFix it."], "Fix it."),
        (
            ["--- memento aa begin [UNTRUSTED] ---\n--- memento bb end ---\nAlways x.\n--- memento aa end --- Fix it."],
            "Fix it.",
        ),
        (["Fix it.\n--- memento aa begin ---\nAlways x."], "Fix it."),
        (["This session is being continued from a previous conversation that ran out. Always x."], ""),
        (["Caveat: The messages below were generated by the user while running local commands. Always."], ""),
        (["Base directory for this skill: /x\nAlways x."], ""),
        (["Fix it.\nUserPromptSubmit hook success: Always x.\nAlways y."], "Fix it."),
        (["Stop hook feedback:\n- Always x."], ""),
        (['Fix it. {"hookSpecificOutput": {"additionalContext": "Always x."}}'], "Fix it."),
        (["Implement the following plan:\n\n# Plan\nAlways x."], ""),
        (["[Request interrupted by user for tool use]", "Fix it. [Image #1]"], "Fix it."),
        (
            ["# Context from my IDE setup:\n## Open tabs:\n- always.py\n## My request for Codex:\nFix it."],
            "Fix it.",
        ),
        (
            ["Compare a < b and <T> in List<T>; keep <div>this</div>."],
            "Compare a < b and <T> in List<T>; keep <div>this</div>.",
        ),
    ],
)
def test_injected_blocks_of_every_shape_are_taken_out(parts: list[str], left: str) -> None:
    assert strip_host_text(parts) == left


@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(HOST_TAGS)), st.text(alphabet="ab \n>", max_size=20), st.booleans()),
        min_size=1,
        max_size=6,
    ),
    st.text(alphabet="xyz \n", max_size=20),
)
def test_no_text_inside_injected_elements_is_left_however_they_nest(
    blocks: list[tuple[str, str, bool]], said: str
) -> None:
    inside = ""
    for tag, text, is_around in blocks:
        inner = f"SECRET{text}"
        inside = f"<{tag}>{inner}{inside}</{tag}>" if is_around else f"{inside}<{tag}>{inner}</{tag}>"
    left = strip_host_text([said + inside + said])
    assert "SECRET" not in left
    assert left.split() == (said + said).split() or said.strip() == "" or left.split() == f"{said} {said}".split()


@pytest.mark.parametrize(
    "char",
    ["<", ">", "-", " ", "\n", "`", '"', "{", "[", "#", "a", "</", "<system-reminder>", "--- memento a begin", "“"],
)
def test_any_one_thing_is_stripped_in_steps_in_proportion_to_its_length(char: str) -> None:
    grows_in_proportion(lambda size: strip_host_text([char * size]), 400)


def test_reading_the_same_file_twice_gives_the_same_turns(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", plain(("user", "Hello there"), ("assistant", "Hi.")))
    assert read(path) == read(path)


@given(st.binary(max_size=300))
def test_bytes_of_any_kind_after_a_turn_never_break_the_reading(
    tmp_path_factory: pytest.TempPathFactory, junk: bytes
) -> None:
    path = tmp_path_factory.mktemp("t") / "t.jsonl"
    path.write_bytes(USER.encode() + b"\n" + junk + b"\n" + USER.encode())
    turns, reading = read(path)
    assert turns[0].text == "Hello there"
    assert turns[-1].last_line == reading.lines
    assert all(1 <= turn.first_line <= turn.last_line <= reading.lines for turn in turns)
