"""A key that is held acts on the row that it was pressed for, and on none of those that come up behind it."""

from __future__ import annotations

from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.model import make_contradiction
from memento_tui.tui.sections.list_section import ListSection
from tests.made import unguarded
from tests.tui.app_driver import Driver, opened

pytestmark = pytest.mark.usefixtures("keys_repeat_for_a_minute")

_HELD = 5
"""How often a held key comes again."""


@pytest.fixture
def waiting(agent: Workspace, data_dir: Path) -> Path:
    for page in ("fish", "birds", "stones"):
        agent.remember(f"A page about {page} says so.", source_type="external")
    return data_dir


async def _review(app: Driver, items: int) -> None:
    await app.until(lambda: app.review.rows.total == items, "the queue is read")
    await app.until(lambda: app.review.focused is not None, "the first card is shown")


async def _is_refused(app: Driver) -> None:
    await app.until(lambda: "A key that is held" in app.told, "the key is refused")
    assert "Press it again." in app.told


async def test_a_held_key_approves_one_card_and_the_next_takes_a_press_of_its_own(
    waiting: Path, workspace: Workspace
) -> None:
    async with opened(waiting, start="review") as app:
        await _review(app, 3)
        await app.press("a")
        await _review(app, 2)
        await app.press(*["a"] * _HELD)
        await _is_refused(app)
        assert workspace.inbox.count() == 2
        await app.press("j", "k", "a")  # another key between: it is no longer held
        await _review(app, 1)


async def test_a_key_held_on_home_opens_the_card_and_decides_nothing(waiting: Path, workspace: Workspace) -> None:
    async with opened(waiting, start="home") as app:
        await app.until(lambda: app.app.section.is_available("home.next"), "the board is there")
        await app.press("down")
        await app.until(lambda: app.app.section.is_available("home.decide"), "the cursor is on what waits")
        await app.press("a")
        await _review(app, 3)
        await app.press(*["a"] * _HELD)
        await _is_refused(app)
        assert workspace.inbox.count() == 3


@pytest.mark.parametrize("key", ["n", "o", "x", "l"])
async def test_a_held_key_settles_one_contradiction(data_dir: Path, workspace: Workspace, key: str) -> None:
    for name in ("first", "second"):
        older = workspace.remember(f"The {name} queue keeps messages for two days.").id
        newer = workspace.remember(f"The {name} queue keeps messages for nine days.").id
        with unguarded(workspace._store, workspace.author, "test") as tx:
            tx.put(make_contradiction({"older": older, "newer": newer, "score": 0.9, "why": "They differ."}), base=0)
    async with opened(data_dir, start="review") as app:
        await _review(app, 2)
        await app.press(key)
        await _review(app, 1)
        await app.press(*[key] * _HELD)
        await _is_refused(app)
        assert workspace.inbox.count() == 1


async def test_a_held_key_deletes_one_memory(data_dir: Path, workspace: Workspace) -> None:
    for name in ("fish", "birds", "stones"):
        workspace.remember(f"A page about {name} says so.")
    async with opened(data_dir) as app:
        await app.until(lambda: app.memories.rows.total == 3, "the memories are read")
        await app.press("d")
        await app.until(lambda: app.memories.rows.total == 2, "one is gone")
        await app.press(*["d"] * _HELD)
        await _is_refused(app)
        assert app.memories.rows.total == 2


@pytest.mark.parametrize(("section", "key"), [("working", "x"), ("working", "d"), ("skips", "x"), ("skips", "s")])
async def test_a_key_held_in_a_list_of_entries_acts_on_one(
    data_dir: Path, workspace: Workspace, section: str, key: str
) -> None:
    for name in ("fish", "birds", "stones"):
        workspace.items.create(f"Mend the {name}")
        workspace.skips.add(f"vendor/{name}", "generated", "30d")
    async with opened(data_dir, start=section) as app:
        shown = app.app.section
        assert isinstance(shown, ListSection)
        await app.until(lambda: shown.rows.total == 3, "the entries are read")
        await app.press(key)
        await app.until(lambda: shown.rows.total == 2, "one is gone")
        await app.press(*[key] * _HELD)
        await _is_refused(app)
        assert shown.rows.total == 2


async def test_a_key_held_on_a_mark_acts_on_what_was_marked_alone(data_dir: Path, workspace: Workspace) -> None:
    for name in ("fish", "birds", "stones"):
        workspace.remember(f"A page about {name} says so.")
    async with opened(data_dir) as app:
        await app.until(lambda: app.memories.rows.total == 3, "the memories are read")
        await app.press("j", "i", "k", "space")  # the row below, which is reached now, was the last that a key was for
        await app.press("d")
        await app.until(lambda: app.memories.rows.total == 2, "what was marked is gone")
        await app.press(*["d"] * _HELD)
        await _is_refused(app)
        assert app.memories.rows.total == 2


async def test_a_key_may_act_again_and_again_on_one_memory(data_dir: Path, workspace: Workspace) -> None:
    memory = workspace.remember("A page about fish says so.")
    async with opened(data_dir) as app:
        await app.until(lambda: app.memories.rows.total == 1, "the memory is read")
        await app.press("i", "i", "i")
        await app.until(lambda: workspace.get(memory.id).pinned, "the third press pinned it")
