# ruff: noqa: RUF001 - the marks of many scripts look like those of this one
from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memento_tui.text.sentences import ends_like_a_sentence, first_sentence, sentences
from tests.steps import grows_in_proportion

pieces = st.sampled_from(
    [
        *(
            "Uses uv. ",
            "e.g. ",
            "`a. B` ",
            "好。",
            "「はい。」",
            "\n",
            "\n\n",
            "- ",
            "# ",
            "> ",
            "| a | b |\n",
            "```\n",
            "---\n",
        ),
        *(
            "1. ",
            "[x] ",
            "3.11.2 ",
            "config.toml ",
            "(see p. 5)",
            '"Go. Now." ',
            "! ",
            "…",
            "\u2028",
            "\t",
            "A",
            "<!-- ",
            "-->",
        ),
    ]
)
notes = st.one_of(st.text(), st.lists(st.one_of(pieces, st.text(max_size=5)), max_size=30).map("".join))
EAST_ASIAN_ENDS = "。！？｡．"


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@given(notes)
@example("<!--\n-->\n---\na\n---\n")
def test_the_spans_are_in_order_apart_and_within_the_text(text: str) -> None:
    last = 0
    for start, end in sentences(text):
        assert last <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        last = end


@given(notes)
def test_the_first_sentence_is_never_cut_within_a_word(text: str) -> None:
    found = first_sentence(text)
    starts = [start for start in range(len(text) + 1) if text.startswith(found, start)]
    behind = [text[start + len(found) :][:1] for start in starts]

    assert any(not after or after.isspace() for after in behind) or found.rstrip("」\"')").endswith(
        tuple(EAST_ASIAN_ENDS)
    )


@given(
    st.lists(
        st.sampled_from(["uv", "Alice", "3.11.2", "config.toml", "https://a.b/c.d?x=1.2", "e.g.", "`a. B`"]), min_size=1
    )
)
def test_no_sentence_ends_within_a_number_a_name_or_code(words: list[str]) -> None:
    text = f"We use {' '.join(words)} here. Done."

    assert split(text) == [text[: -len(" Done.")], "Done."]


@pytest.mark.parametrize(
    "text",
    [
        "We use Python 3.11.2 in CI and see v1.2.3 of config.toml",
        "It is at https://example.com/a.b/c.d?x=1. in case of doubt",
        "Use `foo. Bar()` and ``a ` b. C`` in code",
        "We need etc. and so on, approx. five of them, cf. the others",
        "Dr. Smith, J. R. Miller and Prof. Adams moved to the U.S. Senate",
        "See p. 5, No. 7 and Fig. 3, i.e. E.g. the first",
        "Es kostet 5 Mio. Euro und galt am 3. Oktober z.B. in Berlin",
        "М. Горький и т.д. Петров",
        'He said “Go. Now.” and "Wait. Stop." and left (or not. Who knows.) again',
        "Node.js and .NET and asp.net run",
        "Wait... what",
    ],
)  # fmt: skip
def test_what_is_no_end_of_a_sentence_is_not_taken_for_one(text: str) -> None:
    assert split(text + ".") == [text + "."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We moved to PostgreSQL 15. The old one is gone! Really?! Yes.", 4),
        ("我们使用Python。数据库是PostgreSQL！好吗？好。", 4),
        ("これはテストです。次の文。「はい。いいえ。」と言った。", 3),
        ("यह एक वाक्य है। दूसरा वाक्य।", 2),
        ("هل هذا صحيح؟ نعم، هذا صحيح.", 2),
        ("Это тест. Второе предложение.", 2),
        ("Αυτό είναι. Και αυτό.", 2),
        ("¿Funciona? ¡Sí! Funciona.", 3),
        ('He said: "It is done." Then he left. (It was late.) Bye.', 4),
        ("**Bold sentence.** *Another one.* `code` starts this.", 3),
    ],
)
def test_sentences_end_in_every_script(text: str, expected: int) -> None:
    found = split(text)

    assert len(found) == expected
    assert "".join(found).replace(" ", "") == text.replace(" ", "")


def test_headings_front_matter_fences_comments_and_rules_are_left_out() -> None:
    text = (
        "---\ntitle: No. This\n---\n# A heading.\n\nSetext\n======\n\nProse one. Prose two.\n\n"
        "```py\nx = 1. If not.\n```\n<!-- hidden.\nStill. -->\n***\n| Head | Cell |\n|---|---|\n| a | b |\n<br>\n"
        "[x]: http://y\n"
    )

    assert split(text) == ["Prose one.", "Prose two.", "| a | b |"]


