"""The overview, as a person uses it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.color import Color

import memento_tui
from memento_tui.api import Workspace
from memento_tui.api.overview import in_work, inbox_counts, mark_seen, next_decisions
from memento_tui.model.memory import make_exposure
from memento_tui.storage.activity import DayCount
from memento_tui.tui.sections.home import HomeSection
from memento_tui.tui.sections.home_panels import HomeView, _bar, panels
from memento_tui.tui.sections.review.section import ReviewSection
from memento_tui.tui.widgets.panel_board import PanelLink
from tests.tui.app_driver import Driver, opened
from tests.tui.made_home import NOW, StandingClock, fill


@pytest.fixture
def filled(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A month of work."""
    return fill(data_dir, StandingClock(monkeypatch))


def home(app: Driver) -> HomeSection:
    return app.app.screen_stack[0].query_one(HomeSection)


def board(app: Driver) -> str:
    return str(home(app).board.render())


async def counted(app: Driver) -> None:
    await app.until(lambda: "verified" in board(app) and "..." not in board(app), "everything is counted")


def colours_of(app: Driver, text: str) -> set[Color]:
    """Return the colours in which Home draws a piece of text."""
    drawn = [piece for line in home(app).board.render_lines(home(app).board.size.region) for piece in line]
    styles = [piece.style for piece in drawn if text in (piece.text, piece.text.strip())]
    return {Color.from_rich_color(style.color) for style in styles if style is not None and style.color is not None}


async def test_every_panel_has_its_numbers(filled: Path) -> None:
    async with opened(filled, start="home") as app:
        await counted(app)
        text = board(app)
        for told in (
            "48 memories",
            "1 item of work",
            "8 decisions",
            "Decide next  3",
            "8 changes",
            "codex [/x]<ESC>",
            "search 48",
            "there is none yet",
            "2 memories within 7 days, 1 skip within 3 days",
            "vendor folder",
            "9 today",
        ):
            assert told in text, told


async def test_a_number_leads_to_the_list_that_it_counts(filled: Path) -> None:
    async with opened(filled, start="home") as app:
        await counted(app)
        while home(app).board.current != PanelLink("memories", "kind:decision"):
            await app.press("shift+tab")
        await app.press("enter")
        await app.until(lambda: app.app.section.SCOPE == "memories", "the memories are shown")
        await app.until(lambda: app.memories.rows.total == 8, "those that it counted")


async def test_the_riskiest_of_what_waits_is_named_first_and_its_card_is_a_key_away(filled: Path) -> None:
    async with opened(filled, start="home") as app:
        await counted(app)
        assert home(app).board.current == PanelLink("review")
        first, *_ = app.app.workspace.inbox.list(limit=1)[0]
        assert first.kind == "orders"
        await app.press("down")
        assert home(app).board.current == PanelLink("review", first.id)
        await app.press("a")
        await app.until(lambda: app.app.section.SCOPE == "review", "the queue is shown")
        section = app.app.section
        assert isinstance(section, ReviewSection)
        await app.until(lambda: section.focused is not None and section.focused.name == first.id, "its card is shown")
        assert app.app.workspace.inbox.count() == 3, "nothing was decided by going there"


async def test_what_waits_leads_to_its_kind_in_the_queue(filled: Path) -> None:
    async with opened(filled, start="home") as app:
        await counted(app)
        while home(app).board.current != PanelLink("review", "identity"):
            await app.press("tab")
        await app.press("enter")
        await app.until(lambda: app.app.section.SCOPE == "review", "the queue is shown")
        section = app.app.section
        assert isinstance(section, ReviewSection)
        await app.until(lambda: section.rows.total == 1, "only the identity")


async def test_what_you_did_is_green_on_home_what_agents_did_is_blue_and_no_tag_waits(filled: Path) -> None:
    async with opened(filled, (220, 60), start="home") as app:
        await counted(app)
        yours, agents, waiting = (Color.parse(app.app.theme_variables[name]) for name in ("yours", "agents", "waiting"))
        assert colours_of(app, "\N{FULL BLOCK} ") == {yours}
        assert colours_of(app, "\N{MEDIUM SHADE} ") == {agents}
        assert agents in colours_of(app, "claude")
        assert waiting not in colours_of(app, "search") | colours_of(app, "store")


async def test_quiet_words_stand_back_behind_the_others(filled: Path) -> None:
    async with opened(filled, start="home") as app:
        await counted(app)
        (quiet,) = colours_of(app, "8 decisions")
        (usual,) = colours_of(app, "48 memories")
        assert quiet.brightness < usual.brightness


async def test_the_namespaces_stand_beside_the_tags_with_how_much_each_holds(
    filled: Path, workspace: Workspace
) -> None:
    workspace.remember("Deploy on Tuesdays.", namespace="projects/site")
    workspace.remember("Sweep on Mondays.", namespace="projects/my shop")
    async with opened(filled, start="home") as app:
        await counted(app)
        assert "global 48   projects/my shop 1   projects/site 1" in board(app)
        links = {spot.link for spot in home(app).board._positions}
        assert {PanelLink("memories", "ns:projects/site"), PanelLink("memories", 'ns:"projects/my shop"')} <= links


