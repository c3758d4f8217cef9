"""The documents, held to what the code does."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from memento_tui.cli.main import root
from tests.reference import render

TOP = Path(__file__).parents[2]
PAGES = ("README.md", "GUIDE.md", "SWITCHING.md", "ARCHITECTURE.md", "DECISIONS.md")


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


def test_the_reference_is_what_the_code_says_today() -> None:
    assert page("REFERENCE.md") == render(), "run `make reference`"


@pytest.mark.parametrize(
    "table_of", ["Keys", "Queries", "Commands", "Exit codes", "Settings", "Tools", "Formats", "Hosts"]
)
def test_no_part_of_the_reference_is_empty(table_of: str) -> None:
    part = page("REFERENCE.md").partition(f"\n## {table_of}\n")[2].partition("\n## ")[0]
    assert part.count("\n| ") >= 7


def test_every_setting_is_explained() -> None:
    settings = page("REFERENCE.md").partition("\n## Settings\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`\w+`) \| .* \| (.*) \|$", settings, re.MULTILINE)
    assert len(rows) > 10
    assert [name for name, meaning in rows if not meaning.strip()] == []


def test_every_test_that_the_page_on_security_names_is_there() -> None:
    named = re.findall(r"`((?:memento_tui|tests)/[\w/.]+)`", page("SECURITY.md"))
    assert len(named) > 15
    assert [name for name in named if not (TOP / name).exists()] == []


def test_each_way_round_the_gate_names_what_stops_it_and_a_test_that_is_there() -> None:
    rows = table(page("SECURITY.md"), "| the way round | what stops it | the test that shows it |")
    assert len(rows) >= 20
    for way, stopped_by, shown_by in rows:
        assert way
        assert stopped_by
        shown = [name.partition("::") for name in names(shown_by)]
        assert shown, way
        for file, _, test in shown:
            assert re.search(rf"^(async )?def {test}\(", (TOP / file).read_text(encoding="utf-8"), re.MULTILINE), test


@pytest.mark.parametrize(("name", "lines"), [("README.md", 200), ("ARCHITECTURE.md", 150)])
def test_the_first_pages_stay_short(name: str, lines: int) -> None:
    assert len(page(name).splitlines()) <= lines


def test_every_file_that_a_change_touches_exists() -> None:
    files = re.findall(r"`((?:memento_tui|tests)/[\w/.]+)`", page("CONTRIBUTING.md"))
    assert len(files) > 20
    assert [file for file in files if not (TOP / file).exists()] == []


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


@pytest.mark.parametrize("name", [*PAGES, "CHANGELOG.md", "CONTRIBUTING.md", "REFERENCE.md", "SECURITY.md"])
def test_every_link_to_a_file_leads_to_one(name: str) -> None:
    targets = [target for target in re.findall(r"\]\(([^)#]+)\)", page(name)) if "://" not in target]
    assert [target for target in targets if not (TOP / target).exists()] == []


def test_the_architecture_names_every_dependency() -> None:
    project = tomllib.loads(page("pyproject.toml"))["project"]
    extra = project["optional-dependencies"]["meaning"]
    needed = {re.split(r"[=<>]", one)[0] for one in [*project["dependencies"], *extra]}
    explained = {name for row in table(page("ARCHITECTURE.md"), "| package | why |") for name in row[0].split(", ")}
    assert explained == needed


def test_the_picture_of_the_folders_names_every_folder() -> None:
    picture = page("ARCHITECTURE.md").partition("```text\n")[2].partition("```")[0]
    folders = {path.parent.name for path in (TOP / "memento_tui").glob("*/__init__.py")}
    assert set(re.findall(r"\b([a-z]+)/", picture)) == folders
    modules = re.findall(r"\b[a-z_]+\.py\b", picture)
    assert [module for module in modules if not (TOP / "memento_tui" / module).exists()] == []


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "DECISIONS.md"])
def test_no_page_names_a_module_that_is_gone(name: str) -> None:
    modules = re.findall(r"`((?:[a-z_0-9]+/)+[a-z_0-9]+\.(?:py|tcss))`", page(name))
    assert modules
    assert [one for one in modules if not any(TOP.glob(one)) and not any((TOP / "memento_tui").glob(one))] == []
