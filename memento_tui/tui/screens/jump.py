"""Ask for a letter that leads to a section or to the first row.

With `"app.jump" = "g"` and `"rows.first" = "home"` below `[keys]` it is the prefix that Vim has: `gm`, `gr`, `gg`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.content import Content

from memento_tui.app_sections import SECTIONS
from memento_tui.tui.screens.dialogs import ChoiceScreen, DialogChoice

__all__ = ["jump"]

if TYPE_CHECKING:
    from memento_tui.tui.app import MementoApp

_FIRST_ROW = "first row"


async def jump(app: MementoApp) -> None:
    """Ask for a letter, and go to its target."""
    name = await app.push_screen_wait(ChoiceScreen(Content("Jump to"), list(_choices())))
    if name == _FIRST_ROW and app.focused is not None:
        await app.run_action("first", app.focused)
    elif name is not None:
        await app.action_section(name)


def _choices() -> Iterator[DialogChoice]:
    """Yield the sections, each with the first letter of its title that no other has, and the first row."""
    taken = {"g", "j", "k"}
    for tab in SECTIONS:
        letter = next(letter for letter in tab.title.lower() if letter not in taken)
        taken.add(letter)
        yield DialogChoice(tab.name, letter, tab.title)
    yield DialogChoice(_FIRST_ROW, "g", _FIRST_ROW)
