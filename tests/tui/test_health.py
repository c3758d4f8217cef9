from __future__ import annotations

import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from textual.widgets import Input, Static

import memento_tui
from memento_tui import clock
from memento_tui.agreements import Destination, agree_to
from memento_tui.api import Workspace
from memento_tui.api.health import examine_quickly
from memento_tui.config import load_config
from memento_tui.model.review import make_contradiction
from memento_tui.storage.hub_state import HUB_SETTING, HubMembership
from memento_tui.tui import background
from memento_tui.tui.sections import health
from memento_tui.tui.sections.health import HealthSection
from memento_tui.tui.sections.health_text import CHECKS, OPTIONAL_CHECKS
from tests.made import AGENT, PERSON, note, put, unguarded, without_engine
from tests.tui.app_driver import Driver, opened
from tests.tui.settling import hold_back

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
KEY = "AKIAQ3EGRXWBZJ5KTN7Y"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(clock, "now", lambda: NOW)
    return without_engine(tmp_path / "data")


def fill(folder: Path) -> None:
    """Put one thing of several sorts of rot into a workspace."""
    fresh = {"created_at": NOW, "updated_at": NOW}
    old = NOW - timedelta(days=400)
    with memento_tui.open(folder) as workspace:
        with unguarded(workspace._store, AGENT, "remember", now=old) as tx:
            tx.add_all(
                [note("Nobody needs [/this] \x1b[2Jold note.", id="old", tags=["a"], created_at=old, updated_at=old)]
            )
        put(
            workspace._store,
            note("Port 8080 it is.", id="a", tags=["net"], **fresh),
            note("Port 9090 it is.", id="b", tags=["net"], **fresh),
            note("No tag at all.", id="c", **fresh),
        )
        with unguarded(workspace._store, PERSON, "import") as tx:
            tx.add_all([note(f"The key is {KEY}.", id="leak", tags=["x"], **fresh)])
            tx.put(make_contradiction({"older": "a", "newer": "b", "score": 0.9, "why": "x"}), base=0)


def section(driver: Driver) -> HealthSection:
    return driver.app.screen_stack[0].query_one(HealthSection)


def side(driver: Driver) -> str:
    return str(section(driver).query_one(".side-text", Static).render())


def values(driver: Driver) -> dict[str, str]:
    return {row.id: row.value for row in section(driver).make_source().rows()}


def states(driver: Driver) -> dict[str, str]:
    return {row.id: row.state for row in section(driver).make_source().rows()}


async def until(driver: Driver, holds: Callable[[], bool]) -> None:
    await driver.until(holds, "what the test waits for")


async def looked(driver: Driver) -> None:
    await until(driver, lambda: not section(driver).is_examining)
    await until(driver, lambda: section(driver).rows.total > 0)


async def reach(driver: Driver, row_id: str) -> None:
    place = section(driver).make_source().locate(row_id)
    assert place is not None
    await driver.press("g", *["j"] * place)
    await until(driver, lambda: (row := section(driver).rows.current) is not None and row.id == row_id)


async def test_a_place_that_nobody_agreed_to_has_a_row_that_says_how_to_agree(folder: Path) -> None:
    with (folder / "config.toml").open("a") as config:
        config.write('[language_model]\nurl = "https://models.example.org/v1"\nmodel = "m"\n')
    async with opened(folder, start="health") as driver:
        await looked(driver)
        await until(driver, lambda: states(driver).get("check:what is sent") == "bad")
        assert "memories to https://models.example.org/v1; nothing is sent" in values(driver)["check:what is sent"]
        await reach(driver, "check:what is sent")
        await until(driver, lambda: "memento settings agree" in side(driver))


async def test_every_place_that_nobody_agreed_to_is_in_the_row_of_what_is_sent(folder: Path) -> None:
    (folder / "config.toml").write_text(
        '[engine]\nenabled = false\nshared_vectors = "s3://bucket/vectors"\n'
        '[language_model]\nurl = "https://models.example.org/v1"\nmodel = "m"\n'
    )
    async with opened(folder, start="health") as driver:
        await looked(driver)
        await reach(driver, "check:what is sent")
        await until(driver, lambda: "https://models.example.org/v1" in side(driver))
        assert "s3://bucket/vectors" in side(driver)


