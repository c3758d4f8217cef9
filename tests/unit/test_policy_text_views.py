from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from memento_tui.policy.text_views import _ANY_NUMBERS, _BLOCK, _BLOCK_KINDS, _blocks, _may_hold_numbers
from tests.depth import examples

_PIECES = st.sampled_from(["aB3" * 6, "x" * 17, "=", " ", "\n", "\r\n> ", "\\\n", "_/", "é", "zz", '"', "+" * 15])
_NUMBERS = st.sampled_from(["0x4a", "\\x41", "12", "105", "01000001", " ", ", ", ":", "-", "\n", "fe", "é", "word"])


@settings(max_examples=examples(200))
@given(st.lists(_PIECES, max_size=8).map("".join))
@example("=" + "a" * 20 + "=" + "b" * 20 + "\n" + "c" * 16 + " d")
def test_a_block_is_found_wherever_a_search_of_the_whole_text_finds_it(text: str) -> None:
    found = [match.span() for match in _blocks(text, text.encode("ascii", "replace").translate(_BLOCK_KINDS))]
    assert found == [match.span() for match in _BLOCK.finditer(text)]


@settings(max_examples=examples(200))
@given(st.lists(_NUMBERS, max_size=24).map("".join))
@example("10 " * 8)
@example("01000001 01000010")
def test_numbers_are_looked_for_in_every_text_that_holds_them(text: str) -> None:
    assert _ANY_NUMBERS.search(text) is None or _may_hold_numbers(text.encode("ascii", "replace"))
