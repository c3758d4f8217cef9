"""The hosts' own programs, after `memento install` and with a model that is this test: what reaches the model.

They are skipped where a program is not on PATH. Nothing leaves this machine. OpenCode is not among them: it fetches
its plugins' library from the network when it starts.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.fake_model import FakeModel, UseTool, fake_model
from tests.journeys.host_home import HostHome

DEPLOY = "Deploys of the billing service go through the staging lane first, with scripts/deploy.sh --region ams."
ESSENTIAL = "Every migration of a database is reversible, and a test runs it both ways on a copy."
QUESTION = "How do deploys of the billing service go?"
FENCE = re.compile(r"^--- memento (\w+) begin ---\n(.*?)\n--- memento \1 end ---", re.MULTILINE | re.DOTALL)
DONE = 0


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with fake_model() as made:
        yield made


@pytest.fixture
def house(tmp_path: Path) -> HostHome:
    return HostHome(tmp_path)


def run_host(house: HostHome, command: list[str], **environment: str) -> str:
    """Run a host's program for one turn, with none of this shell's settings; return what it printed."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not on PATH")
    ended = subprocess.run(  # noqa: S603 - a host
        command,
        env={"HOME": str(house.home), "PATH": os.environ["PATH"], "TERM": "xterm-256color", **environment},
        cwd=house.project,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=150,
        check=False,
    )
    assert ended.returncode == DONE, ended
    return ended.stdout.decode()


def ask_claude(house: HostHome, model: FakeModel, prompt: str, *options: str) -> dict[str, Any]:
    """Have Claude Code take one turn; return what it tells about it."""
    told = run_host(
        house,
        ["claude", "-p", prompt, "--output-format", "json", *options],
        ANTHROPIC_BASE_URL=model.url,
        ANTHROPIC_API_KEY="none",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        MCP_CONNECTION_NONBLOCKING="0",  # the first turn waits for the server, however busy the machine is
        MCP_CONNECT_TIMEOUT_MS="60000",
    )
    answer: dict[str, Any] = json.loads(told)
    assert not answer["is_error"], answer
    return answer


def ask_codex(house: HostHome, model: FakeModel, prompt: str) -> None:
    """Have Codex take one turn; a person trusts the hooks once, which a command without a terminal cannot."""
    provider = f'{{name="test",base_url="{model.url}/v1",wire_api="responses",env_key="TEST_KEY"}}'
    settings = [f"model_providers.test={provider}", 'model_provider="test"', 'model="none"']
    options = [word for setting in settings for word in ("-c", setting)]
    run_host(house, ["codex", "exec", "--dangerously-bypass-hook-trust", *options, prompt], TEST_KEY="none")


def ask_gemini(house: HostHome, model: FakeModel, prompt: str) -> None:
    """Have Gemini CLI take one turn; the person has chosen how to sign in, or it would ask."""
    settings = house.home / ".gemini" / "settings.json"
    chosen = json.loads(settings.read_text())
    settings.write_text(json.dumps({**chosen, "security": {"auth": {"selectedType": "gemini-api-key"}}}))
    command = ["gemini", "--skip-trust", "-m", "gemini-2.5-flash", "-p", prompt]
    run_host(house, command, GEMINI_API_KEY="none", GOOGLE_GEMINI_BASE_URL=model.url)


HOSTS: dict[str, Callable[[HostHome, FakeModel, str], object]] = {
    "claude-code": ask_claude,
    "codex": ask_codex,
    "gemini": ask_gemini,
}


def told_by_hooks(text: str) -> str:
    """Return what stands between the lines of memento's fences."""
    return "\n".join(inside for _, inside in FENCE.findall(text))


@pytest.mark.parametrize("host", HOSTS)
def test_what_is_remembered_reaches_the_model_of_a_host_after_one_command(
    house: HostHome, model: FakeModel, host: str
) -> None:
    memory = house.add(DEPLOY)
    house.add(ESSENTIAL, "--pin")
    house.add("Minou the cat eats at seven in the kitchen, and never before that.")
    house.shell.json("install", host, "--yes")

    HOSTS[host](house, model, QUESTION)

    told = told_by_hooks(model.told(0))
    assert f"{memory} fact" in told
    assert DEPLOY in told
    assert ESSENTIAL in told
    assert "Minou" not in model.told(0)
    assert "this project's namespace is projects/billing" in model.told(0)
    (session,) = house.shell.json("exposures", "--totals")["items"]
    assert session["shown"] == 2
    assert house.shell.json("status")["memory"]["last_injection"]["session"] == session["session"]
    assert house.hook_log == ""


def test_a_resumed_session_is_told_nothing_twice_and_a_prompt_about_nothing_nothing(
    house: HostHome, model: FakeModel
) -> None:
    house.add(DEPLOY)
    house.shell.json("install", "claude-code", "--yes")

    session = ask_claude(house, model, QUESTION)["session_id"]
    ask_claude(house, model, QUESTION, "--resume", session)
    ask_claude(house, model, "Which sonata did Schubert write last, and in which key?", "--resume", session)

    assert len(model.sent) == len((QUESTION, QUESTION, "Schubert"))
    assert told_by_hooks(model.told(2)).count(DEPLOY) == 1
    assert len(house.injections(session)) == 1


