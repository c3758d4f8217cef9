"""The colours by their meaning and dim text, legible in every theme: risk red, yours green, agents blue, waiting amber.

A theme chooses its colours for itself, and some of them cannot be read on its own panels. Here each colour that carries
a meaning is moved towards black or white, no further than until it stands out; so are those of the keys at the bottom
and of the row under the cursor, which stand on grounds of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from rich.color import Color as RichColor
from rich.color import ColorType
from rich.segment import Segment
from rich.style import Style
from textual.color import Color, ColorParseError
from textual.constants import DIM_FACTOR
from textual.filter import LineFilter

__all__ = ["LEAST_CONTRAST", "MEANINGS", "QUIET", "LegibleDim", "contrast", "legible"]

LEAST_CONTRAST = 4.5
"""The contrast of two colours (1 to 21, by WCAG 2) from which on small text is called legible."""

MEANINGS: Mapping[str, str] = {
    "risk": "text-error",
    "yours": "text-success",
    "waiting": "text-warning",
    "agents": "#4ea1f3",
}
"""The variables of the meanings, each with the theme's variable that it is made of, or a colour of its own."""

QUIET = "quiet"
"""The variable of quiet text inside another: a plain colour, as the style of a part of a text loses any opacity."""

_TEXTS = ("foreground", "text-error", "text-success", "text-warning", "text-accent", "text-primary", "text-secondary")
_GROUNDS = ("background", "surface", "panel")
"""The variables of the colours that text stands on."""

_STEPS = 20

_LEAST_QUIET = 60
"""The percentage of black or white in quiet text, as Textual's own themes have it."""


def contrast(one: Color, other: Color) -> float:
    """Return the contrast of two opaque colours by WCAG 2: from 1 for none to 21."""
    bright, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def _luminance(color: Color) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4  # noqa: PLR2004 - sRGB's own
        for part in color.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def legible(variables: Mapping[str, str]) -> dict[str, str]:
    """Return a theme's variables with those of texts made legible, and with those of the meanings.

    The colours of a terminal's own theme are nobody's here, and stay as they are.
    """
    made = dict(variables)
    grounds = [ground for name in _GROUNDS if (ground := _opaque(variables.get(name, ""))) is not None]
    for name in _TEXTS:
        if name in variables:
            made[name] = _legible_on(variables[name], grounds)
    if len(grounds) == len(_GROUNDS):
        made["text-muted"] = made["text-disabled"] = _quiet_on(grounds)
        made[QUIET] = _one_quiet_on(grounds).hex
        made |= _legible_pairs(made, grounds[0]) | _quiet_scrollbars(made, grounds[0])
    else:
        made[QUIET] = made.get("foreground", "ansi_default")
        made |= dict.fromkeys(_SCROLLBARS, "ansi_bright_black") | dict.fromkeys(_TROUGHS, "ansi_default")
    if _is_shade_of(made.get("text-warning", ""), made.get("text-error", "")):
        made["text-warning"] = _WAITING_BESIDE_RED
    for name, source in MEANINGS.items():
        made[name] = made[source] if source in made else _legible_on(source, grounds)
    return made


_WAITING_BESIDE_RED = "ansi_magenta"
"""The terminal colour of waiting items where a theme has only red for them; yellow cannot be read on white."""


def _is_shade_of(one: str, other: str) -> bool:
    """Tell whether two are the same of the terminal's own colours, however bright."""
    plain = one.replace("bright_", "")
    return plain.startswith("ansi_") and plain == other.replace("bright_", "")


_PAIRS = (
    ("footer-foreground", "footer-background"),
    ("footer-key-foreground", "footer-background"),
    ("block-cursor-foreground", "block-cursor-background"),
    ("block-cursor-blurred-foreground", "block-cursor-blurred-background"),
)
"""The variables of texts that stand on a ground of their own, each with that of the ground."""

_WHITE, _BLACK = Color(255, 255, 255), Color(0, 0, 0)


def _legible_pairs(variables: Mapping[str, str], below: Color) -> dict[str, str]:
    """Return legible colours for texts on a ground of their own; ``below`` is the colour under a transparent one."""
    made = {}
    for text, ground in _PAIRS:
        under = _color(variables.get(ground, ""))
        if under is None:
            continue
        under = below.blend(under, under.a, alpha=1)
        color = _opaque(variables[text])
        if color is None:  # chosen by brightness: white where that can be read, because a theme expects it
            color = _WHITE if contrast(_WHITE, under) >= LEAST_CONTRAST else _BLACK
        made[text] = _moved_to(color, [under]).hex
    return made


