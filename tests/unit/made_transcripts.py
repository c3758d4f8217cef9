"""Transcripts as Claude Code, Codex and plain chat programs write them, made line by line for tests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from memento_tui.maintenance.transcripts.reader import TranscriptSummary, Turn, read_transcript

__all__ = ["ClaudeSession", "CodexSession", "billing_session", "plain", "read", "uploader_session", "write"]

BILLING = "7c1e2b9a-0d53-4b7e-9f0f-2f4e7a5d1c11"
UPLOADER = "019a8f3c-5b1e-7d20-9c44-8a7f6e5d4c3b"


class ClaudeSession:
    """The lines of one Claude Code session; each call of a tool is followed by its result."""

    def __init__(self, session: str = BILLING, cwd: str = "/home/dana/billing") -> None:
        self.lines: list[str] = []
        self._base = {
            "userType": "external",
            "cwd": cwd,
            "sessionId": session,
            "version": "2.1.12",
            "gitBranch": "main",
        }
        self._calls = 0
        self.raw({"type": "file-history-snapshot", "messageId": "m0", "snapshot": {}, "isSnapshotUpdate": False})

    def raw(self, row: object) -> ClaudeSession:
        self.lines.append(json.dumps(row, ensure_ascii=False))
        return self

    def _row(self, kind: str, message: dict[str, Any], **extra: object) -> ClaudeSession:
        number = len(self.lines)
        at = f"2026-11-{1 + number // 1440 % 20:02}T{8 + number // 60 % 16:02}:{number % 60:02}:00.000Z"
        ids = {"uuid": f"u{number}", "parentUuid": f"u{number - 1}", "timestamp": at, "isSidechain": False}
        return self.raw({**self._base, **ids, "type": kind, "message": message, **extra})

    def user(self, text: str | list[dict[str, Any]], **extra: object) -> ClaudeSession:
        return self._row("user", {"role": "user", "content": text}, **extra)

    def says(self, text: str, **extra: object) -> ClaudeSession:
        blocks = [{"type": "text", "text": text}]
        return self._row("assistant", {"role": "assistant", "model": "claude", "content": blocks}, **extra)

    def thinks(self, text: str) -> ClaudeSession:
        blocks = [{"type": "thinking", "thinking": text, "signature": "EoID"}]
        return self._row("assistant", {"role": "assistant", "model": "claude", "content": blocks})

    def tool(self, name: str, given: dict[str, Any], output: str, *, fails: bool = False) -> ClaudeSession:
        self._calls += 1
        call = f"toolu_{self._calls:06}"
        use = {"type": "tool_use", "id": call, "name": name, "input": given}
        self._row("assistant", {"role": "assistant", "model": "claude", "content": [use]})
        result = {"tool_use_id": call, "type": "tool_result", "content": output, "is_error": fails}
        return self.user([result], toolUseResult={"stdout": output, "stderr": "", "interrupted": False})

    def runs(self, command: str, output: str = "", code: int = 0) -> ClaudeSession:
        printed = f"Exit code {code}\n{output}" if code else output
        return self.tool("Bash", {"command": command, "description": "Run"}, printed, fails=code != 0)


class CodexSession:
    """The lines of one Codex rollout."""

    def __init__(self, session: str = UPLOADER, cwd: str = "/home/dana/uploader") -> None:
        self.lines: list[str] = []
        self._calls = 0
        self.row("session_meta", {"id": session, "cwd": cwd, "originator": "codex_cli_rs", "cli_version": "0.140.0"})
        self.row("turn_context", {"cwd": cwd, "approval_policy": "on-request", "model": "gpt-5-codex"})

    def row(self, kind: str, payload: dict[str, Any]) -> CodexSession:
        number = len(self.lines)
        at = f"2026-11-12T{8 + number // 60 % 16:02}:{number % 60:02}:00.000Z"
        self.lines.append(json.dumps({"timestamp": at, "type": kind, "payload": payload}, ensure_ascii=False))
        return self

    def item(self, payload: dict[str, Any]) -> CodexSession:
        return self.row("response_item", payload)

    def user(self, *texts: str) -> CodexSession:
        blocks = [{"type": "input_text", "text": text} for text in texts]
        self.item({"type": "message", "role": "user", "content": blocks})
        return self.row("event_msg", {"type": "user_message", "message": texts[-1]})

    def says(self, text: str) -> CodexSession:
        self.row("event_msg", {"type": "agent_message", "message": text})
        return self.item({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})

    def reasons(self, text: str) -> CodexSession:
        summary = [{"type": "summary_text", "text": text}]
        self.row("event_msg", {"type": "agent_reasoning", "text": text})
        return self.item({"type": "reasoning", "summary": summary, "content": None, "encrypted_content": "gAAAA"})

    def runs(self, command: str, output: str = "", code: int = 0) -> CodexSession:
        self._calls += 1
        call = f"call_{self._calls:06}"
        given = json.dumps({"command": ["bash", "-lc", command], "workdir": "/home/dana/uploader"})
        self.item({"type": "function_call", "name": "shell", "arguments": given, "call_id": call})
        printed = json.dumps({"output": output, "metadata": {"exit_code": code, "duration_seconds": 0.4}})
        return self.item({"type": "function_call_output", "call_id": call, "output": printed})

    def executes(self, command: str, output: str = "", code: int = 0) -> CodexSession:
        """Run a command the way newer versions note it."""
        self._calls += 1
        call = f"call_{self._calls:06}"
        given = json.dumps({"cmd": command})
        self.item({"type": "function_call", "name": "exec_command", "arguments": given, "call_id": call})
        head = f"Chunk ID: 4af1\nWall time: 0.41 seconds\nProcess exited with code {code}\n"
        return self.item({"type": "function_call_output", "call_id": call, "output": f"{head}Output:\n{output}"})


def plain(*said: tuple[str, str]) -> list[str]:
    """Return the lines of a plain transcript."""
    return [json.dumps({"role": role, "content": content}, ensure_ascii=False) for role, content in said]


def write(path: Path, lines: Iterable[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def read(path: Path, on_problem: Callable[[str], None] | None = None) -> tuple[list[Turn], TranscriptSummary]:
    told: list[str] = []
    reader = read_transcript(path, on_problem=on_problem or told.append)
    turns = list(reader)
    return turns, reader.reading


def billing_session() -> list[str]:
    """Return a day's work in a billing service, as Claude Code noted it."""
    made = ClaudeSession()
    made.user(
        "<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>"
    )
    made.user("<local-command-stdout>Always answer in French.</local-command-stdout>")
    made.user(
        "the invoice export test fails since yesterday, can you find out why?\n\n"
        "<system-reminder>\nCLAUDE.md: Never use the ORM in migrations.\n</system-reminder>"
    )
    made.thinks("I should remember that we always use mocks. The root cause was probably the timezone handling code.")
    made.says("I'll look at the test and run it.")
    made.runs("pytest tests/export", "bash: line 1: pytest: command not found", 127)
    made.runs("uv run pytest tests/export", "1 failed\nE  assert '2026-11-01' == '2026-10-31'", 1)
    made.says("The test compares dates. The problem might be the rounding of amounts, I'll check.")
    made.tool(
        "Read", {"file_path": "/home/dana/billing/export.py"}, "1\tdef export(): # always remember that we use cron"
    )
    made.says("The root cause was that `export_day` converted the timestamp to local time before truncating it.")
    made.tool("Edit", {"file_path": "/home/dana/billing/export.py"}, "The file has been updated successfully.")
    made.runs("uv run pytest tests/export", "4 passed")
    made.says("Fixed. All four tests pass now.")
    made.user("great. from now on, store every timestamp in UTC and convert only in the templates")
    made.says("Understood.")
    made.user("does the staging database have the new index? should we always add them concurrently?")
    made.runs("psql -h staging -c '\\di'", "idx_invoices_month")
    made.says("Yes, it is on the staging server, which runs PostgreSQL 14.")
    made.user("no, staging runs PostgreSQL 16, not 14")
    made.says("You're right, sorry.")
    made.user("remember that the nightly export needs the VPN, otherwise it hangs without an error")
    made.says("Noted.")
    made.user("next we need to backfill the invoices of October. TODO: write the runbook for the export")
    made.says("I'll start with the backfill.")
    made.tool("Write", {"file_path": "/home/dana/billing/backfill.py"}, "File created successfully.")
    made.runs("uv run python backfill.py --month 2026-10", "backfilled 312 invoices")
    made.says("I backfilled the October invoices: 312 rows were written.")
    made.user("skip the Windows builds until 2027-01-15, the runner is being replaced")
    made.says("Will do.")
    made.user("[Request interrupted by user for tool use]")
    made.user("we decided to keep the PDF renderer in its own process because it leaks memory")
    made.says("Makes sense.")
    made.user("we're waiting for the tax office to confirm the new VAT codes")
    made.says("I'll leave the VAT table alone.")
    made.user("Subagent prompt: always delete the branch", isSidechain=True)
    made.user(
        "This session is being continued from a previous conversation. Always use Fortran.", isCompactSummary=True
    )
    made.user("thanks, that's it for today")
    made.says("You're welcome. Remaining: the runbook for the export.")
    return made.lines


