"""A file of results takes a row in the place of the older one, and keeps all that people wrote around it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.table import BY_HAND, Figure, Row, put_row, write_section

_BEFORE = """# Results

Prose.

| what | figure | target | met | measured |
|---|---|---|---|---|
| pairs found | 0.500 | >= 0.6 | **no** | 2026-01-01, abc, load 1 |
| pairs | 0.700 | >= 0.6 | yes | earlier |

More prose.
"""


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A file of results with one table of two figures between prose."""
    path = tmp_path / "RESULTS.md"
    path.write_text(_BEFORE)
    return path


def test_a_row_takes_the_place_of_the_one_of_the_same_name_and_no_other_line_changes(results: Path) -> None:
    figure = Figure("pairs", 0.55, 0.6)
    put_row(results, figure.head, [*figure.cells, "2026-02-02, def, load 0"])
    old, new = (
        "| pairs | 0.700 | >= 0.6 | yes | earlier |",
        "| pairs | 0.550 | >= 0.6 | **no** | 2026-02-02, def, load 0 |",
    )
    assert results.read_text() == _BEFORE.replace(old, new)


def test_a_row_of_a_new_name_is_the_last_of_its_table(results: Path) -> None:
    figure = Figure("tokens", 90, 100, higher_is_better=False)
    put_row(results, figure.head, [*figure.cells, "today"])
    last = "| pairs | 0.700 | >= 0.6 | yes | earlier |\n"
    assert results.read_text() == _BEFORE.replace(last, f"{last}| tokens | 90.000 | <= 100 | yes | today |\n")


def test_a_row_whose_table_the_file_does_not_have_is_refused_and_nothing_is_written(results: Path) -> None:
    row = Row("a search", "2 ms", "1 ms", 2.0, 1.5)
    with pytest.raises(LookupError, match=r"RESULTS\.md has no table with the columns"):
        put_row(results, row.head, [*row.cells, "today"])
    assert results.read_text() == _BEFORE


def test_a_row_says_its_unit_and_whether_its_target_was_met() -> None:
    assert Row("a key", "20 ms", "15 ms", 5.0, 16.7, unit="ms").cells[3:] == ["5.00 ms", "<= 16.7 ms", "yes"]
    assert Row("writes", "1/s", "4/s", 0.25, 0.5, higher_is_better=True).cells[3:] == ["0.25", ">= 0.5", "**no**"]


def test_a_section_is_written_anew_and_what_people_wrote_below_the_line_stays(tmp_path: Path) -> None:
    path = tmp_path / "RESULTS.md"
    path.write_text(f"# Results\n\n## Keys\n\nOld.\n\n{BY_HAND}\n\nA thought.\n\n## Last\n\nKept.\n")
    write_section(path, "Keys", "New.")
    write_section(path, "Later", "Also.")
    expected = f"# Results\n\n## Keys\n\nNew.\n\n{BY_HAND}\n\nA thought.\n\n## Last\n\nKept.\n\n## Later\n\nAlso.\n"
    assert path.read_text() == expected
