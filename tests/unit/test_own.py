"""The person's own sections and commands: what config.toml may say, and how its errors are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from memento_tui.config import line_of_section, load_config
from memento_tui.tui.commands import KeyMap
from memento_tui.tui.own import OwnEntries, own_entries
from tests.unit.cli_program import Program


def read(tmp_path: Path, text: str) -> OwnEntries:
    path = tmp_path / "config.toml"
    path.write_text(text)
    return own_entries(load_config(path), path, KeyMap({}))


def test_only_the_first_of_many_mistakes_have_their_line_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def counted(text: str, section: str) -> int | None:
        looked.append(section)
        return line_of_section(text, section)

    monkeypatch.setattr("memento_tui.tui.own.line_of_section", counted)
    own = read(tmp_path, "".join(f'[sections.s{number}]\nquery = "x"\n' for number in range(1_000)))
    assert len(own.sections) == 9
    assert len(own.problems) == 991
    assert own.problems[0].startswith("config.toml, line 19: [sections.s9]: there are 9")
    assert own.problems[-1] == "config.toml: [sections.s999]: there are 9 own sections at most."
    assert len(looked) == 20


def test_a_section_and_a_command_are_read_with_their_keys(tmp_path: Path) -> None:
    own = read(
        tmp_path,
        '[sections.rules]\nquery = "kind:instruction"\ntitle = "Rules"\nkey = "9"\n'
        '[commands.issue]\nrun = "gh issue create"\nkey = "ctrl+g"\nhelp = "Open an issue"\n',
    )
    assert own.problems == ()
    assert own.keys() == {"rules": "9", "issue": "ctrl+g"}
    assert own.help() == {"rules": "Go to Rules: kind:instruction", "issue": "Open an issue"}
    assert [(tab.name, tab.key, tab.title) for tab in own.tabs()] == [("rules", "9", "Rules")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[sections.rules]\n# none\n", "config.toml, line 1: [sections.rules]: query is missing."),
        ('\n[sections.rules]\nquery = "x"\ncolour = "red"\n', "line 4: [sections.rules]: there is no colour here."),
        ("[sections.rules]\nquery = 5\n", "line 2: [sections.rules]: query must be text in quotation marks."),
        ('[sections.rules]\nquery = "kindd:x"\n', "line 1: [sections.rules]:"),
        ('[sections.review]\nquery = "x"\n', "line 1: [sections.review]: the name is that of a section of memento."),
        ('[sections."a b"]\nquery = "x"\n', "a name has small letters, digits and hyphens"),
        ('[commands.undo]\nrun = "x"\n', "line 1: [commands.undo]: the name is that of app.undo."),
        *(
            (f'[commands.{name}]\nrun = "x"\n', f"[commands.{name}]: the name is that of a command of the : line.")
            for name in ("export", "theme", "tag", "relate", "ns")
        ),
        ('[commands.mine]\nrun = "x"\nkey = "z"\n', "line 1: [commands.mine]: z is the key of app.undo."),
        ('[commands.mine]\nrun = " "\n', "line 1: [commands.mine]: run is empty."),
        ('[commands.mine]\nrun = "x"\nterminal = "yes"\n', "line 3: [commands.mine]: terminal must be true or false."),
        ("commands = 5\n", "config.toml: [commands] must hold tables, such as [commands.mine]."),
        (
            '[commands.one]\nrun = "x"\nkey = "f9"\n[commands.two]\nrun = "x"\nkey = "f9"\n',
            "line 4: [commands.two]: f9 is the key of commands.one.",
        ),
    ],
)
def test_an_entry_that_cannot_be_used_is_told_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    own = read(tmp_path, f'{text}[commands.good]\nrun = "true"\n' if "commands = " not in text else text)
    assert len(own.problems) == 1
    assert said in own.problems[0]
    assert "good" in own.commands or "commands = " in text


def test_the_list_of_keys_names_them_and_their_errors(tmp_path: Path) -> None:
    program = Program(tmp_path)
    (tmp_path / "config.toml").write_text(
        '[sections.rules]\nquery = "kind:instruction"\nkey = "9"\n[commands.bad]\nrun = 5\n'
    )
    found = program.json("keys")
    assert found["items"][-1] == {
        "command": "rules",
        "place": "own",
        "keys": ["9"],
        "help": "Go to rules: kind:instruction",
    }
    assert found["problems"] == ["config.toml, line 5: [commands.bad]: run must be text in quotation marks."]