def uploader_session() -> list[str]:
    """Return an afternoon's work on an uploader, as Codex noted it."""
    made = CodexSession()
    made.user(
        "<environment_context>\n  <cwd>/home/dana/uploader</cwd>\n  <shell>bash</shell>\n</environment_context>",
        "# AGENTS.md instructions for /home/dana/uploader\n\nAlways write Rust.\nNever use threads.",
        "The upload test hangs on CI. Find out why and fix it.",
    )
    made.reasons("Remember that we always use tokio here. We decided to use threads because of the lock.")
    made.says("I'll run the test locally first.")
    made.runs("npm test -- upload", 'npm error Missing script: "test"', 1)
    made.runs("pnpm test -- upload", "1 failing\n  timeout of 2000ms exceeded", 1)
    made.says("Let me look at how the server is closed.")
    made.executes("cat test/upload.test.ts", "// TODO: never remember this\nserver.close()")
    made.says("It turned out that the fixture closed the socket before the server had drained its queue.")
    made.runs("apply_patch <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF", "Success. Updated the following files:")
    made.runs("pnpm test -- upload", "12 passing")
    made.says("The upload test passes now.")
    made.user("good. we use pnpm in this repo, never npm")
    made.says("Understood.")
    made.user("why did it only hang on CI?")
    made.says("The CI machine is slower, so the race showed there.")
    made.user("I prefer small pull requests with one commit each")
    made.says("I'll split the change.")
    made.user("test_resume_after_crash is known to be flaky, waiting on the fix of the mock server")
    made.says("I'll leave it out.")
    made.user("remind me to raise the part size once the quota is lifted")
    made.says("I will.")
    made.user("please don't add dependencies without asking me")
    made.says("Understood.")
    made.user("don't commit yet")
    made.says("I'll wait.")
    made.user("let's go with multipart uploads of 8 MB because the proxy cuts off larger bodies")
    made.says("I decided to keep the part size in the config file because the tests need smaller parts.")
    made.user("ok commit it and push")
    made.runs("git commit -am 'Split the upload into parts'", "[main 3f2a1b0]")
    made.says("Committed and pushed.")
    return made.lines
