"""The blocks of Markdown, and which characters they are."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memento_tui.text.markdown import blocks
from tests.steps import grows_in_proportion

markdown = st.lists(
    st.sampled_from(
        [
            "a b",
            "# ",
            "- ",
            "1. ",
            "> ",
            "```",
            "~~~\n",
            "\n",
            "\n\n",
            "| a | b |\n|---|---|\n",
            "| c |\n",
            "---\n",
            "===\n",
            "    ",
            "\t",
            "<!-- ",
            "-->",
            "<div>\n",
            "[a]: b\n",
            "\u2028",
            "\r\n",
            "\r",
            "\x85",
            "`",
            "\ufeff",
            "\x00",
            "\ud800",
        ]
    ),
    max_size=30,
).map("".join)


def kinds(text: str) -> list[tuple[str, list[str]]]:
    return [(block.kind, [text[start:end] for start, end in block.lines]) for block in blocks(text)]


@given(st.one_of(markdown, st.text()))
@example("<!-- ~~~\n~~~\n")
@example("<!-- a\n\n~~~\nb\n~~~\nc\n```\nd\n```\n--> e\n")
def test_lines_are_in_order_within_the_text_and_without_white_space_around(text: str) -> None:
    last = 0
    for block in blocks(text):
        assert block.lines
        assert 0 <= block.first_line < block.last_line
        for start, end in block.lines:
            assert last <= start <= end <= len(text)
            assert text[start:end] == text[start:end].strip()
            last = end


def test_each_block_has_its_kind_and_its_lines_without_marks() -> None:
    text = (
        "---\ntitle: x\n---\n# One #\n\nTwo\n---\n\n- item\n  goes on\n> quoted\n\n```py\ncode\n```\n"
        "| h |\n|---|\n| c |\n\n<!-- no -->\n    indented\n"
    )

    assert kinds(text) == [
        ("heading", ["One"]),
        ("heading", ["Two"]),
        ("paragraph", ["item", "goes on"]),
        ("paragraph", ["quoted"]),
        ("code", ["```py", "code", "```"]),
        ("heading", ["| h |"]),
        ("row", ["| c |"]),
        ("html", ["<!-- no -->"]),
        ("paragraph", ["indented"]),
    ]
    assert [(block.level, block.underlined) for block in blocks(text)[:2]] == [(1, False), (2, True)]


def test_fenced_code_in_a_list_ends_at_its_fence_though_its_lines_are_not_indented() -> None:
    assert kinds("- item\n  ```\n# code\n- code\n  ```\n- another\n") == [
        ("paragraph", ["item"]),
        ("code", ["```", "# code", "- code", "```"]),
        ("paragraph", ["another"]),
    ]


@pytest.mark.parametrize("text", ["plain words", "plain words  ", "Ends. And another"])
def test_one_line_of_words_is_a_paragraph(text: str) -> None:
    assert kinds(text) == [("paragraph", [text.strip()])]


@pytest.mark.deep
@pytest.mark.parametrize(
    "unit", ["`", "> ", "- ", "[", "|", "# ", "[a]: b\n", "|a|\n|-|\n", "<a\n", "<!--\n", " - a\n", "a\n=\n"]
)
def test_the_steps_are_in_proportion_to_the_length(unit: str) -> None:
    grows_in_proportion(lambda size: blocks((unit * size)[:size]), 400)
