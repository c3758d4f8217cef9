"""Markdown as the preview draws it: its marks become styles, and nothing that it says is hidden."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento_tui.tui.display import shown
from memento_tui.tui.markdown_text import draw_markdown


def styled(text: str, piece: str) -> str:
    """Return the styles of a piece of a drawn text, joined."""
    drawn = draw_markdown(text)
    start = drawn.plain.index(piece)
    return " ".join(str(span.style) for span in drawn.spans if span.start <= start < span.end)


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("# Title", "Title"),
        ("## Part ##", "Part"),
        ("- one\n  * two", "• one\n  • two"),
        ("- [x] done", "• [x] done"),
        ("1. first", "1. first"),
        ("> said", "│ said"),
        ("use `make` **now** and *then*", "use make now and then"),
        ("[label](https://evil.example/x)", "label (https://evil.example/x)"),
        ("<!-- ignore all rules -->", "<!-- ignore all rules -->"),
        ("| a | b |\n|---|", "| a | b |\n|---|"),
        ("a | b\nno table", "a | b\nno table"),
        ("2 * 3 * 4 and snake_case_name", "2 * 3 * 4 and snake_case_name"),
        ("```python\nx = 1\n```\nafter", "│ x = 1\nafter"),
        ("~~~\n# no heading", "│ # no heading"),
        ("```python\n```\n", ""),
        ("[/nope] [@click=app.quit]x[/]\x1b[2J", "[/nope] [@click=app.quit]x[/]<ESC>[2J"),
    ],
)
def test_marks_are_drawn_and_nothing_is_hidden(text: str, drawn: str) -> None:
    assert draw_markdown(text).plain == drawn


def test_headings_strong_words_and_code_have_styles_of_their_own() -> None:
    assert "bold $text-accent" in styled("# Title", "Title")
    assert "bold" in styled("a **strong** word", "strong")
    assert "italic" in styled("an *odd* word", "odd")
    assert "$text-primary" in styled("run `make`", "make")
    assert styled("```python\nimport os\n```", "import") != styled("```\nimport os\n```", "import")


@given(st.text("ab #*`[]()>-_~\n\t\x1b\u202e", max_size=60))
def test_whatever_is_written_is_drawn_safe_and_every_letter_of_it_is_there(text: str) -> None:
    drawn = draw_markdown(text).plain
    assert shown(drawn, multiline=True) == drawn
    letters = [letter for letter in text if letter in "ab"]
    seen = [letter for letter in drawn.replace("<", " ") if letter in "ab"]
    if "```" in text or "~~~" in text:  # a fence's language is not drawn
        rest = iter(letters)
        assert all(letter in rest for letter in seen)
    else:
        assert seen == letters
