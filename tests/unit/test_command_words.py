"""The words of the : line: how a line is taken apart and completed, and what a command changes in a memory."""

from __future__ import annotations

from typing import Any

import pytest

from memento_tui.api import Workspace
from memento_tui.api.query_completion import QueryHelper
from memento_tui.errors import InvalidInput, MementoError
from memento_tui.model.memory import make_memory
from memento_tui.tui.command_words import ALIASES, CommandWords, TypedLine
from memento_tui.tui.commands import COMMANDS
from memento_tui.tui.sections.memory_commands import CHANGES, ROW_COMMANDS, changes_of

MEMORY = make_memory({"content": "The gate is shut.", "tags": ["old", "gate"]})


def words(workspace: Workspace, *scopes: str) -> CommandWords:
    return CommandWords(
        scopes,
        QueryHelper(workspace),
        themes=lambda: ["nord", "dracula"],
        searches=lambda: ["my decisions"],
        workspaces=lambda: ["default", "work"],
        own={"rules": "Go to Rules"},
    )


def offered(known: CommandWords, line: str) -> list[str]:
    return [option.text for option in known.complete(line, len(line)).options]


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("certainty 5", ("certainty", "5", False)),
        (":ns projects/x", ("namespace", "projects/x", False)),
        ("% tag +api -old", ("tag", "+api -old", True)),
        (":%expires 30d", ("expires", "30d", True)),
        ("  Q ", ("quit", "", False)),
        ("", ("", "", False)),
    ],
)
def test_a_line_is_a_name_and_the_rest_and_a_percent_sign_means_all(line: str, parts: tuple[str, str, bool]) -> None:
    assert TypedLine.parse(line) == parts


@pytest.mark.parametrize(
    ("name", "argument", "changes"),
    [
        ("certainty", "5", {"certainty": "5"}),
        ("namespace", "projects/x", {"namespace": "projects/x"}),
        ("expires", "never", {"expires_at": None}),
        ("expires", "30d", {"expires_at": "30d"}),
        ("tag", "+api -old", {"tags": ["gate", "api"]}),
        ("tag", "api", {"tags": ["old", "gate", "api"]}),
        ("kind", "anti-pattern", {"kind": "anti_pattern"}),
        ("valid", "until 2027-01-01", {"valid_to": "2027-01-01"}),
        ("valid", "from 2026-01-01 until never", {"valid_from": "2026-01-01", "valid_to": None}),
        ("valid", "always", {"valid_from": None, "valid_to": None}),
        ("validity", "on staging", {"validity_context": "on staging"}),
        ("sensitivity", "restricted", {"sensitivity": "restricted"}),
    ],
)
def test_a_command_changes_the_field_of_its_name(name: str, argument: str, changes: dict[str, Any]) -> None:
    assert changes_of(name, argument, MEMORY) == changes


@pytest.mark.parametrize(
    ("name", "argument", "sentence"),
    [
        ("certainty", "9", "certainty"),
        ("certainty", "", ":certainty takes 1-5."),
        ("kind", "fct", "There is no kind 'fct'"),
        ("sensitivity", "secret", "normal, confidential, restricted"),
        ("expires", "soon", "must be a date"),
        ("tag", "+ -", "No tag was named."),
        ("valid", "until", ":valid cannot read 'until'"),
        ("valid", "2027-01-01", "Such as: valid from"),
    ],
)
def test_what_a_field_cannot_have_is_said_before_anything_is_written(name: str, argument: str, sentence: str) -> None:
    with pytest.raises(MementoError) as refused:
        changes_of(name, argument, MEMORY)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("cer", "certainty"),
        ("%cer", "certainty"),
        (":ta", "tag"),
        ("kind dec", "decision"),
        ("ns pro", "projects"),
        ("tag +ga", "gate"),
        ("tag +x -ga", "gate"),
        ("sensitivity res", "restricted"),
        ("expires ", "7d"),
        ("valid ", "from"),
        ("open rev", "review"),
        ("theme n", "nord"),
        ("saved my", '"my decisions"'),
        ("search kind:dec", "decision"),
        ("open memories tag:ga", "gate"),
        ("rev", "review"),
        ("hist", "history"),
        ("rela", "relate"),
        ("relate shut", "gate"),
        ("relate gate sup", "supersedes"),
    ],
)
def test_names_and_what_they_take_are_completed(workspace: Workspace, line: str, first: str) -> None:
    workspace.remember("Text.", tags=["gate"], namespace="projects/site", kind="decision")
    workspace.remember("It is shut.", id="gate")
    assert offered(words(workspace, "memories", "everywhere"), line)[0] == first


def test_a_suggestion_keeps_the_sign_and_what_stands_before_it(workspace: Workspace) -> None:
    workspace.remember("Text.", tags=["gate"])
    known = words(workspace, "memories")
    found = known.complete("tag +x -ga", 10)
    assert found.applied_to("tag +x -ga", found.options[0])[0] == "tag +x -gate "
    found = known.complete("%ta", 3)
    assert found.applied_to("%ta", found.options[0])[0] == "%tag "


def test_every_command_with_a_key_can_be_typed_by_its_name_in_its_section(workspace: Workspace) -> None:
    known = words(workspace, "memories", "everywhere").known
    names = [c.id.partition(".")[2].replace("_", "-") for c in COMMANDS if c.scope == "memories"]
    assert [name for name in names if name not in known and name not in ALIASES] == []
    assert {"undo", "redo", "pause", "help", "quit", "imports", *CHANGES, *ROW_COMMANDS} <= set(known)


def test_a_name_that_is_none_is_answered_with_the_one_that_was_meant(workspace: Workspace) -> None:
    known = words(workspace, "memories", "everywhere")
    with pytest.raises(InvalidInput, match="Did you mean :certainty"):
        known.check_name("certanty")
    with pytest.raises(InvalidInput, match="There is no command :zzzz here"):
        known.check_name("zzzz")
    with pytest.raises(InvalidInput, match="Go there first: :memories"):
        words(workspace, "skips", "everywhere").check_name("certainty")
    with pytest.raises(InvalidInput, match="Escape leaves this view first"):
        words(workspace, "links", "everywhere").check_name("relate")