def test_a_file_that_the_model_reads_brings_what_went_wrong_there(house: HostHome, model: FakeModel) -> None:
    source = house.project / "export.py"
    source.write_text("def export():\n    return None\n")
    house.add("export.py: a month ends at midnight UTC, never at local midnight.", "--kind", "bugfix")
    house.shell.json("install", "claude-code", "--yes")
    model.will_answer(UseTool("Read", {"file_path": str(source)}), "I have read it.")

    ask_claude(house, model, "What is in the file with the exports?")

    assert "midnight" not in model.told(0)
    assert "a month ends at midnight UTC" in told_by_hooks(model.told(1))
    assert "def export()" in model.told(1)


def test_what_the_model_stores_is_the_sessions_and_is_not_told_to_it_again(house: HostHome, model: FakeModel) -> None:
    house.shell.json("install", "claude-code", "--yes")
    text = "The staging proxy of billing listens on port 8080; port 80 answers 404."
    model.will_answer(UseTool("mcp__memento__remember", {"content": text}), "Kept.")
    session = ask_claude(house, model, "Look at the proxy.", "--allowedTools", "mcp__memento__remember")["session_id"]

    ask_claude(house, model, "On which port does the staging proxy of billing listen?", "--resume", session)
    assert told_by_hooks(model.told()) == ""
    ask_claude(house, model, "On which port does the staging proxy of billing listen?")
    assert text in told_by_hooks(model.told())

    (entry,) = house.shell.json("activity")["items"]
    assert (entry["actor"], entry["agent"], entry["channel"]) == ("agent", "claude-code", "mcp")
    assert entry["session"] == session


def test_no_hook_gives_the_model_a_permission_that_the_person_did_not(house: HostHome, model: FakeModel) -> None:
    house.shell.json("install", "claude-code", "--yes")
    outside = house.home.parent / "private.txt"
    outside.write_text("nobody's business")
    model.will_answer(
        UseTool("Read", {"file_path": str(outside)}),
        UseTool("mcp__memento__remember", {"content": "The billing proxy listens on port 8080."}),
        "I was not allowed to.",
    )

    answer = ask_claude(house, model, "Look at the other file and remember it.")

    assert [one["tool_name"] for one in answer["permission_denials"]] == ["Read", "mcp__memento__remember"]
    assert "nobody's business" not in model.told()
    assert house.shell.json("list")["items"] == []


def test_what_a_session_teaches_waits_and_once_approved_the_next_session_is_told(
    house: HostHome, model: FakeModel
) -> None:
    house.shell.json("install", "claude-code", "--yes")
    model.will_answer("Understood, I will store them in UTC.")
    rule = "From now on, store every timestamp in UTC and convert only in the templates."
    session = ask_claude(house, model, rule)["session_id"]

    (waiting,) = house.waiting("store every timestamp in UTC")
    evidence = waiting["evidence"]
    assert (waiting["record"]["source"]["session"], waiting["proposed_by"]) == (session, "claude-code")
    first, _, last = evidence["lines"].partition("-")
    said = Path(evidence["transcript"]).read_text(encoding="utf-8").splitlines()[int(first) - 1 : int(last)]
    assert "store every timestamp in UTC" in "\n".join(said)

    question = "Should the templates convert a timestamp from UTC?"
    ask_claude(house, model, question)
    assert told_by_hooks(model.told()) == ""
    house.shell.json("review", "approve", waiting["id"])
    ask_claude(house, model, question)
    assert "store every timestamp in UTC" in told_by_hooks(model.told())


def test_a_chat_with_gemini_teaches_too(house: HostHome, model: FakeModel) -> None:
    house.shell.json("install", "gemini", "--yes")
    model.will_answer("Understood.")

    ask_gemini(house, model, "From now on, store every timestamp in UTC and convert only in the templates.")

    (waiting,) = house.waiting("store every timestamp in UTC")
    assert (waiting["proposed_by"], waiting["record"]["source"]["agent"]) == ("gemini", "gemini")


def test_the_plugin_brings_hooks_and_server_without_a_line_in_the_settings(house: HostHome, model: FakeModel) -> None:
    house.add(DEPLOY)
    plugin = house.home / "memento-plugin"
    house.shell.json("install", "claude-code", "--plugin", str(plugin), "--yes")

    ask_claude(house, model, QUESTION, "--plugin-dir", str(plugin))

    assert DEPLOY in told_by_hooks(model.told(0))
    assert any("memento" in tool["name"] and tool["name"].endswith("remember") for tool in model.sent[0]["tools"])
    assert not (house.home / ".claude" / "settings.json").exists()
