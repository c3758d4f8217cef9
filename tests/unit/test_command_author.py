"""In whose name a command runs: a person decides at a terminal or with a token, an agent's shell nothing."""

from __future__ import annotations

import contextlib
import os
import pty
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.api.tokens import ScriptTokens
from memento_tui.cli.author import TOKEN_VARIABLE, command_author
from memento_tui.cli.command import Command
from memento_tui.cli.main import COMMANDS, root
from memento_tui.errors import InvalidInput, NotFound
from memento_tui.hosts.registry import HOSTS, OTHER_AGENTS, Host, ShellAgent, running_host
from memento_tui.model import Memory
from memento_tui.paths import DataPaths
from tests.journeys.cli_shell import MEMENTO
from tests.tokens import token_environment
from tests.unit.cli_program import Ended, Program

NOBODY = {TOKEN_VARIABLE: ""}
WRONG_TOKEN = {TOKEN_VARIABLE: "mto_x"}
CLAUDE = {**NOBODY, "CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s9"}


class Bare(Program):
    """Runs commands without a token, in an environment of its own."""

    def __init__(self, data_dir: Path, patch: pytest.MonkeyPatch) -> None:
        super().__init__(data_dir)
        self._patch = patch

    def in_shell(self, *arguments: str, **environment: str) -> Ended:
        with self._patch.context() as patch:
            patch.setattr("tests.unit.cli_program.token_environment", lambda _: {**NOBODY, **environment})
            return self.run(*arguments)


@pytest.fixture
def shell(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Bare:
    """A shell that has no terminal, whatever the tests are started from."""
    monkeypatch.setattr("memento_tui.cli.author.has_terminal", lambda: False)
    return Bare(data_dir, monkeypatch)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, shell: Bare) -> Bare:
    """A shell in which a person sits."""
    monkeypatch.setattr("memento_tui.cli.author.has_terminal", lambda: True)
    return shell


