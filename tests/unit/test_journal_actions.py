"""The words of the journal's actions: every action that this program writes has some, and a filter takes them."""

from __future__ import annotations

import ast
from pathlib import Path

import msgspec
import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.api.activity import parse_activity
from memento_tui.model.journal_actions import JOURNAL_ACTIONS, action_words, actions_called, done_words, note_in_words
from memento_tui.storage.history_limit import LIMIT_ACTION
from tests.journeys.cli_shell import Console

_GATES = ("gate", "_gate", "_session", "session", "_store", "store")
"""The names of what begins a transaction whose first text is the action that the journal keeps."""

_KINDS = ("skip", "item")
"""The records whose actions are named after them."""


def _written_actions() -> set[str]:
    """Return the actions that the source names where it begins a transaction or writes an entry."""
    found = {LIMIT_ACTION}
    for path in Path(memento_tui.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and _writes(node.func):
                found |= set(_actions(node))
            elif isinstance(node, ast.Assign) and (action := _action_it_came_to(node)):
                found.add(action)
    return found


def _writes(function: ast.expr) -> bool:
    match function:
        case ast.Attribute(
            value=ast.Name(id=name) | ast.Attribute(attr=name) | ast.Call(func=ast.Attribute(attr=name)),
            attr="transaction",
        ):
            return name in _GATES
        case ast.Name(id=name):
            return name in ("transaction", "write_entry", "_decision_transaction")
    return False


def _action_it_came_to(node: ast.Assign) -> str:
    """Return the action that a running transaction is given where it came to another than was begun."""
    match node:
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Name(id="tx"), attr="action")], value=ast.Constant(value=str(action))
        ):
            return action
    return ""


def _actions(call: ast.Call) -> list[str]:
    for given in call.args:
        if isinstance(given, ast.Constant) and isinstance(given.value, str):
            return [given.value]
        if isinstance(given, ast.JoinedStr) and isinstance(end := given.values[-1], ast.Constant):
            return [f"{kind}{end.value!s}" for kind in _KINDS]
    return []


def test_every_action_that_is_written_has_words_and_no_word_is_of_none() -> None:
    written = _written_actions() | {"undo", "redo", "import", "maintain"}
    assert len(written) > 30
    assert written == set(JOURNAL_ACTIONS)


def test_no_two_actions_are_told_in_the_same_words() -> None:
    told = [words.done for words in JOURNAL_ACTIONS.values()]
    assert len(set(told)) == len(told)


@pytest.mark.parametrize(
    ("action", "done"),
    [("forget", "deleted"), ("hub undo", "undone (hub)"), ("of a newer program", "of a newer program")],
)
def test_an_action_is_told_in_words_and_an_unknown_one_by_its_name(action: str, done: str) -> None:
    assert action_words(action).done == done


def test_the_note_of_an_undo_names_in_words_what_was_undone() -> None:
    assert note_in_words("undo of 12 (forget)") == "undo of 12 (delete)"
    assert note_in_words("undo of the migration (see 4)") == "undo of the migration (see 4)"


def test_an_action_is_called_by_its_words_by_their_beginning_or_by_nothing() -> None:
    assert actions_called("Deleted") == ["forget", "hub forget"]
    assert actions_called("delete") == ["forget", "hub forget"]
    skips = ["skip add", "skip decide", "skip edit", "skip remove"]
    assert actions_called("skip") == skips + [f"hub {name}" for name in skips]
    assert actions_called("nothing of the kind") == []


def test_an_action_of_another_machine_is_called_with_and_without_the_sign_of_the_hub() -> None:
    assert actions_called("undone (hub)") == actions_called("undo (hub)") == actions_called("Undone (h") == ["hub undo"]
    assert actions_called("undone") == ["undo", "hub undo"]


@pytest.mark.parametrize("action", [*JOURNAL_ACTIONS, *(f"hub {name}" for name in JOURNAL_ACTIONS)])
def test_the_words_in_which_an_action_is_told_call_it(action: str) -> None:
    assert [action in actions_called(word) for word in action_words(action)] == [True, True]


def test_the_journal_is_filtered_by_the_words_that_it_shows(tmp_path: Path) -> None:
    with Workspace(tmp_path) as workspace:
        workspace.forget(workspace.remember("The port is 8080.").id)
        for typed in ("deleted", "delete", "forget"):
            rows = workspace.activity.page(parse_activity(f"action:{typed}"))
            assert [row.entry.action for row in rows] == ["forget"]


def test_what_another_machine_did_is_found_by_the_words_that_the_journal_shows(tmp_path: Path) -> None:
    with Workspace(tmp_path) as workspace:
        workspace.remember("The port is 8080.")
        workspace.undo(workspace.activity.head())
        kept = workspace.remember("The host is db-1.")
        with workspace.gate.transaction("hub undo") as tx:
            tx.put(msgspec.structs.replace(kept, title="Host"), base=kept.version)
        for typed, found in (('"undone (hub)"', ["hub undo"]), ("undone", ["hub undo", "undo"])):
            rows = workspace.activity.page(parse_activity(f"action:{typed}"))
            assert [row.entry.action for row in rows] == found


def test_the_command_line_tells_what_was_done_and_undone_in_words(tmp_path: Path) -> None:
    shell = Console(tmp_path)
    name = shell.json("add", "The port is 8080.")["id"]
    shell.run("rm", name)
    assert b"deleted" in shell.run("activity").stdout
    assert b": delete," in shell.run("undo").stdout
    assert b"undo of 2 (delete)" in shell.run("activity").stdout
    assert shell.json("activity")["items"][1]["action"] == "forget"


def test_an_entry_that_only_proposes_is_called_so_unless_its_words_say_it() -> None:
    assert done_words("edit", proposes=False) == "edited"
    assert done_words("edit", proposes=True) == "proposed"
    assert done_words("hub edit", proposes=True) == "proposed (hub)"
    assert done_words("distill", proposes=True) == "lesson proposed"
