"""The section of the activity, as a person uses it."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from textual.widgets import Input

import memento_tui
from memento_tui.api import Workspace
from memento_tui.model.journal_actions import JOURNAL_ACTIONS
from memento_tui.operations.recall import recall
from memento_tui.storage.activity import ActivityRow
from memento_tui.tui.screens.dialogs import AskLine, Confirm
from memento_tui.tui.screens.form import FormScreen
from memento_tui.tui.sections.activity import ActivitySection
from memento_tui.tui.sections.activity_rows import ENTRY_COLUMNS
from memento_tui.tui.widgets.record_list import RecordList
from tests.made import always, edit
from tests.tui.app_driver import Driver, opened


def as_agent(folder: Path) -> Workspace:
    return memento_tui.open(folder, actor="agent", channel="mcp", agent="claude", session="s1")


def section(driver: Driver) -> ActivitySection:
    return cast("ActivitySection", driver.app.screen_stack[0].query_one("#activity"))


def actions(driver: Driver) -> list[str]:
    rows = section(driver).rows
    found = [rows._pages.row(index) for index in range(rows.total)]
    return [row.entry.action for row in found if isinstance(row, ActivityRow)]


def side(driver: Driver) -> str:
    return driver.text("#activity .side-text")


async def told(driver: Driver, text: str) -> None:
    await driver.until(lambda: text in driver.told, f"{text!r} was not told: {driver.told!r}")


async def test_the_journal_shows_who_did_what_and_what_changed(data_dir: Path) -> None:
    with as_agent(data_dir) as agent:
        memory = agent.remember("The port is 8080.", title="Port")
        edit(agent, memory.id, content="The port is 9090.")
    async with opened(data_dir, start="activity") as driver:
        assert actions(driver) == ["edit", "remember"]
        await driver.until(lambda: "+ The port is 9090." in side(driver), "the change is shown")
        assert "- The port is 8080." in side(driver)
        assert "claude  agent  through mcp  session s1" in side(driver)


async def test_beside_its_entry_a_headline_of_the_journal_has_room_for_what_it_says(data_dir: Path) -> None:
    with as_agent(data_dir) as agent:
        agent.remember("The port of the server is 8080.")
    async with opened(data_dir, start="activity") as driver:
        rows = section(driver).rows
        text = "".join(segment.text for segment in rows.render_line(0))
        assert "The port of the server is 8" in text
        assert "claude" in text


async def test_an_agents_entry_is_taken_back_with_one_key(data_dir: Path) -> None:
    with as_agent(data_dir) as agent:
        memory = agent.remember("The port is 8080.")
        edit(agent, memory.id, content="The port is 9090.")
        async with opened(data_dir, start="activity") as driver:
            await driver.press("r")
            await told(driver, "Took back entry 2. Z does it again.")
            assert agent.get(memory.id).content == "The port is 8080."
            await driver.until(lambda: actions(driver) == ["undo", "edit", "remember"], "the undo is listed")
            await driver.press("r")
            await told(driver, "was taken back already, by entry 3")


async def test_what_a_session_wrote_leaves_recall_and_comes_back_with_one_key(data_dir: Path) -> None:
    with as_agent(data_dir) as agent:
        first, second = agent.remember("The port is 8080."), agent.remember("The host is alpha.")
    async with opened(data_dir, start="activity") as driver:
        workspace = driver.app.workspace
        await driver.press("Q")
        await driver.until(lambda: isinstance(driver.app.screen, Confirm), "it asks")
        assert "Take everything that the session s1 of claude wrote out of recall?" in driver.text(".dialog-title")
        assert "It wrote 2 records; agents can be told 2 of them now." in driver.text(".dialog-text")
        await driver.press("n")
        assert workspace.get(first.id).status == "active"
        await driver.press("Q", "y")
        await told(driver, "2 records left recall and wait in Review. z undoes.")
        assert {workspace.get(memory.id).status for memory in (first, second)} == {"pending"}
        await driver.until(lambda: actions(driver)[0] == "quarantine", "it is listed")
        await driver.press("g", "Q")
        await told(driver, "No agent's session wrote this entry.")
        await driver.press("j", "Q")
        await driver.until(lambda: isinstance(driver.app.screen, Confirm), "it asks again")
        assert "Give back what the session s1 of claude wrote?" in driver.text(".dialog-title")
        await driver.press("y")
        await told(driver, "2 records are as they were. z undoes.")
        assert {workspace.get(memory.id).status for memory in (first, second)} == {"active"}


async def test_a_bulk_write_asks_before_all_of_it_is_taken_back(data_dir: Path) -> None:
    with memento_tui.open(data_dir) as person:
        person.remember_many({"content": f"number {number}"} for number in range(2200))
    async with opened(data_dir, start="activity") as driver:
        store = driver.app.workspace._store
        await driver.press("r")
        await driver.until(lambda: isinstance(driver.app.screen, Confirm), "it asks")
        assert "Take back 2 entries, 2,200 records in all?" in driver.text(".dialog-title")
        await driver.press("r", "enter")
        assert store.memories.count_all() == 2200
        await driver.press("y")
        await told(driver, "Took back 2 entries.")
        assert store.memories.count_all() == 0


async def test_marked_entries_are_taken_back_newest_first_and_the_others_are_told(data_dir: Path) -> None:
    with as_agent(data_dir) as agent:
        memory = agent.remember("one")
        edit(agent, memory.id, content="two")
        edit(agent, memory.id, content="three")
        async with opened(data_dir, start="activity") as driver:
            await driver.press("v", "G", "v")
            await driver.until(lambda: len(section(driver).rows.marks) == 3, "all are marked")
            await driver.press("r")
            await driver.until(lambda: isinstance(driver.app.screen, Confirm), "it asks")
            await driver.press("y")
            await told(driver, "Took back 3 entries.")
            assert agent._store.memories.count_all() == 0


async def test_a_conflict_is_told_as_a_sentence(data_dir: Path) -> None:
    with as_agent(data_dir) as agent:
        memory = agent.remember("one")
        edit(agent, memory.id, content="two")
        edit(agent, memory.id, content="three")
    async with opened(data_dir, start="activity") as driver:
        await driver.press("j", "r")
        await told(driver, "content of memory")
        assert "changed again" in driver.told


async def test_the_filter_narrows_and_says_what_it_cannot_read(data_dir: Path) -> None:
    with as_agent(data_dir) as agent, memento_tui.open(data_dir) as person:
        agent.remember("The port is 8080.")
        person.remember("Something else.")
        person.skips.add("dist/", "generated", "7d")
    async with opened(data_dir, start="activity") as driver:
        await driver.press("slash")
        await driver.type("actor:per,")
        await told(driver, "no value")
        await driver.press("backspace")
        await driver.until(lambda: actions(driver) == ["skip add", "remember"], "the person's entries are listed")
        assert "no value" not in driver.told
        await driver.press("escape")
        await driver.until(lambda: len(actions(driver)) == 3, "all are listed again")
        await driver.type("port")
        await driver.until(lambda: actions(driver) == ["remember"], "the one that wrote the word")
        await driver.press("escape")
        await driver.type("nobody")
        await driver.until(lambda: section(driver).rows.total == 0, "nothing fits")
        assert "Nothing fits this filter." in driver.text("#activity .nothing")


async def test_new_entries_arrive_above_and_leave_the_reader_where_they_are(data_dir: Path) -> None:
    with as_agent(data_dir) as agent:
        for number in range(60):
            agent.remember(f"number {number}")
        async with opened(data_dir, start="activity") as driver:
            await driver.press("G")
            here = section(driver).rows.current
            agent.remember("another")
            await driver.until(lambda: section(driver).rows.total == 61, "the new entry is listed")
            assert section(driver).rows.current == here
            await driver.until(lambda: "1 new above" in driver.text("#activity-head"), "it is told")


async def test_what_came_since_the_last_look_is_marked_and_then_seen(data_dir: Path) -> None:
    with as_agent(data_dir) as agent:
        agent.remember("seen")
        agent._store.settings.set("app.looked", "1")
        unseen = agent.remember("unseen")
        agent.forget(unseen.id, base_version=unseen.version)
        async with opened(data_dir, start="activity") as driver:
            marked = [line.text for y in range(3) if "A*" in (line := section(driver).rows.render_line(y)).text]
            assert len(marked) == 2
            await driver.app.open_section("activity", "is:new")
            await driver.until(lambda: actions(driver) == ["forget", "remember"], "only the new ones are listed")
            await driver.until(lambda: driver.app.workspace.activity.last_seen() == 3, "they count as seen")


async def test_enter_goes_to_the_record(data_dir: Path) -> None:
    with as_agent(data_dir) as agent:
        memory = agent.remember("The port is 8080.", make_id=always("port-note"))
        agent.forget(memory.id, base_version=agent.get(memory.id).version)
    async with opened(data_dir, start="activity") as driver:
        await driver.press("enter")
        await driver.until(lambda: driver.app.section.SCOPE == "memories", "the memories are shown")
        box = driver.app.section.query_one("FilterBox", Input)
        assert box.value == "id:port-note is:deleted"


async def test_enter_goes_to_a_skip_in_its_own_section(data_dir: Path) -> None:
    with as_agent(data_dir) as agent:
        agent.skips.add('the "dist" folder', "generated", "7d")
    async with opened(data_dir, start="activity") as driver:
        await driver.press("enter")
        await driver.until(lambda: driver.app.section.SCOPE == "skips", "the skips are shown")
        rows = driver.app.section.query_one("#skips-list", RecordList)
        await driver.until(lambda: rows.total == 1, "it is found")


async def test_what_an_agent_is_shown_meanwhile_arrives_in_the_ledger(data_dir: Path) -> None:
    with as_agent(data_dir) as agent:
        agent.remember("The port is 8080.")
        async with opened(data_dir, start="activity") as driver:
            await driver.press("i")
            assert section(driver).rows.total == 0
            recall(agent, "port", 5)
            await driver.until(lambda: section(driver).rows.total == 1, "it arrives by itself")


async def test_enter_on_what_is_gone_says_so(data_dir: Path) -> None:
    with memento_tui.open(data_dir) as person:
        person.remember("The port is 8080.")
        person.undo()
    async with opened(data_dir, start="activity") as driver:
        await driver.press("enter")
        await told(driver, "is gone")


async def test_the_ledger_tells_what_was_shown_and_why(data_dir: Path) -> None:
    with as_agent(data_dir) as agent:
        agent.remember("The port is 8080.")
        recall(agent, "port", 5)
    async with opened(data_dir, start="activity") as driver:
        await driver.press("d")
        await told(driver, "That key is for the list of exposures")
        await driver.press("i")
        await driver.until(lambda: "keyword" in side(driver), "the reasons are shown")
        assert "shown to session s1  through mcp" in side(driver)
        assert "exposures  1" in driver.text("#activity-head")
        await driver.press("r")
        await told(driver, "That key is for the journal")
        await driver.press("i")
        await driver.until(lambda: actions(driver) == ["remember"], "the journal is back")


async def test_what_was_shown_is_demoted_skipped_and_rejected(data_dir: Path) -> None:
    with as_agent(data_dir) as agent:
        memory = agent.remember("The port is 8080.", certainty=2)
        recall(agent, "port", 5)
        async with opened(data_dir, start="activity") as driver:
            await driver.press("i", "d")
            await told(driver, "Certainty lowered by one")
            assert agent.get(memory.id).certainty == 1
            await driver.press("d")
            await told(driver, "lowest certainty already")

            await driver.press("s")
            await driver.until(lambda: isinstance(driver.app.screen, FormScreen), "the form is open")
            await driver.press("tab")
            await driver.type("old")
            await driver.press("ctrl+s")
            await told(driver, "Added to the skip list")
            assert [(skip.item, skip.reason) for skip in agent.skips.list()] == [("The port is 8080.", "old")]

            await driver.press("x")
            await driver.until(lambda: isinstance(driver.app.screen, AskLine), "it asks why")
            await driver.type("gone")
            await driver.press("enter")
            await told(driver, "Rejected.")
            assert agent.get(memory.id).status == "rejected"
            await driver.press("x")
            await driver.until(lambda: isinstance(driver.app.screen, AskLine), "it asks again")
            await driver.press("enter")
            await told(driver, "is rejected")


async def test_rows_of_the_journal_are_drawn_until_the_exposures_are_read(data_dir: Path) -> None:
    with as_agent(data_dir) as agent:
        agent.remember("The port is 8080.")
    async with opened(data_dir, start="activity") as driver:
        shown = section(driver)
        await driver.until(lambda: shown.rows.current is not None, "the journal is read")
        entry = shown.rows.current
        assert entry is not None
        shown._switch()
        assert shown.row_lines(entry, 80)


async def test_keys_on_an_empty_list_say_why_nothing_happens(data_dir: Path) -> None:
    async with opened(data_dir, start="activity") as driver:
        assert "Nothing has happened yet." in driver.text("#activity .nothing")
        assert "Take back" not in driver.keys_shown
        assert "i Exposures" in driver.keys_shown
        for key, reason in (("r", "Nothing is selected"), ("enter", "nothing here"), ("x", "list of exposures")):
            await driver.press(key)
            await told(driver, reason)
        await driver.press("i")
        assert "No agent was shown a memory yet." in driver.text("#activity .nothing")
        for key in ("d", "s", "x"):
            await driver.press(key)
            await told(driver, "Nothing is selected")


async def test_hostile_text_shows_as_text(data_dir: Path) -> None:
    evil = "[/nope] \x1b]52;c;aGk=\x07 [@click=app.quit]x[/]"
    with memento_tui.open(data_dir, actor="agent", channel="mcp", agent="[bold]\x1b[31m", session="[/x]") as agent:
        memory = agent.remember(evil)
        edit(agent, memory.id, title=evil, tags=["[/t]"])
        recall(agent, "nope", 5)
    async with opened(data_dir, start="activity") as driver:
        await driver.until(lambda: "[@click=app.quit]x[/]" in side(driver), "it is shown letter by letter")
        await driver.press("i")
        await driver.until(lambda: "<ESC>" in side(driver) and "[/x]" in side(driver), "so it is in the ledger")
        await driver.press("x")
        await driver.until(lambda: isinstance(driver.app.screen, AskLine), "it asks why")


async def test_a_memory_that_was_shown_twice_and_is_marked_twice_is_demoted_once(data_dir: Path) -> None:
    with as_agent(data_dir) as agent:
        memory = agent.remember("The port is 8080.", certainty=3)
        recall(agent, "port", 5)
        recall(agent, "port", 5)
        async with opened(data_dir, start="activity") as driver:
            await driver.press("i")
            await driver.press("space", "space", "d")
            await told(driver, "Certainty lowered by one")
            assert agent.get(memory.id).certainty == 2


async def test_a_skip_of_what_was_shown_that_breaks_a_rule_is_told_in_the_words_of_the_form(data_dir: Path) -> None:
    with as_agent(data_dir) as agent:
        agent.remember("The port is 8080.")
        recall(agent, "port", 5)
        async with opened(data_dir, start="activity") as driver:
            await driver.press("i", "s")
            await driver.until(lambda: isinstance(driver.app.screen, FormScreen), "the form is open")
            await driver.press("ctrl+s")
            await driver.until(lambda: "Why is missing" in driver.text("#form-problem"), "it says what is missing")


async def test_a_key_leads_through_what_is_new_what_agents_did_and_what_the_person_did(data_dir: Path) -> None:
    with memento_tui.open(data_dir) as person:
        person.remember("Ferns have spores.")
    with as_agent(data_dir) as agent:
        agent.remember("The port is 8080.")
    async with opened(data_dir, start="activity") as driver:
        filters = []
        for _ in range(4):
            await driver.press("f")
            filters.append(section(driver).filter)
        assert filters == ["is:new", "actor:agent", "actor:person", ""]
        await driver.press("i", "f")
        await told(driver, "i goes to the journal")


@pytest.mark.parametrize("width", [64, 80, 140])
def test_every_word_for_what_was_done_to_a_contradiction_and_the_channel_of_maintenance_stand_whole(width: int) -> None:
    widths = dict(ENTRY_COLUMNS._laid_out(ENTRY_COLUMNS.first, width))
    assert widths["action"] >= len(JOURNAL_ACTIONS["contradiction"].done)
    assert widths.get("channel", 99) >= len("maintenance")