async def test_deciding_what_is_no_item_says_where_to_go_first(filled: Path) -> None:
    async with opened(filled, start="home") as app:
        await counted(app)
        home(app).board._go_to(PanelLink("health"))
        home(app).action_decide()
        assert "something that waits" in app.told
        assert app.app.section.SCOPE == "home"


async def test_work_and_what_agents_were_told_stand_on_home_with_links(filled: Path) -> None:
    with memento_tui.open(filled) as person:
        memory = person.get("memory-1")
        told = {"memory_id": memory.id, "memory_version": 1, "session": "s1", "rank": 1, "score": 0.9, "tokens": 40}
        person.exposures.record([make_exposure(told, now=NOW)])
    async with opened(filled, start="home") as app:
        await counted(app)
        text = board(app)
        assert "Move to /v3" in text
        assert "plan it" in text
        assert "1 memory to 1 session, 40 tokens" in text
        links = {spot.link for spot in home(app).board._positions}
        assert PanelLink("memories", "id:memory-1") in links
        assert PanelLink("working", '"Move to /v3"') in links


@pytest.mark.parametrize("size", [(80, 24), (120, 32), (200, 50)])
async def test_the_keys_reach_every_number_and_a_click_goes_there(filled: Path, size: tuple[int, int]) -> None:
    async with opened(filled, size, start="home") as app:
        await counted(app)
        widget = home(app).board
        seen = set()
        for _ in range(120):
            seen.add(widget.current)
            widget.step(1)
        sections = {link.section for link in seen if link is not None}
        assert sections == {"memories", "working", "skips", "identity", "review", "activity", "health"}
        for key in ("down", "right", "up", "left", "j", "l", "k", "h"):
            await app.press(key)
            assert widget.current is not None
        home(app).query_one("#home-scroll").scroll_home(animate=False)
        await app.pilot.pause()
        await app.pilot.click(widget, offset=(4, 1))
        await app.until(lambda: app.app.section.SCOPE == "memories", "the click on the memories went there")


async def test_down_goes_to_the_panel_below_and_right_to_the_one_beside(filled: Path) -> None:
    async with opened(filled, start="home") as app:
        await counted(app)
        widget = home(app).board
        await app.press("right")
        assert widget.current is not None
        assert widget.current.section == "activity"
        await app.press("left")
        assert widget.current.section == "review"
        seen = []
        for _ in range(9):
            await app.press("down")
            assert widget.current is not None
            seen.append(widget.current.section)
        assert list(dict.fromkeys(seen))[:2] == ["review", "working"]


async def test_what_is_written_meanwhile_is_counted_and_the_cursor_stays(filled: Path) -> None:
    async with opened(filled, start="home") as app:
        await counted(app)
        await app.press("down", "down")
        before = home(app).board.current
        with memento_tui.open(filled, actor="agent", channel="mcp", agent="claude", session="s1") as agent:
            agent.remember("One more rule.", tags=["brandnew"])
        home(app).reload()
        await app.until(lambda: "49 memories" in board(app), "it is counted")
        await app.until(lambda: "9 changes" in board(app), "and told as new")
        assert home(app).board.current == before
        await app.until(lambda: "brandnew" in board(app), "its tag comes in time")


async def test_what_is_new_stays_told_while_the_app_is_open(filled: Path, workspace: Workspace) -> None:
    async with opened(filled, start="home") as app:
        await counted(app)
        workspace.activity.mark_seen()
        home(app).reload()
        await app.until(lambda: not home(app).workers, "it is counted again")
        assert "8 changes" in board(app)


async def test_a_large_screen_is_filled_to_its_last_row_and_its_right_edge(filled: Path) -> None:
    async with opened(filled, (220, 60), start="home") as app:
        await counted(app)
        lines = board(app).split("\n")
        assert len(lines) == home(app).board.parent.size.height  # type: ignore[union-attr]
        bottom = lines[-1].rstrip()
        assert bottom.endswith("\N{BOX DRAWINGS LIGHT ARC UP AND LEFT}")
        assert cell_len(bottom) > 215


async def test_where_agents_wrote_nothing_since_the_last_changes_are_listed(filled: Path) -> None:
    with memento_tui.open(filled) as person:
        mark_seen(person)
    async with opened(filled, start="home") as app:
        await counted(app)
        assert "No agent wrote since. The last:" in board(app)
        assert any(spot.link.query.startswith("since:") for spot in home(app).board._positions)


async def test_an_empty_workspace_says_what_to_do_and_fills_when_something_comes(
    data_dir: Path, workspace: Workspace
) -> None:
    async with opened(data_dir, start="home") as app:
        assert "Nothing is remembered yet" in board(app)
        await app.press("enter", "down", "tab")
        assert "nothing here to go to" in app.told
        workspace.remember("The first.", tags=["one"])
        home(app).reload()
        await app.until(lambda: "1 memory" in board(app), "the panels come")
        await app.until(lambda: "Decide next" in board(app), "all of them")


