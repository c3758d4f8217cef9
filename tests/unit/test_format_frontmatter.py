from __future__ import annotations

from typing import Any

import pytest

from memento_tui.formats.frontmatter import (
    InvalidFrontmatter,
    change_properties,
    dump_property,
    read_properties,
    split_note,
)


def values(text: str) -> dict[str, Any] | None:
    found = read_properties(text)
    return None if found is None else {one.name: one.value for one in found}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1", 1),
        ("a: 1.5", 1.5),
        ("a: true", True),
        ("a: null", None),
        ("a:", None),
        ("a: ~", None),
        ("a: yes", "yes"),
        ("a: True", "True"),
        ("a: 007", "007"),
        ("a: 1.10", "1.10"),
        ("a: 0x1f", "0x1f"),
        ("a: 1e3", "1e3"),
        ("a: 1_000", "1_000"),
        ("a: .nan", ".nan"),
        ("a: .inf", ".inf"),
        ("a: 12:30", "12:30"),
        ("a: 2024-01-01", "2024-01-01"),
        ("a: 2024-13-45", "2024-13-45"),
        ("a: 2024-01-01 10:00:61 +99:00", "2024-01-01 10:00:61 +99:00"),
        ("a: 123456789012345678901234567890", "123456789012345678901234567890"),
        ("a: !!binary aGVsbG8=", "aGVsbG8="),
        ("a: !!python/object/apply:os.system [ls]", ["ls"]),
        ("a: !mine x", "x"),
        ("a: !!int x", "x"),
        ("a: !!set {x, y}", {"x": None, "y": None}),
        ("a: {{date}}", "{{date}}"),
        ("a: {? [1, 2] : 3}", "{? [1, 2] : 3}"),
        ("a: [[x]]", [["x"]]),
        ("a: |\n  one\n  # two\n", "one\n# two\n"),
        ("a: &x [1]\nb: *x", [1]),
        ("a: &x 1\nb: &x 2", 1),
    ],
)
def test_values_are_plain_and_what_would_be_written_differently_stays_text(text: str, expected: object) -> None:
    found = values(text)
    assert found is not None
    assert found["a"] == expected
    assert type(found["a"]) is type(expected)


def test_a_merge_key_is_a_name_like_any_other() -> None:
    assert values("a: &x {k: 1}\nb:\n  <<: *x\n") == {"a": {"k": 1}, "b": {"<<": {"k": 1}}}


@pytest.mark.parametrize("text", ["", "\n\n", "# a comment\n"])
def test_yaml_that_says_nothing_has_no_properties(text: str) -> None:
    assert values(text) == {}


@pytest.mark.parametrize("text", ["prose", "- a\n- b", "5", "[a, b]", "prose\nand more prose\n"])
def test_yaml_that_names_nothing_is_told_apart(text: str) -> None:
    assert values(text) is None


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a: b: c", 1, "not valid YAML: mapping values are not allowed"),
        ("a: 1\nb: [1, 2", 2, "not valid YAML"),
        ("a: 1\nb: @x", 2, "not valid YAML"),
        ("a: 1\nb: *nowhere", 2, "not valid YAML: found undefined alias"),
        ("a: 1\n\tb: 2", 2, "not valid YAML"),
        ("a: 'x", 1, "not valid YAML"),
        ("a: 1\n...\nb: 2", 3, "not valid YAML"),
        ("%YAML 9.9\n---\na: 1", 1, "not valid YAML"),
        ("a: 1\nb: 2\na: 3", 3, "names 'a' twice"),
        ("a:\n  b: 1\n  b: 2", 3, "names 'b' twice"),
        ("a: 1\nb: \x07", 2, "does not allow"),
        ('a: "\\U00110000"', 1, "not valid YAML: it escapes a character that is none"),
        ('a: "\\UFFFFFFFF"', 1, "not valid YAML: it escapes a character that is none"),
        ('a: "\\ud800"', 1, "has a NUL or half a character"),
        ('a: 1\n"\\ud800": 1', 2, "has a NUL or half a character"),
        ('a: "\\0"', 1, "has a NUL or half a character"),
        ("[a]: 1", 1, "no plain names"),
        ("a: " + "[" * 60_000, 1, "nested too deep"),
        ("a: " + "{b: " * 10_000, 1, "nested too deep"),
        ("a: " + "x" * 70_000, 1, "has frontmatter of 70,003 characters; the limit is 65,536"),
        ("a: &x [*x]", 1, "unfolds to more than 10,000 values"),
        ("a: [" + "x," * 10_001 + "]", 1, "unfolds to more than 10,000 values"),
    ],
)
def test_yaml_that_cannot_be_used_is_refused_with_its_line(text: str, line: int, reason: str) -> None:
    with pytest.raises(InvalidFrontmatter) as caught:
        read_properties(text)
    assert reason in caught.value.reason
    assert caught.value.line == line or "unfolds" in reason or "depth" in reason


