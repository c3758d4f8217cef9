"""The rows of the health section in words."""

from __future__ import annotations

from memento_tui.api.health import HealthFinding
from memento_tui.tui.sections.health_text import check_rows


def test_a_number_of_thousands_stays_whole_in_a_narrow_list() -> None:
    finding = HealthFinding("semantic index", ok=True, detail="1,757 memories, 0 wait to be embedded; others answer")
    row = next(row for row in check_rows({"semantic index": finding}) if row.check is finding)
    assert (row.title, row.short) == ("Engine", "1,757 memories")
