"""A Markdown table as the preview draws it: aligned, within the width, and with all that it says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento_tui.tui.display import shown
from memento_tui.tui.markdown_text import draw_markdown

PORTS = "| Service | Port |\n|:--|--:|\n| api | 8080 |\n| `db`, the old one | 5432 |\nafter"


def drawn(text: str, width: int = 80) -> list[str]:
    return draw_markdown(text, width).plain.split("\n")


def test_a_table_is_drawn_with_its_columns_aligned() -> None:
    assert drawn(PORTS) == [
        "Service          Port",
        "───────────────  ────",
        "api              8080",
        "db, the old one  5432",
        "after",
    ]


def test_a_cell_that_is_wider_than_its_column_goes_on_below() -> None:
    text = "| Name | What it does |\n|---|---|\n| gate | asks a person before a write |\n| hub | joins machines |"
    assert drawn(text, 22) == [
        "Name  What it does",
        "────  ────────────────",
        "gate  asks a person",
        "      before a write",
        "hub   joins machines",
    ]


def test_a_table_of_more_columns_than_fit_is_a_list_of_its_rows() -> None:
    text = "| Name | Port | Host |\n|---|---|---|\n| api | 80 | one |\n| db | 81 | |"
    assert drawn(text, 12) == ["Name: api", "Port: 80", "Host: one", "", "Name: db", "Port: 81", "Host", ""]


def test_cells_that_are_too_many_or_missing_take_nothing_away() -> None:
    assert drawn("a | b\n--|--\n1\\|2 | 2 | 3 |\n| 4 |") == ["a    b", "───  ─  ─", "1|2  2  3", "4"]


@pytest.mark.parametrize("text", ["| a |\n| b |", "a\n--", "| a | b |\n| - |", "| a |"])
def test_what_is_no_table_stays_as_it_is_written(text: str) -> None:
    assert draw_markdown(text).plain == text


def test_a_table_in_a_block_of_code_stays_as_it_is_written() -> None:
    assert drawn("```\n| a |\n|---|\n```") == ["│ | a |", "│ |---|"]


def test_the_head_is_bold_and_a_cell_has_the_styles_of_its_words() -> None:
    content = draw_markdown("| **a** |\n|---|\n| `code` |")
    styles = {content.plain[span.start : span.end]: str(span.style) for span in content.spans}
    assert "bold" in styles["a"]
    assert styles["code"] == "$text-primary"


@given(st.lists(st.text("ab |\\漢`*\x1b\u202e[]", max_size=20), max_size=6), st.integers(1, 40))
def test_a_table_of_anything_is_safe_and_says_all(rows: list[str], width: int) -> None:
    text = "\n".join(["| h | h |", "|---|---|", *(f"|{row}" for row in rows)])
    content = draw_markdown(text, width).plain
    assert shown(content, multiline=True) == content
    assert sum(content.replace("<", " ").count(letter) for letter in "ab漢") == sum(
        text.count(letter) for letter in "ab漢"
    )