def test_aliases_that_unfold_without_end_are_refused_soon() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    bomb += "".join(f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n" for level in range(1, 12))
    with pytest.raises(InvalidFrontmatter, match="unfolds to more than 10,000 values"):
        read_properties(bomb)


def test_each_property_knows_the_lines_that_it_takes() -> None:
    text = "a: 1\n# about b\nb:\n  - x\n\n  - y\n\n# about c\nc: |\n  # text\n\nd: 2\n"
    found = read_properties(text)
    assert found is not None
    assert [(one.name, one.first, one.end) for one in found] == [("a", 0, 1), ("b", 2, 6), ("c", 8, 10), ("d", 11, 12)]


@pytest.mark.parametrize(
    ("text", "head", "body"),
    [
        ("---\na: 1\n---\nbody\n", "---\na: 1\n---\n", "body\n"),
        ("\ufeff---\r\na: 1\r\n---\r\nbody\r\n", "\ufeff---\r\na: 1\r\n---\r\n", "body\r\n"),
        ("---\na: 1\n---", "---\na: 1\n---", ""),
        ("---  \n---\t\n\n", "---  \n---\t\n", "\n"),
        ("---\na: 1\n", "", "---\na: 1\n"),
        ("----\na: 1\n---\n", "", "----\na: 1\n---\n"),
        (" ---\na: 1\n---\n", "", " ---\na: 1\n---\n"),
        ("text\n---\na: 1\n---\n", "", "text\n---\na: 1\n---\n"),
        ("---\na: 1\n----\n---\nb", "---\na: 1\n----\n---\n", "b"),
        ("\ufeffbody", "\ufeff", "body"),
        ("", "", ""),
    ],
)
def test_a_note_is_parted_where_its_frontmatter_ends(text: str, head: str, body: str) -> None:
    parts = split_note(text)
    assert (parts.head, parts.body) == (head, body)


HEAD = """---
# who wrote it
author: "me"   # quoted
tags: [a, b]
aliases:
  - x
  # a comment inside
  - y

# about the date
date: 2024-01-01
---
"""


def test_a_change_leaves_every_other_line_as_it_is() -> None:
    changed = change_properties(HEAD, {"tags": ["c"], "aliases": None, "title": "New: one"}, "\n")
    assert (
        changed
        == """---
# who wrote it
author: "me"   # quoted
tags:
- c

# about the date
date: 2024-01-01
title: "New: one"
---
"""
    )


def test_no_change_is_no_change_even_of_odd_yaml() -> None:
    odd = "---\n{a: 1,\n b: 2}\n---\n"
    assert change_properties(odd, {}, "\n") == odd


def test_a_change_keeps_the_line_breaks_of_windows() -> None:
    changed = change_properties("---\r\na: 1\r\nb: 2\r\n---\r\n", {"a": ["x", "z"], "c": 3}, "\r\n")
    assert changed == "---\r\na:\r\n- x\r\n- z\r\nb: 2\r\nc: 3\r\n---\r\n"


@pytest.mark.parametrize(
    "head",
    ["---\n{a: 1, b: 2}\n---\n", "---\na: &x 1\nb: 2\nc: *x\n---\n", '---\n"a": 1\n? b\n: 2\n---\n'],
)
def test_yaml_in_which_a_property_cannot_be_replaced_alone_is_written_anew(head: str) -> None:
    before = values(split_note(head).yaml)
    assert before is not None
    assert values(split_note(change_properties(head, {"a": "new"}, "\n")).yaml) == {**before, "a": "new"}


@pytest.mark.parametrize("head", ["", "\ufeff", "---\n---\n"])
def test_a_head_that_says_nothing_gains_what_it_needs(head: str) -> None:
    changed = change_properties(head, {"a": 1, "b": None}, "\n")
    assert changed.removeprefix("\ufeff") == "---\na: 1\n---\n"
    assert changed.startswith("\ufeff") == head.startswith("\ufeff")


@pytest.mark.parametrize(
    "value",
    [
        "",
        " ",
        "007",
        "true",
        "~",
        "a: b",
        "# a",
        "[[x]]",
        "two\nlines",
        "\x07\u2028\x85",
        "🥊",
        "x" * 5000,
        "-",
        "'",
        '"',
    ],
)
def test_a_text_is_written_so_that_it_is_read_as_the_same_text(value: str) -> None:
    assert values(dump_property("a", value)) == {"a": value}
    assert values(dump_property("a", [value, 1, {"b": value}])) == {"a": [value, 1, {"b": value}]}


@pytest.mark.parametrize("name", ["plain", "two words", "null", "", "a: b", "x" * 3000, "\n"])
def test_a_name_is_written_so_that_it_is_read_as_the_same_name(name: str) -> None:
    assert values(dump_property(name, {name: 1})) == {name: {name: 1}}
    assert values(dump_property(name, ["a"])) == {name: ["a"]}