@given(
    st.lists(st.tuples(*[st.integers(0, 40)] * 3), min_size=1, max_size=30),
    st.integers(44, 80),
    st.integers(4, 12),
)
def test_a_bar_shows_everybody_who_did_something_and_never_more_than_there_is_room_for(
    counts: list[tuple[int, int, int]], width: int, height: int
) -> None:
    days = [DayCount(f"2026-11-{number + 1:02}", *count) for number, count in enumerate(counts)]
    most = max(*map(sum, counts), 1)
    for day in days:
        column = _bar(day, most, height)
        assert len(column) == height
        signs = {"\N{FULL BLOCK}": day.person, "\N{MEDIUM SHADE}": day.agent, "\N{LIGHT SHADE}": day.system}
        for sign, count in signs.items():
            assert (sign in column) == (count > 0), (sign, column, day)
    drawn = next(panel for panel in panels(HomeView(days=days)) if panel.title()[0].text == "Activity")
    rows = drawn.draw(width, height)
    assert len(rows) <= height
    assert all(sum(cell_len(piece.text) for piece in row) <= width + 1 for row in rows)


def test_what_is_in_work_says_its_next_action_below_where_the_panel_has_room(workspace: Workspace) -> None:
    workspace.items.create("Move to /v3", next_action="plan it")
    workspace.items.create("Pick a font", content="The old one is not free.")
    workspace.items.create("Rename the queue")
    drawn = next(p for p in panels(HomeView(in_work=in_work(workspace))) if p.title()[0].text == "In work")
    tall, tight = (["".join(piece.text for piece in row).strip() for row in drawn.draw(60, h)] for h in (6, 5))
    assert "\N{RIGHTWARDS ARROW} plan it" in tall
    assert "The old one is not free." in tall
    assert len(tall) == 5, "nothing stands below an item that says no more"
    assert len(tight) == 3
    assert any(line.endswith("\N{RIGHTWARDS ARROW} plan it") for line in tight)


@pytest.mark.parametrize("size", [(181, 52), (182, 52), (183, 52), (220, 60), (121, 40)])
async def test_the_rows_of_panels_end_at_the_same_cell(filled: Path, size: tuple[int, int]) -> None:
    async with opened(filled, size, start="home") as app:
        await counted(app)
        corners = ("\N{BOX DRAWINGS LIGHT ARC DOWN AND LEFT}", "\N{BOX DRAWINGS LIGHT ARC UP AND LEFT}")
        ends = {cell_len(line.rstrip()) for line in board(app).split("\n") if line.rstrip().endswith(corners)}
        assert len(ends) == 1


def test_where_not_all_that_waits_has_room_for_a_second_line_the_riskiest_has_it(workspace: Workspace) -> None:
    with memento_tui.open(workspace.paths.root, actor="agent", channel="mcp", agent="claude", session="s1") as agent:
        for number in range(4):
            agent.remember(f"Page {number} of the manual.\nIt goes on, {number}.", source_type="external")
    view = HomeView(waiting=inbox_counts(workspace), next=next_decisions(workspace))
    drawn = next(p for p in panels(view) if p.title()[0].text == "Decide next")
    rows = ["".join(piece.text for piece in row) for row in drawn.draw(60, 6)]
    assert len(rows) == 6
    assert "It goes on" in rows[1]
    assert not any("It goes on" in row for row in rows[2:])


def test_tags_have_bars_where_all_of_them_have_room_and_each_leads_to_its_memories() -> None:
    view = HomeView(tags=[("tui", 12), ("search", 6), ("gate", 1)])
    drawn = next(panel for panel in panels(view) if panel.title()[0].text == "Namespaces and tags")
    rows = drawn.draw(60, 6)
    bars = [sum(piece.text.count("\N{FULL BLOCK}") for piece in row) for row in rows]
    assert bars[0] == 2 * bars[1] > 2 * bars[2] > 0
    assert [piece.link.query for row in rows for piece in row if piece.link] == ["tag:tui", "tag:search", "tag:gate"]
    assert all(sum(cell_len(piece.text) for piece in row) <= 60 for row in rows)
    crowded = HomeView(tags=[(f"tag{number}", number + 1) for number in range(40)])
    drawn = next(panel for panel in panels(crowded) if panel.title()[0].text == "Namespaces and tags")
    assert all("\N{FULL BLOCK}" not in piece.text for row in drawn.draw(60, 6) for piece in row)


def test_below_the_bars_stand_whole_dates_where_they_have_room() -> None:
    days = [DayCount(f"2026-11-{number + 1:02}", 1, 0, 0) for number in range(28)]
    drawn = next(panel for panel in panels(HomeView(days=days)) if panel.title()[0].text == "Activity")
    assert "".join(piece.text for piece in drawn.draw(90, 8)[-2]).split()[9:12] == ["10", "11", "12"]
    assert "".join(piece.text for piece in drawn.draw(60, 8)[-2]).split()[9:12] == ["0", "1", "2"]