async def test_a_row_goes_when_there_is_nothing_more_to_say(folder: Path) -> None:
    settings = (folder / "config.toml").read_text()
    (folder / "config.toml").write_text(
        f'{settings}\n[language_model]\nurl = "https://models.example.org/v1"\nmodel = "m"\n'
    )
    async with opened(folder, start="health") as driver:
        await looked(driver)
        assert "check:what is sent" in values(driver)
        (folder / "config.toml").write_text(settings)
        driver.app.workspace.config = load_config(folder / "config.toml")
        await driver.press("R")
        await until(driver, lambda: "check:what is sent" not in values(driver))
        assert states(driver)["check:settings"] == "fine"


def join_a_hub_that_does_not_answer(folder: Path) -> None:
    """Make a workspace a member of a hub that it could not reach last time, as the person agreed to."""
    membership = HubMembership(
        url="postgresql://hub/memento",
        workspace="h1",
        workspace_name="home",
        member="m1",
        name="laptop",
        role="member",
        namespaces=("projects",),
        problem="The hub does not answer.",
    )
    with memento_tui.open(folder) as workspace:
        workspace.settings.set(HUB_SETTING, msgspec.json.encode(membership).decode())
    agree_to(Destination.of_hub(membership.url))


async def test_the_trouble_of_a_hub_has_a_row(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(background, "HUB_SETTING", "none")  # nothing is exchanged meanwhile
    join_a_hub_that_does_not_answer(folder)
    async with opened(folder, start="health") as driver:
        await looked(driver)
        await until(driver, lambda: states(driver).get("check:hub") == "bad")
        assert values(driver)["check:hub"] == "The hub does not answer."
        await reach(driver, "check:hub")
        await until(driver, lambda: "memento hub status" in side(driver))


def test_every_finding_of_an_examination_has_a_row(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    join_a_hub_that_does_not_answer(folder)
    with (folder / "config.toml").open("a") as config:
        config.write('[language_model]\nurl = "https://models.example.org/v1"\nmodel = "m"\n')
    with memento_tui.open(folder) as workspace:
        workspace.paths.drafts.mkdir(parents=True, exist_ok=True)
        (workspace.paths.drafts / "one.md").write_text("Not saved yet.")
        found = {finding.name for finding in examine_quickly(workspace)}
    assert found >= set(OPTIONAL_CHECKS)
    # The rows stand in an open data directory, and each backup has a row of its own.
    assert found - set(CHECKS) == {"data directory", "backups"}


async def test_every_row_is_there_at_once_and_is_filled_in(folder: Path) -> None:
    fill(folder)
    async with opened(folder, start="health") as driver:
        ids = set(values(driver))
        await looked(driver)
        assert set(values(driver)) == ids
        found = {name: value for name, value in values(driver).items() if name.startswith("rot:") and value != "none"}
        assert found == {
            "rot:secrets": "1",
            "rot:hidden": "1",
            "rot:contradictions": "1",
            "rot:untagged": "1",
            "rot:untouched": "1",
            "rot:never_used": "1",
        }
        assert states(driver)["rot:secrets"] == "bad"
        assert states(driver)["rot:untagged"] == "tidy"
        assert states(driver)["check:journal"] == "unknown"
        assert states(driver)["check:keyword index"] == "fine"


async def test_beside_a_row_stand_its_meaning_examples_and_what_to_do(folder: Path) -> None:
    fill(folder)
    async with opened(folder, start="health") as driver:
        await looked(driver)
        await reach(driver, "rot:untagged")
        await until(driver, lambda: "- No tag at all." in side(driver))
        assert "What to do" in side(driver)
        await reach(driver, "rot:never_used")
        await until(driver, lambda: "Nobody needs [/this] <ESC>[2Jold note." in side(driver))


async def test_a_secret_is_not_put_on_the_screen(folder: Path) -> None:
    fill(folder)
    async with opened(folder, start="health") as driver:
        await looked(driver)
        await reach(driver, "rot:secrets")
        await until(driver, lambda: "- leak" in side(driver))
        assert "AWS" in side(driver)
        assert KEY not in side(driver)


async def test_enter_goes_to_the_list_by_a_query(folder: Path) -> None:
    fill(folder)
    async with opened(folder, start="health") as driver:
        await looked(driver)
        await reach(driver, "rot:untagged")
        await driver.press("enter")
        await until(driver, lambda: driver.app.section.SCOPE == "memories")
        assert driver.app.query_one("#memories-filter", Input).value == "is:untagged"
        await until(driver, lambda: driver.current == "No tag at all.")


async def test_enter_goes_to_the_list_by_ids_where_no_query_says_it(folder: Path) -> None:
    fill(folder)
    async with opened(folder, start="health") as driver:
        await looked(driver)
        await reach(driver, "rot:never_used")
        await driver.press("enter")
        await until(driver, lambda: driver.app.section.SCOPE == "memories")
        assert driver.app.query_one("#memories-filter", Input).value == "id:old"
        await until(driver, lambda: driver.current.startswith("Nobody needs"))


async def test_enter_goes_to_the_review_for_what_waits_there(folder: Path) -> None:
    fill(folder)
    async with opened(folder, start="health") as driver:
        await looked(driver)
        await reach(driver, "rot:contradictions")
        await driver.press("enter")
        await until(driver, lambda: driver.app.section.SCOPE == "review")


async def test_a_key_that_cannot_act_says_why(folder: Path) -> None:
    fill(folder)
    async with opened(folder, start="health") as driver:
        await looked(driver)
        await reach(driver, "rot:copies")
        await driver.press("enter")
        assert "none of these" in driver.told
        await reach(driver, "check:disk")
        await driver.press("enter")
        assert "no list behind this" in driver.told
        await driver.press("e")
        await until(driver, lambda: "switched off" in driver.told)


async def test_the_journal_is_checked_when_it_is_asked_for(folder: Path) -> None:
    fill(folder)
    async with opened(folder, start="health") as driver:
        await looked(driver)
        await driver.press("c")
        await until(driver, lambda: states(driver)["check:journal"] == "fine")
        assert states(driver)["check:pages"] == "fine"
        await until(driver, lambda: "All 3 journal entries" in driver.told)


async def test_a_journal_that_was_altered_needs_care(folder: Path) -> None:
    fill(folder)
    with memento_tui.open(folder) as workspace, workspace._store.database.writing() as connection:
        connection.execute("UPDATE stored_change SET image = replace(image, '8080', '8081')")
    async with opened(folder, start="health") as driver:
        await looked(driver)
        await driver.press("c")
        await until(driver, lambda: states(driver)["check:journal"] == "bad")
        await reach(driver, "check:journal")
        assert "altered" in side(driver)


async def test_a_backup_is_made_checked_and_gone_back_to(folder: Path) -> None:
    fill(folder)
    async with opened(folder, start="health") as driver:
        await looked(driver)
        assert "backup:" in values(driver)
        await driver.press("b")
        await until(driver, lambda: "Backed up and checked" in driver.told)
        made = next(name for name in values(driver) if name.startswith("backup:memento"))
        driver.app.workspace.remember("Written since.", tags=["a"])
        await reach(driver, made)
        await driver.press("c")
        await until(driver, lambda: "can be restored" in driver.told)
        await driver.press("enter", "enter", "n")
        assert driver.app.workspace._store.memories.count_all() == 6
        await driver.press("enter", "y")
        await until(driver, lambda: "Restored." in driver.told)
        assert driver.app.workspace._store.memories.count_all() == 5
        await until(driver, lambda: sum(name.startswith("backup:memento") for name in values(driver)) == 2)


async def test_long_work_is_stopped_by_escape_and_only_one_runs_at_a_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(folder)
    from memento_tui.api.backups import Backups  # noqa: PLC0415 - replaced here

    def wait(_self: object, *, stop: threading.Event, **_options: object) -> None:
        from memento_tui.storage.long_work import StoppedError  # noqa: PLC0415 - what a stopped backup raises

        hold_back(stop)
        raise StoppedError

    monkeypatch.setattr(Backups, "make", wait)
    async with opened(folder, start="health") as driver:
        await looked(driver)
        await driver.press("b", "c")
        assert "The backup is being made already" in driver.told
        await driver.press("escape")
        await until(driver, lambda: driver.told.startswith(" Stopped. Nothing was changed."))


async def test_maintenance_is_run_from_here_and_contradictions_are_looked_for_where_they_are_asked_for(
    folder: Path,
) -> None:
    at = {"created_at": NOW - timedelta(hours=1), "updated_at": NOW - timedelta(hours=1)}
    with memento_tui.open(folder) as workspace:
        older = note("The staging API listens on port 8080.", id="older", tags=["api"], **at)
        newer = note("The staging API listens on port 9090.", id="newer", tags=["api"], created_at=NOW, updated_at=NOW)
        put(workspace._store, older, newer)
    async with opened(folder, start="health") as driver:
        await looked(driver)
        await driver.press("m")
        await until(driver, lambda: "Nothing was due, and nothing was found." in driver.told)
        await driver.press("M")
        await until(driver, lambda: "1 proposal waits in Review." in driver.told)
        (found,), _ = driver.app.workspace.contradictions.list()
        assert {found.contradiction.older, found.contradiction.newer} == {"older", "newer"}
        await driver.press("C")
        await until(driver, lambda: "Nothing was due, and nothing was found." in driver.told)


async def test_the_indexes_are_built_anew(folder: Path) -> None:
    fill(folder)
    async with opened(folder, start="health") as driver:
        await looked(driver)
        await driver.press("i")
        await until(driver, lambda: "The keyword index holds 5 memories." in driver.told)


async def test_what_is_written_meanwhile_is_looked_at_again_without_moving_the_cursor(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # How long an examination may take to be made again by itself is no question of this test.
    monkeypatch.setattr(health, "_QUICK_SECONDS", 600.0)
    fill(folder)
    async with opened(folder, start="health") as driver:
        await looked(driver)
        await reach(driver, "rot:untagged")
        with Workspace(folder, channel="mcp", actor="agent", agent="claude") as agent:
            agent.remember("Another without a tag.")
        await until(driver, lambda: values(driver)["rot:untagged"] == "2")
        current = section(driver).rows.current
        assert current is not None
        assert current.id == "rot:untagged"


async def test_the_filter_narrows_the_rows(folder: Path) -> None:
    fill(folder)
    async with opened(folder, start="health") as driver:
        await looked(driver)
        await driver.press("slash", *"machinery", "enter")
        assert all(row.group == "Machinery" for row in section(driver).make_source().rows())
        await driver.press("slash", *"zzz")
        assert "Nothing found" in driver.text("#health .nothing")


def overwrite_database(folder: Path) -> None:
    for file in folder.glob("memento.db*"):
        with file.open("r+b") as database:
            database.write(b"\xff" * file.stat().st_size)


async def test_a_database_that_cannot_be_read_any_more_is_told_and_the_app_stays(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(folder)
    async with opened(folder, start="health") as driver:
        await looked(driver)
        await driver.press("b")
        await until(driver, lambda: "Backed up and checked" in driver.told)
        await reach(driver, next(name for name in values(driver) if name.startswith("backup:memento")))
        await looked(driver)
        told, say = list[str](), driver.app.show_status

        def listen(text: str, *, problem: bool = False) -> None:
            told.append(text)  # the next message may cover it before it is looked at
            say(text, problem=problem)

        monkeypatch.setattr(driver.app, "show_status", listen)
        overwrite_database(folder)
        await driver.press("enter")
        await until(driver, lambda: any("is damaged" in text for text in told))
        assert len(driver.app.screen_stack) == 1
        assert driver.app.is_running


async def test_a_key_leads_from_the_numbers_above_to_the_rows_that_they_count(folder: Path) -> None:
    fill(folder)
    async with opened(folder, start="health") as driver:
        await looked(driver)
        for word, state in (("mend", "bad"), ("tidy", "tidy")):
            counted = re.search(rf"(\d+) to {word}", driver.text("#health-head"))
            await driver.press("f")
            assert section(driver).filter == word
            assert set(states(driver).values()) == {state}
            assert counted is not None
            assert len(states(driver)) == int(counted[1])
        await driver.press("f")
        assert section(driver).filter == ""
