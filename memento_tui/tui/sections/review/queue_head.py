"""The line above the queue: what was decided here, and how many of each kind wait, by words or by signs alone."""

from __future__ import annotations

from collections.abc import Mapping

from textual.content import Content

from memento_tui.tui.inbox_columns import kind_word, sign_of_kind

__all__ = ["counts_by_kind", "progress"]

_PROGRESS_CELLS = 8
"""Cells of the bar that shows how many are decided."""

_CHOSEN = "bold $text-accent underline"


def progress(decided: int, left: int) -> Content:
    """Return a bar of what was decided here, and how many of all."""
    filled = round(_PROGRESS_CELLS * decided / (decided + left))
    bar = "\N{DARK SHADE}" * filled + "\N{LIGHT SHADE}" * (_PROGRESS_CELLS - filled)
    return Content.styled(f"{bar} {decided:,} of {decided + left:,}  ", "bold $text-success")


def counts_by_kind(counts: Mapping[str, int], chosen: str, room: int) -> Content:
    """Return how many wait and how many of each kind, in ``room`` cells; by their signs where words need more."""
    total = sum(counts.values())
    words = [
        Content.styled(f"{count:,} {kind_word(kind)}", _CHOSEN if kind == chosen else "")
        for kind, count in counts.items()
    ]
    waiting = Content(f"{total:,} {'waits' if total == 1 else 'wait'}")
    in_words = waiting + ": " + Content(", ").join(words)
    return in_words if in_words.cell_length <= room else waiting + "  " + _by_sign(counts, chosen)


def _by_sign(counts: Mapping[str, int], chosen: str) -> Content:
    """Return the number of each sign, in its colour; kinds that share a sign are counted together."""
    numbers: dict[str, int] = {}
    styles: dict[str, str] = {}
    for kind, count in counts.items():
        sign, style = sign_of_kind(kind)
        numbers[sign] = numbers.get(sign, 0) + count
        if sign not in styles or kind == chosen:
            styles[sign] = f"{style} underline" if kind == chosen else style
    return Content(" ").join(Content.styled(f"{sign}{number:,}", styles[sign]) for sign, number in numbers.items())
