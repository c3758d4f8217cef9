"""Whatever the texts of a sheet are, it comes back as it was, and nothing but its own marks decides anything."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento_tui.api.bulk_edit import EditedBlock, Sheet, SheetBlock, make_sheet
from memento_tui.errors import InvalidInput

OTHER_MARK = "%%000000000000"
IMITATIONS = st.sampled_from(
    [
        "[x] approve",
        "[ ] approve",
        "> read me",
        "%% end",
        f"{OTHER_MARK} begin",
        f"{OTHER_MARK} block 1",
        f"{OTHER_MARK} end of block 1",
        f"{OTHER_MARK} content",
        f"{OTHER_MARK} end",
        "",
        " ",
        "\r",
        "\x0c",
        "\u2028",
        "\x1b[2J",
    ]
)
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
    st.lists(st.one_of(IMITATIONS, st.text(st.characters(exclude_categories=["Cs"]), max_size=12)), max_size=8).map(
        "\n".join
    ),
)
BLOCKS = st.lists(
    st.builds(
        lambda about, texts: (about, texts),
        st.lists(TEXTS, max_size=3),
        st.dictionaries(st.sampled_from(["title", "tags", "content"]), TEXTS, max_size=3),
    ),
    min_size=1,
    max_size=5,
).map(lambda made: [SheetBlock(f"id{n}", about, ("approve", "later"), texts) for n, (about, texts) in enumerate(made)])


def is_untouched(read: EditedBlock) -> bool:
    return not (read.deleted or read.ticked or read.changed)


def span(sheet: Sheet, number: int) -> tuple[int, int]:
    """Return where a block's text begins and ends in the rendered sheet."""
    text = sheet.render()
    start = text.index(f"{sheet.mark} block {number}\n")
    end = text.index(f"{sheet.mark} end of block {number}\n") + len(f"{sheet.mark} end of block {number}\n")
    return start, end


@given(BLOCKS)
def test_an_untouched_sheet_decides_nothing(blocks: list[SheetBlock]) -> None:
    sheet = make_sheet(blocks)
    for text in (sheet.render(), sheet.render().replace("\n", "\r\n"), sheet.render().rstrip("\n")):
        for read, block in zip(sheet.read(text), blocks, strict=True):
            assert read.block is block
            assert is_untouched(read)


@given(BLOCKS, st.data())
def test_what_is_done_to_one_block_says_nothing_about_another(blocks: list[SheetBlock], data: st.DataObject) -> None:
    sheet = make_sheet(blocks)
    number = data.draw(st.integers(1, len(blocks)))
    start, end = span(sheet, number)
    text = sheet.render()
    deed = data.draw(st.sampled_from(["delete", "tick", "change"]))
    part = text[start:end]
    names = list(blocks[number - 1].texts)
    if deed == "tick":
        part = part.replace("\n[ ] approve\n", "\n[x] approve\n", 1)
    elif deed == "change" and names:
        mark = f"{sheet.mark} {names[0]}\n"
        at = part.index(mark) + len(mark)
        part = f"{part[:at]}something else entirely\n{part[at:]}"
    elif deed == "delete":
        part = ""
    for place, read in enumerate(sheet.read(text[:start] + part + text[end:]), 1):
        if place != number:
            assert is_untouched(read)
            continue
        assert read.deleted == (deed == "delete")
        assert read.ticked == (("approve",) if deed == "tick" else ())
        assert set(read.changed) == ({names[0]} if deed == "change" and names else set())


@given(BLOCKS, st.data())
def test_a_sheet_that_lost_lines_anywhere_decides_nothing_wrong(blocks: list[SheetBlock], data: st.DataObject) -> None:
    """Lines are cut out at any place: either it is refused, or only whole blocks, or texts of a block, are gone."""
    sheet = make_sheet(blocks)
    lines = sheet.render().split("\n")
    first = data.draw(st.integers(0, len(lines) - 1))
    last = data.draw(st.integers(first, len(lines) - 1))
    rest = [*lines[:first], *lines[last + 1 :]]
    try:
        found = sheet.read("\n".join(rest))
    except InvalidInput:
        return
    for number, read in enumerate(found, 1):
        begun = f"{sheet.mark} block {number}" in [line.rstrip() for line in rest]
        ended = f"{sheet.mark} end of block {number}" in [line.rstrip() for line in rest]
        assert read.deleted == (not begun and not ended)
        assert read.ticked == ()
        for name, text in read.changed.items():
            kept = set(read.block.texts[name].replace("\r\n", "\n").replace("\r", "\n").split("\n"))
            assert set(text.split("\n")) <= kept | {""}


@given(BLOCKS, st.data())
def test_a_mark_that_is_there_twice_or_altered_is_refused(blocks: list[SheetBlock], data: st.DataObject) -> None:
    sheet = make_sheet(blocks)
    lines = sheet.render().split("\n")
    marks = [index for index, line in enumerate(lines) if line.startswith(sheet.mark)]
    index = data.draw(st.sampled_from(marks))
    twice = [*lines[: index + 1], lines[index], *lines[index + 1 :]]
    altered = [*lines[:index], f" {lines[index]}x", *lines[index + 1 :]]
    for wrong in (twice, altered):
        with pytest.raises(InvalidInput) as refused:
            sheet.read("\n".join(wrong))
        assert "Nothing was decided" in refused.value.hint
