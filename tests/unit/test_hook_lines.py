"""How much is told of each memory that a prompt calls for: what says enough, and no more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import memento_tui
from memento_tui.hooks.events import context_for_call
from memento_tui.hooks.host_events import parse_call
from memento_tui.hooks.settings import HookSettings
from memento_tui.paths import DataPaths
from tests.made import without_engine


def told(data_dir: Path, event: str, prompt: str = "", cwd: str = "/", session: str = "") -> str:
    sent = {"session_id": session or f"session {event} {prompt}", "prompt": prompt, "cwd": cwd, "source": "startup"}
    call = parse_call("claude-code", event, json.dumps(sent).encode())
    assert call is not None
    return context_for_call(call, DataPaths(data_dir), HookSettings())


def lines(data_dir: Path, prompt: str) -> list[str]:
    return told(data_dir, "UserPromptSubmit", prompt).splitlines()[2:-1]


def test_a_further_memory_is_told_by_its_title_where_that_names_what_is_asked(tmp_path: Path) -> None:
    data_dir = without_engine(tmp_path / "data")
    with memento_tui.open(data_dir) as person:
        person.remember("The kiosk printer jams on wet labels; dry them.", title="Kiosk printer jams")
        person.remember("The kiosk printer takes labels of 62 mm alone.", title="Notes of Tuesday")
    found = lines(data_dir, "which labels does the kiosk printer take?")
    assert len(found) == 2
    assert found[0].endswith(": Notes of Tuesday: The kiosk printer takes labels of 62 mm alone.")
    assert found[1].endswith("]: Kiosk printer jams")


def test_a_further_memory_whose_title_says_nothing_of_what_is_asked_is_told_with_a_passage(tmp_path: Path) -> None:
    data_dir = without_engine(tmp_path / "data")
    with memento_tui.open(data_dir) as person:
        for day in ("Monday", "Tuesday"):
            person.remember(f"On that {day} the kiosk printer took labels of 62 mm.", title=f"Notes of {day}")
    found = lines(data_dir, "which labels does the kiosk printer take?")
    assert len(found) == 2
    assert all("kiosk printer took labels" in line for line in found)


def test_a_memory_that_was_told_by_its_title_is_told_with_its_text_where_that_is_asked_for(tmp_path: Path) -> None:
    data_dir = without_engine(tmp_path / "data")
    with memento_tui.open(data_dir) as person:
        person.remember("The kiosk printer jams on wet labels; dry them.", title="Kiosk printer jams")
        person.remember("The kiosk printer takes labels of 62 mm alone.", title="Notes of Tuesday")
        person.remember("The kiosk printer holds labels of two rolls.", title="Notes of Friday")

    def told_lines(prompt: str) -> list[str]:
        return told(data_dir, "UserPromptSubmit", prompt, session="one").splitlines()[2:-1]

    asked = "which labels does the kiosk printer take?"
    named = [line for line in told_lines(asked) if "Kiosk printer jams" in line]
    assert [line.partition("]: ")[2] for line in named] == ["Kiosk printer jams"]
    (line,) = told_lines("why does the kiosk printer jam on wet labels?")
    assert line.endswith("]: Kiosk printer jams: The kiosk printer jams on wet labels; dry them.")
    assert told_lines("why does the kiosk printer jam on wet labels?") == []


def test_a_title_that_the_session_knows_is_not_told_again(tmp_path: Path) -> None:
    data_dir = without_engine(tmp_path / "data")
    with memento_tui.open(data_dir) as person:
        person.remember("The kiosk printer jams on wet labels; dry them.", title="Kiosk printer jams")
        person.remember("The kiosk printer takes labels of 62 mm alone.", title="Notes of Tuesday")
    asked = "which labels does the kiosk printer take?"
    assert told(data_dir, "UserPromptSubmit", asked, session="one").count("\n") == 4
    with memento_tui.open(data_dir) as person:
        person.remember("The kiosk printer takes the labels of the hall, too.", title="Notes of Friday")
    again = told(data_dir, "UserPromptSubmit", asked, session="one")
    assert "labels of the hall" in again
    assert "Kiosk printer jams" not in again


def test_the_heading_of_a_section_is_not_told_twice(tmp_path: Path) -> None:
    data_dir = without_engine(tmp_path / "data")
    with memento_tui.open(data_dir) as person:
        person.remember(
            "## **Kiosk printers**\n\nThe printers take labels of 62 mm alone.", title="Devices / Kiosk printers"
        )
        person.remember("# Payroll export\n", title="Payroll export")
    (kiosk,) = lines(data_dir, "which labels do kiosk printers take?")
    assert kiosk.endswith(": Devices / Kiosk printers: The printers take labels of 62 mm alone.")
    (payroll,) = lines(data_dir, "where is the payroll export?")
    assert payroll.count("Payroll export") == 1


@pytest.mark.parametrize(
    ("title", "content"),
    [
        ("Use C", "Use C++."),
        ("Use C", "Use C#\nNever Java."),
        ("run pytest v", "Run `pytest -V`."),
        ("Set the timeout to 5", "Set the timeout to -5"),
        ("Set the timeout to -5", "5\nis the timeout."),
        ("max pool >= 10", "max pool <= 10\nSee the dashboard."),
        ("The long word is", f"The long word is {'abracadabra' * 8}."),
        (f"{'Handbook of operations / ' * 5}Use port 5433", "Use port 5433\nfor staging."),
        ("Package / init", "__init__\nholds the version."),
    ],
)
def test_a_first_line_that_the_title_does_not_show_sign_for_sign_is_told(
    tmp_path: Path, title: str, content: str
) -> None:
    data_dir = without_engine(tmp_path / "data")
    with memento_tui.open(data_dir) as person:
        person.update(person.remember(content, title=title).id, pinned=True)
    assert " ".join(content.split()) in told(data_dir, "SessionStart")


def test_only_what_is_shown_of_a_title_shortens_the_passage(tmp_path: Path) -> None:
    data_dir = without_engine(tmp_path / "data")
    text = "Never deploy on a Friday. " + " ".join(f"word{number}" for number in range(120))
    title = f"Rules of the operations team {'and of everybody who helps them ' * 12}"
    with memento_tui.open(data_dir) as person:
        memory = person.remember(text, title=title)
        person.verify(memory.id)
        person.update(memory.id, pinned=True)
    line = told(data_dir, "SessionStart").splitlines()[-2]
    assert 290 < len(line.partition(" ...: ")[2]) <= 310


def test_a_long_title_leaves_a_shorter_passage(tmp_path: Path) -> None:
    data_dir = without_engine(tmp_path / "data")
    text = "The kiosk printer takes labels of 62 mm alone, and " + "is cleaned on Mondays by the janitor, " * 6
    with memento_tui.open(data_dir) as person:
        person.remember(text, title="What was learned about the labels of all the devices in the hall downstairs")
    (line,) = lines(data_dir, "which labels does the kiosk printer take?")
    assert "takes labels of 62 mm alone" in line
    assert len(line.partition("]: ")[2]) <= 170


def test_a_word_of_a_title_is_not_enough_where_the_prompt_has_as_much_about_something_else(tmp_path: Path) -> None:
    data_dir = without_engine(tmp_path / "data")
    with memento_tui.open(data_dir) as person:
        person.remember("Merge-safe writes came first.", title="Foundation")
    assert told(data_dir, "UserPromptSubmit", "write a pun about foundation") == ""
    assert "Merge-safe" in told(data_dir, "UserPromptSubmit", "what is the foundation?")


def test_a_start_without_anything_to_tell_names_the_namespace_alone(tmp_path: Path) -> None:
    data_dir = without_engine(tmp_path / "data")
    project = tmp_path / "kiosk"
    project.mkdir()
    with memento_tui.open(data_dir) as person:
        person.remember("Dana reviews billing.")
        assert told(data_dir, "SessionStart", cwd=str(project)) == "memento: this project's namespace is projects/kiosk"
        assert told(data_dir, "SessionStart") == ""
        person.remember("Labels are dried first.", pinned=True)
    started = told(data_dir, "SessionStart", "again", cwd=str(project))
    assert started.startswith("memento, the user's memory: this project's namespace is projects/kiosk\nOf this ")
