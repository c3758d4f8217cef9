"""Results of a search in the list: why each was found, how well it answers, and the weak ones folded."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len

from memento_tui.api import Workspace
from memento_tui.api.search import SearchAnswer, SearchHit
from memento_tui.text.passages import Snippet
from memento_tui.tui.sections.memory_search import FoundMemories, evidence_line, score_bar
from tests.tui.app_driver import Driver, opened


@pytest.fixture
def hit(workspace: Workspace) -> SearchHit:
    """A result with a namespace, a tag and a text that reaches beyond any line."""
    workspace.remember("Warm the cache " + "\x1b[2J日本語 before the release. " * 9, namespace="work/api", tags=["ops"])
    return workspace.search("cache", mode="keyword").results[0]


@pytest.mark.parametrize("width", [12, 40, 61, 100])
def test_the_evidence_of_a_result_fills_its_line_and_marks_the_words_found(hit: SearchHit, width: int) -> None:
    line = evidence_line(hit, FoundMemories().passage(hit), width)
    assert cell_len("".join(text for text, _ in line)) == width
    assert ("cache", "match") in line or width < 20
    assert not any("\x1b" in text for text, _ in line)
    assert any("api #ops" in text for text, _ in line) == (width == 61)
    assert any("api" in text for text, _ in line) == (width > 60)
    assert line[-1][0] == score_bar(hit.relevance)


def test_a_passage_without_words_of_the_query_is_shown_as_it_is(hit: SearchHit) -> None:
    line = evidence_line(hit, Snippet("found by its meaning", ()), 60)
    assert "found by its meaning" in "".join(text for text, _ in line)


def test_the_score_is_a_bar_of_five_cells() -> None:
    assert [score_bar(share) for share in (0, 0.5, 1, 1.3)] == ["░░░░░", "▓▓░░░", "▓▓▓▓▓", "▓▓▓▓▓"]


async def _searched(app: Driver, query: str) -> None:
    await app.press("slash")
    await app.type(query)
    await app.press("enter")
    await app.until(lambda: not app.memories.workers, "the search has answered")


async def test_weak_results_are_folded_until_they_are_asked_for(
    data_dir: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        workspace.remember(f"Warm the cache of service {number}.", id=f"m{number}")
    good = {"m1", "m2"}
    monkeypatch.setattr("memento_tui.tui.sections.memory_search._is_good", lambda hit: hit.id in good)
    async with opened(data_dir) as app:
        await app.press("W")
        assert "Only a search has weak results" in app.told
        await _searched(app, "cache")
        assert app.memories.rows.total == 2
        assert "2 good  2 weak (W shows them)" in app.text("#memories-head")
        assert "Warm the cache of service" in app.memories.rows.render_line(1).text
        await app.press("W")
        await app.until(lambda: app.memories.rows.total == 4, "all are listed")
        assert "2 good  2 weak" in app.text("#memories-head")
        assert "W shows" not in app.text("#memories-head")
        await app.press("W")
        await app.until(lambda: app.memories.rows.total == 2, "the good ones alone again")
        await app.press("escape")
        await app.until(lambda: app.memories.rows.total == 4, "the search is cleared")
        assert app.memories.rows.row_height == 1


async def test_where_nothing_answers_well_the_weak_results_are_listed(
    data_dir: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.remember("Warm the cache.")
    monkeypatch.setattr("memento_tui.tui.sections.memory_search._is_good", lambda _hit: False)
    async with opened(data_dir) as app:
        await _searched(app, "cache")
        assert app.memories.rows.total == 1
        assert "0 good  1 weak" in app.text("#memories-head")


def test_no_search_has_no_results() -> None:
    found = FoundMemories()
    found.show(SearchAnswer([], 0, "off"))
    assert (found.listed, found.counts()) == ([], "0 good")
    found.show(None)
    assert (found.good, found.listed, found.counts()) == ([], [], "")
