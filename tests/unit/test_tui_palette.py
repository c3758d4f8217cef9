"""What a colour says can be read in every theme."""

from __future__ import annotations

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from memento_tui.tui.palette import LEAST_CONTRAST, MEANINGS, QUIET, LegibleDim, contrast, legible

THEMES = sorted(name for name in BUILTIN_THEMES if not name.startswith("ansi"))
TEXTS = ("foreground", "text-error", "text-success", "text-warning", "text-accent", "text-primary", "text-secondary")


@pytest.mark.parametrize("name", THEMES)
def test_every_meaning_stands_out_on_every_ground_of_every_theme(name: str) -> None:
    colours = legible(BUILTIN_THEMES[name].to_color_system().generate())
    weak = {
        (text, ground): round(found, 2)
        for text in (*TEXTS, *MEANINGS, QUIET)
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
@pytest.mark.parametrize("part", ["footer", "footer-key", "block-cursor", "block-cursor-blurred"])
def test_keys_and_the_row_under_the_cursor_stand_out_from_their_own_ground(name: str, part: str) -> None:
    colours = legible(BUILTIN_THEMES[name].to_color_system().generate())
    ground = Color.parse(colours[f"{part.removesuffix('-key')}-background"])
    under = Color.parse(colours["background"]).blend(ground, ground.a, alpha=1)
    assert contrast(Color.parse(colours[f"{part}-foreground"]), under) >= LEAST_CONTRAST


@pytest.mark.parametrize("name", THEMES)
def test_dim_text_is_no_dimmer_than_can_be_read(name: str) -> None:
    colours = legible(BUILTIN_THEMES[name].to_color_system().generate())
    own = Color.parse(colours["text-warning"])
    for ground in ("background", "surface", "panel"):
        under = Color.parse(colours[ground])
        dim = Style(color=own.rich_color, bgcolor=under.rich_color, dim=True)
        (drawn,) = LegibleDim().apply([Segment("6h ago", dim)], under)
        assert drawn.style is not None
        assert drawn.style.color is not None
        assert not drawn.style.dim
        assert contrast(Color.from_rich_color(drawn.style.color), under) >= LEAST_CONTRAST - 0.05, ground


def test_dim_text_in_the_terminals_own_colours_is_left_to_the_terminal() -> None:
    own = Segment("6h ago", Style(dim=True))
    assert LegibleDim().apply([own], Color(0, 0, 0)) == [own]


@pytest.mark.parametrize("name", THEMES)
def test_the_meanings_are_told_apart_by_their_hue(name: str) -> None:
    colours = legible(BUILTIN_THEMES[name].to_color_system().generate())
    assert len({colours[meaning] for meaning in MEANINGS}) == len(MEANINGS)


def test_a_colour_that_can_be_read_stays_as_the_theme_has_it_and_the_terminals_own_are_left_alone() -> None:
    dark = BUILTIN_THEMES["textual-dark"].to_color_system().generate()
    assert Color.parse(legible(dark)["text-error"]) == Color.parse(dark["text-error"])
    own = BUILTIN_THEMES["ansi-dark"].to_color_system().generate()
    assert {name: legible(own)[name] for name in TEXTS} == {name: own[name] for name in TEXTS}


@pytest.mark.parametrize("name", ["ansi-dark", "ansi-light"])
def test_a_scrollbar_in_the_terminals_own_colours_is_a_quiet_bar_without_a_trough(name: str) -> None:
    colours = legible(BUILTIN_THEMES[name].to_color_system().generate())
    assert (colours["scrollbar"], colours["scrollbar-background"]) == ("ansi_bright_black", "ansi_default")


def test_contrast_is_that_of_the_web_guidelines() -> None:
    assert contrast(Color(0, 0, 0), Color(255, 255, 255)) == pytest.approx(21)
    assert contrast(Color(255, 255, 255), Color(255, 255, 255)) == pytest.approx(1)
    assert contrast(Color.parse("#767676"), Color(255, 255, 255)) == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("name", sorted(BUILTIN_THEMES))
def test_what_waits_has_another_colour_than_a_risk(name: str) -> None:
    colours = legible(BUILTIN_THEMES[name].to_color_system().generate())
    risk, waiting = Color.parse(colours["risk"]), Color.parse(colours["waiting"])
    if name.startswith("ansi"):
        assert colours["risk"].replace("bright_", "") != colours["waiting"].replace("bright_", "")
    else:
        apart = abs(risk.hsl.h - waiting.hsl.h)
        assert min(apart, 1 - apart) > 15 / 360, "degrees of hue"


@pytest.mark.parametrize("name", THEMES)
def test_a_scrollbar_is_seen_and_is_quieter_than_the_text_beside_it(name: str) -> None:
    colours = legible(BUILTIN_THEMES[name].to_color_system().generate())
    ground, bar, text = (Color.parse(colours[one]) for one in ("background", "scrollbar", "foreground"))
    assert 1.3 < contrast(bar, ground) < contrast(text, ground) / 2
    assert Color.parse(colours["scrollbar-background"]) == ground
