"""Make text safe to show in a terminal. Text that an agent wrote is hostile until it has been through here."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from datetime import datetime
from functools import cache, lru_cache, partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len, get_character_cell_size

__all__ = [
    "ago",
    "cells",
    "has_hidden",
    "hidden_characters",
    "literal",
    "more_characters",
    "set_border_title",
    "short_path",
    "shown",
    "time_ago",
]

if TYPE_CHECKING:
    from textual.content import Content
    from textual.widget import Widget


_PLAIN = (
    r" -~\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0377\u037a-\u037f\u0384-\u038a\u038e-\u03a1\u03a3-\u0482\u048a-\u052f"
    r"\u05d0-\u05ea\u0621-\u064a\u0671-\u06d3\u0905-\u0939\u0e01-\u0e30\u0e40-\u0e46"
    r"\u1e00-\u1eff\u2010-\u2027\u2030-\u205e\u20a0-\u20bf\u2100-\u218b\u2190-\u2426\u2460-\u27ff\u2801-\u2b73"
    r"\u3001-\u3029\u3030-\u303f\u3041-\u3096\u309b-\u30ff\u3105-\u312f\u3131-\u3163\u3220-\ua48c\uac00-\ud7a3"
    r"\uf900-\ufa6d\uff01-\uff9f\U0001f000-\U0001f3fa\U0001f400-\U0001faff\U00020000-\U0002a6dd"
)
"""Characters that are shown as they are wherever they stand; every one is visible and has a width of its own.

