from __future__ import annotations

import json

import pytest

from memento_tui.errors import InvalidInput
from memento_tui.hosts.json_entries import append_value, parse_jsonc, put_value, remove_value

COMMENTED = """\
// settings of mine
{
    "theme": "dark", // easier on the eyes
    /* servers,
       by name */
    "servers": {
        "one": {"command": "npx", "args": ["-y", "one"]}, // "memento": {}
    },
    "list": [1, 2] // the end
}
"""


def test_comments_and_commas_at_the_end_are_read() -> None:
    assert parse_jsonc(COMMENTED) == {
        "theme": "dark",
        "servers": {"one": {"command": "npx", "args": ["-y", "one"]}},
        "list": [1, 2],
    }


@pytest.mark.parametrize("text", ["", " \n", "// nothing\n", "{}", "{ /* nothing */ }"])
def test_an_empty_document_says_nothing(text: str) -> None:
    assert parse_jsonc(text) == {}
    assert parse_jsonc(put_value(text, ("a", "b"), [1])) == {"a": {"b": [1]}}


def test_a_new_member_comes_last_in_the_layout_that_is_there() -> None:
    assert put_value(COMMENTED, ("servers", "memento"), {"args": ["mcp"]}) == COMMENTED.replace(
        '// "memento": {}\n',
        '// "memento": {}\n'
        '        "memento": {\n            "args": [\n                "mcp"\n            ]\n        },\n',
    )


def test_a_comment_stays_with_the_value_that_it_speaks_of() -> None:
    assert put_value(COMMENTED, ("last",), 3) == COMMENTED.replace(
        '"list": [1, 2] // the end\n', '"list": [1, 2], // the end\n    "last": 3\n'
    )


def test_a_document_in_one_line_stays_in_one_line() -> None:
    assert put_value('{"a":{"b":1}}', ("a", "c"), {"d": [2]}) == '{"a":{"b":1, "c": {"d": [2]}}}'
    assert append_value('{"a":[1]}', ("a",), 2) == '{"a":[1, 2]}'


def test_a_value_is_replaced_where_it_stands() -> None:
    assert put_value(COMMENTED, ("servers", "one", "command"), "node") == COMMENTED.replace('"npx"', '"node"')


def test_line_ends_of_windows_and_tabs_are_kept() -> None:
    text = '{\r\n\t"a": 1\r\n}\r\n'
    assert put_value(text, ("b",), {"c": 2}) == '{\r\n\t"a": 1,\r\n\t"b": {\r\n\t\t"c": 2\r\n\t}\r\n}\r\n'


@pytest.mark.parametrize(
    ("text", "path", "left"),
    [
        ('{"a": 1, "m": 2, "b": 3}', ("m",), '{"a": 1, "b": 3}'),
        ('{"m": 2, "b": 3}', ("m",), '{"b": 3}'),
        ('{"a": 1, "m": 2}', ("m",), '{"a": 1}'),
        ('{"m": 2}', ("m",), "{}"),
        ('{\n  "m": 2, // ours\n  "b": 3\n}', ("m",), '{ // ours\n  "b": 3\n}'),
        ('{\n  "a": 1, // theirs\n  "m": 2\n}', ("m",), '{\n  "a": 1 // theirs\n}'),
        ('{\n  "a": 1,\n  "m": 2,\n}', ("m",), '{\n  "a": 1,\n}'),
        ('{"a": [1, {"m": 2}, 3]}', ("a", 1), '{"a": [1, 3]}'),
    ],
)
def test_a_value_is_taken_out_with_its_comma_and_nothing_else(
    text: str, path: tuple[str | int, ...], left: str
) -> None:
    assert remove_value(text, path) == left
    parse_jsonc(left)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "line 1, column 2"),
        ('{"a": 1 "b": 2}', "a comma or } is missing at line 1, column 9"),
        ('{\n  "a" 1}', "a colon is missing at line 2, column 7"),
        ("{'a': 1}", "quotation marks is missing"),
        ('{"a": nope}', "a value is missing"),
        ('{"a": 01}', "a value is malformed"),
        ('{"a": 1} {}', "something follows the end"),
        ('{"a": 1, "a": 2}', "stands there twice"),
        ('{"a": /* no end }', "a value is missing"),
        ("[]", "no object"),
        ('"text"', "no object"),
        ('{"a": "\n"}', "quotation marks is missing"),
        ("[" * 5_000, "more than 100 levels"),
        ('{"a": ' * 5_000, "more than 100 levels"),
        ('{"a": NaN}', "a value is missing"),
    ],
)
def test_what_is_not_json_is_refused_with_the_place(text: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said.replace("(", r"\(")):
        parse_jsonc(text)


def test_a_large_file_is_read_in_one_pass() -> None:
    large = json.dumps({"projects": {f"/p/{number}": {"history": ["x" * 200] * 20} for number in range(500)}}, indent=2)
    made = put_value(large, ("mcpServers", "memento"), {"command": "memento"})
    assert remove_value(remove_value(made, ("mcpServers", "memento")), ("mcpServers",)) == large
