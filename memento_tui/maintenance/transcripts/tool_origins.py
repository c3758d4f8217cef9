"""Tell where the output of a tool comes from: from outside, from the project and this machine, or from memento.

From outside is what strangers can write: fetched pages, searches, other MCP servers, issues and pull requests, mail,
registries of packages, files that were downloaded, and files outside the project. A tool that is not known to stay on
this machine counts as one that does not.
"""

from __future__ import annotations

import json
import os.path
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple

from memento_tui.maintenance.transcripts.blocks import ToolCall

__all__ = ["ToolOrigin", "ToolOrigins"]

_READING_TOOLS = frozenset(
    """
    read readfile read_file read_many_files view notebookread grep glob ls list_directory search_file_content
    glob_search grep_search list_dir view_image
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
"""Tools that read files: where those lie decides."""

_LOCAL_TOOLS = frozenset(
    """
    edit multiedit write write_file create_file replace notebookedit apply_patch str_replace_editor
    todowrite todoread write_todos update_plan task agent taskoutput exitplanmode enterplanmode askuserquestion
    request_user_input skill slashcommand toolsearch tool_search killshell killbash lsp save_memory
    """.split()  # noqa: SIM905 - as above
)
"""Tools whose output echoes the agent, the person or the project."""

_BACKGROUND_TOOLS = frozenset(("bashoutput", "write_stdin"))
"""Tools that return more of the output of a command that runs on."""

_EDITOR_SERVER = "mcp__ide__"
"""The connection of Claude Code to the person's editor."""

_MEMENTO_TOOLS = frozenset(
    """
    session_open context search get remember update forget relate capture distill session_close skip_check skip_add
    skip_list skip_remove item_list item_create item_update item_remove identity_read identity_write contradictions
    contradiction_suggest proposals status
    """.split()  # noqa: SIM905 - as above
)
"""The names of memento's own tools, which some hosts note without the name of their server."""

_FENCE = "--- memento "

_WEB_ADDRESS = re.compile(
    r"\b(?:https?|ftp)://(?!(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?:[:/]|\b))[^\s'\"<>)]+"
)

_FETCHING_PROGRAMS = frozenset(
    """
    curl wget http https xh httpie aria2c lynx w3m links elinks glab hub jira linear tea
    mail mutt neomutt himalaya notmuch aerc mbsync offlineimap
    """.split()  # noqa: SIM905 - as above
)
"""Programs that return what others wrote on the network."""

_OUTSIDE_SUBCOMMANDS: Mapping[str, frozenset[str]] = {
    "gh": frozenset("issue pr api search release gist repo discussion".split()),  # noqa: SIM905 - as above
    "npm": frozenset(("view", "info", "show", "search")),
    "yarn": frozenset(("info",)),
    "pnpm": frozenset(("view", "info")),
    "pip": frozenset(("index", "search")),
    "cargo": frozenset(("search", "info")),
    "gem": frozenset(("search", "info")),
    "brew": frozenset(("search", "info")),
}
"""Subcommands of programs that return what strangers published; the other ones work on the project."""

_READING_PROGRAMS = frozenset(
    "cat head tail less more bat sed awk grep rg jq yq pdftotext pandoc strings textutil unzip".split()  # noqa: SIM905 - as above
)
_OPERATORS = frozenset((";", "&&", "||", "|", "&", "(", ")", "\n", "|&", "{", "}"))
_WRITING_WORDS = frozenset((">", ">>", ">|", "&>", "tee"))
_PREFIXES = frozenset(("sudo", "env", "time", "nice", "command", "exec", "xargs", "timeout", "nohup", "uv", "run"))

_SYSTEM_FOLDERS = ("/etc/", "/usr/", "/opt/", "/proc/", "/sys/", "/dev/", "/var/log/", "/bin/", "/lib/", "/Library/")
"""Folders that an administrator fills."""

_DEPENDENCY_FOLDERS = frozenset(
    ("node_modules", "site-packages", "vendor", "third_party", ".venv", "venv", "bower_components")
)
"""Folders inside a project with the texts of strangers."""

_HOST_FOLDERS = (".claude", ".codex", ".gemini", ".cursor", ".config")
_INSTRUCTION_SUFFIX = ".md"
"""The ending of the notes that the person and the agent keep in the folder of the host, such as ``CLAUDE.md``."""

_SAVED_TO = re.compile(r"\b(?:saved to|written to)[: ]+([^\s'\"<>]+)", re.IGNORECASE)
_HEAD = 1_000
"""Characters at the beginning of an output in which a host names the file that holds the rest."""

_MAX_NAMES = 5_000
"""Names of files that are kept of one session."""

_MAX_WHERE = 300
"""Characters of a call that evidence quotes."""


class ToolOrigin(NamedTuple):
    """The origin of an output: its kind, and the address, query, command or path that was asked for."""

    place: Literal["outside", "local", "memento"]
    where: str


class ToolOrigins:
    """The origins of the outputs of one session, told in order: a file that was downloaded is known as such later."""

    def __init__(self, project: str = "") -> None:
        self._project = _normal(project)
        self._downloaded: dict[str, None] = {}
        self._made: dict[str, None] = {}
        self._fetches_in_background = False

    def of(self, call: ToolCall | None, output: str, cwd: str = "") -> ToolOrigin:
        """Return the origin of the output of a call; ``cwd`` is the folder that the session works in by then."""
        if call is None:
            return ToolOrigin("outside", "")
        given = _arguments(call.given)
        where = " ".join(_where(call, given).split())[:_MAX_WHERE]
        place = self._place(call, given, output, _normal(cwd))
        if place != "memento" and (saved := _SAVED_TO.search(output[:_HEAD])):
            self._keep(self._downloaded if place == "outside" else self._made, [saved[1]])
        return ToolOrigin(place, where)

    def _place(
        self, call: ToolCall, given: Mapping[str, Any], output: str, cwd: str
    ) -> Literal["outside", "local", "memento"]:
        tool = call.tool.lower()
        if "memento" in tool or (tool in _MEMENTO_TOOLS and _FENCE in output):
            return "memento"
        command = call.command or _string(given, "command", "cmd")
        if command and (call.command or tool not in _LOCAL_TOOLS):
            return self._shell(command, given, cwd)
        if tool in _READING_TOOLS:
            is_outside = any(self._is_outside(path, cwd) for path in _paths(given))
        elif tool in _BACKGROUND_TOOLS:
            is_outside = self._fetches_in_background
        else:
            is_outside = not (tool in _LOCAL_TOOLS or tool.startswith(_EDITOR_SERVER))
        if tool in _LOCAL_TOOLS:
            self._keep(self._made, _paths(given))
        return "outside" if is_outside else "local"

    def _shell(self, command: str, given: Mapping[str, Any], cwd: str) -> Literal["outside", "local", "memento"]:
        words = _shell_words(command)
        calls = list(_simple_commands(words))
        if any(PurePosixPath(part[0]).name in ("memento", "memento-hook") for part in calls):
            return "memento"
        fetches = _WEB_ADDRESS.search(command) is not None or any(map(_is_fetching, calls))
        self._fetches_in_background |= fetches and bool(given.get("run_in_background"))
        names = [word for word in words if _is_file_name(word)]
        if not fetches:
            self._keep(self._made, (word for before, word in pairwise(words) if before in _WRITING_WORDS))
        reads = any(
            self._is_outside(word, cwd)
            for part in calls
            if PurePosixPath(part[0]).name in _READING_PROGRAMS
            for word in part[1:]
            if _is_file_name(word)
        )
        self._keep(self._downloaded if fetches else self._made, names)
        if fetches:
            self._keep(self._downloaded, (address.rstrip("/") for address in _WEB_ADDRESS.findall(command)))
        return "outside" if fetches or reads else "local"

    def _is_outside(self, path: str, cwd: str) -> bool:
        if self._is_among(self._downloaded, path):
            return True
        if self._is_among(self._made, path):
            return False
        home, _, below = path.partition("/") if path.startswith("~") else ("", "", path)
        full = below if home else _normal(os.path.join(cwd or self._project or "/", path))  # noqa: PTH118 - no file is touched
        parts = PurePosixPath(full).parts
        if self._project and not home and (full == self._project or full.startswith(f"{self._project}/")):
            return any(part in _DEPENDENCY_FOLDERS for part in PurePosixPath(full[len(self._project) :]).parts)
        if not path.startswith(("/", "~", "..")):
            return any(part in _DEPENDENCY_FOLDERS for part in parts)
        if full.startswith(_SYSTEM_FOLDERS) and not any(part in _DEPENDENCY_FOLDERS for part in parts):
            return False
        return not (full.endswith(_INSTRUCTION_SUFFIX) and any(part in _HOST_FOLDERS for part in parts))

    @staticmethod
    def _is_among(names: Mapping[str, None], path: str) -> bool:
        """Tell whether a path, or a folder that it lies in, is one of the names, or ends like one."""
        if path in names:
            return True
        parts = PurePosixPath(path).parts
        folders = (str(PurePosixPath(*parts[:end])) for end in range(2, len(parts)))
        return any(folder in names for folder in folders) or any(
            str(PurePosixPath(*parts[start:])) in names for start in range(1, len(parts))
        )

    @staticmethod
    def _keep(kept: dict[str, None], names: Iterable[str]) -> None:
        for name in names:
            if len(kept) >= _MAX_NAMES:
                return
            plain = name.removeprefix("./")
            for known in (plain, plain.rpartition("/")[2]) if "://" in plain else (plain,):
                if known:
                    kept[known] = None


def _arguments(given: object) -> Mapping[str, Any]:
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return {}
    return given if isinstance(given, dict) else {}


def _string(given: Mapping[str, Any], *names: str) -> str:
    found = (given.get(name) for name in names)
    return next((value for value in found if isinstance(value, str) and value), "")


def _where(call: ToolCall, given: Mapping[str, Any]) -> str:
    named = _string(given, "url", "uri", "query", "prompt", "q", "file_path", "absolute_path", "path", "command")
    if call.command or named:
        return call.command or named
    return json.dumps(given, ensure_ascii=False)[:_MAX_WHERE] if given else ""


def _paths(given: Mapping[str, Any]) -> list[str]:
    found = [
        given.get(name) for name in ("file_path", "absolute_path", "filePath", "path", "notebook_path", "dir_path")
    ]
    several = given.get("paths") or given.get("include")
    found += several if isinstance(several, list) else []
    return [path for path in found if isinstance(path, str) and path]


def _normal(path: str) -> str:
    return os.path.normpath(path) if path else ""


def _shell_words(command: str) -> list[str]:
    splitter = shlex.shlex(command.replace("\n", " ; "), posix=True, punctuation_chars=True)
    splitter.whitespace_split = True
    splitter.commenters = ""
    try:
        return list(splitter)
    except ValueError:  # a quotation mark that is left open, as in a heredoc
        return command.split()


def _simple_commands(words: Iterable[str]) -> Iterator[list[str]]:
    """Yield the simple commands of a command line, each a program and its arguments."""
    found: list[str] = []
    for word in [*words, ";"]:
        if word in _OPERATORS or set(word) <= set(";&|()"):
            if found:
                yield found
            found = []
        elif found or not (word in _PREFIXES or word.startswith("-") or re.fullmatch(r"\w+=.*", word, re.DOTALL)):
            found.append(word.lstrip("$`("))
    return


def _is_fetching(command: list[str]) -> bool:
    program = PurePosixPath(command[0]).name
    if program in _FETCHING_PROGRAMS:
        return True
    subcommand = next((word for word in command[1:] if not word.startswith("-")), "")
    return subcommand in _OUTSIDE_SUBCOMMANDS.get(program, ())


def _is_file_name(word: str) -> bool:
    return (
        not word.startswith("-")
        and "://" not in word
        and ("/" in word.strip("/") or "." in word.strip(".") or word.startswith(("/", "~")))
        and len(word) < _MAX_WHERE
        and "\0" not in word
        and not any(character.isspace() for character in word)
    )
