from __future__ import annotations

import importlib.resources
from datetime import date, datetime, timedelta
from pathlib import Path

import apsw
import pytest

from memento_tui.api import Workspace
from memento_tui.api.activity import ActivityQuery, parse_activity
from memento_tui.errors import Conflict, InvalidField, InvalidInput, NotAllowed, NotFound
from memento_tui.model import make_exposure
from memento_tui.model.journal_actions import action_words, counts_in_words, done_words
from memento_tui.model.validation import fold_tag
from memento_tui.operations.recall import count_used, recall
from memento_tui.storage.journal import Author
from memento_tui.storage.ledgers import ExposureFilter
from memento_tui.storage.store import Store
from tests.made import AGENT, NOW, PERSON, note, put, unguarded

EVERYTHING = ActivityQuery()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "memento.db")


# The question


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ActivityQuery()),
        ("port 8080", ActivityQuery(words=("port", "8080"))),
        ("agent:claude,codex ACTOR:agent", ActivityQuery(agent=("claude", "codex"), actor=("agent",))),
        ('action:"skip add" x', ActivityQuery(action=("skip add",), words=("x",))),
        ("since:340 before:400", ActivityQuery(first_seq=340, before_seq=400)),
        ("since:2d", ActivityQuery(since=NOW - timedelta(days=2))),
        ("before:2026-01-01", ActivityQuery(before=datetime.fromisoformat("2026-01-01T00:00Z"))),
        ("is:new memory:a,b", ActivityQuery(is_new=True, memory=("a,b",))),
        ("https://x.org/a:b tag:x", ActivityQuery(words=("https://x.org/a:b", "tag:x"))),
        ('say "it', ActivityQuery(words=("say", "it"))),
        ("it's #1 a\\b", ActivityQuery(words=("it's", "#1", "a\\b"))),
    ],
)
def test_a_line_of_words_and_filters_is_understood(text: str, expected: ActivityQuery) -> None:
    assert parse_activity(text, NOW) == expected


@pytest.mark.parametrize(
    "text",
    [
        "agent:",
        'actor:""',
        "since:soon",
        "is:old",
        "agent:a,,b",
        "since:2026-02-30",
        "action:nope",
        "actor:robot",
        "actor:person,robot",
    ],
)
def test_a_filter_that_cannot_be_used_is_told(text: str) -> None:
    with pytest.raises((InvalidInput, InvalidField)):
        parse_activity(text, NOW)


@pytest.mark.parametrize(
    ("text", "meant"),
    [("agnet:claude", "agent"), ("Sesion:x", "session"), ("after:7d", "since"), ("by:codex", "agent")],
)
def test_a_filter_with_a_slip_or_another_name_is_met_with_what_was_meant(text: str, meant: str) -> None:
    with pytest.raises(InvalidInput, match=f"Did you mean {meant}:") as told:
        parse_activity(text, NOW)
    assert told.value.message == f"There is no filter {text.lower().split(':')[0]}:."


# The journal


def test_a_maintenance_run_that_an_older_journal_calls_otherwise_is_named_and_found_as_one(
    workspace: Workspace,
) -> None:
    former = Author("system", "sleep", "memento")
    with unguarded(workspace._store, former, "sleep") as tx:
        tx.put(note("One that says what two said."), base=0)
    with unguarded(workspace._store, Author("system", "maintenance", "memento"), "maintain") as tx:
        tx.put(note("Another."), base=0)
    for asked in ("channel:maintenance", "action:maintain", "CHANNEL:main"):
        rows = workspace.activity.page(parse_activity(asked, NOW))
        assert [(row.entry.channel, row.entry.action) for row in rows] == [("maintenance", "maintain")] * 2
    assert workspace._store.journal.verify() is None, "the hash covers the name that it had"
    workspace.undo(1)
    assert workspace._store.memories.count_all() == 1


def test_a_row_tells_who_did_what_to_what(workspace: Workspace, agent: Workspace) -> None:
    memory = agent.remember("# The port is 8080\nand stays", tags=["a"])
    workspace.update(memory.id, content="The port is 9090.")
    newest, oldest = workspace.activity.page(EVERYTHING)
    assert (oldest.entry.actor, oldest.entry.agent, oldest.entry.session) == ("agent", "claude", "s1")
    assert (oldest.headline, oldest.record, oldest.record_id) == ("The port is 8080", "memory", memory.id)
    assert (newest.headline, newest.touched, newest.undone_by) == ("The port is 9090.", 1, None)
    assert (newest.entry.action, newest.obstacle) == ("edit", "")


def test_what_was_removed_is_named_by_what_it_said_before(workspace: Workspace) -> None:
    skip = workspace.skips.add("dist/", "generated", "7d")
    workspace.skips.remove(skip.id)
    row = workspace.activity.page(EVERYTHING)[0]
    assert (row.removed, row.record, row.headline) == (True, "skip", "dist/")


