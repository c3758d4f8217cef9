"""What a colour says can be read in every theme."""

from __future__ import annotations

import pytest
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from memento_tui.tui.palette import LEAST_CONTRAST, MEANINGS, contrast, legible

THEMES = sorted(name for name in BUILTIN_THEMES if not name.startswith("ansi"))
TEXTS = ("text-error", "text-success", "text-warning", "text-accent", "text-primary", "text-secondary")


@pytest.mark.parametrize("name", THEMES)
def test_every_meaning_stands_out_on_every_ground_of_every_theme(name: str) -> None:
    colours = legible(BUILTIN_THEMES[name].to_color_system().generate())
    weak = {
        (text, ground): round(found, 2)
        for text in (*TEXTS, *MEANINGS)
        for ground in ("background", "surface", "panel")
        if (found := contrast(Color.parse(colours[text]), Color.parse(colours[ground]))) < LEAST_CONTRAST
    }
    assert weak == {}


@pytest.mark.parametrize("name", THEMES)
def test_quiet_text_stands_out_too(name: str) -> None:
    colours = legible(BUILTIN_THEMES[name].to_color_system().generate())
    for ground in ("background", "surface", "panel"):
        under = Color.parse(colours[ground])
        share = float(colours["text-muted"].removeprefix("auto").strip(" %") or 100) / 100
        assert contrast(under.blend(under.get_contrast_text(1.0), share), under) >= LEAST_CONTRAST, ground


@pytest.mark.parametrize("name", THEMES)
def test_the_meanings_are_told_apart_by_their_hue(name: str) -> None:
    colours = legible(BUILTIN_THEMES[name].to_color_system().generate())
    assert len({colours[meaning] for meaning in MEANINGS}) == len(MEANINGS)


def test_a_colour_that_can_be_read_stays_as_the_theme_has_it_and_the_terminals_own_are_left_alone() -> None:
    dark = BUILTIN_THEMES["textual-dark"].to_color_system().generate()
    assert Color.parse(legible(dark)["text-error"]) == Color.parse(dark["text-error"])
    own = BUILTIN_THEMES["ansi-dark"].to_color_system().generate()
    assert {name: legible(own)[name] for name in TEXTS} == {name: own[name] for name in TEXTS}


def test_contrast_is_that_of_the_web_guidelines() -> None:
    assert contrast(Color(0, 0, 0), Color(255, 255, 255)) == pytest.approx(21)
    assert contrast(Color(255, 255, 255), Color(255, 255, 255)) == pytest.approx(1)
    assert contrast(Color.parse("#767676"), Color(255, 255, 255)) == pytest.approx(4.54, abs=0.01)
