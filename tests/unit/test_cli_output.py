from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from memento_tui.cli.output import as_json, format_fields, format_time, table


def test_json_is_plain_ascii_without_controls() -> None:
    text = "a\x00\x1b\x7f\x85\x9b\u202e\u2028é\U0001f600\udcff"
    written = as_json({"text": text})
    assert written.isascii()
    assert written.isprintable()
    assert json.loads(written) == {"text": text}


def test_columns_are_as_wide_as_their_widest_cell_in_terminal_cells() -> None:
    lines = table(["ID", "WHAT", "END"], [["a", "日本", "x"], ["bbb", "é", "y"]]).splitlines()
    assert lines == ["ID   WHAT  END", "a    日本  x", "bbb  é     y"]


def test_a_table_without_rows_is_nothing() -> None:
    assert table(["ID"], []) == ""


def test_cells_are_made_safe() -> None:
    assert "<ESC>" in table(["ID"], [["\x1b[2J"]])
    assert "two / lines" in table(["ID", "WHAT"], [["1", "two\nlines"]])


def test_a_long_id_is_cut_so_that_it_can_be_copied_as_a_beginning() -> None:
    long_id = "projects/" * 20
    row = table(["ID", "WHAT"], [[long_id, "text"]]).splitlines()[1]
    beginning, what = row.split("  ")
    assert long_id.startswith(beginning)
    assert what == "text"


def test_only_what_says_something_is_named() -> None:
    values = {"kind": "fact", "tags": ("a", "b"), "pinned": True, "title": "", "extra": {}, "count": 0, "expires": None}
    assert format_fields(values).splitlines() == ["kind    fact", "tags    a, b", "pinned  yes", "count   0"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "-"),
        ("2026-11-21T08:15:30.000000Z", "2026-11-21 08:15Z"),
        (datetime(2026, 11, 21, 8, 15, tzinfo=UTC), "2026-11-21 08:15Z"),
    ],
)
def test_moments_are_told_to_the_minute(value: datetime | str | None, said: str) -> None:
    assert format_time(value) == said
