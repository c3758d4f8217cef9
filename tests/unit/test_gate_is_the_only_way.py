"""No module but the gate begins a write, and no module outside of the storage layer speaks SQL that writes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.storage.journal import Author
from memento_tui.storage.store import Store

PACKAGE = Path(memento_tui.__file__).parent
_WRITERS = {"transaction", "write_entry", "PersonGuard", "Transaction"}
_WRITING_SQL = re.compile(r"\b(INSERT (OR \w+ )?INTO|UPDATE \w+ SET|DELETE FROM|REPLACE INTO)\b")


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if not name.startswith("storage/"):
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def begun_writes(tree: ast.AST) -> Iterator[str]:
    """Yield each call of a store's transaction or of a database's write lock."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            receiver = ast.unparse(node.func.value)
            if node.func.attr == "transaction" and receiver.rpartition(".")[2].lstrip("_") == "store":
                yield f"{receiver}.transaction"
            if node.func.attr == "writing":
                yield f"{receiver}.writing"


def test_only_the_gate_begins_a_transaction() -> None:
    found = {name: list(begun_writes(tree)) for name, tree in modules()}
    assert {name: calls for name, calls in found.items() if calls} == {"policy/gate.py": ["self._store.transaction"]}


def test_no_module_outside_of_storage_imports_what_makes_a_transaction() -> None:
    imported = {
        name: [alias.name for alias in node.names if alias.name in _WRITERS - {"Transaction"}]
        for name, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("memento_tui.storage")
    }
    assert {name: names for name, names in imported.items() if names} == {}


def test_nothing_outside_of_storage_makes_a_transaction_by_itself() -> None:
    calls = {
        name
        for name, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Transaction"
    }
    assert calls == set()


def test_no_sql_that_writes_stands_outside_of_storage() -> None:
    found = {
        name
        for name, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _WRITING_SQL.search(node.value)
    }
    assert found == {"formats/protocol/sqlite.py"}, "an export writes the file of another system"


def test_a_transaction_without_a_guard_cannot_be_begun(workspace: Workspace) -> None:
    store: Store = workspace._store
    with pytest.raises(TypeError, match="guard"), store.transaction(Author("person"), "remember"):
        pass
