"""Lines of a change that are taken or left."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memento_tui.text.diff import change_lines, text_of_chosen

TEXTS = st.text("ab. \n", max_size=30)


def test_a_line_that_is_left_stands_as_it_was() -> None:
    lines = change_lines("one\ntwo\nthree", "one\n2\nthree\nfour")
    assert [(line.sign, line.text) for line in lines] == [
        (" ", "one"),
        ("-", "two"),
        ("+", "2"),
        (" ", "three"),
        ("+", "four"),
    ]
    assert text_of_chosen(lines, {4}) == "one\ntwo\nthree\nfour"
    assert text_of_chosen(lines, {1}) == "one\nthree"
    assert text_of_chosen(lines, {2}) == "one\ntwo\n2\nthree"


def test_a_line_and_the_one_that_replaces_it_are_a_pair_and_stand_beside_each_other() -> None:
    lines = change_lines("The port is 80.\nThe host is a.", "The port is 90.\nThe host is b.")
    assert [(line.sign, line.pair) for line in lines] == [("-", 0), ("+", 0), ("-", 1), ("+", 1)]
    assert text_of_chosen(lines, {0, 1}) == "The port is 90.\nThe host is a.", "in their order"


def test_the_sentences_of_a_line_are_taken_and_left_each_by_itself() -> None:
    before = "Build on 16 neighbours: 7 s. Not on all pairs. It keeps one cluster in five."
    after = "Build on 16 neighbours: 6 s. Not on all pairs. It keeps one in four."
    lines = change_lines(before, after)
    assert [line.sign for line in lines] == ["-", "+", " ", "-", "+"]
    assert text_of_chosen(lines, {0, 1}) == before.replace("7 s", "6 s")
    assert text_of_chosen(lines, {3, 4}) == after.replace("6 s", "7 s")
    assert text_of_chosen(lines, {0, 1, 3}) == "Build on 16 neighbours: 6 s. Not on all pairs."


def test_of_blocks_of_different_length_the_lines_that_are_most_alike_are_pairs() -> None:
    lines = change_lines("The port is 80.", "A word before.\nThe port is 90.\nA word behind.")
    assert [(line.sign, line.text[:6]) for line in lines] == [
        ("+", "A word"),
        ("-", "The po"),
        ("+", "The po"),
        ("+", "A word"),
    ]
    assert [line.pair for line in lines] == [0, 1, 1, 2]


@given(st.lists(st.sampled_from("abcde"), max_size=7), st.lists(st.sampled_from("abcde"), max_size=7))
def test_no_removed_line_of_a_change_stands_alone_beside_an_added_one(old: list[str], new: list[str]) -> None:
    lines = change_lines("\n".join(old), "\n".join(new))
    pairs = [[line.sign for line in lines if line.pair == pair] for pair in {line.pair for line in lines} - {-1}]
    for part in {line.part for line in lines} - {-1}:
        signs = [
            "".join(line.sign for line in lines if line.pair == p)
            for p in {line.pair for line in lines if line.part == part}
        ]
        assert not {"-", "+"} <= set(signs)
    assert all(signs in (["-"], ["+"], ["-", "+"]) for signs in pairs)


@given(TEXTS, TEXTS)
def test_all_lines_make_the_new_text_and_none_the_old_one(before: str, after: str) -> None:
    lines = change_lines(before, after)
    assert text_of_chosen(lines, {index for index, line in enumerate(lines) if line.part >= 0}) == after
    assert text_of_chosen(lines, ()) == before
