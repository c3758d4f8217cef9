"""The end of a turn tells the person once that a session changed much and remembered nothing; it never blocks."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from memento_tui.api import Workspace
from memento_tui.hooks.fallback import answer_by_words
from memento_tui.hooks.host_events import parse_call
from memento_tui.hooks.main import Arguments
from memento_tui.hooks.reminder import reminder_after_turn
from memento_tui.hooks.settings import read_settings
from memento_tui.storage.hook_store import HookStore
from tests.unit.made_transcripts import BILLING, ClaudeSession, write


def worked(changes: int, *tools: str) -> ClaudeSession:
    """Return a session that changed a file so many times, and called some further tools."""
    session = ClaudeSession().user("Rename the invoices.")
    for number in range(changes):
        session.tool("Edit", {"file_path": f"/w/{number}.py", "old_string": '{"name":"Edit"}'}, "done")
    for tool in tools:
        session.tool(tool, {"content": "a lesson"}, "stored")
    return session


class Turns:
    """The ends of the turns of one session, as a host without an engine reports them."""

    def __init__(self, workspace: Workspace, folder: Path) -> None:
        self.workspace, self.folder = workspace, folder
        # Nothing is to be learned from the transcripts, which would start processes.
        (workspace.paths.root / "config.toml").write_text(
            "[engine]\nenabled = false\n[hooks]\nlearn = false\nprovenance = false\n"
        )

    def end(self, session: ClaudeSession, event: str = "Stop", host: str = "claude-code", name: str = BILLING) -> Any:  # noqa: ANN401 - JSON
        transcript = write(self.folder / "session.jsonl", session.lines)
        sent = {
            "session_id": name,
            "cwd": str(self.folder),
            "transcript_path": str(transcript),
            "hook_event_name": event,
        }
        arguments = Arguments([event, "--host", host, "--data-dir", str(self.workspace.paths.root)])
        said = answer_by_words(arguments, json.dumps(sent).encode())
        return json.loads(said) if said else None


@pytest.fixture
def turns(workspace: Workspace, tmp_path: Path) -> Turns:
    workspace.remember("Invoices are kept in the blue folder.")
    return Turns(workspace, tmp_path)


def test_the_person_is_told_once_and_the_turn_ends(turns: Turns) -> None:
    assert turns.end(worked(9)) is None
    told = turns.end(worked(12))
    assert list(told) == ["systemMessage"]
    assert "changed files 12 times and remembered nothing" in told["systemMessage"]
    assert turns.end(worked(30)) is None
    assert turns.end(worked(12), name="another session") is not None


@pytest.mark.parametrize(
    "tool", ["mcp__memento__remember", "mcp__plugin_memento_memento__capture", "mcp__memento__store", "memory_store"]
)
def test_a_session_that_remembered_something_is_not_told_of(turns: Turns, tool: str) -> None:
    assert turns.end(worked(12, tool)) is None


def test_what_other_tools_store_is_not_remembered(turns: Turns) -> None:
    assert turns.end(worked(12, "mcp__memento__search", "mcp__linear__update", "store")) is not None


def test_a_command_remembers_as_well(turns: Turns) -> None:
    assert turns.end(worked(12).runs("memento add 'Invoices are blue.'")) is None
    assert turns.end(worked(12).runs("memento search invoices")) is not None


@pytest.mark.parametrize(
    ("event", "host"), [("SessionEnd", "claude-code"), ("PreCompact", "claude-code"), ("stop", "cursor")]
)
def test_only_the_end_of_a_turn_tells_and_only_hosts_that_show_it(turns: Turns, event: str, host: str) -> None:
    assert turns.end(worked(12), event, host) is None


@pytest.mark.parametrize("host", ["codex", "gemini"])
def test_other_hosts_that_show_a_notice_are_told_in_the_same_form(turns: Turns, host: str) -> None:
    told = turns.end(worked(12), "AfterAgent" if host == "gemini" else "Stop", host)
    assert list(told) == ["systemMessage"]


def test_a_setting_switches_it_off(turns: Turns) -> None:
    config = turns.workspace.paths.root / "config.toml"
    config.write_text(f"{config.read_text()}remind = false\n")
    assert read_settings(config).remind is False
    assert turns.end(worked(12)) is None


def test_a_transcript_that_is_not_there_is_no_reminder(turns: Turns, tmp_path: Path) -> None:
    sent = {"session_id": "s", "transcript_path": str(tmp_path / "none.jsonl"), "cwd": str(tmp_path)}
    arguments = Arguments(["SessionEnd", "--data-dir", str(turns.workspace.paths.root)])
    assert answer_by_words(arguments, json.dumps(sent).encode()) == ""
    arguments = Arguments(["Stop", "--data-dir", str(turns.workspace.paths.root)])
    assert answer_by_words(arguments, json.dumps(sent).encode()) == ""


def test_a_pipe_in_the_place_of_a_transcript_is_not_waited_for(turns: Turns, tmp_path: Path) -> None:
    pipe = tmp_path / "session.jsonl"
    os.mkfifo(pipe)
    sent = {"session_id": "s", "transcript_path": str(pipe), "cwd": str(tmp_path)}
    call = parse_call("claude-code", "Stop", json.dumps(sent).encode())
    assert call is not None
    store = HookStore(turns.workspace.paths.database)
    try:
        assert reminder_after_turn(call, store, read_settings(turns.workspace.paths.config)) == ""
    finally:
        store.close()


def test_nothing_is_said_of_a_transcript_that_is_too_long_to_be_read_whole(
    turns: Turns, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = worked(400)
    length = write(turns.folder / "session.jsonl", session.lines).stat().st_size
    monkeypatch.setattr(f"{reminder_after_turn.__module__}._MOST_BYTES_READ", length - 1)
    assert turns.end(session) is None
    monkeypatch.setattr(f"{reminder_after_turn.__module__}._MOST_BYTES_READ", length)
    assert turns.end(session) is not None