def test_what_was_put_off_is_named_by_what_waits(workspace: Workspace, agent: Workspace) -> None:
    waiting = agent.remember("A page says that the port is 8080.", source_type="external", title="The port")
    proposal = workspace.review.list()[0][0].proposal
    workspace.review.later(proposal.id, "1h")
    (row,) = workspace.activity.page(parse_activity("action:later"))
    assert (row.record, row.headline) == ("proposal", "The port")
    workspace.purge(waiting.id, reason="a leak")
    (row,) = workspace.activity.page(parse_activity("action:later"))
    assert "port" not in row.headline


def test_an_approval_that_is_refused_because_its_target_changed_is_no_approval_in_the_journal(
    workspace: Workspace, agent: Workspace
) -> None:
    memory = workspace.remember("The port is 8080.")
    workspace.verify(memory.id)
    agent.update(memory.id, content="The port is 9090.", base_version=workspace.get(memory.id).version)
    workspace.update(memory.id, content="The port is 7070.")
    proposal = workspace.review.list()[0][0].proposal
    with pytest.raises(Conflict, match="changed since"):
        workspace.review.approve(proposal.id)
    assert workspace.activity.page(parse_activity("action:approve")) == []
    (row,) = workspace.activity.page(parse_activity('action:"approval refused"'))
    (undone,) = workspace.undo()
    assert (undone.seq, action_words(undone.action).verb) == (row.entry.seq, "refused approval")
    workspace.redo()
    workspace.review.approve(proposal.id)
    assert workspace.get(memory.id).content == "The port is 9090."
    assert len(workspace.activity.page(parse_activity("action:approve"))) == 1


def test_what_waits_for_a_person_is_proposed_and_not_done(workspace: Workspace, agent: Workspace) -> None:
    memory = workspace.remember("The port is 8080.")
    workspace.verify(memory.id)
    workspace.crystals.write("I am careful.")
    agent.update(memory.id, content="The port is 9090.", base_version=workspace.get(memory.id).version)
    agent.crystals.write("I am fast.")
    identity, edit, *before = workspace.activity.page(EVERYTHING)
    assert [(row.entry.action, row.proposes) for row in (identity, edit)] == [("crystal write", True), ("edit", True)]
    assert {done_words(row.entry.action, proposes=row.proposes) for row in (identity, edit)} == {"proposed"}
    assert not any(row.proposes for row in before)
    totals = workspace.activity.totals_since_last_seen()
    assert totals.proposed == {"crystal write": 1, "edit": 1}
    assert counts_in_words(totals.by_action, totals.proposed) == {"proposed": 2}
    for proposed in workspace.review.list()[0]:
        workspace.review.approve(proposed.proposal.id)
    workspace.undo()
    workspace.redo()
    rows = workspace.activity.page(EVERYTHING)
    assert [row.entry.seq for row in rows if row.proposes] == [identity.entry.seq, edit.entry.seq]


def test_an_approved_identity_its_undo_and_its_redo_name_the_one_that_was_approved(
    workspace: Workspace, agent: Workspace
) -> None:
    workspace.crystals.write("I am careful.")
    proposed = agent.crystals.write("I am fast.")
    workspace.review.approve(workspace.review.list()[0][0].proposal.id)
    workspace.undo()
    workspace.redo()
    redo, undo, approved, *_ = workspace.activity.page(EVERYTHING)
    assert [row.entry.action for row in (redo, undo, approved)] == ["redo", "undo", "approve"]
    assert {(row.record_id, row.headline) for row in (redo, undo, approved)} == {(proposed.id, "I am fast.")}


def test_an_undo_speaks_of_the_record_of_which_the_undone_entry_speaks(workspace: Workspace) -> None:
    workspace.remember_many({"content": f"number {number}"} for number in range(20))
    workspace.undo()
    undo, first = workspace.activity.page(EVERYTHING)
    assert (undo.record_id, undo.headline, undo.removed) == (first.record_id, "number 0", True)


def test_an_entry_that_was_taken_back_names_the_one_that_did(workspace: Workspace) -> None:
    workspace.remember("one")
    workspace.undo()
    undo, first = workspace.activity.page(EVERYTHING)
    assert (first.undone_by, undo.undone_by) == (2, None)
    assert first.obstacle == "Entry 1 was taken back already, by entry 2."
    workspace.redo()
    redo, undo, first = workspace.activity.page(EVERYTHING)
    assert (first.undone_by, undo.undone_by, redo.undone_by) == (None, 3, None)
    workspace.undo(redo.entry.seq)
    _, redo, undo, first = workspace.activity.page(EVERYTHING)
    assert (first.undone_by, undo.undone_by, redo.undone_by) == (4, 3, 4)


