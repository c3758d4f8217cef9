"""Every section under each kind of theme, every theme, and no colours."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.theme import BUILTIN_THEMES
from textual.widget import Widget
from textual.widgets import Static

from memento_tui.api import Workspace
from memento_tui.app_sections import SECTIONS
from memento_tui.model import make_contradiction
from tests.made import unguarded
from tests.tui.app_driver import opened


@pytest.fixture
def filled(data_dir: Path, workspace: Workspace) -> Path:
    workspace.remember("The cache lives for ten minutes.", tags=["cache"])
    older = workspace.remember("The cache of the shop lives for ten minutes.").id
    newer = workspace.remember("The cache of the shop lives for an hour.").id
    with unguarded(workspace._store, workspace.author, "test") as tx:
        tx.put(make_contradiction({"older": older, "newer": newer, "score": 0.9, "why": "They differ."}), base=0)
    workspace.remember("From a page.", source_type="external")
    workspace.skips.add("vendor", "not ours", "30d")
    workspace.items.create("Write the hooks")
    workspace.crystals.write("I test things.")
    return data_dir


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "ansi-dark"])
async def test_every_section_opens_under_a_dark_a_light_and_the_terminals_theme(filled: Path, theme: str) -> None:
    async with opened(filled) as app:
        app.app.theme = theme
        for tab in SECTIONS:
            await app.press(tab.key)
            await app.until(lambda name=tab.name: name == app.app.section.SCOPE, tab.name)  # type: ignore[misc]
        assert app.app.theme == theme


async def test_the_app_takes_every_theme_there_is(filled: Path) -> None:
    async with opened(filled) as app:
        for theme in sorted(BUILTIN_THEMES):
            app.app.theme = theme
            await app.press("j")
            assert app.app.theme == theme
            assert app.app.is_running


_YELLOW, _MAGENTA = 3, 5
"""The numbers of two of the terminal's own colours."""


async def test_what_is_coloured_in_a_text_has_the_colours_of_the_theme_that_was_just_chosen(filled: Path) -> None:
    async with opened(filled, (36, 24), start="review") as app:
        head = app.app.screen.query_one("#review-head", Static)
        for theme, colour in (("ansi-light", _MAGENTA), ("ansi-dark", _YELLOW), ("ansi-light", _MAGENTA)):
            app.app.theme = theme
            await app.until(lambda colour=colour: colour in _colours(head), theme)  # type: ignore[misc]


def _colours(widget: Widget) -> set[int | None]:
    segments = [segment for strip in widget.render_lines(widget.size.region) for segment in strip]
    return {s.style.color.number for s in segments if s.style is not None and s.style.color is not None}


async def test_without_colours_the_cursor_still_stands_out(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(filled) as app:
        assert app.app.no_color
        for tab in SECTIONS[1:5]:
            await app.press(tab.key)
            rows = app.app.query_one(f"#{tab.name}-list")
            await app.until(lambda rows=rows: _has_cursor(rows), tab.name)  # type: ignore[misc]


def _has_cursor(rows: Widget) -> bool:
    return any(strip.text.startswith(">") for strip in rows.render_lines(rows.size.region))
