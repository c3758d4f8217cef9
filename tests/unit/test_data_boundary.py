"""Whatever a person, an agent or a file comes in by reaches the data through `memento_tui.api` alone.

The contracts of imports tell modules apart, and not what they hold: another module may hand on what is not for it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import memento_tui

PACKAGE = Path(memento_tui.__file__).parent
FRONT_ENDS = ("cli", "compat", "formats", "hosts", "hub", "mcp", "mirror", "operations", "tui")


def modules_naming(front_end: str, name: str) -> list[str]:
    modules = sorted((PACKAGE / front_end).rglob("*.py"))
    assert modules
    return [str(path.relative_to(PACKAGE)) for path in modules if name in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_no_front_end_names_the_hooks_database_whatever_module_it_comes_from(front_end: str) -> None:
    assert modules_naming(front_end, "HookStore") == []


@pytest.mark.parametrize("part", ["search_engine.keyword", "search_engine.semantic"])
@pytest.mark.parametrize("front_end", [*FRONT_ENDS, "hooks"])
def test_a_front_end_reaches_an_index_by_the_workspace(front_end: str, part: str) -> None:
    assert modules_naming(front_end, part) == []


@pytest.mark.parametrize("front_end", [*FRONT_ENDS, "hooks"])
def test_a_front_end_brings_the_index_up_to_date_by_the_workspace(front_end: str) -> None:
    assert modules_naming(front_end, "keyword.catch_up") == []
