"""Nothing but the gate opens a transaction on records: by the source, without running it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import memento_tui

PACKAGE = Path(memento_tui.__file__).parent
ALLOWED = {"policy/gate.py"}
"""The one module beside the storage itself that may."""

WITHIN_STORAGE = {
    "storage/store.py",
    "storage/transaction.py",
    "storage/backup.py",
    "storage/history_limit.py",
    "storage/purge.py",
    "storage/undo.py",
}
"""The modules of the storage that write entries of the journal; all but the first two are a person's alone."""

OPENERS = {"transaction", "write_entry", "PersonGuard"}
"""The functions of the storage that begin or end one, and the guard that asks nothing but who it is."""


_WRITING_SQL = re.compile(r"\b(INSERT (OR \w+ )?INTO|UPDATE \w+ SET|DELETE FROM|REPLACE INTO)\b")

# Most modules have no word of these, and parsing all of them takes long.
_WRITING_WORD = re.compile("INSERT|UPDATE|DELETE|REPLACE")
_NAMED = re.compile("ransaction|writing|write_entry|PersonGuard")


def problems(source: str, *, name: str) -> list[str]:
    """Return the places of a module that write without the gate."""
    found: list[str] = []
    if not _NAMED.search(source):
        return found
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("memento_tui.storage"):
            found += [f"{name}:{node.lineno} imports {alias.name}" for alias in node.names if alias.name in OPENERS]
        elif isinstance(node, ast.Call) and _opens(node.func):
            found.append(f"{name}:{node.lineno} calls {ast.unparse(node.func)}")
    return found


def _opens(called: ast.expr) -> bool:
    if isinstance(called, ast.Name):
        return called.id == "Transaction"
    if not isinstance(called, ast.Attribute):
        return False
    owner = ast.unparse(called.value).rpartition(".")[2].strip("_")
    return called.attr == "writing" or (called.attr == "transaction" and owner in ("store", "database"))


def modules() -> Iterator[tuple[str, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8")


def test_no_module_but_the_gate_opens_a_transaction_on_records() -> None:
    outside = [(name, source) for name, source in modules() if not name.startswith("storage/") and name not in ALLOWED]
    assert len(outside) > 100
    assert [problem for name, source in outside for problem in problems(source, name=name)] == []


def test_no_sql_that_writes_stands_outside_of_storage() -> None:
    found = {
        name
        for name, source in modules()
        if _WRITING_WORD.search(source)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _WRITING_SQL.search(node.value)
    }
    written = {name for name in found if not name.startswith("storage/")}
    assert written == {"formats/protocol/sqlite.py", "hub/server.py"}, "an export writes another system's file"


def test_within_the_storage_only_the_journals_own_modules_write_entries() -> None:
    inside = [
        (name, source) for name, source in modules() if name.startswith("storage/") and name not in WITHIN_STORAGE
    ]
    found = [problem for name, source in inside for problem in problems(source, name=name)]
    assert [problem for problem in found if "writing" not in problem] == []


@pytest.mark.parametrize(
    "source",
    [
        "from memento_tui.storage.transaction import transaction",
        "workspace._store.transaction(author, 'edit')",
        "self._store.transaction(self._author, 'edit')",
        "store.database.writing()",
        "Transaction(connection, now, guard)",
    ],
)
def test_a_write_that_goes_round_the_gate_would_be_found(source: str) -> None:
    assert problems(source, name="new.py")


def test_a_write_through_the_gate_is_none() -> None:
    assert problems("with self._gate.transaction('edit') as tx:\n    tx.put(record, base=1)", name="new.py") == []