def every_command(group: click.Group, path: str = "memento") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from every_command(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


DECISIONS = {
    "memento doctor",
    "memento maintain",
    "memento account revoke",
    "memento activity",
    "memento backup make",
    "memento backup restore",
    "memento backup rm",
    "memento compact",
    "memento contradiction later",
    "memento contradiction resolve",
    "memento crystal restore",
    "memento decrypt",
    "memento encrypt",
    "memento hub hold",
    "memento hub init",
    "memento hub invite",
    "memento hub join",
    "memento hub leave",
    "memento hub resume",
    "memento hub revoke",
    "memento hub share",
    "memento import",
    "memento lock",
    "memento passphrase",
    "memento purge",
    "memento redo",
    "memento reject",
    "memento restore",
    "memento review approve",
    "memento review edit",
    "memento review later",
    "memento review reject",
    "memento session check",
    "memento session quarantine",
    "memento session release",
    "memento settings reset",
    "memento settings set",
    "memento settings withdraw",
    "memento token revoke",
    "memento undo",
    "memento uninstall",
    "memento web",
    "memento workspace add",
    "memento workspace remove",
    "memento workspace use",
}


def test_the_commands_that_decide_say_so() -> None:
    assert root.list_commands(click.Context(root)) == list(COMMANDS)
    assert {
        path for path, command in every_command(root) if isinstance(command, Command) and command.decides
    } == DECISIONS


@pytest.mark.parametrize("environment", [NOBODY, CLAUDE, WRONG_TOKEN])
@pytest.mark.parametrize("command", sorted(DECISIONS - {"memento web", "memento activity"}))
def test_no_decision_is_made_from_an_agents_shell(
    shell: Bare, workspace: Workspace, agent: Workspace, command: str, environment: dict[str, str]
) -> None:
    waiting = agent.remember("From a page.", source_type="external")
    known = workspace.remember("The port is 8080.")
    ScriptTokens(DataPaths(shell.data_dir)).make("nightly")
    before = workspace.activity.head()
    words = command.split()[1:]
    options = ["--reason", "because"] if words == ["purge"] else ["--yes"] if words == ["review", "edit"] else []
    arguments = {
        "import": ["memento", str(Path(__file__))],
        "contradiction resolve": ["x", "newer"],
        "backup make": [],
        "compact": [],
        "encrypt": [],
        "decrypt": [],
        "passphrase": [],
        "lock": ["--keyring"],
        "doctor": ["--repair"],
        "maintain": ["--install"],
        "hub init": ["postgresql://localhost/memento"],
        "hub join": ["postgresql://localhost/memento"],
        "hub leave": [],
        "hub resume": [],
        "settings set": ["review.burst", "1000"],
        "settings withdraw": [],
        "undo": [],
        "uninstall": ["claude-code"],
        "redo": [],
        "token revoke": ["nightly"],
        "reject": [known.id],
        "purge": [known.id],
    }
    ended = shell.in_shell(*words, *arguments.get(" ".join(words), [waiting.id]), *options, "--json", **environment)
    assert (ended.code, ended.error["code"]) == (5, "not_allowed"), ended
    assert "for a person to decide" in ended.error["message"]
    assert "memento token make" in ended.error["hint"]
    assert workspace.activity.head() == before
    assert workspace._store.find(type(known), waiting.id) == waiting
    assert len(ScriptTokens(DataPaths(shell.data_dir)).list()) == 1


def test_no_agents_shell_brings_a_folder_of_notes_in_by_mirroring_it(
    shell: Bare, workspace: Workspace, tmp_path: Path
) -> None:
    """What a mirror takes in is of no session: no rule about many writes or a quarantine would hold it."""
    note = tmp_path / "notes" / "Ports.md"
    note.parent.mkdir()
    note.write_text("The port is 8080.")
    refused = shell.in_shell("mirror", str(note.parent), "--once", "--json", **CLAUDE)
    assert (refused.code, refused.error["code"]) == (5, "not_allowed")
    assert workspace.list("").items == []
    assert shell.in_shell("mirror", str(note.parent), "--once").code == 0
    assert [memory.title for memory in workspace.list("").items] == ["Ports"]


def test_the_refusal_says_why_it_is_one(shell: Bare) -> None:
    shell.add("one")
    assert "Claude Code runs this shell for its agent (CLAUDECODE is set)" in shell.in_shell("undo", **CLAUDE).err
    assert "nobody sits at this shell: it has no terminal" in shell.in_shell("undo").err
    wrong = shell.in_shell("undo", **WRONG_TOKEN).err
    assert "the token in MEMENTO_TOKEN is none of this data directory's" in wrong


def test_what_is_written_in_an_agents_shell_is_the_agents(shell: Bare, workspace: Workspace) -> None:
    made = shell.in_shell("add", "The port is 8080.", "--json", **CLAUDE).data
    memory = workspace.get(made["id"])
    assert (memory.source_type, memory.source.agent, memory.source.session) == ("derived", "claude-code", "s9")
    entry = workspace._store.journal.history(Memory, memory.id)[0].entry
    assert (entry.actor, entry.agent, entry.channel) == ("agent", "claude-code", "cli")
    found = shell.in_shell("search", "port", "--json", **CLAUDE).data
    assert [one["id"] for one in found["results"]] == [made["id"]]
    for trusted in (["--pin"], ["--stability", "verified"], ["--id", "mine"]):
        refused = shell.in_shell("add", "Trust me.", *trusted, "--json", **CLAUDE)
        assert (refused.code, refused.error["code"]) == (5, "not_allowed"), refused
        assert "Claude Code runs this shell" in refused.error["hint"]
    assert shell.in_shell("add", "From cron.", "--json").data["source"]["agent"] == "script"


def test_looking_decides_nothing(shell: Bare, tmp_path: Path) -> None:
    shell.add("one")
    export = tmp_path / "export.jsonl"
    assert shell.in_shell("export", str(export), **CLAUDE).code == 0
    for command in (
        ["import", "--find"],
        ["uninstall", "claude-code", "--dry-run"],
        ["list"],
        ["review"],
        ["history"],
        ["activity"],
        ["overview"],
        ["policy"],
        ["token", "list"],
    ):
        assert shell.in_shell(*command, **CLAUDE).code == 0, command


def test_a_person_at_a_terminal_decides_without_a_token(terminal: Bare, workspace: Workspace) -> None:
    made = terminal.in_shell("add", "The port is 8080.", "--pin", "--json").data
    assert workspace.get(made["id"]).pinned
    assert terminal.in_shell("undo").code == 0
    assert terminal.in_shell("undo", **CLAUDE).code == 5


def test_a_token_is_made_once_in_a_terminal_kept_as_a_hash_and_revoked(terminal: Bare, workspace: Workspace) -> None:
    made = terminal.in_shell("token", "make", "nightly", "--json").data
    token, file = made["token"], DataPaths(terminal.data_dir).script_tokens
    assert token not in file.read_text()
    assert token not in workspace.remember(f"The nightly script has {token} in its environment.").content
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    memory = workspace.remember("The port is 8080.")
    assert terminal.in_shell("rm", memory.id).code == 0
    assert terminal.in_shell("restore", memory.id, MEMENTO_TOKEN=token).code == 0
    listed = terminal.in_shell("token", "list", "--json").data["items"]
    assert [one["name"] for one in listed] == ["nightly"]
    assert terminal.in_shell("token", "revoke", "nightly").code == 0
    assert command_author(DataPaths(terminal.data_dir), {TOKEN_VARIABLE: token, "CLAUDECODE": "1"}).actor == "agent"


def test_no_token_is_made_from_a_script_or_an_agents_shell(shell: Bare, data_dir: Path) -> None:
    own = token_environment(data_dir)
    for environment in (NOBODY, CLAUDE, own):
        ended = shell.in_shell("token", "make", "mine", "--json", **environment)
        assert (ended.code, ended.error["code"]) == (5, "not_allowed")


def test_tokens_have_names_of_their_own(data_dir: Path) -> None:
    tokens = ScriptTokens(DataPaths(data_dir))
    first, second = tokens.make("one"), tokens.make("two")
    assert first != second
    assert tokens.accepts(first)
    assert not tokens.accepts("")
    assert not tokens.accepts("mto_\udcff")
    for name in ("one", " ", "two\nlines", "x" * 61):
        with pytest.raises(InvalidInput):
            tokens.make(name)
    tokens.revoke("one")
    assert not tokens.accepts(first)
    assert tokens.accepts(second)
    with pytest.raises(NotFound):
        tokens.revoke("one")


def test_each_host_is_known_by_each_of_its_variables() -> None:
    agents: list[Host | ShellAgent] = [*HOSTS.values(), *OTHER_AGENTS]
    for agent in agents:
        for variable in agent.shell_variables:
            name, _, value = variable.partition("=")
            found = running_host({name: value or "1"})
            assert found is not None
            assert (found.name, found.title, found.variable) == (agent.name, agent.title, name)
            assert running_host({name: ""}) is None
    # What a person's own shell may hold, in a terminal of an editor too.
    persons = {
        "AGENT": "my-own",
        "CURSOR_TRACE_ID": "1",
        "TERM_PROGRAM": "vscode",
        "SSH_AUTH_SOCK": "/x",
        "EDITOR": "vi",
    }
    assert running_host(persons) is None


def test_the_library_writes_as_the_agent_whose_host_runs_it(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with memento_tui.open(data_dir) as workspace:
        assert workspace.author.actor == "person"
    for name, value in CLAUDE.items():
        monkeypatch.setenv(name, value)
    with memento_tui.open(data_dir) as workspace:
        assert (workspace.author.actor, workspace.author.agent, workspace.author.session) == (
            "agent",
            "claude-code",
            "s9",
        )
    with memento_tui.open(data_dir, actor="person") as workspace:
        assert workspace.author.actor == "person"


def test_the_program_itself_refuses_without_a_terminal_and_decides_with_one(data_dir: Path) -> None:
    """A new session leaves the terminal that the tests may have; a fork into a terminal gives it one of its own."""
    environment = {**os.environ, "MEMENTO_HOME": str(data_dir), "MEMENTO_TOKEN": ""}
    add = [*MEMENTO, "add", "The port is 8080.", "--pin", "--json"]
    bare = subprocess.run(  # noqa: S603 - this program
        add, env=environment, start_new_session=True, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    assert bare.returncode == 5, bare
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(sys.executable, add, environment)  # noqa: S606 - this program
    output = b""
    with contextlib.suppress(OSError):  # a terminal whose process has ended
        while part := os.read(terminal, 4096):
            output += part
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, output
