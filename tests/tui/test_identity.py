"""The identity section, as a person uses it."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import TextArea

from memento_tui.api import Workspace
from memento_tui.model import Crystal
from memento_tui.tui.screens.dialogs import AskLine, Confirm
from memento_tui.tui.screens.write_problems import ConflictScreen
from memento_tui.tui.sections.identity import IdentitySection
from tests.tui.app_driver import Driver, opened

HOSTILE = "\x1b]52;c;aGk=\x07 [/nope] [@click=app.quit]x[/] \u202e \x1b[2J \u200b"


@pytest.fixture
def written(workspace: Workspace, data_dir: Path) -> Path:
    for text in ("I am careful.\nI ask first.", "I am careful.\nI act first.", "I am careful and kind.\nI act first."):
        workspace.crystals.write(text)
    return data_dir


def section(app: Driver) -> IdentitySection:
    return app.app.screen_stack[0].query_one(IdentitySection)


def side(app: Driver) -> str:
    return app.text("#identity .side-text")


def now(app: Driver) -> Crystal:
    row = section(app).rows.current
    assert row is not None
    return row


async def test_the_present_identity_opens_as_prose_and_an_older_one_as_what_it_changed(written: Path) -> None:
    async with opened(written, start="identity") as app:
        assert "The present identity" in side(app)
        assert side(app).endswith("I am careful and kind.\nI act first.")
        await app.press("j")
        assert "A past identity" in side(app)
        assert "- I ask first.\n+ I act first." in side(app)
        await app.press("m")
        assert side(app).endswith("I am careful.\nI act first.")
        await app.press("j", "m")
        assert "none before it" in app.told


async def test_every_other_is_compared_with_the_one_that_was_chosen(written: Path) -> None:
    async with opened(written, start="identity") as app:
        await app.press("G", "c", "g")
        assert "compared with the one of" in app.text("#identity-head")
        assert "- I am careful.\n- I ask first." in side(app) or "- I am careful.\n+ I am careful and kind." in side(
            app
        )
        await app.press("G", "c")
        assert "compared" not in app.text("#identity-head")


async def test_an_edit_becomes_a_new_identity_and_can_be_undone(written: Path, workspace: Workspace) -> None:
    before = workspace.crystals.current()
    async with opened(written, start="identity") as app:
        await app.press("e")
        app.app.query_one(TextArea).text = "I am new."
        await app.press("ctrl+s")
        await app.until(lambda: now(app).content == "I am new.", "the new one is under the cursor")
        await app.until(lambda: side(app).endswith("I am new."), "and shown")
        assert [c.content for c in workspace.crystals.timeline()][1] == "I am careful and kind.\nI act first."
        await app.press("z")
    current = workspace.crystals.current()
    assert before is not None
    assert current is not None
    assert current.id == before.id


async def test_the_first_identity_can_be_written_where_there_is_none(data_dir: Path, workspace: Workspace) -> None:
    async with opened(data_dir, start="identity") as app:
        assert "Nobody has said yet" in app.text("#identity .nothing")
        await app.press("e")
        app.app.query_one(TextArea).text = "I am the first."
        await app.press("ctrl+s")
        await app.until(lambda: section(app).rows.total == 1, "it is listed")
    current = workspace.crystals.current()
    assert current is not None
    assert current.content == "I am the first."


async def test_an_identity_written_meanwhile_leads_to_a_choice_that_loses_neither(
    written: Path, workspace: Workspace
) -> None:
    async with opened(written, start="identity") as app:
        await app.press("e")
        app.app.query_one(TextArea).text = "mine"
        workspace.crystals.write("theirs")
        await app.press("ctrl+s")
        await app.until(lambda: isinstance(app.app.screen, ConflictScreen), "the choice is offered")
        await app.press("e")
        await app.until(lambda: not isinstance(app.app.screen, ConflictScreen), "back in the editor")
        assert app.app.query_one(TextArea).text == "mine"
        await app.press("ctrl+s")
        await app.until(lambda: isinstance(app.app.screen, ConflictScreen), "the choice is offered again")
        await app.press("m")
        await app.until(lambda: not app.app.query("Editor"), "the editor closes")
    assert [c.content for c in workspace.crystals.timeline()][:2] == ["mine", "theirs"]


async def test_restoring_asks_shows_the_text_and_makes_a_new_entry(written: Path, workspace: Workspace) -> None:
    async with opened(written, start="identity") as app:
        await app.press("r")
        assert "already" in app.told
        await app.press("G", "r")
        await app.until(lambda: isinstance(app.app.screen, Confirm), "it asks")
        assert "I ask first." in app.text(".dialog-text")
        await app.press("enter", "y")
        await app.until(lambda: len(workspace.crystals.timeline()) == 4, "a new entry is made")
    current = workspace.crystals.current()
    assert current is not None
    assert current.content == "I am careful.\nI ask first."


async def test_what_the_agent_proposed_is_compared_with_the_present_one_and_approved(
    written: Path, workspace: Workspace, agent: Workspace
) -> None:
    proposed = agent.crystals.write("I am bold.\nI act first.")
    async with opened(written, start="identity") as app:
        await app.until(lambda: "The present identity" in side(app), "the present one is shown first")
        assert "1 proposed" in app.text("#identity-head")
        await app.press("k")
        assert "Proposed, and waits for you" in side(app)
        assert "asks you because a person has written or approved the present identity" in side(app)
        assert "- I am careful and kind.\n+ I am bold." in side(app)
        await app.press("a")
        await app.until(lambda: "Approved" in app.told, "it is approved")
    current = workspace.crystals.current()
    assert current is not None
    assert current.id == proposed.id


async def test_a_rejection_asks_for_a_reason_that_the_agent_can_read(
    written: Path, workspace: Workspace, agent: Workspace
) -> None:
    proposed = agent.crystals.write("I am bold.")
    async with opened(written, start="identity") as app:
        await app.until(lambda: "The present identity" in side(app), "the present one is shown first")
        await app.press("k", "x")
        await app.until(lambda: isinstance(app.app.screen, AskLine), "it asks why")
        await app.type("Too bold")
        await app.press("enter")
        await app.until(lambda: "Rejected" in app.told, "it is rejected")
    assert workspace._store.proposals.about(proposed.id, "crystal")[0].note == "Too bold"


async def test_what_does_not_wait_is_not_decided_and_the_key_says_why(written: Path) -> None:
    async with opened(written, start="identity") as app:
        for key in ("a", "x"):
            await app.press(key)
            assert "does not wait" in app.told


async def test_a_proposal_that_arrives_moves_nothing_that_is_being_read(
    written: Path, workspace: Workspace, agent: Workspace
) -> None:
    async with opened(written, start="identity") as app:
        await app.press("j")
        before = now(app).id
        agent.crystals.write("I am bold.")
        app.app.query_one(IdentitySection).reload()
        await app.until(lambda: section(app).rows.total == 4, "it is listed")
        assert now(app).id == before
    assert workspace.review.count() == 1


async def test_hostile_prose_is_shown_and_compared_as_placeholders(data_dir: Path, workspace: Workspace) -> None:
    workspace.crystals.write("I am calm.")
    workspace.crystals.write(f"I am calm. {HOSTILE}")
    async with opened(data_dir, start="identity") as app:
        assert "<ESC>" in side(app)
        assert "[/nope]" in side(app)
        assert "hidden characters" in side(app)
        await app.press("m")
        assert "<ESC>" in side(app)
        await app.press("c", "r", "slash", "x", "escape", "escape")


async def test_words_and_statuses_filter_the_timeline(written: Path) -> None:
    async with opened(written, start="identity") as app:
        await app.press("slash")
        await app.type("kind")
        assert [row.content for row in section(app).make_source().rows()] == ["I am careful and kind.\nI act first."]
        await app.press("escape", "escape")
        section(app).show_query("is:past")
        await app.until(lambda: section(app).rows.total == 2, "two are past")


async def test_a_key_shows_what_agents_proposed_alone_and_then_all(written: Path) -> None:
    async with opened(written, start="identity") as app:
        await app.press("f")
        assert section(app).filter == "is:proposed"
        await app.until(lambda: section(app).rows.total == 0, "nothing is proposed")
        await app.press("f")
        await app.until(lambda: section(app).rows.total == 3, "all of them are there")