def test_a_purge_and_what_it_emptied_cannot_be_taken_back(workspace: Workspace) -> None:
    secret = workspace.remember("the launch code")
    workspace.purge(secret.id, "leaked")
    purge, first = workspace.activity.page(EVERYTHING)
    assert "gone for good" in purge.obstacle
    assert "was purged" in first.obstacle
    assert (first.headline, purge.headline) == ("", "")
    assert workspace.activity.action(1).changed[0].purged


def test_a_bulk_write_is_told_as_one_and_examined_in_part(workspace: Workspace) -> None:
    workspace.remember_many({"content": f"number {number}"} for number in range(2500))
    deed = workspace.activity.action(1)
    assert (deed.row.touched, deed.batch_entries, deed.batch_records) == (2000, 2, 2500)
    assert len(deed.changed) == 20
    with pytest.raises(NotFound):
        workspace.activity.action(99)


def test_words_are_looked_for_in_notes_and_in_the_memories_touched(workspace: Workspace, agent: Workspace) -> None:
    first = agent.remember("The port is 8080.")
    workspace.remember("Nothing else.")
    workspace.forget(first.id)
    workspace.undo()
    page = workspace.activity.page
    assert [row.entry.seq for row in page(parse_activity("port"))] == [4, 3, 1]
    assert [row.entry.seq for row in page(parse_activity("forget"))] == [4]
    assert [row.entry.seq for row in page(parse_activity(f"memory:{first.id[:6]} agent:cl"))] == [1]
    assert page(parse_activity("-")) == page(parse_activity("memory:none")) == []
    assert workspace.activity.count(parse_activity("port -stays")) == 0
    assert workspace.activity.count(parse_activity("port 80")) == 3


def test_a_page_follows_the_one_before_whatever_arrives_above(workspace: Workspace) -> None:
    for number in range(5):
        workspace.remember(f"number {number}")
    first = workspace.activity.page(EVERYTHING, limit=2)
    workspace.remember("another")
    second = workspace.activity.page(EVERYTHING, before=first[-1].entry.seq, limit=2)
    assert [row.entry.seq for row in [*first, *second]] == [5, 4, 3, 2]
    before = parse_activity("before:3")
    assert [row.entry.seq for row in workspace.activity.page(before, before=4)] == [2, 1]


def test_what_is_new_is_what_came_since_the_person_last_looked(workspace: Workspace, agent: Workspace) -> None:
    agent.remember("seen")
    assert workspace.activity.last_seen() == 0
    assert workspace.activity.mark_seen() == 1
    agent.remember("unseen")
    agent.skips.add("dist/", "generated", "7d")
    workspace.remember("my own")
    tally = workspace.activity.totals_since_last_seen()
    assert (tally.after, tally.entries, tally.by_agent) == (1, 2, {"claude": 2})
    assert tally.by_action == {"remember": 1, "skip add": 1}
    assert tally.by_record == {"memory": 1, "skip": 1}
    assert not tally.is_capped
    assert workspace.activity.count(parse_activity("is:new actor:agent")) == 2
    assert workspace.activity.mark_seen(1) == 1
    assert workspace.activity.mark_seen(4) == workspace.activity.mark_seen(2) == 4
    with pytest.raises(NotAllowed):
        agent.activity.mark_seen()


def test_a_count_that_was_cut_short_says_so(store: Store) -> None:
    for number in range(4):
        put(store, note(f"number {number}"), author=AGENT)
    assert store.activity.tally(0, 3).is_capped
    assert not store.activity.tally(0, 4).is_capped


def test_each_day_has_its_numbers_and_empty_days_are_told(store: Store) -> None:
    for ago, author in ((0, AGENT), (0, AGENT), (0, PERSON), (2, AGENT), (9, AGENT)):
        with unguarded(store, author, "remember", now=NOW - timedelta(days=ago)) as tx:
            tx.put(note("text"), base=0)
    days = store.activity.days(date(2026, 1, 15), 3)
    assert [(day.day, day.person, day.agent, day.system) for day in days] == [
        ("2026-01-13", 0, 1, 0),
        ("2026-01-14", 0, 0, 0),
        ("2026-01-15", 1, 2, 0),
    ]


# The ledger


def test_a_search_by_an_agent_is_entered_in_the_ledger_with_its_reasons(agent: Workspace) -> None:
    memory = agent.remember("The port of the proxy is 8080.")
    agent.remember("The proxy restarts at night.")
    recall(agent, "port proxy", 5)
    count_used(agent, [memory.id])
    rows, following = agent.activity.exposures(EVERYTHING)
    first = rows[0].exposure
    assert (first.rank, first.memory_id) == (1, memory.id)
    assert (first.session, first.channel, first.used_at is not None) == ("s1", "mcp", True)
    assert first.tokens > 3
    assert set(first.why) > {"keyword", "relevance", "life"}
    assert rows[0].memory is not None
    assert rows[0].memory.headline == memory.headline
    assert (rows[1].exposure.used_at, following) == (None, None)
    (totals,) = agent.activity.sessions(EVERYTHING)
    assert (totals.session, totals.shown, totals.used) == ("s1", 2, 1)
    assert totals.tokens == sum(row.exposure.tokens for row in rows)


