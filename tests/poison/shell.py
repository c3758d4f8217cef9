"""The ways in that are a person's own: the command line in an agent's hands, and what a person brings back."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner

from memento_tui.cli.main import main, root
from memento_tui.errors import MementoError
from memento_tui.model.memory import RECALLED_STATUSES
from tests.journeys.mcp_agent import Agent
from tests.poison.attacks import Attack
from tests.poison.channels import Channel, McpChannel, forms, target_kind
from tests.poison.house import House, Target

__all__ = ["AGENTS_SHELL", "ReturnChannel", "run_in_shell", "shell_channel"]

AGENTS_SHELL = {"CLAUDECODE": "1", "CLAUDE_CODE_ENTRYPOINT": "cli"}
"""The variables that an agent's host sets in the shells that it opens."""

_NOT_WRITING = frozenset(
    {
        *("list", "search", "show", "check", "timeline", "links", "history", "activity", "exposures", "diff"),
        *("keys", "audit", "explain", "run", "verify", "make", "mirror", "backup", "searches"),
        *("mcp", "serve", "web", "engine", "install", "uninstall", "import", "export", "distill"),
    }
)
"""Commands that only read, serve, or take files, whose texts come in by channels of their own."""

_SENSIBLE = {"until": "30d", "expires": "30d", "expires_at": "30d", "extra": "{}", "reason": "not now", "answer": ""}


def run_in_shell(data_dir: Path, arguments: Sequence[str]) -> tuple[int, str]:
    """Run a command as a program without a terminal, which an agent's host has started; return its code and output."""
    runner = CliRunner()
    with runner.isolation(input=b"", env={**AGENTS_SHELL, "MEMENTO_HOME": str(data_dir)}) as (out, _, _):
        try:
            code = main(arguments)
        except SystemExit as error:
            code = int(error.code or 0)
        sys.stdout.flush()
        return code, out.getvalue().decode()


def _commands(command: click.Command, path: tuple[str, ...], context: click.Context) -> Iterator[tuple[str, ...]]:
    if not isinstance(command, click.Group):
        yield path
        return
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        if found is not None and name not in _NOT_WRITING:
            yield from _commands(found, (*path, name), context)


def _command(path: Sequence[str]) -> click.Command:
    context = click.Context(root)
    found: click.Command = root
    for name in path:
        assert isinstance(found, click.Group)
        known = found.get_command(context, name)
        assert known is not None
        found = known
    return found


def _is_text(parameter: click.Parameter) -> bool:
    return isinstance(parameter.type, click.types.StringParamType)


class ShellChannel:
    """The commands that write, run by an agent."""

    name = "command line"
    changes_records = True

    def __init__(self, house: House) -> None:
        self._house = house
        self._places = {
            f"{' '.join(path)} {parameter.name}": (path, parameter)
            for path in _commands(root, (), click.Context(root))
            for parameter in _command(path).params
            if _is_text(parameter)
        }

    @property
    def slots(self) -> Sequence[str]:
        """Every text of every command."""
        return list(self._places)

    def send(self, slot: str, attack: Attack, *, onto_persons: bool) -> bool:
        """Run the command, and then those by which a person would approve of what it stored."""
        path, attacked = self._places[slot]
        command = _command(path)
        target = self._target(path, persons=onto_persons)
        for text in forms(attack):
            words = [*path]
            for parameter in command.params:
                words += _written(parameter, text if parameter is attacked else _usual(parameter, target, attack))
            code, out = run_in_shell(self._house.data_dir, [*words, "--json"])
            if code == 0:
                self._approve(out)
                return True
        return False

    def _approve(self, out: str) -> None:
        try:
            told = json.loads(out)
        except ValueError:
            return
        made = told.get("id") if isinstance(told, dict) else None
        if isinstance(made, str):
            run_in_shell(self._house.data_dir, ["review", "approve", made, "--json"])
            run_in_shell(
                self._house.data_dir, ["edit", made, "--stability", "stable", "--certainty", "5", "--pin", "--json"]
            )

    def _target(self, path: Sequence[str], *, persons: bool) -> Target:
        kind = target_kind(" ".join(path))
        if persons or kind != "memory":
            return self._house.persons(kind)
        return self._house.agents()


def _usual(parameter: click.Parameter, target: Target, attack: Attack) -> str:
    """Return the value of a parameter that is not attacked; empty to leave it out."""
    name = parameter.name or ""
    if name in attack.claims and isinstance(parameter, click.Option) and not parameter.is_flag:
        return str(attack.claims[name])
    if not parameter.required:
        return ""
    if name in ("id", "ids"):
        return target.id
    return _SENSIBLE.get(name, f"The {name} of the site")


def _written(parameter: click.Parameter, value: str) -> list[str]:
    if not value:
        return []
    return [f"{max(parameter.opts, key=len)}={value}"] if isinstance(parameter, click.Option) else ["--", value][1:]


class ReturnChannel:
    """Texts that wait for a person, are taken away by the agent that wrote them, and are brought back by the person."""

    name = "undo and restore"
    changes_records = False

    def __init__(self, house: House, agent: Agent, tools: McpChannel) -> None:
        self._house = house
        self._agent = agent
        self._slots = [slot for slot in tools.slots if slot.startswith("remember ") and not slot.endswith(" id")]
        self._numbers = count()
        self.let_in: set[str] = set()
        """The marks of texts that waited, and that are recalled without a decision."""

    @property
    def slots(self) -> Sequence[str]:
        """Every text of a memory, in each way back."""
        return [f"{way} {slot}" for slot in self._slots for way in ("restore", "undo")]

    def send(self, slot: str, attack: Attack, *, onto_persons: bool) -> bool:  # noqa: ARG002 - as every channel has it
        """Remember, forget, and bring back."""
        way, _, field = slot.split(" ")
        number = next(self._numbers)
        for text in forms(attack):
            fields: dict[str, Any] = {"content": f"Page {number} of a web site.", "source_type": "external"}
            fields |= {field.removesuffix(".*"): [text] if field.endswith(".*") else text}
            made = self._agent.send("remember", fields)
            if made.is_error or made.structured_content is None:
                continue
            identity = made.structured_content["id"]
            waited = self._house.person.get(identity).status == "pending"
            self._agent.send("forget", {"id": identity, "base_version": self._house.person.get(identity).version})
            self._bring_back(way, identity)
            if waited and self._house.person.get(identity).status in RECALLED_STATUSES:
                self.let_in.add(attack.mark)
            return True
        return False

    def _bring_back(self, way: str, identity: str) -> None:
        try:
            if way == "restore":
                self._house.person.restore(identity)
            else:
                self._house.person.undo(self._house.head())
        except MementoError:
            return


@contextmanager
def shell_channel(house: House) -> Iterator[Channel]:
    """Open the command line to an agent."""
    yield ShellChannel(house)
