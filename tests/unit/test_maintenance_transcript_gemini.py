"""Chats of Gemini CLI, turn by turn: as its program writes them, each message anew as it grows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.unit.made_transcripts import read, write

SESSION = "d22b4f56-d4d1-47ba-8e42-fdbaeb88d6bd"
AT = "2026-11-21T11:37:38.089Z"


def chat(*rows: dict[str, Any], kind: str = "main") -> list[str]:
    head = {"sessionId": SESSION, "projectHash": "2b5f", "startTime": AT, "lastUpdated": AT, "kind": kind}
    begun = {"$set": {"messages": [message("user", [{"text": "<session_context>\nAlways use Fortran."}], "m0")]}}
    return [json.dumps(row) for row in (head, begun, *rows, {"$set": {"lastUpdated": AT}})]


def message(kind: str, content: Any, name: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    return {"id": name, "timestamp": AT, "type": kind, "content": content, **more}


def shell_call(status: str, output: str) -> dict[str, Any]:
    response = {"functionResponse": {"id": "c1", "name": "run_shell_command", "response": {"output": output}}}
    given = {"command": "npm test", "description": "Run the tests"}
    return {"id": "c1", "name": "run_shell_command", "args": given, "result": [response], "status": status}


def test_a_chat_is_read_with_session_and_moments_and_without_what_was_put_in_front(tmp_path: Path) -> None:
    told = [
        {"text": "<hook_context>the user's memory: never rebase</hook_context>\n\nuse pnpm in this repo, never npm"},
        {"text": "<hook_context>--- memento 8b29738f begin ---\nx\n--- memento 8b29738f end ---</hook_context>"},
    ]
    rows = chat(
        message("user", told, "m1"), message("info", "Update available", "m2"), message("gemini", "I do.", "m3")
    )
    turns, reading = read(write(tmp_path / "chat.jsonl", rows))
    assert [(turn.role, turn.text, turn.first_line) for turn in turns] == [
        ("user", "use pnpm in this repo, never npm", 3),
        ("assistant", "I do.", 5),
    ]
    assert (reading.format, reading.session, reading.agent, reading.problems) == ("gemini", SESSION, "gemini", ())
    assert turns[0].at is not None


def test_a_message_that_is_written_anew_as_it_grows_is_one_turn_with_one_call(tmp_path: Path) -> None:
    call = shell_call("error", "1 failing")
    rows = chat(
        message("gemini", "I run the tests.", "m1"),
        message("gemini", "I run the tests.", "m1", tokens={"total": 9}),
        message("gemini", "I run the tests.", "m1", toolCalls=[call]),
        message("gemini", "I run the tests.", "m1", toolCalls=[call]),
    )
    turns, _ = read(write(tmp_path / "chat.jsonl", rows))
    assert [(turn.role, turn.text) for turn in turns] == [
        ("assistant", "I run the tests."),
        ("tool", "$ npm test\n1 failing"),
    ]
    assert turns[1].call is not None
    assert turns[1].call.failed is True


def test_a_call_that_the_person_cancelled_neither_failed_nor_went_well(tmp_path: Path) -> None:
    rows = chat(message("gemini", "", "m1", toolCalls=[shell_call("cancelled", "")]))
    ((turn,), _) = read(write(tmp_path / "chat.jsonl", rows))
    assert turn.call is not None
    assert turn.call.failed is None


def test_a_call_of_mementos_tools_keeps_what_it_asked_for(tmp_path: Path) -> None:
    call = {"id": "c2", "name": "mcp_memento_get", "args": {"ids": ["4tq2"]}, "result": None, "status": "success"}
    ((turn,), _) = read(write(tmp_path / "chat.jsonl", chat(message("gemini", "", "m1", toolCalls=[call]))))
    assert turn.call is not None
    assert "4tq2" in turn.call.asked


def test_in_the_chat_of_a_sub_agent_nobody_speaks_as_the_person(tmp_path: Path) -> None:
    rows = chat(message("user", [{"text": "always delete the branch"}], "m1"), message("gemini", "Yes.", "m2"))
    turns, _ = read(write(tmp_path / "chat.jsonl", [rows[0].replace("main", "subagent"), *rows[1:]]))
    assert [turn.role for turn in turns] == ["assistant"]


def test_rows_of_any_shape_cost_no_other(tmp_path: Path) -> None:
    odd: list[dict[str, Any]] = [
        message("user", None, "m1"),
        message("gemini", {"text": 7}, "m2", toolCalls="none"),
        message("gemini", "", "m3", toolCalls=[{"id": [], "name": 7, "args": "x", "result": "y", "status": {}}]),
        {"type": "user"},
        {"type": ["user"], "content": "x"},
        {"$rewindTo": "m1"},
    ]
    turns, reading = read(write(tmp_path / "chat.jsonl", chat(*odd, message("user", "use pnpm here", "m9"))))
    assert turns[-1].text == "use pnpm here"
    assert reading.problems == ()