Those of the emoji block that this Python does not know yet are among them: newer emoji than its tables are common.
"""

_PICTOGRAPH = r"\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_SKIN_TONE = r"\U0001f3fb-\U0001f3ff"
_JOINING = (
    r"\u0620-\u06dc\u06de-\u070e\u0710-\u08e1\u08e3-\u109f\u1780-\u17b3\u17b6-\u180a\u1810-\u18af"
    r"\ufb50-\ufdff\ufe70-\ufefc"
)
"""Letters and marks of scripts whose spelling needs joiners: Arabic and Persian, those of India, Khmer, Mongolian."""

_BLANK = (
    r"\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\uffa0\U00016fe4\U0001d159"
    r"\ufe00-\ufe0f\U000e0100-\U000e01ef"
)
"""Characters that Python calls printable and that show nothing: fillers, blanks and variation selectors."""


class _Patterns(NamedTuple):
    """The large character classes, compiled when a text first needs them."""

    odd: re.Pattern[str]
    odd_run: re.Pattern[str]
    harmless: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    return _Patterns(
        odd=re.compile(f"[^{_PLAIN}]"),
        odd_run=re.compile(f"[^{_PLAIN}]+"),
        harmless=re.compile(
            rf"(?<=[{_PICTOGRAPH}\ufe0f])\u200d(?=[{_PICTOGRAPH}])"
            rf"|(?<=[{_PICTOGRAPH}])[\ufe0e\ufe0f]"
            r"|(?<=[0-9#*])\ufe0f(?=\u20e3)"
            rf"|(?<=[{_PICTOGRAPH}\ufe0f])[{_SKIN_TONE}]"
            rf"|(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}])"
        ),
    )


_IS_BLANK = re.compile(f"[{_BLANK}]")
_IS_SELECTOR = re.compile(r"[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_IS_SKIN_TONE = re.compile(f"[{_SKIN_TONE}]")
_IS_TAG = re.compile(r"[\U000e0020-\U000e007e]")

_NAMES = {
    0x00: "NUL",
    0x07: "BEL",
    0x08: "BS",
    0x0B: "VT",
    0x0C: "FF",
    0x1B: "ESC",
    0x7F: "DEL",
    0x85: "NEL",
    0x9B: "CSI",
    0x9D: "OSC",
    0xAD: "SHY",
    0x200B: "ZWSP",
    0x200C: "ZWNJ",
    0x200D: "ZWJ",
    0x200E: "LRM",
    0x200F: "RLM",
    0xFEFF: "BOM",
}
_CATEGORY_NAMES = {"Cc": "CONTROL", "Cn": "UNASSIGNED", "Co": "PRIVATE USE", "Cs": "LONE SURROGATE"}

_MOST_MARKS = 6
"""Marks on one letter; pointed and cantillated Hebrew, the richest use there is, has five."""

_TAB_WIDTH = 4
_LINE_MARK = " / "
_ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"

_VISIBLE, _MARK, _SPACE, _TAG, _SELECTOR = "visible", "mark", "space", "tag", "selector"


def shown(text: str, *, multiline: bool = False) -> str:
    """Return ``text`` as a terminal may show it.

    Lines are kept where ``multiline`` is set (each ended by a single line feed), and joined by `` / `` where it is not.
    Showing what was shown before changes nothing.
    """
    if text.isascii() and text.isprintable():
        return text
    return _shown(text, multiline=multiline, hidden=Counter())


def hidden_characters(text: str) -> Counter[str]:
    """Count the characters that `shown` replaces because they are invisible or act on the terminal, by description."""
    hidden: Counter[str] = Counter()
    if not (text.isascii() and text.isprintable()):
        _shown(text, multiline=True, hidden=hidden)
    return hidden


def has_hidden(text: str) -> bool:
    """Return whether ``text`` has hidden characters, which deserve a warning."""
    return bool(hidden_characters(text))


def cells(text: str, width: int, *, ellipsis: bool = True) -> str:
    """Return one line of ``text``, safe to show, cut or padded to exactly ``width`` terminal cells.

    The whole text is processed, so pass a line and not a document. ``ellipsis`` marks a cut.
    """
    if width <= 0:
        return ""
    line = shown(text)
    used, cut = _fitting(line, width)
    if len(cut) < len(line) and ellipsis:
        used, cut = _fitting(cut, width - 1)
        return cut + _ELLIPSIS + " " * (width - 1 - used)
    return cut + " " * (width - used)


def literal(text: str, style: str = "", *, multiline: bool = False) -> Content:
    """Return content that shows ``text`` letter by letter: brackets in it are never markup. ``style`` is trusted."""
    from textual.content import Content  # noqa: PLC0415 - the command line shows text without Textual

    return Content.styled(shown(text, multiline=multiline), style)


def set_border_title(widget: Widget, title: str) -> None:
    """Show a title in the upper border of a widget, letter by letter."""
    widget.border_title = literal(title)


def ago(moment: datetime, now: datetime) -> str:
    """Return the time between the two in a few letters: ``now``, ``5m``, ``3h``, ``2d``, ``4w``, ``7mo``, ``2y``.

    A moment that is still to come reads ``in 3d``. Parts of a unit are dropped.
    """
    seconds = (now - moment).total_seconds()
    span = _span(abs(seconds))
    return f"in {span}" if seconds < 0 and span != "now" else span


def time_ago(moment: datetime, now: datetime) -> str:
    """Return how long ago a moment was in words: ``just now``, ``5m ago``, ``2y ago``."""
    span = ago(moment, now)
    return "just now" if span == "now" else f"{span} ago"


def more_characters(text: str, limit: int, hint: str = "", *, style: str = "dim") -> Content:
    """Return the note below a text of which ``limit`` characters are shown; empty where that is all of it."""
    left = len(text) - limit
    return literal(f"\n\n... {left:,} more characters{hint}.", style, multiline=True) if left > 0 else literal("")


_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_SPANS = (
    (_MINUTE, 1, ""),
    (_HOUR, _MINUTE, "m"),
    (_DAY, _HOUR, "h"),
    (14 * _DAY, _DAY, "d"),
    (61 * _DAY, 7 * _DAY, "w"),
    (365 * _DAY, 30.44 * _DAY, "mo"),
)
"""For each unit: the seconds below which it is used, its length in seconds, and its letters."""


def _span(seconds: float) -> str:
    for limit, length, unit in _SPANS:
        if seconds < limit:
            return f"{int(seconds // length)}{unit}" if unit else "now"
    return f"{int(seconds // (365 * _DAY))}y"


def _fitting(line: str, width: int) -> tuple[int, str]:
    """Return the longest beginning of ``line`` that fits ``width`` cells, after the number of cells it takes."""
    if line.isascii():
        return min(len(line), width), line[:width]
    used = 0
    for index, character in enumerate(line):
        size = get_character_cell_size(character)
        if used + size > width:
            return used, line[:index]
        used += size
    return used, line


def _shown(text: str, *, multiline: bool, hidden: Counter[str]) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if multiline:
        return "\n".join([_shown_line(line.expandtabs(_TAB_WIDTH), hidden) for line in lines])
    parts = [_shown_line(line.replace("\t", " "), hidden) for line in lines]
    return parts[0] if len(parts) == 1 else _LINE_MARK.join(filter(None, [part.strip() for part in parts]))


def _shown_line(line: str, hidden: Counter[str]) -> str:
    if line.isascii() and line.isprintable():
        return line
    patterns = _patterns()
    if patterns.odd.search(line) is None:
        return line
    return patterns.odd_run.sub(partial(_shown_run, hidden), patterns.harmless.sub("", line))


def _shown_run(hidden: Counter[str], run: re.Match[str]) -> str:
    """Return the replacement of a run of characters that are not plain, and count the hidden ones."""
    shown_parts = []
    at_start = run.start() == 0
    for kind, group in groupby(run[0], _kind):
        characters = "".join(group)
        if kind == _VISIBLE:
            shown_parts.append(characters)
        elif kind == _MARK:
            shown_parts.append(_shown_marks(characters, 0 if at_start else _MOST_MARKS, hidden))
        elif kind == _SPACE:
            shown_parts.append(" " * cell_len(characters))
        else:
            shown_parts.append(_placeholder(kind, characters, hidden))
        at_start = False
    return "".join(shown_parts)


def _shown_marks(marks: str, most: int, hidden: Counter[str]) -> str:
    """Return at most ``most`` combining marks, and a placeholder for the rest."""
    excess = len(marks) - most
    if excess <= 0:
        return marks
    hidden["stray or stacked marks"] += excess
    return f"{marks[:most]}<{excess} mark{'s' if excess > 1 else ''}>"


def _placeholder(kind: str, characters: str, hidden: Counter[str]) -> str:
    if kind == _TAG:
        hidden["tag characters"] += len(characters)
        return f'<tags "{"".join([chr(ord(character) - 0xE0000) for character in characters])}">'
    if kind == _SELECTOR and len(characters) > 1:
        hidden["variation selectors"] += len(characters)
        return f"<variation selectors x{len(characters)}>"
    code = ord(characters[0])
    hidden[_described(characters[0])] += len(characters)
    name = _NAMES.get(code, f"U+{code:04X}")
    return f"<{name}>" if len(characters) == 1 else f"<{name} x{len(characters)}>"


def _described(character: str) -> str:
    code = ord(character)
    short = _NAMES.get(code) or _CATEGORY_NAMES.get(unicodedata.category(character), "")
    return f"U+{code:04X} {unicodedata.name(character, short)}"


@lru_cache(maxsize=4_096)
def _kind(character: str) -> str:
    """Return the kind of a character; a hidden character of no larger kind is its own kind."""
    if _IS_SELECTOR.match(character):
        return _SELECTOR
    if _IS_TAG.match(character):
        return _TAG
    if _IS_BLANK.match(character) or _IS_SKIN_TONE.match(character):
        return character
    if not character.isprintable():
        return _SPACE if unicodedata.category(character) == "Zs" else character
    return _VISIBLE if get_character_cell_size(character) else _MARK


def short_path(path: Path) -> str:
    """Return a path with ``~`` for the person's home. It is not safe to show yet."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
