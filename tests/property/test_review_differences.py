"""What differs between two texts is told whole and in order, and two columns stay straight whatever is in them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from memento_tui.tui.display import shown
from memento_tui.tui.sections.review.evidence import marked_lines
from memento_tui.tui.text_diff import MIN_SPLIT_WIDTH, compare_lines, draw_side_by_side, draw_unified, wrap_runs

LETTERS = st.sampled_from([*"ab \n\t.", "日", "本", "🙂", "\x1b", "\u202e", "é", "e\u0301", "\u200d", "\u0627"])
TEXTS = st.lists(LETTERS, max_size=60).map("".join)


def lines_of(text: str) -> list[str]:
    return shown(text, multiline=True).split("\n")


@given(TEXTS, TEXTS)
def test_every_line_of_both_texts_is_told_in_order(before: str, after: str) -> None:
    pairs = compare_lines(before, after)
    told_before = [None if p.before is None else "".join(text for text, _ in p.before) for p in pairs if not p.skipped]
    told_after = [None if p.after is None else "".join(text for text, _ in p.after) for p in pairs if not p.skipped]
    skipped = sum(pair.skipped for pair in pairs)
    for told, text in ((told_before, before), (told_after, after)):
        kept = [line for line in told if line is not None]
        whole = lines_of(text)
        assert len(kept) + skipped == len(whole)
        rest = iter(whole)
        assert all(line in rest for line in kept)
    assert all(pair.same or pair.skipped for pair in pairs) == (lines_of(before) == lines_of(after))


@given(TEXTS, TEXTS, st.integers(10, 160))
def test_two_columns_are_straight_whatever_stands_in_them(before: str, after: str, width: int) -> None:
    drawn = draw_side_by_side(compare_lines(before, after), width).plain.split("\n")
    column = (max(width, MIN_SPLIT_WIDTH) - 3) // 2
    for line in drawn:
        assert cell_len(line) == 2 * column + 3 or line.startswith("  ... ")


@given(TEXTS, TEXTS)
def test_the_one_column_tells_the_same_lines(before: str, after: str) -> None:
    told = draw_unified(compare_lines(before, after)).plain.split("\n")
    skipped = sum(pair.skipped for pair in compare_lines(before, after))
    for sign, text in (("- ", before), ("+ ", after)):
        kept = [line[2:] for line in told if line.startswith((sign, "  ")) and not line.endswith("unchanged lines")]
        rest = iter(lines_of(text))
        assert len(kept) + skipped == len(lines_of(text))
        assert all(line in rest for line in kept)


@given(TEXTS, TEXTS, st.integers(10, 80))
def test_in_one_column_of_some_width_a_line_stands_beside_its_sign_and_goes_on_below_itself(
    before: str, after: str, width: int
) -> None:
    told = draw_unified(compare_lines(before, after), width=width).plain.split("\n")
    for line in told:
        assert cell_len(line) <= width or line.startswith("  ... ")
        assert line[:2] in ("- ", "+ ", "  ")


def test_a_line_without_spaces_begins_beside_its_sign() -> None:
    told = draw_unified(compare_lines("", "本番環境の手順を必ず守ってください"), width=20).plain.split("\n")
    assert told == ["- ", "+ 本番環境の手順を必", "  ず守ってください"]


@given(TEXTS, st.integers(3, 30))
def test_wrapping_loses_nothing_but_the_spaces_at_the_breaks(text: str, width: int) -> None:
    line = shown(text)
    lines = wrap_runs([(line, False)], width)
    assert all(sum(cell_len(part) for part, _ in one) <= width for one in lines)
    assert "".join(part for one in lines for part, _ in one).replace(" ", "") == line.replace(" ", "")


@given(TEXTS, st.lists(st.tuples(st.integers(-3, 70), st.integers(-3, 70)), max_size=4))
def test_spans_mark_words_and_change_no_text_wherever_they_point(text: str, spans: list[tuple[int, int]]) -> None:
    lines = marked_lines(text.replace("\u0301", ""), spans)
    told = "\n".join("".join(part for part, _ in line) for line in lines)
    assert all(part.isprintable() for line in lines for part, _ in line)
    if text.isascii():
        assert told.count("\n") == lines_of(text).__len__() - 1
