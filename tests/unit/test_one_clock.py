"""No SQL reads the clock: every moment comes from `memento_tui.clock`. For Python, ruff's banned-api sees to it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PRODUCT = Path(__file__).parents[2] / "memento_tui"
FOREIGN = {"columns.py", "sqlite.py"}
"""These repeat another program's schema, whose defaults read the clock; memento gives a value for each column."""

_CLOCK = re.compile(
    r"""\b(?:date|time|datetime|julianday|strftime|unixepoch)\([^()]*['"]now['"]"""
    r"""|\bCURRENT_(?:TIMESTAMP|DATE|TIME)\b|\b(?:julianday|unixepoch)\(\s*\)"""
)


def faults(source: str) -> list[str]:
    """Return the places at which SQL reads the clock."""
    return [found[0] for found in _CLOCK.finditer(source)]


def test_no_sql_reads_the_clock() -> None:
    paths = [path for path in PRODUCT.rglob("*") if path.suffix in (".py", ".sql") and path.name not in FOREIGN]
    assert len(paths) > 100
    found = {str(path): faults(path.read_text(encoding="utf-8")) for path in paths}
    assert {path: what for path, what in found.items() if what} == {}


@pytest.mark.parametrize(
    "source",
    [
        "SELECT datetime('now')",
        "strftime('%s', 'now', '-1 day')",
        "at TEXT DEFAULT CURRENT_TIMESTAMP",
        "WHERE ends < unixepoch()",
    ],
)
def test_the_lint_finds_what_it_is_for(source: str) -> None:
    assert faults(source)
