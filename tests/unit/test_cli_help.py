from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from memento_tui.cli.command import Command, Group
from memento_tui.cli.main import COMMAND_GROUPS, COMMANDS, root
from tests.unit.cli_program import Program


def _walk(group: click.Group, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        yield (*words, name), found
        if isinstance(found, click.Group):
            yield from _walk(found, (*words, name))


EVERY = [((), root), *_walk(root)]
NAMES = [" ".join(words) or "memento" for words, _ in EVERY]


def _commands_in(line: str) -> Iterator[list[str]]:
    """The arguments of each memento command of an example line, without what a shell does with them."""
    lexer = shlex.shlex(re.split(r"\s{3,}", line)[0], posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    for word in [*lexer, "|"]:
        if word not in ("|", ";", ">", "<"):
            words.append(word)
            continue
        while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
            words.pop(0)
        if words[:1] == ["memento"]:
            yield words[1:]
        words = []


@pytest.mark.parametrize(("words", "found"), EVERY, ids=NAMES)
def test_every_help_explains_its_command_and_ends_with_examples(
    words: tuple[str, ...], found: click.Command, tmp_path: Path
) -> None:
    ended = Program(tmp_path / "none").run(*words, "--help")
    assert ended.code == 0
    assert ended.err == ""
    assert "--json" in ended.out
    assert "--data-dir" in ended.out
    _, _, examples = ended.out.partition("Examples:\n")
    assert " ".join(["memento", *words]) in examples
    assert found.help
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(("words", "found"), EVERY, ids=NAMES)
def test_the_examples_use_commands_and_options_that_exist(words: tuple[str, ...], found: click.Command) -> None:
    assert isinstance(found, Command | Group)
    for line in found.examples.splitlines():
        used = list(_commands_in(line))
        assert used, f"{words}: {line} runs no memento command"
        for arguments in used:
            _check_words(root, arguments)


def _check_words(group: click.Command, arguments: list[str]) -> None:
    known = {name for option in group.params for name in (*option.opts, *option.secondary_opts)}
    for index, word in enumerate(arguments):
        if word == "--":
            return
        if word.startswith("--"):
            assert word in known, f"{group.name} has no {word}"
        elif isinstance(group, click.Group) and (index == 0 or not arguments[index - 1].startswith("--")):
            found = group.get_command(click.Context(group), word)
            assert found is not None, f"{group.name} has no command {word}"
            _check_words(found, arguments[index + 1 :])
            return


@pytest.mark.parametrize("name", COMMANDS)
def test_the_overview_says_of_a_command_what_the_command_says_of_itself(name: str) -> None:
    found = root.get_command(click.Context(root), name)
    assert found is not None
    assert found.name == name
    assert found.short_help == COMMANDS[name].summary


def test_the_overview_names_every_command(tmp_path: Path) -> None:
    ended = Program(tmp_path).run("--help")
    for name, place in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(place.summary)}$", ended.out, re.MULTILINE)


def test_the_overview_lists_the_everyday_first_and_each_command_once() -> None:
    assert next(iter(COMMAND_GROUPS)) == "Everyday"
    assert list(COMMANDS) == [name for entries in COMMAND_GROUPS.values() for name in entries]
    assert len(COMMANDS) == sum(map(len, COMMAND_GROUPS.values()))
    assert max(map(len, COMMAND_GROUPS.values())) <= 12


@pytest.mark.parametrize(("former", "present"), [("sleep", "maintain"), ("injections", "exposures")])
def test_a_command_answers_to_its_former_name_which_help_does_not_list(former: str, present: str) -> None:
    context = click.Context(root)
    assert root.get_command(context, former) is root.get_command(context, present)
    assert former not in root.list_commands(context)
