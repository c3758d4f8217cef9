"""Say which commands can decide the item in focus, or all that are marked: each kind has its own answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memento_tui.tui.sections.review.evidence import FocusedItem
from memento_tui.tui.sections.review.line_view import texts_of_change
from memento_tui.tui.sections.review.proposal_editing import why_not_editable

__all__ = ["can_decide"]

_FOR_ANY_ITEM = frozenset(("review.reject", "review.later"))
_FOR_MARKED = frozenset(("review.approve", "review.newer", "review.older")) | _FOR_ANY_ITEM
"""Commands that decide every item; those that decide all that are marked."""


def _has_both_sides(focused: FocusedItem) -> bool:
    sides = focused.contradiction
    return sides is not None and sides.older is not None and sides.newer is not None


_FOR_SOME_ITEMS: Mapping[str, Callable[[FocusedItem], bool]] = {
    "review.approve": lambda focused: focused.record_kind != "contradiction",
    "review.edit": lambda focused: not why_not_editable(focused),
    "review.lines": lambda focused: texts_of_change(focused) is not None,
    "review.newer": lambda focused: focused.contradiction is not None,
    "review.older": lambda focused: focused.contradiction is not None,
    "review.both": lambda focused: focused.contradiction is not None,
    "review.merge": _has_both_sides,
}
"""Commands that decide some items, each with which."""


def can_decide(command: str, focused: FocusedItem | None, *, marked: bool) -> bool:
    """Return whether a command, by its id, can act on the item in focus or the marked ones; others always can."""
    if command not in _FOR_SOME_ITEMS and command not in _FOR_ANY_ITEM:
        return True
    if marked:
        return command in _FOR_MARKED
    if focused is None:
        return False
    return command in _FOR_ANY_ITEM or _FOR_SOME_ITEMS[command](focused)