def test_a_workspace_without_a_session_enters_nothing(workspace: Workspace) -> None:
    workspace.remember("The port of the proxy is 8080.")
    recall(workspace, "port", 5)
    assert workspace.activity.exposures(EVERYTHING) == ([], None)


def test_the_ledger_is_filtered_and_comes_in_pages(workspace: Workspace) -> None:
    memory = workspace.remember("The port is 8080.")
    fields = {"memory_id": memory.id, "memory_version": 1, "score": 0.5, "tokens": 7, "channel": "hook"}
    made = [make_exposure({**fields, "id": f"i{n}", "session": f"s{n % 2}", "rank": n + 1}) for n in range(5)]
    gone = make_exposure({**fields, "id": "gone", "session": "t", "rank": 1, "memory_id": "gone", "channel": "mcp"})
    workspace._store.exposures.add([*made, gone])
    log = workspace.activity
    first, following = log.exposures(EVERYTHING, limit=4)
    rest, end = log.exposures(EVERYTHING, after=following, limit=4)
    assert [row.id for row in [*first, *rest]] == ["gone", "i4", "i3", "i2", "i1", "i0"]
    assert (end, first[0].memory) == (None, None)
    for text, ids in (
        ("session:s1", ["i3", "i1"]),
        ("channel:mc", ["gone"]),
        ("memory:gone", ["gone"]),
        ("port session:s0", ["i4", "i2", "i0"]),
        ("since:2999-01-01", []),
    ):
        source = log.exposure_source(parse_activity(text))
        assert [row.id for row in source.page(0, 10)] == ids
        assert source.ids(1, 10) == ids[1:]
        assert source.total() == len(ids)
        assert [source.locate(row_id) for row_id in ids] == list(range(len(ids)))
        assert source.locate("i9") is None
    with pytest.raises(InvalidInput, match="not a cursor"):
        log.exposures(EVERYTHING, after="x")


@pytest.mark.parametrize("text", ["agent:x", "action:edit", "is:new", "since:4", "actor:agent"])
def test_the_ledger_refuses_what_only_the_journal_knows(workspace: Workspace, text: str) -> None:
    with pytest.raises(InvalidInput, match="ledger"):
        workspace.activity.exposures(parse_activity(text))


# Rejecting


def test_a_rejected_memory_is_recalled_no_more_and_the_agent_reads_why(workspace: Workspace, agent: Workspace) -> None:
    memory = agent.remember("The port of the proxy is 8080.")
    rejected = workspace.reject(memory.id, "that was the old one")
    assert rejected.status == "rejected"
    assert workspace.search("port").results == []
    again = agent.remember("The port of the proxy is 8080.")
    assert (again.id, again.status) == (memory.id, "rejected")
    assert agent._store.proposals.about(memory.id)[0].note == "that was the old one"
    with pytest.raises(NotAllowed, match="rejected"):
        workspace.reject(memory.id)
    with pytest.raises(NotAllowed, match="person"):
        agent.reject(memory.id)
    workspace.undo()
    assert workspace.get(memory.id).status == "active"
    assert agent._store.proposals.about(memory.id) == []


# The schema


def test_a_database_of_the_version_before_is_upgraded_in_place(tmp_path: Path) -> None:
    path = tmp_path / "memento.db"
    connection = apsw.Connection(str(path))
    connection.create_scalar_function("fold", lambda *tags: fold_tag(str(*tags)), 1, deterministic=True)
    folder = importlib.resources.files("memento_tui.storage.migrations")
    for number, name in enumerate(("0001_initial.sql", "0002_folded_tags.sql", "0003_the_gate.sql"), 1):
        connection.execute((folder / name).read_text(encoding="utf-8"))
        connection.execute(f"PRAGMA user_version = {number}")
    connection.execute(
        "INSERT INTO injection (id, memory_id, memory_version, session, channel, at, rank, score, tokens)"
        " VALUES ('i', 'm', 1, 's', 'mcp', '2026-01-15T12:00:00.000000Z', 1, 0.5, 7)"
    )
    connection.close()
    store = Store(path)
    (row,) = store.exposures.page(ExposureFilter(), 0, 10)
    assert (row.exposure.why, row.exposure.tokens) == ({}, 7)
    put(store, note("text"))
    assert [one.headline for one in store.activity.rows([1])] == ["text"]
    store.close()
