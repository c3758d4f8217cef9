"""Claude Code, as far as memento can tell: it runs the commands that its settings name, and keeps a transcript.

A session is played back from a recording: lines of what it sent to hooks, called over MCP and said, in order. Nothing
is known here of memento but what `memento install` wrote into the person's files.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import Implementation

from tests.journeys.hook_host import UNHURRIED_PATH
from tests.journeys.host_home import HostHome
from tests.journeys.mcp_agent import Agent
from tests.moved_date import date_variables
from tests.unit.made_transcripts import ClaudeSession

__all__ = ["RECORDING", "ClaudeCode"]

RECORDING = Path(__file__).parent / "data" / "claude_code_session.jsonl"
_LONGEST_SECONDS = 120
"""For a hook, whatever time it has in the settings: a shared machine may need more."""


class ClaudeCode:
    """One session in one directory."""

    def __init__(self, house: HostHome, session: str, cwd: Path | None = None) -> None:
        self.house, self.session, self.cwd = house, session, cwd or house.project
        folder = house.home / ".claude" / "projects" / re.sub(r"\W", "-", str(self.cwd))
        folder.mkdir(parents=True, exist_ok=True)
        self.transcript = folder / f"{session}.jsonl"
        self.said = ClaudeSession(session, str(self.cwd))
        self.told: dict[str, str] = {}
        """What each step put into the model's context, by the step's name."""
        self.steps = [json.loads(line) for line in RECORDING.read_text(encoding="utf-8").splitlines()]

    def play(self, agent: Agent, until: str = "") -> None:
        """Go on with the recording, up to and with the step of that name, else to its end."""
        while self.steps and self.play_one(agent) != until:
            pass

    def play_one(self, agent: Agent) -> str | None:
        """Do the next step of the recording; return its name if it has one."""
        step = self.steps.pop(0)
        name: str | None = step.get("step")
        told = self._do(step, agent)
        if name:
            self.told[name] = told
        return name

    def _do(self, step: Mapping[str, Any], agent: Agent) -> str:
        match step:
            case {"hook": given}:
                return self.fire(**json.loads(json.dumps(given).replace("{cwd}", str(self.cwd))))
            case {"mcp": tool, "arguments": arguments}:
                told = agent.read(tool, **arguments)
                self.said.tool(f"mcp__memento__{tool}", arguments, told)
            case {"tool": tool, "given": given, "printed": told}:
                self.said.tool(tool, given, told)
            case {"says": told}:
                self.said.says(told)
            case {"user": told, **extra}:
                self.said.user(told, **extra)
        self._save()
        return str(told)

    def fire(self, hook_event_name: str, **given: object) -> str:
        """Run the hooks of an event; return what they put into the model's context."""
        if hook_event_name == "UserPromptSubmit":
            self.said.user(str(given["prompt"]))
        sent = {
            "session_id": self.session,
            "transcript_path": str(self.transcript),
            "cwd": str(self.cwd),
            "hook_event_name": hook_event_name,
            **given,
        }
        contexts = [self._run(hook, sent) for hook in self._hooks(hook_event_name, str(given.get("tool_name", "")))]
        context = "\n".join(filter(None, contexts))
        if context:
            attachment = {"type": "hook_additional_context", "content": [context], "hookEvent": hook_event_name}
            self.said.raw({"type": "attachment", "attachment": attachment, "sessionId": self.session})
        self._save()
        return context

    def _hooks(self, event: str, tool: str) -> list[dict[str, Any]]:
        settings = json.loads((self.house.home / ".claude" / "settings.json").read_text())
        groups = settings["hooks"].get(event, [])
        return [
            hook
            for group in groups
            if not group.get("matcher") or re.fullmatch(group["matcher"], tool)
            for hook in group["hooks"]
        ]

    def _run(self, hook: Mapping[str, Any], sent: object) -> str:
        assert hook["type"] == "command"
        ended = subprocess.run(  # noqa: S603 - a line that memento wrote
            ["/bin/sh", "-c", hook["command"]],
            input=json.dumps(sent).encode(),
            capture_output=True,
            timeout=_LONGEST_SECONDS,
            check=False,
            env={**self._environment, "CLAUDE_CODE_CHILD_SESSION": "1", "PYTHONPATH": UNHURRIED_PATH},
            cwd=self.cwd,
        )
        assert (ended.returncode, ended.stderr) == (0, b""), ended
        if not ended.stdout:
            return ""
        answer = json.loads(ended.stdout)
        assert set(answer) == {"hookSpecificOutput"}
        assert set(answer["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
        return str(answer["hookSpecificOutput"]["additionalContext"])

    @property
    def _environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.house.home),
            "PATH": "/usr/bin:/bin",
            "CLAUDECODE": "1",
            "CLAUDE_CODE_SESSION_ID": self.session,
            "CLAUDE_PROJECT_DIR": str(self.cwd),
            **date_variables(),
        }

    @contextmanager
    def agent(self) -> Iterator[Agent]:
        """Start the MCP server that the person's file names, and connect to it."""
        entry = json.loads((self.house.home / ".claude.json").read_text())["mcpServers"]["memento"]
        server = StdioServerParameters(
            command=entry["command"], args=entry["args"], cwd=self.cwd, env=self._environment
        )
        log = self.house.home / f"{self.session}.server.log"
        with start_blocking_portal() as portal, log.open("w") as errors:
            name = Implementation(name="claude-code", version="2.1.197")
            client = Client(stdio_client(server, errlog=errors), client_info=name, read_timeout_seconds=60)
            with portal.wrap_async_context_manager(client):
                yield Agent(portal, client)

    def _save(self) -> None:
        """Let the transcript grow by what was said since."""
        written = self.transcript.read_bytes().count(b"\n") if self.transcript.exists() else 0
        with self.transcript.open("a", encoding="utf-8") as stream:
            stream.writelines(f"{line}\n" for line in self.said.lines[written:])
