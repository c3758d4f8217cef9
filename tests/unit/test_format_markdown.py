from __future__ import annotations

import pytest

from memento_tui.text.markdown import (
    NoteLink,
    find_links,
    find_tags,
    find_wikilinks,
    first_heading,
    parse_heading,
    without_code,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a `code` b", "a ` ` b"),
        ("a ``co`de`` b", "a ` ` b"),
        ("a `open b", "a `open b"),
        ("a `open\n\nb` c", "a `open\n\nb` c"),
        ("a `over\nlines` b", "a ` ` b"),
        ("a\n```\ncode\n```\nb", "a\n\n\n\nb"),
        ("a\n~~~ python\ncode\n```\n~~~\nb", "a\n\n\n\n\nb"),
        ("a\n````\n```\n````\nb", "a\n\n\n\nb"),
        ("  - x\n    ```\n    code\n    ```\nb", "  - x\n\n\n\nb"),
        ("> ```\n> code\n> ```\nb", "\n\n\nb"),
        ("a\n```\nnever closed", "a\n\n"),
        ("``` not a fence ```", "` `"),
    ],
)
def test_code_is_taken_out_of_a_text(text: str, expected: str) -> None:
    assert without_code(text) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("# One", (1, "One")),
        ("### Three ###", (3, "Three")),
        ("## About C#", (2, "About C#")),
        ("#  ", (1, "")),
        ("# #", (1, "")),
        ("#tag", None),
        ("    # code", None),
        ("####### seven", None),
    ],
)
def test_headings_are_told_from_tags_and_code(line: str, expected: tuple[int, str] | None) -> None:
    assert parse_heading(line) == expected


def test_the_first_heading_is_the_first_of_level_one_outside_of_code() -> None:
    assert first_heading("## Two\n```\n# comment\n```\n# The `x` title\n# Later") == "The `x` title"
    assert first_heading("no heading #here") == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[Note]]", [NoteLink("Note", "")]),
        ("[[folder/Note#Heading|shown]]", [NoteLink("folder/Note", "shown")]),
        ("[[Note^block]] ![[Embedded]]", [NoteLink("Note", ""), NoteLink("Embedded", "")]),
        ("| [[Note\\|shown]] |", [NoteLink("Note", "shown")]),
        ("[[#Here]] [[]] [[ ]] [[a\nb]] [[x", []),
        ("![[picture.png]] [[paper.PDF]] [[Base.base]]", []),
        ("[[Version 1.5]]", [NoteLink("Version 1.5", "")]),
    ],
)
def test_wikilinks_name_notes(text: str, expected: list[NoteLink]) -> None:
    assert find_wikilinks(text) == expected


def test_links_of_both_kinds_come_in_the_order_of_the_text() -> None:
    text = '[a](x%20y.md) [[b]] [c](../z.md#part "title") [d](https://e.org/f.md) [g](h.png) [i](<j k.md>)'
    assert find_links(text) == [
        NoteLink("x y.md", "a"),
        NoteLink("b", ""),
        NoteLink("../z.md", "c"),
        NoteLink("j k.md", "i"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#one and #two/three-4_x", ["one", "two/three-4_x"]),
        ("(#one), #zwölf", ["one", "zwölf"]),
        ("#123 # no a#b https://x.org/#y ##z", []),
        ("[x](#anchor)", []),
        ("#2024-plan", ["2024-plan"]),
    ],
)
def test_tags_are_words_after_a_hash(text: str, expected: list[str]) -> None:
    assert find_tags(text) == expected