_SCROLLBARS = {"scrollbar": 0.25, "scrollbar-hover": 0.4, "scrollbar-active": 0.6}
"""The variables of a scrollbar's bar, each with the share of the text's colour in it."""

_TROUGHS = (
    "scrollbar-background",
    "scrollbar-background-hover",
    "scrollbar-background-active",
    "scrollbar-corner-color",
)
"""The variables of a scrollbar's trough."""


def _quiet_scrollbars(variables: Mapping[str, str], below: Color) -> dict[str, str]:
    """Return the colours of the scrollbars: no trough, and a bar that stands out less than the text beside it."""
    text = _opaque(variables.get("foreground", "")) or below.get_contrast_text(1.0)
    bars = {name: below.blend(text, share, alpha=1).hex for name, share in _SCROLLBARS.items()}
    return bars | dict.fromkeys(_TROUGHS, below.hex)


def _color(text: str) -> Color | None:
    """Return a colour, ``None`` for one of the terminal's own or for none at all."""
    try:
        color = Color.parse(text)
    except ColorParseError:
        return None
    return color if color.ansi is None else None


def _quiet_on(grounds: list[Color]) -> str:
    """Return the colour of quiet text: as little of black or white as is legible on all grounds."""
    for percent in range(_LEAST_QUIET, 100, 5):
        shades = [(ground.blend(ground.get_contrast_text(1.0), percent / 100), ground) for ground in grounds]
        if min(contrast(*shade) for shade in shades) >= LEAST_CONTRAST:
            return f"auto {percent}%"
    return "auto"


def _one_quiet_on(grounds: list[Color]) -> Color:
    """Return one colour of quiet text for all grounds: as little of black or white on the first as is legible."""
    first = grounds[0]
    strongest = first.get_contrast_text(1.0)
    shades = (first.blend(strongest, percent / 100) for percent in range(_LEAST_QUIET, 100, 5))
    legible_ones = (shade for shade in shades if all(contrast(shade, ground) >= LEAST_CONTRAST for ground in grounds))
    return next(legible_ones, strongest)


def _opaque(text: str) -> Color | None:
    """Return a colour, ``None`` for one of the terminal's own, one with transparency, or none at all."""
    color = _color(text)
    return color if color is not None and color.a == 1 else None


def _legible_on(text: str, grounds: list[Color]) -> str:
    """Return a colour moved towards black or white until it stands out on all grounds, or as far as it goes."""
    color = _opaque(text)
    return text if color is None or len(grounds) < len(_GROUNDS) else _moved_to(color, grounds).hex


def _moved_to(color: Color, grounds: list[Color]) -> Color:
    """Return a colour as near as it stands out on all grounds, or as far towards black or white as it goes."""
    goal = max((_BLACK, _WHITE), key=lambda end: min(contrast(end, ground) for ground in grounds))
    best = color
    for step in range(_STEPS + 1):
        best = color.blend(goal, step / _STEPS)
        if min(contrast(best, ground) for ground in grounds) >= LEAST_CONTRAST:
            break
    return best


_STEP = 0.05
"""The share of a text's own colour that is added at a time to Textual's share until dim text can be read."""

_MAX_STYLES = 1024


class LegibleDim(LineFilter):
    """Blend dim text into its ground, no further than it stands out; Textual's own filters go as far always."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments with a colour instead of the dim style."""
        return [
            Segment(text, _undimmed(style, background), control) if style is not None and style.dim else segment
            for segment in segments
            for text, style, control in (segment,)
        ]


@lru_cache(_MAX_STYLES)
def _undimmed(style: Style, background: Color) -> Style:
    color, ground = style.color, style.bgcolor
    under = background if ground is None or ground.is_default else Color.from_rich_color(ground)
    if color is None or color.type is not ColorType.TRUECOLOR or under.ansi is not None:
        return style  # the terminal's own colours: it knows how to draw them dim
    own, share = Color.from_rich_color(color), DIM_FACTOR
    while share < 1 and contrast(under.blend(own, share), under) < LEAST_CONTRAST:
        share += _STEP
    red, green, blue = under.blend(own, min(share, 1)).rgb
    return style + Style(color=RichColor.from_rgb(red, green, blue), dim=False)
