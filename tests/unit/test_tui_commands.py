"""The table of commands, and the keys that a person sets."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from memento_tui.__main__ import _parse_app_options
from memento_tui.app_sections import SECTIONS
from memento_tui.tui.commands import (
    COMMANDS,
    KEY_SCOPES,
    KEYMAPS,
    SCREEN_SCOPES,
    KeyMap,
    commands_in_scopes,
    key_names,
)
from memento_tui.tui.sections.catalogue import make_section
from tests.unit.cli_program import Program


def test_every_command_has_a_name_of_its_own_and_begins_with_its_place() -> None:
    assert [name for name, number in Counter(command.id for command in COMMANDS).items() if number > 1] == []
    places = {"everywhere": "app"}
    assert all(command.id.startswith(f"{places.get(command.scope, command.scope)}.") for command in COMMANDS)


def test_no_key_means_two_things_in_one_place() -> None:
    for place in KEY_SCOPES:
        keys = [key for command in commands_in_scopes([place]) for key in command.keys.split(",")]
        assert [key for key, number in Counter(keys).items() if number > 1] == [], place


def test_no_key_of_a_section_hides_one_that_works_everywhere() -> None:
    everywhere = {key for command in commands_in_scopes(["everywhere"]) for key in command.keys.split(",")}
    below = [c for c in COMMANDS if c.scope not in {"everywhere", *SCREEN_SCOPES}]
    hidden = [c.id for c in below if everywhere & set(c.keys.split(","))]
    assert hidden == []


def test_a_remapped_key_takes_the_place_of_the_built_in_one() -> None:
    keys = KeyMap({"review.approve": "Y", "app.help": "F1", "memories.new": "^n, +"})
    approve = next(command for command in COMMANDS if command.id == "review.approve")
    new = next(command for command in COMMANDS if command.id == "memories.new")
    assert keys.problems == ()
    assert keys.of(approve) == "Y"
    assert keys.of(new) == "ctrl+n,plus"
    assert key_names(keys.of(new)) == "^n +"


@pytest.mark.parametrize(
    ("remapped", "problem"),
    [
        ({"review.aprove": "A"}, "no command review.aprove"),
        ({"review.approve": "x"}, "it is that of review.reject"),
        ({"review.approve": "z"}, "it is that of app.undo"),
        ({"app.undo": "t"}, ""),
        ({"review.approve": " , "}, "would have no key"),
        *(
            ({"review.approve": keys}, "cannot be the key of review.approve: one moves or looks by it")
            for keys in ("j", "Y, down", "J", "space", "tab", "shift+tab", "h")
        ),
    ],
)
def test_a_key_that_cannot_be_set_is_told_and_the_built_in_one_stays(remapped: dict[str, str], problem: str) -> None:
    keys = KeyMap(remapped)
    assert [problem in told for told in keys.problems] == ([True] if problem else [])
    assert (keys.remapped == {}) is bool(problem)


def test_no_settings_make_going_down_or_opening_a_row_a_decision() -> None:
    moved = KeyMap({"rows.down": "ctrl+n", "review.edit": "e", "review.approve": "j", "review.approve_group": "enter"})
    assert moved.remapped == {"rows.down": "ctrl+n", "review.edit": "e"}
    assert [problem.partition(" ")[0] for problem in moved.problems] == ["j", "Enter"]
    emacs = KeyMap({"review.approve": "ctrl+n", "review.reject": "j"}, "emacs")
    assert [problem.partition(" ")[0] for problem in emacs.problems] == ["^n", "j"]


@pytest.mark.parametrize(
    ("freed", "deciding"),
    [
        ({"review.fold": "f9"}, {"review.approve": "left"}),
        ({"review.unfold": "f9"}, {"review.approve": "right"}),
        ({"app.review": "f3"}, {"review.approve": "3"}),
        ({"app.next": "f7"}, {"review.approve": "]"}),
        ({"app.help": "f7"}, {"memories.delete": "?"}),
        ({"lines.single": "f9"}, {"lines.approve": "s"}),
        ({"memories.history": "f9"}, {"memories.verify": "h"}),
        ({"rows.down": "f9"}, {"review.approve": "f9"}),
    ],
)
def test_a_key_that_moves_or_looks_is_none_that_decides_though_it_was_freed_or_taken_in_any_order(
    freed: dict[str, str], deciding: dict[str, str]
) -> None:
    for settings in ({**freed, **deciding}, {**deciding, **freed}):
        keys = KeyMap(settings)
        assert keys.remapped == freed
        assert [f"cannot be the key of {name}" in told for name, told in zip(deciding, keys.problems, strict=True)] == [
            True
        ]


def test_a_key_that_cannot_be_set_is_named_as_the_person_knows_it() -> None:
    keys = KeyMap({"app.next": "f7", "review.approve": "]"})
    assert keys.problems == ("] cannot be the key of review.approve: one moves or looks by it.",)


def test_the_command_line_lists_the_keys_as_the_person_set_them(data_dir: Path) -> None:
    with (data_dir / "config.toml").open("a", encoding="utf-8") as config:
        config.write('[keys]\n"review.approve" = "Y"\n"nothing.there" = "q"\n')
    found = Program(data_dir).run("keys", "--place", "review", "--json").data
    assert found["items"][0] == {
        "command": "review.approve",
        "place": "review",
        "keys": ["Y"],
        "help": "Approve and go on",
    }
    assert found["problems"] == ["There is no command nothing.there; `memento keys` lists them."]


@pytest.mark.parametrize("name", sorted(KEYMAPS))
def test_a_keymap_has_no_key_for_two_things_and_hides_none_that_works_everywhere(name: str) -> None:
    keys = KeyMap({}, name)
    assert keys.problems == ()
    everywhere = {key for command in commands_in_scopes(["everywhere"]) for key in keys.of(command).split(",")}
    for place in KEY_SCOPES:
        taken = [key for command in commands_in_scopes([place]) for key in keys.of(command).split(",")]
        assert [key for key, number in Counter(taken).items() if number > 1] == [], place
        assert place in {"everywhere", "command", *SCREEN_SCOPES} or not everywhere & set(taken), place


def test_what_escape_leaves_is_left_by_control_g_too_where_the_keys_are_those_of_emacs() -> None:
    keys = KeyMap({}, "emacs")
    leaving = [command for command in COMMANDS if "escape" in command.keys.split(",")]
    assert {"history.leave", "lines.leave", "past.leave", "editor.cancel"} <= {command.id for command in leaving}
    assert [command.id for command in leaving if "ctrl+g" not in keys.of(command).split(",")] == []


def test_a_single_key_of_ones_own_goes_before_the_keymap() -> None:
    keys = KeyMap({"rows.down": "ctrl+j"}, "emacs")
    by_id = {command.id: command for command in COMMANDS}
    assert keys.of(by_id["rows.down"]) == "ctrl+j"
    assert keys.of(by_id["rows.up"]) == "ctrl+p,up,k"
    assert key_names(keys.of(by_id["rows.first"])) == "alt+< Home g"


def test_every_section_can_be_made_and_owns_the_key_scope_of_its_name() -> None:
    for tab in SECTIONS:
        assert tab.name == make_section(tab.name).SCOPE


def test_every_command_stands_in_a_scope_that_help_has_a_heading_for() -> None:
    assert {command.scope for command in COMMANDS} == set(KEY_SCOPES)


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ([], {}),
        (["--data-dir", "x"], {"data_dir": "x"}),
        (["--open", "review", "--data-dir", "x"], {"open": "review", "data_dir": "x"}),
        (["--open", "nowhere"], None),
        (["--open"], None),
        (["--data-dir", ""], None),
        (["--data-dir", "x", "--data-dir", "y"], None),
        (["list"], None),
        (["--json", "--open"], None),
    ],
)
def test_what_only_opens_the_app_does_without_the_commands(given: list[str], options: dict[str, str] | None) -> None:
    assert _parse_app_options(given) == options
