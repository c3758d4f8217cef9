"""What a tall screen tells of a record, of what waits and of the workspace below their texts."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

import memento_tui
from memento_tui import clock
from memento_tui.tui.sections.entry_story import ItemStory, SkipStory
from memento_tui.tui.sections.health_text import HealthStory
from memento_tui.tui.sections.identity import IdentitySection
from memento_tui.tui.sections.identity_text import IdentityStory, change_in_words
from memento_tui.tui.sections.review.evidence_pane import QueueItemStory
from memento_tui.tui.views.record_story import MemoryStory, RecordStory, StoryLine, StoryPart
from tests.tui.app_driver import Driver, opened

HOSTILE = "\x1b]52;c;aGk=\x07[/nope] [@click=app.quit]x\u202e"
TALL, LOW = (220, 60), (140, 40)


@pytest.fixture
def data(data_dir: Path) -> Path:
    """A skip and a working item, memories about both, and two identities with one that an agent proposes."""
    with memento_tui.open(data_dir) as person:
        person.remember("Walrus counts come from the north camera.", id="camera", title="Walrus counts")
        person.remember(f"The migration of walruses is blocked. {HOSTILE}", id="blocked", title=HOSTILE, tags=["sea"])
        for waiting in person.review.list()[0]:
            person.review.approve(waiting.proposal.id, despite="orders")
        person.remember("Ferns have spores.", id="fern", tags=["sea"])
        person.skips.add("walrus counts", "the camera is broken", "30d")
        person.items.create("Write the migration", id="migrate", next_action="ask Ana", tags=["sea"])
        person.relate("camera", "migrate", "item")
        person.crystals.write("I am careful. I ask first.")
        person.crystals.write("I am careful. I act first.")
    with memento_tui.open(data_dir, actor="agent", channel="mcp", agent="claude", session="s1") as agent:
        agent.crystals.write("I am careful and kind. I act first.")
    return data_dir


async def _told(driver: Driver, kind: type[RecordStory]) -> str:  # type: ignore[type-arg]
    story = driver.app.screen.query_one(kind)
    await driver.until(lambda: story.display, "it is told")
    return str(story.render())


def _identity(driver: Driver) -> IdentitySection:
    return driver.app.screen.query_one(IdentitySection)


async def test_a_skip_tells_what_agents_are_told_of_it_and_the_memories_about_it(data: Path) -> None:
    async with opened(data, TALL, start="skips") as driver:
        told = await _told(driver, SkipStory)
        line = " ".join(" ".join(told.split("\n\n")[0].split("\n")[1:]).split())
        assert line.startswith("skip until ")
        assert ": walrus counts, because the camera is broken" in line
        assert line.endswith("or a prompt is about it, where it is among those that there is room for.")
        assert "Memories about it" in told
        assert "Walrus counts come from the north camera." in told
        assert "Ferns" not in told


async def test_a_skip_that_is_over_tells_agents_nothing(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    later = clock.now() + timedelta(days=31)
    monkeypatch.setattr(clock, "now", lambda: later)
    async with opened(data, TALL, start="skips") as driver:
        await driver.press("f")
        assert "Nothing any more: it is over." in await _told(driver, SkipStory)


async def test_a_working_item_tells_the_memories_that_belong_to_it_and_those_with_its_tags(data: Path) -> None:
    async with opened(data, TALL, start="working") as driver:
        told = await _told(driver, ItemStory)
        parts = {part.split("\n")[0]: part for part in told.split("\n\n")}
        assert "next: ask Ana" in parts["The line that agents may be told"]
        assert "In a session of any project" in parts["The line that agents may be told"]
        assert "Walrus counts" in parts["Memories that belong to it"]
        assert "Ferns have spores." in parts["Memories with its tags"]
        assert "<ESC>" in parts["Memories with its tags"]
        assert "\x1b" not in told
        assert "\u202e" not in told


async def test_what_is_told_of_an_item_says_the_namespace_whose_sessions_it_is_for(data: Path) -> None:
    with memento_tui.open(data) as person:
        person.items.create("Sort the shells", id="shells", namespace="projects/beach")
        told = ItemStory().read(person, person.items.get("shells"))[1]
    assert told.title == "The line that agents may be told"
    assert str(told.lines[1]).startswith("In a session of projects/beach, when it begins")


def test_of_memories_that_belong_to_an_item_the_deleted_and_rejected_are_left_out_and_others_say_how_they_stand(
    data_dir: Path,
) -> None:
    with memento_tui.open(data_dir) as person:
        person.items.create("Count walruses", id="count")
        for number in range(9):
            person.remember(f"Gone {number}: {'abcdefghi'[number]} walrus.", id=f"gone{number}")
            person.relate(f"gone{number}", "count", "item")
            person.forget(f"gone{number}")
        person.remember("The cove is secret.", id="cove", sensitivity="restricted")
        person.remember("The north camera sees them.", id="camera")
        for name in ("cove", "camera"):
            person.relate(name, "count", "item")
    with memento_tui.open(data_dir, actor="agent", channel="mcp", agent="claude", session="s1") as agent:
        noon = agent.remember("Walruses sleep at noon, a page says.", source_type="external").id
        clams = agent.remember("Walruses eat clams, another page says.", source_type="external").id
        for name in (noon, clams):
            agent.relate(name, "count", "item")
    with memento_tui.open(data_dir) as person:
        (waiting,) = [one for one in person.review.list()[0] if one.proposal.target_id == clams]
        person.review.reject(waiting.proposal.id, "no")
        assert person.get_many([clams])[clams].status == "rejected"
        part = ItemStory().read(person, person.items.get("count"))[2]
    assert part.title == "Memories that belong to it"
    found = {line.text: line.label for line in part.lines if isinstance(line, StoryLine)}
    assert set(found) == {
        "The cove is secret.",
        "The north camera sees them.",
        "Walruses sleep at noon, a page says.",
    }
    assert found["The cove is secret."].startswith("restricted, ")
    assert found["Walruses sleep at noon, a page says."].startswith("UNTRUSTED, pending, unverified")
    drawn = "\n".join(str(line) for line in part.draw(100, clock.now()))
    assert "[UNTRUSTED, pending, unverified" in drawn
    assert "Walruses sleep at noon, a page says." in drawn, "the title is not cut for the sake of its labels"


async def test_what_an_agent_proposes_to_do_with_an_item_is_told_beside_it(data: Path) -> None:
    (data / "config.toml").write_text('[engine]\nenabled = false\n[review]\npreset = "strict"\n')
    with memento_tui.open(data, actor="agent", channel="mcp", agent="claude", session="s1") as agent:
        agent.items.update("migrate", next_action="drop the table", base_version=agent.items.get("migrate").version)
    async with opened(data, TALL, start="working") as driver:
        waiting = (await _told(driver, ItemStory)).split("\n\n")[0].split("\n")
        assert waiting[0] == "Waits for you in Review (3)"
        assert waiting[1].split()[-3:] == ["claude", "edit", "next_action"]


async def test_an_identity_tells_every_version_with_the_words_that_changed(data: Path) -> None:
    async with opened(data, TALL, start="identity") as driver:
        told = await _told(driver, IdentityStory)
        assert "What agents may be told" in told
        assert "This text, when a session begins, where there is room for it: about " in told
        assert "is left out" not in told
        versions = told[told.index("How it came to be") :].rstrip().split("\n")[1:]
        assert [line.split()[1:3] for line in versions[::2]] == [
            ["claude", "proposed"],
            ["you", "current"],
            ["you", "past"],
        ]
        assert "+3 -1 words" in versions[0]
        assert versions[1].strip() == "- careful. + careful and kind."
        assert versions[3].strip() == "- ask + act"
        await driver.press("k")
        await driver.until(
            lambda: "until you approve it" in str(driver.app.screen.query_one(IdentityStory).render()),
            "the proposed one is told of",
        )


@pytest.mark.parametrize(("text", "is_cut"), [("I wait and see ...", False), ("I am careful. " * 150, True)])
def test_an_identity_is_said_to_be_told_without_its_end_only_where_it_is(
    data_dir: Path,
    text: str,
    is_cut: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    with memento_tui.open(data_dir) as person:
        person.crystals.write(text)
        told = IdentityStory().read(person, person.crystals.timeline()[0])[0]
    assert ("Its end is left out" in str(told.lines[0])) is is_cut


async def test_nothing_is_read_where_the_screen_has_no_room(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    for kind in (SkipStory, ItemStory, IdentityStory):
        monkeypatch.setattr(kind, "read", lambda _story, _workspace, record: read.append(record.id))
    async with opened(data, LOW, start="skips") as driver:
        await driver.press("4")
        await driver.press("6")
        await driver.until(lambda: _identity(driver).list.total > 0, "the identities are there")
        assert not any(story.display for story in driver.app.screen.query(RecordStory))
    assert read == []


def test_a_change_is_told_as_the_words_that_went_and_those_that_came() -> None:
    assert change_in_words("a b c", "a c d") == ("+1 -1 words", "- b   + d")
    assert change_in_words("a", "a") == ("says the same", "")


def test_a_part_of_whose_lines_none_has_a_second_word_gives_that_room_to_the_text() -> None:
    now, text = clock.now(), "x" * 40
    bare, worded = StoryLine(now, "fact", "", text), StoryLine(now, "fact", "mcp", text)
    assert text in str(list(StoryPart("Bare", [bare]).draw(62, now))[1])
    assert text not in str(list(StoryPart("Worded", [bare, worded]).draw(62, now))[1])


async def test_a_memory_tells_what_says_something_alike_and_what_its_session_wrote(data_dir: Path) -> None:
    with memento_tui.open(data_dir, actor="agent", channel="mcp", agent="claude", session="s1") as agent:
        north = agent.remember("The walrus camera in the north is broken.")
        agent.remember("Ferns have spores.")
    with memento_tui.open(data_dir) as person:
        person.remember("The walrus camera in the south is broken.", id="south")
        person.search("walrus", mode="keyword")
        person.relate("south", north.id, "supersedes")
    async with opened(data_dir, TALL, start="memories") as driver:
        await driver.press("end")
        told = await _told(driver, MemoryStory)
        parts = {part.split("\n")[0]: part for part in told.split("\n\n")}
        assert "replaced by" in parts["Links"]
        assert "The walrus camera in the south is broken." in parts["Says something alike"]
        assert "Ferns have spores." in parts["The same session"]
        assert "walrus" not in parts["The same session"], "that is the memory itself"


async def test_the_card_tells_what_was_decided_about_its_writer_and_what_its_session_wrote(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memento_tui.tui.sections.review.evidence_pane._CONTEXT_DELAY_SECONDS", 0.001)
    with memento_tui.open(data_dir, actor="agent", channel="mcp", agent="claude", session="s1") as agent:
        agent.remember("Ferns have spores.")
        agent.remember(f"A page of walruses. {HOSTILE}", source_type="external")
        with memento_tui.open(data_dir) as person:
            (pending,) = person.review.list()[0]
            person.review.reject(pending.proposal.id, "not ours")
        agent.remember("A page about otters.", source_type="external")
    async with opened(data_dir, TALL, start="review") as driver:
        told = await _told(driver, QueueItemStory)
        parts = {part.split("\n")[0]: part for part in told.split("\n\n")}
        assert "rejected      new memory      A page of walruses." in parts["You decided about claude"]
        assert "not ours" in parts["You decided about claude"]
        assert "\x1b" not in told
        assert "Ferns have spores." in parts["The same session"]
        assert "otters" not in told, "that is the item itself"


async def test_health_tells_how_much_there_is_of_each_kind_and_trust(data: Path) -> None:
    async with opened(data, TALL, start="health") as driver:
        told = await _told(driver, HealthStory)
        parts = {part.split("\n")[0]: part for part in told.split("\n\n")}
        assert set(parts) >= {"What is remembered", "How far it is trusted", "What it is about"}
        assert [line.split()[:2] for line in parts["What it is about"].split("\n")[1:2]] == [["sea", "2"]]
    async with opened(data, LOW, start="health") as driver:
        assert not driver.app.screen.query_one(HealthStory).display
