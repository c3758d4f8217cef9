from __future__ import annotations

import json

import pytest

from memento_tui.mcp.server import without_surrogates


def request(content: str) -> str:
    return f'{{"jsonrpc": "2.0", "id": 1, "params": {{"content": "{content}"}}}}\n'


@pytest.mark.parametrize("half", [r"\ud83d", r"\uDE00", r"\ude00\ud83d", r"cut here \ud83d"])
def test_half_a_surrogate_pair_becomes_a_question_mark(half: str) -> None:
    line = without_surrogates(request(half))

    line.encode("utf-8")
    assert line.endswith("\n")
    assert "?" in json.loads(line)["params"]["content"]


@pytest.mark.parametrize("content", [r"\ud83d\ude00", "plain", "\U0001f600", r"C:\\udata"])
def test_a_line_that_can_be_read_means_the_same_afterwards(content: str) -> None:
    line = request(content)

    assert json.loads(without_surrogates(line)) == json.loads(line)


@pytest.mark.parametrize("line", ["", "\n", '{"half": "\\ud83d', "[" * 100_000 + r"\ud83d"])
def test_what_is_not_json_is_left_to_the_protocol(line: str) -> None:
    assert without_surrogates(line) == line