def test_list_items_lines_and_quotations_are_apart_and_without_their_marks() -> None:
    listed = "- one item\n- another. With two\n  * nested\n12. numbered\n"
    text = f"Build: make\nTest: pytest\n{listed}> quoted words\nNot quoted"

    assert split(text) == [
        "Build: make",
        "Test: pytest",
        "one item",
        "another.",
        "With two",
        "nested",
        "numbered",
        "quoted words",
        "Not quoted",
    ]


def test_a_task_keeps_its_box_so_that_a_done_one_does_not_read_as_open() -> None:
    assert split("- [x] Rotate the keys\n- [ ] Tell the team") == ["[x] Rotate the keys", "[ ] Tell the team"]


def test_a_sentence_goes_on_over_wrapped_lines() -> None:
    wrapped = (
        "This sentence was wrapped by an editor to a width of about sixty\nColumns, which Markdown ignores. The next."
    )

    assert split(wrapped) == [wrapped[: -len(" The next.")], "The next."]
    assert split("It goes on\nin lower case.") == ["It goes on\nin lower case."]


def test_a_fence_without_an_end_hides_what_follows_and_nothing_before() -> None:
    assert split("Before.\n```\nInside. Still.") == ["Before."]


def test_the_first_sentence_is_the_first_that_says_something() -> None:
    assert first_sentence("---\na: b\n---\n# Title\n\n***\n\nThe point. More.") == "The point."
    assert first_sentence("Steps:\n- do this\n- and that") == "do this"
    assert first_sentence("**Steps:**\n\nDo this first.") == "Do this first."
    assert first_sentence("1\n\n42.\n\nThe point.") == "The point."


@pytest.mark.parametrize("text", ["no end here", "# Only a heading", "```\nonly code\n```", "Only a lead:", "42", ""])
def test_a_text_without_a_sentence_is_its_own_first_sentence(text: str) -> None:
    assert first_sentence(f"\n{text}\n") == text


@pytest.mark.parametrize("text", ["Done.", "Done.**", "“Done.”", "好。", "Really?", "ใช้ฐานข้อมูลนี้", "है।"])
def test_a_text_that_ends_with_a_sentence_is_ended(text: str) -> None:
    assert ends_like_a_sentence(text)


@pytest.mark.parametrize(
    "text", ["Do", "We use PostgreS", "The steps:", "And then...", "a, b,", "", "好", "and so on…"]
)
def test_a_text_that_ends_within_a_sentence_is_not_ended(text: str) -> None:
    assert not ends_like_a_sentence(text)


@pytest.mark.deep
@pytest.mark.parametrize(
    "unit",
    [
        *(
            "a",
            ".",
            " ",
            "`",
            "` `` ",
            "(",
            "“",
            '"a ',
            "a. ",
            "- ",
            "> ",
            "|",
            "。",
            "\n",
            "- a\n",
            "<!--\n",
            "A. A\n",
            "_*",
        ),
        *(
            "[a](",
            "#",
            "```\n",
            "---\n",
            "1. ",
            "([",
            "<a",
            "[",
            "x:\n",
            "\u2028",
            "e.g. ",
            "。）",
            "A ",
            "a\n",
            "X" * 61 + "\u2028",
        ),
    ],
)
def test_the_steps_are_in_proportion_to_the_length(unit: str) -> None:
    grows_in_proportion(lambda size: sentences((unit * size)[:size]), 400)
    grows_in_proportion(lambda size: first_sentence((unit * size)[:size]), 400)


@pytest.mark.real_data
def test_no_sentence_of_a_real_memory_begins_or_ends_within_a_word(real_data: Path) -> None:
    checked = 0
    for path in real_data.rglob("*.md"):
        text = path.read_text(encoding="utf-8", errors="replace")
        for start, end in sentences(text):
            checked += 1
            assert end == len(text) or text[end].isspace() or text[end - 1] in EAST_ASIAN_ENDS, (path, text[start:end])
            assert start == 0 or not (text[start - 1].isalnum() and text[start].isalnum()), (path, text[start:end])
    assert checked > 1_000
