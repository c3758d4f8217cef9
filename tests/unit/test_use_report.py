"""What agents were told, what they used of it, and what is suggested to be dropped."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.use_report import UseReport, use_report
from memento_tui.errors import InvalidInput
from memento_tui.model import Memory
from tests.made import without_engine
from tests.unit.cli_program import Program
from tests.unit.told_sessions import tell

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
"""A Wednesday."""
WRITTEN = NOW - timedelta(days=60)


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    monkeypatch.setattr(clock, "now", lambda: NOW)
    with memento_tui.open(without_engine(tmp_path / "data")) as workspace:
        yield workspace


def remember(person: Workspace, text: str, **fields: object) -> Memory:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock, "now", lambda: WRITTEN)
        return person.remember_many([{"content": text, "namespace": "projects/site", **fields}])[0]


def report(person: Workspace, **options: int | str) -> UseReport:
    return use_report(person, **options)  # type: ignore[arg-type]


def test_each_week_and_project_has_its_sums(person: Workspace) -> None:
    port, colour = remember(person, "The port is 8080."), remember(person, "Anna decides about colours.")
    tell(person, "s1", [port, colour], NOW, used=[port], project="projects/site")
    tell(person, "s2", [port], NOW - timedelta(days=1), project="projects/shop", tokens=30)
    tell(person, "s3", [colour], NOW - timedelta(days=7), project="projects/site")
    found = report(person)
    assert [(one.week, one.namespace, one.told, one.used, one.tokens) for one in found.by_week] == [
        (date(2026, 11, 16), "projects/site", 2, 1, 40),
        (date(2026, 11, 16), "projects/shop", 1, 0, 30),
        (date(2026, 11, 9), "projects/site", 1, 0, 20),
    ]
    total = found.total
    assert (total.told, total.sessions, total.memories, total.used, total.used_tokens) == (4, 3, 2, 1, 20)
    assert [one.namespace for one in found.projects] == ["projects/site", "projects/shop"]


def test_a_week_begins_on_monday_by_utc(person: Workspace) -> None:
    port = remember(person, "The port is 8080.")
    monday = datetime(2026, 11, 16, tzinfo=UTC)
    tell(person, "s1", [port], monday, project="p")
    tell(person, "s2", [port], monday - timedelta(milliseconds=1), project="p")
    assert [one.week for one in report(person).by_week] == [date(2026, 11, 16), date(2026, 11, 9)]
    assert report(person, weeks=1).total.told == 1


def test_the_share_counts_only_sessions_in_which_a_use_would_have_been_seen(person: Workspace) -> None:
    port = remember(person, "The port is 8080.")
    tell(person, "s1", [port], NOW, used=[port], project="p")
    tell(person, "s2", [port], NOW, project="p")
    tell(person, "s3", [port], NOW, project="p", is_read=False)
    total = report(person).total
    assert (total.told, total.seen, total.share) == (3, 2, 0.5)


def test_where_no_transcript_was_read_no_share_is_known_and_nothing_is_suggested(person: Workspace) -> None:
    port = remember(person, "The port is 8080.")
    for n in range(9):
        tell(person, f"s{n}", [port], NOW, project="p", is_read=False)
    found = report(person)
    assert found.total.share is None
    assert found.drop == ()
    assert [one.memory.id for one in found.never_used] == [port.id]


def test_a_session_that_no_hook_saw_belongs_to_the_namespace_of_the_memory(person: Workspace) -> None:
    tell(person, "s1", [remember(person, "The port is 8080.")], NOW)
    assert [one.namespace for one in report(person).projects] == ["projects/site"]


def test_what_five_sessions_were_told_and_none_used_is_suggested_to_be_dropped(person: Workspace) -> None:
    port, colour = remember(person, "The port is 8080."), remember(person, "Anna decides about colours.")
    for n in range(5):
        tell(person, f"s{n}", [port, colour], NOW, used=[colour] if n == 0 else [], project="p")
    found = report(person)
    assert [one.memory.id for one in found.drop] == [port.id]
    assert found.drop[0].advice == "5 sessions were told it since it was last changed, and none used it."
    assert [one.memory.id for one in found.used] == [colour.id]
    assert found.never_used == ()


@pytest.mark.parametrize("fields", [{"kind": "instruction"}, {"kind": "preference"}, {"pinned": True}])
def test_what_is_heeded_without_words_or_essential_is_never_suggested(
    person: Workspace, fields: dict[str, object]
) -> None:
    port = remember(person, "Never use port 8080.", **fields)
    for n in range(9):
        tell(person, f"s{n}", [port], NOW, project="p")
    assert report(person).drop == ()


def test_what_was_changed_since_is_judged_anew(person: Workspace) -> None:
    port = remember(person, "The port is 8080.")
    for n in range(9):
        tell(person, f"s{n}", [port], NOW - timedelta(days=2), project="p")
    person.update(port.id, content="The port is 9090, set in compose.yaml.")
    found = report(person)
    assert found.drop == ()
    assert len(found.never_used) == 1


def test_what_was_used_before_the_period_is_not_said_to_be_unused(person: Workspace) -> None:
    port = remember(person, "The port is 8080.")
    tell(person, "s", [port], NOW - timedelta(days=50), used=[port], project="p")
    for n in range(9):
        tell(person, f"s{n}", [port], NOW, project="p")
    found = report(person, weeks=2)
    assert (found.drop, found.never_used, found.used) == ((), (), ())


def test_a_deleted_memory_counts_and_is_not_listed(person: Workspace) -> None:
    port = remember(person, "The port is 8080.")
    tell(person, "s1", [port], NOW, project="p")
    person.forget(port.id)
    found = report(person)
    assert (found.total.told, found.never_used) == (1, ())


def test_one_project_alone(person: Workspace) -> None:
    port = remember(person, "The port is 8080.")
    tell(person, "s1", [port], NOW, project="projects/site")
    tell(person, "s2", [port], NOW, project="projects/shop")
    found = report(person, namespace="projects/shop")
    assert (found.total.told, [one.namespace for one in found.by_week]) == (1, ["projects/shop"])
    assert found.never_used[0].use.told == 1
    assert report(person, namespace="projects/none").total.told == 0


@pytest.mark.parametrize("weeks", [0, -1, 521])
def test_a_number_of_weeks_that_makes_no_sense_is_refused(person: Workspace, weeks: int) -> None:
    with pytest.raises(InvalidInput, match="1 to 520 weeks"):
        report(person, weeks=weeks)


def test_nothing_told_is_a_report_too(person: Workspace) -> None:
    found = report(person)
    assert (found.total.told, found.total.share, found.by_week, found.projects) == (0, None, (), ())


def test_the_command_says_in_words_and_as_json_what_became_of_it(person: Workspace) -> None:
    port = remember(person, "The port is 8080.")
    for n in range(5):
        tell(person, f"s{n}", [port], NOW, project="projects/site")
    memento = Program(person.paths.root)
    told = memento.run("report").out
    assert "agents were told 5 memories in 5 sessions, for about 100 tokens. They used 0% of that." in told
    assert "2026-11-16  projects/site  5         5     0 (0%)" in told
    assert "To drop" in told
    found = memento.json("report", "--weeks", "1")
    assert (found["weeks"], found["total"]["told"], found["total"]["share"]) == (1, 5, 0.0)
    assert [(one["id"], one["told"], bool(one["advice"])) for one in found["drop"]] == [(port.id, 5, True)]


def test_the_command_calls_nothing_unused_where_no_transcript_was_read(person: Workspace) -> None:
    port = remember(person, "The port is 8080.")
    tell(person, "s1", [port], NOW, project="projects/site", is_read=False)
    told = Program(person.paths.root).run("report").out
    assert "2026-11-16  projects/site  1         1     unknown" in told
    assert "Told, and not known to be used" in told
    assert "never used" not in told


def test_the_command_says_that_nothing_was_told(person: Workspace) -> None:
    memento = Program(person.paths.root)
    assert memento.run("report").out.strip() == "Agents were told nothing since 2026-09-28."
    assert "nothing in projects/x" in memento.run("report", "--project", "projects/x").out
    assert memento.run("report", "--weeks", "0").code == 2
