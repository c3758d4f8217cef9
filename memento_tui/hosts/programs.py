"""Find the programs that hosts start, and recognise them in a host's files."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import dropwhile, pairwise
from pathlib import Path

from memento_tui.errors import InvalidInput

__all__ = ["BARE_PROGRAMS", "Programs", "find_programs", "hook_command_in", "is_server", "json_quoted", "option_value"]

_SERVER_PROGRAM = "memento"
_HOOK_PROGRAM = "memento-hook"
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


@dataclass(frozen=True)
class Programs:
    """The two programs that a host starts, with their options."""

    server: str
    hook: str
    data_dir: Path | None = None
    """``None`` where ``MEMENTO_HOME`` or the platform decides when the program runs."""
    profile: str = "native"
    """The profile of tools that the server offers; see `memento_tui.mcp.profiles`."""
    may_run_unasked: bool = False
    """Whether the host lets the agent use the server's tools without asking the person each time."""

    def server_command(self) -> list[str]:
        """Return the command that starts the MCP server, word by word."""
        profile = [] if self.profile == "native" else ["--profile", self.profile]
        return [self.server, *self._data_dir_options(), "mcp", *profile]

    def queue_command(self) -> str:
        """Return the shell command that prints the review queue for an agent to show."""
        return shlex.join([self.server, *self._data_dir_options(), "review", "list", "--fenced", "--limit", "20"])

    def hook_words(self, event: str, host: str) -> list[str]:
        """Return the command that answers an event of a host, word by word."""
        return [self.hook, event, "--host", host, *self._data_dir_options()]

    def hook_command(self, event: str, host: str) -> str:
        """Return the command that answers an event of a host, as a line for a shell."""
        return shlex.join(self.hook_words(event, host))

    def _data_dir_options(self) -> list[str]:
        return [] if self.data_dir is None else ["--data-dir", str(self.data_dir)]


BARE_PROGRAMS = Programs(_SERVER_PROGRAM, _HOOK_PROGRAM)
"""The programs by name alone, for files that are the same on every machine: the shell finds them."""


def find_programs(data_dir: Path | None, profile: str, *, may_run_unasked: bool = False) -> Programs:
    """Return the installed programs by their absolute paths, so that a host does not depend on this shell's PATH.

    Raises:
        InvalidInput: they are not installed, or a path is not text.

    """
    server, hook = _find_program(_SERVER_PROGRAM), _find_program(_HOOK_PROGRAM)
    programs = Programs(server, hook, data_dir, profile, may_run_unasked)
    for path in (programs.server, programs.hook, str(data_dir or "")):
        try:
            path.encode()
        except UnicodeEncodeError:
            raise InvalidInput(
                f"The path {path!r} is not UTF-8, and the files of hosts are.", "Give the directory another name."
            ) from None
    return programs


def _find_program(name: str) -> str:
    # Beside the interpreter as it was called: its link may lead out of memento's environment.
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.is_file() else shutil.which(name)
    if found is None:
        raise InvalidInput(
            f"The program {name} is neither beside {sys.executable} nor on PATH.",
            "Install memento anew: pip install --force-reinstall memento-tui.",
        )
    return str(Path(found).absolute())


def is_server(words: Sequence[object]) -> bool:
    """Tell whether a command starts memento's MCP server, wherever it is installed."""
    return len(words) > 1 and Path(str(words[0])).name == _SERVER_PROGRAM and "mcp" in words


def hook_command_in(command: object) -> tuple[str, ...]:
    """Return the words of a line of shell from memento's hook on, wherever it is installed; none where it runs none.

    Variables that a person set in front of it are left out.
    """
    if not isinstance(command, str) or _HOOK_PROGRAM not in command:
        return ()
    try:
        words = list(dropwhile(_ASSIGNMENT.match, shlex.split(command)))
    except ValueError:
        return ()
    return tuple(words) if words and Path(words[0]).name == _HOOK_PROGRAM else ()


def option_value(words: Sequence[str], name: str) -> str:
    """Return the value of an option in a command; empty where it is not given."""
    return next((value for option, value in pairwise(words) if option == name), "")


def json_quoted(text: str) -> str:
    """Return a text as a literal of JSON, TOML and TypeScript."""
    # Delete may stand bare in JSON, and may not in TOML.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
