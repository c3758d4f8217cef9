"""What README.md, SWITCHING.md and ARCHITECTURE.md say, held to what the code does."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import msgspec
import pytest

from memento_tui.cli.main import root
from memento_tui.config import Config, load_config
from memento_tui.formats.registry import FORMATS
from memento_tui.hooks.host_events import moment_of
from memento_tui.hosts.programs import BARE_PROGRAMS
from memento_tui.hosts.registry import HOSTS, HostFile, HostPaths
from memento_tui.mcp.profiles import PROFILES
from memento_tui.mcp.workspaces import open_mcp_workspaces

TOP = Path(__file__).parents[2]
PAGES = ("README.md", "SWITCHING.md", "ARCHITECTURE.md")
MOMENTS = {"start": "start", "prompt": "prompt", "read": "file read", "end": "end"}


def page(name: str) -> str:
    return (TOP / name).read_text(encoding="utf-8")


def table(text: str, head: str) -> list[list[str]]:
    """Return the rows of the table whose first line is ``head``."""
    found = text.partition(f"\n{head}\n")[2]
    assert found, f"there is no table {head}"
    lines = found.split("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("|")]


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_the_table_of_formats_is_that_of_the_code() -> None:
    told = table(page("README.md"), "| format | what it is |")
    known = [[f"`{one.name}`", one.description] for one in FORMATS.values()]
    assert told == known


def test_the_table_of_hosts_names_the_files_that_are_edited_and_the_moments_at_which_hooks_run() -> None:
    told = table(page("README.md"), "| `memento install` | host | files of yours that it edits | hooks |")
    assert [row[:2] for row in told] == [[f"`{host.name}`", host.title] for host in HOSTS.values()]
    for row, host in zip(told, HOSTS.values(), strict=True):
        files = host.files(HostPaths(Path("/home/me"), {}, platform="linux"), BARE_PROGRAMS)
        assert names(row[2])[: len(files)] == [str(file.path).replace("/home/me", "~") for file in files]
        moments = dict.fromkeys(moment for event in events(files) if (moment := moment_of(event)))
        assert row[3] == (", ".join(MOMENTS[moment] for moment in moments) or "none")


def events(files: Sequence[HostFile]) -> Iterator[str]:
    """Yield the events at which an installation calls the hook, in their order in a session."""
    for part in (part for file in files for part in file.parts):
        text = part.add("")
        # OpenCode's plugin is a program: its events stand in what it asks.
        asked = re.findall(r'(?:ask|handOver)\("(\w+)"', text)
        yield from sorted(asked, key=lambda event: list(MOMENTS).index(moment_of(event) or "end"))
        yield from (found.event for found in part.find_commands(text) if found.kind == "hook" and not asked)


def test_the_tables_of_tools_and_profiles_are_those_of_the_code(tmp_path: Path) -> None:
    readme = page("README.md")
    with open_mcp_workspaces(tmp_path / "unused", "session") as mcp_workspaces:
        tools = {name: [tool.name for tool in profile.tools(mcp_workspaces)] for name, profile in PROFILES.items()}
    told = table(readme, "| profile | tools of | tools |")
    assert told == [[f"`{name}`", PROFILES[name].title, str(len(tools[name]))] for name in PROFILES]
    native = [name for row in table(readme, "| for | tools |") for name in names(row[1])]
    assert sorted(native) == sorted(tools["native"])


def test_the_settings_in_the_readme_are_all_that_there_are_with_their_defaults(tmp_path: Path) -> None:
    (shown,) = re.findall(r"```toml\n(.*?)```", page("README.md"), re.DOTALL)
    (tmp_path / "config.toml").write_text(shown, encoding="utf-8")
    load_config(tmp_path / "config.toml")
    read = tomllib.loads(shown)
    defaults = msgspec.to_builtins(Config())
    assert {name: set(section) for name, section in read.items() if name != "keys"} == {
        name: set(section) for name, section in defaults.items() if name != "keys"
    }
    for name in ("engine", "maintenance", "hooks", "app"):
        assert read[name] == defaults[name], name


@pytest.mark.parametrize("name", PAGES)
def test_every_command_in_the_documentation_exists_with_its_options(name: str) -> None:
    written = list(commands_in(page(name)))
    assert written
    assert [problem for line in written if (problem := what_is_wrong(line))] == []


def test_a_command_that_does_not_exist_would_be_told() -> None:
    wrong = [
        "frobnicate",
        "add --nothing",
        "skip frobnicate",
        "import nothing PATH",
        "install emacs",
        "export x --format xml",
    ]
    assert all(what_is_wrong(line) for line in wrong)
    assert not any(map(what_is_wrong, ["--data-dir DIR mcp --profile NAME", "import auto ~/x --dry-run", "skip list"]))


def commands_in(text: str) -> Iterator[str]:
    """Yield the arguments of each call of ``memento`` in a shell's block or between back quotes."""
    for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            for part in re.split(r"""[;|](?=(?:[^"]*"[^"]*")*[^"]*$)""", line.partition(" #")[0]):
                yield from re.findall(r"(?:^|[\s/])memento ([a-z-].*)", part)
            yield from _quoted(line.partition(" #")[2])
    yield from _quoted(re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def _quoted(text: str) -> Iterator[str]:
    for quoted in re.findall(r"`([^`]+)`", text):
        yield from re.findall(r"(?:^|[\s/])memento ([a-z-].*)", quoted.replace("\n", " "))


def what_is_wrong(line: str) -> str:
    """Return what is wrong with the arguments of a call; words in capitals stand for what a person puts in."""
    command: click.Command = root
    context = click.Context(root, info_name="memento")
    words = shlex.split(line)
    positional: list[str] = []
    while words:
        word = words.pop(0)
        if word.startswith("--"):
            option = next((one for one in command.params if word in (*one.opts, *one.secondary_opts)), None)
            if option is None:
                return f"{line}: {command.name} has no {word}"
            if isinstance(option, click.Option) and not option.is_flag:
                value = words.pop(0)
                if not _is_choice(option.type, value):
                    return f"{line}: {word} cannot be {value}"
        elif isinstance(command, click.Group):
            found = command.get_command(context, word)
            if found is None:
                return f"{line}: there is no {word}"
            command = found
        else:
            positional.append(word)
    arguments = [one for one in command.params if isinstance(one, click.Argument)]
    wrong = [word for one, word in zip(arguments, positional, strict=False) if not _is_choice(one.type, word)]
    return f"{line}: {', '.join(wrong)}" if wrong else ""


def _is_choice(kind: object, word: str) -> bool:
    return word.isupper() or not isinstance(kind, click.Choice) or word in kind.choices


@pytest.mark.parametrize("name", [*PAGES, "CHANGELOG.md"])
def test_every_link_to_a_file_leads_to_one(name: str) -> None:
    targets = [target for target in re.findall(r"\]\(([^)#]+)\)", page(name)) if "://" not in target]
    assert [target for target in targets if not (TOP / target).exists()] == []


def test_the_architecture_names_every_dependency_and_no_module_that_is_gone() -> None:
    text = page("ARCHITECTURE.md")
    project = tomllib.loads(page("pyproject.toml"))["project"]
    needed = {re.split(r"[=<>]", one)[0] for one in project["dependencies"]}
    told = {name for row in table(text, "| package | why |") for name in row[0].split(", ")}
    assert told == needed
    rows = [*table(text, "| folder | holds |"), *(["agent/", *row] for row in table(text, "| in `agent/` | holds |"))]
    places = [
        Path(row[0], name) if row[0] == "agent/" else Path(name)
        for row in rows
        for name in names(row[1] if row[0] == "agent/" else row[0])
    ]
    assert [str(place) for place in places if not (TOP / "memento_tui" / place).exists()] == []
    modules = re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.(?:py|tcss))`", text)
    assert [one for one in modules if not any(TOP.glob(one)) and not any((TOP / "memento_tui").glob(f"**/{one}"))] == []
