"""Every image comes back as it was packed, whatever it is packed against."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memento_tui.storage.packing import pack, unpack

_TEXTS = st.one_of(
    st.text(),
    st.builds(lambda part, times: part * times, st.text(min_size=1, max_size=40), st.integers(0, 2_000)),
)


@given(_TEXTS, _TEXTS)
def test_an_image_comes_back_from_what_it_was_packed_against(image: str, base: str) -> None:
    assert unpack(pack(image, base), base) == image


@given(_TEXTS, st.data())
def test_an_edited_image_comes_back(base: str, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(base)))
    last = data.draw(st.integers(first, len(base)))
    image = base[:first] + data.draw(st.text()) + base[last:]
    assert unpack(pack(image, base), base) == image


@given(st.binary(max_size=60), st.text())
def test_what_is_no_packed_image_is_unpacked_to_nothing_or_some_text(packed: bytes, base: str) -> None:
    found = unpack(packed, base)
    assert found is None or isinstance(found, str)


def test_nothing_is_unpacked_without_what_it_was_packed_against() -> None:
    assert unpack(pack("The port is 9090.", "The port is 8080."), None) is None


def test_a_few_words_in_a_long_text_take_a_few_bytes_wherever_they_are() -> None:
    base = "".join(f"Sentence {number} is about port {number * 7919 % 9973}. " for number in range(4_000))
    for place in (0, len(base) // 2, len(base)):
        assert len(pack(f"{base[:place]}Four more words here. {base[place:]}", base)) < 100
    both = f"At the start. {base[:90_000]}In the middle. {base[90_000:]}"
    assert len(pack(both, base)) < len(base) // 40
